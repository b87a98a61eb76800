import {
  ASCII_PUNCTUATION,
  FROM_BEFORE,
  INTO_NEXT,
  ONE_AT_MOST,
  PAIRS_APART,
  PUNCTUATION,
  SPACES,
  TWO_AT_MOST,
  WORDS,
} from './token-bound-table.ts'
import { o200kSplit } from './token-split.ts'

/**
 * At least as many tokens as a text has in o200k_base, without its table: for hooks, which have no time to load it (M7).
 *
 * Byte pair encoding stops when no two neighbours make a token together. So however a piece is cut, two neighbours that
 * would are ruled out, and the most parts it can have with that are an upper bound. What makes a token is known here of
 * frequent words, of pairs of letters and of punctuation; `token-bound-table.ts` is made from the vocabulary.
 */
export function upperTokens(text: string): number {
  let total = 0
  for (const [piece] of text.matchAll(SIMPLE.test(text) ? SIMPLE_SPLIT : o200kSplit())) {
    if (piece.length === 1 && piece < '\x80') {
      total++
      continue
    }
    let n = bounded.get(piece)
    if (n === undefined) {
      n = boundOf(piece)
      if (piece.length <= MAX_REMEMBERED && bounded.size < MAX_BOUNDED) bounded.set(piece, n)
    }
    total += n
  }
  return total
}

/** ASCII, dashes, quotes and arrows: how such a text is split can be said without the classes of all scripts. */
export const SIMPLE = /^[\x00-\x7f\u2010-\u2027\u2030-\u205e\u2190-\u21ff]*$/
/** The same splitting for these. Measured: to compile the other takes 4 ms, and its first use more. */
export const SIMPLE_SPLIT =
  /[^\r\nA-Za-z0-9]?[A-Z]*[a-z]+(?:'(?:[sS]|[dD]|[mM]|[tT]|[lL][lL]|[vV][eE]|[rR][eE]))?|[^\r\nA-Za-z0-9]?[A-Z]+[a-z]*(?:'(?:[sS]|[dD]|[mM]|[tT]|[lL][lL]|[vV][eE]|[rR][eE]))?|[0-9]{1,3}| ?[^\sA-Za-z0-9]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+/g

/** Pieces that were seen before: the same words come again and again. */
const bounded = new Map<string, number>()
const MAX_BOUNDED = 20_000
const MAX_REMEMBERED = 64

const words = new Set(WORDS.split(' '))
const punctuation = new Set(PUNCTUATION)
const LETTERS = Array.from('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ', (c) => c.charCodeAt(0))
const intoNext = new Set(INTO_NEXT.split(' '))
const fromBefore = new Set(FROM_BEFORE.split(' '))

function boundOf(piece: string): number {
  if (words.has(piece) || punctuation.has(piece)) return 1
  if (/^ +$/.test(piece)) return piece.length <= SPACES ? 1 : 2 * Math.ceil(piece.length / SPACES)
  if (/^[0-9]{1,3}$/.test(piece)) return 1
  if (words.has(piece.slice(1))) {
    if (piece[0] === ' ') return 1
    if (ASCII_PUNCTUATION.includes(piece[0]!)) return 2
  }
  if (/^[\x00-\x7f]+$/.test(piece)) return mostParts(piece)
  let total = 0
  let before: number | undefined
  for (let i = 0; i < piece.length; ) {
    const point = piece.codePointAt(i)!
    i += point >= 0x10000 ? 2 : 1
    total += point < 0x80 ? 1 : boundOfCharacter(point, before, piece.codePointAt(i))
    before = point
  }
  return total
}

/** How many tokens may begin within a character. */
function boundOfCharacter(point: number, before: number | undefined, next: number | undefined): number {
  const range = ONE_AT_MOST.find(([from, to]) => point >= from && point < to)
  const edges = reach(intoNext, point, next) || (point >= 0x800 && reach(fromBefore, before, point))
  if (!edges && range && bitOf(range[2], point - range[0])) return 1
  if (point < 0x800) return 2 // two bytes
  if (point >= 0x10000) return point >= 0x1f000 && point < 0x20000 ? 3 : 4
  return bitOf(TWO_AT_MOST, point >> 6) ? 2 : 3
}

const bitOf = (digits: string, n: number): boolean => ((Number.parseInt(digits[n >> 2]!, 16) >> (n & 3)) & 1) === 1

/** Whether a token may hold a part of one of two neighbours and some of the other. */
const reach = (pairs: ReadonlySet<string>, one: number | undefined, next: number | undefined): boolean =>
  one !== undefined &&
  next !== undefined &&
  pairs.has(lastByte(one).toString(16).padStart(2, '0') + firstByte(next).toString(16).padStart(2, '0'))

const lastByte = (point: number): number =>
  point < 0x80 ? point : point >= 0xd800 && point < 0xe000 ? 0xbd : 0x80 | (point & 0x3f)

const firstByte = (point: number): number =>
  point < 0x80
    ? point
    : point < 0x800
      ? 0xc0 | (point >> 6)
      : point >= 0x10000
        ? 0xf0 | (point >> 18)
        : point >= 0xd800 && point < 0xe000
          ? 0xef // a surrogate that is alone is told as U+FFFD
          : 0xe0 | (point >> 12)

/** Which two ASCII characters make a token together, by their codes. */
const pairs = new Uint8Array(128 * 128)
for (const a of LETTERS) {
  pairs[(32 << 7) | a] = 1
  for (const b of LETTERS) pairs[(a << 7) | b] = 1
}
for (const pair of PAIRS_APART.split(' ')) pairs[(pair.charCodeAt(0) << 7) | pair.charCodeAt(1)] = 0
for (const mark of PUNCTUATION) if (mark.length === 2) pairs[(mark.charCodeAt(0) << 7) | mark.charCodeAt(1)] = 1

/** A longer part joins with nothing that is known here. */
const LONG = 4

/** The most parts an ASCII piece can have when no two neighbours join. */
function mostParts(piece: string): number {
  const n = piece.length
  // most[l * (n + 1) + i]: of the first i characters, when the last part has l of them, or LONG and more; 0: cannot be
  const most = new Uint32Array((LONG + 1) * (n + 1))
  const row = n + 1
  for (let i = 1; i <= n; i++) {
    // whether the last two, three … characters are a token: bit by bit
    let tokens = 0
    if (i > 1 && pairs[(piece.charCodeAt(i - 2) << 7) | piece.charCodeAt(i - 1)] === 1) tokens |= 1 << 2
    for (let length = 3; length < 2 * LONG - 1 && length <= i; length++)
      if (words.has(piece.slice(piece[i - length] === ' ' ? i - length + 1 : i - length, i))) tokens |= 1 << length
    for (let l = 1; l < LONG && l <= i; l++) {
      const start = i - l
      const behindLong = most[LONG * row + start]!
      let parts = start === 0 ? 1 : behindLong && behindLong + 1
      for (let before = 1; before < LONG && before <= start; before++) {
        const there = most[before * row + start]!
        if (there >= parts && there > 0 && ((tokens >> (l + before)) & 1) === 0) parts = there + 1
      }
      most[l * row + i] = parts
    }
    if (i < LONG) continue
    // of whatever length from LONG on: one more than the most that ends early enough
    let parts = Math.max(most[LONG * row + i - 1]!, 1)
    for (let l = 1; l <= LONG; l++) {
      const there = most[l * row + i - LONG]!
      if (there >= parts && there > 0) parts = there + 1
    }
    most[LONG * row + i] = parts
  }
  let parts = 0
  for (let l = 1; l <= LONG; l++) parts = Math.max(parts, most[l * row + n]!)
  return parts
}
