import { keptUpTo } from '../../base/lookup.ts'
import { stem } from '../../engine/store/terms.ts'

const list = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/))

/** Words that carry no claim. What limits or turns one (not, only, before, if, may …) is none of them. */
export const STOP = list(`
  a an the this that these those is are was were be been being am has have had having do does did will would shall should
  can must of to in on at by for with from into as and or so than then it its we our us i my you your they their them he
  she who which what there here just also very always every each all any both please ensure sure make makes let lets need
  needs needed s t`)

/** Verbs of choice: what stands behind them counts. */
export const CHOICE = list(`
  use uses used using adopt adopts adopted adopting choose chooses chose chosen pick picks picked prefer prefers preferred
  select selects selected enable enables enabled allow allows allowed permit permits permitted decide decided`)

export const NEGATION = list(`
  not no never none neither nor without cannot dont avoid avoids avoided avoiding ban bans banned forbid forbids forbidden
  prohibit prohibits prohibited disallow disallows disallowed disable disables disabled abandon abandons abandoned reject
  rejects rejected deprecate deprecates deprecated 不 没 无 非 未 别 勿 ない`)

/** What turns or limits a claim: a text that has one more of these says something else. */
const LIMITS = list(`
  only except unless if when until till before after some may might could instead rather than half twice optional`)

/** One way of spelling for both sides of the ocean. */
const spelled = (word: string): string =>
  word.length < 6 ? word : word.replace(/is(e|es|ed|ing|ation|ations)$/, 'iz$1').replace(/([lbvd])our/, '$1or')

export interface Token {
  /** Lower case and stemmed; a number as it is, without `v`. */
  readonly stem: string
  readonly type: 'word' | 'number' | 'stop' | 'choice' | 'negation'
}

const seen = new Map<string, Token>()
const MAX_SEEN = 20_000

function tokenOf(raw: string): Token {
  const low = raw.toLowerCase().replace('’', "'")
  const bare = low.replace(/'(s|re|ve|ll|d|m)$/, '')
  if (low.endsWith("n't") || NEGATION.has(low)) return { stem: 'not', type: 'negation' }
  if (STOP.has(bare)) return { stem: bare, type: 'stop' }
  if (LIMITS.has(bare)) return { stem: bare, type: 'word' }
  if (CHOICE.has(bare)) return { stem: bare, type: 'choice' }
  if (/^v?\d[\d.,:]*$/.test(low)) return { stem: low.replace(/^v/, ''), type: 'number' }
  return { stem: stem(spelled(bare)).normalize('NFC'), type: 'word' }
}

/** The words of a text in order, each with what it does in it. */
export function tokensOf(text: string): Token[] {
  // a number with its points and colons; one character of a script without spaces; a word, C++ and don't included
  const token =
    /v?\d+(?:[.,:]\d+)*|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|\p{L}[\p{L}\p{M}\p{N}_]*(?:['’]\p{L}+)?[+#]*/gu
  return Array.from(text.matchAll(token), ([raw]) => keptUpTo(MAX_SEEN, seen, raw, () => tokenOf(raw)))
}

export const stemsOf = (text: string): string[] =>
  tokensOf(text).flatMap(({ stem, type }) => (type === 'word' || type === 'number' ? [stem] : []))

/** Does a text that has this word more say something else? Numbers do, and what holds digits. */
export const isTelling = (stem: string): boolean => LIMITS.has(stem) || /\p{N}/u.test(stem)

/** Words that carry the claim of a text, each once. */
export const wordSet = (text: string): Set<string> => new Set(stemsOf(text))

/** How many words two texts share, and which share of the shorter one's that is. */
export function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): { words: number; share: number } {
  const [few, many] = a.size <= b.size ? [a, b] : [b, a]
  let words = 0
  for (const word of few) if (many.has(word)) words++
  return { words, share: words / Math.max(1, few.size) }
}
