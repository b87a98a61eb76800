import type { Json } from '../../../model/field.ts'
import { toTime } from '../../../model/validate.ts'
import type { Category } from '../classify.ts'
import { isTree } from '../trees.ts'
import type { Item } from '../types.ts'
import type { AddFolder } from './folder.ts'

const NAME = 'config.json'

/** Values that say that there is nothing. */
const nothing = (value: Json): boolean =>
  value === null ||
  value === '' ||
  value === 'none' ||
  (Array.isArray(value) && value.length === 0) ||
  (isTree(value) && Object.keys(value).length === 0)

const yes = (fact: string) => (value: Json) => (value === true ? fact : undefined)
const words = (value: Json) => (Array.isArray(value) ? value.map(String).join(', ') : String(value))

type Sentence = (value: Json, key: string) => string | undefined

/**
 * The settings that bind whoever works on the project, as sentences; `*` stands for one key. Anything else of the
 * configuration describes the project and goes into the attrs of its concept.
 */
const RULES: readonly [path: string, category: Category, sentence: Sentence][] = [
  ['maturity.level', 'workflow', (v) => `The project's maturity level is ${v}`],
  ['planning.wip_limit', 'constraint', (v) => `At most ${v} pieces of work are in progress at once`],
  ['planning.parallel_agents', 'constraint', (v) => `At most ${v} agents work in parallel`],
  ['quality.mode', 'workflow', (v) => `The quality mode is ${v}`],
  [
    'quality.coverage_threshold',
    'constraint',
    (v) => (Number(v) > 0 ? `Test coverage must be at least ${v} %` : undefined),
  ],
  ['quality.type_check_blocking', 'constraint', yes('A failing type check blocks the work')],
  ['quality.e2e_required', 'constraint', yes('End-to-end tests are required')],
  ['quality.screenshot_protocol', 'workflow', yes('Take screenshots as the screenshot protocol says')],
  ['quality.lint.*', 'tool', (v, key) => `Lint the ${key} with ${v}`],
  ['quality.typecheck.*', 'tool', (v, key) => `Type-check the ${key} with ${v}`],
  ['quality.test.*', 'tool', (v, key) => `Run ${key} tests with ${v}`],
  ['collaboration.autonomy_level', 'workflow', (v) => `Agents work with ${v} autonomy`],
  ['collaboration.commit_review_gate', 'workflow', yes('Every commit is reviewed before it is made')],
  ['collaboration.pr_review_gate', 'workflow', yes('Every pull request is reviewed before it is merged')],
  ['collaboration.deploy_approval_required', 'constraint', yes('A deployment must be approved by a human')],
  ['source_control.branching', 'workflow', (v) => `The branching strategy is ${v}`],
  ['source_control.default_branch', 'convention', (v) => `The default branch is ${v}`],
  ['source_control.commit_convention', 'convention', (v) => `Write commit messages by the ${v} convention`],
  ['source_control.pr_template', 'workflow', yes('Pull requests follow the template')],
  ['source_control.protected_branches', 'constraint', (v) => `Never push directly to protected branches: ${words(v)}`],
  ['environments.*.run', 'tool', (v, key) => `Run in the environment ${key} with: ${v}`],
  ['environments.*.test', 'tool', (v, key) => `Test in the environment ${key} with: ${v}`],
  ['environments.*.e2e', 'tool', (v, key) => `Run end-to-end tests in the environment ${key} with: ${v}`],
  ['environments.*.deploy', 'tool', (v, key) => `Deploy to the environment ${key} with: ${v}`],
  [
    'environments.*.autoPromote',
    'constraint',
    (v, key) =>
      v === true
        ? `Agents may promote to the environment ${key} by themselves`
        : v === false
          ? `Agents must not promote to the environment ${key} by themselves`
          : undefined,
  ],
  ['infrastructure.cicd.platform', 'tool', (v) => `Continuous integration runs on ${v}`],
]

const matches = (pattern: string, path: readonly string[]) => {
  const parts = pattern.split('.')
  return parts.length === path.length && parts.every((p, i) => p === '*' || p === path[i])
}

/** Every value with its path; a list is one value. */
function valuesOf(tree: { [key: string]: Json }, path: string[] = []): [path: string[], value: Json][] {
  return Object.entries(tree).flatMap(([key, value]): [string[], Json][] =>
    isTree(value) && Object.keys(value).length > 0 ? valuesOf(value, [...path, key]) : [[[...path, key], value]],
  )
}

/** config.json: what binds becomes facts, the project itself a concept with everything else in its attrs. */
export function configItems(folder: AddFolder): Item[] {
  const config = folder.json(NAME)
  if (config === undefined) return []
  const file = folder.label(NAME)
  if (!isTree(config)) {
    folder.leaveOut(file, 'the whole file', 'not an object')
    return []
  }
  const facts: Item[] = []
  const attrs: { [key: string]: Json } = {}
  const project = isTree(config.project) ? config.project : {}
  for (const [path, value] of valuesOf(config)) {
    const where = `${file}#${path.join('.')}`
    if (path[0] === '$schema' || path[0] === 'version' || nothing(value)) continue
    if (path[0] === 'project' && (path[1] === 'name' || path[1] === 'description') && typeof value === 'string')
      continue
    const rule = RULES.find(([pattern]) => matches(pattern, path))
    const key = rule ? (path[rule[0].split('.').indexOf('*')] ?? path.at(-1)!) : ''
    const fact = rule && (!isTree(value) ? rule[2](value, key) : undefined)
    if (fact === undefined || !rule) {
      setAt(attrs, path[0] === 'project' ? path.slice(1) : path, value)
      folder.count('settings that describe the project', 1)
      continue
    }
    folder.count('rules of config.json', 1)
    const args: { [arg: string]: Json } = { fact, category: rule[1], locations: [where] }
    const since =
      path.join('.') === 'maturity.level' && isTree(config.maturity) ? toTime(config.maturity.promoted_date) : undefined
    if (since !== undefined) args.validFrom = since
    facts.push({ verb: 'record-fact', args, where, slot: where })
  }
  const named = typeof project.name === 'string' && project.name.trim() !== ''
  if (!named && Object.keys(attrs).length === 0) return facts
  const name = named ? String(project.name) : folder.project
  const args: { [arg: string]: Json } = { name, type: 'project' }
  if (typeof project.description === 'string' && project.description !== '') args.definition = project.description
  if (Object.keys(attrs).length > 0) args.attrs = attrs
  return [{ verb: 'record-concept', args, where: `${file}#project` }, ...facts]
}

function setAt(tree: { [key: string]: Json }, path: readonly string[], value: Json): void {
  let node = tree
  for (const key of path.slice(0, -1))
    node = (isTree(node[key]) ? node[key] : (node[key] = {})) as { [key: string]: Json }
  node[path.at(-1)!] = value
}
