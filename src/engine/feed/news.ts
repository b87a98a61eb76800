import { keptIn } from '../../base/lookup.ts'
import type { Json } from '../../model/field.ts'
import { isObject } from '../../model/object.ts'
import { momentOf } from '../log/clock.ts'
import type { Event } from '../log/events.ts'
import { type Db, stored } from '../store/db.ts'
import { heldOf } from '../store/held.ts'
import type { Author, Line } from '../store/line.ts'
import { batchNamed, eventsOf, type LoggedEvent, lastLine, lineOf, loggedIn, newsAfter } from '../store/log.ts'
import { type PresenceEvent, presenceAfter } from '../store/presence.ts'
import { getRow, nameIn } from '../store/rows.ts'
import { calledLast, summaryOf, turnsDown } from '../store/summary.ts'

export interface News {
  /** Order of arrival here: what a cursor holds. */
  seq: number
  batch: string
  at: number
  received: number
  author: Author
  readonly summary: string
  events: LoggedEvent[]
  /** It erases something of other batches. */
  readonly erases: boolean
  /** What happened with sessions and claims; then there is no batch, and nothing was learned. */
  presence?: PresenceEvent
}

export const presenceNews = (told: PresenceEvent): News => ({
  seq: told.seq,
  batch: '',
  at: told.at,
  received: told.at,
  author: { session: told.session },
  summary: told.type,
  events: [],
  erases: false,
  presence: told,
})

/** Batches, and what happened with sessions and claims, in the order in which they arrived here, after a cursor. */
export function newsSince(db: Db, seq: number, limit?: number): News[] {
  // one snapshot, or what was committed between the two questions would be passed over
  const [told, batches] = db.read(() => [presenceAfter(db, seq, limit), batchesSince(db, seq, limit)])
  if (told.length === 0) return batches
  const all = [...batches, ...told.map(presenceNews)].sort((a, b) => a.seq - b.seq)
  return limit === undefined ? all : all.slice(0, limit)
}

const lineIn = (db: Db, batch: string) => lineOf(db, batch.split(':')[0]!, Number(batch.split(':')[1]))

function summaryIn(db: Db, line: Line): string {
  const known = new Map<string, LoggedEvent[]>()
  const events = (id: string) => keptIn(known, id, () => eventsOf(db, id))
  const last = (id: string, field?: string) => calledLast(db, id, field, events(id))
  const called = (id: string) => {
    const row = getRow(db, id)
    return row && (nameIn(row.name, JSON.parse(row.body)) || last(id))
  }
  const isWanted = (id: string) => isWantedOnly(db, `${line.replica}:${line.seq}`, id)
  const no = (events: readonly Event[]) => turnsDown(db, events)
  return summaryOf(line, called, (batch) => lineIn(db, batch), { last, isWanted, no })
}

/** Whether what a batch says of an entity waits for a yes here, or was turned down. */
export function isWantedOnly(db: Db, batch: string, id: string): boolean {
  const waits = heldOf(db, id)?.lines.some((l) => `${l.replica}:${l.seq}` === batch)
  const { provenance } = stored<{ provenance?: Json }>(getRow(db, id)?.body ?? '{}')
  const isNamed = Array.isArray(provenance) && provenance.some((p) => isObject(p) && p.keeps === batch)
  return waits || (isNamed && eventsOf(db, id).some((e) => turnsDown(db, [e.event])?.keeps === batch))
}

/** What a batch did, in a line; nothing where it is not here. */
export function whatDid(db: Db, batch: string): string | undefined {
  const line = lineIn(db, batchNamed(db, batch))
  return line && summaryIn(db, line)
}

const batchesSince = (db: Db, seq: number, limit?: number): News[] =>
  newsAfter(db, seq, limit).map(({ n, received, line }) => ({
    seq: n,
    batch: `${line.replica}:${line.seq}`,
    at: momentOf(line.at, received),
    received,
    author: line.author,
    summary: summaryIn(db, line),
    events: loggedIn(line),
    erases: line.purges.length > 0,
  }))

export function lastBatch(db: Db): News | undefined {
  const n = lastLine(db)
  return n === undefined ? undefined : batchesSince(db, n - 1, 1)[0]
}
