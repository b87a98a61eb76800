import { entityOf } from '../../engine/read/reader.ts'
import { BESIDE, contentDigest } from '../../engine/replication/vouched.ts'
import type { Asked, Held } from '../../engine/store/held.ts'
import type { LoggedEvent } from '../../engine/store/log.ts'
import type { Planning } from '../../engine/write/plan.ts'
import { defineVerb, type RunAction } from '../../engine/write/verb.ts'
import { KIND_KIND, kindOf, LINK_KIND, RELATION_KIND, standingOf } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import type { Report } from '../../model/validate.ts'
import { brief, REASON, REF_EVEN_DELETED, settleSupersession } from './common.ts'
import { eraseEntity } from './purge.ts'
import { batchesOf, eventsIn, revert } from './undo.ts'

/** Erases what others ask to erase at an entity. */
export function erase(p: Planning, id: string, asked: readonly Asked[], report: Report, run: RunAction): void {
  p.decide(id)
  if (asked.some((a) => a.entity !== id)) run('purge', { ref: id, reason: 'others asked for it' }, report)
  else for (const { by: _, ...mark } of asked) p.purge(mark)
}

/** Takes over what others want, as it stands now. */
export function agree(p: Planning, { id, lines, frozen }: Held, report: Report, run: RunAction): void {
  if (frozen) p.decide(id)
  if (frozen === 'erased') {
    if (p.entity(id)) run('purge', { ref: id, reason: 'its author erased it' }, report)
    return
  }
  const wanted = p.entity(id)
  const last = lines.at(-1)
  // an edit would say that it was deleted and edited at once
  if (!wanted?.live) return void p.remove(id)
  if (standingOf(wanted.fields) === 'proposed') p.set(id, 'standing', 'confirmed')
  const confirms = standingOf(wanted.fields) === 'rejected' ? '' : contentDigest(wanted)
  p.sign(id, { confirms, ...(last ? { agrees: `${last.replica}:${last.seq}` } : {}) })
}

/** What these kinds are said with: they stay, since entities rest on them. */
const DEFINES: { readonly [kind: string]: string } = { [KIND_KIND]: 'define-kind', [RELATION_KIND]: 'define-relation' }

/** Says again what holds here, over what others said; in our own name where its lines are gone. */
function turnDown(
  p: Planning,
  { id, row, lines, frozen }: Held,
  reason: string | undefined,
  report: Report,
  run: RunAction,
): void {
  if (frozen) {
    p.decide(id)
    const { provenance: _, retired: _retired, ...fields } = row ? entityOf(row).fields : {}
    const define = DEFINES[kindOf(id)]
    if (define) {
      const { order: _order, ...said } = fields
      run(define, said, report)
      return
    }
    if (p.entity(id)?.live) p.remove(id, row ? 'recorded again' : undefined)
    if (!row) return
    if (kindOf(id) === LINK_KIND) run('link-entities', fields, report)
    else run(`record-${kindOf(id)}`, p.entity(id) ? { ...fields, ref: id, anew: true } : fields, report)
    return
  }
  const out = new Set(lines.map((l) => `${l.replica}:${l.seq}`))
  const isTheirs = ({ batch, event }: LoggedEvent) => out.has(batch) && !BESIDE.has(event.field)
  // a link without its ends would reach nobody
  if (kindOf(id) === LINK_KIND && !row?.live) p.remove(id)
  else revert(p, id, out, eventsIn(p.view.eventsOf(id).filter(isTheirs)))
  p.sign(id, lines.length > 0 ? { keeps: [...out].at(-1)!, ...(reason === undefined ? {} : { reason }) } : {})
}

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
      const { allOf } = inner
      const args = typeof allOf === 'string' ? { batches: batchesOf(p, allOf, target.created), ...inner } : inner
      const result = run(verb, args, (problem) =>
        report({ ...problem, field: problem.field ? `action.${problem.field}` : 'action' }),
      )
      if (!result) return undefined
      // a yes to an undo is no undo: it is what the next one takes back
      p.draft.undone.splice(0)
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

export const reject = defineVerb({
  name: 'reject',
  about: 'turns down a proposal, which is not proposed again, or what others want to change',
  args: { ref: REF_EVEN_DELETED, reason: REASON },
  example: { ref: 'fact:use-pnpm-for-installs', reason: 'we use npm' },
  plan(p, { ref: target, reason }, report, run) {
    const waiting = p.view.waitingAt(target.id)
    const asked = p.view.askedOf(target.id).length > 0
    if (asked) p.decide(target.id)
    for (const held of waiting) turnDown(p, held, reason, report, run)
    if (asked || waiting.length > 0) return brief(target)
    if (target.fields.standing !== 'proposed' && target.fields.standing !== 'rejected')
      return report({
        field: 'ref',
        message: 'is no proposal',
        received: target.id,
        hint: 'retire takes out what was agreed to',
      })
    if (p.set(target.id, 'standing', 'rejected')) p.sign(target.id)
    if (reason !== undefined)
      p.apply(target.id, [{ field: 'attrs', op: 'merge', put: [[['rejected-because'], reason]], drop: [] }])
    settleSupersession(p, target.id)
    return { ...brief(target), standing: 'rejected' }
  },
})
