import type { Memory } from '../../engine/memory.ts'
import type { Verb } from '../../engine/write/verb.ts'
import { takesBriefly } from '../../model/args.ts'
import type { Field, Json } from '../../model/field.ts'
import { COMMON, fieldsOf, type Kind } from '../../model/kind.ts'
import { didYouMean } from '../../model/names.ts'
import { isObject } from '../../model/object.ts'
import type { Registry } from '../../model/registry.ts'
import { CONTROLS } from '../../model/validate.ts'
import { fromData } from '../../scheme/data.ts'
import { declare, type Help } from '../../scheme/define.ts'
import { builtinHelp } from '../../scheme/library.ts'
import { refusal } from '../../scheme/refusals.ts'
import { Entity, list, SchemeError } from '../../scheme/values.ts'
import type { Functions, Source } from './knowledge.ts'
import { textOf } from './options.ts'

function entity(kind: string, fields: { [field: string]: unknown }): Entity {
  const said = Object.entries(fields).filter(([, v]) => v !== undefined && v !== '')
  return new Entity(kind, new Map(said.map(([k, v]) => [k, fromData(v)])))
}

const call = (verb: string, args: unknown) => JSON.stringify([verb, args])

interface VerbHelp extends Pick<Help, 'name' | 'about' | 'example'> {
  required: string[]
  optional: string[]
  /** What each argument takes; fields of kinds are told by `describe`. */
  takes?: { [argument: string]: string }
}

/** What every verb takes, those of kinds included, as help and docs show it. */
export function verbHelp(registry: Registry, verbs: Iterable<Verb>): VerbHelp[] {
  const kinds = registry.visibleKinds()
  const records = kinds.flatMap((kind) => {
    const [required] = kind.key
    const own = Object.entries(fieldsOf(kind)).flatMap(([name, f]) => (f.system || name === required ? [] : [name]))
    return [`record-${kind.name}`, ...(kind.aliases ?? [])].map((name) => ({
      ...{ name, about: `records ${kind.about}`, required: [required] },
      ...{ optional: [...own, ...CONTROLS.filter((c) => c !== 'id')], example: call(name, kind.example) },
    }))
  })
  const deletes = kinds.map(({ name, key, example }) => ({
    name: `delete-${name}`,
    about: `takes a ${name} out of every list; restore brings it back`,
    ...{ required: ['ref'], optional: ['reason', 'expectedVersion'] },
    example: call(`delete-${name}`, { ref: String(example[key[0]] ?? '') }),
  }))
  const others = [...verbs].map(({ name, about, args, example }) => ({
    ...{ name, about, example: call(name, example) },
    required: Object.keys(args).filter((arg) => args[arg]!.required),
    optional: Object.keys(args).filter((arg) => !args[arg]!.required),
    takes: Object.fromEntries(Object.entries(args).map(([name, arg]) => [name, `${takesBriefly(arg)}: ${arg.about}`])),
  }))
  return [...records, ...deletes, ...others]
}

const fieldEntity = (name: string, { type, about, choices, min, max, default: unsaid }: Field) =>
  entity('field', { name, type, about, choices, min, max, default: unsaid })

