import type { Memory } from '../memory.ts'
import type { Entity as Known } from '../model/entity.ts'
import type { Field, Json } from '../model/field.ts'
import { COMMON, fieldsOf, type Kind } from '../model/kind.ts'
import { nearest } from '../model/names.ts'
import type { Registry } from '../model/registry.ts'
import { CONTROLS } from '../model/validate.ts'
import { fromData } from '../scheme/convert.ts'
import type { HostFunction } from '../scheme/interpreter.ts'
import { builtinHelp } from '../scheme/library.ts'
import { Entity, list, SchemeError, type Value } from '../scheme/values.ts'
import type { Verb } from '../write/verb.ts'
import { type Source, textOf } from './knowledge.ts'

const entity = (kind: string, fields: { [field: string]: unknown }): Entity =>
  new Entity(
    kind,
    new Map(
      Object.entries(fields)
        .filter(([, v]) => v !== undefined && v !== '')
        .map(([k, v]) => [k, fromData(v)]),
    ),
  )

const call = (verb: string, args: unknown) => JSON.stringify([verb, args])

interface VerbHelp {
  name: string
  about: string
  required: string[]
  optional: string[]
  /** What each argument takes; fields of kinds are told by `describe`. */
  takes?: { [argument: string]: string }
  example: string
}

/** What every verb takes, those of kinds included, as help and docs show it. */
export function verbHelp(registry: Registry, verbs: Iterable<Verb>): VerbHelp[] {
  const out: VerbHelp[] = []
  for (const kind of registry.kinds()) {
    if (kind.internal) continue
    const [required] = kind.key
    const optional = Object.entries(fieldsOf(kind)).flatMap(([name, f]) =>
      f.system || name === required ? [] : [name],
    )
    for (const verb of [`record-${kind.name}`, ...(kind.aliases ?? [])]) {
      out.push({
        name: verb,
        about: `records ${kind.about}`,
        required: [required],
        optional: [...optional, ...CONTROLS.filter((c) => c !== 'id')],
        example: call(verb, kind.example),
      })
    }
  }
  for (const kind of registry.kinds()) {
    if (kind.internal) continue
    out.push({
      name: `delete-${kind.name}`,
      about: `takes a ${kind.name} out of every list; restore brings it back`,
      required: ['ref'],
      optional: ['reason', 'expectedVersion'],
      example: call(`delete-${kind.name}`, { ref: String(kind.example[kind.key[0]] ?? '') }),
    })
  }
  for (const v of verbs) {
    out.push({
      name: v.verb,
      about: v.about,
      required: Object.keys(v.args).filter((name) => !v.args[name]!.includes('?')),
      optional: Object.keys(v.args).filter((name) => v.args[name]!.includes('?')),
      takes: Object.fromEntries(Object.entries(v.args).map(([name, type]) => [name, type.replace('?', '')])),
      example: call(v.verb, v.example),
    })
  }
  return out
}

const fieldEntity = (name: string, f: Field) =>
  entity('field', {
    name,
    type: f.type,
    about: f.about,
    choices: f.choices,
    min: f.min,
    max: f.max,
    default: f.default,
  })

