import { defineVerb } from '../../engine/write/verb.ts'
import { brief, REASON, REF } from './common.ts'

export const retire = defineVerb({
  name: 'retire',
  about: 'takes something out of lists and recall because it no longer holds; restore brings it back',
  args: { ref: REF, reason: { ...REASON, required: true } },
  example: { ref: 'use-json-files', reason: 'nothing uses it any more' },
  plan(p, { ref: target, reason }) {
    if (p.set(target.id, 'retired', reason)) p.sign(target.id)
    return brief(target)
  },
})
