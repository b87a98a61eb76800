import { defineVerb } from '../../engine/write/verb.ts'
import { text } from '../../model/field.ts'
import { brief } from './common.ts'
import { releaseTask, workRef } from './work.ts'

export const abandon = defineVerb({
  name: 'abandon',
  about: 'gives up a goal, an activity or a task, and says why; starting it again opens it',
  args: { ref: workRef({ required: true }), reason: text('why', { required: true, also: ['why'] }) },
  example: { ref: 'refresh tokens before they expire', reason: 'the provider does it' },
  plan(p, { ref: target, reason }) {
    const changed = p.set(target.id, 'state', 'abandoned')
    if (p.set(target.id, 'abandonReason', reason) || changed) p.sign(target.id)
    releaseTask(p, target)
    return { ...brief(target), state: 'abandoned' }
  },
})
