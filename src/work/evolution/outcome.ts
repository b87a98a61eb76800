import type { Memory } from '../../engine/memory.ts'
import type { Entity } from '../../model/entity.ts'
import { numbered } from '../handoff/views/mutations.ts'
import { operationOf } from '../handoff/views/observations.ts'
import { measured, statusNow } from './change.ts'
import type { Likeness, Seen } from './pattern.ts'
import { IN_FORCE } from './status.ts'
import { likenessOf, observationsOf } from './synthesis.ts'

/** By chance alone it would come out so at most this often: small counts have to do, so a person still decides. */
const CHANCE = 0.2
/** After so many observations without a difference it is told that there is none. */
const ENOUGH_TO_COMPARE = 5

export interface Outcome {
  readonly verdict: 'improved' | 'unchanged' | 'worse' | 'too few to say'
  /** How often it recurred, of how many observations of the operation. */
  readonly before: readonly [times: number, of: number]
  readonly after: readonly [times: number, of: number]
}

/** The chance of `k` or fewer of `n`, where each happens with probability `p`. */
function atMost(k: number, n: number, p: number): number {
  let [term, sum] = [(1 - p) ** n, 0]
  for (let i = 0; i <= k; i++) {
    sum += term
    term *= ((n - i) / (i + 1)) * (p / (1 - p))
  }
  return sum
}

/** Compares how often it happened before the skill had its step with how often it did since. */
export function compare(before: Outcome['before'], after: Outcome['after']): Outcome {
  const [k, n] = after
  const rate = (before[0] + 1) / (before[1] + 2) // never 0 or 1: a few observations prove neither
  const told = (verdict: Outcome['verdict']): Outcome => ({ verdict, before, after })
  if (n === 0) return told('too few to say')
  if (atMost(k, n, rate) < CHANCE) return told('improved')
  if (1 - atMost(k - 1, n, rate) < CHANCE) return told('worse')
  return told(n >= ENOUGH_TO_COMPARE ? 'unchanged' : 'too few to say')
}

/** What was observed of a mutation's operation before and after it was applied. */
export function outcomeOf(
  memory: Memory,
  e: Entity,
  all: readonly Seen[],
  likeness: Likeness = likenessOf(memory, all),
): Outcome {
  const operation = operationOf(e.fields.skill)
  const since = Date.parse(String(e.fields.applied))
  const evidence = new Set(Array.isArray(e.fields.evidence) ? e.fields.evidence : [])
  const known = all.filter((s) => evidence.has(s.entity.id))
  const recurs = (s: Seen) => evidence.has(s.entity.id) || likeness.recurs(s, known)
  const count = (some: readonly Seen[]) => [some.filter(recurs).length, some.length] as const
  const own = all.filter((s) => s.operation === operation)
  return compare(count(own.filter((s) => s.at < since)), count(own.filter((s) => s.at >= since)))
}

export const outcomeText = ({ verdict, before, after }: Outcome): string =>
  `${verdict}: before ${before[0]} of ${before[1]}, after ${after[0]} of ${after[1]}`

type Health = { readonly mutation: Entity; readonly outcome: Outcome }

/** Measures every mutation that is in force, and keeps what came out. */
export function measure(memory: Memory): Health[] {
  const all = observationsOf(memory, { archived: true })
  const likeness = likenessOf(memory, all)
  return numbered(memory.reader.list('mutation')).flatMap((e): Health[] => {
    const status = statusNow(e)
    if (!IN_FORCE.has(status) || e.fields.applied === undefined) return []
    const outcome = outcomeOf(memory, e, all, likeness)
    const { verdict } = outcome
    if (status === 'kept' || verdict === 'too few to say' || verdict === status) return [{ mutation: e, outcome }]
    return [{ mutation: measured(memory, e, verdict, outcomeText(outcome)), outcome }]
  })
}
