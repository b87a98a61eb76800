import { join } from 'node:path'
import { below, inspect, readInside } from '../../base/files.ts'
import { redact } from '../../base/secrets/find.ts'
import { withoutPrivate } from '../../base/secrets/screen.ts'
import { covers } from '../../engine/claims/glob.ts'
import { scriptsIn } from '../../model/commands.ts'
import { sha256 } from '../../model/digest.ts'
import type { Json } from '../../model/field.ts'
import { jsonIn } from '../../model/object.ts'
import { type Claim, claimsOf } from '../../work/coordination/claims.ts'
import { titleOfSession } from '../../work/coordination/labels.ts'
import { operationOf, RUN } from '../../work/handoff/views/observations.ts'
import { excludedCommand } from './config.ts'
import { linesFromEnd } from './context-usage.ts'
import { dataLine } from './delivery.ts'
import type { Hook } from './hook.ts'
import { type Operation, operationsOf, outcomeIn, runsAllOf, TESTS } from './operations.ts'
import { pauses } from './pause.ts'
import { saidIn } from './transcripts/turns.ts'

/** By this source the knowledge tells what hooks observed from what somebody did. */
const SOURCE = 'observed'
/** Of one sort so many a session: what happens more often says nothing new. */
const MAX_OF_A_SORT = 3
/** A verification that failed once, and was mended this soon, is how work goes. */
const SLOW_MIN = 5
/** After so long the session was not at it all the time. */
const TOO_LONG_MIN = 240
/** Commands that fail, and occurrences that were told, of which a session keeps the newest. */
const KEPT = 20

/** What a session's commands came to so far; kept with the session that subagents work for. */
interface Work {
  failing?: { [command: string]: { text: string; n: number; first: number; away: number } }
  /** How long the agent has waited for its user while something failed, ms. */
  away?: number
  tested?: number
  commits?: number
  waits?: number
  /** What was told, and how often of each sort. */
  told?: string[]
  times?: { [sort: string]: number }
}

/** The session that a subagent works for. */
const chief = ({ call, session, sessions }: Hook): string =>
  call.parent === undefined ? session : sessions.resolve(call.parent)

const workOf = (hook: Hook): Work => (hook.sessions.get(chief(hook))?.data.work ?? {}) as Work

/** Changes what is kept of the work. Nobody else does meanwhile. */
function change(hook: Hook, by: (work: Work) => void): void {
  hook.memory.db.write(() => {
    const work = structuredClone(workOf(hook))
    by(work)
    hook.sessions.patch(chief(hook), { work: work as unknown as Json })
  })
}

interface Observed {
  readonly operation: string
  readonly what: string
  readonly cost?: string | undefined
  readonly succeeded?: boolean | undefined
  readonly tags?: readonly string[] | undefined
}

/** Records an observation, once for `occurrence`, and no more than a few of its sort in a session. */
function observe(hook: Hook, sort: string, occurrence: string, said: Observed): boolean {
  if (!hook.captures || hook.session === '') return false
  const key = sha256(`${sort} ${occurrence}`).slice(0, 12)
  const done = hook.memory.db.write(() => {
    const { told = [], times = {} } = workOf(hook)
    const n = times[sort] ?? 0
    if (n >= MAX_OF_A_SORT || told.includes(key)) return false
    change(hook, (work) => {
      work.told = [...told, key].slice(-KEPT)
      work.times = { ...times, [sort]: n + 1 }
    })
    const { tags, ...fields } = said
    const action = ['record-observation', { ...fields, ...(tags ? { tags: [...tags] } : {}) }]
    hook.memory.act([action], { ...hook.author, source: SOURCE, redact: true })
    return true
  })
  hook.observed ||= done
  return done
}

const shown = (text: string, most = 80): string => dataLine(redact(withoutPrivate(text)), most)

