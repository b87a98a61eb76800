import { textArg } from '../model/validate.ts'
import type { Verb } from '../write/verb.ts'
import { brief, settleSupersession } from './common.ts'

export const reject: Verb = {
  verb: 'reject',
  about: 'turns a proposal down; the same content is not proposed again',
  args: { ref: 'reference', reason: 'text?' },
  example: { ref: 'fact:use-pnpm-for-installs', reason: 'we use npm' },
  plan(p, args, report) {
    const target = p.resolve(args.ref, 'ref', report)
    const reason = textArg(args, 'reason', report, false)
    if (!target) return undefined
    if (target.fields.standing !== 'proposed' && target.fields.standing !== 'rejected') {
      report({
        field: 'ref',
        message: 'is no proposal',
        received: target.id,
        hint: 'retire takes out what was agreed to',
      })
      return undefined
    }
    if (p.set(target.id, 'standing', 'rejected')) p.sign(target.id)
    if (reason !== undefined)
      p.apply(target.id, [{ field: 'attrs', op: 'merge', put: [[['rejected-because'], reason]], drop: [] }])
    settleSupersession(p, target.id)
    return { ...brief(target), standing: 'rejected' }
  },
}
