import { textArg } from '../model/validate.ts'
import type { Verb } from '../write/verb.ts'
import { brief, settleSupersession } from './common.ts'

export const restore: Verb = {
  verb: 'restore',
  about: 'brings back what was deleted or retired, whole',
  args: { ref: 'reference', reason: 'text?' },
  example: { ref: 'use-json-files', reason: 'still needed for the export' },
  plan(p, args, report) {
    const target = p.resolve(args.ref, 'ref', report, { deleted: true })
    textArg(args, 'reason', report, false)
    if (!target) return undefined
    if (target.live && target.fields.retired === undefined) p.note(`${target.id} was neither deleted nor retired`)
    if (!target.live) p.restore(target.id)
    if (target.fields.retired !== undefined) p.set(target.id, 'retired', undefined)
    if (!target.live || target.fields.retired !== undefined) p.sign(target.id)
    settleSupersession(p, target.id)
    return brief(p.entity(target.id)!)
  },
}
