import { attempt } from '../../base/errors.ts'
import { type Entity, headingsOf } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { isObject } from '../../model/object.ts'
import { undoing } from '../store/summary.ts'
import type { Reader } from './reader.ts'

/** Where the names of what an edit speaks of are looked up. */
type Names = { reader: Pick<Reader, 'entity'>; whatDid(batch: string): string | undefined }

/** What an entity is called where somebody decides about it. */
export function nameOf(e: Entity, names?: Names): string {
  if (e.kind === 'relationship') {
    const { from, type, to, description } = e.fields
    return `${String(from)} ${String(type)} ${String(to)}${typeof description === 'string' ? `: ${description}` : ''}`
  }
  if (e.kind !== 'proposal') return e.name
  const [verb, args] = attempt(() => [...(JSON.parse(e.name) as Iterable<Json>)]) ?? []
  if (typeof verb !== 'string' || !isObject(args)) return e.name // others wrote it
  const { ref, ...rest } = args
  const { old, new: next, reason } = rest
  if (verb === 'supersede' && typeof old === 'string' && typeof next === 'string')
    return `${verb} "${old}" by "${next}"${typeof reason === 'string' ? `: ${reason}` : ''}`
  if (verb === 'undo' && typeof rest.batch === 'string') return undoing(names?.whatDid(rest.batch) ?? rest.batch)
  if (verb === 'undo' && typeof rest.allOf === 'string') return `undo all that session ${rest.allOf} wrote`
  const target = typeof ref === 'string' ? names?.reader.entity(ref)?.name : undefined
  if (verb === 'retire' && target !== undefined) return `${reason ? `${reason}: ` : ''}retire "${target}"?`
  const said = Object.entries(rest).map(([arg, v]) => `${arg} ${JSON.stringify(v)}`)
  return [verb, target === undefined ? ref : `"${target}"`, said.join(', ')].filter(Boolean).join(' ')
}

/** All that would bind: its words, the headings above them, and the context that goes with them. */
export const calledAs = (e: Entity, names?: Names): string =>
  `${nameOf(e, names)}${headingsOf(e) && ` (${headingsOf(e)})`}${typeof e.fields.context === 'string' ? ` (${e.fields.context})` : ''}`
