import { type Entity, type Link, standingOf } from '../model/entity.ts'
import type { Json } from '../model/field.ts'
import { momentOf, type Reader } from '../read/reader.ts'

/** Why something is not told unless it is asked for. */
export type State = 'deleted' | 'rejected' | 'proposed' | 'retired' | 'superseded' | 'not yet valid' | 'no longer valid'

const DAY = /^\d{4}-\d{2}-\d{2}$/

/** The first ms of what a time field says; a day begins at midnight UTC. */
const beginOf = (v: Json | undefined): number | undefined => (typeof v === 'string' ? timed(Date.parse(v)) : undefined)
/** The last ms of it; a day lasts until its end. */
const endOf = (v: Json | undefined): number | undefined =>
  typeof v !== 'string' ? undefined : DAY.test(v) ? momentOf(v) : timed(Date.parse(v))
const timed = (ms: number) => (Number.isNaN(ms) ? undefined : ms)

/**
 * What keeps an entity out of default recall, if anything: gone, not agreed to, taken out, replaced, or not true in the
 * world at `validAt`. As of a moment, give the reader of that moment.
 */
export function stateOf(e: Entity, reader: Reader, validAt: number): State | undefined {
  if (!e.live) return 'deleted'
  const standing = standingOf(e.fields)
  if (standing === 'rejected' || standing === 'proposed') return standing
  if (e.fields.retired !== undefined) return 'retired'
  if (e.fields.status === 'superseded' || isReplaced(e.id, reader)) return 'superseded'
  if (validAt < (beginOf(e.fields.validFrom) ?? -Infinity)) return 'not yet valid'
  if (validAt > (endOf(e.fields.validTo) ?? Infinity)) return 'no longer valid'
  return undefined
}

/** Whether somebody stands by a link: not proposed, rejected or taken out. */
export const stands = (link: Link): boolean =>
  standingOf(link.entity.fields) === 'confirmed' && link.entity.fields.retired === undefined

/** Whether something says that it takes its place; kinds without a status know no other sign. */
const isReplaced = (id: string, reader: Reader): boolean =>
  reader.links('to', id).some((l) => l.type === 'supersedes' && stands(l))
