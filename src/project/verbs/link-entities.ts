import type { Planning } from '../../engine/write/plan.ts'
import { linkIdNow } from '../../engine/write/record.ts'
import { defineVerb, reading } from '../../engine/write/verb.ts'
import { ref } from '../../model/args.ts'
import { type Entity, LINK_KIND } from '../../model/entity.ts'
import { choice, type Json, text } from '../../model/field.ts'
import { relationship } from '../../model/kinds/relationship.ts'
import { didYouMean } from '../../model/names.ts'
import type { Registry } from '../../model/registry.ts'
import type { Relation } from '../../model/relation.ts'
import type { Change, Report } from '../../model/validate.ts'
import { settleSupersession } from './common.ts'

/** A relation by its name; `uses_this` and `Uses This` mean `uses-this`. */
export const relationOf = (registry: Registry, name: string): Relation | undefined =>
  registry.relation(name) ?? registry.relation(name.trim().toLowerCase().replace(/[_ ]+/g, '-'))

const TYPE = reading(text('the relation, see (relations)', { required: true }), (p, type, field, report) => {
  const relation = relationOf(p.registry(), type)
  if (relation) return relation
  const names = p
    .registry()
    .relations()
    .map((r) => r.name)
  return report({
    field,
    message: `no relation "${type.slice(0, 80)}"`,
    received: type.slice(0, 80),
    accepted: didYouMean(type, names, names.join(', ')),
    hint: 'define-relation adds one of your own',
  })
})

export const linkEntities = defineVerb({
  name: 'link-entities',
  about: 'makes a typed link between two entities, or updates the one that is there',
  args: {
    type: TYPE,
    from: ref('where it starts', { required: true }),
    to: ref('where it ends', { required: true }),
    description: { ...relationship.fields.description, also: ['title', 'name', 'text'] },
    confidence: relationship.fields.confidence,
    standing: choice(['proposed', 'confirmed'], 'whether somebody has agreed to it'),
  },
  example: { from: 'plan-then-apply', to: 'use-sqlite', type: 'supports' },
  plan: (p, { from, to, type, ...more }, report) => link(p, from, type.name, to, more, report),
})

/** Makes a link, or updates the one that is there. */
export function link(
  p: Planning,
  from: Entity,
  type: string,
  to: Entity,
  more: { readonly [field: string]: Json | undefined },
  report: Report,
) {
  const relation = p.registry().relation(type)!
  if (from.id === to.id) return report({ field: 'to', message: 'an entity is not linked to itself', received: to.id })
  const [src, dst] = relation.symmetric && to.id < from.id ? [to, from] : [from, to]
  if (relation.acyclic) {
    const path = pathBetween(dst.id, src.id, (id) =>
      p
        .links('src', id)
        .filter((l) => l.rel === relation.name)
        .map((l) => l.dst),
    )
    if (path)
      return report({
        field: 'type',
        message: `closes a cycle of ${relation.name}`,
        received: `${src.id} → ${dst.id}`,
        accepted: 'a link that closes no cycle',
        hint: `there is ${path.join(' → ')}`,
      })
  }
  const id = linkIdNow(p, src.id, relation.name, dst.id)
  const before = p.entity(id)
  const fresh = !before?.live
  if (before && !before.live) p.wipe(id)
  if (fresh) p.create(id)
  const changes: Change[] = [
    { field: 'from', op: 'set', value: src.id },
    { field: 'to', op: 'set', value: dst.id },
    { field: 'type', op: 'set', value: relation.name },
  ]
  for (const [field, value] of Object.entries(more)) if (value !== undefined) changes.push({ field, op: 'set', value })
  if (p.apply(id, changes) || fresh) p.sign(id)
  settleSupersession(p, id)
  if (
    relation.name === 'constrains' &&
    fresh &&
    p.links('src', dst.id).some((l) => l.rel === 'constrains' && l.dst === src.id)
  )
    p.note(
      `each of the two constrains the other: ${src.id} and ${dst.id} may conflict; if so: ["link-entities", {"from": "${src.id}", "to": "${dst.id}", "type": "conflicts-with"}]`,
    )
  if (p.entity(id)!.fields.standing === 'rejected')
    p.note(`this link was rejected and stays hidden; a person takes that back with \`tidemark confirm ${id}\``)
  return { id, kind: LINK_KIND, from: src.id, to: dst.id, type: relation.name, created: fresh }
}

/** A path along `next` from one id to another, both included; cycles that a merge has made are walked once. */
function pathBetween(from: string, to: string, next: (id: string) => string[]): string[] | undefined {
  const came = new Map<string, string | undefined>([[from, undefined]])
  const queue = [from]
  for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
    if (id === to) {
      const path: string[] = []
      for (let at: string | undefined = id; at !== undefined; at = came.get(at)) path.unshift(at)
      return path
    }
    for (const n of next(id)) {
      if (came.has(n)) continue
      came.set(n, id)
      queue.push(n)
    }
  }
  return undefined
}
