import { digest64 } from '../../model/digest.ts'
import { momentOf } from '../log/clock.ts'
import { cellOf, type Event } from '../log/events.ts'
import { type Db, insert, stored } from './db.ts'
import { readLine, runBody, unpackRun } from './line.ts'
import { type EventRow, eventsUpTo, type LoggedEvent, putBaseEvent, unpack } from './log.ts'
import { ownIdentities } from './own-lines.ts'
import { LINE } from './packed.ts'
import { inRanges, type Range } from './ranges.ts'
import type { Counts } from './rows.ts'

/** Lines of a replica that follow each other, and were folded away. */
export interface Covered {
  readonly replica: string
  readonly first: number
  readonly last: number
  readonly hash: string
  /** Over the hashes of all of them, one after the other: who has the lines can check it. Empty: 0.1.0 kept none. */
  readonly digest: string
  /** The counters of their writes. */
  readonly from: number
  readonly to: number
}

const COLUMNS = 'replica, first, last, hash, digest, ctr_from AS "from", ctr_to AS "to"'
export const coveredLines = (db: Db): Covered[] => db.all(`SELECT ${COLUMNS} FROM covered ORDER BY replica, first`)

/** Moments before another one, `every` lines apart. */
export function momentsBefore(db: Db, before: number, every: number): number[] {
  const sql = 'SELECT at FROM (SELECT at, row_number() OVER (ORDER BY at) AS i FROM log WHERE at<?) WHERE i % ? = 0'
  return db.column<number>(sql, before, every)
}

/** Lines that a compaction folds: stamped before a moment, and settled. Those that follow each other are one. */
export function coverable(db: Db, before: number): Covered[] {
  const out: Covered[] = []
  // neither lines that wait for a yes are settled, nor those of which something is gone that no mark speaks of yet
  const held = "SELECT DISTINCT value->>0 || ':' || (value->>1) FROM held, json_each(held.lines)"
  const waiting = new Set(db.column<string>(held))
  const sql = `SELECT ${LINE} AS text FROM log l WHERE at<? AND NOT EXISTS
       (SELECT 1 FROM declined d WHERE d.replica=l.replica AND d.seq=l.seq)
     AND replica NOT IN (SELECT replica FROM branched) AND NOT EXISTS (SELECT 1 FROM asked a WHERE a.replica=l.replica AND a.seq=l.seq)
     AND NOT EXISTS (SELECT 1 FROM unproven u WHERE u.replica=l.replica AND u.seq=l.seq) ORDER BY replica, seq`
  for (const { text } of db.each<{ text: string }>(sql, before)) {
    const { replica, seq, from, hash, ctr, events } = readLine(text)
    if (waiting.has(`${replica}:${seq}`)) continue
    const last = out.at(-1)
    const follows = last?.replica === replica && last.last === from - 1
    const to = events.at(-1)?.stamp.ctr ?? ctr
    if (follows) out[out.length - 1] = { ...last, last: seq, hash, digest: digest64(last.digest + hash), to }
    else out.push({ replica, first: from, last: seq, hash, digest: digest64(hash), from: ctr, to })
  }
  return out
}

type Lines = Pick<Covered, 'replica' | 'first' | 'last'>

const WITHIN = 'WHERE replica=? AND seq>=? AND seq<=?'
const rowsOf = (db: Db, { replica, first, last }: Lines): EventRow[] =>
  db.all(`SELECT replica, seq, i, entity, ms, body FROM events ${WITHIN} ORDER BY seq, i`, replica, first, last)

export function touchesIn(db: Db, lines: readonly Lines[]): Map<string, { counts: Counts; updated: number }> {
  const out = new Map<string, { counts: { [replica: string]: number[] }; updated: number }>()
  for (const of of lines)
    for (const row of rowsOf(db, of)) {
      let t = out.get(row.entity)
      if (!t) out.set(row.entity, (t = { counts: {}, updated: 0 }))
      const own = (t.counts[row.replica] ??= [])
      if (own.at(-1) !== row.seq) own.push(row.seq)
      for (const { event } of unpack(row)) t.updated = Math.max(t.updated, event.stamp.ms)
    }
  return out
}

/** What these lines speak of, folded ones too. */
export function entitiesWithin(db: Db, lines: readonly Lines[]): string[] {
  const sql = `SELECT DISTINCT entity FROM events ${WITHIN}`
  return [...new Set(lines.flatMap((l) => db.column<string>(sql, l.replica, l.first, l.last)))]
}

const refKey = (entity: string, field: string, replica: string, ctr: number) => `${entity}\0${field}\0${replica}:${ctr}`

