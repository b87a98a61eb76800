import { existsSync, writeSync } from 'node:fs'
import { sinceStart } from '../../base/env.ts'
import { messageOf, UserError } from '../../base/errors.ts'
import type { Project } from '../../engine/store/project.ts'
import { type Dialect, spelling } from '../../session/clients/common/dialect.ts'
import { objectOrJson, type Payload } from '../../session/clients/common/payload.ts'
import { DIALECTS } from '../../session/clients/index.ts'
import { type HookEvent, type HookReply, NOTHING } from '../../session/hooks/call.ts'
import { errorCode, type HookErrors, logHook, noteError } from '../../session/hooks/log.ts'
import type { ClientName } from '../../work/coordination/clients.ts'
import { ran } from '../code-cache.ts'
import { leave, readStdin } from './stdin.ts'

/** Milliseconds of a hook's own work (design §4): of the processor, since a busy machine is not its doing, nor is Node's start. */
let ownMs = Number(process.env.TIDEMARK_HOOK_MS) || 300
const START = process.cpuUsage()
/** And on the clock, whatever happens: the shortest time that a client gives is 1.5 s. */
let clockMs = Math.max(1_000, 2 * ownMs)
/**
 * A session that starts is told its rules then or never, and every client waits 10 s for that. An edit that is not judged
 * passes, also one that overwrites what somebody else is writing; clients wait 5 s for that. Both have a second of the processor.
 */
const CLOCK_MS: { readonly [event in HookEvent]?: number } = { 'session-start': 5_000, 'before-tool': 4_000 }
/** Within both this much is for the answer. */
const MARGIN_MS = 40
/** For another hook that writes, where what is missed comes again. */
const LOCK_MS = 60
/** The same for what comes once, and would be missed: twenty sessions may start, or edit, in the same moment. */
const PATIENT_MS = 400
const PATIENT: ReadonlySet<HookEvent> = new Set(['session-start', 'subagent-start', 'session-end', 'subagent-stop', 'prompt', 'pre-compact', 'stop', 'before-tool', 'before-edit', 'after-edit', 'tool-failed']) // biome-ignore format: a list
const LATE = 'the time was up'
/** For the payload to come. */
const STDIN_MS = 400

const leftOnClock = (): number => clockMs - sinceStart() - MARGIN_MS

/** Milliseconds that are left for this process. */
function left(): number {
  const { user, system } = process.cpuUsage(START)
  return Math.min(ownMs - (user + system) / 1000 - MARGIN_MS, leftOnClock())
}

/** All of it, however slowly the other side reads; one that does not read at all is not waited for. */
function print(text: string): void {
  const bytes = Buffer.from(text === '' || text.endsWith('\n') ? text : `${text}\n`)
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return // nobody listens
      if (sinceStart() > clockMs) return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)
    }
  }
}

type Asked = { readonly dialect: Dialect; readonly event: string }

async function asked(client: string | undefined, event: string | undefined): Promise<Asked | undefined> {
  if (client === undefined || event === undefined || !Object.hasOwn(DIALECTS, client)) return undefined
  const dialect = await DIALECTS[client as ClientName]()
  return { dialect, event: spelling(dialect, event) ?? event }
}

/** What goes wrong anywhere is noted beside the store of the project, where there is one. */
interface Outcome extends HookErrors {
  reply: HookReply
  payload: Payload
  project?: Project
  session?: string
}

/**
 * Runs work and ends it when the time is up. A thread outside the event loop tells V8 to stop; this also covers promises
 * that wait for nothing outside. A call of SQLite or the system that does not return cannot be ended like this.
 */
function withDeadline(work: () => Promise<void>, ms: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const { Script } = process.getBuiltinModule('node:vm')
  const name = Symbol.for('tidemark.work')
  const run = () => {
    // settled from outside: what follows must not be ended with the work
    work().then(
      () => setImmediate(resolve),
      (error) => setImmediate(reject, error),
    )
    ;(process as { _tickCallback?(): void })._tickCallback?.() // what is promised, within the time too
  }
  // promises are not kept while one of them runs: so it begins apart from them
  setImmediate(() => {
    try {
      Object.assign(globalThis, { [name]: run })
      new Script("globalThis[Symbol.for('tidemark.work')]()").runInThisContext({ timeout: Math.max(1, Math.ceil(ms)) })
    } catch (error) {
      reject(error)
    }
  })
  return promise
}

/** At these somebody may have changed how Tidemark is wired. */
const TELLS_WIRING: ReadonlySet<HookEvent> = new Set(['session-start', 'after-edit', 'stop'])

/** Stands for a message to the person, to see whether a client takes one at an event. */
const SHOWN = 'tidemark-shows-this'

/** Whether a project ends here because another repository begins. */
const isBelowProject = (error: unknown): boolean => error instanceof UserError && error.details.around !== undefined

