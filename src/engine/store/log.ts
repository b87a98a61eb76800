import { canonical } from '../../model/canonical.ts'
import type { Json } from '../../model/field.ts'
import { momentOf } from '../log/clock.ts'
import { cellsOf, type Event, surviving } from '../log/events.ts'
import { AMONG, type Db, insert, insertion, type Param, stored } from './db.ts'
import { isErasedOf } from './held.ts'
import { isSameKey } from './keys.ts'
import type { Author, Line, MarkRow, PurgeMark } from './line.ts'
import { originalIn, parseLine, printLine, readLine, runBody, runsIn, unpackMarkRow, unpackRun } from './line.ts'
import { AS_TEXT, DUE, keptLine, LINE, PACK, packOlder } from './packed.ts'
import { addRange, type Range } from './ranges.ts'

/** Lines of the log, or of those that wait, each checked against its hash. */
const lines = (db: Db, table: 'log' | 'parked', where: string, ...params: Param[]): Line[] =>
  db
    .all<{ line: string }>(`SELECT ${LINE} AS line FROM ${table} WHERE ${where}`, ...params)
    .map((r) => parseLine(r.line, true))

export const lineOf = (db: Db, replica: string, seq: number): Line | undefined =>
  lines(db, 'log', 'replica=? AND seq=?', replica, seq)[0]

/** The hash of a line that is known here; of a folded one only where it is the last of its range. */
export const hashOf = (db: Db, replica: string, seq: number): string | undefined =>
  db.value('SELECT hash FROM log WHERE replica=? AND seq=?', replica, seq) ??
  db.value('SELECT hash FROM covered WHERE replica=? AND last=?', replica, seq)

export const isCovered = (db: Db, replica: string, seq: number): boolean =>
  db.has('SELECT 1 FROM covered WHERE replica=? AND first<=? AND last>=?', replica, seq, seq)

export const isKnown = (db: Db, replica: string, seq: number): boolean =>
  hashOf(db, replica, seq) !== undefined || isCovered(db, replica, seq)

export type Head = Pick<Line, 'seq' | 'hash'>

export const head = (db: Db, $replica: string): Head =>
  db.get<Head>(
    `SELECT seq, hash FROM (SELECT seq, hash FROM log WHERE replica=$replica UNION ALL
       SELECT last, hash FROM covered WHERE replica=$replica) ORDER BY seq DESC LIMIT 1`,
    { $replica },
  ) ?? { seq: 0, hash: '' }

export function beside(db: Db, replica: string, seq: number, side: 'before' | 'after'): Line | undefined {
  const where = side === 'before' ? 'seq<? ORDER BY seq DESC' : 'seq>? ORDER BY seq'
  return lines(db, 'log', `replica=? AND ${where} LIMIT 1`, replica, seq)[0]
}

export function known(db: Db): Map<string, Range[]> {
  const rows = db.all<{ replica: string; first: number; last: number }>(
    `SELECT replica, min(seq) AS first, max(seq) AS last FROM (
       SELECT replica, seq, seq - row_number() OVER (PARTITION BY replica ORDER BY seq) AS run FROM log)
     GROUP BY replica, run
     UNION ALL SELECT replica, first, last FROM covered ORDER BY replica, first`,
  )
  const out = new Map<string, Range[]>()
  for (const { replica, first, last } of rows) out.set(replica, addRange(out.get(replica) ?? [], first, last))
  return out
}

/** Lines that others name as the one before them, and that nobody here has seen; nothing waits for them. */
export const gaps = (db: Db): Pick<Line, 'replica' | 'seq'>[] =>
  db.all('SELECT replica, seq FROM gaps ORDER BY replica, seq')

export function noteGap(db: Db, { replica, seq, from, v }: Line): void {
  db.run('DELETE FROM gaps WHERE replica=? AND seq=?', replica, seq)
  if (v === 2 && from > 1 && !isKnown(db, replica, from - 1))
    db.run('INSERT OR IGNORE INTO gaps VALUES (?,?)', replica, from - 1)
}

export const lastArrival = (db: Db): number => db.value("SELECT seq FROM sqlite_sequence WHERE name='log'") ?? 0

export function lastArrivalOf(db: Db, lines: readonly { replica: string; first: number; last: number }[]): number {
  const sql = 'SELECT max(n) FROM log WHERE replica=? AND seq>=? AND seq<=?'
  return Math.max(0, ...lines.map((l) => db.value<number | null>(sql, l.replica, l.first, l.last) ?? 0))
}

export const lastLine = (db: Db): number | undefined => db.value<number | null>('SELECT max(n) FROM log') ?? undefined

