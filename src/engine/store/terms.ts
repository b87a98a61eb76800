import { stemmer } from 'stemmer'
import { keptUpTo } from '../../base/lookup.ts'
import { isAscii } from '../../base/secrets/plain.ts'

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
for (const word of ['ill', 'shell', 'wed', 'well', 'hell', 'id']) STOP.delete(word)

export const isStopWord = (word: string): boolean => STOP.has(word)

/** A longer word is data, not a name: it is looked up by its beginning. */
const MAX_WORD = 64

/** What the patterns need of Unicode, as ASCII has it. */
const OF_ASCII: Readonly<Record<string, string>> = { L: 'A-Za-z', N: '0-9', Lu: 'A-Z', Ll: 'a-z' }

/** The patterns by which texts are taken apart; their classes stand in brackets, where ASCII may have none. */
function patternsOver(re: (source: string, flags?: string) => RegExp) {
  const cjk = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]`
  const letter = String.raw`(?!${cjk})[\p{L}\p{N}\p{M}_$'’]`
  const word = `(?:${letter})+`
  return {
    cjk: re(cjk),
    /** A word with its marks and apostrophes; a word of code (a path, `node:sqlite`, `.env`, `C++`); a CJK run; a pictograph. */
    token: re(
      String.raw`${cjk}+|(?:(?<![\p{L}\p{N}_./-])(?:--?|[.@])(?=[\p{L}]))?${word}(?:(?:[.\\@#-]|::?|\/\.?)${word})*(?:\+\+|#(?![\p{L}\p{N}]))?|[\p{Extended_Pictographic}]`,
      'g',
    ),
    word: re(word, 'g'),
    sign: re(String.raw`^(?![\p{L}\p{N}])[\p{Extended_Pictographic}]$`),
    compound: re(String.raw`[_$]|[\p{Ll}][\p{Lu}]|[\p{Lu}][\p{Lu}][\p{Ll}]|[\p{L}][\p{N}]|[\p{N}][\p{L}]`),
    rise: re(String.raw`([\p{Ll}\p{N}])([\p{Lu}])`, 'g'),
    fall: re(String.raw`([\p{Lu}])([\p{Lu}][\p{Ll}])`, 'g'),
    unlikeProse: re(String.raw`[^\p{L}\p{M}_$'’-]`),
    unlikeName: re(String.raw`[^\p{L}\p{N}\p{M}_$'’]`),
    unlikeWord: re(String.raw`[^\p{L}\p{N}\p{M}]`),
  }
}

/** The Unicode patterns take V8 8 ms, so they are made when a text first needs them. */
export const PATTERNS = {
  ascii: patternsOver(
    (source, flags) =>
      new RegExp(
        source.replace(/\\p\{([\w=]+)\}/g, (_, of) => OF_ASCII[of] ?? ''),
        flags,
      ),
  ),
  get unicode() {
    const value = patternsOver((source, flags = '') => new RegExp(source, `${flags}u`))
    Object.defineProperty(PATTERNS, 'unicode', { value })
    return value
  },
}

/** ASCII with the marks of print, which are neither letters nor pictographs. */
const IS_PLAIN = /^[\x00-\x7f·–—‘’“”•…→]*$/
type Patterns = ReturnType<typeof patternsOver>
const patternsFor = (text: string): Patterns => PATTERNS[IS_PLAIN.test(text) ? 'ascii' : 'unicode']

/** The words of a text as they stand, those of code whole. */
export const tokensIn = (text: string): string[] => text.match(patternsFor(text).token) ?? []

