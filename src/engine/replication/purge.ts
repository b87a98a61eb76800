import { kindOf } from '../../model/entity.ts'
import type { Registry } from '../../model/registry.ts'
import type { Event } from '../log/events.ts'
import { dropAnchorsOf } from '../store/code-anchors.ts'
import { keepBaseDigest } from '../store/compare.ts'
import * as coverage from '../store/coverage.ts'
import type { Db } from '../store/db.ts'
import { dropAsked, isErasedOf, keepEraser } from '../store/held.ts'
import {
  isTombstone, type Line, originalIn, type PurgeMark, redacted, runBody, tombstoneOf, unpackRun,
} from '../store/line.ts' // biome-ignore format: a list
import * as log from '../store/log.ts'
import { countFolded, dropFolded, type Folded, foldedOf, idsOfKind, putFolded } from '../store/rows.ts'
import { rebuildEntities } from './rebuild.ts'
import { authorsOf } from './vouched.ts'

/** The id under which what an author says of an entity goes on here: its own, or its tombstone. Without an author: all of it. */
export const idNow = (db: Db, id: string, author?: string): string =>
  !isTombstone(id) && isErasedOf(db, tombstoneOf(id), author) ? tombstoneOf(id) : id

/** Stands for the header of a line where a purge names an entity: who wrote it, and what for. */
export const HEADER = ''

/** An event of a folded line as it may be kept here: what an erased one overwrote stays, so that the fold stays the same. */
function keptEvent(db: Db, e: Event): Event {
  const entity = idNow(db, e.entity, authorsOf(db)(e.stamp.replica))
  if (entity === e.entity && !log.isErasedWrite(db, e.stamp.replica, e.stamp.ctr)) return e
  const { entity: _, value: _value, path: _path, ...rest } = e
  return { ...rest, entity, purged: true }
}

/** An event of a snapshot as it may be kept here. */
export function keptBaseEvent(db: Db, e: coverage.BaseEvent): coverage.BaseEvent {
  if (!log.anythingPurged(db)) return e
  const [event] = unpackRun(e.body, e.entity, { ms: e.ms, replica: e.replica })
  const kept = keptEvent(db, event!)
  return kept === event ? e : { ...e, entity: kept.entity, body: coverage.oneOf(runBody([kept], e.ms)) }
}

/** A line without what was erased: digests stand in its place, so its hash and signature still hold. */
export function asKept(db: Db, line: Line): Line {
  if (!log.anythingPurged(db)) return line
  const marks = log.purgesOf(db, line.replica, line.seq)
  const original = originalIn(line)
  const from = original ? undefined : log.forkedFrom(db, line.replica)
  const isForked = from !== undefined && line.seq >= from && !log.isCovered(db, line.replica, line.seq)
  return redacted(line, {
    erases: (id) => idNow(db, id, (original ?? line).replica) !== id,
    write: (ctr) =>
      (!isForked && log.isErasedWrite(db, line.replica, ctr)) || log.isErasedIn(db, original ?? line, ctr),
    was: (ctr) => marks.some((p) => p.was?.includes(ctr)) || tellsErased(db, line, ctr),
    header: [line, original].some((l) => l && log.isHeaderErased(db, l)),
  })
}

/** Whether a write of 0.1.0, which says what was there before it, took the place of one that was erased. */
const tellsErased = (db: Db, line: Line, ctr: number): boolean =>
  line.events.some((e) => e.stamp.ctr === ctr && e.over.some(([r, c]) => log.isErasedWrite(db, r, c)))

/** Erases from lines, and rebuilds what was made from them. `of`: whose lines. The caller has checked who may decide it. */
export function applyPurges(db: Db, registry: Registry, purges: readonly PurgeMark[], of = '*'): void {
  for (const p of purges) {
    log.markPurged(db, p, of === '*')
    if (isTombstone(p.entity)) keepEraser(db, p.entity, of)
    if (of === '*') dropAsked(db, p.entity)
  }
  const lines = [...purges.map((p) => log.standing(db, p)), ...log.takeUnproven(db)]
  const others = lines.flatMap((l) => replaceLine(db, l.replica, l.seq))
  const whole = purges.flatMap((p) => (p.entity === HEADER ? [] : [p.entity]))
  erase(db, registry, whole, others)
}

/** What a line that came in shows to be erased as well: writes that an erased one had overwritten. */
export function eraseFurther(db: Db, registry: () => Registry, line: Line): boolean {
  if (!log.anythingPurged(db)) return false
  const deep = line.events.filter((e) => e.over.length > 0 && log.erasedDepth(db, e.stamp.replica, e.stamp.ctr) > 0)
  if (deep.length === 0) return false
  const entities = deep.map((e) => e.entity)
  erase(db, registry(), entities)
  return true
}

/** Returns the entities of which something is erased in the line. */
function replaceLine(db: Db, replica: string, seq: number): string[] {
  const line = log.lineOf(db, replica, seq) // gone if a compaction folded it away
  const now = line && asKept(db, line)
  // what somebody else took out counts as erased from now on
  if (!now || (now === line && !now.partial)) return []
  log.replaceLine(db, now)
  return now.events.filter((e) => e.purged).map((e) => e.entity)
}

function erase(db: Db, registry: Registry, entities: readonly string[], others: readonly string[] = []): void {
  const touched = new Set(others)
  const rewrite = (id: string, folded: (f: Folded) => void) => {
    for (const { replica, seq } of log.batchesOf(db, id)) replaceLine(db, replica, seq)
    log.rewriteBaseEvents(db, id, (e) => keptEvent(db, e))
    dropAnchorsOf(db, id)
    const f = foldedOf(db, id)
    if (f) folded(f)
  }
  for (const entity of new Set(entities)) {
    touched.add(entity)
    if (!isTombstone(entity)) {
      log.spreadErasure(db, entity)
      rewrite(entity, () => {})
      continue
    }
    for (const id of idsOfKind(db, kindOf(entity))) {
      if (isTombstone(id) || tombstoneOf(id) !== entity) continue
      touched.add(id)
      if (isErasedOf(db, entity)) log.renamePurged(db, id, entity)
      rewrite(id, (f) => moveFolded(db, f, entity))
    }
  }
  keepBaseDigest(db)
  rebuildEntities(db, registry, touched)
  log.rewriteParked(db, (line) => asKept(db, line))
}

/** What is known of the folded lines of an erased entity joins its tombstone's, of those whose lines are erased. */
function moveFolded(db: Db, { entity, updated, counts }: Folded, tombstone: string): void {
  const authorOf = authorsOf(db)
  const [gone, left] = [true, false].map((isGone) =>
    Object.fromEntries(
      Object.entries(counts).filter(([replica]) => isErasedOf(db, tombstone, authorOf(replica)) === isGone),
    ),
  ) as [Folded['counts'], Folded['counts']]
  countFolded(db, { entity: tombstone, updated, counts: gone })
  if (Object.keys(left).length > 0) putFolded(db, { entity, counts: left, updated })
  else dropFolded(db, entity)
}