/** Counts something as arrived that is no line: cursors from before it are told of it. `n`: up to which number. */
export function countArrival(db: Db, n = lastArrival(db) + 1): number {
  db.run("DELETE FROM sqlite_sequence WHERE name='log'")
  db.run("INSERT INTO sqlite_sequence (name, seq) VALUES ('log', ?)", n)
  return n
}

const ADD_LINE = insertion('log', ['replica', 'seq', 'hash', 'at', 'received', 'line'])
export function append(db: Db, line: Line, received: number): void {
  db.run(ADD_LINE, line.replica, line.seq, line.hash, line.at, received, keptLine(printLine(line)))
}

/** So many lines that are to be compressed have come at once, and wait for the upkeep. */
const LEFT_TO_UPKEEP = 1_000

/** Compresses lines that are due, some of them. Within a transaction. */
export function packDue(db: Db, most = LEFT_TO_UPKEEP): boolean {
  const due = db.get<{ from: number; upTo: number }>(DUE, AS_TEXT, PACK)
  return due !== undefined && due.upTo - due.from <= most && packOlder(db.raw)
}

type LineId = Pick<Line, 'replica' | 'seq' | 'hash'>
const nameOf = ({ replica, seq, hash }: LineId) => ({ replica, seq, hash })

export function replaceLine(db: Db, line: Line): void {
  const received = db.value<number>('SELECT received FROM log WHERE replica=? AND seq=?', line.replica, line.seq)!
  const text = keptLine(printLine(line))
  db.run('UPDATE log SET line=?, hash=? WHERE replica=? AND seq=?', text, line.hash, line.replica, line.seq)
  db.run('DELETE FROM events WHERE replica=? AND seq=? AND base=0', line.replica, line.seq)
  indexEvents(db, line, received)
}

/** Lines of which somebody took something out that no mark speaks of. They are asked for once: what is still so is noted again. */
export function takeUnproven(db: Db): { replica: string; seq: number }[] {
  const found = db.all<{ replica: string; seq: number }>('SELECT replica, seq FROM unproven')
  if (found.length > 0) db.run('DELETE FROM unproven')
  return found
}

/** Fields that say that an entity is there, or that lists leave it out. */
const LIST_FIELDS: readonly string[] = ['$', 'retired', 'standing']
const isForLists = (e: Event): boolean => LIST_FIELDS.includes(e.field)

/** Events of one entity that follow each other in a line, as they are kept; `i`: the place of the first. */
interface EventRun extends Pick<EventRow, 'i' | 'ms' | 'entity' | 'body'> {
  readonly lists: 0 | 1
}

/** What of a line counts. Content that somebody took out counts as erased once a mark says so, and not at all before. */
export function countedIn(db: Db, line: Line): readonly Event[] {
  if (declinedAs(db, line) === 'person') return []
  if (!line.partial || line.v === 1) return line.events
  const original = originalIn(line)
  const isNamed = purgesOf(db, line.replica, line.seq).some((p) => p.entity === '')
  const isAuthorErased = isNamed || (original !== undefined && isHeaderErased(db, original))
  return line.events.filter(
    (e) =>
      e.erased === undefined ||
      (isAuthorErased && e.field === 'provenance') ||
      isErasedWrite(db, e.stamp.replica, e.stamp.ctr) ||
      (original !== undefined && isErasedIn(db, original, e.stamp.ctr)) ||
      isErasedOf(db, e.entity, e.erased),
  )
}

/** The place of an event in its line: the same for everybody, whatever of the line they have. */
const placeIn = (line: Line, e: Event, n: number): number => (line.v === 1 ? n : e.stamp.ctr - line.ctr)

function runsOf(line: Line, events: readonly Event[], received: number): EventRun[] {
  let n = 0
  return runsIn(events).map((run) => {
    const i = placeIn(line, run[0]!, n)
    n += run.length
    return runOf(i, run, received)
  })
}

function runOf(i: number, events: readonly Event[], received: number): EventRun {
  const { entity, stamp } = events[0]!
  const ms = momentOf(stamp.ms, received)
  return { i, ms, entity, lists: events.some(isForLists) ? 1 : 0, body: runBody(events, ms) }
}

export function indexEvents(db: Db, line: Line, received: number, events = countedIn(db, line)): void {
  if (line.partial && events.length < line.events.length && declinedAs(db, line) !== 'person')
    db.run('INSERT OR IGNORE INTO unproven VALUES (?,?)', line.replica, line.seq)
  for (const run of runsOf(line, events, received)) putRun(db, line.replica, line.seq, run)
}