/** A shell command ended: what it came to is kept, and observed where it is worth a line. */
export async function commandEnded(hook: Hook, failed: boolean): Promise<void> {
  const { call, session, config } = hook
  const command = call.tool?.command
  if (command === undefined || session === '') return
  const operations = operationsOf(redact(command)) // as a whole: what is shown of each is cut
  if (operations.length === 0) return
  const isSilent =
    !hook.captures ||
    excludedCommand(config, command) ||
    (config.excludePaths.length > 0 && (await import('./shell.ts')).namesExcluded(hook, command))
  // before what came behind it in the same line
  const tests = operations.some((o) => o.tests)
  const untested = failed || tests || isSilent ? [] : operations.filter((o) => o.does === 'ship')
  for (const o of untested) shipped(hook, o)
  if (tests) hook.attempt('tests ran', () => change(hook, (work) => (work.tested = hook.memory.env.now())))
  if (isSilent) return
  for (const o of operations) {
    if (o.does === 'verify' && o.text !== '') hook.attempt('verification', () => verified(hook, o, failed))
    else if (o.does === 'commit' && !failed) change(hook, (work) => (work.commits = (work.commits ?? 0) + 1))
    else if (o.does === 'undo' && !failed) hook.attempt('undone', () => undone(hook, o))
  }
}

/** How it went: by the exit code where that is its own, else by what it printed. */
function outcome({ call }: Hook, o: Operation, failed: boolean): 'passed' | 'failed' | undefined {
  const { response } = call.tool!
  if (failed && o.fails)
    // what could not run says nothing of the code
    return /\b(?:interrupted|timed out|aborted by|command not found|exit code 127|is not recognized as)\b/i.test(
      response?.slice(0, 400) ?? '',
    )
      ? undefined
      : 'failed'
  return !failed && o.passes ? 'passed' : outcomeIn(response)
}

/** Adds what of a wait is over to the time that nobody was at it. */
function settleWait(hook: Hook, work: Work): void {
  const asked = Number(hook.sessions.get(chief(hook))?.data.askedAt ?? 0)
  if (work.waits === undefined || asked <= work.waits) return
  work.away = (work.away ?? 0) + asked - work.waits
  delete work.waits
}

export async function stopped(hook: Hook): Promise<void> {
  await ranSkills(hook)
  if (Object.keys(workOf(hook).failing ?? {}).length === 0) return
  change(hook, (work) => {
    settleWait(hook, work)
    work.waits = hook.memory.env.now()
  })
}

function verified(hook: Hook, o: Operation, failed: boolean): void {
  const { memory, sessions, call } = hook
  const how = outcome(hook, o, failed)
  const keyOf = (text: string) => sha256(`${call.cwd ?? ''}\n${text}`).slice(0, 12)
  const own = keyOf(o.text)
  const known = workOf(hook).failing ?? {}
  // of another directory, or not shown as it was: its key tells
  const passes = Object.keys(known).filter((key) => {
    const { text } = known[key]!
    return key === own || (key === keyOf(text) && runsAllOf(o.text, text))
  })
  if (how === undefined || (how === 'passed' && passes.length === 0)) return
  // the test that was written last is to fail first
  const newest = (sessions.get(hook.session)?.files ?? []).at(-1)
  if (how === 'failed' && o.tests && !known[own] && newest !== undefined && TESTS.test(newest)) return
  const now = memory.env.now()
  memory.db.write(() => {
    let away = 0
    change(hook, (work) => {
      settleWait(hook, work)
      away = work.away ?? 0
      const failing = { ...work.failing }
      const { [own]: before = { text: shown(o.text), n: 0, first: now, away } } = failing
      for (const key of how === 'failed' ? [own] : passes) delete failing[key]
      if (how === 'failed') failing[own] = { ...before, n: before.n + 1 }
      work.failing = Object.fromEntries(Object.entries(failing).slice(-KEPT))
    })
    if (how === 'failed') return
    for (const key of passes) {
      const was = known[key]!
      const minutes = Math.round((now - was.first - (away - was.away)) / 60_000)
      if (was.n < 2 && minutes < SLOW_MIN) continue
      const cost = minutes > 0 && minutes <= TOO_LONG_MIN ? `cost: ${minutes} min` : undefined
      const what = `${was.text} failed ${was.n === 1 ? 'once' : `${was.n} times`}, then passed`
      observe(hook, 'verify', `${key} ${was.first}`, { operation: 'verify', what, cost })
    }
  })
}

const CODE =
  /\.(?:[cm]?[jt]sx?|py|rb|go|rs|java|kts?|swift|cc?|cpp|cxx|hh?|hpp|cs|php|exs?|scala|vue|svelte|sql|sh|lua|dart|zig|hs|mli?|clj)$/i