/** The parts of an identifier; none if it has but one. */
function partsOf(identifier: string, { compound, rise, fall }: Patterns): string[] {
  if (identifier.length > 128 || !compound.test(identifier)) return []
  const parts = identifier
    .replace(rise, '$1 $2')
    .replace(fall, '$1 $2')
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

/** A word of ASCII letters without its ending (Porter 1980); any other as it is. */
export function stem(word: string): string {
  return /^[a-z]+$/.test(word) ? keptUpTo(MAX_STEMS, stems, word, () => stemmer(word)) : word
}

const plain = (word: string): string => {
  const low = word.toLowerCase()
  // ASCII needs no folding
  return isAscii(low) ? low : low.normalize('NFKD').replace(/\p{M}/gu, '')
}

/** A word as it is compared, and as it was written. */
export interface Term {
  readonly stem: string
  /** As the text index knows it: lower case. */
  readonly word: string
}

const MAX_CODE = 128

function codeIn(token: string, { unlikeProse, unlikeName }: Patterns): string[] {
  const path = token.replaceAll('\\', '/')
  const whole = plain(path.includes(':') ? path.replace(/(?::\d+){1,2}$/, '') : path)
  // a hyphen alone joins words of prose as well
  const isProse = !unlikeProse.test(whole) && !whole.startsWith('-')
  if (whole.length > MAX_CODE || isProse || !unlikeName.test(whole)) return []
  const name = whole.slice(whole.lastIndexOf('/') + 1)
  return name !== whole && name.includes('.') ? [whole, name] : [whole]
}

interface Token {
  /** In order, stop-words and what belongs to them too. */
  readonly terms: readonly (Term & { readonly isStop: boolean })[]
  /** Hashes of the terms that are no stop-words. */
  readonly hashes: readonly number[]
  /** What the index, which splits at spaces and signs, does not find in it. */
  readonly more: readonly string[]
}

/** The same tokens come again and again; each is taken apart once. */
const taken = new Map<string, Token>()
const MAX_TAKEN = 50_000

function takeApart(token: string): Token {
  const known = taken.get(token)
  if (known) return known
  const { terms, more } = apart(token)
  const made = { terms, hashes: terms.flatMap((t) => (t.isStop ? [] : [hashOf(t.stem)])), more }
  if (token.length > MAX_WORD) return made
  if (taken.size > MAX_TAKEN) taken.clear()
  taken.set(token, made)
  return made
}

/** Most tokens: they have no parts. */
const IS_PLAIN_WORD = /^[A-Za-z][a-z]{0,63}$/

function apart(token: string): Omit<Token, 'hashes'> {
  if (IS_PLAIN_WORD.test(token)) {
    const word = token.toLowerCase()
    return { terms: [{ stem: stem(word), word, isStop: STOP.has(word) }], more: [] }
  }
  const patterns = patternsFor(token)
  if (patterns.cjk.test(token)) {
    const more = pairsOf(token)
    return { terms: more.map((pair) => ({ stem: pair, word: pair, isStop: false })), more }
  }
  const terms: (Term & { isStop: boolean })[] = []
  const add = (word: string, isStop = STOP.has(word)) => {
    if (word !== '') terms.push({ stem: stem(word), word, isStop })
  }
  if (patterns.sign.test(token)) {
    add(pictograph(token))
    return { terms, more: [pictograph(token)] }
  }
  const codes = codeIn(token, patterns)
  const more = codes.map(indexed)
  for (const code of codes) add(code)
  for (const raw of wordsOf(token, patterns)) {
    const parts = partsOf(raw, patterns)
    const low = plain(raw.slice(0, MAX_WORD))
    const isBare = !/['’_$]/.test(raw)
    if (parts.length > 0) more.push(...parts, isBare ? raw : raw.replaceAll(/[_$]/g, ''))
    const whole = isBare ? low : low.replaceAll('’', "'").replace(/^'+|'+$/g, '')
    const isStop = STOP.has(whole) ? true : undefined
    add(isBare ? whole : whole.replace(/'s$/, '').replaceAll(/['_$]/g, ''), isStop)
    for (const part of parts) add(plain(part), isStop)
  }
  return { terms, more }
}

/** The stemmed terms of a text, in order, without stop-words. Identifiers and paths come whole and in parts, CJK in pairs. */
export function termsOf(text: string, limit = Number.POSITIVE_INFINITY, withStopWords = false): Term[] {
  const out: Term[] = []
  for (const [token] of text.matchAll(patternsFor(text).token)) {
    if (out.length >= limit) break
    for (const term of takeApart(token).terms) if (withStopWords || !term.isStop) out.push(term)
  }
  return out
}

/** The words within a token; C is none of C++. */
const wordsOf = (token: string, { word }: Patterns): string[] => {
  const words = token.match(word) ?? []
  return /[+#]$/.test(token) ? words.slice(0, -1) : words
}

/** Of a longer question the beginning is searched for. */
const MAX_QUESTION = 10_000
const MAX_QUESTION_TERMS = 64

/** The terms of a question, each once. A question of nothing but stop-words is searched by them. */
export function questionTerms(question: string): Term[] {
  const head = question.slice(0, MAX_QUESTION)
  const found = termsOf(head, MAX_QUESTION_TERMS)
  const terms = found.length > 0 ? found : termsOf(head, MAX_QUESTION_TERMS, true)
  return [...new Map(terms.map((t) => [t.stem, t])).values()]
}

const pictograph = (char: string): string => `u${char.codePointAt(0)!.toString(16)}`

/** Whether a term is written as one in code alone; where nobody has used it, its parts say what is asked. */
export const isCode = (word: string): boolean => patternsFor(word).unlikeWord.test(word)

/** A word as the index has it, which parts words at every sign: what holds one stands under a number of its own. */
export const indexed = (word: string): string => (isCode(word) ? `x${hashOf(word)}` : word)

/** Hashes of a text's first terms, and what the index cannot find by itself: parts of identifiers, pairs of CJK, pictographs. */
export function textParts(text: string, limit: number): { hashes: number[]; more: string[] } {
  const more: string[] = []
  const hashes: number[] = []
  for (const [token] of text.matchAll(patternsFor(text).token)) {
    const taken = takeApart(token)
    more.push(...taken.more)
    if (hashes.length < limit) hashes.push(...taken.hashes)
  }
  return { hashes, more }
}

/** 32 bits of a stem (FNV-1a): texts keep these instead of words; two words alike in them are rare enough not to matter. */
export function hashOf(stemmed: string): number {
  let h = 0x811c9dc5
  for (let i = 0; i < stemmed.length; i++) h = Math.imul(h ^ stemmed.charCodeAt(i), 0x01000193)
  return h >>> 0
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ')

/** The words by which people ask for a day: `2023-05-08` → `8 May 2023`. Anything else comes back as it is. */
export function dayWords(moment: string): string {
  const m = /^(\d{4})-(\d{2})-(\d{2})/.exec(moment)
  return m ? `${Number(m[3])} ${MONTHS[Number(m[2]) - 1] ?? ''} ${m[1]}` : moment
}
