import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Reader } from '../../src/engine/read/reader.ts'
import { ALL_WAYS, shortestPath, subgraph, type Ways, walk } from '../../src/find/graph/walk.ts'
import { openTestMemory } from '../helpers.ts'

const NODES = 9
const RELATIONS = ['cites', 'constrains', 'conflicts-with', 'references'] as const
type Link = readonly [from: number, type: (typeof RELATIONS)[number], to: number]

const links = fc.array(
  fc.tuple(fc.nat(NODES - 1), fc.constantFrom(...RELATIONS), fc.nat(NODES - 1)).filter(([a, , b]) => a !== b),
  { maxLength: 22 },
)
const ways = fc.oneof(
  fc.constant(ALL_WAYS),
  fc.record({ out: fc.subarray([...RELATIONS]), in: fc.subarray([...RELATIONS]) }),
) as fc.Arbitrary<Ways | typeof ALL_WAYS>

const id = (n: number) => `decision:d${n}`

/** Distances by the plainest algorithm there is: relax every link until nothing changes. */
function distances(graph: readonly Link[], start: number, over: Ways | typeof ALL_WAYS): Map<string, number> {
  const far = new Map([[id(start), 0]])
  for (let changed = true; changed; ) {
    changed = false
    for (const [a, type, b] of graph) {
      // the ends of a symmetric link are kept in order
      const [from, to] = type === 'conflicts-with' && b < a ? [b, a] : [a, b]
      const hops = [
        ...(over === ALL_WAYS || over.out.includes(type) ? [[from, to] as const] : []),
        ...(over === ALL_WAYS || over.in.includes(type) ? [[to, from] as const] : []),
      ]
      for (const [x, y] of hops) {
        const d = far.get(id(x))
        if (d === undefined || d + 1 >= (far.get(id(y)) ?? Infinity)) continue
        far.set(id(y), d + 1)
        changed = true
      }
    }
  }
  return far
}

function agrees(reader: Reader, graph: readonly Link[], start: number, end: number, over: Ways | typeof ALL_WAYS) {
  const model = distances(graph, start, over)
  const found = walk(reader, id(start), { ways: over })
  expect(new Map(found.reached.map((r) => [r.id, r.depth]))).toEqual(model)
  const near = walk(reader, id(start), { ways: over, depth: 2 }).reached.map((r) => r.id)
  expect(new Set(near)).toEqual(new Set([...model].flatMap(([n, d]) => (d <= 2 ? [n] : []))))
  const path = shortestPath(reader, id(start), id(end), { ways: over })
  expect(path && path.length - 1).toBe(model.get(id(end)))
  for (const r of path ?? []) for (const s of r.steps) expect([s.edge.from, s.edge.to].sort()).toEqual([r.id, r.from!.id].sort()) // biome-ignore format: one claim
  const within = subgraph(reader, id(start), { depth: 1 })
  const ids = new Set(within.reached.map((r) => r.id))
  const between = new Set(
    graph.flatMap(([a, type, b]) => {
      const [from, to] = type === 'conflicts-with' && b < a ? [b, a] : [a, b]
      return ids.has(id(from)) && ids.has(id(to)) ? [`${id(from)} ${type} ${id(to)}`] : []
    }),
  )
  expect(new Set(within.edges.map((e) => `${e.from} ${e.type} ${e.to}`))).toEqual(between)
}

test('[G1] [K11] walks equal a plain model on random graphs, now and as of the moment before more was linked', () => {
  fc.assert(
    fc.property(links, links, ways, fc.nat(NODES - 1), fc.nat(NODES - 1), (first, later, over, start, end) => {
      const m = openTestMemory()
      try {
        const put = (some: readonly Link[]) =>
          some.length === 0 || m.act(some.map(([a, type, b]) => ['link-entities', { from: id(a), type, to: id(b) }]))
        m.act(
          Array.from({ length: NODES }, (_, n) => ['record-decision', { name: `d${n}`, description: `choice ${n}` }]),
        )
        put(first)
        const then = m.clock.now + 1000
        m.clock.days(1)
        put(later)
        agrees(m.memory.reader, [...first, ...later], start, end, over)
        agrees(m.memory.asOf(then), first, start, end, over)
      } finally {
        m.close()
      }
    }),
    { numRuns: 60 },
  )
})

test('[G1] a walk stops at its limit of entities and says so', () => {
  const m = openTestMemory()
  m.act(Array.from({ length: 9 }, (_, n) => ['record-decision', { name: `d${n}`, description: `choice ${n}` }]))
  m.act(Array.from({ length: 8 }, (_, n) => ['link-entities', { from: 'd0', type: 'cites', to: `d${n + 1}` }]))
  const { reached, cut } = walk(m.memory.reader, id(0), { limit: 5 })
  expect([reached.length, cut]).toEqual([5, true])
  expect(walk(m.memory.reader, id(0), { limit: 9 }).cut).toBe(false)
})
