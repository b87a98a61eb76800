import { defineVerb } from '../../engine/write/verb.ts'
import { brief, needsField, REF } from './common.ts'

export const curate = defineVerb({
  name: 'curate',
  about: 'makes a developmental decision a curated one',
  args: { ref: REF },
  example: { ref: 'use-sqlite' },
  plan(p, { ref: target }, report) {
    if (!needsField(p, target, 'visibility', report)) return undefined
    if (p.set(target.id, 'visibility', 'curated')) p.sign(target.id)
    return brief(target)
  },
})
