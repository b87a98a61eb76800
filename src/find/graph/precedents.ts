import type { Reader } from '../../engine/read/reader.ts'
import { parentOf } from '../../engine/read/work-tree.ts'
import { type Entity, madeAt } from '../../model/entity.ts'
import { isWork } from '../../model/work-kinds.ts'
import { parents, recordedIn } from '../recall/scope.ts'
import { type Found, readReached, type Ways, walk } from './walk.ts'

const PRECEDENT: Ways = { out: ['references', 'supersedes', 'cites'], in: [] }
export const PRECEDENT_DEPTH = 3

/** What informed an entity, over a few links, newest first. */
export const precedents = (reader: Reader, id: string, depth: number = PRECEDENT_DEPTH): Found[] =>
  readReached(reader, walk(reader, id, { ways: PRECEDENT, depth }).reached.slice(1)).sort(
    (a, b) => madeAt(b.entity) - madeAt(a.entity) || (a.id < b.id ? -1 : 1),
  )

/** The tasks, activities and goals at which something was recorded, or below which it stands, the nearest first. */
export function ancestors(reader: Reader, e: Entity): Entity[] {
  const find = parents(reader)
  const found = new Map<string, Entity>()
  for (const first of isWork(e.kind) ? [parentOf(e, find)] : recordedIn(e).map((id) => reader.entity(id)))
    for (let at = first; at && isWork(at.kind); at = parentOf(at, find)) if (at.live) found.set(at.id, at)
  return [...found.values()]
}
