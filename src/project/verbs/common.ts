import { compareStamps, seen } from '../../engine/log/cells.ts'
import { valueBefore } from '../../engine/log/events.ts'
import { tombstoneOf } from '../../engine/store/line.ts'
import type { Planning } from '../../engine/write/plan.ts'
import { reading } from '../../engine/write/verb.ts'
import { ref } from '../../model/args.ts'
import { type Entity, LINK_KIND, standingOf } from '../../model/entity.ts'
import { text } from '../../model/field.ts'
import { fieldsOf } from '../../model/kind.ts'
import { WORD } from '../../model/names.ts'
import type { Change, Report } from '../../model/validate.ts'

/** What most verbs are about. */
export const REF = ref('what it is about', { required: true, also: ['id'] })
export const REF_EVEN_DELETED = ref('what it is about', { required: true, deleted: true, also: ['id'] })
export const REF_OR_NAME = { ...REF, also: ['id', 'name'] } as const
export const REASON = text('why', { also: ['why'] })

/** A name that a project gives to a kind or a relation. */
export const word = <const O extends { required?: boolean } = Record<never, never>>(about: string, o: O = {} as O) =>
  reading(text(about, o), (_p, value, field, report) => {
    if (WORD.test(value)) return value
    return report({
      field,
      message: 'not a word',
      received: value.slice(0, 80),
      accepted: 'lower-case letters, digits and hyphens',
    })
  })

/** Whether a kind or a relation was erased. Nobody else would get it again under its id, which says its name. */
export const wasErased = (p: Planning, id: string): boolean =>
  p.draft.moves.has(tombstoneOf(id)) || p.view.isErasedOf(tombstoneOf(id), p.ctx.replica)
export const ERASED = 'was erased, and does not come back'

/** A change of a list: items that are added, or that it consists of now. */
export const listChange = (field: string, items: readonly string[], replace = false): Change => {
  return { field, op: 'edit', list: true, add: [...new Set(items)], remove: [], replace }
}

export const brief = (e: Entity) => ({ id: e.id, kind: e.kind, name: e.name })

/** Reports that a kind lacks the field a verb writes. */
export function needsField(p: Planning, e: Entity, field: string, report: Report): boolean {
  const kind = p.registry().kind(e.kind)
  if (kind && Object.hasOwn(fieldsOf(kind), field)) return true
  report({
    field: 'ref',
    message: `a ${e.kind} has no ${field}`,
    received: e.id,
    hint: 'attrs take structure of your own',
  })
  return false
}

/** Sets the status of a superseded entity by its links: superseded while a confirmed one exists, else as before. */
export function settleSupersession(p: Planning, linkId: string): void {
  const link = p.entity(linkId)
  if (link?.kind !== LINK_KIND || link.fields.type !== 'supersedes') return
  settleStatus(p, String(link.fields.to))
}

/** Whether something is superseded is what stands in its place. */
export function settleStatus(p: Planning, id: string): void {
  const old = p.entity(id)
  if (!old || !p.registry().kind(old.kind)?.fields.status?.choices?.includes('superseded')) return
  const stands = p.replacing(id).some((l) => {
    const said = p.entity(l.id)
    return said?.live && standingOf(said.fields) === 'confirmed'
  })
  if (stands) p.set(id, 'status', 'superseded')
  else if (old.fields.status === 'superseded') {
    const [cell] = seen(p.cells(id), 'status').sort((a, b) => compareStamps(b.stamp, a.stamp))
    const written = [...p.view.eventsOf(id).map((e) => e.event), ...p.draft.events]
    const last = written.find((e) => cell && compareStamps(e.stamp, cell.stamp) === 0)
    p.set(id, 'status', last && valueBefore(last, written))
  }
}
