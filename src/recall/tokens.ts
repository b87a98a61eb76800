import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { layOut, TABLE, type Vocabulary, vocabularyIn } from './o200k.ts'

let loaded: Vocabulary | undefined

/**
 * The build writes the table beside the bundles. Measured: the tables of gpt-tokenizer take 150 to 200 ms and 75 MB to
 * load, this one 4 ms and 3 MB. So that package is needed by the build alone.
 */
function vocabulary(): Vocabulary {
  if (loaded) return loaded
  const built = join(import.meta.dirname, TABLE)
  // run from the sources, nothing is built
  const table = existsSync(built) ? readFileSync(built) : layOut(readFileSync(published(), 'utf8'))
  loaded = vocabularyIn(table)
  return loaded
}

const published = () => createRequire(import.meta.url).resolve('gpt-tokenizer/data/o200k_base.tiktoken')

/** How o200k_base splits a text before byte pair encoding (tiktoken, openai_public.py). */
const SPLIT =
  /[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?:'(?:[sS]|[dD]|[mM]|[tT]|[lL][lL]|[vV][eE]|[rR][eE]))?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?:'(?:[sS]|[dD]|[mM]|[tT]|[lL][lL]|[vV][eE]|[rR][eE]))?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+/gu

const encoder = new TextEncoder()

/** Pieces that were counted before: the same words come again and again. */
const counted = new Map<string, number>()
const MAX_COUNTED = 20_000
/** A longer piece is no word that comes again. */
const MAX_REMEMBERED = 64

/** How many tokens a text has in o200k_base, exactly. What looks like a special token is counted as the text it is. */
export function countTokens(text: string): number {
  const words = vocabulary()
  let total = 0
  for (const [piece] of text.matchAll(SPLIT)) {
    const known = counted.get(piece)
    if (known !== undefined) {
      total += known
      continue
    }
    const bytes = encoder.encode(piece)
    const n = words.rank(bytes, 0, bytes.length) >= 0 ? 1 : merged(bytes, words)
    if (piece.length <= MAX_REMEMBERED) {
      if (counted.size >= MAX_COUNTED) counted.clear()
      counted.set(piece, n)
    }
    total += n
  }
  return total
}

/** Positions within a piece are kept beside a rank in one number. */
const POSITIONS = 2 ** 31

/**
 * Byte pair encoding of one piece: the pair with the lowest rank is joined, the leftmost of equal ones first, until no
 * pair is a token. With a heap, since one piece may be a megabyte of the same letter.
 */
function merged(bytes: Uint8Array, words: Vocabulary): number {
  const n = bytes.length
  // the parts are a linked list over positions; `next[i]` is where the part that begins at i ends
  const next = Uint32Array.from({ length: n + 1 }, (_, i) => i + 1)
  const previous = Int32Array.from({ length: n + 1 }, (_, i) => i - 1)
  const rankAt = new Int32Array(n).fill(-1)
  const heap: number[] = []
  const consider = (at: number) => {
    const end = next[at]!
    rankAt[at] = end < n ? words.rank(bytes, at, next[end]!) : -1
    if (rankAt[at]! >= 0) push(heap, rankAt[at]! * POSITIONS + at)
  }
  for (let i = 0; i < n - 1; i++) consider(i)
  let parts = n
  while (heap.length > 0) {
    const key = pop(heap)
    const at = key % POSITIONS
    if (rankAt[at] !== (key - at) / POSITIONS) continue // what stood there was joined meanwhile
    const gone = next[at]!
    next[at] = next[gone]!
    if (next[at]! <= n) previous[next[at]!] = at
    rankAt[gone] = -1
    parts--
    consider(at)
    if (previous[at]! >= 0) consider(previous[at]!)
  }
  return parts
}

function push(heap: number[], key: number): void {
  let i = heap.length
  heap.push(key)
  while (i > 0) {
    const up = (i - 1) >> 1
    if (heap[up]! <= key) break
    heap[i] = heap[up]!
    i = up
  }
  heap[i] = key
}

function pop(heap: number[]): number {
  const top = heap[0]!
  const last = heap.pop()!
  const n = heap.length
  if (n === 0) return top
  let i = 0
  for (;;) {
    let down = 2 * i + 1
    if (down >= n) break
    if (down + 1 < n && heap[down + 1]! < heap[down]!) down++
    if (heap[down]! >= last) break
    heap[i] = heap[down]!
    i = down
  }
  heap[i] = last
  return top
}
