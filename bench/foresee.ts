import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Memory } from '../src/engine/memory.ts'
import { createProject, type Project } from '../src/engine/store/project.ts'
import { scan } from '../src/find/code/scan.ts'
import { carried, difference, rowsOf } from '../src/model/lines.ts'
import { openProject } from '../src/project/open.ts'
import { claude } from '../src/session/clients/claude/dialect.ts'
import { respond } from '../src/session/hooks/run.ts'
import type { Bench, Row } from './table.ts'

/**
 * Pairs of features on one base (CooperBench, MIT), written hunk by hunk by two sessions in seeded orders, through the hooks as
 * Claude Code calls them. `TIDEMARK_COOPER` names a folder of bare repositories, `owner+name/repo`; nothing of them is kept here.
 */
const DATA = process.env.TIDEMARK_COOPER ?? ''
const ORDERS = Number(process.env.TIDEMARK_COOPER_ORDERS ?? 2)
const ONLY = process.env.TIDEMARK_COOPER_ONLY?.split(',')
const SOURCE = 'cooperbench+CooperBench'

/** Six were looked at while it was built; the others once, at the end. One of the twelve is too large to be fetched. */
const LIBRARIES: Readonly<Record<string, readonly [repository: string, set: 'built with' | 'judged']>> = {
  pallets_click_task: ['pallets+click', 'built with'],
  dspy_task: ['stanfordnlp+dspy', 'built with'],
  go_chi_task: ['go-chi+chi', 'built with'],
  pillow_task: ['python-pillow+Pillow', 'built with'],
  openai_tiktoken_task: ['openai+tiktoken', 'built with'],
  react_hook_form_task: ['react-hook-form+react-hook-form', 'built with'],
  pallets_jinja_task: ['pallets+jinja', 'judged'],
  dottxt_ai_outlines_task: ['dottxt-ai+outlines', 'judged'],
  huggingface_datasets_task: ['huggingface+datasets', 'judged'],
  samuelcolvin_dirty_equals_task: ['samuelcolvin+dirty-equals', 'judged'],
  typst_task: ['typst+typst', 'judged'],
}

const gitOf = (repository: string) => join(DATA, repository, 'repo')
const git = (dir: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=b', '-c', 'user.email=b@b.example', '-c', 'core.autocrlf=false', ...args], {
    cwd: dir,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'pipe'],
  })

const show = (repository: string, object: string): string | undefined => {
  const ran = spawnSync('git', ['-C', gitOf(repository), 'show', object], { encoding: 'utf8', maxBuffer: 1 << 28 })
  return ran.status === 0 ? ran.stdout : undefined
}

