import type { Entity } from '../../../model/entity.ts'
import { stemsOf } from '../../recall/wording.ts'

/** Of many the newest are compared. */
export const MOST_COMPARED = 1_000
/** This share of the shorter one's words stands in the other one too. */
const SHARED = 0.5
/** So many words in common do without a topic in common. */
const ENOUGH = 2

/** What is compared of an entity. */
export interface Saying {
  readonly entity: Entity
  readonly words: ReadonlySet<string>
  readonly topics: readonly string[]
}

/** The words of a text that carry its claim. */
export const claimWords = (text: string): Set<string> => new Set(stemsOf(text))

/** Half of the shorter one's words in common, and a topic or at least two words. */
export function areSimilar(a: Saying, b: Saying): boolean {
  const [few, many] = a.words.size <= b.words.size ? [a, b] : [b, a]
  let shared = 0
  for (const word of few.words) if (many.words.has(word)) shared++
  if (shared === 0 || shared < SHARED * few.words.size) return false
  return shared >= ENOUGH || a.topics.some((t) => b.topics.includes(t))
}