const ADD_RUN = insertion('events', ['replica', 'seq', 'i', 'ms', 'entity', 'lists', 'body', 'base'], 'OR REPLACE')
const putRun = (db: Db, replica: string, seq: number, { i, ms, entity, lists, body }: EventRun, base = 0) =>
  db.run(ADD_RUN, replica, seq, i, ms, entity, lists, body, base)

/** Keeps one event of a line that is folded away; `ms`: when it counts as having happened. */
export function putBaseEvent(db: Db, seq: number, i: number, e: Event, ms: number): void {
  db.run('DELETE FROM survivors WHERE entity=?', e.entity) // no trigger sees a row that another one takes the place of
  putRun(db, e.stamp.replica, seq, runOf(i, [e], ms), 1)
}

/** Lines that count, in the order of arrival here, after `n`; and when they came. */
export function* admittedAfter(db: Db, n: number): Generator<{ line: Line; received: number }> {
  const sql = `SELECT ${LINE} AS line, received FROM log l WHERE n>? AND NOT EXISTS (SELECT 1 FROM declined d
    WHERE d.replica=l.replica AND d.seq=l.seq AND d.hash=l.hash AND d.why='person') ORDER BY n`
  for (const { line, received } of db.each<{ line: string; received: number }>(sql, n))
    yield { line: parseLine(line, true), received }
}

export const linesAfter = (db: Db, n: number): Line[] => lines(db, 'log', 'n>? ORDER BY n', n)

/** As `linesAfter`, with their place, but taken as they are: for those who follow what happens, many times a second. */
export function newsAfter(db: Db, n: number, limit = -1): { n: number; received: number; line: Line }[] {
  const sql = `SELECT n, received, ${LINE} AS line FROM log WHERE n>? ORDER BY n LIMIT ?`
  const rows = db.all<{ n: number; received: number; line: string }>(sql, n, limit)
  return rows.map((row) => ({ ...row, line: readLine(row.line) }))
}

/** Events of one entity that follow each other in a line; `i` is the place of the first. */
export interface EventRow {
  replica: string
  seq: number
  i: number
  entity: string
  /** When it counts as having happened: when it was written, or came if that is earlier. */
  ms: number
  body: string
}

const EVENTS = 'SELECT replica, seq, i, entity, ms, body FROM events'

export interface LoggedEvent {
  /** `replica:seq:i`, the same on every replica. */
  id: string
  batch: string
  /** When it counts as having happened. */
  ms: number
  event: Event
}

export const unpack = (r: EventRow): LoggedEvent[] =>
  unpackRun(r.body, r.entity, { ms: r.ms, replica: r.replica }).map((event, k) => ({
    id: `${r.replica}:${r.seq}:${r.i + k}`,
    batch: `${r.replica}:${r.seq}`,
    ms: r.ms,
    event,
  }))

/** Everything that happened to an entity, oldest first by authored time. */
export const eventsOf = (db: Db, entity: string): LoggedEvent[] =>
  db.all<EventRow>(`${EVENTS} WHERE entity=? ORDER BY ms, replica, seq, i`, entity).flatMap(unpack)

/** So many rows of an entity's events are read each time, until those that still count are kept beside them. */
const ROWS_AT_ONCE = 32

type Kept = Pick<EventRow, 'replica' | 'ms' | 'body'>

/** The events of an entity that its cells are made of, in any order: those are fewer where it was written often. */
export function survivorsOf(db: Db, entity: string, keep = true): Event[] {
  const kept = db.get<{ upto: number; body: string }>('SELECT upto, body FROM survivors WHERE entity=?', entity)
  const sql = 'SELECT rowid, replica, ms, body FROM events WHERE entity=? AND rowid>?'
  const newer = db.all<Kept & { rowid: number }>(sql, entity, kept?.upto ?? 0)
  const rows: Kept[] = [...stored<Kept[]>(kept?.body ?? '[]'), ...newer]
  const events = rows.map((row) => unpackRun(row.body, entity, row))
  if (newer.length < ROWS_AT_ONCE || !keep) return events.flat()
  const counts = surviving(events.flat())
  const body = rows.flatMap(({ replica, ms }, i) => {
    const own = events[i]!.flatMap((e) => counts.get(e) ?? [])
    return own.length === 0 ? [] : [{ replica, ms, body: runBody(own, ms) }]
  })
  const upto = newer.reduce((last, { rowid }) => Math.max(last, rowid), 0)
  db.run('INSERT OR REPLACE INTO survivors VALUES (?,?,?)', entity, upto, JSON.stringify(body))
  return [...counts.values()]
}

