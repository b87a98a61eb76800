import { defineVerb } from '../../engine/write/verb.ts'
import { number } from '../../model/field.ts'
import { brief, needsField, REF_OR_NAME } from './common.ts'

export const updateConfidence = defineVerb({
  name: 'update-confidence',
  about: 'says how sure one is of something',
  args: { ref: REF_OR_NAME, confidence: number('how sure', { min: 0, max: 1, required: true }) },
  example: { ref: 'plan-then-apply', confidence: 0.95 },
  plan(p, { ref: target, confidence }, report) {
    if (!needsField(p, target, 'confidence', report)) return undefined
    if (p.set(target.id, 'confidence', confidence)) p.sign(target.id)
    return { ...brief(target), confidence }
  },
})
