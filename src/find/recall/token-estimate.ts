const PARTS = / ?[A-Z]?[a-z]{1,4}|[A-Z]{1,2}|\d{1,2}|[^A-Za-z\d]/g
/** East Asian scripts and the halves of emoji: rare ones take two tokens. */
const WIDE = /[\u0800-\uffff]/g

const matches = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

/** What `estimateTokens` gives for each token of prose (docs/briefing.md). */
const ESTIMATE_OF_PROSE = 1.5

/** An upper estimate of o200k_base's tokens (M7): 1.5 times the count of prose and code, more in other scripts. */
export const estimateTokens = (text: string): number => Math.ceil(matches(text, PARTS) + matches(text, WIDE) / 2)

/** About how many tokens a text has, if it is prose: to tell a person. */
export const tokensOfProse = (text: string): number => Math.round(estimateTokens(text) / ESTIMATE_OF_PROSE)
