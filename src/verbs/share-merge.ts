import { mergeEdit, ROOT_PATH } from '../log/context-value.ts'
import type { Verb } from '../write/verb.ts'
import { fieldOf, jsonArg, sharedOf, write } from './shared-key.ts'

export const shareMerge: Verb = {
  verb: 'share-merge',
  about:
    'merges a value into what is shared under a key: maps key by key to any depth, lists as unions, anything else takes the place of what was there',
  args: { key: 'text', value: 'any JSON value', expectedVersion: 'number?' },
  example: { key: 'team-notes', value: { auth: { state: 'working', files: ['src/auth.ts'] } } },
  plan(p, args, report) {
    const shared = sharedOf(p, args, report)
    const value = jsonArg(args, 'value', report)
    if (!shared || value === undefined) return undefined
    return write(p, shared, mergeEdit(fieldOf(p, shared), ROOT_PATH, value, p.ctx.ms))
  },
}
