import { spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { many } from '../../briefing/format.ts'
import { findOnPath } from '../../clients/common/path.ts'
import { sessionsOf } from '../../coordination/sessions.ts'
import { UserError } from '../../errors.ts'
import { type Check, ok, wrong } from '../../hooks/check.ts'
import { hooksSeen } from '../../hooks/log.ts'
import type { Memory } from '../../memory.ts'
import { waitTurn } from '../../store/lock-wait.ts'
import { type Project, storesOf } from '../../store/project.ts'
import { ago } from '../../tools/format.ts'
import { VERSION } from '../version.ts'

const SESSIONS = 5
const START_MS = 10_000
const WRITER_MS = 1_000

/** What the last sessions were told, and how long their hooks took: the price of remembering. */
export function checkSessions(memory: Memory, project: Project): Check[] {
  const sessions = sessionsOf(memory)
  const hooks = Map.groupBy(hooksSeen(project), (h) => h.session ?? '')
  return sessions
    .list({ all: true })
    .sort((a, b) => b.seen - a.seen)
    .map((session) => ({ session, told: sessions.toldOf(session.id), calls: hooks.get(session.id) ?? [] }))
    .filter(({ told, calls }) => told.length > 0 || calls.length > 0)
    .slice(0, SESSIONS)
    .map(({ session, told, calls }) => {
      const tokens = told.reduce((sum, t) => sum + t.tokens, 0)
      const spent = calls.reduce((sum, c) => sum + c.ms, 0)
      const who = `session ${session.id}${session.client ? ` (${session.client})` : ''}, ${session.state}`
      const what = `told ${tokens} tokens in ${many(told.length, 'piece')}; ${calls.length} hooks took ${Math.round(spent)} ms`
      return ok('session', `${who}, seen ${ago(session.seen, memory.env.now())}: ${what}`)
    })
}

/** Whether the project has one store on this machine: of two, each knows what the other does not. */
export function checkPlaces(project: Project): Check[] {
  const stores = storesOf(project)
  if (stores.length < 2) return []
  const others = stores.filter((path) => path !== project.storePath).map(dirname)
  return [
    wrong(
      'store.places',
      `this project has ${stores.length} stores: ${dirname(project.storePath)} is used here, not ${others.join(' or ')}`,
      `TIDEMARK_STORE=${others[0]} opens the other one; move away the one that you do not want`,
    ),
  ]
}

/** Whether what the project wants of recall is accepted: until then every recall is refused. */
export async function checkRecall(memory: Memory, project: Project): Promise<Check[]> {
  try {
    const { recallerOf } = await import('../../recall/recall.ts')
    recallerOf(memory, project).config // read when it is asked for
    const { ALLOW_HTTP, waitingEndpoint } = await import('../../recall/embedders/consent.ts')
    const waiting = waitingEndpoint(project)
    return waiting === undefined ? [] : [wrong('recall.endpoint', waiting, `if you trust it: \`${ALLOW_HTTP}\``)]
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return [wrong('recall.refused', `recall is refused: ${error.message}`, error.hint.replaceAll('\n', '\n       '))]
  }
}

/** SQLite's lock of the writer: a byte of the shared memory beside the store. */
const WRITER_BYTE = 120

/** The process that holds the write lock of a store, where the system tells (Linux). */
function writerOf(storePath: string): string | undefined {
  try {
    const inode = statSync(`${storePath}-shm`).ino
    for (const line of readFileSync('/proc/locks', 'utf8').split('\n')) {
      const m = /\bWRITE\s+(\d+)\s+\w+:\w+:(\d+)\s+(\d+)\s+(\d+|EOF)/.exec(line)
      if (!m || Number(m[2]) !== inode || Number(m[3]) > WRITER_BYTE || Number(m[4]) < WRITER_BYTE) continue
      return `${m[1]} (${readFileSync(`/proc/${m[1]}/cmdline`, 'utf8').replaceAll('\0', ' ').trim().slice(0, 200)})`
    }
  } catch {} // another system, or the process has just gone
  return undefined
}

/** Whether somebody writes for so long that nobody else can. */
export function checkWriter(memory: Memory): Check[] {
  try {
    if (waitTurn(() => memory.db.tryWrite(() => true) === true, WRITER_MS)) return []
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return [wrong('store.writer', error.message, error.hint)]
  }
  const writer = writerOf(memory.path)
  return [
    wrong(
      'store.writer',
      `another process has held the store's write lock for more than ${WRITER_MS / 1000} s: nobody else can write`,
      writer
        ? `it is process ${writer}; if it hangs, end it: nothing that was acknowledged is lost`
        : `if one hangs, end it: \`fuser -v ${memory.path}\` lists who has the store open; nothing that was acknowledged is lost`,
    ),
  ]
}

/** Whether the tidemark that clients start by its bare name starts, and is this version. */
export function checkCommand(env: Readonly<Record<string, string | undefined>>): Check[] {
  const file = findOnPath('tidemark', env)
  if (file === undefined) return []
  const run = spawnSync(file, ['--version'], { encoding: 'utf8', timeout: START_MS, env: { ...env } })
  const version = /\d{1,9}\.\d{1,9}\.\d{1,9}\S*/.exec(run.stdout ?? '')?.[0]
  const hint = 'install this version with `npm install -g tidemark`, or take the other off the PATH'
  const bad = (what: string) => [wrong('command', `${file} is what clients start, and it ${what}`, hint)]
  if (run.status !== 0 || version === undefined)
    return bad(`does not start: ${(run.stderr ?? '').trim().split('\n')[0]}`)
  if (version !== VERSION) return bad(`is tidemark ${version}; this one is ${VERSION}`)
  return [ok('command', `clients start ${file}, which is this version`)]
}
