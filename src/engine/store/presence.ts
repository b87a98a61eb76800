import type { ProcessRef } from '../../base/env.ts'
import { UserError } from '../../base/errors.ts'
import { findSecrets } from '../../base/secrets/find.ts'
import type { Json } from '../../model/field.ts'
import type { Span } from '../../model/lines.ts'
import { defined } from '../../model/object.ts'
import { MAX_LEAD_MS } from '../log/clock.ts'
import { type Db, insert, type Param, stored } from './db.ts'
import { countArrival } from './log.ts'

/** A session as it is kept. Times in ms since the epoch. */
export interface SessionRow {
  id: string
  /** Its last heartbeat. */
  seen: number
  ended?: number
  started: number
  parent?: string
  client?: string
  agent?: string
  role?: string
  user?: string
  root?: string
  folder?: string
  branch?: string
  /** The client's process, where it is known. */
  process?: ProcessRef
  reason?: string
  /** Up to which event it has been told the news. */
  cursor?: number
  /** Somebody found its process gone. */
  crashed?: number
  /** Its last state was put before another session. */
  takenUp?: string
  /** What hooks keep of it: files in hand, how full the context is, what failed. */
  data: { [key: string]: Json }
}

/** A lease on what one session works on. Times in ms since the epoch. */
export interface ClaimRow {
  /** The fencing number. */
  n: number
  session: string
  until: number
  ended?: number
  since: number
  /** Milliseconds by which a heartbeat renews it. */
  ttl: number
  what: 'path' | 'task' | 'role'
  /** A path or glob, relative to the work tree; a task's id; a role. */
  on: string
  /** What of the file, as it was written: `#Cart.total`, `:12-40`. Who does not know of parts reads a claim on the file. */
  part?: string
  /** The same as lines, of the version with this id in git. An edit's claim has these alone. */
  lines?: readonly Span[]
  base?: string
  root?: string
  note?: string
  task?: string
  goal?: string
  role?: string
  dependsOn?: readonly string[]
  /** Taken by a hook before an edit. */
  implicit?: boolean
  /** The fencing number that the hub gave. */
  hub?: number
  /** Its holder said for how long: a living process does not stretch it. */
  exact?: boolean
  /** How it ended: released, lapsed (expired, or its holder was gone), handed over. */
  how?: 'released' | 'lapsed' | 'handed-over'
  status?: string
  result?: string
  handoff?: string
  from?: string
  /** Words of a block of the swarm state that mean nothing to us. */
  more?: { [key: string]: string }
}

export const PRESENCE_TYPES = [
  'session-started', 'session-ended', 'session-crashed', 'claimed', 'reclaimed', 'released', 'lapsed', 'handed-over', 'assigned', 'edited', 'stale',
] as const // biome-ignore format: a list

export type PresenceType = (typeof PRESENCE_TYPES)[number]

/** Something that happened with sessions and claims. */
export interface PresenceEvent {
  seq: number
  at: number
  session: string
  type: PresenceType
  body: { [key: string]: Json }
}

type Cells = { ended: number | null; body: string }

/** A session or claim: what it has columns for, and its body. */
const whole = <T>({ body, ended, ...row }: Cells): T => ({
  ...stored<T>(body),
  ...row,
  ...(ended === null ? {} : { ended }),
})

const sessions = (db: Db, rest: string, ...params: Param[]): SessionRow[] =>
  db.all<Cells>(`SELECT id, seen, ended, body FROM sessions ${rest}`, ...params).map(whole<SessionRow>)

export const getSession = (db: Db, id: string): SessionRow | undefined => sessions(db, 'WHERE id=?', id)[0]

/** Sessions, newest heartbeat first; those that have ended only with `all`. */
export const listSessions = (db: Db, all = false): SessionRow[] =>
  sessions(db, `${all ? '' : 'WHERE ended IS NULL'} ORDER BY seen DESC, id`)

