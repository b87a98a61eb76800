import type { Entity } from '../../../model/entity.ts'
import { similarity } from '../../recall/word-overlap.ts'

/** Of many the newest are compared. */
export const MOST_COMPARED = 1_000
/** This share of the shorter one's words stands in the other one too. */
const SHARED = 0.5
/** And this share of the longer one's: in a long text stand the words of any short one. */
const SHARED_OF_LONGER = 0.2
/** So many words in common do without a topic in common. */
const ENOUGH = 2

export type Saying = Readonly<{ entity: Entity; words: ReadonlySet<string>; topics: readonly string[] }>

/** Half of the shorter one's words in common, a fifth of the longer one's, and a topic or at least two words. */
export function areSimilar(a: Saying, b: Saying): boolean {
  const { words, share } = similarity(a.words, b.words)
  const isOfBoth = share >= SHARED && words >= SHARED_OF_LONGER * Math.max(a.words.size, b.words.size)
  return isOfBoth && (words >= ENOUGH || a.topics.some((t) => b.topics.includes(t)))
}
