import { contentDigest } from '../../engine/replication/vouched.ts'
import { defineVerb } from '../../engine/write/verb.ts'
import { LINK_KIND } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { agree, erase } from './answer-others.ts'
import { brief, REF_EVEN_DELETED, settleSupersession } from './common.ts'
import { eraseEntity } from './purge.ts'

export const confirm = defineVerb({
  name: 'confirm',
  about: 'agrees to a proposal, or to what others want to change; a proposed edit is carried out in the same batch',
  args: { ref: REF_EVEN_DELETED },
  example: { ref: 'fact:use-pnpm-for-installs' },
  plan(p, { ref: target }, report, run) {
    const waiting = p.view.waitingAt(target.id)
    const asked = p.view.askedOf(target.id)
    const isWanted = waiting.length > 0 || asked.length > 0
    if (isWanted && p.ctx.by === 'person') {
      if (asked.length > 0) erase(p, target.id, asked, report, run)
      else for (const held of waiting) agree(p, held, report, run)
      return brief(target)
    }
    if (!target.live || isWanted)
      return report({
        field: 'ref',
        message: target.live ? 'waits for a person' : 'is deleted',
        received: target.id,
        ...(target.live ? { code: 'person' } : { hint: `bring it back with ["restore", {"ref": "${target.id}"}]` }),
      })
    const standing = target.fields.standing ?? 'confirmed'
    // what others have said stands by their word alone until somebody here stands by it too
    const isOthers =
      [...p.cells(target.id).values()].some((c) => c.stamp.replica !== p.ctx.replica) || !p.view.endorsed(target.id)
    // nor did a person here ever stand by what agents wrote
    const isNew = isOthers || (p.ctx.by === 'person' && !p.view.ofPerson(target.id))
    if (standing === 'confirmed' && !isNew) p.note(`${target.id} stands as confirmed already`)
    if (target.kind === 'proposal' && standing !== 'confirmed') {
      const [verb, inner] = JSON.parse(String(target.fields.action)) as [string, { [key: string]: Json }]
      const result = run(verb, inner, (problem) =>
        report({ ...problem, field: problem.field ? `action.${problem.field}` : 'action' }),
      )
      if (!result) return undefined
      if (verb === 'purge') {
        eraseEntity(p, target.id) // it names what is gone
        return { ...result, standing: 'confirmed' }
      }
    }
    // a likely case that somebody agrees to is a case
    if (target.kind === LINK_KIND && target.fields.type === 'may-be-instance-of' && standing !== 'confirmed') {
      const { from, to } = target.fields
      if (!run('link-entities', { from: from!, to: to!, type: 'instance-of' }, report)) return undefined
    }
    if (isNew && standing === 'confirmed') p.set(target.id, 'standing', undefined) // so that it is written here
    if ((isNew || standing !== 'confirmed') && p.set(target.id, 'standing', 'confirmed'))
      p.sign(target.id, p.ctx.by === 'person' ? { confirms: contentDigest(target) } : {})
    settleSupersession(p, target.id)
    return { ...brief(target), standing: 'confirmed' }
  },
})
