import { UserError } from '../errors.ts'
import { sharedStates } from '../feed/feed.ts'
import { applyUpdate, encodeDoc, openDoc } from '../log/document.ts'
import { projectState, reprojectKinds } from '../materialize/apply.ts'
import { isObject } from '../model/object.ts'
import type { Registry } from '../model/registry.ts'
import { keepBaseDigest } from '../store/compare.ts'
import * as coverage from '../store/coverage.ts'
import type { Db } from '../store/db.ts'
import { hasAll, isCount, isEntity, isEvent, isText, listOf, type PurgeMark } from '../store/line.ts'
import * as log from '../store/log.ts'
import { getMeta, setMeta } from '../store/meta.ts'
import { addCounts, allBases, type Base, baseOf, loadDoc, putBase, saveDoc } from '../store/rows.ts'
import { keepArrivals } from '../store/trust.ts'
import { cellsAsText } from './integrity.ts'
import { applyPurges, erasedBaseEvent, erasedState, idNow } from './purge.ts'
import { archiveCame, archiveCovered } from './rotation.ts'
import { BESIDE, keepTrust } from './trust.ts'

/** The state at a compaction, for replicas that are behind it: covered lines, documents and the events that still count. */
export interface Snapshot {
  covered: coverage.Covered[]
  horizon: number
  entities: { id: string; state: string; updated: number; counts: Base['counts'] }[]
  events: coverage.BaseEvent[]
  purged: PurgeMark[]
  forked: { replica: string; from: number }[]
}

/**
 * Folds the log up to a moment away (K14): covered lines go, the documents stay as they are, and of the events
 * those that were overwritten by the horizon. Answers about anything later do not change. The caller holds the lock.
 */
export function compact(db: Db, before: number): { lines: number; events: number; horizon: number } {
  const covered = coverage.coverable(db, before)
  if (covered.length === 0) return { lines: 0, events: 0, horizon: Number(getMeta(db, 'horizon') ?? 0) }
  for (const [entity, touches] of coverage.touchesUpTo(db, covered)) {
    const state = loadDoc(db, entity)
    if (!state) continue
    const base = baseOf(db, entity)
    const counts = addCounts(base?.counts, touches.counts)
    putBase(db, { entity, state, counts, updated: Math.max(touches.updated, base?.updated ?? 0) })
  }
  keepTrust(db, covered)
  const events = coverage.dropOverwrittenEvents(db, covered, before)
  const { lines, lastArrival } = coverage.dropCovered(db, covered)
  raiseMeta(db, 'horizon', before)
  raiseMeta(db, 'compacted_n', lastArrival)
  keepBaseDigest(db)
  return { lines, events, horizon: before }
}

const raiseMeta = (db: Db, key: string, value: number): void =>
  setMeta(db, key, String(Math.max(value, Number(getMeta(db, key) ?? 0))))

/** What a replica needs that asks for lines which are gone here. */
export function snapshotOf(db: Db): Snapshot | undefined {
  const covered = coverage.coveredLines(db)
  if (covered.length === 0) return undefined
  return {
    covered,
    horizon: Number(getMeta(db, 'horizon') ?? 0),
    entities: allBases(db).map((b) => ({
      id: b.entity,
      state: Buffer.from(b.state).toString('base64'),
      updated: b.updated,
      counts: b.counts,
    })),
    events: coverage.baseEvents(db),
    purged: log.allPurges(db),
    forked: log.allForked(db),
  }
}

const COVERED = { replica: isText, seq: isCount, hash: isText, ctr: isCount }
const ENTITY = {
  id: isEntity,
  state: isText,
  updated: isCount,
  counts: (v: unknown) => isObject(v) && Object.values(v).every(isCount),
}
const BASE_EVENT = {
  replica: isText,
  seq: isCount,
  i: isCount,
  entity: isEntity,
  ms: isCount,
  ctr: isCount,
  body: isBody,
}
const MARK = { replica: isText, seq: isCount, hash: isText, entity: isText }

function isBody(v: unknown): boolean {
  try {
    return isText(v) && isEvent(JSON.parse(v as string))
  } catch {
    return false
  }
}

