import type { Verb } from '../write/verb.ts'
import { brief } from './common.ts'
import { layTask, pathOf, reopen, TASK_ARGS } from './work.ts'

export const startTask: Verb = {
  verb: 'start-task',
  about:
    "makes a task the session's current one: what it records from then on is of that task. A new one, or with ref one that is there",
  args: { description: 'text? (or ref)', ref: 'reference? (a task that is there)', ...TASK_ARGS },
  example: { description: 'refresh tokens before they expire', activity: 'token handling' },
  plan(p, args, report, run) {
    if (args.ref === undefined) {
      const made = layTask(p, args, report, run)
      if (made) p.workOn(pathOf(p, made.id))
      return made
    }
    for (const field of Object.keys(args).filter((k) => k !== 'ref' && k !== 'expectedVersion'))
      report({ field, message: 'is for a new task', accepted: 'ref alone, to start a task that is there' })
    const task = p.resolve(args.ref, 'ref', report, { kind: 'task' })
    if (!task) return undefined
    reopen(p, task.id)
    p.workOn(pathOf(p, task.id))
    return { ...brief(task), created: false }
  },
}
