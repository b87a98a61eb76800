import { parentOf } from '../../engine/read/work-tree.ts'
import type { Planning } from '../../engine/write/plan.ts'
import { linkIdNow } from '../../engine/write/record.ts'
import { defineVerb, reading } from '../../engine/write/verb.ts'
import { ref } from '../../model/args.ts'
import { type Entity, LINK_KIND, provenanceOf } from '../../model/entity.ts'
import { choice, type Json, text } from '../../model/field.ts'
import { relationship } from '../../model/kinds/relationship.ts'
import { didYouMean } from '../../model/names.ts'
import type { Registry } from '../../model/registry.ts'
import type { Relation } from '../../model/relation.ts'
import type { Change, Report } from '../../model/validate.ts'
import { isWork } from '../../model/work-kinds.ts'
import { brief, REASON, REF, settleSupersession } from './common.ts'

/** A relation by its name; `uses_this` and `Uses This` mean `uses-this`. */
export const relationOf = (registry: Registry, name: string): Relation | undefined =>
  registry.relation(name) ?? registry.relation(name.trim().toLowerCase().replace(/[_ ]+/g, '-'))

const TYPE = reading(text('the relation, see (relations)', { required: true }), (p, type, field, report) => {
  const relation = relationOf(p.registry(), type)
  if (relation) return relation
  const relations = p.registry().relations()
  const names = relations.map((r) => r.name)
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
      p.links('src', id).flatMap((l) => (l.rel === relation.name ? l.dst : [])),
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
  // the word of others becomes ours; what takes the place of something has a yes of its own
  if (!fresh && relation.name !== 'supersedes' && !p.view.endorsed(id)) p.set(id, 'type', undefined)
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

export const unlinkEntities = defineVerb({
  name: 'unlink-entities',
  about: 'takes a link away; its history stays',
  args: {
    type: text('the relation', { required: true }),
    from: ref('where it starts', { required: true }),
    to: ref('where it ends', { required: true }),
    reason: REASON,
    description: linkEntities.args.description,
    confidence: linkEntities.args.confidence,
  },
  example: { from: 'plan-then-apply', to: 'use-sqlite', type: 'supports' },
  plan(p, { type, from, to, reason }, report) {
    const relation = relationOf(p.registry(), type)
    const [src, dst] = relation?.symmetric && to.id < from.id ? [to, from] : [from, to]
    const id = linkIdNow(p, src.id, relation?.name ?? type, dst.id)
    if (!p.entity(id)?.live) {
      const there = [...p.links('src', from.id), ...p.links('dst', from.id)].map((l) => `${l.src} ${l.rel} ${l.dst}`)
      return report({
        field: 'type',
        message: `there is no ${type} from ${from.id} to ${to.id}`,
        received: type,
        accepted: there.length > 0 ? there.slice(0, 5).join('; ') : 'it has no links',
      })
    }
    p.remove(id, reason)
    settleSupersession(p, id)
    return { id, kind: LINK_KIND, from: src.id, to: dst.id, type: relation?.name ?? type }
  },
})

export const supersede = defineVerb({
  name: 'supersede',
  about: 'puts a newer entity in the place of an older one; unlink-entities takes it back',
  args: {
    old: ref('what no longer holds', { required: true }),
    new: ref('what takes its place', { required: true }),
    reason: REASON,
  },
  example: { old: 'use-json-files', new: 'use-sqlite', reason: 'two sessions lost writes' },
  plan(p, { old, new: next, reason }, report) {
    const linked = link(p, next, 'supersedes', old, { description: reason }, report)
    if (!linked) return undefined
    p.sign(linked.id)
    p.sign(old.id, { ends: true })
    return { ...brief(next), old: old.id, link: linked.id }
  },
})

/** What was done and what came of it belong to their task; what a work tree is made of has its place in it. */
const NOT_LIFTED = ['action-note', 'result']

const find = (p: Planning) => (ref: string, kind: string) => p.resolve(ref, kind, undefined, { kind })

/** An activity, else a goal; one called so in another kind does not hide it. */
const TO = reading(ref('an activity or a goal (those of the tasks it was recorded in)'), (p, given, field, report) => {
  const kinds = ['activity', 'goal']
  for (const kind of kinds) {
    const found = p.resolve(given, field, undefined, { kind })
    if (found) return found
  }
  const other = p.resolve(given, field, report, { kinds })
  if (other)
    report({ field, message: `${other.id} is a ${other.kind}`, received: other.id, accepted: 'an activity or a goal' })
  return undefined
})

export const lift = defineVerb({
  name: 'lift',
  about:
    'shows something at its activity and goal: recall counts it there as if it had been recorded there; unlink-entities takes it back',
  args: { ref: REF, to: TO },
  example: { ref: 'use-sqlite', to: 'token handling' },
  plan(p, { ref: target, to: named }, report) {
    if (NOT_LIFTED.includes(target.kind) || isWork(target.kind) || p.registry().kind(target.kind)?.internal)
      return report({
        field: 'ref',
        message: `${target.kind} is a kind that is not lifted`,
        received: target.id,
        accepted: 'what holds beyond its task: a decision, a learning, a fact …',
      })
    const places = named ? withGoal(p, named) : recordedAt(p, target)
    if (places.length === 0)
      return report({
        field: 'to',
        message: `"${target.name}" was recorded in no activity and no goal`,
        received: null,
        accepted: 'an activity or a goal',
      })
    for (const place of places)
      if (!link(p, target, 'lifted-to', place, { standing: 'confirmed' }, report)) return undefined
    return { ...brief(target), to: places.map((e) => e.id) }
  },
})

function withGoal(p: Planning, place: Entity): Entity[] {
  const goal = parentOf(place, find(p))
  return goal ? [place, goal] : [place]
}

/** The activities and goals of what the provenance names, each once; the session's current ones where it names nothing. */
function recordedAt(p: Planning, e: Entity): Entity[] {
  const named = provenanceOf(e).map((item) => item.task ?? item.activity ?? item.goal)
  const { task, activity, goal } = p.place()
  const ids = named.some((id) => typeof id === 'string') ? named : [task ?? activity ?? goal]
  const found = new Map<string, Entity>()
  for (const id of ids) {
    const at = typeof id === 'string' ? p.entity(id) : undefined
    if (!at || !isWork(at.kind)) continue
    const places =
      at.kind === 'task' ? [parentOf(at, find(p))].flatMap((up) => (up ? withGoal(p, up) : [])) : withGoal(p, at)
    for (const place of places) if (place.live) found.set(place.id, place)
  }
  return [...found.values()]
}
