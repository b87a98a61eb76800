import { applyUpdate, encodeDoc, openDoc } from '../crdt/doc.ts'
import { UserError } from '../errors.ts'
import type { Registry } from '../schema/registry.ts'
import type { Db } from '../store/db.ts'
import * as log from '../store/log.ts'
import { allBases, baseOf, getRow, loadDoc, putBase, saveDoc } from '../store/rows.ts'
import { projectState } from './apply.ts'

/** The state at a compaction, for replicas that are behind it: covered lines, documents and the events that still count. */
export interface Snapshot {
  covered: { replica: string; seq: number; hash: string }[]
  horizon: number
  entities: { id: string; state: string; updated: number; version: number }[]
  events: { replica: string; seq: number; i: number; entity: string; ms: number; ctr: number; body: string }[]
}

/**
 * Folds the log up to a moment away (K14): covered lines go, the documents stay as they are, and of the events
 * those that were overwritten by the horizon. Answers about anything later do not change. The caller holds the lock.
 */
export function compact(db: Db, before: number): { lines: number; events: number; horizon: number } {
  const covered = log.coverable(db, before)
  if (covered.length === 0) return { lines: 0, events: 0, horizon: Number(log.getMeta(db, 'horizon') ?? 0) }
  const versions = log.versionsUpTo(db, covered)
  for (const [id, v] of versions) {
    const state = loadDoc(db, id)
    if (!state) continue
    putBase(db, id, state, v.updated, (baseOf(db, id)?.version ?? 0) + v.batches)
  }
  const events = log.dropOverwrittenEvents(db, covered, before)
  const lines = log.dropCovered(db, covered)
  log.setMeta(db, 'horizon', String(Math.max(before, Number(log.getMeta(db, 'horizon') ?? 0))))
  return { lines, events, horizon: before }
}

/** What a replica needs that asks for lines which are gone here. */
export function snapshotOf(db: Db): Snapshot | undefined {
  const covered = log.coveredLines(db)
  if (covered.length === 0) return undefined
  return {
    covered,
    horizon: Number(log.getMeta(db, 'horizon') ?? 0),
    entities: allBases(db).map((b) => ({
      id: b.entity,
      state: Buffer.from(b.state).toString('base64'),
      updated: b.updated,
      version: b.version,
    })),
    events: log.baseEvents(db),
  }
}

/** Takes in a snapshot: lines it covers are dropped when they come late, and waiting ones behind them are released. */
export function applySnapshot(db: Db, registry: () => Registry, s: Snapshot, now: number): void {
  if (!Array.isArray(s?.covered) || !Array.isArray(s.entities) || !Array.isArray(s.events)) {
    throw new UserError('line-damaged', 'a snapshot is damaged', 'ask the sender to send it again; nothing was taken')
  }
  const fresh = s.covered.filter((c) => c.seq > log.head(db, c.replica).seq)
  if (fresh.length === 0) return
  for (const e of s.entities) {
    const state = new Uint8Array(Buffer.from(e.state, 'base64'))
    const before = loadDoc(db, e.id)
    const merged = openDoc(before ? [before] : [])
    applyUpdate(merged, state)
    const encoded = encodeDoc(merged)
    saveDoc(db, e.id, encoded)
    const row = getRow(db, e.id)
    const base = openDoc([baseOf(db, e.id)?.state ?? new Uint8Array([0, 0]), state])
    putBase(
      db,
      e.id,
      encodeDoc(base),
      Math.max(e.updated, baseOf(db, e.id)?.updated ?? 0),
      Math.max(e.version, baseOf(db, e.id)?.version ?? 0),
    )
    projectState(
      db,
      registry(),
      e.id,
      encoded,
      Math.max(row?.updated ?? 0, e.updated),
      Math.max(row?.version ?? 0, e.version),
    )
  }
  log.addBaseEvents(db, s.events)
  for (const c of fresh) log.cover(db, c)
  log.setMeta(db, 'horizon', String(Math.max(s.horizon, Number(log.getMeta(db, 'horizon') ?? 0))))
  log.finding(db, 'snapshot', now, `history before ${new Date(s.horizon).toISOString()} came as a snapshot`)
}
