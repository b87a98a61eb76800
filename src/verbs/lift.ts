import type { Entity } from '../model/entity.ts'
import type { Report } from '../model/validate.ts'
import { isWork } from '../model/work-kinds.ts'
import { parentOf } from '../read/work-tree.ts'
import type { Planning } from '../write/plan-types.ts'
import type { Verb } from '../write/verb.ts'
import { brief } from './common.ts'
import { linkEntities } from './link-entities.ts'

/** What was done and what came of it belong to their task; what a work tree is made of has its place in it. */
const NOT_LIFTED = ['action-note', 'result']

export const lift: Verb = {
  verb: 'lift',
  about:
    'shows something at its activity and goal: recall counts it there as if it had been recorded there; unlink-entities takes it back',
  args: { ref: 'reference', to: 'reference? (an activity or a goal; those of the tasks it was recorded in)' },
  example: { ref: 'use-sqlite', to: 'token handling' },
  plan(p, args, report, run) {
    const target = p.resolve(args.ref, 'ref', report)
    if (
      target &&
      (NOT_LIFTED.includes(target.kind) || isWork(target.kind) || p.registry().kind(target.kind)?.internal)
    ) {
      report({
        field: 'ref',
        message: `${target.kind} is a kind that is not lifted`,
        received: target.id,
        accepted: 'what holds beyond its task: a decision, a learning, a fact …',
      })
      return undefined
    }
    const named = args.to === undefined ? undefined : whereTo(p, args.to, report)
    if (!target || (args.to !== undefined && !named)) return undefined
    const places = named ? withGoal(p, named) : recordedAt(p, target)
    if (places.length === 0) {
      report({
        field: 'to',
        message: `"${target.name}" was recorded in no activity and no goal`,
        received: null,
        accepted: 'an activity or a goal',
      })
      return undefined
    }
    for (const place of places) {
      const link = { from: target.id, to: place.id, type: 'lifted-to', standing: 'confirmed' }
      if (!linkEntities.plan(p, link, report, run)) return undefined
    }
    return { ...brief(target), to: places.map((e) => e.id) }
  },
}

const find = (p: Planning) => (ref: string, kind: string) => p.resolve(ref, kind, undefined, { kind })

/** An activity, else a goal; one called so in another kind does not hide it. */
function whereTo(p: Planning, ref: unknown, report: Report): Entity | undefined {
  for (const kind of ['activity', 'goal']) {
    const found = p.resolve(ref, 'to', undefined, { kind })
    if (found) return found
  }
  const other = p.resolve(ref, 'to', report)
  if (other)
    report({
      field: 'to',
      message: `${other.id} is a ${other.kind}`,
      received: other.id,
      accepted: 'an activity or a goal',
    })
  return undefined
}

function withGoal(p: Planning, place: Entity): Entity[] {
  const goal = parentOf(place, find(p))
  return goal ? [place, goal] : [place]
}

/** The activities and goals of what the provenance names, each once; the session's current ones where it names nothing. */
function recordedAt(p: Planning, e: Entity): Entity[] {
  const provenance = Array.isArray(e.fields.provenance) ? e.fields.provenance : []
  const named = provenance.flatMap((item) =>
    typeof item === 'object' && item !== null && !Array.isArray(item) ? [item.task ?? item.activity ?? item.goal] : [],
  )
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
