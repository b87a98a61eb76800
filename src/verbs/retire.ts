import { textArg } from '../model/validate.ts'
import type { Verb } from '../write/verb.ts'
import { brief } from './common.ts'

export const retire: Verb = {
  verb: 'retire',
  about: 'takes something out of lists and recall because it no longer holds; restore brings it back',
  args: { ref: 'reference', reason: 'text' },
  example: { ref: 'use-json-files', reason: 'nothing uses it any more' },
  plan(p, args, report) {
    const target = p.resolve(args.ref, 'ref', report)
    const reason = textArg(args, 'reason', report)
    if (!target || reason === undefined) return undefined
    if (p.set(target.id, 'retired', reason)) p.sign(target.id)
    return brief(target)
  },
}
