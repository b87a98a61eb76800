import type { Entity } from '../model/entity.ts'
import type { Db } from '../store/db.ts'
import { eventsOf } from '../store/log.ts'

/** Where the log first speaks of an entity, as text that sorts. */
const placeOf = (db: Db, id: string): string =>
  (eventsOf(db, id)[0]?.id ?? '')
    .split(':')
    .map((part) => part.padStart(12, '0'))
    .join(':')

/** Oldest first. Those of one batch stand in the order of the batch. */
export function oldestFirst(db: Db, entities: readonly Entity[]): Entity[] {
  const places = new Map<string, string>()
  const place = ({ id }: Entity): string => {
    if (!places.has(id)) places.set(id, placeOf(db, id))
    return places.get(id)!
  }
  return entities.toSorted((a, b) => a.created - b.created || (place(a) < place(b) ? -1 : 1))
}