export const putSession = (db: Db, { id, seen, ended, ...body }: SessionRow): void =>
  db.run('INSERT OR REPLACE INTO sessions VALUES (?,?,?,?)', id, seen, ended ?? null, JSON.stringify(body))

export const seenNow = (db: Db, id: string, at: number): void =>
  db.run('UPDATE sessions SET seen=max(seen, ?) WHERE id=?', at, id)

/** @throws UserError `secret` where the id looks like one: ids are shown to everybody, and are no text to redact. */
export function newSession(id: string, at: number): SessionRow {
  const [found] = findSecrets(id)
  if (found)
    throw new UserError('secret', `the session's id looks like a secret (${found.category})`, 'give it another id')
  return { id, seen: at, started: at, data: {} }
}

/** A session that acts is there, whether or not anybody has said that it started. */
export function ensureSession(db: Db, id: string, at: number): SessionRow {
  const there = getSession(db, id)
  if (there) return there
  const row = newSession(id, at)
  putSession(db, row)
  addPresence(db, at, id, 'session-started', {})
  return row
}

/** A session that ended, crashed or was taken up lives again; its process is unknown until a caller names it. */
export function reviveSession(db: Db, row: SessionRow, at: number): void {
  const { ended: _e, reason: _r, crashed: _c, takenUp: _t, process: _p, ...known } = row
  putSession(db, { ...known, seen: at })
  addPresence(db, at, row.id, 'session-started', row.client ? { client: row.client } : {})
}

/** Claims that ended before a day are nobody's, but for those that say how a role's work stands, or what the next one should know. */
const ENDED_KEPT_MS = 86_400_000
/** The newest of a role make up its block; what it did long before is nobody's either. */
const KEPT_OF_ROLE = 100
const KEPT_MS = 30 * 86_400_000

/** Forgets sessions that have said nothing for 30 days, with what was told them, and claims that nobody will ask for. */
export function forgetOld(db: Db, now: number): void {
  const before = now - KEPT_MS
  const sql = `WITH of_role AS (
       SELECT n, row_number() OVER (PARTITION BY json_extract(body, '$.role') ORDER BY n DESC) AS nth
       FROM claims WHERE json_extract(body, '$.role') IS NOT NULL)
     DELETE FROM claims WHERE ended < ? AND (ended < ? OR (
       json_extract(body, '$.handoff') IS NULL AND n NOT IN (SELECT n FROM of_role WHERE nth <= ?)))`
  db.run(sql, now - ENDED_KEPT_MS, before, KEPT_OF_ROLE)
  db.run('DELETE FROM sessions WHERE seen < ?', before)
  db.run('DELETE FROM doors WHERE at < ?', before)
  db.run('DELETE FROM told WHERE at < ?', before)
}

/** Aliases of sessions are in the table `doors`. */
export const setAlias = (db: Db, alias: string, session: string, at: number): void =>
  db.run('INSERT OR REPLACE INTO doors VALUES (?,?,?)', alias, session, at)

export const sessionOfAlias = (db: Db, alias: string): string | undefined =>
  db.value<string>('SELECT session FROM doors WHERE door=?', alias)

const claims = (db: Db, rest: string, ...params: Param[]): ClaimRow[] =>
  db.all<Cells>(`SELECT n, session, until, ended, body FROM claims ${rest}`, ...params).map(whole<ClaimRow>)

export const openClaims = (db: Db): ClaimRow[] => claims(db, 'INDEXED BY claims_held WHERE ended IS NULL ORDER BY n')

export const getClaim = (db: Db, n: number): ClaimRow | undefined => claims(db, 'WHERE n=?', n)[0]

/** The claim that a hub granted under this number, ended or not. */
export const claimOfHub = (db: Db, fence: number): ClaimRow | undefined =>
  claims(db, `WHERE json_extract(body, '$.hub')=? ORDER BY n DESC LIMIT 1`, fence)[0]