/** Entities of which the events that are kept so leave other cells than all of their events. */
export const falseSurvivors = (db: Db): string[] =>
  db.column<string>('SELECT entity FROM survivors ORDER BY entity').flatMap((entity) => {
    const cells = (events: readonly Event[]) => canonical([...cellsOf(events)].sort() as unknown as Json)
    return cells(survivorsOf(db, entity, false)) === cells(eventsOf(db, entity).map((e) => e.event)) ? [] : [entity]
  })

/** Where each of these entities begins in the log: its first event. */
export const beginningsOf = (db: Db, ids: readonly string[]): Pick<EventRow, 'entity' | 'replica' | 'seq' | 'i'>[] =>
  db.all(
    `SELECT e.entity, e.replica, e.seq, e.i FROM json_each(?) here CROSS JOIN events e
       ON e.rowid=(SELECT rowid FROM events WHERE entity=here.value ORDER BY ms, replica, seq, i LIMIT 1)`,
    ids,
  )

/** Every event stamped up to `ms`, entity by entity. */
export function* eventsUpTo(db: Db, ms: number): Generator<LoggedEvent> {
  for (const row of db.each<EventRow>(`${EVENTS} WHERE ms<=? ORDER BY entity`, ms)) yield* unpack(row)
}

export const eventsOfUpTo = (db: Db, entities: readonly string[], ms: number): LoggedEvent[] =>
  db.all<EventRow>(`${EVENTS} WHERE entity ${AMONG} AND ms<=?`, entities, ms).flatMap(unpack)

/** What was ever written to these entities, without when and by whom; `passes` gets the JSON of each event, before any is read. */
export function writtenWith(
  db: Db,
  entities: readonly string[],
  passes: (entity: string, field: string, event: string) => boolean,
): Omit<Event, 'stamp'>[] {
  const sql = `SELECT entity, group_concat(body, char(10)) AS bodies FROM events WHERE entity ${AMONG} GROUP BY entity`
  return db.all<{ entity: string; bodies: string }>(sql, entities).flatMap(({ entity, bodies }) => {
    const said = (body: string) =>
      body.split('{"f":"').some((event) => passes(entity, event.slice(0, event.indexOf('"')), event))
    const told = said(bodies) ? bodies.split('\n').filter(said) : []
    return told.flatMap((body) => unpackRun(body, entity, { ms: 0, replica: '' }))
  })
}

/** Whether a row of events writes one field; its name as JSON is the parameter. */
const WRITES = 'instr(body, \'"f":\' || ?)'

/** What says of these entities, up to a moment, that they are there, and what lists leave out; and some more fields. */
export function listEventsUpTo(db: Db, ids: readonly string[], ms: number, also: readonly string[]): LoggedEvent[] {
  const fields = also.map((field) => JSON.stringify(field))
  const sql = `${EVENTS} WHERE entity ${AMONG} AND ms<=? AND (lists=1 ${fields.map(() => `OR ${WRITES}`).join(' ')})`
  const events = db.all<EventRow>(sql, ids, ms, ...fields).flatMap(unpack)
  return events.filter(({ event }) => isForLists(event) || also.includes(event.field))
}

export const touchedBetween = (db: Db, after: number, upTo: number): string[] =>
  db.column<string>('SELECT DISTINCT entity FROM events WHERE ms>? AND ms<=?', after, upTo)

/** Which fields of these entities were written since a moment; perhaps some more. */
export function fieldsSince(db: Db, entities: readonly string[], ms: number): Map<string, Set<string>> {
  const fields = new Map<string, Set<string>>(entities.map((id) => [id, new Set()]))
  const sql = `SELECT entity, body FROM events WHERE entity ${AMONG} AND ms>?`
  for (const { entity, body } of db.all<{ entity: string; body: string }>(sql, entities, ms))
    for (const [, field] of body.matchAll(/"f":"([^"]*)"/g)) fields.get(entity)!.add(field!)
  return fields
}

/** Those of these entities of which a field was written up to a moment; perhaps some more. */
export function writtenUpTo(db: Db, entities: readonly string[], field: string, ms: number): string[] {
  const sql = `SELECT DISTINCT entity FROM events WHERE entity ${AMONG} AND ms<=? AND ${WRITES}`
  return db.column<string>(sql, entities, ms, JSON.stringify(field))
}

/** What happened in a line, with the ids that its events have everywhere. */
export const loggedIn = (line: Line): LoggedEvent[] =>
  line.events.map((event, n) => ({
    id: `${line.replica}:${line.seq}:${placeIn(line, event, n)}`,
    batch: `${line.replica}:${line.seq}`,
    ms: event.stamp.ms,
    event,
  }))

