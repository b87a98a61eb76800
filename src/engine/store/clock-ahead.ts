import type { Entity } from '../../model/entity.ts'
import { type Db, stored } from './db.ts'
import { getMeta, setMeta } from './meta.ts'

/** Entities stamped by a clock that was ahead: readers date them by when they came (K13). */
const AHEAD = 'ahead'
const MOST_ENTITIES = 10_000

export const aheadIds = (db: Db): ReadonlySet<string> => new Set(stored<string[]>(getMeta(db, AHEAD) ?? '[]'))

/** Notes the entities of a line that is stamped later than it came. */
export function noteAhead(db: Db, ids: Iterable<string>): void {
  setMeta(db, AHEAD, JSON.stringify([...new Set([...aheadIds(db), ...ids])].slice(-MOST_ENTITIES)))
}

/** A row as of when its entity's lines came, for one of `aheadIds`. */
export function dated<R extends Pick<Entity, 'id' | 'created' | 'updated'>>(
  db: Db,
  ids: ReadonlySet<string>,
  row: R,
): R {
  if (!ids.has(row.id)) return row
  const sql = 'SELECT min(ms) AS first, max(ms) AS last FROM events WHERE entity=?'
  const { first, last } = db.get<{ first: number | null; last: number | null }>(sql, row.id)!
  const { created, updated } = row
  return { ...row, created: Math.min(created, first ?? created), updated: Math.min(updated, last ?? updated) }
}

/** Forgets those that are no more: an id may hold what was erased. */
export function forgetAhead(db: Db, isThere: (id: string) => boolean): void {
  const ids = [...aheadIds(db)]
  const left = ids.filter(isThere)
  if (left.length < ids.length) setMeta(db, AHEAD, JSON.stringify(left))
}
