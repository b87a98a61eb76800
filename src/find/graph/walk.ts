/**
 * graph: walks over the links between entities. `walk.ts` has the walks themselves; traces, precedents and what-if are
 * made of them. Every walk goes over a `Reader`, so all of them work as of a moment.
 */

import type { Reader } from '../../engine/read/reader.ts'
import type { Edge, Entity } from '../../model/entity.ts'
import type { Registry } from '../../model/registry.ts'

/** A walk stops after so many entities unless the caller says otherwise. */
const NODE_LIMIT = 1_000

/** Which links are followed from their start (`out`), and which from their end (`in`). */
export type Ways = { readonly out: readonly string[]; readonly in: readonly string[] }

export const ALL_WAYS = 'all'

export type Step = { readonly edge: Edge; readonly forward: boolean }

export interface Reached {
  readonly id: string
  readonly depth: number
  /** The one before it, and the links from there; the start has neither. */
  readonly from?: Reached
  readonly steps: readonly Step[]
}

export type Found = Reached & { readonly entity: Entity }

interface WalkOptions {
  readonly ways?: Ways | typeof ALL_WAYS | undefined
  readonly depth?: number | undefined
  readonly limit?: number | undefined
}

/** The ways that names of relations mean; `superseded-by` is `supersedes` from its end. Unknown names are told. */
export function waysOf(registry: Registry, names: readonly string[], unknown: (name: string) => void): Ways {
  const ways = { out: new Set<string>(), in: new Set<string>() }
  for (const name of names) {
    const relation = registry.relation(name)
    if (relation) ways.out.add(name)
    if (relation?.symmetric) ways.in.add(name)
    const inverses = relation ? [] : registry.relations().filter((r) => r.inverse === name)
    for (const { name } of inverses) ways.in.add(name)
    if (!relation && inverses.length === 0) unknown(name)
  }
  return { out: [...ways.out], in: [...ways.in] }
}

/** How a link reads from where the walk came: "supersedes", "superseded-by". */
export const wordOf = (registry: Registry, { edge, forward }: Step): string =>
  forward ? edge.type : (registry.relation(edge.type)?.inverse ?? `${edge.type} of`)

/** The links at some entities, grouped by these, each with where it leads. */
export function stepsFrom(reader: Reader, ids: readonly string[], ways: WalkOptions['ways'] = ALL_WAYS) {
  const steps = new Map<string, Step[]>(ids.map((id) => [id, []]))
  for (const end of ['from', 'to'] as const) {
    const forward = end === 'from'
    const only = ways === ALL_WAYS ? undefined : forward ? ways.out : ways.in
    if (only?.length === 0) continue
    for (const edge of reader.edges(end, ids, only)) steps.get(edge[end])?.push({ edge, forward })
  }
  return steps
}

export const target = ({ edge, forward }: Step): string => (forward ? edge.to : edge.from)

/** The next ring around those reached last; entities in `seen` are left out, new ones are added to it. */
function expand(
  reader: Reader,
  ring: readonly Reached[],
  seen: Map<string, Reached>,
  ways: WalkOptions['ways'],
  limit: number,
): { ring: Reached[]; cut: boolean } {
  const next: Reached[] = []
  const ids = ring.map((r) => r.id)
  const steps = stepsFrom(reader, ids, ways)
  for (const from of ring)
    for (const [id, walked] of Map.groupBy(steps.get(from.id) ?? [], target)) {
      if (seen.has(id)) continue
      if (seen.size >= limit) return { ring: next, cut: true }
      const reached: Reached = { id, depth: from.depth + 1, from, steps: walked }
      seen.set(id, reached)
      next.push(reached)
    }
  return { ring: next, cut: false }
}

/** Breadth first from one entity, itself first; each once, by a shortest path. `cut`: it stopped at its limit. */
export function walk(reader: Reader, start: string, options: WalkOptions = {}) {
  const { ways, depth = Infinity, limit = NODE_LIMIT } = options
  let ring: Reached[] = [{ id: start, depth: 0, steps: [] }]
  const seen = new Map(ring.map((r) => [r.id, r]))
  let cut = false
  for (let d = 0; d < depth && ring.length > 0 && !cut; d++) ({ ring, cut } = expand(reader, ring, seen, ways, limit))
  return { reached: [...seen.values()], cut }
}

/** Walks read ids alone: reads what they have reached, without what is there no more. */
export function readReached(reader: Reader, reached: readonly Reached[]): Found[] {
  const known = new Map(reader.entities(reached.map((r) => r.id)).map((e) => [e.id, e]))
  return reached.flatMap((r) => {
    const entity = known.get(r.id)
    return entity ? [{ ...r, entity }] : []
  })
}

export const neighbours = (reader: Reader, id: string, ways?: WalkOptions['ways']): Reached[] =>
  walk(reader, id, { ways, depth: 1 }).reached.slice(1)

/** From the start of the walk to one that it has reached, both included. */
export function pathOf(reached: Reached): Reached[] {
  const path = [reached]
  for (let at = reached.from; at; at = at.from) path.push(at)
  return path.reverse()
}

/** A shortest path, both ends included: the rings around both ends grow until they meet. */
export function shortestPath(reader: Reader, from: string, to: string, options: WalkOptions = {}) {
  const { ways, depth = Infinity, limit = NODE_LIMIT } = options
  const side = (id: string, ways: WalkOptions['ways']) => {
    const start: Reached = { id, depth: 0, steps: [] }
    return { ring: [start], seen: new Map([[id, start]]), ways, cut: false }
  }
  const [here, there] = [side(from, ways), side(to, ways && ways !== ALL_WAYS ? { out: ways.in, in: ways.out } : ways)]
  if (from === to) return pathOf(here.ring[0]!)
  for (let length = 1; length <= depth; length++) {
    const [near, far] = here.ring.length <= there.ring.length ? [here, there] : [there, here]
    Object.assign(near, expand(reader, near.ring, near.seen, near.ways, limit))
    const met = near.ring.find((r) => far.seen.has(r.id))
    if (met) return joined(here.seen.get(met.id)!, there.seen.get(met.id)!)
    if (near.ring.length === 0 || near.cut) return undefined
  }
  return undefined
}

/** The path to a meeting point, then from there to the start of the other walk. */
function joined(first: Reached, second: Reached): Reached[] {
  const path = pathOf(first)
  for (let at = second; at.from; at = at.from) {
    const steps = at.steps.map(({ edge, forward }) => ({ edge, forward: !forward }))
    const last = path.at(-1)!
    path.push({ id: at.from.id, depth: last.depth + 1, from: last, steps })
  }
  return path
}

/** What lies within some links of an entity, and every link between any two of it. */
export function subgraph(reader: Reader, start: string, options: WalkOptions = {}) {
  const found = walk(reader, start, options)
  const ids = new Set(found.reached.map((r) => r.id))
  const { ways } = options
  const types = ways === undefined || ways === ALL_WAYS ? undefined : [...new Set([...ways.out, ...ways.in])]
  return { ...found, edges: reader.edges('from', [...ids], types).filter((e) => ids.has(e.to)) }
}
