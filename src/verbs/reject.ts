import { defineVerb } from '../write/verb.ts'
import { brief, REASON, REF, settleSupersession } from './common.ts'

export const reject = defineVerb({
  name: 'reject',
  about: 'turns a proposal down; the same content is not proposed again',
  args: { ref: REF, reason: REASON },
  example: { ref: 'fact:use-pnpm-for-installs', reason: 'we use npm' },
  plan(p, { ref: target, reason }, report) {
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
