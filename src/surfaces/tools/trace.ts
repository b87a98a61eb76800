import { UsageError } from '../../base/errors.ts'
import type { Reader } from '../../engine/read/reader.ts'
import { evolution, trace as traceOf } from '../../find/graph/trace.ts'
import { type Found, type Reached, type Step, waysOf, wordOf } from '../../find/graph/walk.ts'
import { marksOf } from '../../find/recall/told.ts'
import { unverifiedAmong } from '../../find/recall/unverified.ts'
import { stateOf } from '../../find/recall/validity.ts'
import { type Entity, madeAt, readField } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { didYouMean } from '../../model/names.ts'
import type { Registry } from '../../model/registry.ts'
import { asBranches, oneLine, oneOf, partsOf } from './format.ts'
import { AS_OF, at, findAt } from './moment.ts'
import { defineTool, REF } from './tool.ts'

const NAME = 80

export const trace = defineTool({
  name: 'trace',
  title: 'Trace of an entity',
  about:
    'draws what an entity rests on and what came of it: what it replaced, cites, depends on, caused, and what limits it',
  example: 'tidemark trace use-sqlite',
  params: {
    ref: { ...REF, required: true, place: 'rest' },
    relations: { type: 'text', about: 'only these relations, with commas between, e.g. supersedes,superseded-by' },
    depth: { type: 'number', least: 1, about: 'so many links from it (3)' },
    'as-of': AS_OF,
  },
  readOnly: true,
  async run(context, args) {
    const then = await at(context, args)
    const { reader, now } = then
    const registry = reader.registry()
    const start = findAt(context, then, args.ref)
    const relations = oneOf(args.relations)
    const ways = relations === undefined ? undefined : waysOf(registry, partsOf(relations), noRelation(registry))
    const found = traceOf(reader, start.id, { ways, depth: args.depth })
    const chain = evolution(reader, start.id)
    const state = (e: Entity) => stateNow(e, reader, now)
    const unverified = unverifiedAmong(context.memory, [start, ...found.reached.map((r) => r.entity)])
    const of = (e: Entity) => lineOf(e, state(e), unverified.has(e.id))
    const lines = [
      of(start),
      ...(chain.length > 1 ? [`evolution: ${chain.map((e) => oneLine(e.name, NAME)).join(' → ')}`] : []),
      ...drawn(found.reached, start.id, (r, e) => `${wordsOf(registry, r.steps)} ${of(e)}`),
      ...(found.reached.length === 0
        ? [`no link ${ways ? 'of these relations is at it' : 'says what it rests on or what came of it'}`]
        : []),
      ...(found.cut ? ['… there is more: a smaller --depth or fewer --relations show less'] : []),
    ]
    const json = {
      ref: start.id,
      evolution: chain.map((e) => e.id),
      trace: found.reached.map((r) => ({
        ...{ id: r.id, kind: r.entity.kind, name: r.entity.name },
        ...{ relations: r.steps.map((s) => wordOf(registry, s)), of: r.from!.id, depth: r.depth },
        at: new Date(madeAt(r.entity)).toISOString(),
        state: state(r.entity),
      })),
      more: found.cut,
    }
    return { text: lines.join('\n'), json: json as unknown as Json }
  },
})

/** Refuses the name of a relation that is none. */
const noRelation = (registry: Registry) => (name: string) => {
  const names = registry.relations().flatMap((r) => [r.name, r.inverse])
  const hint = didYouMean(name, names, '`tidemark discover "(relations)"` shows them')
  throw new UsageError(`there is no relation "${oneLine(name, NAME)}"`, hint)
}

/** How a person reads links: "supersedes, conflicts with". */
export const wordsOf = (registry: Registry, steps: readonly Step[]): string =>
  [...new Set(steps.map((s) => wordOf(registry, s).replaceAll('-', ' ')))].join(', ')

/** Why it no longer counts, else what its status or state says. */
export function stateNow(e: Entity, reader: Reader, now: number): string {
  const kind = reader.registry().kind(e.kind)
  return stateOf(e, reader, now) ?? String(readField(e, 'status', kind) ?? readField(e, 'state', kind) ?? '')
}

export const lineOf = (e: Entity, state: string, isUnverified = false): string =>
  `${oneLine(e.name, NAME)}  (${[e.kind, new Date(madeAt(e)).toISOString().slice(0, 10), state, ...marksOf({ isUnverified })].filter(Boolean).join(', ')})`

/** A trace as a tree, each entity below the one from which it was reached. */
function drawn(reached: readonly Found[], root: string, line: (r: Reached, e: Entity) => string): string[] {
  const below = Map.groupBy(reached, (r) => r.from!.id)
  const branch = (id: string): string[] =>
    asBranches((below.get(id) ?? []).map((r) => [line(r, r.entity), ...branch(r.id)]))
  return branch(root)
}
