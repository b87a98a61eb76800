import { LINK_KIND } from '../model/entity.ts'
import type { Json } from '../model/field.ts'
import { contentDigest } from '../replication/trust.ts'
import { defineVerb } from '../write/verb.ts'
import { brief, REF, settleSupersession } from './common.ts'

export const confirm = defineVerb({
  name: 'confirm',
  about: 'agrees to a proposal; a proposed edit is carried out in the same batch',
  args: { ref: REF },
  example: { ref: 'fact:use-pnpm-for-installs' },
  plan(p, { ref: target }, report, run) {
    const standing = target.fields.standing ?? 'confirmed'
    // what others have said stands by their word alone until somebody here stands by it too
    const isOthers =
      [...p.cells(target.id).values()].some((c) => c.stamp.replica !== p.ctx.replica) || !p.view.endorsed(target.id)
    if (standing === 'confirmed' && !isOthers) p.note(`${target.id} stands as confirmed already`)
    if (target.kind === 'proposal' && standing !== 'confirmed') {
      const [verb, inner] = JSON.parse(String(target.fields.action)) as [string, { [key: string]: Json }]
      const result = run(verb, inner, (problem) =>
        report({ ...problem, field: problem.field ? `action.${problem.field}` : 'action' }),
      )
      if (!result) return undefined
    }
    // a likely case that somebody agrees to is a case
    if (target.kind === LINK_KIND && target.fields.type === 'may-be-instance-of' && standing !== 'confirmed') {
      const { from, to } = target.fields
      if (!run('link-entities', { from: from!, to: to!, type: 'instance-of' }, report)) return undefined
    }
    if (isOthers && standing === 'confirmed') p.set(target.id, 'standing', undefined) // so that it is written here
    if ((isOthers || standing !== 'confirmed') && p.set(target.id, 'standing', 'confirmed'))
      p.sign(target.id, p.ctx.by === 'person' ? { confirms: contentDigest(target) } : {})
    settleSupersession(p, target.id)
    return { ...brief(target), standing: 'confirmed' }
  },
})