export const batchesOf = (db: Db, entity: string, foldedToo = true): { replica: string; seq: number }[] =>
  db.all(
    `SELECT DISTINCT replica, seq FROM events WHERE entity=? ${foldedToo ? '' : 'AND base=0'} ORDER BY replica, seq`,
    entity,
  )

export const entitiesOf = (db: Db, replica: string, seq: number): string[] =>
  db.column<string>('SELECT DISTINCT entity FROM events WHERE replica=? AND seq=? AND base=0', replica, seq)

export const entitiesIn = (db: Db): string[] => db.column<string>('SELECT DISTINCT entity FROM events')

export function headerOf(db: Db, batch: string): { line: Line; received: number; n: number } | undefined {
  const [replica = '', seq = '0'] = batch.split(':')
  const sql = `SELECT n, ${LINE} AS line, received FROM log WHERE replica=? AND seq=?`
  const row = db.get<{ line: string; received: number; n: number }>(sql, replica, Number(seq))
  return row && { ...row, line: parseLine(row.line, true) }
}

/** Whose batches a person wrote that touched an entity: replicas. */
export const replicasOfPersons = (db: Db, entity: string): string[] =>
  db.column<string>(
    `SELECT DISTINCT l.replica FROM (SELECT DISTINCT replica, seq FROM events WHERE entity=? AND base=0) e
       JOIN log l ON l.replica=e.replica AND l.seq=e.seq WHERE ${LINE} -> 'by' ->> 'actor' = 'person'`,
    entity,
  )

/** The id of a batch that somebody names by the beginning of its replica. */
export function batchNamed(db: Db, said: string): string {
  const [replica = '', seq = ''] = said.split(':')
  if (!/^[0-9a-z]{7}$/.test(replica)) return said
  const sql = 'SELECT replica FROM log WHERE replica>=? AND replica<? AND seq=? ORDER BY replica LIMIT 2'
  const found = db.column<string>(sql, replica, `${replica}~`, Number(seq))
  return found.length === 1 ? `${found[0]}:${seq}` : said
}

/** Keeps a line of a forked identity until the line comes that it follows. */
export const park = (db: Db, line: Line, received: number): void =>
  insert(db, 'parked', { ...nameOf(line), received, line: printLine(line) }, 'OR IGNORE')

export const allParked = (db: Db): Line[] => lines(db, 'parked', 'true ORDER BY replica, seq, hash')

export const unpark = (db: Db, line: Line): void =>
  db.run('DELETE FROM parked WHERE replica=? AND seq=? AND hash=?', line.replica, line.seq, line.hash)

/** Where a line of a forked identity stands now: the identity of its branch, and its number there. */
export const branchedTo = (db: Db, hash: string): { replica: string; seq: number } | undefined =>
  db.get('SELECT replica, seq FROM branched WHERE hash=?', hash)

/** A mark of what is erased names a line as its replica wrote it, whatever branch it stands in. */
export function asWritten(db: Db, p: PurgeMark): PurgeMark {
  const original = lineOf(db, p.replica, p.seq)
  const { replica, seq, hash } = (original && originalIn(original)) ?? p
  return { ...p, replica, seq, hash }
}

/** Where the line stands now that a mark names. */
export const standing = (db: Db, { replica, seq, hash }: LineId): Pick<Line, 'replica' | 'seq'> =>
  branchedTo(db, hash) ?? { replica, seq }

export const setBranched = (db: Db, hash: string, replica: string, seq: number): void =>
  db.run('INSERT OR REPLACE INTO branched VALUES (?,?,?)', hash, replica, seq)
export const unsetBranched = (db: Db, hash: string): void => db.run('DELETE FROM branched WHERE hash=?', hash)

export const isBranch = (db: Db, replica: string): boolean => db.has('SELECT 1 FROM branched WHERE replica=?', replica)

/** The lines of an identity that stand in branches, and those that wait for one. */
export const branchedOf = (db: Db, replica: string): Line[] =>
  linesOf(db, 'log', 'replica IN (SELECT replica FROM branched)', replica)
export const waitingOf = (db: Db, replica: string): Line[] => linesOf(db, 'parked', 'true', replica)
const linesOf = (db: Db, table: 'log' | 'parked', where: string, replica: string): Line[] =>
  lines(db, table, `${where} AND instr(${LINE}, ?)>0 ORDER BY replica, seq, hash`, `"r":"${replica}"`).filter(
    (l) => (originalIn(l) ?? l).replica === replica,
  )

export const isParked = (db: Db, { replica, seq, hash }: LineId): boolean =>
  db.has('SELECT 1 FROM parked WHERE replica=? AND seq=? AND hash=?', replica, seq, hash)