const FILE_MAX = 100_000

const read = (root: string, path: string): string => readInside(root, path)?.toString('utf8', 0, FILE_MAX) ?? ''

function hasTests(root: string): boolean {
  if (['test', 'tests', 'spec', '__tests__', 'e2e'].some((dir) => inspect(root, dir).is === 'directory')) return true
  const settings = ['pytest.ini', 'tox.ini', 'phpunit.xml', 'vitest.config.ts', 'jest.config.js']
  if (settings.some((file) => inspect(root, file).is === 'file')) return true
  const script = scriptsOf(root).test
  return script !== undefined && !script.includes('no test specified')
}

const scriptsOf = (root: string) => scriptsIn(read(root, 'package.json'))

/** What of a project runs by itself before something leaves it: git's hooks, and what a script has in front. */
const BEFORE = [
  ...['pre-push', 'pre-commit'].flatMap((h) => [`.git/hooks/${h}`, `.husky/${h}`, `.githooks/${h}`]),
  ...['lefthook.yml', '.lefthook.yml', '.pre-commit-config.yaml', 'Makefile', 'makefile', 'justfile', 'Taskfile.yml'],
]
const TESTS_ITSELF =
  /(?:^|[^a-z])(?:tests?|specs?|check|verify|vitest|jest|mocha|pytest|rspec|phpunit|tox)(?:[^a-z]|$)/i

/** Whether it may run tests itself. What cannot be seen through counts as if it did. */
function mayTestItself(root: string, { text, as }: Operation): boolean {
  const scripts = Object.entries(scriptsOf(root)).filter(([name]) =>
    /^(?:pre|post)?(?:deploy|release|publish\w*|pack|pare|version)/.test(name),
  )
  if (as !== 'push' && scripts.some(([, line]) => TESTS_ITSELF.test(line) || /\.\w+\b|run /.test(line))) return true
  if (BEFORE.some((path) => TESTS_ITSELF.test(read(root, path)))) return true
  const script = text.split(' ').find((w) => /\.(?:sh|bash|[cm]?[jt]s|py)$/.test(w))
  return (
    script !== undefined &&
    (below(root, join(root, script)) === undefined || TESTS_ITSELF.test(read(root, script) || 'test'))
  )
}

/** Something left the machine: was what it holds tested since it was edited? */
function shipped(hook: Hook, o: Operation): void {
  const { call, memory, sessions, root } = hook
  if (/\b(?:rejected|fatal|error|failed|up-to-date)\b/i.test((call.tool?.response ?? '').slice(-4_000))) return
  const paused = pauses(memory.db).map(([, to]) => Math.min(to, memory.env.now()))
  const tested = Math.max(workOf(hook).tested ?? 0, ...paused)
  const own = sessions.list({ all: true }).filter((s) => [s.id, s.parent].includes(chief(hook)))
  const edits = own.flatMap((s) => Object.entries((s.data.changed ?? {}) as { [path: string]: { at: number } }))
  const code = edits.filter(([path, { at }]) => CODE.test(path) && at > tested)
  if (code.length === 0 || !hasTests(root) || mayTestItself(root, o)) return
  const n = new Set(code.map(([path]) => path)).size
  observe(hook, 'ship', `${o.as} ${Math.max(...code.map(([, { at }]) => at))}`, {
    operation: o.as!,
    what: 'went out without a test run since the last edit',
    cost: `cost: ${n === 1 ? '1 file' : `${n} files`} untested`,
  })
}

function undone(hook: Hook, o: Operation): void {
  const said = (what: string, occurrence: string) =>
    observe(hook, 'undo', occurrence, { operation: 'commit', what, succeeded: false })
  if (o.text.startsWith('git revert')) {
    const made = /^\[\S{1,200} ([0-9a-f]{7,40})\] Revert "([^\n]{1,200})"/m.exec(hook.call.tool?.response ?? '')
    if (made) said(`reverted: ${shown(made[2]!)}`, made[1]!)
    return
  }
  const back = /(?:HEAD|@)(?:~(\d{0,2})|(\^{1,9}))$/.exec(o.text)
  const n = back ? (back[2]?.length ?? Number(back[1] || 1)) : 0
  const { commits = 0 } = workOf(hook)
  if (n === 0 || n > commits) return // not surely its own
  change(hook, (work) => (work.commits = commits - n))
  said(`${n === 1 ? 'a commit' : `${n} commits`} thrown away with git reset --hard`, String(hook.memory.env.now()))
}

