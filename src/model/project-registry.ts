import { type Entity, KIND_KIND, RELATION_KIND } from './entity.ts'
import type { Field, FieldType, Json } from './field.ts'
import type { Identity, Kind } from './kind.ts'
import { createRegistry, type Registry } from './registry.ts'
import { defineRelation, type Relation } from './relation.ts'

const TYPES: readonly FieldType[] = ['text', 'number', 'flag', 'choice', 'time', 'set', 'list', 'map']

const textOf = (v: Json | undefined): string | undefined => (typeof v === 'string' ? v : undefined)

/** A field as `define-kind` takes it: a type's name, or `{type, about, choices, min, max, …}`. */
export function fieldFrom(spec: Json): Field | string {
  const o = typeof spec === 'string' ? { type: spec } : spec
  if (o === null || typeof o !== 'object' || Array.isArray(o)) return 'not a field type or an object with one'
  const type = textOf(o.type) as FieldType | undefined
  if (!type || !TYPES.includes(type)) return `type is one of ${TYPES.join(', ')}`
  const choices = o.choices
  if (
    type === 'choice' &&
    !(Array.isArray(choices) && choices.length > 0 && choices.every((c) => typeof c === 'string'))
  )
    return 'a choice needs choices: […]'
  return {
    type,
    about: textOf(o.about) ?? '',
    weight: typeof o.weight === 'number' ? o.weight : 1,
    ...(type === 'choice' ? { choices: choices as string[] } : {}),
    ...(typeof o.min === 'number' ? { min: o.min } : {}),
    ...(typeof o.max === 'number' ? { max: o.max } : {}),
    ...(o.integer === true ? { integer: true } : {}),
  }
}

/** The kind that an entity written by `define-kind` declares; nothing while a merge has left it incomplete. */
export function kindFrom(e: Entity): Kind | undefined {
  const name = textOf(e.fields.name)
  const specs = e.fields.fields
  if (!name || typeof specs !== 'object' || specs === null || Array.isArray(specs)) return undefined
  const fields: Record<string, Field> = {}
  for (const [field, spec] of Object.entries(specs)) {
    const parsed = fieldFrom(spec)
    if (typeof parsed !== 'string') fields[field] = parsed
  }
  const names = Object.keys(fields)
  const listed = (field: string): string[] =>
    ((e.fields[field] as Json[] | undefined) ?? []).filter(
      (f): f is string => typeof f === 'string' && names.includes(f),
    )
  const stated = listed('key')
  const key = stated.length > 0 ? stated : names.includes('name') ? ['name'] : listed('order').slice(0, 1)
  if (key.length === 0) key.push(...names.slice(0, 1))
  if (key.length === 0) return undefined
  const positional = listed('positional')
  const ordered = [...new Set([...key, ...positional, ...listed('order'), ...names])]
  return {
    name,
    plural: textOf(e.fields.plural) ?? `${name}s`,
    about: textOf(e.fields.about) ?? '',
    identity: (textOf(e.fields.identity) as Identity | undefined) ?? 'name',
    key: key as [string, ...string[]],
    positional: positional.length > 0 ? positional : key,
    fields: Object.fromEntries(ordered.map((f) => [f, fields[f]!])),
    travels: 'project',
    example: Object.fromEntries(key.map((f) => [f, exampleOf(f, fields[f]!)])),
  }
}

/** A value that the field takes, for help that runs as it stands. */
const exampleOf = (name: string, { type, min, max, choices = [] }: Field): Json =>
  ({
    text: `example ${name}`,
    number: min ?? max ?? 1,
    flag: true,
    choice: choices[0] ?? '',
    time: '2026-11-21',
    set: [`example ${name}`],
    list: [`example ${name}`],
    map: { key: 'value' },
  })[type]

function relationFrom(e: Entity): Relation | undefined {
  const name = textOf(e.fields.name)
  if (!name) return undefined
  return defineRelation({
    name,
    about: textOf(e.fields.about) ?? '',
    inverse: textOf(e.fields.inverse) ?? `${name}-of`,
    symmetric: e.fields.symmetric === true,
    acyclic: e.fields.acyclic === true,
    impact: (textOf(e.fields.impact) as Relation['impact'] | undefined) ?? 'none',
  })
}

/** The registry with what these entities add or change; a project never redefines a core kind or relation. */
export function withProjectKinds(base: Registry, core: Registry, entities: readonly Entity[]): Registry {
  const kinds = new Map(base.kinds().map((k) => [k.name, k]))
  const relations = new Map(base.relations().map((r) => [r.name, r]))
  for (const e of entities) {
    const name = textOf(e.fields.name) ?? ''
    if (e.kind === KIND_KIND && !core.kind(name)) {
      const kind = e.live ? kindFrom(e) : undefined
      if (kind) kinds.set(name, kind)
      else kinds.delete(name)
    }
    if (e.kind === RELATION_KIND && !core.relation(name)) {
      const relation = e.live ? relationFrom(e) : undefined
      if (relation) relations.set(name, relation)
      else relations.delete(name)
    }
  }
  return createRegistry([...kinds.values()], [...relations.values()], core.roots)
}
