import { mergeEdit, ROOT_PATH } from '../../engine/log/context-value.ts'
import { defineVerb } from '../../engine/write/verb.ts'
import { fieldOf, SHARE_ARGS, write } from './shared-key.ts'

export const shareMerge = defineVerb({
  name: 'share-merge',
  about:
    'merges a value into what is shared under a key: maps key by key to any depth, lists as unions, anything else takes the place of what was there',
  args: SHARE_ARGS,
  example: { key: 'team-notes', value: { auth: { state: 'working', files: ['src/auth.ts'] } } },
  plan: (p, { key, value }) => write(p, key, mergeEdit(fieldOf(p, key), ROOT_PATH, value, p.ctx.ms)),
})
