import { UserError } from '../../base/errors.ts'
import { isObject, jsonIn } from '../../model/object.ts'
import type { Registry } from '../../model/registry.ts'
import { sharedStates } from '../feed/feed.ts'
import { reprojectKinds } from '../materialize/apply.ts'
import { keepBaseDigest } from '../store/compare.ts'
import * as coverage from '../store/coverage.ts'
import type { Db } from '../store/db.ts'
import type { PurgeMark, Signature } from '../store/line.ts'
import { hasAll, isCount, isCountOrRange, isEntity, isEvent, isText, listOf } from '../store/line.ts'
import * as log from '../store/log.ts'
import { getMeta, setMeta } from '../store/meta.ts'
import { keepArrivals } from '../store/own-lines.ts'
import { inRanges, type Range } from '../store/ranges.ts'
import { addCounts, allFolded, type Counts, countFolded } from '../store/rows.ts'
import { keepEndorsements } from './held.ts'
import { idNow, keptBaseEvent } from './purge.ts'
import { rebuildEntities } from './rebuild.ts'
import { archiveCame, archiveCovered } from './rotation.ts'
import { keepTrust, saysOf } from './vouched.ts'

/** A folded state (K14'), signed by its folder: which lines it covers, and those of their events that still count. */
export interface Snapshot {
  readonly v?: 2
  readonly covered: readonly coverage.Covered[]
  readonly horizon: number
  readonly entities: readonly { id: string; updated: number; counts: Counts }[]
  readonly events: readonly coverage.BaseEvent[]
  readonly purged: readonly PurgeMark[]
  readonly forked: readonly { replica: string; from: number }[]
}

export interface SignedSnapshot extends Snapshot {
  readonly by?: Signature | undefined
  readonly text?: string
}

/** Folds lines before a moment (K14'): they go, with what was overwritten by then. Later answers stay the same. The caller holds the lock. */
export function compact(db: Db, before: number): { lines: number; events: number; horizon: number } {
  const lines = coverage.coverable(db, before)
  if (lines.length === 0) return { lines: 0, events: 0, horizon: Number(getMeta(db, 'horizon') ?? 0) }
  for (const [entity, touches] of coverage.touchesIn(db, lines)) countFolded(db, { entity, ...touches }, countMore)
  keepTrust(db, lines)
  keepEndorsements(db, lines)
  const events = coverage.dropOverwritten(db, lines, before)
  const { lines: dropped, lastArrival } = coverage.dropCovered(db, lines)
  raiseMeta(db, 'horizon', before)
  raiseMeta(db, 'compacted_n', lastArrival)
  keepBaseDigest(db)
  return { lines: dropped, events, horizon: before }
}

/** The lines counted before, and these. Of 0.1.0 it is known how many they were: the new ones are others. */
function countMore(there: Counts = {}, more: Counts): Counts {
  const sum: { [replica: string]: Counts[string] } = { ...addCounts(there, more) }
  for (const [replica, n] of Object.entries(there))
    if (typeof n === 'number') sum[replica] = n + ((more[replica] as readonly number[] | undefined)?.length ?? 0)
  return sum
}

const raiseMeta = (db: Db, key: string, value: number): void =>
  setMeta(db, key, String(Math.max(value, Number(getMeta(db, key) ?? 0))))

/** What a replica needs that asks for lines which are gone here. */
export function snapshotOf(db: Db): Snapshot | undefined {
  const covered = coverage.coveredLines(db)
  if (covered.length === 0) return undefined
  return {
    v: 2,
    covered,
    horizon: Number(getMeta(db, 'horizon') ?? 0),
    entities: allFolded(db).map(({ entity, updated, counts }) => ({ id: entity, updated, counts })),
    events: coverage.baseEvents(db),
    purged: log.allPurges(db),
    forked: log.allForked(db),
  }
}

const COVERED = {
  replica: isText,
  first: isCount,
  last: isCount,
  hash: isText,
  digest: isText,
  from: isCount,
  to: Number.isSafeInteger,
}
const ENTITY = {
  id: isEntity,
  updated: isCount,
  counts: (v: unknown) => isObject(v) && Object.values(v).every((n) => isCount(n) || listOf(isCountOrRange)(n)),
}
const isBody = (v: unknown): boolean => isText(v) && isEvent(jsonIn(v))

/** As 0.1.0 wrote it: every line of a replica up to a number, and documents, which are not read. */
interface FirstSnapshot extends Omit<Snapshot, 'covered'> {
  readonly covered: readonly { replica: string; seq: number; hash: string; ctr: number }[]
}
const FIRST_COVERED = { replica: isText, seq: isCount, hash: isText, ctr: isCount }

