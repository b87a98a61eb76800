import { linkIdNow } from '../../engine/write/record.ts'
import { defineVerb } from '../../engine/write/verb.ts'
import { ref } from '../../model/args.ts'
import { LINK_KIND } from '../../model/entity.ts'
import { text } from '../../model/field.ts'
import { REASON, settleSupersession } from './common.ts'
import { linkEntities, relationOf } from './link-entities.ts'

export const unlinkEntities = defineVerb({
  name: 'unlink-entities',
  about: 'takes a link away; its history stays',
  args: {
    type: text('the relation', { required: true }),
    from: ref('where it starts', { required: true }),
    to: ref('where it ends', { required: true }),
    reason: REASON,
    description: linkEntities.args.description,
    confidence: linkEntities.args.confidence,
  },
  example: { from: 'plan-then-apply', to: 'use-sqlite', type: 'supports' },
  plan(p, { type, from, to, reason }, report) {
    const relation = relationOf(p.registry(), type)
    const [src, dst] = relation?.symmetric && to.id < from.id ? [to, from] : [from, to]
    const id = linkIdNow(p, src.id, relation?.name ?? type, dst.id)
    if (!p.entity(id)?.live) {
      const there = [...p.links('src', from.id), ...p.links('dst', from.id)].map((l) => `${l.src} ${l.rel} ${l.dst}`)
      return report({
        field: 'type',
        message: `there is no ${type} from ${from.id} to ${to.id}`,
        received: type,
        accepted: there.length > 0 ? there.slice(0, 5).join('; ') : 'it has no links',
      })
    }
    p.remove(id, reason)
    settleSupersession(p, id)
    return { id, kind: LINK_KIND, from: src.id, to: dst.id, type: relation?.name ?? type }
  },
})
