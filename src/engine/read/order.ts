import type { Entity } from '../../model/entity.ts'
import type { Db } from '../store/db.ts'
import { beginningsOf } from '../store/log.ts'

/** Oldest first. Those of one batch stand in the order of the batch. */
export function oldestFirst(db: Db, entities: readonly Entity[]): Entity[] {
  const together = [...Map.groupBy(entities, (e) => e.created).values()].filter((all) => all.length > 1).flat()
  const ids = together.map((e) => e.id)
  const places = new Map(beginningsOf(db, ids).map(({ entity, ...place }) => [entity, place]))
  const byPlace = (a: Entity, b: Entity): number => {
    const [one, other] = [places.get(a.id), places.get(b.id)]
    if (!one || !other) return (one ? 1 : 0) - (other ? 1 : 0)
    return (
      (one.replica < other.replica ? -1 : one.replica > other.replica ? 1 : 0) || one.seq - other.seq || one.i - other.i
    )
  }
  return entities.toSorted((a, b) => a.created - b.created || byPlace(a, b))
}
