import type { Reader } from '../../engine/read/reader.ts'
import { said as saidOf, shapesIn } from '../../find/recall/card.ts'
import { type Entity as Known, type Link, provenanceOf, readField } from '../../model/entity.ts'
import { fieldsOf, type Kind } from '../../model/kind.ts'
import { INTROSPECTION } from '../../model/names.ts'
import type { Registry } from '../../model/registry.ts'
import { fromData, type Shape, type Shapes } from '../../scheme/data.ts'
import { type CallContext, Entity, type Value } from '../../scheme/values.ts'
import { CELLS_PER_ENTITY, made } from './options.ts'

const head = (kind: keyof typeof INTROSPECTION, positional: string[], fields: string[]): Shape => {
  return { kind, plural: INTROSPECTION[kind], positional, fields }
}

const HEADS: readonly Shape[] = [
  head('verb', ['name', 'about'], ['required', 'optional', 'takes', 'example']),
  head('kind', ['name', 'about'], ['plural', 'identity', 'key', 'positional', 'entities', 'fields', 'example']),
  head('field', ['name', 'type', 'about'], ['choices', 'min', 'max', 'default']),
  head('relation', ['name', 'about'], ['inverse', 'symmetric', 'acyclic', 'impact', 'strength', 'example']),
  head('help', ['name', 'about'], ['signature', 'example']),
  head('conflict', ['entity', 'field'], ['values']),
  head('change', ['at', 'field'], ['op', 'value', 'was', 'batch', 'session', 'agent', 'user']),
  head('candidate', ['kind', 'field'], ['type', 'entities', 'example']),
]

/** How entities of this registry, and what introspection answers, are printed. */
export function shapesOf(registry: Registry): Shapes {
  const { byKind, byPlural } = shapesIn(registry)
  return {
    byKind: (kind) => byKind(kind) ?? HEADS.find((s) => s.kind === kind),
    byPlural: (plural) => byPlural(plural) ?? HEADS.find((s) => s.plural === plural),
  }
}

const iso = (ms: number) => new Date(ms).toISOString()

/** An entity as a program sees it: what was said is printed; id, times, provenance and defaults answer when asked. */
export function toScheme(e: Known, registry: Registry): Entity {
  const kind = registry.kind(e.kind)
  const fields = new Map([...saidOf(e, kind)].map(([name, value]): [string, Value] => [name, fromData(value)]))
  return new Entity(e.kind, fields, () => hiddenOf(e, kind, fields))
}

/** The same with what it is called by alone, and what a walk says of it; the rest answers when asked. */
export function toSchemeInShort(known: Known, registry: Registry, said: readonly (readonly [string, Value])[]): Entity {
  const e = toScheme(known, registry)
  const shown = registry.kind(e.kind)?.positional ?? []
  const fields = [...e.fields].filter(([name]) => name === 'id' || name === 'status' || shown.includes(name))
  return new Entity(e.kind, new Map([...fields, ...said]), new Map([...e.hidden, ...e.fields]))
}

function hiddenOf(e: Known, kind: Kind | undefined, fields: ReadonlyMap<string, Value>): Map<string, Value> {
  const hidden = new Map<string, Value>([
    ['id', e.id],
    ['kind', e.kind],
    ['name', e.name],
    ['version', BigInt(e.version)],
    ['recorded', iso(e.created)],
    ['timestamp', iso(e.created)],
    ['updated', iso(e.updated)],
    ['provenance', fromData(e.fields.provenance ?? [])],
  ])
  const [first = {}] = provenanceOf(e)
  for (const [key, value] of Object.entries(first))
    if (!hidden.has(key) && key !== 'at') hidden.set(key, fromData(value))
  for (const name of kind ? Object.keys(fieldsOf(kind)) : []) {
    const value = readField(e, name, kind)
    if (value !== undefined && !fields.has(name) && !hidden.has(name)) hidden.set(name, fromData(value))
  }
  return hidden
}

/** The shortest reference that means this entity alone. */
export function referenceTo(reader: Reader, id: string): string {
  const e = reader.entity(id)
  if (!e || e.name === '' || e.name.length > 80) return id
  const same = reader.find(e.name)
  return same.length === 1 && same[0]!.id === id ? e.name : id
}

export const linksMade = (reader: Reader, ids: readonly string[], ctx: CallContext): Value =>
  made(reader.entities(ids), CELLS_PER_ENTITY, ctx, (entity) => {
    const { from, to, type } = entity.fields
    return linkToScheme(reader, { id: entity.id, from: String(from), to: String(to), type: String(type), entity })
  })

/** A link as a program sees it, its ends as references that the verbs accept. */
export function linkToScheme(reader: Reader, link: Link): Entity {
  const e = link.entity
  const fields = new Map<string, Value>([
    ['from', referenceTo(reader, link.from)],
    ['to', referenceTo(reader, link.to)],
    ['type', link.type],
  ])
  for (const name of ['description', 'confidence', 'standing'] as const) {
    const value = e.fields[name]
    if (value !== undefined && value !== 'confirmed') fields.set(name, fromData(value))
  }
  return new Entity(
    e.kind,
    fields,
    new Map<string, Value>([...toScheme(e, reader.registry()).hidden, ['from-id', link.from], ['to-id', link.to]]),
  )
}
