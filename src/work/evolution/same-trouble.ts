import type { Memory } from '../../engine/memory.ts'
import { cut } from '../../model/text.ts'
import { type Seen, troublesIn } from './pattern.ts'
import { likenessOf, observationsOf, SAME } from './synthesis.ts'

const MOST_NAMED = 3

const newestFirst = (a: Seen, b: Seen): number => b.at - a.at

/** The trouble of an observation by its newest words, with its reference. */
export const named = ({ what, entity }: Seen): string => `"${cut(what, 80)}" (${entity.id})`

/** The action that says that two observations are one trouble. */
export const sameAs = (one: Seen, other: Seen): string =>
  JSON.stringify(['link-entities', { from: one.entity.id, to: other.entity.id, type: SAME }])

/** Asks whether a new observation is a known trouble in other words (docs/evolution.md). */
export function askWhetherSame(memory: Memory, id: string): string | undefined {
  const all = observationsOf(memory)
  const one = all.find((s) => s.entity.id === id)
  if (one === undefined || one.good || one.operation === '') return undefined
  const own = all.filter((s) => s.operation === one.operation)
  const troubles = troublesIn(own, likenessOf(memory, all))
  if (!troubles.some((group) => group.length === 1 && group[0] === one)) return undefined
  const others = troubles
    .filter((group) => !group.includes(one))
    .map((group) => group.toSorted(newestFirst)[0]!)
    .sort(newestFirst)
  if (others.length === 0) return undefined
  const told = others.slice(0, MOST_NAMED).map(named).join(', ')
  return `told before of ${one.operation}: ${told}; if this is the trouble of the first in other words: ${sameAs(one, others[0]!)}`
}

/** Troubles told once or twice, by operation, where put together they might be enough for a proposal. */
export function aloneIn(memory: Memory, all: readonly Seen[], enough: number): Seen[][] {
  const open = all.filter((s) => s.operation !== '' && s.entity.fields.synthesized === undefined)
  const few = troublesIn(open, likenessOf(memory, all)).filter((group) => group.length < enough)
  return [...Map.groupBy(few, ([first]) => first!.operation).values()]
    .filter((groups) => groups.length > 1 && groups.flat().length >= enough)
    .map((groups) => groups.map((group) => group.toSorted(newestFirst)[0]!).sort(newestFirst))
}
