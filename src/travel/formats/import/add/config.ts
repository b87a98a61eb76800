import type { Json } from '../../../../model/field.ts'
import { isObject } from '../../../../model/object.ts'
import { leaves, toTime } from '../../../../model/validate.ts'
import type { Category } from '../classify.ts'
import { withLeaf } from '../json-values.ts'
import type { Item } from '../types.ts'
import type { AddFolder } from './folder.ts'

const NAME = 'config.json'

const nothing = (value: Json): boolean => ['null', '""', '"none"', '[]', '{}'].includes(JSON.stringify(value))

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
      typeof v === 'boolean'
        ? `Agents ${v ? 'may' : 'must not'} promote to the environment ${key} by themselves`
        : undefined,
  ],
  ['infrastructure.cicd.platform', 'tool', (v) => `Continuous integration runs on ${v}`],
]

const matches = (pattern: string, path: readonly string[]) => {
  const parts = pattern.split('.')
  return parts.length === path.length && parts.every((p, i) => p === '*' || p === path[i])
}

function ruleOf(path: readonly string[], value: Json): { fact: string; category: Category } | undefined {
  const [pattern, category, sentence] = RULES.find(([p]) => matches(p, path)) ?? []
  if (!pattern || !sentence || isObject(value)) return undefined
  const fact = sentence(value, path[pattern.split('.').indexOf('*')] ?? path.at(-1)!)
  return fact === undefined ? undefined : { fact, category: category! }
}

/** config.json: what binds becomes facts, the project itself a concept with everything else in its attrs. */
export function configItems(folder: AddFolder): Item[] {
  const config = folder.json(NAME)
  if (config === undefined) return []
  const file = folder.label(NAME)
  if (!isObject(config)) {
    folder.leaveOut(file, 'the whole file', 'not an object')
    return []
  }
  const facts: Item[] = []
  let attrs: Json | undefined
  let unset = 0
  const { name, description } = isObject(config.project) ? config.project : {}
  for (const [path, value] of leaves(config)) {
    const [top, key] = path
    const isProject = top === 'project' && path.length > 1
    if (isProject && (key === 'name' || key === 'description') && typeof value === 'string') continue
    if (nothing(value)) {
      unset++
      continue
    }
    if (top === '$schema' || top === 'version') {
      attrs = withLeaf(attrs, [top === 'version' ? 'addVersion' : top, ...path.slice(1)], value)
      continue
    }
    const rule = ruleOf(path, value)
    if (!rule) {
      attrs = withLeaf(attrs, isProject ? path.slice(1) : path, value)
      folder.count('settings that describe the project', 1)
      continue
    }
    folder.count('rules of config.json', 1)
    const where = `${file}#${path.join('.')}`
    const { maturity } = config
    const validFrom =
      path.join('.') === 'maturity.level' && isObject(maturity) ? toTime(maturity.promoted_date) : undefined
    const args = { ...rule, locations: [where], validFrom, attrs: { setting: withLeaf({}, path, value) } }
    facts.push({ verb: 'record-fact', args, where, slot: where })
  }
  if (unset > 0) folder.leaveOut(file, `${unset} settings without a value`, 'they say nothing')
  const isNamed = typeof name === 'string' && name.trim() !== ''
  if (!isNamed && attrs === undefined) return facts
  const definition = (typeof description === 'string' && description) || undefined
  const args = { name: isNamed ? name : folder.project, type: 'project', definition, attrs }
  return [{ verb: 'record-concept', args, where: `${file}#project` }, ...facts]
}
