import type { Verb } from '../write/verb.ts'
import { layTask, TASK_ARGS } from './work.ts'

export const addTask: Verb = {
  verb: 'add-task',
  about: 'puts a task into the work tree for later; the current one stays',
  args: { description: 'text', ...TASK_ARGS },
  example: { description: 'rotate the signing keys', blockedBy: ['refresh tokens before they expire'] },
  plan: layTask,
}
