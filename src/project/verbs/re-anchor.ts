import { defineVerb } from '../../engine/write/verb.ts'
import { brief, REF_OR_NAME } from './common.ts'

/** `writeBatch` then forgets what its locations stood for; the next look at the code finds it anew. */
export const reAnchor = defineVerb({
  name: 're-anchor',
  about: 'says that something still holds although the code it speaks of changed: it is stale no longer',
  args: { ref: REF_OR_NAME },
  example: { ref: 'plan-then-apply' },
  plan(p, { ref: target }) {
    p.sign(target.id)
    return brief(target)
  },
})
