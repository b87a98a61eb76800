import { expect, test } from 'vitest'
import { similarRole } from '../../src/find/graph/similar-role.ts'
import { discover } from '../../src/project/discover/discover.ts'
import { openTestMemory } from '../helpers.ts'

/** Numbers from 0 to n − 1, the same for the same seed. */
function random(seed: number): (n: number) => number {
  let state = seed
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
}

const KINDS = ['decision', 'principle', 'pattern', 'concept'] as const
const RELATIONS = ['supports', 'constrains', 'cites', 'impacts', 'informs', 'uses', 'implements']
const named = (kind: string, name: string) => [`record-${kind}`, { name }] as const

/** A graph of links between `size` entities: [from, relation, to]. */
function shape(size: number, next: (n: number) => number): [number, string, number][] {
  const links: [number, string, number][] = []
  for (let to = 1; to < size; to++) links.push([next(to), RELATIONS[next(RELATIONS.length)]!, to])
  for (let extra = 0; extra < size / 2; extra++) {
    const [a, b] = [next(size), next(size)]
    if (a !== b) links.push([a, RELATIONS[next(RELATIONS.length)]!, b])
  }
  return links
}

test('[G4] the counterpart in the same structure under other words is first', () => {
  const seed = 20261122
  const next = random(seed)
  const t = openTestMemory()
  const [GRAPHS, SIZE] = [12, 8]
  const plant = (graph: number, side: string, kinds: readonly string[], links: [number, string, number][]) => {
    const name = (i: number) => `${kinds[i]}:${side}-${graph}-${i}`
    t.memory.act(kinds.map((kind, i) => named(kind, `${side}-${graph}-${i}`)))
    t.memory.act(links.map(([from, type, to]) => ['link-entities', { from: name(from), to: name(to), type }]))
  }
  for (let graph = 0; graph < GRAPHS; graph++) {
    const kinds = Array.from({ length: SIZE }, () => KINDS[next(KINDS.length)]!)
    const links = shape(SIZE, next)
    plant(graph, 'harbour', kinds, links)
    plant(graph, 'orchard', kinds, links)
    // as many that are like nothing
    plant(graph, 'noise', kinds, shape(SIZE, next))
  }
  const { reader } = t.memory
  let [asked, first] = [0, 0]
  for (const kind of KINDS)
    for (const e of reader.list(kind)) {
      if (!e.name.startsWith('harbour') || reader.links('from', e.id).length + reader.links('to', e.id).length === 0) continue // biome-ignore format: one thought
      asked++
      if (reader.entity(similarRole(reader, e.id)[0]!.id)?.name === e.name.replace('harbour', 'orchard')) first++
    }
  expect(asked, `seed ${seed}`).toBeGreaterThan(60)
  expect(first / asked, `seed ${seed}: ${first} of ${asked}`).toBeGreaterThanOrEqual(0.9)
})

test('[G4] nothing plays the role of what has no links, and an entity is not its own counterpart', () => {
  const t = openTestMemory()
  t.memory.act([named('decision', 'a'), named('decision', 'b'), named('decision', 'c'), named('principle', 'p')])
  t.memory.act([['link-entities', { from: 'principle:p', to: 'decision:a', type: 'supports' }]])
  const { reader } = t.memory
  expect(similarRole(reader, 'decision:c')).toEqual([])
  expect(similarRole(reader, 'decision:a')).toEqual([])
  t.memory.act([['link-entities', { from: 'principle:p', to: 'decision:b', type: 'supports' }]])
  expect(similarRole(reader, 'decision:a')).toEqual([{ id: 'decision:b', score: 1 }])
  expect(discover(t.memory, '(map (lambda (x) (list (:name x) (:score x))) (similar-role "a"))')).toEqual(['(("b" 1.0))']) // biome-ignore format: one thought
})
