import { defineVerb } from '../../engine/write/verb.ts'
import { SHARE_ARGS, whole, write } from './shared-key.ts'

export const shareSet = defineVerb({
  name: 'share-set',
  about: 'shares a value under a key with every session; it is kept exactly as it is given',
  args: SHARE_ARGS,
  example: { key: 'current-phase', value: { phase: 'review', open: ['auth', 'docs'] } },
  plan: (p, { key, value }) => write(p, key, whole(p, key, value)),
})
