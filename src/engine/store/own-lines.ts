import { AMONG, type Db, type Param, stored } from './db.ts'
import { digestOf, type LineName } from './held.ts'
import { isKeyed } from './keys.ts'
import { type EventRow, known, type LoggedEvent, unpack } from './log.ts'
import { getMeta, setMeta } from './meta.ts'
import { LINE } from './packed.ts'
import { addRange, type Range } from './ranges.ts'

const BEFORE = 'replicas_before'

const before = (db: Db): { [replica: string]: number } =>
  stored<{ [replica: string]: number }>(getMeta(db, BEFORE) ?? '{}')

/** The store writes under another identity from now on: what it wrote so far stays its own. */
export const keepOwn = (db: Db, replica: string, upTo: number): void =>
  setMeta(db, BEFORE, JSON.stringify({ ...before(db), [replica]: upTo }))

const LEFT = 'left'
const left = (db: Db) => stored<{ [replica: string]: readonly Range[] }>(getMeta(db, LEFT) ?? '{}')

export const leftOf = (db: Db, replica: string): readonly Range[] => left(db)[replica] ?? []

export function keepLeft(db: Db, replica: string, ranges: readonly Range[]): void {
  const before = leftOf(db, replica)
  const all = ranges.reduce((known, [from, to]) => addRange(known, from, to), before)
  if (JSON.stringify(all) !== JSON.stringify(before)) setMeta(db, LEFT, JSON.stringify({ ...left(db), [replica]: all }))
}

/** Lines that never left go with the branch of this store, under numbers that nobody else gives. */
export const LOCAL_FROM = 1_000_000_000

/** Tells the lines that were written in this store from those that came from others. */
export function ownLines(db: Db): (replica: string, seq: number) => boolean {
  const now = getMeta(db, 'replica')
  const earlier = before(db)
  return (replica, seq) =>
    replica === now || seq <= (earlier[replica] ?? 0) || (seq >= LOCAL_FROM && Object.hasOwn(earlier, replica))
}

/** The source of what peers of a live Yjs document said: it is written in this store, and nobody here stands by it. */
export const OF_PEERS = 'yjs'

/** Of some entities, those that may hold what such peers said. */
export const touchedByPeers = (db: Db, ids: readonly string[]): string[] =>
  db.column<string>(`SELECT id FROM entities WHERE id ${AMONG} AND instr(body, '"source":"${OF_PEERS}"')>0`, ids)

export const isOfPeers = (db: Db, replica: string, seq: number): boolean =>
  db.has(`SELECT 1 FROM log WHERE replica=? AND seq=? AND ${LINE} -> 'by' ->> 'source' = '${OF_PEERS}'`, replica, seq)

export function ownIdentities(db: Db): { replica: string; upTo: number }[] {
  const now = getMeta(db, 'replica')
  const earlier = Object.entries(before(db)).map(([replica, upTo]) => ({ replica, upTo }))
  return [
    ...earlier.filter(({ replica }) => replica !== now),
    ...(now === undefined ? [] : [{ replica: now, upTo: Number.MAX_SAFE_INTEGER }]),
  ]
}

/** Own lines that are dated later than a moment: the clock of this machine was wrong. */
export function ownAhead(db: Db, moment: number): { lines: number; last: number } | undefined {
  const sql = 'SELECT replica, count(*) AS lines, max(at) AS last FROM log WHERE at>? GROUP BY replica'
  const found = db
    .all<{ replica: string; lines: number; last: number }>(sql, moment)
    .filter(({ replica }) => isOwnReplica(db, replica))
  const lines = found.reduce((n, f) => n + f.lines, 0)
  return lines === 0 ? undefined : { lines, last: Math.max(...found.map((f) => f.last)) }
}

export const isOwnReplica = (db: Db, replica: string): boolean =>
  replica === getMeta(db, 'replica') || Object.hasOwn(before(db), replica)

/** Whether any line here was written under another identity than the present one, even if it was folded away since. */
export const hasOthers = (db: Db): boolean => {
  const own = getMeta(db, 'replica') ?? ''
  return ['log', 'covered'].some((table) =>
    ['<', '>'].some((side) => db.has(`SELECT 1 FROM ${table} WHERE replica ${side} ? LIMIT 1`, own)),
  )
}

/** Other replicas whose name holds no key, as those of 0.1.0: a store that meets them first cannot tell who wrote their lines. */
export const withoutKey = (db: Db): string[] =>
  [...known(db).keys()].filter((replica) => !isKeyed(replica) && !isOwnReplica(db, replica)).sort()

