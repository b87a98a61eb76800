import { type GateProblem, gate } from '../model/canonical.ts'
import { identityOf, KIND_KIND } from '../model/entity.ts'
import type { Json } from '../model/field.ts'
import { COMMON } from '../model/kind.ts'
import { RESERVED, WORD } from '../model/names.ts'
import { fieldFrom, kindFrom } from '../model/project-registry.ts'
import { type Change, leaves, shown, textArg } from '../model/validate.ts'
import type { Verb } from '../write/verb.ts'

const FIELD = /^[a-z][A-Za-z0-9]*$/
/** Names that every entity answers to already. */
const TAKEN: readonly string[] = [
  ...['id', 'ref', 'anew', 'kind', 'version', 'recorded', 'updated', 'reason', 'expectedVersion'],
  ...Object.keys(COMMON),
  ...Object.getOwnPropertyNames(Object.prototype),
]
const SPEC = ['type', 'about', 'choices', 'min', 'max', 'integer', 'weight']

export const defineKind: Verb = {
  verb: 'define-kind',
  about:
    'adds a kind of knowledge to this project, or fields to one it added before; record-<kind> and delete-<kind> come with it',
  args: {
    name: 'word',
    about: 'text?',
    plural: 'word? (name + s)',
    identity: 'name, content or event? (name)',
    key: '[field, …]? (name, or the first)',
    positional: '[field, …]? (the key)',
    fields: '{field: type or {type, about, choices, min, max}}',
  },
  example: {
    name: 'endpoint',
    about: 'an HTTP endpoint',
    fields: { name: 'text', method: { type: 'choice', choices: ['GET', 'POST'] }, notes: 'list' },
  },
  plan(p, args, report) {
    const name = textArg(args, 'name', report)
    const about = textArg(args, 'about', report, false)
    const plural = textArg(args, 'plural', report, false)
    const identity = textArg(args, 'identity', report, false)
    const problems: GateProblem[] = []
    const fields = gate(args.fields ?? {}, problems, ['fields'])
    let bad = problems.length > 0
    const refuse = (field: string, message: string, received: Json, accepted: string) => {
      bad = true
      report({ field, message, received, accepted })
    }
    for (const problem of problems)
      report({ field: problem.path.join('.'), message: problem.message, accepted: problem.accepted })
    if (name === undefined) return undefined
    const known = p.registry().kind(name)
    const own = p.entity(`${KIND_KIND}:${name}`)
    const word = 'a word of lower-case letters, digits and hyphens'
    if (!WORD.test(name)) refuse('name', 'not a word', name, word)
    else if (RESERVED.has(name)) refuse('name', 'means something else in what Tidemark prints', name, 'another name')
    else if (known && !own)
      refuse('name', `${name} is a core kind`, name, 'another name; attrs take structure of your own')
    const plurals = plural ?? (known && own ? known.plural : `${name}s`)
    if (!WORD.test(plurals)) refuse('plural', 'not a word', plurals, word)
    else if (RESERVED.has(plurals))
      refuse('plural', 'means something else in what Tidemark prints', plurals, 'another plural')
    else if (plurals === name) refuse('plural', 'is the name itself', plurals, 'another plural')
    // (get-<kind>), (get-<kind>s) and (get-<plural>) of all kinds must differ
    const names = new Set([name, `${name}s`, plurals])
    for (const k of p.registry().kinds()) {
      if (k.name === name) continue
      const clash = [k.name, k.plural, `${k.name}s`].find((n) => names.has(n))
      if (clash !== undefined) refuse(clash === name ? 'name' : 'plural', `taken by ${k.name}`, clash, 'another one')
    }
    if (identity !== undefined && !['name', 'content', 'event'].includes(identity))
      refuse('identity', 'not one of the choices', identity, 'name, content or event')
    if (known && own && identity !== undefined && identity !== known.identity)
      refuse('identity', 'cannot change: the ids of its entities rest on it', identity, known.identity)
    if (fields === null || typeof fields !== 'object' || Array.isArray(fields)) {
      refuse('fields', 'not an object', shown(args.fields), '{field: type}')
      return undefined
    }
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
    const order = Object.keys((args.fields ?? {}) as object) // the gate sorts keys
    const lists: Change[] = [{ field: 'order', op: 'edit', list: true, add: order, remove: [], replace: false }]
    for (const listName of ['key', 'positional'] as const) {
      const value = args[listName]
      if (value === undefined) continue
      const all = { ...known?.fields, ...fields }
      if (
        !Array.isArray(value) ||
        value.length === 0 ||
        !value.every((f) => typeof f === 'string' && Object.hasOwn(all, f))
      )
        refuse(listName, 'not a list of its fields', shown(value), Object.keys(all).join(', '))
      else if (listName === 'key' && known && own && value.join() !== known.key.join())
        refuse('key', 'cannot change: the ids of its entities rest on it', shown(value), known.key.join(', '))
      else lists.push({ field: listName, op: 'edit', list: true, add: value as string[], remove: [], replace: true })
    }
    if (!known && Object.keys(fields).length === 0) refuse('fields', 'missing', null, '{field: type}: at least one')
    if (bad) return undefined
    const id = identityOf(p.registry().kind(KIND_KIND)!, { name })!
    const fresh = !p.entity(id)?.live
    if (fresh) p.create(id)
    const specs = Object.fromEntries(
      Object.entries(fields).map(([f, spec]) => [f, typeof spec === 'string' ? { type: spec } : spec]),
    )
    p.apply(id, [
      { field: 'name', op: 'set', value: name },
      ...(about !== undefined ? [{ field: 'about', op: 'set', value: about } as const] : []),
      ...(plural !== undefined ? [{ field: 'plural', op: 'set', value: plural } as const] : []),
      ...(identity !== undefined ? [{ field: 'identity', op: 'set', value: identity } as const] : []),
      { field: 'fields', op: 'merge', put: leaves(specs), drop: [] },
      ...lists,
    ])
    p.sign(id)
    if (!kindFrom(p.entity(id)!)) {
      report({
        field: 'key',
        message: 'the kind has no field to be called by',
        accepted: 'a field "name", or key: ["field"]',
      })
      return undefined
    }
    return { id, kind: KIND_KIND, name, created: fresh }
  },
}
