import type { Db } from './db.ts'
import { eventBody, unpackRun } from './line.ts'
import {
  CTR,
  coveredUpTo,
  EACH_EVENT,
  type EventRow,
  eventsUpTo,
  type LoggedEvent,
  putBaseEvent,
  unpack,
} from './log.ts'

/** Up to which line, and which of its writes, a replica's log was folded away. */
export interface Covered {
  replica: string
  seq: number
  hash: string
  ctr: number
}

export const coveredLines = (db: Db): Covered[] =>
  db.all('SELECT replica, seq, hash, ctr FROM covered ORDER BY replica')

export const cover = (db: Db, c: Covered): void =>
  db.run('INSERT OR REPLACE INTO covered VALUES (?,?,?,?)', c.replica, c.seq, c.hash, c.ctr)

/** Moments before another one, `every` lines apart. */
export const momentsBefore = (db: Db, before: number, every: number): number[] =>
  db
    .all<{ at: number }>(
      'SELECT at FROM (SELECT at, row_number() OVER (ORDER BY at) AS i FROM log WHERE at<?) WHERE i % ? = 0',
      before,
      every,
    )
    .map((r) => r.at)

/** For each replica the last line such that it and all before it were stamped before a moment. */
export function coverable(db: Db, before: number): Covered[] {
  const out: Covered[] = []
  for (const { replica } of db.all<{ replica: string }>('SELECT DISTINCT replica FROM log ORDER BY replica')) {
    const later = db.get<{ seq: number | null }>(
      'SELECT min(seq) AS seq FROM log WHERE replica=? AND at>=?',
      replica,
      before,
    )?.seq
    const last = db.get<{ seq: number; hash: string }>(
      'SELECT seq, hash FROM log WHERE replica=? AND seq<? ORDER BY seq DESC LIMIT 1',
      replica,
      later ?? Number.MAX_SAFE_INTEGER,
    )
    if (!last) continue
    const { ctr } = db.get<{ ctr: number }>(
      `SELECT coalesce(max(${CTR}), 0) AS ctr FROM ${EACH_EVENT} WHERE replica=? AND seq<=?`,
      replica,
      last.seq,
    )!
    out.push({ replica, ...last, ctr })
  }
  return out
}

/** How often, by replica, and when last, the lines to be covered touched each entity. */
export function touchesUpTo(
  db: Db,
  covered: readonly Covered[],
): Map<string, { counts: { [replica: string]: number }; updated: number }> {
  const out = new Map<string, { counts: { [replica: string]: number }; updated: number }>()
  for (const c of covered) {
    for (const r of db.all<{ entity: string; batches: number; updated: number }>(
      'SELECT entity, count(DISTINCT seq) AS batches, max(ms) AS updated FROM events WHERE replica=? AND seq<=? AND seq>? GROUP BY entity',
      c.replica,
      c.seq,
      coveredUpTo(db, c.replica),
    )) {
      const t = out.get(r.entity) ?? { counts: {}, updated: 0 }
      t.counts[c.replica] = r.batches
      t.updated = Math.max(t.updated, r.updated)
      out.set(r.entity, t)
    }
  }
  return out
}

/** Drops the covered events that were overwritten before the moment; the others stay as the base of the history. */
export function dropOverwrittenEvents(db: Db, covered: readonly Covered[], before: number): number {
  const gone = new Set<string>()
  for (const { event } of eventsUpTo(db, before - 1)) for (const [r, c] of event.over) gone.add(`${r}:${c}`)
  const folded = new Map([...coveredLines(db), ...covered].map((c) => [c.replica, c.ctr]))
  return keepOnly(db, covered, ({ event }) => {
    const stands =
      event.op !== 'remove' && event.op !== 'drop' && !gone.has(`${event.stamp.replica}:${event.stamp.ctr}`)
    // a removal must stay as long as what it removed may still be to come from a replica that is not covered
    return stands || event.over.some(([r, c]) => c > (folded.get(r) ?? 0))
  })
}

export function dropCovered(db: Db, covered: readonly Covered[]): { lines: number; lastArrival: number } {
  let lines = 0
  let last = 0
  for (const c of covered) {
    const gone = db.get<{ lines: number; last: number | null }>(
      'SELECT count(*) AS lines, max(n) AS last FROM log WHERE replica=? AND seq<=?',
      c.replica,
      c.seq,
    )!
    lines += gone.lines
    last = Math.max(last, gone.last ?? 0)
    db.run('DELETE FROM log WHERE replica=? AND seq<=?', c.replica, c.seq)
    db.run('DELETE FROM parked WHERE replica=? AND seq<=?', c.replica, c.seq)
    if (c.seq > coveredUpTo(db, c.replica)) cover(db, c)
  }
  return { lines, lastArrival: last }
}

/** Of the events of folded lines some stay as the base of the history, each by itself; the others go. Returns how many. */
function keepOnly(
  db: Db,
  covered: readonly Pick<Covered, 'replica' | 'seq'>[],
  isKept: (e: LoggedEvent) => boolean,
): number {
  let dropped = 0
  for (const { replica, seq } of covered) {
    const where = 'WHERE replica=? AND seq<=?'
    const rows = db.all<EventRow>(`SELECT replica, seq, i, entity, ms, body FROM events ${where}`, replica, seq)
    db.run(`DELETE FROM events ${where}`, replica, seq)
    for (const row of rows)
      for (const [k, e] of unpack(row).entries())
        if (isKept(e)) putBaseEvent(db, row.seq, row.i + k, e.event)
        else dropped++
  }
  return dropped
}

/** Drops the events of folded lines that are not among those that count. */
export const keepEvents = (db: Db, covered: readonly Covered[], kept: ReadonlySet<string>): number =>
  keepOnly(db, covered, (e) => kept.has(e.id))

export interface BaseEvent {
  replica: string
  seq: number
  i: number
  entity: string
  ms: number
  ctr: number
  body: string
}

export const baseEvents = (db: Db): BaseEvent[] =>
  db
    .all<EventRow>('SELECT replica, seq, i, entity, ms, body FROM events WHERE base=1 ORDER BY replica, seq, i')
    .flatMap((row) =>
      unpack(row).map(({ event }) => {
        const { replica, seq, i, entity, ms } = row
        return { replica, seq, i, entity, ms, ctr: event.stamp.ctr, body: eventBody(event) }
      }),
    )

/** Adds those that are not there. */
export function addBaseEvents(db: Db, events: readonly BaseEvent[]): void {
  for (const { replica, seq, i, entity, ms, body } of events) {
    if (db.get('SELECT 1 FROM events WHERE replica=? AND seq=? AND i=?', replica, seq, i)) continue
    for (const e of unpackRun(body, entity, { ms, replica })) putBaseEvent(db, seq, i, e)
  }
}
