import { UsageError } from '../../base/errors.ts'
import { assignTask } from '../../project/verbs/claims.ts'
import { abandon, addTask, complete, startTask } from '../../project/verbs/work.ts'
import { findWork, oneLine, oneOf } from './format.ts'
import { actingAs, type Output, type Tool, type ToolContext, written } from './tool.ts'
import { argsFor, paramOf } from './verb-params.ts'
import { workTool } from './work.ts'

const worked = workTool({
  kind: 'task',
  about:
    "starts, adds, completes, abandons or lists tasks: atomic pieces of work. The started one is the session's current task: what it records carries it",
  example: 'tidemark task start refresh tokens before they expire --session s1',
  verbs: { start: startTask, add: addTask, complete, abandon },
})

/** Gives a task to another session. */
function assign(context: ToolContext, args: Readonly<Record<string, unknown>>): Output {
  const text = oneOf(args.text) ?? oneOf(args.ref)
  if (text === undefined) throw new UsageError('the task is missing', '`tidemark task assign REF --role implementer`')
  const { reader } = context.memory
  const task = findWork(reader, 'task', text).id
  const done = context.memory.act(
    [['assign-task', { ...argsFor(assignTask.args, reader, args), task }]],
    actingAs(context),
  )
  const r = done.results[0]!
  return written(done, [`task "${oneLine(String(r.name), 80)}" is ${r.to}'s`], r)
}

const { role, to } = assignTask.args
const { do: step } = worked.params

export const task: Tool = {
  ...worked,
  params: {
    ...worked.params,
    do: {
      ...step!,
      about: `${step!.about}; assign: gives it to a free session, which has no open task`,
      choices: [...(step!.choices ?? []), 'assign'],
    },
    role: paramOf(role, { about: `assign: ${role.about}` }),
    to: paramOf(to, { about: `assign: ${to.about}` }),
  },
  run: (context, args) => (args.do === 'assign' ? assign(context, args) : worked.run(context, args)),
}
