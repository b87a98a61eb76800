/** An order for all that follows, at the beginning of a sentence. */
const RULE =
  /(?:^|[.!?:;\n]\s{0,9}|\b(?:please|also),?\s+)(?:please\s+)?(?:always|never|from now on|going forward|remember to|do(?:n['’]t| not) ever|make sure (?:to|you))\s/i

/** What somebody would rather have. */
const PREFERENCE =
  /\bI(?:['’]d)?\s+(?:(?:really|strongly|generally|usually|always|much|also|still)\s+)?prefer\b|\bmy preferences?\b/i

/** Of a longer text the beginning is read. */
const MAX_TEXT = 3_000

/** What a user said once for all that follows: kept with the text, since few of its words return in what it is meant for. */
export const WISH = { none: 0, rule: 1, preference: 2, both: 3 } as const
export type Wish = (typeof WISH)[keyof typeof WISH]

/** Whether what somebody said in a conversation is such a wish; only the user's count. */
export function wishIn(text: string, speaker: unknown): Wish {
  if (typeof speaker !== 'string' || speaker.toLowerCase() !== 'user') return WISH.none
  const said = text.slice(0, MAX_TEXT)
  return ((RULE.test(said) ? WISH.rule : 0) + (PREFERENCE.test(said) ? WISH.preference : 0)) as Wish
}
