import { defineVerb } from '../../engine/write/verb.ts'
import { ref } from '../../model/args.ts'
import { brief } from './common.ts'
import { layTask, pathOf, reopen, TASK_ARGS } from './work.ts'

export const startTask = defineVerb({
  name: 'start-task',
  about:
    "makes a task the session's current one: what it records from then on is of that task. A new one, or with ref one that is there",
  args: { ...TASK_ARGS, ref: ref('a task that is there, instead of a new one', { kind: 'task', also: ['id'] }) },
  example: { description: 'refresh tokens before they expire', activity: 'token handling' },
  plan(p, { ref: task, ...said }, report) {
    if (!task) {
      const made = layTask(p, said, report)
      if (made) p.workOn(pathOf(p, made.id))
      return made
    }
    for (const field of Object.keys(said))
      report({ field, message: 'is for a new task', accepted: 'ref alone, to start a task that is there' })
    reopen(p, task.id)
    p.workOn(pathOf(p, task.id))
    return { ...brief(task), created: false }
  },
})
