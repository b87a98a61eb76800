import { keptIn } from '../../base/lookup.ts'
import { KIND_KIND, kindOf, LINK_KIND } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import type { Registry } from '../../model/registry.ts'
import { type Db, stored } from '../store/db.ts'
import { isTombstone } from '../store/line.ts'
import { getRow } from '../store/rows.ts'

/** The ends of a link, as far as they are known. */
export type Ends = (link: string) => { readonly from?: Json | undefined; readonly to?: Json | undefined }

/** Whether an entity may leave this machine: its kind declares it, and a link goes where both of its ends go. */
export function travelsFrom(
  db: Db,
  registry: Registry,
  ends: Ends = (link) => stored<{ from?: Json; to?: Json }>(getRow(db, link)?.body ?? '{}'),
): (id: string) => boolean {
  const known = new Map<string, boolean>()
  const ofKind = (kind: string) => {
    const declared = registry.kind(kind)
    // a kind of the project that was deleted; one that nobody here knows may be anything
    return declared ? declared.travels === 'project' : getRow(db, `${KIND_KIND}:${kind}`) !== undefined
  }
  const judge = (id: string): boolean => {
    if (kindOf(id) !== LINK_KIND) return ofKind(kindOf(id))
    if (isTombstone(id)) return true
    const { from, to } = ends(id)
    return [from, to].every((end) => typeof end === 'string' && kindOf(end) !== LINK_KIND && ofKind(kindOf(end)))
  }
  return (id) => keptIn(known, id, () => judge(id))
}
