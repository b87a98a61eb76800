import { defineVerb } from '../../engine/write/verb.ts'
import { ref } from '../../model/args.ts'
import { brief, REASON } from './common.ts'
import { link } from './link-entities.ts'

export const supersede = defineVerb({
  name: 'supersede',
  about: 'puts a newer entity in the place of an older one; unlink-entities takes it back',
  args: {
    old: ref('what no longer holds', { required: true }),
    new: ref('what takes its place', { required: true }),
    reason: REASON,
  },
  example: { old: 'use-json-files', new: 'use-sqlite', reason: 'two sessions lost writes' },
  plan(p, { old, new: next, reason }, report) {
    const linked = link(p, next, 'supersedes', old, { description: reason }, report)
    if (!linked) return undefined
    p.sign(old.id)
    return { ...brief(next), old: old.id, link: linked.id }
  },
})
