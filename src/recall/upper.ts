import { O200K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants'
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
} from './upper-known.ts'

/**
 * At least as many tokens as a text has in o200k_base, without its table: for hooks, which have no time to load it (M7).
 *
 * Byte pair encoding stops when no two neighbours make a token together. So however a piece is cut, two neighbours that
 * would are ruled out, and the most parts it can have with that are an upper bound. What makes a token is known here of
 * frequent words, of pairs of letters and of punctuation; `upper-known.ts` is made from the vocabulary.
 */
export function upperTokens(text: string): number {
  let total = 0
  for (const [piece] of text.matchAll(O200K_TOKEN_SPLIT_REGEX)) {
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

/** Pieces that were seen before: the same words come again and again. */
const bounded = new Map<string, number>()
const MAX_BOUNDED = 20_000
const MAX_REMEMBERED = 64

const words = new Set(WORDS.split(' '))
const punctuation = new Set(PUNCTUATION)
const apart = new Set(PAIRS_APART.split(' '))
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

/** Whether two neighbours make a token together, as far as is known here. */
const joins = (both: string): boolean =>
  both.length === 2
    ? /^[ a-zA-Z][a-zA-Z]$/.test(both)
      ? !apart.has(both)
      : punctuation.has(both)
    : words.has(both[0] === ' ' ? both.slice(1) : both)

/** A longer part joins with nothing that is known here. */
const LONG = 4

/** The most parts an ASCII piece can have when no two neighbours join. */
function mostParts(piece: string): number {
  // most[l][i]: of the first i characters, when the last part has l of them, or LONG and more; 0 where that cannot be
  const most = Array.from({ length: LONG + 1 }, () => new Uint32Array(piece.length + 1))
  for (let i = 1; i <= piece.length; i++) {
    for (let l = 1; l < LONG && l <= i; l++) {
      const start = i - l
      let parts = start === 0 ? 1 : most[LONG]![start]! && most[LONG]![start]! + 1
      for (let before = 1; before < LONG && before <= start; before++) {
        const there = most[before]![start]!
        if (there >= parts && there > 0 && !joins(piece.slice(start - before, i))) parts = there + 1
      }
      most[l]![i] = parts
    }
    if (i < LONG) continue
    // of whatever length from LONG on: one more than the most that ends early enough
    let parts = most[LONG]![i - 1]!
    const start = i - LONG
    if (start === 0) parts = Math.max(parts, 1)
    else for (let l = 1; l <= LONG; l++) if (most[l]![start]! > 0) parts = Math.max(parts, most[l]![start]! + 1)
    most[LONG]![i] = parts
  }
  return Math.max(...most.map((ends) => ends[piece.length]!))
}
