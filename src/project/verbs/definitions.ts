import { defineVerb, reading } from '../../engine/write/verb.ts'
import { any, texts } from '../../model/args.ts'
import { identityOf, KIND_KIND, RELATION_KIND } from '../../model/entity.ts'
import { choice, flag, type Json, text } from '../../model/field.ts'
import { COMMON } from '../../model/kind.ts'
import { RESERVED } from '../../model/names.ts'
import { isObject } from '../../model/object.ts'
import { fieldFrom, kindFrom } from '../../model/project-registry.ts'
import { type Change, leaves, shown } from '../../model/validate.ts'
import { ERASED, listChange, wasErased, word } from './common.ts'

const FIELD = /^[a-z][A-Za-z0-9]*$/
/** Names that every entity answers to already. */
const TAKEN: readonly string[] = [
  ...['id', 'ref', 'anew', 'kind', 'version', 'recorded', 'updated', 'reason', 'expectedVersion'],
  ...Object.keys(COMMON),
  ...Object.getOwnPropertyNames(Object.prototype),
]
const SPEC = ['type', 'about', 'choices', 'min', 'max', 'integer', 'weight']

/** The fields by name; `order` is theirs as they were given, which JSON with sorted keys does not keep. */
const FIELDS = reading(
  any('{field: type, or {type, about, choices, min, max}}'),
  (_p, fields: Json, field, report, given) => {
    if (isObject(fields)) return { fields, order: Object.keys(given as object) }
    return report({ field, message: 'not an object', received: shown(fields), accepted: '{field: type}' })
  },
)