/** Reads a folded state that somebody else wrote, of one replica if one is named; undefined for what is none. */
export function parseSnapshot(
  text: string,
  isOf: (replica: string) => boolean = () => true,
): SignedSnapshot | undefined {
  const { snapshot, by } = JSON.parse(text) as { snapshot: Snapshot; by?: unknown }
  const all = (shape: Parameters<typeof hasAll>[1]) =>
    listOf((v) => hasAll(v, shape) && isOf((v as { replica: string }).replica))
  const common = {
    horizon: isCount,
    entities: listOf((v) => hasAll(v, ENTITY)),
    events: all({ replica: isText, seq: isCount, i: isCount, entity: isEntity, ms: isCount, body: isBody }),
    purged: listOf((v) => hasAll(v, { replica: isText, seq: isCount, hash: isText, entity: isText })),
    forked: listOf((v) => hasAll(v, { replica: isText, from: isCount })),
  }
  const signed =
    isObject(by) && isText(by.key) && isText(by.sig)
      ? { by: { key: by.key, sig: by.sig }, text: JSON.stringify(snapshot) }
      : {}
  if (hasAll(snapshot, { ...common, v: (v) => v === 2, covered: all(COVERED) })) return { ...snapshot, ...signed }
  if (!hasAll(snapshot, { ...common, covered: all(FIRST_COVERED) })) return undefined
  const { covered, ...rest } = snapshot as unknown as FirstSnapshot
  const ranges = covered.map(({ replica, seq, hash, ctr }) => ({
    ...{ replica, first: 1, last: seq, hash },
    ...{ digest: '', from: 0, to: ctr },
  }))
  return { ...rest, covered: ranges, ...signed }
}

export const printSnapshot = (snapshot: Snapshot, by: Signature | undefined): string =>
  JSON.stringify({ snapshot, ...(by ? { by } : {}) })

export const damagedState = () =>
  new UserError('line-damaged', 'a folded state is damaged', 'ask the sender to send it again; nothing was taken')

/** Takes in a folded state. Of lines that both cover, an event counts if both still hold it. `upheld`: what somebody here vouches for. */
export function applySnapshot(
  db: Db,
  registry: () => Registry,
  s: Snapshot,
  now: number,
  upheld: ReadonlySet<string> = new Set(),
): ReadonlySet<string> {
  if (!Array.isArray(s?.covered) || !Array.isArray(s.entities) || !Array.isArray(s.events)) throw damagedState()
  const here = log.known(db)
  const isHere = (c: coverage.Covered) => here.get(c.replica)?.some(([a, b]) => a <= c.first && c.last <= b) === true
  if (s.covered.filter((c) => !isHere(c)).reduce((n, r) => n + r.last - r.first + 1, 0) === 0) return new Set()
  archiveCovered(db, s.covered)
  const shared = sharedStates(db)
  const ours = new Map<string, Range[]>()
  for (const c of coverage.coveredLines(db)) ours.set(c.replica, [...(ours.get(c.replica) ?? []), [c.first, c.last]])
  keepTrust(db, s.covered)
  keepEndorsements(db, s.covered)
  const arrival = log.countArrival(db)
  const touched = new Set(s.entities.map((e) => idNow(db, e.id)))
  const said = new Map([...touched].map((id) => [id, saysOf(db, id)]))
  for (const [entity, touches] of coverage.touchesIn(db, s.covered)) {
    touched.add(entity)
    countFolded(db, { entity, ...touches })
  }
  const events = s.events.map((e) => keptBaseEvent(db, e))
  coverage.keepEvents(db, s.covered, events)
  // what we had folded away ourselves and do not have any more was overwritten by something that we know
  const theirs = events.filter((e) => !inRanges(ours.get(e.replica) ?? [], e.seq))
  coverage.addBaseEvents(db, theirs, now)
  coverage.dropCovered(db, s.covered)
  for (const { id, counts, updated } of s.entities) countFolded(db, { entity: idNow(db, id), counts, updated })
  rebuildEntities(db, registry(), touched)
  // it says itself what is in it: whatever it changes, others have said, but for what holds here as it was
  for (const id of touched)
    if (said.has(id) && !upheld.has(id) && saysOf(db, id) !== said.get(id))
      keepArrivals(db, id, { own: 0, others: arrival })
  const ids = s.entities.map((e) => e.id)
  reprojectKinds(db, registry(), ids)
  raiseMeta(db, 'horizon', s.horizon)
  archiveCame(db, now, shared)
  raiseMeta(db, 'compacted_n', arrival)
  keepBaseDigest(db)
  log.finding(db, 'snapshot', now, `history before ${new Date(s.horizon).toISOString()} came as a snapshot`)
  return touched
}