/** The first line of a forked identity that counts no longer. */
export const forkedFrom = (db: Db, replica: string): number | undefined =>
  db.value('SELECT seq FROM forked WHERE replica=?', replica)

export const setForked = (db: Db, replica: string, from: number): void =>
  db.run('INSERT OR REPLACE INTO forked VALUES (?,?)', replica, from)

export const allForked = (db: Db): { replica: string; from: number }[] =>
  db.all(
    'SELECT replica, seq AS "from" FROM forked WHERE replica NOT IN (SELECT replica FROM branched) ORDER BY replica',
  )

/** Takes a replica's lines from a number on out of the log, with their events; for a fork that says them again. What was folded stays. */
export function takeLinesFrom(db: Db, replica: string, seq: number): Line[] {
  const taken = lines(db, 'log', 'replica=? AND seq>=? ORDER BY seq', replica, seq)
  db.run('DELETE FROM log WHERE replica=? AND seq>=?', replica, seq)
  db.run('DELETE FROM events WHERE replica=? AND seq>=? AND base=0', replica, seq)
  return taken
}

export function takeLine(db: Db, { replica, seq }: Line): void {
  db.run('DELETE FROM log WHERE replica=? AND seq=?', replica, seq)
  db.run('DELETE FROM events WHERE replica=? AND seq=?', replica, seq)
}

/** Whether an entity was erased as a whole; asked with its tombstone. */
export const isErased = (db: Db, tombstone: string): boolean => db.has('SELECT 1 FROM purged WHERE entity=?', tombstone)

export const purgesOf = (db: Db, replica: string, seq: number): PurgeMark[] =>
  db.all<MarkRow>('SELECT * FROM purged WHERE replica=? AND seq=?', replica, seq).map(unpackMarkRow)

export const purgesIn = (db: Db, entity: string): PurgeMark[] =>
  db.all<MarkRow>('SELECT * FROM purged WHERE entity=?', entity).map(unpackMarkRow)

export const allPurges = (db: Db): PurgeMark[] =>
  db.all<MarkRow>('SELECT * FROM purged ORDER BY replica, seq, entity').map(unpackMarkRow)

export const anythingPurged = (db: Db): boolean => db.has('SELECT 1 FROM purged LIMIT 1')

export const isErasedWrite = (db: Db, replica: string, ctr: number): boolean =>
  db.has('SELECT 1 FROM purged_writes WHERE replica=? AND ctr=?', replica, ctr)

/**
 * Whether a mark erases a write of a line: of two lines under one name, as two copies of a store write them, only in the one
 * with its hash. What an erasure spreads to goes by name, as does one of a line that was folded.
 */
export const isErasedIn = (db: Db, { replica, seq, hash }: Line, ctr: number): boolean =>
  isErasedWrite(db, replica, ctr) &&
  (erasedDepth(db, replica, ctr) > 0 ||
    purgesOf(db, replica, seq).some((p) => (p.hash === hash || p.hash === '') && p.writes?.includes(ctr) === true))

/** Whether a mark erases who wrote a line, and what for. */
export const isHeaderErased = (db: Db, { replica, seq, hash }: Line): boolean =>
  purgesOf(db, replica, seq).some((p) => p.hash === hash && p.entity === '')

/** Whether all is erased already that a mark erases. */
export function isMarked(db: Db, { replica, seq, hash, entity, writes, was = [], before = [] }: PurgeMark): boolean {
  const there = purgesOf(db, replica, seq).find((p) => p.hash === hash && p.entity === entity)
  if (!there || there.writes === undefined || writes === undefined) return there !== undefined && !there.writes
  const isIn = (all: readonly unknown[] = [], n: unknown) => all.some((x) => JSON.stringify(x) === JSON.stringify(n))
  const has = <T>(of: readonly T[], all: readonly T[] | undefined) => of.every((n) => isIn(all, n))
  return has(writes, there.writes) && has(was, there.was) && has(before, there.before)
}

/** Takes note of what a purge erases; said of the same line again, it erases both. `isOfAll`: whoever wrote it. */
export function markPurged(db: Db, p: PurgeMark, isOfAll: boolean): void {
  const before = purgesOf(db, p.replica, p.seq).find((x) => x.hash === p.hash && x.entity === p.entity)
  const whole = p.writes === undefined || (before && before.writes === undefined)
  const union = (a: readonly number[] = [], b: readonly number[] = []) =>
    [...new Set([...a, ...b])].sort((x, y) => x - y)
  const [writes, was] = [union(before?.writes, p.writes), union(before?.was, p.was)]
  const parts = JSON.stringify({ writes, was, before: [...(before?.before ?? []), ...(p.before ?? [])] })
  db.run('INSERT OR REPLACE INTO purged VALUES (?,?,?,?,?)', p.replica, p.seq, p.hash, p.entity, whole ? null : parts)
  for (const ctr of p.writes ?? []) db.run('INSERT OR IGNORE INTO purged_writes VALUES (?,?,0)', p.replica, ctr)
  for (const [replica, ctr] of p.before ?? []) eraseDeep(db, replica, ctr, isOfAll ? 2 : 1)
}

