import { idsOf, momentOf, type Reader } from '../../engine/read/reader.ts'
import { type Entity, standingOf } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'

/** Why something is not told unless it is asked for. */
export type State = 'deleted' | 'rejected' | 'proposed' | 'retired' | 'superseded' | 'not yet valid' | 'no longer valid'

/** Looked at for each that is asked for: some are left out. */
const SEARCHED = 4

const DAY = /^\d{4}-\d{2}-\d{2}$/

/** The first ms of what a time field says; a day begins at midnight UTC. */
const beginOf = (v: Json | undefined): number | undefined => (typeof v === 'string' ? timed(Date.parse(v)) : undefined)
/** The last ms of it; a day lasts until its end. */
const endOf = (v: Json | undefined): number | undefined =>
  typeof v !== 'string' ? undefined : DAY.test(v) ? momentOf(v) : timed(Date.parse(v))
const timed = (ms: number) => (Number.isNaN(ms) ? undefined : ms)

/** What keeps an entity out of default recall. `replaced` lets a caller look up many at once. */
export function stateOf(
  e: Entity,
  reader: Reader,
  validAt: number,
  replaced: (id: string) => boolean = (id) => reader.replaced([id]).has(id),
): State | undefined {
  if (!e.live) return 'deleted'
  const standing = standingOf(e.fields)
  if (standing === 'rejected') return standing
  if (e.fields.retired !== undefined) return 'retired'
  if (e.fields.status === 'superseded' || replaced(e.id)) return 'superseded'
  return standing === 'proposed' ? standing : outOfValidity(e, validAt)
}

/** The states of several, as `stateOf` has them. */
export function statesOf(entities: readonly Entity[], reader: Reader, validAt: number): Map<Entity, State | undefined> {
  const replaced = reader.replaced(entities.map((e) => e.id))
  return new Map(entities.map((e) => [e, stateOf(e, reader, validAt, (id) => replaced.has(id))]))
}

function outOfValidity({ fields }: Entity, at: number): 'not yet valid' | 'no longer valid' | undefined {
  if (at < (beginOf(fields.validFrom) ?? -Infinity)) return 'not yet valid'
  return at > (endOf(fields.validTo) ?? Infinity) ? 'no longer valid' : undefined
}

/** The same knowledge without what is not true in the world at a moment; a reference still finds it. */
export function readValidAt(reader: Reader, at: number): Reader {
  const holds = (e: Entity) => outOfValidity(e, at) === undefined
  const list: Reader['list'] = (kind, { limit, ...o } = {}) => reader.list(kind, o).filter(holds).slice(0, limit)
  return {
    ...reader,
    list,
    ids: (kinds, o = {}) => idsOf(kinds, o, list),
    search: (question, limit, kinds) =>
      reader
        .search(question, SEARCHED * limit, kinds)
        .filter(holds)
        .slice(0, limit),
    links: (end, id) =>
      reader.links(end, id).filter((l) => {
        const other = reader.entity(end === 'from' ? l.to : l.from)
        return holds(l.entity) && other !== undefined && holds(other)
      }),
    edges(end, ids, relations) {
      const edges = reader.edges(end, ids, relations)
      const others = edges.flatMap((l) => [l.id, end === 'from' ? l.to : l.from])
      const holding = new Set(reader.entities([...new Set(others)]).flatMap((e) => (holds(e) ? [e.id] : [])))
      return edges.filter((l) => holding.has(l.id) && holding.has(end === 'from' ? l.to : l.from))
    },
    replaced(ids) {
      // what takes its place later, or did so once, does not replace it at that moment
      const [known, holding] = [reader, this].map((r) => new Set(r.edges('to', ids, ['supersedes']).map((l) => l.to)))
      return new Set([...reader.replaced(ids)].filter((id) => holding!.has(id) || !known!.has(id)))
    },
  }
}
