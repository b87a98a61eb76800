import { ref } from '../model/args.ts'
import { defineVerb } from '../write/verb.ts'
import { brief, REASON, settleSupersession } from './common.ts'

export const restore = defineVerb({
  name: 'restore',
  about: 'brings back what was deleted or retired, whole',
  args: { ref: ref('what was taken out', { required: true, deleted: true, also: ['id'] }), reason: REASON },
  example: { ref: 'use-json-files', reason: 'still needed for the export' },
  plan(p, { ref: target }) {
    if (target.live && target.fields.retired === undefined) p.note(`${target.id} was neither deleted nor retired`)
    if (!target.live) p.restore(target.id)
    if (target.fields.retired !== undefined) p.set(target.id, 'retired', undefined)
    if (!target.live || target.fields.retired !== undefined) p.sign(target.id)
    settleSupersession(p, target.id)
    return brief(p.entity(target.id)!)
  },
})
