import { stemmer } from 'stemmer'

/** Words that say nothing of what a text is about; stemmed forms are not looked up, so contractions stand in full. */
const STOP = new Set(
  `a about above after again against all am an and any are aren't as at be because been before being below between both
  but by can can't cannot could couldn't did didn't do does doesn't doing don don't down during each few for from further
  had hadn't has hasn't have haven't having he he'd he'll he's her here here's hers herself him himself his how how's i
  i'd i'll i'm i've if in into is isn't it it's its itself just let's ll m me more most mustn't my myself no nor not now
  of off on once only or other ought our ours ourselves out over own re s same shan't she she'd she'll she's should
  shouldn't so some such t than that that's the their theirs them themselves then there there's these they they'd
  they'll they're they've this those through to too under until up ve very was wasn't we we'd we'll we're we've were
  weren't what what's when when's where where's which while who who's whom why why's will with won't would wouldn't you
  you'd you'll you're you've your yours yourself yourselves`
    .split(/\s+/)
    .flatMap((w) => [w, w.replace("'", '')]),
)
// without the apostrophe these are words
for (const word of ['ill', 'shell', 'wed', 'well', 'were', 'hell', 'id']) if (word !== 'were') STOP.delete(word)

export const isStopWord = (word: string): boolean => STOP.has(word)

/** A longer word is data, not a name: it is looked up by its beginning. */
const MAX_WORD = 64

const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u
const LETTER = String.raw`(?!${CJK.source})[\p{L}\p{N}\p{M}_$'’]`
/**
 * A word in any script, with its marks and inner apostrophes; what is written as one in code: a path, `node:sqlite`,
 * `--no-verify`, `.env`, `C++`; a run of a script without spaces; a pictograph.
 */
const TOKEN = new RegExp(
  String.raw`${CJK.source}+|(?:(?<![\p{L}\p{N}_./-])(?:--?|[.@])(?=\p{L}))?(?:${LETTER})+(?:(?:[.\\@#-]|::?|\/\.?)(?:${LETTER})+)*(?:\+\+|#(?![\p{L}\p{N}]))?|\p{Extended_Pictographic}`,
  'gu',
)
const WORD = new RegExp(`(?:${LETTER})+`, 'gu')
const SIGN = /^\p{Extended_Pictographic}$/u

/** The words of a text as they stand, those of code whole. */
export const tokensIn = (text: string): string[] => text.match(TOKEN) ?? []

/** The parts of an identifier; none if it has but one. */
export function partsOf(identifier: string): string[] {
  if (identifier.length > 128 || !/[_$]|\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}|\p{L}\p{N}|\p{N}\p{L}/u.test(identifier))
    return []
  const parts = identifier
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .split(/[\s_$]+/)
    .filter((p) => p.length > 1)
  return parts.length > 1 ? parts : []
}

/** Pairs of neighbouring characters: how a script without spaces is looked up. A single one stands for itself. */
function pairsOf(run: string): string[] {
  const chars = [...run]
  return chars.length < 2 ? chars : chars.slice(1).map((c, i) => chars[i]! + c)
}

const stems = new Map<string, string>()
const MAX_STEMS = 50_000

function stem(word: string): string {
  let s = stems.get(word)
  if (s === undefined) {
    if (stems.size > MAX_STEMS) stems.clear()
    stems.set(word, (s = /^[a-z]+$/.test(word) ? stemmer(word) : word))
  }
  return s
}

const plain = (word: string): string => {
  const low = word.toLowerCase()
  // ASCII needs no folding
  return /^[\x00-\x7f]*$/.test(low) ? low : low.normalize('NFKD').replace(/\p{M}/gu, '')
}

/** A word as it is compared, and as it was written. */
export interface Term {
  readonly stem: string
  /** As the text index knows it: lower case. */
  readonly word: string
}

/** Longer ones are data. */
const MAX_CODE = 128

