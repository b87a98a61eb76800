import { encodeDoc, openDoc, strip } from '../log/document.ts'
import type { Event } from '../log/events.ts'
import { sha256 } from '../model/digest.ts'
import { kindOf } from '../model/entity.ts'
import type { Registry } from '../model/registry.ts'
import { dropAnchorsOf } from '../store/code.ts'
import { keepBaseDigest } from '../store/compare.ts'
import type * as coverage from '../store/coverage.ts'
import { type Db, stored } from '../store/db.ts'
import { eventBody, type Line, type PurgeMark, unpackEvent } from '../store/line.ts'
import * as log from '../store/log.ts'
import { addCounts, type Base, baseOf, dropBase, dropEntityIndexes, idsOfKind, putBase } from '../store/rows.ts'
import { rebuildEntities } from './rebuild.ts'

const ERASED = '(erased)'

/** An event without anything that was said: what it overwrote stays, so that the fold stays the same. */
function emptied(e: Event, entity = e.entity): Event {
  return {
    entity,
    field: e.field,
    op: e.op,
    stamp: e.stamp,
    over: e.over,
    ...(e.list ? { list: true } : {}),
    ...(e.pos !== undefined ? { pos: e.pos } : {}),
    purged: true,
  }
}

/** What stands in an erased entity's place: its id may hold the very name that had to go. */
export const tombstoneOf = (id: string): string => `${kindOf(id)}:purged-${sha256(id).slice(0, 16)}`

export const isTombstone = (id: string): boolean => /:purged-[0-9a-f]{16}$/.test(id)

/** The id under which an entity goes on here: its own, or its tombstone. */
export const idNow = (db: Db, id: string): string =>
  !isTombstone(id) && log.isErased(db, tombstoneOf(id)) ? tombstoneOf(id) : id

/** Stands for the header of a line where a purge names an entity: who wrote it, what for, and what it said it did. */
export const HEADER = ''

const everything = () => true

/** An event as it may be kept here: what was erased of it is gone, and what it tells of erased writes as well. */
function erasedEvent(db: Db, e: Event, seq: number): Event {
  const entity = idNow(db, e.entity)
  if (entity !== e.entity) return emptied(e, entity)
  if (log.isErasedWrite(db, e.stamp.replica, e.stamp.ctr)) return emptied(e)
  if (e.was === undefined) return e
  const told =
    e.over.some(([replica, ctr]) => log.isErasedWrite(db, replica, ctr)) ||
    log.purgesOf(db, e.stamp.replica, seq).some((p) => p.entity === e.entity && p.was?.includes(e.stamp.ctr))
  if (!told) return e
  const { was: _, ...rest } = e
  return rest
}

/** An event of a snapshot as it may be kept here. */
export function erasedBaseEvent(db: Db, e: coverage.BaseEvent): coverage.BaseEvent {
  if (!log.anythingPurged(db)) return e
  const event = erasedEvent(db, unpackEvent(stored(e.body), { ms: e.ms, replica: e.replica }), e.seq)
  return { ...e, entity: event.entity, body: eventBody(event) }
}

/** The document of a snapshot as it may be kept here. */
export function erasedState(db: Db, id: string, state: Uint8Array): Uint8Array {
  if (!log.anythingPurged(db)) return state
  if (idNow(db, id) !== id) return strip(state, everything)
  return log.purgesIn(db, id).length > 0 ? strip(state, (r, c) => log.isErasedWrite(db, r, c)) : state
}

/**
 * A line as it may be kept here: what was erased of it is emptied before it touches the disk. Its place is taken by a
 * substitute under the erased line's hash, so that the chain holds; the same one on every replica.
 */
