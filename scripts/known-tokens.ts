// Writes src/recall/token-bound-table.ts: what the upper bound of tokens knows of o200k_base. Run it again if the vocabulary changes.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { countTokens } from '../src/recall/tokens.ts'

/** So many of the most frequent words: three times as many would bring the bound a tenth nearer. */
const WORDS = 4000
const PUNCTUATION = 120
const ASCII_PUNCTUATION = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'
const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const UPPER = LOWER.toUpperCase()

/** Each token as a string of its bytes (latin1), by rank: the most frequent first. */
function vocabulary(): string[] {
  const published = createRequire(import.meta.url).resolve('gpt-tokenizer/data/o200k_base.tiktoken')
  return readFileSync(published, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => Buffer.from(line.split(' ')[0]!, 'base64').toString('latin1'))
}

const bytesOf = (text: string) => Buffer.from(text).toString('latin1')
const isInside = (byte: number) => byte >= 0x80 && byte < 0xc0
const lengthFrom = (byte: number) => (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1)

/**
 * For each character, the most tokens that can begin within it, whatever stands around it; or where no token reaches over
 * its edges. And where one may: the last byte of a character and the first of the next, in hex.
 */
function beginningsIn(tokens: readonly string[]) {
  const known = new Set(tokens)
  const cutAtEnd = new Set<string>() // beginnings of a character that end a token
  const cutAtStart = new Set<string>() // ends of a character that begin one
  const intoNext = new Set<string>()
  const fromBefore = new Set<string>()
  for (const token of tokens) {
    const at = (i: number) => token.charCodeAt(i)
    let i = 0
    while (i < token.length && isInside(at(i))) i++
    if (i > 0 && i < token.length) {
      cutAtStart.add(token.slice(0, i))
      intoNext.add(Buffer.from(token.slice(i - 1, i + 1), 'latin1').toString('hex'))
    }
    let last = i
    for (let j = i; j < token.length; j += lengthFrom(at(j))) last = j
    if (last > 0 && last + lengthFrom(at(last)) > token.length) {
      cutAtEnd.add(token.slice(last))
      fromBefore.add(Buffer.from(token.slice(last - 1, last + 1), 'latin1').toString('hex'))
    }
  }
  const beginnings = (point: number, before: boolean, next: boolean): number => {
    const bytes = bytesOf(String.fromCodePoint(point))
    let most = 0
    const cut = (from: number, before: string | undefined, parts: number): void => {
      if (from === bytes.length) most = Math.max(most, parts)
      for (let to = from + 1; to <= bytes.length; to++) {
        const part = bytes.slice(from, to)
        if (known.has(part) && !(before !== undefined && known.has(before + part))) cut(to, part, parts + 1)
        if (next && to === bytes.length && from > 0 && cutAtStart.has(part)) most = Math.max(most, parts + 1)
      }
    }
    for (let taken = 0; taken < bytes.length; taken++)
      if (taken === 0 || (before && cutAtEnd.has(bytes.slice(0, taken)))) cut(taken, undefined, 0)
    return most
  }
  return { beginnings, intoNext: [...intoNext].sort(), fromBefore: [...fromBefore].sort() }
}

/** One bit for each number in a range, four to a hex digit. */
const bits = (from: number, to: number, is: (n: number) => boolean): string =>
  Array.from({ length: (to - from) / 4 }, (_, i) =>
    [0, 1, 2, 3].reduce((sum, j) => sum | (is(from + 4 * i + j) ? 1 << j : 0), 0).toString(16),
  ).join('')

/** Where characters that are one token are frequent: alphabets of two bytes, kana, Han, Hangul. */
const RANGES: readonly (readonly [from: number, to: number])[] = [
  [0x80, 0x800],
  [0x2000, 0x2040],
  [0x3000, 0x3100],
  [0x4e00, 0xa000],
  [0xac00, 0xd7a4],
]