export function conflictMet(hook: Hook, path: string, decision: string, { session, n }: Claim): void {
  const own = claimsOf(hook.memory)
    .held()
    .some((c) => c.session === hook.session && !c.implicit && covers(c.on, path))
  if (own) return
  const info = hook.sessions.get(session)
  const holder = `${shown(path, 160)}, ${shown(info ? titleOfSession(info) : session, 120)}`
  const [what, succeeded] =
    decision === 'warn'
      ? [`edited without a claim, while another session was at it (${holder})`]
      : [`tried to edit what another session held, and was refused (${holder})`, false]
  observe(hook, 'conflict', `${path} ${n}`, { operation: 'edit', what, succeeded })
}

/** The session ends: a check that it leaves failing is a line. */
export function leaves(hook: Hook): void {
  const failing = Object.values(workOf(hook).failing ?? {}).findLast((f) => f.n > 1)
  if (!failing) return
  const what = `left ${failing.text} failing after ${failing.n} runs`
  observe(hook, 'handoff', 'end', { operation: 'handoff', what, succeeded: false })
}

/** A client writes its transcript about when its hooks are called. */
const SLACK_MS = 2_000

/** What was called like a skill since the user asked last: by a slash command, or by the agent. */
function callsOf(hook: Hook, since: number): string[] {
  const { transcript } = hook.call
  const names = [hook.kept('skill')].flatMap((name) => (typeof name === 'string' ? [name] : []))
  for (const line of transcript === undefined ? [] : linesFromEnd(transcript)) {
    if (Date.parse(/"timestamp":"([^"]{1,40})"/.exec(line)?.[1] ?? '') < since - SLACK_MS) break
    if (line.includes('"isSidechain":true') || line.includes('"tool_result"')) continue
    const called = line.includes('"name":"Skill"') ? /"skill":"([\w.-]{1,80})"/ : /<command-name>\/([\w.-]{1,80})</
    const name = called.exec(line)?.[1]
    if (name !== undefined) names.push(name)
  }
  return [...new Set(names)]
}

/** How the last verification or release since then ended, where that is known. */
function lastOutcome({ call }: Hook, since: number): { text: string; passed: boolean } | undefined {
  const failed = new Set<string>()
  for (const line of call.transcript === undefined ? [] : linesFromEnd(call.transcript)) {
    const said = saidIn(jsonIn(line)).toReversed()
    if (said.some(({ at }) => at !== undefined && at < since)) return undefined
    for (const { who, text, call: id = '' } of said) {
      if (who === 'failed') failed.add(id)
      const o =
        who === 'command'
          ? operationsOf(text).findLast((o) => (o.does === 'verify' && o.text !== '') || o.does === 'ship')
          : undefined
      if (!o) continue
      const passed = !failed.has(id)
      return (passed ? o.passes : o.fails) ? { text: o.text, passed } : undefined
    }
  }
  return undefined
}

/** The agent is done: a skill of the project that it ran is a line, so that what went wrong can be counted against it. */
async function ranSkills(hook: Hook): Promise<void> {
  const { memory, session, sessions, root } = hook
  const since = Number(hook.kept('askedAt') ?? sessions.get(session)?.started ?? 0)
  const called = callsOf(hook, since)
  if (called.length === 0) return
  const { fileOfSkill } = await import('../../work/evolution/skill.ts')
  const names = called.filter((name) => fileOfSkill(root, name) !== undefined)
  if (names.length === 0) return
  const here = memory.reader.list('observation', { since, limit: KEPT })
  const last = lastOutcome(hook, since)
  for (const name of names) {
    if (here.some((e) => operationOf(e.fields.operation) === operationOf(name))) continue // it said so itself
    const how = last && (last.passed ? `ran, and ${shown(last.text)} passed` : `ended with ${shown(last.text)} failing`)
    const said = { operation: name, what: how ?? 'ran', succeeded: last?.passed, tags: [RUN] }
    observe(hook, `skill ${name}`, String(since), said)
  }
}
