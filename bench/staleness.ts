// node bench/staleness.ts REPO…: knowledge that is anchored to symbols at one commit, judged commits later. Prints precision
// and recall. The truth is git's alone: whether the lines of the symbol stand unchanged in the blobs of the later commit.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { Staleness } from '../src/engine/read/stale.ts'
import { languageOf } from '../src/find/code/languages.ts'
import { parse } from '../src/find/code/parse.ts'
import { scan } from '../src/find/code/scan.ts'
import { openProject } from '../src/project/open.ts'
import { seeded } from './knowledge.ts'
import { tempProject } from './project.ts'
import { type Row, render } from './table.ts'

/** So many commits are replayed, with new anchors every STRETCH of them, judged every STEP. */
const COMMITS = 240
const STRETCH = 80
const STEP = 20
const ANCHORS = 300
/** Shorter ones, which are rarely what knowledge is about, would be found anywhere by chance. */
const LEAST_LINES = 3
/** For so many of the last anchors `git log -L` is asked as well. */
const LOGGED = 150
/** So much of the first line tells where a symbol may stand. */
const HEAD = 20

interface Anchor {
  readonly id: string
  readonly path: string
  readonly name: string
  readonly lines: readonly string[]
}

interface Line {
  readonly text: string
  readonly indent: number
}

const BLANK = 999
const indentOf = (line: string): number => line.length - line.trimStart().length
const exactly = (lines: readonly string[]): Line[] =>
  lines.map((text) => ({ text, indent: text.trim() === '' ? BLANK : indentOf(text) }))
