import { parentOf } from '../../engine/read/work-tree.ts'
import type { Planning } from '../../engine/write/plan.ts'
import { defineVerb, reading } from '../../engine/write/verb.ts'
import { ref } from '../../model/args.ts'
import { type Entity, provenanceOf } from '../../model/entity.ts'
import { isWork } from '../../model/work-kinds.ts'
import { brief, REF } from './common.ts'
import { link } from './link-entities.ts'

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
