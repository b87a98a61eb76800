import { entityOf } from '../../engine/read/reader.ts'
import { BESIDE, contentDigest } from '../../engine/replication/vouched.ts'
import type { Asked, Held } from '../../engine/store/held.ts'
import type { LoggedEvent } from '../../engine/store/log.ts'
import type { Planning } from '../../engine/write/plan.ts'
import type { RunAction } from '../../engine/write/verb.ts'
import { KIND_KIND, kindOf, LINK_KIND, RELATION_KIND, standingOf } from '../../model/entity.ts'
import type { Report } from '../../model/validate.ts'
import { revert } from './undo.ts'

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
  if (!wanted?.live) {
    p.remove(id)
    return
  }
  if (standingOf(wanted.fields) === 'proposed') p.set(id, 'standing', 'confirmed')
  const confirms = standingOf(wanted.fields) === 'rejected' ? '' : contentDigest(wanted)
  p.sign(id, { confirms, ...(last ? { agrees: `${last.replica}:${last.seq}` } : {}) })
}

/** What these kinds are said with: they stay, since entities rest on them. */
const DEFINES: { readonly [kind: string]: string } = { [KIND_KIND]: 'define-kind', [RELATION_KIND]: 'define-relation' }

/** Says again what holds here, over what others said; in our own name where its lines are gone. */
export function turnDown(p: Planning, { id, row, lines, frozen }: Held, report: Report, run: RunAction): void {
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
  const events = p.view.eventsOf(id).filter(isTheirs)
  // a link without its ends would reach nobody
  if (kindOf(id) === LINK_KIND && !row?.live) p.remove(id)
  else
    revert(
      p,
      id,
      out,
      events.map((e) => e.event),
    )
  p.sign(id, lines.length > 0 ? { keeps: [...out].at(-1)! } : {})
}
