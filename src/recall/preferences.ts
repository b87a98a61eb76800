import { WISH, type Wish } from '../materialize/preference.ts'
import { aroundScale, TUNING } from './relevance.ts'

/** A question for counsel, or for work to be done: preferences matter. */
const COUNSEL =
  /\b(?:suggest|recommend|advi[cs]e|should|help|can you|could you|would you|how (?:do|can|could|would|should|might)|do you think|options|ideas|tips|looking (?:to|for)|best|explain|show)/i

/** A question about many things that were said: a rule among them would take the place of one of these. */
const OF_MANY =
  /\b(?:summar|overview|recap|order in which|in (?:what|which) order|throughout|across (?:my|our|all)|how many)/i

/** A question about what was said or done: preferences matter no more than anything else. */
const OF_RECORD =
  /\b(?:conversations?|did (?:I|we|you)|have (?:I|we|you)|I(?:['’]ve| have)? (?:said|mention|brought|told|ask)|when (?:did|was|is|does|do))/i

/** Of a longer question the beginning is read. */
const MAX_QUESTION = 3_000

/**
 * What a question lends to a text for being a wish of the user's: nothing to most. "Always name the version when I ask
 * about libraries" shares few words with the question that it is meant for. Undefined where no wish counts.
 */
export function wishesFor(question: string): ((wish: Wish, words: number) => number) | undefined {
  const asked = question.slice(0, MAX_QUESTION)
  if (OF_MANY.test(asked)) return undefined
  const preferences = COUNSEL.test(asked) && !OF_RECORD.test(asked)
  return (wish, words) => {
    // a short text is nothing but the rule; in a long one it may be about a detail
    const rule = wish & WISH.rule ? TUNING.rule * aroundScale(words) : 0
    return Math.max(rule, preferences && wish & WISH.preference ? TUNING.preference : 0)
  }
}