export function introspection(memory: Memory, source: Source, functions: () => Functions): Functions {
  const registry = () => source.reader.registry()
  const kinds = () => registry().visibleKinds()
  const verbs = () => verbHelp(registry(), memory.verbs.values())
  const unknown = (what: string, names: readonly string[], name: string, otherwise: string): SchemeError =>
    new SchemeError(`${what} "${name}"`, didYouMean(name, names, otherwise))
  // biome-ignore format: a table, one entry a line where it can be
  return {
    '(verbs) | every verb that act takes; (help "verb") gives its arguments | (verbs)': () =>
      list(verbs().map(({ name, about }) => entity('verb', { name, about }))),
    '(kinds) | every kind of knowledge, with how many are recorded; (describe "kind") gives its fields | (kinds)': () => {
      const counts = new Map(source.reader.counts().map((c) => [c.kind, c.n]))
      return list(
        kinds().map(({ name, about, plural, identity }) =>
          entity('kind', { name, about, plural, identity, entities: counts.get(name) ?? 0 }),
        ),
      )
    },
    '(relations) | every relation that link-entities takes | (relations)': () =>
      list(
        registry()
          .relations()
          .map(({ name, about, inverse, symmetric, acyclic, impact }) =>
            entity('relation', {
              ...{ name, about, inverse: inverse === name ? undefined : inverse, symmetric: symmetric || undefined },
              ...{ acyclic: acyclic || undefined, impact: impact === 'none' ? undefined : impact },
            }),
          ),
      ),
    '(describe name) | the fields of a kind, or a relation, with an example | (describe "decision")': ([wanted]) => {
      const name = textOf(wanted)
      const kind = registry().kind(name) ?? registry().kindByPlural(name)
      if (kind) return describe(kind)
      const relation = registry().relation(name)
      if (relation) {
        const example = call('link-entities', { from: 'plan-then-apply', to: 'use-sqlite', type: relation.name })
        return entity('relation', { ...relation, example })
      }
      if (verbs().some((v) => v.name === name))
        throw new SchemeError(`${name} is a verb`, `(help "${name}") tells its arguments`)
      const names = [...registry().kinds(), ...registry().relations()].map((known) => known.name)
      throw unknown('no kind or relation', names, name, '(kinds) and (relations) list them')
    },
    '(help [name]) | what a function, a form or a verb does, with an example; without a name, every name there is | (help "filter")': ([wanted]) => {
      const builtins = builtinHelp()
      const own = declare(functions())
      if (wanted === undefined) return list([...new Set([...own.keys(), ...builtins.keys()])].sort())
      const name = textOf(wanted)
      const f = own.get(name === 'as-of' ? 'call-as-of' : name)
      if (f) return entity('help', { name, about: f.about, example: f.example })
      const b = builtins.get(name)
      if (b) return entity('help', { name, about: b.about, signature: b.signature, example: b.example })
      const reason = refusal(name)
      if (reason !== undefined) throw new SchemeError(`${name} is not offered: ${reason}`)
      const verb = verbs().find((v) => v.name === name)
      if (verb) return entity('verb', { ...verb })
      const names = [...own.keys(), ...builtins.keys(), ...verbs().map((v) => v.name)]
      throw unknown('nothing is called', names, name, '(help) lists every name')
    },
    '(schema-candidates) | structure that recurs in attrs and could become fields of a kind of your own (define-kind) | (schema-candidates)': (_, ctx) => {
      const found = kinds().flatMap((kind) => {
        const entities = source.reader.list(kind.name)
        ctx.charge(entities.length)
        const attrs = entities.flatMap((e) => (isObject(e.fields.attrs) ? Object.entries(e.fields.attrs) : []))
        return [...Map.groupBy(attrs, ([field]) => field)].map(([field, seen]) => ({
          kind: kind.name,
          field,
          type: [...new Set(seen.map(([, value]) => typeName(value)))].join(' or '),
          entities: seen.length,
          example: `(map (lambda (x) (@ (@ x :attrs) "${field}")) (get-${kind.plural}))`,
        }))
      })
      return list(
        found
          .filter((candidate) => candidate.entities >= MIN_RECURRENCE)
          .sort((a, b) => b.entities - a.entities || (a.field < b.field ? -1 : 1))
          .map((candidate) => entity('candidate', candidate)),
      )
    },
  }
}

function describe(kind: Kind): Entity {
  const common = Object.entries(COMMON).filter(([, f]) => !('system' in f))
  const { name, about, plural, identity, key, positional } = kind
  return entity('kind', {
    ...{ name, about, plural, identity, key, positional },
    fields: [...Object.entries(kind.fields), ...common].map(([field, f]) => fieldEntity(field, f)),
    example: kind.internal ? '(written by Tidemark itself)' : call(`record-${kind.name}`, kind.example),
  })
}

/** A key of attrs that stands on this many entities is worth a field. */
const MIN_RECURRENCE = 3

function typeName(v: Json): string {
  if (Array.isArray(v)) return 'list'
  if (v === null) return 'text'
  return { string: 'text', number: 'number', boolean: 'flag', object: 'map' }[
    typeof v as 'string' | 'number' | 'boolean' | 'object'
  ]
}