export const defineKind = defineVerb({
  name: 'define-kind',
  about:
    'adds a kind of knowledge to this project, or fields to one it added before; record-<kind> and delete-<kind> come with it',
  args: {
    name: word('the kind, such as endpoint', { required: true }),
    about: text('what it is'),
    plural: word('its plural (name + s)'),
    identity: choice(['name', 'content', 'event'], 'how it is recognised when it is recorded again (name)'),
    key: texts('the fields that identify it (name, else the first)'),
    positional: texts('the fields that are printed by position (the key)'),
    fields: FIELDS,
  },
  example: {
    name: 'endpoint',
    about: 'an HTTP endpoint',
    fields: { name: 'text', method: { type: 'choice', choices: ['GET', 'POST'] }, notes: 'list' },
  },
  plan(p, { name, about, plural, identity, fields: { fields, order } = { fields: {}, order: [] }, ...lists }, report) {
    let bad = false
    const refuse = (field: string, message: string, received: Json, accepted: string) => {
      bad = true
      report({ field, message, received, accepted })
    }
    const known = p.registry().kind(name)
    const own = p.entity(`${KIND_KIND}:${name}`)
    if (RESERVED.has(name)) refuse('name', 'means something else in what Tidemark prints', name, 'another name')
    else if (known && !own)
      refuse('name', `${name} is a core kind`, name, 'another name; attrs take structure of your own')
    else if (wasErased(p, `${KIND_KIND}:${name}`)) refuse('name', ERASED, name, 'another name')
    const plurals = plural ?? (known && own ? known.plural : `${name}s`)
    if (RESERVED.has(plurals))
      refuse('plural', 'means something else in what Tidemark prints', plurals, 'another plural')
    else if (plurals === name) refuse('plural', 'is the name itself', plurals, 'another plural')
    // (get-<kind>), (get-<kind>s) and (get-<plural>) of all kinds must differ
    const names = new Set([name, `${name}s`, plurals])
    for (const k of p.registry().kinds()) {
      if (k.name === name) continue
      const clash = [k.name, k.plural, `${k.name}s`].find((n) => names.has(n))
      if (clash !== undefined) refuse(clash === name ? 'name' : 'plural', `taken by ${k.name}`, clash, 'another one')
    }
    if (known && own && identity !== undefined && identity !== known.identity)
      refuse('identity', 'cannot change: the ids of its entities rest on it', identity, known.identity)
    for (const [field, spec] of Object.entries(fields)) {
      if (!FIELD.test(field) || TAKEN.includes(field)) {
        const message = TAKEN.includes(field) ? 'every kind has it already' : 'not a field name'
        refuse(`fields.${field}`, message, field, 'another name in camelCase')
        continue
      }
      if (spec !== null && typeof spec === 'object')
        for (const key of Object.keys(spec).filter((k) => !SPEC.includes(k)))
          refuse(
            `fields.${field}.${key}`,
            `a field has no "${key}"`,
            shown((spec as { [k: string]: Json })[key]),
            SPEC.join(', '),
          )
      const parsed = fieldFrom(spec)
      if (typeof parsed === 'string') refuse(`fields.${field}`, 'not a field', spec, parsed)
      else if (known && own && known.fields[field] && known.fields[field]!.type !== parsed.type)
        refuse(`fields.${field}`, 'cannot change its type', parsed.type, known.fields[field]!.type)
    }
    const changes: Change[] = [listChange('order', order)]
    const all = { ...known?.fields, ...fields }
    for (const [field, value] of Object.entries(lists))
      if (value.length === 0 || !value.every((f) => Object.hasOwn(all, f)))
        refuse(field, 'not a list of its fields', shown(value), Object.keys(all).join(', '))
      else if (field === 'key' && known && own && value.join() !== known.key.join())
        refuse('key', 'cannot change: the ids of its entities rest on it', shown(value), known.key.join(', '))
      else changes.push(listChange(field, value, true))
    if (!known && Object.keys(fields).length === 0) refuse('fields', 'missing', null, '{field: type}: at least one')
    if (bad) return undefined
    const id = identityOf(p.registry().kind(KIND_KIND)!, { name })!
    const fresh = !p.entity(id)?.live
    if (fresh) p.create(id)
    const specs = Object.fromEntries(
      Object.entries(fields).map(([f, spec]) => [f, typeof spec === 'string' ? { type: spec } : spec]),
    )
    for (const [field, value] of Object.entries({ name, about, plural, identity }))
      if (value !== undefined) p.set(id, field, value)
    p.apply(id, [{ field: 'fields', op: 'merge', put: leaves(specs), drop: [] }, ...changes])
    p.sign(id)
    if (!kindFrom(p.entity(id)!))
      return report({
        field: 'key',
        message: 'the kind has no field to be called by',
        accepted: 'a field "name", or key: ["field"]',
      })
    return { id, kind: KIND_KIND, name, created: fresh }
  },
})

export const defineRelation = defineVerb({
  name: 'define-relation',
  about: 'adds a relation to this project',
  args: {
    name: word('the relation, such as owned-by', { required: true }),
    about: text('what it says'),
    inverse: word('how it reads from the other end'),
    symmetric: flag('it is the same from either end'),
    acyclic: flag('a link that closes a cycle is refused'),
    impact: choice(['forward', 'backward', 'both', 'none'], 'which end is touched when the other changes'),
  },
  example: { name: 'owned-by', about: 'who is responsible', inverse: 'owns' },
  plan(p, args, report) {
    const { name } = args
    if (p.registry().relation(name) && !p.entity(`${RELATION_KIND}:${name}`))
      return report({ field: 'name', message: `${name} is a core relation`, received: name, accepted: 'another name' })
    if (wasErased(p, `${RELATION_KIND}:${name}`))
      return report({ field: 'name', message: ERASED, received: name, accepted: 'another name' })
    const id = identityOf(p.registry().kind(RELATION_KIND)!, { name })!
    const fresh = !p.entity(id)?.live
    if (fresh) p.create(id)
    for (const [field, value] of Object.entries(args)) p.set(id, field, value)
    p.sign(id)
    return { id, kind: RELATION_KIND, name, created: fresh }
  },
})