/** Without comments and blanks, roughly: what no grammar of ours has a part in. */
function loosely(lines: readonly string[]): Line[] {
  let inComment = false
  return lines.flatMap((line) => {
    if (inComment || line.trimStart().startsWith('/*')) {
      inComment = !line.includes('*/')
      return []
    }
    const text = line.replace(/(?:^|\s)(?:#|\/\/)(?:\s.*)?$/, '').replace(/\s+/g, '')
    return text === '' || text.startsWith('//') ? [] : [{ text, indent: indentOf(line) }]
  })
}

/** Whether lines stand in a file as they were, however they are broken, and nothing was added at their end. */
function stands(all: readonly Line[], block: readonly Line[], separator: string): boolean {
  const starts = new Map<number, number>()
  let whole = ''
  for (const [i, { text }] of all.entries()) {
    starts.set(whole.length, i)
    whole += text + separator
  }
  const wanted = block.map((line) => line.text + separator).join('')
  for (let at = whole.indexOf(wanted); at >= 0; at = whole.indexOf(wanted, at + 1)) {
    const first = starts.get(at)
    if (first === undefined || (at + wanted.length < whole.length && !starts.has(at + wanted.length))) continue
    const next = all.slice(starts.get(at + wanted.length) ?? all.length).find((line) => line.indent < BLANK)
    if (!next || next.indent <= all[first]!.indent) return true
  }
  return false
}

class Counts {
  hit = 0
  missed = 0
  alarm = 0
  quiet = 0
  add(changed: boolean, stale: boolean): void {
    if (changed && stale) this.hit++
    else if (changed) this.missed++
    else if (stale) this.alarm++
    else this.quiet++
  }
  row(what: string, goal: boolean): Row {
    const [precision, recall] = [this.hit / (this.hit + this.alarm), this.hit / (this.hit + this.missed)]
    const cells = [this.hit + this.missed + this.alarm + this.quiet, this.hit + this.missed, precision, recall]
    return { what, cells, ...(goal ? { bound: '≥ .95, ≥ .95', ok: precision >= 0.95 && recall >= 0.95 } : {}) }
  }
}

async function replay(repo: string): Promise<Row[]> {
  const gitDir = spawnSync('git', ['-C', repo, 'rev-parse', '--absolute-git-dir'], { encoding: 'utf8' }).stdout.trim()
  const project = tempProject()
  const memory = openProject(project, { unlisted: true })
  const index = join(project.root, '.git', 'replayed')
  const git = (...args: string[]): string => {
    const env = { ...process.env, GIT_INDEX_FILE: index }
    const done = spawnSync('git', ['--git-dir', gitDir, '--work-tree', project.root, ...args], {
      cwd: project.root,
      env,
      encoding: 'utf8',
      maxBuffer: 2 ** 30,
    })
    if (done.status !== 0) throw new Error(`git ${args.join(' ')}: ${done.stderr}`)
    return done.stdout
  }
  const commits = git('log', '--first-parent', '--format=%H', `-${COMMITS + 1}`, 'HEAD')
    .trim()
    .split('\n')
    .reverse()
  const code = () =>
    git('ls-files')
      .split('\n')
      .filter((path) => languageOf(path))
  const text = (path: string) => readFileSync(join(project.root, path), 'utf8').split('\n')
  const random = seeded(7)
  const [strict, own] = [new Counts(), new Counts()]
  let anchors: Anchor[] = []
  let from = ''
  const misses: string[] = []
  for (const [n, commit] of commits.entries()) {
    git('-c', 'core.bare=false', 'read-tree', '-u', '--reset', commit)
    await scan(memory, project)
    if (n > 0 && n % STEP === 0) judge()
    if (n % STRETCH === 0 && n < commits.length - 1) {
      anchors = await anchored(n)
      from = commit
      await scan(memory, project)
    }
  }

  async function anchored(n: number): Promise<Anchor[]> {
    const all: Omit<Anchor, 'id'>[] = []
    for (const path of code()) {
      const lines = text(path)
      const { symbols } = await parse(path, lines.join('\n'))
      for (const s of symbols)
        if (s.end - s.start + 1 >= LEAST_LINES && symbols.filter((o) => o.name === s.name).length === 1)
          all.push({ path, name: s.name, lines: lines.slice(s.start - 1, s.end) })
    }
    const sample = all
      .map((a) => ({ a, at: random() }))
      .sort((x, y) => x.at - y.at)
      .slice(0, ANCHORS)
      .map((x) => x.a)
    const made = sample.map((a, i) => ({ ...a, id: `decision:at-${n}-${i}` }))
    for (let i = 0; i < made.length; i += 50)
      memory.act(
        made
          .slice(i, i + 50)
          .map((a) => ['record-decision', { name: a.id.slice(9), rationale: 'r', locations: [`${a.path}#${a.name}`] }]),
      )
    return made
  }

  /** Whether the lines stand as they were in their file, or, if it has not even their first, in another one. */
  function judge(): void {
    const files = new Map(code().map((path) => [path, text(path)]))
    const staleness = new Staleness(memory.db, project.root, memory.reader)
    const changed = (a: Anchor, of: (lines: readonly string[]) => Line[], separator: string) => {
      const own = files.get(a.path)
      const first = a.lines[0]!.trim()
      const holds = (lines: readonly string[]) => lines.some((line) => line.includes(first.slice(0, HEAD)))
      const where = own && holds(own) ? [own] : [...files.values()].filter(holds)
      const block = of(a.lines)
      return !where.some((lines) => stands(of(lines), block, separator))
    }
    for (const a of anchors) {
      const stale = staleness.of(a.id) !== undefined
      strict.add(changed(a, exactly, '\n'), stale)
      const differs = changed(a, loosely, '')
      own.add(differs, stale)
      if (differs !== stale) misses.push(`${stale ? 'alarm' : 'missed'} ${a.path}#${a.name} ${from.slice(0, 9)}`)
    }
  }

  /** `git log -L` over the stretch, of the lines that the symbol has at its end. */
  const logged = new Counts()
  const staleness = new Staleness(memory.db, project.root, memory.reader)
  for (const a of anchors.slice(0, LOGGED)) {
    const row = memory.db.get<{ path: string; symbol: string }>(
      'SELECT path, symbol FROM anchors WHERE entity=?',
      a.id,
    )!
    const there = code().includes(row.path)
      ? (await parse(row.path, text(row.path).join('\n'))).symbols.find((s) => s.name === row.symbol)
      : undefined
    const log =
      there &&
      git('log', '-s', '--format=%h', '-L', `${there.start},${there.end}:${row.path}`, `${from}..${commits.at(-1)}`)
    logged.add(log === undefined || log.trim() !== '', staleness.of(a.id) !== undefined)
  }
  memory.close()
  if (process.env.MISSES) console.error(misses.join('\n'))
  const at = resolve(repo)
  const name = basename(basename(at) === 'repo' ? join(at, '..') : at)
  return [
    own.row(`${name}: lines that differ, comments and blanks apart`, true),
    strict.row(`${name}: lines that differ at all`, false),
    logged.row(`${name}: git log -L, last stretch`, false),
  ]
}

const rows: Row[] = []
for (const repo of process.argv.slice(2)) rows.push(...(await replay(repo)))
console.log(
  render({
    title: `${COMMITS} commits replayed, ${ANCHORS} symbols anchored every ${STRETCH} of them, judged every ${STEP}`,
    columns: ['judgements', 'changed', 'precision', 'recall'],
    rows,
  }),
)
process.exit(0)
