import { type Entity, headingsOf } from '../../model/entity.ts'
import { putUp } from '../store/summary.ts'
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
  const called = (id: string) => names?.reader.entity(id)?.name
  return putUp(e.name, called, (batch) => names?.whatDid(batch), Number.POSITIVE_INFINITY) ?? e.name
}

/** All that would bind: its words, the headings above them, and the context that goes with them. */
export const calledAs = (e: Entity, names?: Names): string =>
  `${nameOf(e, names)}${headingsOf(e) && ` (${headingsOf(e)})`}${typeof e.fields.context === 'string' ? ` (${e.fields.context})` : ''}`