export function withoutErased(db: Db, line: Line): Line {
  if (!log.anythingPurged(db)) return line
  const updates = new Map<string, Uint8Array>()
  let changed = false
  for (const [id, update] of line.updates) {
    const now = idNow(db, id)
    const own = line.events.filter((e) => e.entity === id)
    const some = own.filter((e) => log.isErasedWrite(db, e.stamp.replica, e.stamp.ctr))
    if (now === id && some.length === 0) updates.set(id, update)
    else {
      const writes = new Set(some.map((e) => e.stamp.ctr))
      updates.set(now, strip(update, now === id ? (_, ctr) => writes.has(ctr) : everything))
      changed = true
    }
  }
  const events = line.events.map((e) => erasedEvent(db, e, line.seq))
  const purges = line.purges.map((p) => ({ ...p, entity: idNow(db, p.entity) }))
  changed ||= events.some((e, i) => eventBody(e) !== eventBody(line.events[i]!))
  changed ||= purges.some((p, i) => p.entity !== line.purges[i]!.entity)
  const header = log.purgesOf(db, line.replica, line.seq).some((p) => p.hash === line.hash && p.entity === HEADER)
  if (!changed && !header) return line
  const { intent: _, undoes, ...others } = line.author
  const author = { ...(header ? {} : others), ...(undoes ? { undoes } : {}) }
  return { ...line, author, summary: ERASED, updates, events, purges, substitute: true }
}

/** Replaces erased lines by their substitutes, and makes what was derived from them again. */
export function applyPurges(db: Db, registry: Registry, purges: readonly PurgeMark[]): void {
  for (const p of purges) log.markPurged(db, p)
  erase(
    db,
    registry,
    purges.flatMap((p) => (p.entity === HEADER ? [] : [p.entity])),
  )
  for (const p of purges) {
    if (p.entity !== HEADER) continue
    const line = log.lineOf(db, p.replica, p.seq) // gone if a compaction folded it away
    const now = line && withoutErased(db, line)
    if (now && now !== line) log.replaceLine(db, now)
  }
}

/** What a line that came in shows to be erased as well: writes that an erased one had overwritten. */
export function eraseFurther(db: Db, registry: () => Registry, line: Line): boolean {
  if (!log.anythingPurged(db)) return false
  const deep = line.events.filter((e) => e.over.length > 0 && log.isErasedDeep(db, e.stamp.replica, e.stamp.ctr))
  if (deep.length === 0) return false
  erase(
    db,
    registry(),
    deep.map((e) => e.entity),
  )
  return true
}

function erase(db: Db, registry: Registry, entities: readonly string[]): void {
  const touched = new Set<string>()
  const rewrite = (id: string, base: (b: Base) => void) => {
    for (const { replica, seq } of log.batchesOf(db, id)) {
      const line = log.lineOf(db, replica, seq) // gone if a compaction folded it away
      const now = line && withoutErased(db, line)
      if (now && now !== line) log.replaceLine(db, now)
    }
    log.rewriteBaseEvents(db, id, (e, seq) => erasedEvent(db, e, seq))
    dropAnchorsOf(db, id)
    const b = baseOf(db, id)
    if (b) base(b)
  }
  for (const entity of new Set(entities)) {
    touched.add(entity)
    if (!isTombstone(entity)) {
      log.spreadErasure(db, entity)
      rewrite(entity, (b) => putBase(db, { ...b, state: erasedState(db, entity, b.state) }))
      continue
    }
    for (const id of idsOfKind(db, kindOf(entity))) {
      if (isTombstone(id) || tombstoneOf(id) !== entity) continue
      log.renamePurged(db, id, entity)
      rewrite(id, (b) => moveBase(db, b, entity))
      dropEntityIndexes(db, id)
    }
  }
  keepBaseDigest(db)
  rebuildEntities(db, registry, touched)
  log.rewriteParked(db, (line) => withoutErased(db, line))
}

/** The base of an erased entity joins its tombstone's, without content. */
function moveBase(db: Db, b: Base, tombstone: string): void {
  const there = baseOf(db, tombstone)
  const counts = addCounts(there?.counts, b.counts)
  const state = encodeDoc(openDoc([...(there ? [there.state] : []), strip(b.state, everything)]))
  putBase(db, { entity: tombstone, state, counts, updated: Math.max(b.updated, there?.updated ?? 0) })
  dropBase(db, b.entity)
}
