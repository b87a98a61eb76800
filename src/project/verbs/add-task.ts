import { defineVerb } from '../../engine/write/verb.ts'
import { layTask, TASK_ARGS } from './work.ts'

export const addTask = defineVerb({
  name: 'add-task',
  about: 'puts a task into the work tree for later; the current one stays',
  args: { ...TASK_ARGS, description: { ...TASK_ARGS.description, required: true } },
  example: { description: 'rotate the signing keys', blockedBy: ['refresh tokens before they expire'] },
  plan: layTask,
})
