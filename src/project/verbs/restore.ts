import type { Planning } from '../../engine/write/plan.ts'
import { defineVerb } from '../../engine/write/verb.ts'
import { momentSaid } from '../../find/recall/moment.ts'
import { ref } from '../../model/args.ts'
import type { Entity } from '../../model/entity.ts'
import { text } from '../../model/field.ts'
import type { Report } from '../../model/validate.ts'
import { brief, REASON, settleSupersession } from './common.ts'
import { revert } from './undo.ts'

export const restore = defineVerb({
  name: 'restore',
  about:
    'brings back what was deleted or retired, whole; with `to`, gives something the values again that it had at a moment',
  args: {
    ref: ref('what was taken out, or is to be as it was', { required: true, deleted: true, also: ['id'] }),
    to: text('a day (its end), a moment, or words such as "3 days ago"'),
    reason: REASON,
  },
  example: { ref: 'use-json-files', reason: 'still needed for the export' },
  plan(p, { ref: target, to, reason }, report) {
    if (to !== undefined) return restoreTo(p, target, to, report)
    // what took its place is gone: nothing stands in its way but the link
    const links = p.replacing(target.id).filter((l) => p.entity(l.id)?.live && !p.entity(l.src)?.live)
    if (target.live && target.fields.retired === undefined && links.length === 0)
      p.note(`${target.id} was neither deleted nor retired`)
    for (const { id } of links) {
      p.remove(id, reason)
      settleSupersession(p, id)
    }
    if (!target.live) p.restore(target.id)
    if (target.fields.retired !== undefined) p.set(target.id, 'retired', undefined)
    if (!target.live || target.fields.retired !== undefined) p.sign(target.id)
    settleSupersession(p, target.id)
    return brief(p.entity(target.id)!)
  },
})

/** Writes again what it said then. Nothing of what came after is rewritten: this is one more batch, and can be undone. */
function restoreTo(p: Planning, target: Entity, to: string, report: Report) {
  let at: number
  try {
    at = momentSaid(to, p.ctx.ms, 'as-of')
  } catch {
    return report({
      field: 'to',
      message: 'not a time',
      received: to.slice(0, 80),
      accepted: 'a day, a moment, or words such as "3 days ago"',
    })
  }
  const events = p.view.eventsOf(target.id)
  const later = events.filter((e) => e.event.stamp.ms > at)
  if (later.length === events.length)
    return report({
      field: 'to',
      message: `${target.id} was not recorded yet`,
      received: to.slice(0, 80),
      hint: '`tidemark history` tells when it was',
    })
  const before = p.draft.events.length
  revert(
    p,
    target.id,
    new Set(later.map((e) => e.batch)),
    later.map((e) => e.event),
  )
  if (p.draft.events.length === before) p.note(`${target.id} says what it said then`)
  else p.sign(target.id)
  if (p.links('dst', target.id).some((l) => l.rel === 'supersedes'))
    p.note(`something still supersedes ${target.id}: unlink-entities takes that back`)
  return brief(p.entity(target.id)!)
}
