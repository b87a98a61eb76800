import { textArg } from '../model/validate.ts'
import type { Verb } from '../write/verb.ts'
import { linkEntities } from './link-entities.ts'

export const supersede: Verb = {
  verb: 'supersede',
  about: 'puts a newer entity in the place of an older one; unlink-entities takes it back',
  args: { old: 'reference', new: 'reference', reason: 'text?' },
  example: { old: 'use-json-files', new: 'use-sqlite', reason: 'two sessions lost writes' },
  plan(p, args, report, run) {
    const old = p.resolve(args.old, 'old', report)
    const next = p.resolve(args.new, 'new', report)
    const reason = textArg(args, 'reason', report, false)
    if (!old || !next) return undefined
    const link = linkEntities.plan(
      p,
      { from: next.id, to: old.id, type: 'supersedes', ...(reason !== undefined ? { description: reason } : {}) },
      report,
      run,
    )
    if (!link) return undefined
    p.sign(old.id)
    return { id: next.id, kind: next.kind, name: next.name, old: old.id, link: link.id }
  },
}
