import { idOf, oneOf, workTool } from './work.ts'

export const activity = workTool({
  kind: 'activity',
  about: 'starts, completes, abandons or lists activities: areas of work within a goal',
  example: 'tidemark activity start token handling --goal "Add OAuth login" --component auth',
  params: {
    goal: { type: 'text', about: "start: the goal it belongs to (the session's current one)" },
    mode: { type: 'text', about: 'start: how the work is done: explore, build, review …' },
    component: { type: 'text', about: 'start: the part of the system' },
  },
  startArgs(args, reader) {
    return { goal: idOf(reader, 'goal', args.goal), mode: oneOf(args.mode), component: oneOf(args.component) }
  },
})
