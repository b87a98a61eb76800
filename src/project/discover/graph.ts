import { ancestors, PRECEDENT_DEPTH, precedents } from '../../find/graph/precedents.ts'
import { similarRole } from '../../find/graph/similar-role.ts'
import { evolution, TRACE_DEPTH, trace } from '../../find/graph/trace.ts'
import type { Found, Ways } from '../../find/graph/walk.ts'
import { neighbours, readReached, shortestPath, subgraph, waysOf, wordOf } from '../../find/graph/walk.ts'
import { type Entity as Known, madeAt } from '../../model/entity.ts'
import { type CallContext, Entity, Rec, type Run, type Value } from '../../scheme/values.ts'
import { type Functions, type Source, theOne } from './knowledge.ts'
import { CELLS_PER_ENTITY, choiceOf, made, options, textOf } from './options.ts'
import { linksMade, referenceTo, toScheme, toSchemeInShort } from './values.ts'

/** What reading every link costs, in steps of a program. */
const STEPS_OF_ALL_LINKS = 20_000
const STEPS_PER_NODE = 20

export function graphFunctions(source: Source): Functions {
  const registry = () => source.reader.registry()
  const plainly = (all: readonly Known[], ctx: CallContext): Value =>
    made(all, CELLS_PER_ENTITY, ctx, (e) => toScheme(e, registry()))

  /** The relations that a program names, as the ways they mean. */
  const ways = (names: readonly string[] | undefined): Ways | undefined => {
    const { reader } = source
    const all = reader.registry().relations()
    const known = [...new Set(all.flatMap((r) => [r.name, r.inverse]))]
    return names && waysOf(reader.registry(), names, (name) => choiceOf('relation', name, known))
  }

  const reached = (all: readonly Found[], ctx: CallContext): Value => {
    ctx.charge(all.length * STEPS_PER_NODE)
    // with the relation, from what, and how many links from the start
    return made(all, CELLS_PER_ENTITY, ctx, (r) => {
      const said: [string, Value][] = r.from
        ? [
            ['relation', [...new Set(r.steps.map((s) => wordOf(registry(), s)))].join(', ')],
            ['of', referenceTo(source.reader, r.from.id)],
            ['depth', BigInt(r.depth)],
          ]
        : []
      const at = new Date(madeAt(r.entity)).toISOString().slice(0, 10)
      return toSchemeInShort(r.entity, registry(), [...said, ['at', at]])
    })
  }
  /** A function of one reference with some options. */
  const of =
    (
      known: readonly string[],
      run: (start: Known, given: ReturnType<typeof options>, ctx: CallContext) => Value,
    ): Run =>
    (args, ctx) => {
      const given = options(args, known)
      return run(theOne(source.reader, textOf(given.plain[0])), given, ctx)
    }

  // biome-ignore format: a table, one entry a line where it can be
  return {
    '(neighbours ref option …) | what is linked with an entity, each with :relation; option :relations | (neighbours "use-sqlite" :relations \'(cites cited-by))':
      of(['relations'], (e, { texts }, ctx) => reached(readReached(source.reader, neighbours(source.reader, e.id, ways(texts('relations')))), ctx)),
    [`(trace ref option …) | what an entity rests on and what came of it, in the order of time, each with :relation :of :depth; options :relations and :depth (${TRACE_DEPTH}) | (trace "use-sqlite" :relations '(supersedes superseded-by) :depth 5)`]:
      of(['relations', 'depth'], (e, { texts, whole }, ctx) =>
        reached(trace(source.reader, e.id, { ways: ways(texts('relations')), depth: whole('depth') }).reached, ctx)),
    '(evolution ref) | the chain of supersessions that an entity stands in, oldest first | (map :name (evolution "use-sqlite"))':
      of([], (e, _, ctx) => plainly(evolution(source.reader, e.id), ctx)),
    [`(precedents ref option …) | what informed an entity over references, supersedes and cites, newest first; option :depth (${PRECEDENT_DEPTH}) | (precedents "use-sqlite")`]:
      of(['depth'], (e, { whole }, ctx) => reached(precedents(source.reader, e.id, whole('depth')), ctx)),
    '(path from to option …) | a shortest chain of links from one entity to another, or nil; options :relations and :depth | (path "use-sqlite" "plan-then-apply")': (args, ctx) => {
      const { plain, texts, whole } = options(args, ['relations', 'depth'])
      const [from, to] = [0, 1].map((i) => theOne(source.reader, textOf(plain[i])))
      const found = shortestPath(source.reader, from!.id, to!.id, { ways: ways(texts('relations')), depth: whole('depth') })
      return found ? reached(readReached(source.reader, found), ctx) : null
    },
    '(subgraph ref option …) | {:entities :links} within some links of an entity; options :depth (1) and :relations | (subgraph "use-sqlite" :depth 2)':
      of(['depth', 'relations'], (e, { texts, whole }, ctx) => {
        const found = subgraph(source.reader, e.id, { ways: ways(texts('relations')), depth: whole('depth') ?? 1 })
        const entities = plainly(source.reader.entities(found.reached.map((r) => r.id)), ctx)
        const links = linksMade(source.reader, found.edges.map((l) => l.id), ctx)
        return new Rec(new Map([['entities', entities], ['links', links]]))
      }),
    '(ancestors ref) | the task, activity and goal at which something was recorded, or below which it stands, nearest first | (ancestors "use-sqlite")':
      of([], (e, _, ctx) => plainly(ancestors(source.reader, e), ctx)),
    '(similar-role ref option …) | what stands in the graph as an entity does, whatever its words: the same relations to the same kinds, each with :score; option :limit (10) | (similar-role "use-sqlite")':
      of(['limit'], (e, { whole }, ctx) => {
        ctx.charge(STEPS_OF_ALL_LINKS)
        return made(similarRole(source.reader, e.id, whole('limit')), CELLS_PER_ENTITY, ctx, ({ id, score }) => {
          const found = toScheme(source.reader.entity(id)!, registry())
          return new Entity(found.kind, new Map([...found.fields, ['score', Math.round(score * 100) / 100]]), found.hidden)
        })
      }),
  }
}