export function introspection(
  memory: Memory,
  source: Source,
  functions: () => readonly HostFunction[],
): HostFunction[] {
  const registry = () => source.reader.registry()
  const verbs = () => verbHelp(registry(), memory.verbs.values())
  const describe = (kind: Kind): Value => {
    const own = Object.entries(kind.fields)
    const common = Object.entries(COMMON).filter(([, f]) => !('system' in f))
    return new Entity(
      'kind',
      new Map<string, Value>([
        ['name', kind.name],
        ['about', kind.about],
        ['plural', kind.plural],
        ['identity', kind.identity],
        ['key', fromData([...kind.key])],
        ['positional', fromData([...kind.positional])],
        ['fields', list([...own, ...common].map(([name, f]) => fieldEntity(name, f)))],
        ['example', kind.internal ? '(written by Tidemark itself)' : call(`record-${kind.name}`, kind.example)],
      ]),
    )
  }
  return [
    {
      name: 'verbs',
      min: 0,
      max: 0,
      about: 'every verb that act takes; (help "verb") gives its arguments',
      example: '(verbs)',
      run: () => list(verbs().map((v) => entity('verb', { name: v.name, about: v.about }))),
    },
    {
      name: 'kinds',
      min: 0,
      max: 0,
      about: 'every kind of knowledge, with how many are recorded; (describe "kind") gives its fields',
      example: '(kinds)',
      run() {
        const counts = new Map(source.reader.counts().map((c) => [c.kind, c.n]))
        return list(
          registry()
            .kinds()
            .filter((k) => !k.internal)
            .map((k) =>
              entity('kind', {
                name: k.name,
                about: k.about,
                plural: k.plural,
                identity: k.identity,
                entities: counts.get(k.name) ?? 0,
              }),
            ),
        )
      },
    },
    {
      name: 'relations',
      min: 0,
      max: 0,
      about: 'every relation that link-entities takes',
      example: '(relations)',
      run: () =>
        list(
          registry()
            .relations()
            .map((r) =>
              entity('relation', {
                name: r.name,
                about: r.about,
                inverse: r.inverse === r.name ? undefined : r.inverse,
                symmetric: r.symmetric || undefined,
                acyclic: r.acyclic || undefined,
                impact: r.impact === 'none' ? undefined : r.impact,
              }),
            ),
        ),
    },
    {
      name: 'describe',
      min: 1,
      max: 1,
      about: 'the fields of a kind, or a relation, with an example',
      example: '(describe "decision")',
      run(args) {
        const name = textOf('describe', args[0])
        const kind = registry().kind(name) ?? registry().kindByPlural(name)
        if (kind) return describe(kind)
        const r = registry().relation(name)
        if (r)
          return entity('relation', {
            ...r,
            example: call('link-entities', { from: 'plan-then-apply', to: 'use-sqlite', type: r.name }),
          })
        const near = nearest(name, [
          ...registry()
            .kinds()
            .map((k) => k.name),
          ...registry()
            .relations()
            .map((x) => x.name),
        ])
        if (verbs().some((v) => v.name === name))
          throw new SchemeError(`${name} is a verb`, `(help "${name}") tells its arguments`)
        throw new SchemeError(
          `no kind or relation "${name}"`,
          near.length > 0 ? `did you mean ${near.join(' or ')}?` : '(kinds) and (relations) list them',
        )
      },
    },
    {
      name: 'help',
      min: 0,
      max: 1,
      about: 'what a function, a form or a verb does, with an example; without a name, every name there is',
      example: '(help "filter")',
      run(args) {
        const builtins = builtinHelp()
        const own = functions()
        if (args.length === 0) return list([...new Set([...own.map((f) => f.name), ...builtins.keys()])].sort())
        const name = textOf('help', args[0])
        const f = own.find((x) => x.name === (name === 'as-of' ? 'call-as-of' : name))
        if (f) return entity('help', { name, about: f.about, example: f.example })
        const b = builtins.get(name)
        if (b) return entity('help', { name, about: b.about, signature: b.signature, example: b.example })
        const v = verbs().find((x) => x.name === name)
        if (v) return entity('verb', { ...v })
        const near = nearest(name, [...own.map((x) => x.name), ...builtins.keys(), ...verbs().map((x) => x.name)])
        throw new SchemeError(
          `nothing is called "${name}"`,
          near.length > 0 ? `did you mean ${near.join(' or ')}?` : '(help) lists every name',
        )
      },
    },
    {
      name: 'schema-candidates',
      min: 0,
      max: 0,
      about: 'structure that recurs in attrs and could become fields of a kind of your own (define-kind)',
      example: '(schema-candidates)',
      run(_args, ctx) {
        const found = new Map<string, { kind: string; field: string; types: Set<string>; entities: number }>()
        for (const kind of registry().kinds()) {
          const all: Known[] = kind.internal ? [] : source.reader.list(kind.name)
          ctx.charge(all.length)
          for (const e of all) {
            const attrs = e.fields.attrs
            if (attrs === null || typeof attrs !== 'object' || Array.isArray(attrs)) continue
            for (const [field, value] of Object.entries(attrs as { [k: string]: Json })) {
              const key = `${kind.name}\0${field}`
              const c = found.get(key) ?? { kind: kind.name, field, types: new Set<string>(), entities: 0 }
              c.types.add(typeName(value))
              c.entities++
              found.set(key, c)
            }
          }
        }
        const recurring = [...found.values()]
          .filter((c) => c.entities >= MIN_RECURRENCE)
          .sort((a, b) => b.entities - a.entities || (a.field < b.field ? -1 : 1))
        return list(
          recurring.map((c) =>
            entity('candidate', {
              kind: c.kind,
              field: c.field,
              type: [...c.types].join(' or '),
              entities: c.entities,
              example: `(map (lambda (x) (@ (@ x :attrs) "${c.field}")) (get-${registry().kind(c.kind)!.plural}))`,
            }),
          ),
        )
      },
    },
  ]
}

/** Seen on so many entities, a key of attrs is worth a field. */
const MIN_RECURRENCE = 3

function typeName(v: Json): string {
  if (Array.isArray(v)) return 'list'
  if (v === null) return 'text'
  return { string: 'text', number: 'number', boolean: 'flag', object: 'map' }[
    typeof v as 'string' | 'number' | 'boolean' | 'object'
  ]
}