/** Claims that a session held at its last heartbeat and that have lapsed since. */
export const lapsedSince = (db: Db, session: string, seen: number): ClaimRow[] =>
  claims(db, `WHERE session=? AND ended>=? AND json_extract(body, '$.how')='lapsed' ORDER BY n`, session, seen)

/** Claims of edits of a file that have lapsed, the last one first. */
export const lapsedEdits = (db: Db, on: string): ClaimRow[] =>
  claims(
    db,
    `WHERE ended IS NOT NULL AND json_extract(body, '$.on')=? AND json_extract(body, '$.how')='lapsed'
       AND json_extract(body, '$.implicit') ORDER BY until DESC`,
    on,
  )

/** Claims with a role, ended ones too, oldest first. */
export const roleClaims = (db: Db): ClaimRow[] =>
  claims(db, "WHERE json_extract(body, '$.role') IS NOT NULL ORDER BY n")

/** Claims that were given up with a word for the next one, newest first, where nobody has claimed the same since. */
export const leftNotes = (db: Db): ClaimRow[] =>
  claims(
    db,
    `c WHERE ended IS NOT NULL AND json_extract(body, '$.handoff') IS NOT NULL AND NOT EXISTS (
       SELECT 1 FROM claims l WHERE l.n > c.n AND json_extract(l.body, '$.implicit') IS NULL
         AND json_extract(l.body, '$.on') = json_extract(c.body, '$.on'))
     ORDER BY ended DESC, n`,
  )

export const lastOfRole = (db: Db, role: string): ClaimRow | undefined =>
  roleClaims(db).findLast((c) => c.role === role)

export const nextFence = (db: Db): number =>
  (db.value<number>("SELECT seq AS n FROM sqlite_sequence WHERE name='claims'") ?? 0) + 1

/** The shortest lease that signs of life renew, in ms. */
export function shortestLease(db: Db, session: string): number | undefined {
  const sql = `SELECT min(json_extract(body, '$.ttl')) AS ttl FROM claims
     WHERE session=? AND ended IS NULL AND json_extract(body, '$.implicit') IS NULL`
  return db.value<number | null>(sql, session) ?? undefined
}

/** A heartbeat renews the claims of its session. A hook's claim is renewed by edits alone. */
export function renewClaims(db: Db, session: string, now: number): void {
  const sql = `UPDATE claims SET until = max(until, ? + json_extract(body, '$.ttl'))
     WHERE session=? AND ended IS NULL AND json_extract(body, '$.implicit') IS NULL`
  db.run(sql, now, session)
}

const PRESENCE = ['sessions', 'claims', 'presence_events'] as const

/** Rows of sessions and claims that cannot be read. */
export const unreadablePresence = (db: Db): string[] =>
  PRESENCE.flatMap((table) => {
    const n = db.value<number>(`SELECT count(*) FROM ${table} WHERE NOT json_valid(body)`)
    return n === 0 ? [] : [`${n} of ${table} cannot be read, and will be left out`]
  })

/** Nothing of them is kept elsewhere. The caller holds the write lock. */
export function dropUnreadablePresence(db: Db): void {
  for (const table of PRESENCE) db.run(`DELETE FROM ${table} WHERE NOT json_valid(body)`)
}

/** How long a claim lasts; of a damaged row nothing is known. */
const TTL = "CASE WHEN json_valid(body) THEN json_extract(body, '$.ttl') END"

/** Corrects what a clock that was ahead left: nobody was seen later than now, no lease runs longer than its TTL. */
export function clampToNow(db: Db, now: number): void {
  db.run('UPDATE sessions SET seen=? WHERE seen>?', now, now + MAX_LEAD_MS)
  db.run('UPDATE doors SET at=? WHERE at>?', now, now + MAX_LEAD_MS)
  db.run(`UPDATE claims SET until=? + ${TTL} WHERE ended IS NULL AND until>? + ${TTL}`, now, now + MAX_LEAD_MS)
}