function seeded(seed: number): () => number {
  let a = seed >>> 0
  return () => {
    a = (a + 0x6d2b79f5) >>> 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** One write: lines of the base that others take the place of. */
interface Hunk {
  readonly path: string
  readonly from: number
  readonly to: number
  readonly lines: readonly string[]
}

/** What git says a patch changes, without context. */
function hunksOf(root: string, base: string, commit: string): Hunk[] {
  const hunks: Hunk[] = []
  let path = ''
  let lines: string[] | undefined
  for (const line of git(root, 'diff', '--no-color', '--no-ext-diff', '-U0', base, commit).split('\n')) {
    const [, a, n = '1'] = /^@@ -(\d+)(?:,(\d+))? /.exec(line) ?? []
    if (line.startsWith('diff --git ')) lines = undefined
    else if (!lines && line.startsWith('+++ b/')) path = line.slice(6)
    else if (a !== undefined) {
      const from = n === '0' ? Number(a) : Number(a) - 1
      hunks.push({ path, from, to: from + Number(n), lines: (lines = []) })
    } else if (lines && line.startsWith('+')) lines.push(line.slice(1))
  }
  return hunks
}

interface Task {
  readonly root: string
  readonly other: string
  readonly base: string
  readonly texts: ReadonlyMap<string, string>
  readonly features: readonly { readonly commit: string; readonly hunks: readonly Hunk[] }[]
  readonly memory: Memory
  readonly project: Project
}

/** The files of a task's features as they were at their base, as a repository with a second work tree, and a commit for each feature. */
async function taskIn(dir: string, folder: string, repository: string): Promise<Task> {
  const patches = git(gitOf(SOURCE), 'ls-tree', '-r', '--name-only', 'HEAD', `${folder}/`)
    .split('\n')
    .filter((f) => f.endsWith('/feature.patch'))
  const texts = patches.map((p) => show(SOURCE, `HEAD:${p}`)!)
  const paths = [
    ...new Set(texts.flatMap((t) => [...t.matchAll(/^(?:---|\+\+\+) [ab]\/(.+)$/gm)].map((m) => m[1]!.trim()))),
  ]
  const commits = [...new Set(show(SOURCE, `HEAD:${folder}/setup.sh`)!.match(/\b[0-9a-f]{40}\b/g))].reverse()
  const root = join(dir, 'base')
  for (const commit of commits) {
    rmSync(root, { recursive: true, force: true })
    mkdirSync(root, { recursive: true })
    git(root, 'init', '-q', '-b', 'main')
    const files = new Map(
      paths.flatMap((path) => {
        const text = show(repository, `${commit}:${path}`)
        return text === undefined ? [] : [[path, text] as const]
      }),
    )
    for (const [path, text] of files) put(root, path, text)
    git(root, 'add', '-A')
    git(root, 'commit', '-qm', 'base')
    const features: { commit: string; hunks: Hunk[] }[] = []
    for (const patch of texts) {
      const applied = spawnSync('git', ['apply', '--whitespace=nowarn', '-'], {
        cwd: root,
        input: patch,
        encoding: 'utf8',
      })
      if (applied.status !== 0) break
      git(root, 'add', '-A')
      const id = git(root, 'commit-tree', git(root, 'write-tree').trim(), '-p', 'HEAD', '-m', 'feature').trim()
      features.push({ commit: id, hunks: hunksOf(root, 'HEAD', id) })
      git(root, 'reset', '-q', '--hard')
      git(root, 'clean', '-qfd')
    }
    if (features.length < texts.length) continue
    const other = join(dir, 'other')
    git(root, 'worktree', 'add', '-q', '-b', 'other', other)
    const { project } = createProject(root, { name: 'cooper' })
    const memory = openProject(project, { unlisted: true })
    await scan(memory, project)
    return { root, other, base: git(root, 'rev-parse', 'HEAD').trim(), texts: files, features, memory, project }
  }
  throw new Error(`${folder}: no commit to which its patches apply`)
}

function put(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

type Texts = Map<string, string>
const applied = (text: string | undefined, lines: readonly string[], from: number, to: number): string => {
  const rows = text === undefined ? [''] : rowsOf(text)
  return rows.toSpliced(from, to - from, ...lines).join('\n')
}

/** Whether two states of a file conflict, as git merges files. */
function conflicts(dir: string, base: string, a: string, b: string): boolean {
  if (a === b || a === base || b === base) return false
  for (const [name, text] of [
    ['a', a],
    ['o', base],
    ['b', b],
  ] as const)
    writeFileSync(join(dir, name), text)
  return spawnSync('git', ['merge-file', '-p', '-q', 'a', 'o', 'b'], { cwd: dir, stdio: 'ignore' }).status !== 0
}

interface Outcome {
  /** Told at or before the write that made the first conflict. */
  readonly inTime: boolean
  readonly told: boolean
}

let sessions = 0

/** Two sessions write their hunks in one order; `shared`: in one work tree. */
async function replay(
  t: Task,
  dir: string,
  pair: readonly [number, number],
  seed: number,
  shared: boolean,
): Promise<Outcome> {
  const ids = pair.map(() => `session-${++sessions}`)
  const roots = [t.root, shared ? t.root : t.other]
  const call = async (side: number, event: string, more: object = {}) => {
    const p = { session_id: ids[side]!, cwd: roots[side]!, ...more }
    const { reply, errors } = await respond(
      t.memory,
      t.project,
      { ...claude.read(event, p), pid: process.pid, shared: true },
      () => 60_000,
    )
    if (errors.length > 0) throw new Error(errors.join('; '))
    return reply
  }
  for (const root of new Set(roots)) {
    git(root, 'reset', '-q', '--hard', t.base)
    git(root, 'clean', '-qfd', '-e', '.tidemark')
  }
  for (const side of [0, 1]) await call(side, 'SessionStart', { source: 'startup' })
  const queues = pair.map((n) => [...t.features[n]!.hunks])
  const random = seeded(seed)
  const own: [Texts, Texts] = [new Map(t.texts), new Map(t.texts)]
  const common: Texts = new Map(t.texts)
  let [told, inTime] = [false, undefined as boolean | undefined]
  while (queues[0]!.length + queues[1]!.length > 0) {
    const side = random() * (queues[0]!.length + queues[1]!.length) < queues[0]!.length ? 0 : 1
    const { path, from, to, lines } = queues[side]!.shift()!
    const base = t.texts.get(path) ?? ''
    const before = (shared ? common : own[side]!).get(path)
    const at = carried(difference(rowsOf(base), rowsOf(before ?? '')), [from, to])
    const after = applied(before, lines, ...at)
    const edit = toolCall(join(roots[side]!, path), before, after, at, lines)
    const reply = await call(side, 'PreToolUse', edit)
    told ||= reply.decision !== undefined
    if (reply.decision === 'deny') await call(side, 'PreToolUse', edit) // refused once, it is tried again
    put(roots[side]!, path, after)
    await call(side, 'PostToolUse', { ...edit, tool_response: {} })
    ;(shared ? common : own[side]!).set(path, after)
    if (shared) {
      const mine = own[side]!.get(path)
      own[side]!.set(path, applied(mine, lines, ...carried(difference(rowsOf(base), rowsOf(mine ?? '')), [from, to])))
    }
    if (inTime === undefined && conflicts(dir, base, own[0].get(path) ?? base, own[1].get(path) ?? base)) inTime = told
  }
  for (const side of [0, 1]) await call(side, 'SessionEnd')
  return { told, inTime: inTime ?? told }
}

/** An edit as Claude Code makes it: the lines with as many around them as make them unique; a new file whole. */
function toolCall(
  file: string,
  before: string | undefined,
  after: string,
  [from, to]: readonly [number, number],
  lines: readonly string[],
): object {
  if (before !== undefined)
    for (let around = 2; around < 40; around++) {
      const rows = rowsOf(before)
      const [start, end] = [Math.max(0, from - around), to + around]
      const old = rows.slice(start, end).join('\n')
      if (old === '' || before.split(old).length !== 2) continue
      const next = [...rows.slice(start, from), ...lines, ...rows.slice(to, end)].join('\n')
      return { tool_name: 'Edit', tool_input: { file_path: file, old_string: old, new_string: next } }
    }
  return { tool_name: 'Write', tool_input: { file_path: file, content: after } }
}

const merges = (root: string, a: string, b: string): boolean =>
  spawnSync('git', ['merge-tree', '--write-tree', a, b], { cwd: root, stdio: 'ignore' }).status === 0

interface Count {
  conflicts: number
  caught: number
  clean: number
  held: number
}

async function library(name: string, repository: string): Promise<{ trees: Count; shared: Count }> {
  const none = (): Count => ({ conflicts: 0, caught: 0, clean: 0, held: 0 })
  const counts = { trees: none(), shared: none() }
  const folders = git(gitOf(SOURCE), 'ls-tree', '-d', '--name-only', 'HEAD', `dataset/${name}/`)
    .split('\n')
    .filter((f) => f !== '')
  for (const folder of folders) {
    const dir = mkdtempSync(join(tmpdir(), 'tidemark-cooper-'))
    try {
      const t = await taskIn(dir, folder, repository)
      for (let i = 0; i < t.features.length; i++)
        for (let j = i + 1; j < t.features.length; j++) {
          const isClean = merges(t.root, t.features[i]!.commit, t.features[j]!.commit)
          for (let order = 0; order < ORDERS; order++)
            for (const how of ['trees', 'shared'] as const) {
              const { told, inTime } = await replay(t, dir, [i, j], order + 1, how === 'shared')
              if (process.env.TIDEMARK_COOPER_LOG && (isClean ? told : !inTime))
                console.error(how, folder, i + 1, j + 1, order + 1, isClean ? 'held' : 'missed')
              const c = counts[how]
              c[isClean ? 'clean' : 'conflicts']++
              if (isClean ? told : inTime) c[isClean ? 'held' : 'caught']++
            }
        }
      t.memory.close()
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  }
  return counts
}

const sum = (all: readonly Count[]): Count =>
  all.reduce((a, b) => ({
    conflicts: a.conflicts + b.conflicts,
    caught: a.caught + b.caught,
    clean: a.clean + b.clean,
    held: a.held + b.held,
  }))

const cells = ({ conflicts, caught, clean, held }: Count) => [
  conflicts,
  (caught / conflicts).toFixed(3),
  clean,
  clean === 0 ? '-' : (held / clean).toFixed(3),
]

export const bench: Bench = {
  name: 'foresee',
  about:
    'two sessions write two features hunk by hunk: conflicts told before they are written, and clean pairs held back',
  async run() {
    if (!existsSync(gitOf(SOURCE)))
      return [{ title: 'not run: TIDEMARK_COOPER names no folder with CooperBench', columns: [], rows: [] }]
    const found: { name: string; set: string; counts: { trees: Count; shared: Count } }[] = []
    for (const [name, [repository, set]] of Object.entries(LIBRARIES))
      if ((ONLY ? ONLY.includes(name) || ONLY.includes(set) : true) && existsSync(gitOf(repository)))
        found.push({ name, set, counts: await library(name, repository) })
    return (['trees', 'shared'] as const).map((how) => {
      const rows: Row[] = found.map((f) => ({ what: f.name, cells: [f.set, ...cells(f.counts[how])] }))
      for (const set of new Set(found.map((f) => f.set))) {
        const all = sum(found.filter((f) => f.set === set).map((f) => f.counts[how]))
        const isGood = all.caught / all.conflicts >= 0.97 && all.held / all.clean <= 0.4
        rows.push({
          what: `all ${set}`,
          cells: [set, ...cells(all)],
          ...(how === 'trees' && { bound: 'caught ≥ .97, held back ≤ .40', ok: isGood }),
        })
      }
      return {
        title: how === 'trees' ? 'in a work tree each' : 'in one work tree',
        columns: ['set', 'conflicts', 'caught', 'clean', 'held back'],
        rows,
        notes: [`${ORDERS} seeded orders of each pair`],
      }
    })
  },
}
