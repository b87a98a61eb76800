/** Says nothing of the work. */
const SMALL =
  /^(?:again|commit|continue|do it|go|hello|hey|hi|next|no|ok|okay|proceed|push|sure|thank|thanks|yes|ja|nein|oui|non|s[ií]|sim)\b/i
const SMALL_MAX = 24
export const isSmall = (text: string): boolean => text.length < SMALL_MAX && SMALL.test(text)
