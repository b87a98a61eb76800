import type { Reader } from '../../engine/read/reader.ts'
import { canonical } from '../../model/canonical.ts'
import { type Entity, isAgreed, LINK_KIND } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { stateOf } from '../recall/validity.ts'

/** What became of an entity between two moments, in the order in which it is told. */
export const CHANGES = ['added', 'changed', 'superseded', 'retracted'] as const
export type Change = (typeof CHANGES)[number]

export interface Changed {
  readonly change: Change
  /** As it is at the later moment. */
  readonly entity: Entity
  readonly why: string | undefined
  readonly by: Entity | undefined
  /** Of what changed: the field, what it said, and what it says. */
  readonly fields: readonly { readonly field: string; readonly was: Json | undefined; readonly is: Json | undefined }[]
}

/** One moment: the reader of it. */
export type At = { readonly reader: Reader; readonly now: number }

/** Fields that say how something came about, not what it says. */
const BESIDE = new Set(['provenance', 'standing', 'retired', 'status'])

const same = (a: Json | undefined, b: Json | undefined) =>
  a === b || (a !== undefined && b !== undefined && canonical(a) === canonical(b))

const reasonOf = ({ fields }: Entity): string | undefined =>
  [fields.rationale, fields.justification, fields.lesson, fields.outcome].find((v) => typeof v === 'string')

/** What became of one entity. `gone` says why it was deleted. */
export function differenceOf(id: string, before: At, after: At, gone: (id: string) => string | undefined) {
  const [was, is] = [before.reader.entity(id), after.reader.entity(id)]
  if (!is || is.kind === LINK_KIND || after.reader.registry().kind(is.kind)?.internal) return undefined
  const counted = (e: Entity | undefined, { reader, now }: At) => {
    const state = e && stateOf(e, reader, now)
    return { there: e !== undefined && state !== 'deleted' && state !== 'rejected' && state !== 'retired', state }
  }
  const [then, now] = [counted(was, before), counted(is, after)]
  const as = (change: Change, why?: string, more: Partial<Changed> = {}): Changed => {
    return { change, entity: is, why, by: undefined, fields: [], ...more }
  }
  if (then.there && !now.there)
    return as('retracted', typeof is.fields.retired === 'string' ? is.fields.retired : gone(id))
  if (!now.there) return undefined
  if (now.state === 'superseded' && then.state !== 'superseded') {
    const link = after.reader.links('to', id).find((l) => l.type === 'supersedes' && isAgreed(l.entity))
    const by = link && after.reader.entity(link.from)
    const said = link?.entity.fields.description
    return as('superseded', typeof said === 'string' ? said : by && reasonOf(by), { by })
  }
  if (!then.there) return as('added', reasonOf(is))
  const fields = [...new Set([...Object.keys(was!.fields), ...Object.keys(is.fields)])]
    .filter((field) => !BESIDE.has(field) && !same(was!.fields[field], is.fields[field]))
    .map((field) => ({ field, was: was!.fields[field], is: is.fields[field] }))
  return fields.length > 0 ? as('changed', undefined, { fields }) : undefined
}
