import { isDefinition } from '../../model/entity.ts'
import type { Registry } from '../../model/registry.ts'
import { projectEntity } from '../materialize/apply.ts'
import type { Db } from '../store/db.ts'
import * as log from '../store/log.ts'
import { allFolded, clearIndexes, countOf, dropEntityIndexes, foldedOf } from '../store/rows.ts'

export type Progress = (done: number, total: number) => void

function rebuildEntity(db: Db, registry: Registry, id: string): boolean {
  const events = log.eventsOf(db, id)
  const folded = foldedOf(db, id)
  if (events.length === 0 && !folded) return false
  const updated = events.reduce((max, { event }) => Math.max(max, event.stamp.ms), folded?.updated ?? 0)
  const batches = new Set(log.batchesOf(db, id, false).map((b) => `${b.replica}:${b.seq}`))
  projectEntity(db, registry, id, { updated, version: batches.size + countOf(folded) })
  return true
}

export function rebuildEntities(db: Db, registry: Registry, ids: Iterable<string>): void {
  for (const id of ids) {
    dropEntityIndexes(db, id)
    rebuildEntity(db, registry, id)
  }
}

/** Drops every index and makes it again from the log, byte for byte the same (C5). The caller holds the write lock. */
export function rebuildAll(
  db: Db,
  registry: () => Registry,
  progress: Progress = () => {},
): { entities: number; lines: number } {
  clearIndexes(db)
  let n = 0
  for (const { line, received } of log.admittedAfter(db, 0)) {
    log.indexEvents(db, line, received)
    n++
  }
  const ids = kindsFirst([...new Set([...log.entitiesIn(db), ...allFolded(db).map((f) => f.entity)])])
  let done = 0
  for (const id of ids) {
    rebuildEntity(db, registry(), id)
    progress(++done, ids.length)
  }
  return { entities: ids.length, lines: n }
}

/** What the project itself declares comes first: the rows of its kinds depend on it. */
export const kindsFirst = (ids: string[]): string[] => ids.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
const rank = (id: string): number => (isDefinition(id) ? 0 : 1)
