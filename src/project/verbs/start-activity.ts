import { defineVerb } from '../../engine/write/verb.ts'
import { ref } from '../../model/args.ts'
import { activity } from '../../model/kinds/activity.ts'
import { DESCRIBED, goalFor, LABELS, pathOf, recordWork } from './work.ts'

const { description, mode, component } = activity.fields

export const startActivity = defineVerb({
  name: 'start-activity',
  about: "opens an area of work within a goal and makes it the session's current one",
  args: {
    description: { ...description, ...DESCRIBED, required: true },
    goal: ref("the goal it belongs to (the session's current one)", { kind: 'goal' }),
    mode,
    component,
    ...LABELS,
  },
  example: { description: 'token handling', component: 'auth' },
  plan(p, { goal, ...said }, report) {
    const above = goalFor(p, goal)
    const made = recordWork(p, 'activity', { ...said, ...above }, report)
    if (!made) return undefined
    p.workOn(pathOf(p, made.id))
    return { ...made, ...above }
  },
})