async function answerTo({ dialect, event }: Asked, text: string, outcome: Outcome): Promise<void> {
  const payload = objectOrJson(text)
  outcome.payload = payload
  if (text.trim() !== '' && Object.keys(payload).length === 0) noteError(outcome, 'bad-call', 'stdin: no JSON object')
  if (!Object.hasOwn(dialect.events, event)) {
    noteError(outcome, 'bad-call', `no event ${event.slice(0, 80)} for ${dialect.client}`)
    return
  }
  const said = dialect.read(event, payload)
  const call = { ...said, silent: !dialect.print(event, { visible: SHOWN }, payload).includes(SHOWN) }
  ran(`${dialect.client} ${call.event}`)
  const { findProject } = await import('../../engine/store/project.ts')
  const places = [call.cwd, process.env.CLAUDE_PROJECT_DIR, process.cwd()]
  /** Whoever is at the keyboard is told once a session; else a memory that is not used would just seem to know nothing. */
  const tell = (error: unknown) => {
    if (call.event === 'session-start' && error instanceof UserError)
      outcome.reply = {
        visible: `Tidemark ${error.code === 'no-project' ? 'is not used' : 'cannot read its memory'}: ${error.message} → ${error.hint}`,
      }
  }
  let missing: unknown
  for (const dir of process.env.TIDEMARK_PROJECT === undefined ? places : [process.env.TIDEMARK_PROJECT]) {
    if (dir === undefined || dir === '' || !existsSync(dir)) continue
    try {
      outcome.project = findProject(dir)
      break
    } catch (error) {
      missing ??= error
      if (!isBelowProject(error)) break // a session of the project around may look into a repository of its own
    }
  }
  const { project } = outcome
  if (project === undefined) {
    // not in a project: nothing to say, and nothing is made
    if (missing instanceof UserError && (missing.code !== 'no-project' || isBelowProject(missing))) tell(missing)
    return
  }
  const { waitForLock } = await import('../../engine/store/db.ts')
  waitForLock(PATIENT.has(call.event) ? PATIENT_MS : LOCK_MS)
  const { openProject } = await import('../../project/open.ts')
  const opened = () => {
    try {
      return openProject(project, { hurried: true })
    } catch (error) {
      tell(error)
      if (error instanceof UserError && error.code === 'store-foreign') delete outcome.project // nothing is noted beside it
      throw error
    }
  }
  using memory = opened()
  const { respond } = await import('../../session/hooks/run.ts')
  const done = await respond(memory, project, call, left, leftOnClock)
  outcome.session = done.session
  noteError(outcome, done.code ?? 'bug', ...done.errors)
  if (TELLS_WIRING.has(call.event) && !call.silent) {
    const { tellRewired } = await import('../../session/clients/common/rewired.ts')
    const changed = tellRewired(memory, project.root, done.session)
    if (changed !== undefined)
      done.reply = { ...done.reply, visible: [changed, done.reply.visible].filter(Boolean).join(' ') }
  }
  const { carried } = await import('../../session/hooks/carry-over.ts')
  const tells = dialect.tells(event, payload)
  // what is said to the summary of a compaction is of no use after it
  outcome.reply = tells || call.event !== 'pre-compact' ? carried(memory, done.session, done.reply, tells) : done.reply
  // an answer with a section more ran code that the ones before did not
  const { context = '' } = outcome.reply
  if (context !== '') ran('context')
  for (const [, title = ''] of context.matchAll(/^## ([A-Z][a-z ]{2,30})/gm)) ran(title)
}

/**
 * `tidemark hook CLIENT EVENT`: the payload comes on stdin, the answer goes to stdout in the client's dialect. Exits 0
 * whatever happens and within its deadline (M4); what went wrong is in the log that `doctor` reads.
 */
export async function hook(args: readonly string[]): Promise<never> {
  const outcome: Outcome = { reply: NOTHING, payload: {}, errors: [] }
  let found: Asked | undefined
  let over = false
  const finish = (reply: HookReply): never => {
    if (over) leave()
    over = true
    try {
      print(found ? found.dialect.print(found.event, reply, outcome.payload) : '')
    } catch (error) {
      noteError(outcome, 'bug', `answer: ${String(error)}`)
    }
    if (outcome.project && found) note(outcome, found)
    leave()
  }
  // another client that runs inside of Claude Code is not Claude Code
  if (args[0] !== 'claude') delete process.env.CLAUDE_PID
  const chain = args.indexOf('--chain')
  const failed = (code: string, text: string): never => {
    noteError(outcome, code, text)
    return finish(NOTHING)
  }
  let timer: NodeJS.Timeout | undefined
  process.on('uncaughtException', (error) => failed('bug', String(error)))
  process.on('unhandledRejection', (error) => failed('bug', String(error)))
  try {
    found = await asked(args[0], args[1])
    if (!found) finish(NOTHING)
    const patience = CLOCK_MS[found!.dialect.events[found!.event] ?? 'other']
    if (patience !== undefined) [clockMs, ownMs] = [Math.max(clockMs, patience), Math.max(ownMs, 1_000)]
    timer = setTimeout(() => failed('late', LATE), Math.max(1, clockMs - sinceStart()))
    const text = await readStdin(STDIN_MS)
    const theirs =
      chain > 0 ? import('./status-line-command.ts').then((m) => m.chained(args.slice(chain + 1), text)) : undefined
    await withDeadline(() => answerTo(found!, text, outcome), clockMs - MARGIN_MS - sinceStart())
    if (theirs !== undefined) {
      const line = await theirs
      const own = outcome.reply.line
      if (line !== '') outcome.reply = { ...outcome.reply, line: own === undefined ? line : `${line} · ${own}` }
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') noteError(outcome, 'late', LATE)
    else noteError(outcome, errorCode(error), messageOf(error))
  }
  clearTimeout(timer)
  return finish(outcome.reply)
}

/** Beside the store: what was called, how long it took, what did not work. */
function note({ project, session, errors, code }: Outcome, { dialect, event }: Asked): void {
  logHook(project!, {
    at: Date.now(),
    client: dialect.client,
    event: event.slice(0, 80),
    ...(session ? { session } : {}),
    ms: Math.round(sinceStart()),
    ...(errors.length > 0 ? { errors, code } : {}),
  })
}
