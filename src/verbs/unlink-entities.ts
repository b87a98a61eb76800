import { LINK_KIND } from '../model/entity.ts'
import { textArg } from '../model/validate.ts'
import { linkIdNow } from '../write/record.ts'
import type { Verb } from '../write/verb.ts'
import { relationOf, settleSupersession } from './common.ts'

export const unlinkEntities: Verb = {
  verb: 'unlink-entities',
  about: 'takes a link away; its history stays',
  args: {
    from: 'reference',
    to: 'reference',
    type: 'relation',
    reason: 'text?',
    description: 'text?',
    confidence: 'number?',
  },
  example: { from: 'plan-then-apply', to: 'use-sqlite', type: 'supports' },
  plan(p, args, report) {
    const type = textArg(args, 'type', report)
    const from = p.resolve(args.from, 'from', report)
    const to = p.resolve(args.to, 'to', report)
    const reason = textArg(args, 'reason', report, false)
    if (type === undefined || !from || !to) return undefined
    const relation = relationOf(p.registry(), type)
    const [src, dst] = relation?.symmetric && to.id < from.id ? [to, from] : [from, to]
    const id = linkIdNow(p, src.id, relation?.name ?? type, dst.id)
    if (!p.entity(id)?.live) {
      const there = [...p.links('src', from.id), ...p.links('dst', from.id)].map((l) => `${l.src} ${l.rel} ${l.dst}`)
      report({
        field: 'type',
        message: `there is no ${type} from ${from.id} to ${to.id}`,
        received: type,
        accepted: there.length > 0 ? there.slice(0, 5).join('; ') : 'it has no links',
      })
      return undefined
    }
    p.remove(id, reason)
    settleSupersession(p, id)
    return { id, kind: LINK_KIND, from: src.id, to: dst.id, type: relation?.name ?? type }
  },
}