/** What is written as one word in code, without a line number; of a path the file's name as well. */
function codeIn(token: string): string[] {
  const whole = plain(token.replaceAll('\\', '/').replace(/(?::\d+){1,2}$/, ''))
  // a hyphen alone joins words of prose as well
  const isProse = !/[^\p{L}\p{M}_$'’-]/u.test(whole) && !whole.startsWith('-')
  if (whole.length > MAX_CODE || isProse || !/[^\p{L}\p{N}\p{M}_$'’]/u.test(whole)) return []
  const name = whole.slice(whole.lastIndexOf('/') + 1)
  return name !== whole && name.includes('.') ? [whole, name] : [whole]
}

/**
 * The words of a text that say what it is about, in order: lower case, without accents, stemmed (Porter 1980), stop-words
 * left out; identifiers and what is written as one in code whole and in parts, scripts without spaces as pairs of characters.
 */
export function termsOf(text: string, limit = Number.POSITIVE_INFINITY, withStopWords = false): Term[] {
  const out: Term[] = []
  const stops = (word: string) => !withStopWords && STOP.has(word)
  const add = (word: string) => {
    if (word !== '' && !stops(word)) out.push({ stem: stem(word), word })
  }
  for (const [token] of text.matchAll(TOKEN)) {
    if (out.length >= limit) break
    if (CJK.test(token)) for (const pair of pairsOf(token)) out.push({ stem: pair, word: pair })
    else if (SIGN.test(token) && !/[\p{L}\p{N}]/u.test(token)) add(pictograph(token))
    else {
      for (const code of codeIn(token)) add(code)
      for (const raw of wordsOf(token)) {
        const whole = plain(raw.slice(0, MAX_WORD))
          .replaceAll('’', "'")
          .replace(/^'+|'+$/g, '')
        if (stops(whole)) continue
        add(whole.replace(/'s$/, '').replaceAll(/['_$]/g, ''))
        for (const part of partsOf(raw)) add(plain(part))
      }
    }
  }
  return out
}

/** The words within a token; C is none of C++. */
const wordsOf = (token: string): string[] => {
  const words = token.match(WORD) ?? []
  return /[+#]$/.test(token) ? words.slice(0, -1) : words
}

/** Of a longer question the beginning is searched for. */
const MAX_QUESTION = 10_000
const MAX_QUESTION_TERMS = 64

/** The terms of a question, each once. One that has nothing but stop-words is taken by these. */
export function questionTerms(question: string): Term[] {
  const head = question.slice(0, MAX_QUESTION)
  const found = termsOf(head, MAX_QUESTION_TERMS)
  const terms = found.length > 0 ? found : termsOf(head, MAX_QUESTION_TERMS, true)
  return [...new Map(terms.map((t) => [t.stem, t])).values()]
}

const pictograph = (char: string): string => `u${char.codePointAt(0)!.toString(16)}`

/** Whether a term is written as one in code alone; where nobody has used it, its parts say what is asked. */
export const isCode = (word: string): boolean => !/^[\p{L}\p{N}\p{M}]*$/u.test(word)

/** A word as the index has it, which parts words at every sign: what holds one stands under a number of its own. */
export const indexed = (word: string): string => (isCode(word) ? `x${hashOf(word)}` : word)

/**
 * A text as it is put into the index, which parts words at spaces and signs: with the parts of identifiers, the pairs of
 * scripts without spaces, and names for pictographs and for what is written as one in code.
 */
export function indexable(text: string): string {
  const more: string[] = []
  for (const [token] of text.matchAll(TOKEN)) {
    if (CJK.test(token)) more.push(...pairsOf(token))
    else if (SIGN.test(token) && !/[\p{L}\p{N}]/u.test(token)) more.push(pictograph(token))
    else {
      more.push(...codeIn(token).map(indexed))
      for (const raw of wordsOf(token)) {
        const parts = partsOf(raw)
        if (parts.length > 0) more.push(...parts, raw.replaceAll(/[_$]/g, ''))
      }
    }
  }
  return more.length > 0 ? `${text} ${more.join(' ')}` : text
}

/** 32 bits of a stem (FNV-1a): texts keep these instead of words; two words alike in them are rare enough not to matter. */
export function hashOf(stemmed: string): number {
  let h = 0x811c9dc5
  for (let i = 0; i < stemmed.length; i++) {
    h = Math.imul(h ^ stemmed.charCodeAt(i), 0x01000193)
  }
  return h >>> 0
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ')

/** The words by which people ask for a day: `2023-05-08` → `8 May 2023`. Anything else comes back as it is. */
export function dayWords(moment: string): string {
  const m = /^(\d{4})-(\d{2})-(\d{2})/.exec(moment)
  return m ? `${Number(m[3])} ${MONTHS[Number(m[2]) - 1] ?? ''} ${m[1]}` : moment
}
