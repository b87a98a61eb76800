import type { Verb } from '../write/verb.ts'
import { aboutOf, brief, needsField } from './common.ts'

export const updateConfidence: Verb = {
  verb: 'update-confidence',
  about: 'says how sure one is of something',
  args: { ref: 'reference (or name)', name: 'reference? (the same as ref)', confidence: 'number 0–1' },
  example: { ref: 'plan-then-apply', confidence: 0.95 },
  plan(p, args, report) {
    const target = aboutOf(p, args, report)
    const { confidence } = args
    if (typeof confidence !== 'number' || !(confidence >= 0 && confidence <= 1)) {
      report({
        field: 'confidence',
        message: confidence === undefined ? 'missing' : 'out of range',
        ...(confidence !== undefined
          ? {
              received:
                typeof confidence === 'number' && Number.isFinite(confidence)
                  ? confidence
                  : String(confidence).slice(0, 40),
            }
          : {}),
        accepted: 'a number from 0 to 1',
      })
      return undefined
    }
    if (!target || !needsField(p, target, 'confidence', report)) return undefined
    if (p.set(target.id, 'confidence', confidence)) p.sign(target.id)
    return { ...brief(target), confidence }
  },
}
