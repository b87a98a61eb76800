import { isDeepStrictEqual } from 'node:util'
import type { Action } from '../../engine/write/batch.ts'
import type { Entity } from '../../model/entity.ts'
import { fieldsOf } from '../../model/kind.ts'
import { isObject, type JsonObject } from '../../model/object.ts'
import type { Registry } from '../../model/registry.ts'
import { CONTROLS } from '../../model/validate.ts'
import type { DocumentEntity, DocumentLink } from './import/document.ts'

/** What a peer made of one entry of a live document. */
interface PeerChange {
  readonly id: string
  /** As it stands there now; nothing if it is gone. */
  readonly entry: unknown
  /** All of it was written, or these keys; a field is `fields/name`. */
  readonly keys: ReadonlySet<string> | 'whole'
  /** What the memory has under this id, deleted ones too. */
  readonly known: Entity | undefined
  /** What the document is to say of it; nothing if it is not to be there. */
  readonly said: DocumentEntity | DocumentLink | undefined
}

/** A change that no action says. */
type NoChange = Readonly<{ code: 'malformed' | 'stale'; message: string; hint: string }>

export const FIELD = 'fields/'

interface Read {
  readonly entry: JsonObject & { readonly fields: JsonObject }
  /** The fields that say something else now; undefined where one was taken out. */
  readonly fields: readonly (readonly [name: string, value: unknown])[]
}

const malformed = (message: string, hint: string): NoChange => ({ code: 'malformed', message, hint })
const own = (of: JsonObject, key: string): unknown => (Object.hasOwn(of, key) ? of[key] : undefined)

function read({ entry, keys, known, said }: PeerChange): Read | NoChange {
  if (!isObject(entry) || !isObject(entry.fields))
    return malformed('an entry is a map with a map "fields"', 'write it as the others in the document are')
  const isOld = keys === 'whole' && own(entry, 'updated') !== undefined && own(entry, 'updated') !== said?.updated
  const names =
    keys === 'whole'
      ? Object.keys(entry.fields)
      : [...keys].flatMap((key) => (key.startsWith(FIELD) ? key.slice(FIELD.length) : []))
  const before = known?.fields ?? {}
  const fields = names
    .map((name) => [name, own(entry.fields as JsonObject, name)] as const)
    .filter(([name, value]) => !isDeepStrictEqual(value, own(before, name)))
  const message = `it was changed since ${String(entry.updated)}`
  if (said && isOld && fields.length > 0)
    return { code: 'stale', message, hint: 'change the fields, not the whole entry' }
  const control = names.find((name) => name === '__proto__' || (CONTROLS as readonly string[]).includes(name))
  if (control) return malformed(`there is no field "${control}"`, 'structure of your own goes into attrs: {…}')
  if (keys !== 'whole' && said)
    for (const key of keys) {
      if (key.startsWith(FIELD) || key === 'retired') continue
      if (!isDeepStrictEqual(own(entry, key), own(said as unknown as JsonObject, key)))
        return malformed(`${key.slice(0, 80)} is written by Tidemark itself`, 'change what stands in "fields"')
    }
  return { entry: entry as Read['entry'], fields }
}

/** An object as a map takes it: what is no longer in it is null. */
const patch = (before: JsonObject, after: JsonObject): JsonObject =>
  Object.fromEntries([
    ...Object.keys(before).map((key) => [key, null] as const),
    ...Object.entries(after).map(([key, value]) => {
      const was = own(before, key)
      return [key, isObject(value) && isObject(was) ? patch(was, value) : value] as const
    }),
  ])

function argument(type: string | undefined, before: unknown, value: unknown): unknown {
  if (value === undefined) return null
  if ((type === 'set' || type === 'list') && Array.isArray(value)) return { set: value }
  return type === 'map' && isObject(value) && isObject(before) ? patch(before, value) : value
}

/** Puts away what the entry puts away, and brings back what it no longer does. */
function retirement({ keys, known, id }: PeerChange, entry: JsonObject): Action[] | NoChange {
  const retired = own(entry, 'retired')
  if (!known || retired === own(known.fields, 'retired')) return []
  if (typeof retired === 'string') return [['retire', { ref: id, reason: retired }]]
  if (retired !== undefined) return malformed('retired is not text', 'say why it no longer holds')
  return keys === 'whole' || !keys.has('retired') ? [] : [['restore', { ref: id }]]
}

export function entityActions(change: PeerChange, registry: Registry): Action[] | NoChange {
  const { id, entry, known } = change
  if (entry === undefined) return change.said && known ? [[`delete-${known.kind}`, { ref: id }]] : []
  const is = read(change)
  if (!('fields' in is)) return is
  const kind = known?.kind ?? own(is.entry, 'kind')
  if (typeof kind !== 'string') return malformed('it names no kind', 'give "kind", as the others in the document do')
  if (!known) return [[`record-${kind}`, Object.fromEntries(is.fields)]]
  const specs = registry.kind(kind)
  const args = is.fields.map(([name, value]) => {
    const type = specs && Object.hasOwn(fieldsOf(specs), name) ? fieldsOf(specs)[name]!.type : undefined
    return [name, argument(type, own(known.fields, name), value)] as const
  })
  const put = retirement(change, is.entry)
  if (!Array.isArray(put)) return put
  return [
    ...(known.live ? [] : [['restore', { ref: id }] as const]),
    ...(args.length > 0 ? [[`record-${kind}`, { ...Object.fromEntries(args), ref: id }] as const] : []),
    ...put,
  ]
}

/** The actions that say what a peer did to a link; `idOf` an end that was recorded with it. */
export function linkActions(change: PeerChange, idOf: (end: string) => string): Action[] | NoChange {
  const { entry, known, said } = change
  const { from, to, type, ...before } = known?.fields ?? {}
  const ends = { from, to, type }
  if (entry === undefined) return said ? [['unlink-entities', ends]] : []
  const is = read(change)
  if (!('fields' in is)) return is
  if (!said) {
    const given = [own(is.entry, 'from'), own(is.entry, 'to')].map((end) => idOf(String(end)))
    const fields = Object.fromEntries(is.fields)
    return [['link-entities', { ...fields, from: given[0], to: given[1], type: own(is.entry, 'type') }]]
  }
  const put = retirement(change, is.entry)
  if (!Array.isArray(put) || is.fields.length === 0) return put
  const { provenance: _, retired: __, ...kept } = before
  // a link has no action that clears a field: it is made again without
  const isCleared = is.fields.some(([, value]) => value === undefined || value === null)
  const left = Object.entries({ ...(isCleared ? kept : {}), ...Object.fromEntries(is.fields) })
  const fields = Object.fromEntries(left.filter(([, value]) => value !== undefined && value !== null))
  return [...(isCleared ? [['unlink-entities', ends] as const] : []), ['link-entities', { ...fields, ...ends }], ...put]
}
