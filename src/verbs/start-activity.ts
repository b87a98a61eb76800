import type { Verb } from '../write/verb.ts'
import { goalFor, LABEL_ARGS, pathOf, recordWork } from './work.ts'

export const startActivity: Verb = {
  verb: 'start-activity',
  about: "opens an area of work within a goal and makes it the session's current one",
  args: {
    description: 'text',
    goal: "reference? (the session's current one)",
    mode: 'text?',
    component: 'text?',
    ...LABEL_ARGS,
  },
  example: { description: 'token handling', component: 'auth' },
  plan(p, args, report) {
    const above = goalFor(p, args, report)
    const made = recordWork(p, 'activity', args, ['description', 'mode', 'component'], above, report)
    if (!made) return undefined
    p.workOn(pathOf(p, made.id))
    return { ...made, ...above }
  },
}
