import { defineVerb } from '../../engine/write/verb.ts'
import { flag, text } from '../../model/field.ts'
import { brief } from './common.ts'
import { currentTask, openTasksBelow, releaseTask, workRef } from './work.ts'

const NAMED_AT_MOST = 10

export const complete = defineVerb({
  name: 'complete',
  about: 'says that a goal, an activity or a task is done, and what came of it',
  args: { ref: workRef(), result: text('what came of it'), force: flag('although tasks below it are open') },
  example: { ref: 'refresh tokens before they expire', result: 'refreshed a minute ahead' },
  plan(p, { ref, result, force }, report) {
    const target = ref ?? currentTask(p, report)
    if (!target) return undefined
    const open = force ? [] : openTasksBelow(p, target)
    if (open.length > 0) {
      const names = open.slice(0, NAMED_AT_MOST).map((t) => `"${t.name}" (${t.id})`)
      if (open.length > names.length) names.push(`${open.length - names.length} more`)
      return report({
        field: 'ref',
        message: `${open.length === 1 ? 'a task is' : `${open.length} tasks are`} open: ${names.join(', ')}`,
        received: target.id,
        hint: 'complete or abandon them first, or give "force": true to leave them open',
      })
    }
    if (target.fields.state === 'abandoned') p.note(`"${target.name}" was abandoned; it is complete now`)
    let changed = p.set(target.id, 'state', 'complete')
    if (result !== undefined) changed = p.set(target.id, 'result', result) || changed
    changed = p.set(target.id, 'abandonReason', undefined) || changed
    if (changed) p.sign(target.id)
    releaseTask(p, target)
    return { ...brief(target), state: 'complete' }
  },
})