/** How far the erasure of a write reaches: not at all beyond it, to what its author wrote before, to whatever it overwrote. */
type Depth = 0 | 1 | 2
const eraseDeep = (db: Db, replica: string, ctr: number, depth: Depth): void =>
  db.run('INSERT OR REPLACE INTO purged_writes VALUES (?,?,?)', replica, ctr, depth)

export const erasedDepth = (db: Db, replica: string, ctr: number): Depth =>
  db.value('SELECT deep FROM purged_writes WHERE replica=? AND ctr=?', replica, ctr) ?? 0

/** Marks what writes that are erased with all they overwrote did overwrite. */
export function spreadErasure(db: Db, entity: string): void {
  const events = eventsOf(db, entity).map((e) => e.event)
  for (let found = true; found; ) {
    found = false
    for (const e of events) {
      const depth = erasedDepth(db, e.stamp.replica, e.stamp.ctr)
      for (const [replica, ctr] of depth === 0 ? [] : e.over) {
        if (erasedDepth(db, replica, ctr) >= depth || (depth === 1 && !isSameKey(e.stamp.replica, replica))) continue
        eraseDeep(db, replica, ctr, depth)
        found = true
      }
    }
  }
}

export const keyOf = (db: Db, replica: string): string | undefined =>
  db.value('SELECT key FROM keys WHERE replica=?', replica)
export const keepKey = (db: Db, replica: string, key: string): void =>
  db.run('INSERT OR IGNORE INTO keys VALUES (?,?)', replica, key)

/** Why a line is not sent again: a history of git added and removed it, or a person here wants it to count nowhere. */
type Declined = 'history' | 'person'

export const declinedAs = (db: Db, { replica, seq, hash }: LineId): Declined | undefined =>
  db.value('SELECT why FROM declined WHERE replica=? AND seq=? AND hash=?', replica, seq, hash)
export const decline = (db: Db, line: LineId, why: Declined, at: number): void =>
  insert(db, 'declined', { ...nameOf(line), why, at }, 'OR REPLACE')
export const undecline = (db: Db, { replica, seq, hash }: LineId): void =>
  db.run('DELETE FROM declined WHERE replica=? AND seq=? AND hash=?', replica, seq, hash)
export const allDeclined = (db: Db): { replica: string; seq: number; hash: string; why: Declined }[] =>
  db.all('SELECT replica, seq, hash, why FROM declined ORDER BY replica, seq, hash')

export const linesFrom = (db: Db, moment: number): { lines: number; last: number } =>
  db.get('SELECT count(*) AS lines, coalesce(max(at), 0) AS last FROM log WHERE at>?', moment)!

export function* linesBetween(db: Db, replica: string, from: number, to: number): Generator<Line> {
  const sql = `SELECT ${LINE} AS line FROM log WHERE replica=? AND seq>=? AND seq<=? ORDER BY seq`
  for (const { line } of db.each<{ line: string }>(sql, replica, from, to)) yield parseLine(line, true)
}

/** Something that doctor should tell; said again, it is the same finding. */
export const finding = (db: Db, key: string, at: number, textValue: string): void =>
  db.run('INSERT OR REPLACE INTO findings VALUES (?,?,?)', key, at, textValue)

export const dropFinding = (db: Db, key: string): void => db.run('DELETE FROM findings WHERE key=?', key)

/** Lines that were acknowledged here and are said to be missing. */
export const missingLines = (db: Db): { key: string; replica: string; from: number; to: number }[] =>
  findings(db).flatMap(({ key }) => {
    const [, replica, from, to] = /^(?:lost|missing):([0-9a-z]+):(\d+)-(\d+)$/.exec(key) ?? []
    return replica === undefined ? [] : [{ key, replica, from: Number(from), to: Number(to) }]
  })

export function areHere(db: Db, { replica, from, to }: { replica: string; from: number; to: number }): boolean {
  const end = Math.min(to, (forkedFrom(db, replica) ?? to + 1) - 1)
  for (let seq = from; seq <= end; seq++) if (!isKnown(db, replica, seq)) return false
  return true
}