type Pins = { [replica: string]: { key: string; from: number } }
const PINS = 'sync_keys'
export const pinned = (db: Db): Pins => stored<Pins>(getMeta(db, PINS) ?? '{}')
export const keepPins = (db: Db, pins: Pins): void => setMeta(db, PINS, JSON.stringify({ ...pinned(db), ...pins }))

/** The last arrival by which somebody here stood by an entity, and that of others: what a compaction folded away. */
export type Arrivals = { own: number; others: number }

/** Entities of a kind that this store has written of last, newest first. */
export function newestOwn(db: Db, kind: string, limit: number): string[] {
  const sql = 'SELECT entity FROM events WHERE replica=? AND entity>=? AND entity<? ORDER BY seq DESC LIMIT ?'
  // several events speak of one entity
  const found = ownIdentities(db).flatMap(({ replica }) =>
    db.column<string>(sql, replica, `${kind}:`, `${kind};`, limit * 8),
  )
  return [...new Set(found)].slice(0, limit)
}

export function arrivalsOf(db: Db, entity: string): Arrivals | undefined {
  // most stores were never compacted: a hook that starts need not load what it takes to make digests
  if (!db.has('SELECT 1 FROM arrivals LIMIT 1')) return undefined
  return db.get('SELECT own, others FROM arrivals WHERE entity=?', digestOf(entity))
}

export function keepArrivals(db: Db, entity: string, { own, others }: Arrivals): void {
  const sql = `INSERT INTO arrivals VALUES (?,?,?)
     ON CONFLICT DO UPDATE SET own=max(own, excluded.own), others=max(others, excluded.others)`
  db.run(sql, digestOf(entity), own, others)
}

/** Of some entities, those of which others have said something. */
export function touchedElsewhere(db: Db, ids: readonly string[]): string[] {
  if (ids.length === 0) return []
  const isFolded = db.has('SELECT 1 FROM arrivals WHERE others>0 LIMIT 1')
  const folded = isFolded ? ids.filter((id) => (arrivalsOf(db, id)?.others ?? 0) > 0) : []
  const sql = `SELECT DISTINCT entity FROM events WHERE entity ${AMONG} AND replica <> ?`
  const events = hasOthers(db) ? db.column<string>(sql, ids, getMeta(db, 'replica') ?? '') : []
  return [...new Set([...folded, ...events])]
}

export interface Arrived extends LoggedEvent, LineName {
  /** Order of arrival here; 0 where the line was folded away by a compaction. */
  n: number
}

function arrivedWhere(db: Db, where: string, ...params: Param[]): Arrived[] {
  const sql = `SELECT e.replica, e.seq, e.i, e.entity, e.ms, e.body, coalesce(l.n, 0) AS n
    FROM events e LEFT JOIN log l ON l.replica=e.replica AND l.seq=e.seq WHERE ${where}`
  const rows = db.all<EventRow & { n: number }>(sql, ...params)
  return rows.flatMap((row) => unpack(row).map((e) => ({ ...e, replica: row.replica, seq: row.seq, n: row.n })))
}

/** What happened in lines that a compaction is about to fold away. */
export const eventsIn = (db: Db, replica: string, first: number, last: number): Arrived[] =>
  arrivedWhere(db, 'l.replica=? AND l.seq>=? AND l.seq<=?', replica, first, last)

export const eventsOfAll = (db: Db, ids: readonly string[]): Arrived[] => arrivedWhere(db, `e.entity ${AMONG}`, ids)

export interface Touch extends LineName {
  n: number
  at: number
  entity: string
  field: string
  op: string
  session: string | null
  user: string | null
  agent: string | null
}

/** What arrived here after `n`, entity by entity, newest first; without taking the lines apart. */
export function touchesAfter(db: Db, n: number, limit: number): Touch[] {
  const sql = `WITH l AS MATERIALIZED ( -- each line is taken apart once, however many events it has
       SELECT n, at, replica, seq, by ->> 'session' AS session, by ->> 'user' AS user, by ->> 'agent' AS agent
       FROM (SELECT n, at, replica, seq, ${LINE} -> 'by' AS by FROM log WHERE n>? ORDER BY n DESC LIMIT ?))
     SELECT l.n, l.at, e.entity, json_extract(one.value, '$.f') AS field, coalesce(json_extract(one.value, '$.o'), 'set') AS op,
       l.replica, l.seq, l.session, l.user, l.agent
     FROM l JOIN events e ON e.replica=l.replica AND e.seq=l.seq JOIN json_each(e.body) one
     ORDER BY l.n DESC, e.i, one.key`
  return db.all(sql, n, limit)
}

/** The last event that had arrived here by a moment. */
export const arrivedBy = (db: Db, ms: number): number =>
  db.value<number>('SELECT n FROM log WHERE received<=? ORDER BY n DESC LIMIT 1', ms) ?? 0
