import { compareStamps, seen } from '../log/cells.ts'
import { type Entity, LINK_KIND } from '../model/entity.ts'
import { fieldsOf } from '../model/kind.ts'
import type { Registry } from '../model/registry.ts'
import type { Relation } from '../model/relation.ts'
import type { Report } from '../model/validate.ts'
import type { Planning } from '../write/plan-types.ts'

/** A relation by its name; `uses_this` and `Uses This` mean `uses-this`. */
export const relationOf = (registry: Registry, name: string): Relation | undefined =>
  registry.relation(name) ?? registry.relation(name.trim().toLowerCase().replace(/[_ ]+/g, '-'))

export const brief = (e: Entity) => ({ id: e.id, kind: e.kind, name: e.name })

/** What a verb is about: by `ref`, or by `name`, which means the same. */
export const aboutOf = (
  p: Planning,
  { ref, name }: Readonly<Record<string, unknown>>,
  report: Report,
): Entity | undefined => p.resolve(ref ?? name, ref === undefined && name !== undefined ? 'name' : 'ref', report)

/** Reports that a kind lacks the field a verb writes. */
export function needsField(p: Planning, e: Entity, field: string, report: Report): boolean {
  const kind = p.registry().kind(e.kind)
  if (kind && Object.hasOwn(fieldsOf(kind), field)) return true
  report({
    field: 'ref',
    message: `a ${e.kind} has no ${field}`,
    received: e.id,
    hint: 'attrs take structure of your own',
  })
  return false
}

/**
 * Brings the status of what a supersession speaks of in line with its links: superseded while one that somebody
 * stands by is there, else what it was before. Does nothing for other links and for kinds without such a status.
 */
export function settleSupersession(p: Planning, linkId: string): void {
  const link = p.entity(linkId)
  if (link?.kind !== LINK_KIND || link.fields.type !== 'supersedes') return
  const id = String(link.fields.to)
  const old = p.entity(id)
  if (!old || !p.registry().kind(old.kind)?.fields.status?.choices?.includes('superseded')) return
  const stands = p
    .links('dst', id)
    .some((l) => l.rel === 'supersedes' && (p.entity(l.id)?.fields.standing ?? 'confirmed') === 'confirmed')
  if (stands) p.set(id, 'status', 'superseded')
  else if (old.fields.status === 'superseded') {
    const [cell] = seen(p.cells(id), 'status').sort((a, b) => compareStamps(b.stamp, a.stamp))
    const written = [...p.view.eventsOf(id).map((e) => e.event), ...p.events()]
    p.set(id, 'status', written.find((e) => cell && compareStamps(e.stamp, cell.stamp) === 0)?.was)
  }
}