/** Forgets what was said to be missing and has come since. */
export function settleFindings(db: Db): void {
  for (const missing of missingLines(db)) if (areHere(db, missing)) dropFinding(db, missing.key)
  db.run(
    `DELETE FROM gaps WHERE EXISTS (SELECT 1 FROM covered c WHERE c.replica=gaps.replica AND seq BETWEEN first AND last)
       OR EXISTS (SELECT 1 FROM forked f WHERE f.replica=gaps.replica AND f.seq<=gaps.seq)`,
  )
}

export const findings = (db: Db): { key: string; at: number; text: string }[] =>
  db.all('SELECT key, at, text FROM findings ORDER BY at')

export function rewriteBaseEvents(db: Db, entity: string, rewrite: (e: Event, seq: number) => Event): void {
  for (const row of db.all<EventRow>(`${EVENTS} WHERE entity=? AND base=1`, entity))
    for (const { event } of unpack(row)) putBaseEvent(db, row.seq, row.i, rewrite(event, row.seq), row.ms)
}

export function rewriteParked(db: Db, rewrite: (line: Line) => Line): void {
  const sql = 'UPDATE parked SET line=? WHERE replica=? AND seq=? AND hash=?'
  for (const line of lines(db, 'parked', 'true')) {
    const now = rewrite(line)
    if (now !== line) db.run(sql, printLine(now), line.replica, line.seq, line.hash)
  }
}

/** A text as it stands within JSON. */
export const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)

export const eventsHolding = (db: Db, text: string): LoggedEvent[] =>
  db
    .all<EventRow>(`${EVENTS} WHERE instr(body, ?) OR instr(entity, ?)`, inJson(text), text)
    .flatMap(unpack)
    .filter(({ event: e }) => JSON.stringify([e.entity, e.field, e.value ?? null, e.path ?? []]).includes(inJson(text)))

const linesHolding = (db: Db, text: string): Line[] => lines(db, 'log', `instr(${LINE}, ?) > 0`, inJson(text))

/** Batches that hold a text besides their events: who wrote them and what for, and what 0.1.0 says twice. */
export const headersHolding = (db: Db, text: string): Line[] =>
  linesHolding(db, text).filter(({ author, raw }) =>
    JSON.stringify([author, raw.v === 1 ? raw.sum : '']).includes(inJson(text)),
  )

/** Writes of 0.1.0 that say of a text that it was there before them. */
export const toldBefore = (db: Db, text: string): { line: Line; entity: string; ctr: number }[] =>
  linesHolding(db, text).flatMap((line) =>
    (line.raw.v === 1 ? line.raw.e : [])
      .filter(({ w }) => w !== undefined && JSON.stringify(w).includes(inJson(text)))
      .map(({ e, c }) => ({ line, entity: e, ctr: c! })),
  )

/** Ids of batches, newest arrival first; `by` those that a session wrote, or with null those that none did. */
export function recentBatches(db: Db, limit: number, by?: { readonly session: string | null }): string[] {
  const found: string[] = []
  const sql = `SELECT replica, seq, ${LINE} AS line FROM log ORDER BY n DESC`
  for (const { replica, seq, line } of db.each<{ replica: string; seq: number; line: string }>(sql)) {
    if (found.length >= limit) break
    if (by === undefined || (stored<{ by: Author }>(line).by.session ?? null) === by.session)
      found.push(`${replica}:${seq}`)
  }
  return found
}

/** An entity that was erased in part is erased as a whole: its id goes from the marks too. */
export const renamePurged = (db: Db, from: string, to: string): void =>
  db.run('UPDATE OR REPLACE purged SET entity=?, parts=NULL WHERE entity=?', to, from)

/** Everything known to have happened to an entity before a moment in the order of arrival; what was folded away came first. */
export function arrivedBefore(db: Db, entity: string, n: number): Event[] {
  const sql = `SELECT e.replica, e.seq, e.i, e.entity, e.ms, e.body FROM events e LEFT JOIN log l ON l.replica=e.replica AND l.seq=e.seq
    WHERE e.entity=? AND coalesce(l.n, 0) < ? ORDER BY coalesce(l.n, 0), e.i`
  return db.all<EventRow>(sql, entity, n).flatMap((row) => unpack(row).map((e) => e.event))
}

/** Where in the order of arrival the batches stand that touched an entity, newest first; those folded away are gone. */
export function arrivalsOf(db: Db, entity: string, limit: number): number[] {
  const sql = `SELECT DISTINCT l.n FROM events e JOIN log l ON l.replica=e.replica AND l.seq=e.seq
       WHERE e.entity=? ORDER BY l.n DESC LIMIT ?`
  return db.column<number>(sql, entity, limit)
}
