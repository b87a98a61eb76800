import { defineVerb } from '../../engine/write/verb.ts'
import { turnDown } from './answer-others.ts'
import { brief, REASON, REF_EVEN_DELETED, settleSupersession } from './common.ts'

export const reject = defineVerb({
  name: 'reject',
  about: 'turns down a proposal, which is not proposed again, or what others want to change',
  args: { ref: REF_EVEN_DELETED, reason: REASON },
  example: { ref: 'fact:use-pnpm-for-installs', reason: 'we use npm' },
  plan(p, { ref: target, reason }, report, run) {
    const waiting = p.view.waitingAt(target.id)
    const asked = p.view.askedOf(target.id).length > 0
    if (asked) p.decide(target.id)
    for (const held of waiting) turnDown(p, held, report, run)
    if (asked || waiting.length > 0) return brief(target)
    if (target.fields.standing !== 'proposed' && target.fields.standing !== 'rejected')
      return report({
        field: 'ref',
        message: 'is no proposal',
        received: target.id,
        hint: 'retire takes out what was agreed to',
      })
    if (p.set(target.id, 'standing', 'rejected')) p.sign(target.id)
    if (reason !== undefined)
      p.apply(target.id, [{ field: 'attrs', op: 'merge', put: [[['rejected-because'], reason]], drop: [] }])
    settleSupersession(p, target.id)
    return { ...brief(target), standing: 'rejected' }
  },
})