/** Reads a snapshot of one replica's lines that somebody else wrote; undefined for what is none. */
export function parseSnapshot(text: string, replica: string): Snapshot | undefined {
  const { snapshot: s } = JSON.parse(text) as { snapshot: Snapshot }
  const ofReplica = (shape: Parameters<typeof hasAll>[1]) =>
    listOf((v) => hasAll(v, shape) && (v as coverage.Covered).replica === replica)
  const isSound = hasAll(s, {
    horizon: isCount,
    covered: ofReplica(COVERED),
    entities: listOf((v) => hasAll(v, ENTITY)),
    events: ofReplica(BASE_EVENT),
    purged: listOf((v) => hasAll(v, MARK)),
    forked: listOf((v) => hasAll(v, { replica: isText, from: isCount })),
  })
  return isSound ? s : undefined
}

/** What a document says of the thing itself: by it a snapshot, which has no lines, shows whether it changes that. */
const saysOf = (doc: Parameters<typeof cellsAsText>[0]): string => cellsAsText(doc, BESIDE)

/**
 * Takes in a snapshot, if it covers a line that is missing here. What it covers is folded away here as well, or events
 * of ours would stay whose overwriting it has forgotten: they are put away first, as a compaction does. Lines it covers are dropped when they come late, and waiting
 * ones behind them are released.
 */
export function applySnapshot(db: Db, registry: () => Registry, s: Snapshot, now: number): void {
  if (!Array.isArray(s?.covered) || !Array.isArray(s.entities) || !Array.isArray(s.events)) {
    throw new UserError('line-damaged', 'a snapshot is damaged', 'ask the sender to send it again; nothing was taken')
  }
  // marks first: nothing that was erased elsewhere may touch the disk here
  if (s.purged?.length > 0) applyPurges(db, registry(), s.purged)
  if (!s.covered.some((c) => c.seq > log.head(db, c.replica).seq)) return
  archiveCovered(db, s.covered)
  const shared = sharedStates(db)
  const before = new Map(s.covered.map((c) => [c.replica, log.coveredUpTo(db, c.replica)]))
  const further = new Set(s.covered.filter((c) => c.seq > before.get(c.replica)!).map((c) => c.replica))
  keepTrust(db, s.covered)
  const arrival = log.countArrival(db)
  const kept = new Set(s.events.map((e) => `${e.replica}:${e.seq}:${e.i}`))
  coverage.keepEvents(db, s.covered, kept)
  // what we had folded away ourselves and do not have any more was overwritten by something that we know
  coverage.addBaseEvents(
    db,
    s.events.filter((e) => e.seq > (before.get(e.replica) ?? 0)).map((e) => erasedBaseEvent(db, e)),
  )
  coverage.dropCovered(db, s.covered)
  for (const e of s.entities) {
    const entity = idNow(db, e.id)
    const state = erasedState(db, e.id, new Uint8Array(Buffer.from(e.state, 'base64')))
    const base = baseOf(db, entity)
    const counts = Object.fromEntries([
      ...Object.entries(base?.counts ?? {}).filter(([replica]) => !further.has(replica)),
      ...Object.entries(e.counts).filter(([replica]) => further.has(replica)),
    ])
    const doc = openDoc([loadDoc(db, entity)].filter((x) => x !== undefined))
    const said = saysOf(doc)
    applyUpdate(doc, state)
    // it says itself what is in it: whatever it changes, others have said
    if (saysOf(doc) !== said) keepArrivals(db, entity, { own: 0, others: arrival })
    const encoded = encodeDoc(doc)
    saveDoc(db, entity, encoded)
    putBase(db, { entity, state: encoded, counts, updated: Math.max(e.updated, base?.updated ?? 0) })
    projectState(db, registry(), entity, doc, log.lastTouched(db, entity), log.versionOf(db, entity))
  }
  reprojectKinds(
    db,
    registry(),
    s.entities.map((e) => e.id),
  )
  raiseMeta(db, 'horizon', s.horizon)
  archiveCame(db, now, shared)
  raiseMeta(db, 'compacted_n', arrival)
  keepBaseDigest(db)
  log.finding(db, 'snapshot', now, `history before ${new Date(s.horizon).toISOString()} came as a snapshot`)
}
