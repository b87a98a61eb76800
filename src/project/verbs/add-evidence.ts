import { defineVerb } from '../../engine/write/verb.ts'
import { texts } from '../../model/args.ts'
import { brief, needsField, REF_OR_NAME } from './common.ts'

export const addEvidence = defineVerb({
  name: 'add-evidence',
  about: 'adds what speaks for something; the same text is kept once',
  args: { ref: REF_OR_NAME, evidence: texts('what speaks for it', { required: true }) },
  example: { ref: 'plan-then-apply', evidence: 'a throwing transaction left half a write' },
  plan(p, { ref: target, evidence }, report) {
    if (!needsField(p, target, 'evidence', report)) return undefined
    p.apply(target.id, [
      { field: 'evidence', op: 'edit', list: true, add: [...new Set(evidence)], remove: [], replace: false },
    ])
    p.sign(target.id)
    return brief(target)
  },
})
