import type { Entity } from '../memory/entity.ts'
import type { Planning } from '../memory/plan.ts'
import { fieldsOf } from '../schema/kind.ts'
import type { Registry } from '../schema/registry.ts'
import type { Relation } from '../schema/relation.ts'
import type { Report } from '../schema/validate.ts'

/** A relation by its name; `uses_this` and `Uses This` mean `uses-this`. */
export const relationOf = (registry: Registry, name: string): Relation | undefined =>
  registry.relation(name) ?? registry.relation(name.trim().toLowerCase().replace(/[_ ]+/g, '-'))

export const brief = (e: Entity) => ({ id: e.id, kind: e.kind, name: e.name })

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