/** Drops overwritten events of folded lines. Of one that names writes which are not folded, that stays. */
export function dropOverwritten(db: Db, lines: readonly Covered[], before: number): number {
  const folded = [...coveredLines(db), ...lines]
  const foldedLines = new Map<string, Range[]>()
  for (const f of folded) foldedLines.set(f.replica, [...(foldedLines.get(f.replica) ?? []), [f.first, f.last]])
  const keyOf = ({ entity, field, stamp }: Event) => refKey(entity, field, stamp.replica, stamp.ctr)
  const overOf = ({ entity, field, over }: Event) => over.map(([r, c]) => refKey(entity, field, r, c))
  const gone = new Set<string>()
  const superseded: Event[] = []
  // a line that waits for a yes has taken nothing away yet
  for (const { batch, event: e } of eventsUpTo(db, before - 1)) {
    const [replica = '', seq] = batch.split(':')
    if (!inRanges(foldedLines.get(replica) ?? [], Number(seq))) continue
    for (const key of overOf(e)) gone.add(key)
    if (e.field === 'status' && e.value === 'superseded') superseded.push(e)
  }
  // the status that something had comes back when nothing supersedes it any more
  const comesBack = new Set(superseded.filter((e) => !gone.has(keyOf(e))).flatMap(overOf))
  const own = new Set(ownIdentities(db).map((o) => o.replica))
  const isFolded = (r: string, c: number) => folded.some((f) => f.replica === r && f.from <= c && c <= f.to)
  return keepOnly(db, folded, ({ event: e }) => {
    if (e.op !== 'remove' && e.op !== 'drop' && !e.purged && (!gone.has(keyOf(e)) || comesBack.has(keyOf(e)))) return e
    const travels = own.has(e.stamp.replica)
    const over = e.over.filter(([r, c]) => !isFolded(r, c) || (travels && r !== e.stamp.replica))
    return over.length === 0 ? undefined : { entity: e.entity, field: e.field, op: 'remove', stamp: e.stamp, over }
  })
}

/** Takes lines out of the log whose events are folded. */
export function dropCovered(db: Db, lines: readonly Covered[]): { lines: number; lastArrival: number } {
  let n = 0
  let last = 0
  for (const c of lines) {
    const gone = db.column<number>(`SELECT n FROM log ${WITHIN} ORDER BY n`, c.replica, c.first, c.last)
    n += gone.length
    last = Math.max(last, gone.at(-1) ?? 0)
    for (const table of ['log', 'parked', 'gaps']) db.run(`DELETE FROM ${table} ${WITHIN}`, c.replica, c.first, c.last)
    cover(db, c)
  }
  return { lines: n, lastArrival: last }
}

/** Notes that lines are folded away. One range follows another, holds it, or lies in it; where none of that is so, nobody can check it. */
export function cover(db: Db, c: Covered): void {
  const touches = (o: Covered) => o.replica === c.replica && o.first <= c.last + 1 && c.first <= o.last + 1
  const touching = coveredLines(db).filter(touches)
  if (touching.some((o) => o.first <= c.first && c.last <= o.last)) return
  for (const o of touching) db.run('DELETE FROM covered WHERE replica=? AND first=?', o.replica, o.first)
  const isInside = touching.every((o) => c.first <= o.first && o.last <= c.last)
  const all = [...touching, c]
  const last = all.reduce((a, b) => (a.last >= b.last ? a : b))
  const least = (of: 'first' | 'from') => Math.min(...all.map((o) => o[of]))
  const whole = {
    ...last,
    first: least('first'),
    digest: '',
    from: least('from'),
    to: Math.max(...all.map((o) => o.to)),
  }
  const { from, to, ...row } = isInside ? c : whole
  insert(db, 'covered', { ...row, ctr_from: from, ctr_to: to }, 'OR REPLACE')
}

/** Of the events of folded lines some stay as the base of the history, each by itself; the others go. Returns how many. */
function keepOnly(db: Db, lines: readonly Lines[], kept: (e: LoggedEvent) => LoggedEvent['event'] | undefined): number {
  let dropped = 0
  for (const of of lines) {
    const rows = rowsOf(db, of)
    db.run(`DELETE FROM events ${WITHIN}`, of.replica, of.first, of.last)
    for (const row of rows)
      for (const [k, e] of unpack(row).entries()) {
        const stays = kept(e)
        if (stays) putBaseEvent(db, row.seq, row.i + k, stays, row.ms)
        else dropped++
      }
  }
  return dropped
}

/** Drops the events of folded lines that are not among those that count; of one whose cell is gone stays what it took away. */
export function keepEvents(db: Db, lines: readonly Lines[], events: readonly BaseEvent[]): number {
  const kept = new Map(events.map((e) => [`${e.replica}:${e.seq}:${e.i}`, unpackRun(e.body, e.entity, e)[0]!]))
  return keepOnly(db, lines, ({ id, event }) => {
    const theirs = kept.get(id)
    return theirs && !cellOf(theirs) ? theirs : theirs && event
  })
}

/** An event of a folded line; its body is as in a line of the log, with its counter. */
export type BaseEvent = Readonly<EventRow>

export const baseEvents = (db: Db): BaseEvent[] =>
  db
    .all<EventRow>('SELECT replica, seq, i, entity, ms, body FROM events WHERE base=1 ORDER BY replica, seq, i')
    .flatMap((row) =>
      unpack(row).map(({ event }, k) => {
        const { replica, seq, entity } = row
        const { ms } = event.stamp
        return { replica, seq, i: row.i + k, entity, ms, body: oneOf(runBody([event], ms)) }
      }),
    )

/** The event of a row of one. */
export const oneOf = (body: string): string => JSON.stringify(stored<unknown[]>(body)[0])

/** Adds those that are not there; `received`: when they came. */
export function addBaseEvents(db: Db, events: readonly BaseEvent[], received: number): void {
  for (const { replica, seq, i, entity, ms, body } of events) {
    if (db.get('SELECT 1 FROM events WHERE replica=? AND seq=? AND i=?', replica, seq, i)) continue
    for (const e of unpackRun(body, entity, { ms, replica })) putBaseEvent(db, seq, i, e, momentOf(ms, received))
  }
}