export const isAheadOf = (db: Db, now: number): boolean =>
  db.has(
    `SELECT 1 WHERE EXISTS (SELECT 1 FROM sessions WHERE seen>$most)
       OR EXISTS (SELECT 1 FROM claims WHERE ended IS NULL AND until>$most + ${TTL})`,
    { $most: now + MAX_LEAD_MS },
  )

/** What an event says of a claim. */
export const claimBody = ({ n, what, on, part = '', role, root, implicit }: ClaimRow): { [key: string]: Json } =>
  defined({ n, what, on: `${on}${part}`, role, root, implicit: implicit || undefined }) as { [key: string]: Json }

/** Takes its number in the row of everything that happened here. */
export function addPresence(
  db: Db,
  at: number,
  session: string,
  type: PresenceType,
  body: { [key: string]: Json },
): PresenceEvent {
  const seq = countArrival(db)
  db.run('INSERT INTO presence_events VALUES (?,?,?,?,?)', seq, at, session, type, JSON.stringify(body))
  return { seq, at, session, type, body }
}

export type ClaimChanges = { rows: ClaimRow[]; events: Pick<PresenceEvent, 'session' | 'type' | 'body'>[] }

export function keepClaims(db: Db, { rows, events }: ClaimChanges, now: number): void {
  for (const { n, session, until, ended = null, ...body } of rows)
    insert(db, 'claims', { n, session, until, ended, body: JSON.stringify(body) }, 'OR REPLACE')
  for (const { session, type, body } of events) addPresence(db, now, session, type, body)
}

/** Ends claims that the hub, or another machine, has decided on. */
export function endClaims(db: Db, ended: readonly ClaimRow[], how: 'released' | 'lapsed', now: number): void {
  const events = ended.map((c) => ({ session: c.session, type: how, body: claimBody(c) }))
  keepClaims(db, { rows: ended.map((c) => ({ ...c, ended: now, how })), events }, now)
}

/** In order, after a cursor. */
export const presenceAfter = (db: Db, n: number, limit = -1): PresenceEvent[] =>
  eventsWhere(db, 'n>? ORDER BY n LIMIT ?', n, limit)

function eventsWhere(db: Db, where: string, ...params: (number | string)[]): PresenceEvent[] {
  const sql = `SELECT n AS seq, at, session, type, body FROM presence_events WHERE ${where}`
  const rows = db.all<Omit<PresenceEvent, 'body'> & { body: string }>(sql, ...params)
  return rows.map((row) => ({ ...row, body: stored<PresenceEvent['body']>(row.body) }))
}

/** Edits of a file that sessions told of since a moment (ms), however much has happened after them. */
export const editsSince = (db: Db, path: string, since: number): PresenceEvent[] =>
  eventsWhere(db, "type='edited' AND at>=? AND json_extract(body, '$.path')=? ORDER BY n", since, path)

/** What was put before a session. `seq`: the last event it knows of. */
export interface Told {
  at: number
  door: string
  ids: string[]
  tokens: number
  chars: number
  ms?: number
}

export const addTold = (db: Db, session: string, { ids, ms, ...told }: Told): void =>
  insert(db, 'told', { session, ...told, ids: JSON.stringify(ids), ms: ms ?? null })

/** Ids of everything that was put before any session since a moment; it is known for 30 days. */
export const toldSince = (db: Db, at: number): string[] =>
  db.column<string>('SELECT DISTINCT e.value AS id FROM told, json_each(told.ids) e WHERE told.at>=?', at)

export function toldTo(db: Db, session: string): Told[] {
  const sql = 'SELECT at, door, ids, tokens, chars, ms FROM told WHERE session=? ORDER BY n'
  const rows = db.all<Omit<Told, 'ids' | 'ms'> & { ids: string; ms: number | null }>(sql, session)
  return rows.map(({ ids, ms, ...rest }) => ({ ...rest, ids: stored<string[]>(ids), ...(ms === null ? {} : { ms }) }))
}
