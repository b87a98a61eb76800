import type { Verb } from '../write/verb.ts'
import { jsonArg, sharedOf, whole, write } from './shared-key.ts'

export const shareSet: Verb = {
  verb: 'share-set',
  about: 'shares a value under a key with every session; it is kept exactly as it is given',
  args: { key: 'text', value: 'any JSON value', expectedVersion: 'number? (only if nobody has written it since)' },
  example: { key: 'current-phase', value: { phase: 'review', open: ['auth', 'docs'] } },
  plan(p, args, report) {
    const shared = sharedOf(p, args, report)
    const value = jsonArg(args, 'value', report)
    if (!shared || value === undefined) return undefined
    return write(p, shared, whole(p, shared, value))
  },
}