/** The file as it should be. @throws where the vocabulary is not what `token-bound.ts` relies on. */
export function knownTokens(): string {
  const tokens = vocabulary()
  const known = new Set(tokens)
  const must = (is: boolean, what: string) => {
    if (!is) throw new Error(`the bound relies on what does not hold: ${what}`)
  }
  for (let b = 0; b < 256; b++) must(known.has(String.fromCharCode(b)), 'every byte is a token')
  for (let n = 0; n < 1000; n++)
    for (const digits of [String(n), String(n).padStart(2, '0'), String(n).padStart(3, '0')])
      must(known.has(digits), 'numbers of up to three digits are tokens')
  for (const letter of LOWER + UPPER) must(known.has(` ${letter}`), 'a space and a letter are a token')
  let spaces = 1
  while (known.has(' '.repeat(spaces + 1))) spaces++

  const words = tokens
    .map((t) => Buffer.from(t, 'latin1').toString())
    .filter((t) => /^ \p{L}{2,}$/u.test(t))
    .map((t) => t.slice(1))
    .filter((w) => known.has(bytesOf(w)) && [...ASCII_PUNCTUATION].every((p) => countTokens(p + w) <= 2))
    .slice(0, WORDS)
  const punctuation = tokens
    .filter((t) => t === '\n\n' || (t.length > 1 && /^ ?[!-/:-@[-`{-~]+\n?$/.test(t)))
    .slice(0, PUNCTUATION)
  const apart = [...LOWER, ...UPPER].flatMap((a) =>
    [...LOWER, ...UPPER].map((b) => a + b).filter((pair) => !known.has(pair)),
  )

  const { beginnings, intoNext, fromBefore } = beginningsIn(tokens)
  for (let point = 0x80; point < 0x800; point++) must(beginnings(point, true, true) <= 2, 'two bytes, two tokens')
  for (let point = 0x1f000; point < 0x20000; point++)
    must(beginnings(point, true, true) <= 3, 'a pictograph is three tokens')
  const blockOf = (block: number) => Array.from({ length: 64 }, (_, i) => 64 * block + i)
  const atMostTwo = (point: number) =>
    point >= 0x800 && beginnings(point >= 0xd800 && point < 0xe000 ? 0xfffd : point, true, true) <= 2 // a lone surrogate is told as U+FFFD
  const blocks = bits(0, 1024, (block) => blockOf(block).every(atMostTwo))
  const single = RANGES.map(
    ([from, to]) => [from, to, bits(from, to, (point) => beginnings(point, point < 0x800, false) <= 1)] as const,
  )
  const quoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n')}'`
  return `// Written by scripts/known-tokens.ts from the vocabulary of o200k_base; a test compares.
// biome-ignore-all format: a table
export const ASCII_PUNCTUATION = ${quoted(ASCII_PUNCTUATION)}
/** So many spaces are one token. */
export const SPACES = ${spaces}
/** Words that are one token, also after a space, and two at most after another mark. */
export const WORDS = ${quoted(words.join(' '))}
/** Marks that are one token. */
export const PUNCTUATION: readonly string[] = [${punctuation.map(quoted).join(',')}]
/** Pairs of letters that are no token: all others are. */
export const PAIRS_APART = ${quoted(apart.join(' '))}
/** Blocks of 64 characters within each of which two tokens at most begin: four to a digit. */
export const TWO_AT_MOST = '${blocks}'
/** The last byte of a character and the first of the next, where a token begins within the one and ends in the next. */
export const INTO_NEXT = '${intoNext.join(' ')}'
/** The same where a token begins before the one ends and ends within the next. */
export const FROM_BEFORE = '${fromBefore.join(' ')}'
/** Characters within which one token at most begins, unless one reaches into the next, or, from three bytes on, in from before: from, to, four to a digit. */
export const ONE_AT_MOST: readonly (readonly [number, number, string])[] = [
${single.map(([from, to, one]) => `  [0x${from.toString(16)}, 0x${to.toString(16)}, '${one}'],\n`).join('')}]
`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  writeFileSync(join(import.meta.dirname, '../src/recall/token-bound-table.ts'), knownTokens())
