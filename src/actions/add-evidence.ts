import type { Verb } from '../memory/verb.ts'
import { textArg } from '../schema/validate.ts'
import { brief, needsField } from './shared.ts'

export const addEvidence: Verb = {
  verb: 'add-evidence',
  about: 'adds what speaks for something; the same text is kept once',
  args: { ref: 'reference', evidence: 'text' },
  example: { ref: 'plan-then-apply', evidence: 'a throwing transaction left half a write' },
  plan(p, args, report) {
    const target = p.resolve(args.ref, 'ref', report)
    const evidence = textArg(args, 'evidence', report)
    if (!target || evidence === undefined || !needsField(p, target, 'evidence', report)) return undefined
    p.apply(target.id, [{ field: 'evidence', op: 'edit', list: true, add: [evidence], remove: [], replace: false }])
    p.sign(target.id)
    return brief(target)
  },
}
