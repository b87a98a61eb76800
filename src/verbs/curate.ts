import type { Verb } from '../write/verb.ts'
import { brief, needsField } from './common.ts'

export const curate: Verb = {
  verb: 'curate',
  about: 'makes a developmental decision a curated one',
  args: { ref: 'reference' },
  example: { ref: 'use-sqlite' },
  plan(p, args, report) {
    const target = p.resolve(args.ref, 'ref', report)
    if (!target || !needsField(p, target, 'visibility', report)) return undefined
    if (p.set(target.id, 'visibility', 'curated')) p.sign(target.id)
    return brief(target)
  },
}
