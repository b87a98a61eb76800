import { findWork, oneOf, references, workTool } from './work.ts'

export const task = workTool({
  kind: 'task',
  about:
    "starts, adds, completes, abandons or lists tasks: atomic pieces of work. The started one is the session's current task: what it records carries it",
  example: 'tidemark task start refresh tokens before they expire --session s1',
  adds: true,
  params: {
    ref: { type: 'text', about: 'start: a task that is there, instead of a new one' },
    activity: { type: 'text', about: "start, add: the activity it belongs to (the session's current one)" },
    goal: { type: 'text', about: 'start, add: the goal it belongs to, for one without an activity' },
    'blocked-by': { type: 'text', about: 'start, add: the tasks it waits for, with commas between them' },
    'discovered-from': { type: 'text', about: 'start, add: what it came up in' },
  },
  startArgs(args, reader) {
    const [activity, goal, from] = [oneOf(args.activity), oneOf(args.goal), oneOf(args['discovered-from'])]
    const blockedBy = references(reader, args['blocked-by'])
    return {
      ...(activity !== undefined ? { activity: findWork(reader, 'activity', activity).id } : {}),
      ...(goal !== undefined ? { goal: findWork(reader, 'goal', goal).id } : {}),
      ...(blockedBy.length > 0 ? { blockedBy: blockedBy.map((ref) => findWork(reader, 'task', ref).id) } : {}),
      ...(from !== undefined ? { discoveredFrom: from } : {}),
    }
  },
})
