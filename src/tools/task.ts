import { UsageError } from '../errors.ts'
import type { Json } from '../model/field.ts'
import { oneLine } from './format.ts'
import { actingAs, type Output, type Tool, type ToolContext } from './tool.ts'
import { findWork, idOf, oneOf, references, workTool } from './work.ts'

const worked = workTool({
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
    const blockedBy = references(reader, args['blocked-by'])
    return {
      activity: idOf(reader, 'activity', args.activity),
      goal: idOf(reader, 'goal', args.goal),
      blockedBy: blockedBy.length > 0 ? blockedBy.map((ref) => findWork(reader, 'task', ref).id) : undefined,
      discoveredFrom: oneOf(args['discovered-from']),
    }
  },
})

/** Gives a task to another session. */
function assign(context: ToolContext, args: Readonly<Record<string, unknown>>): Output {
  const text = oneOf(args.text) ?? oneOf(args.ref)
  if (text === undefined) throw new UsageError('the task is missing', '`tidemark task assign REF --role implementer`')
  const { id } = findWork(context.memory.reader, 'task', text)
  const said = { task: id, role: oneOf(args.role), to: oneOf(args.to) }
  const done = context.memory.act([['assign-task', said]], actingAs(context))
  const r = done.results[0]!
  return {
    text: [`task "${oneLine(String(r.name), 80)}" is ${r.to}'s`, ...done.notes.map((n) => `note: ${n}`)].join('\n'),
    json: r as unknown as Json,
  }
}

export const task: Tool = {
  ...worked,
  params: {
    ...worked.params,
    do: {
      ...worked.params.do!,
      about: `${worked.params.do!.about}; assign: gives it to a free session, which has no open task`,
      choices: [...(worked.params.do!.choices ?? []), 'assign'],
    },
    role: { type: 'text', about: 'assign: a free session of this role first' },
    to: { type: 'text', about: 'assign: this session' },
  },
  run: (context, args) => (args.do === 'assign' ? assign(context, args) : worked.run(context, args)),
}
