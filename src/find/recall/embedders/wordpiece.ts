/** Splits a text into the ids of a vocabulary's pieces; stops after `limit` of them. */
export type Encode = (text: string, limit?: number) => number[]

/** A longer word is one unknown: it is a hash or a blob, and the model was trained so. */
const LONGEST_WORD = 100

/** Most text; its words need no table of Unicode. */
const PLAIN = /^[\t\n\r\x20-\x7e]*$/
const DROPPED = /(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\ufffd]/gu
const MARKS = /\p{Mn}+/gu
/** Decomposing sorts a run of marks in time quadratic in its length: 100 kB of them took four seconds. */
const PILE = /(\p{M}{30})\p{M}+/gu
/** What the model's training took for Chinese characters, its one odd bound (2B920) included: each is a word. */
const IDEOGRAPHS =
  /[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/gu
const PLAIN_WORDS = /[!-/:-@[-`{-~]|[a-z0-9]+/g
const WORDS = /[!-/:-@[-`{-~\p{P}]|[^\s!-/:-@[-`{-~\p{P}]+/gu

/** The text as an uncased model reads it: no control characters, no accents, lower case, ideographs apart. */
function normalise(text: string): string {
  return (
    text
      .replace(DROPPED, '')
      .replace(IDEOGRAPHS, ' $& ')
      .replace(MARKS, '')
      .replace(PILE, '$1')
      .normalize('NFD')
      .replace(MARKS, '')
      // a sigma at the end of a word stays the common one: the vocabulary was made letter by letter
      .replaceAll('Σ', 'σ')
      .toLowerCase()
  )
}

/** Whether it has more code points than a word may have. */
function isTooLong(word: string): boolean {
  if (word.length <= LONGEST_WORD) return false
  let n = 0
  for (const _ of word) if (++n > LONGEST_WORD) return true
  return false
}

const HEAD = 0x811c9dc5
const TAIL = 0x2f0b4a27
const mix = (hash: number, unit: number) => Math.imul(hash ^ unit, 0x01000193)
const slotOf = (hash: number, mask: number) => (hash ^ (hash >>> 15)) & mask

/** A vocabulary, and where each of its pieces is found. It lies in a file as it is: nothing is made when it is loaded. */
export interface Pieces {
  /** One piece a line. */
  readonly vocab: string
  /** Where each line begins, and where one more would. */
  readonly starts: Uint32Array
  /** By the hash of a piece, one more than its line's number; zero is empty. A taken slot sends on to the next. */
  readonly slots: Uint16Array
  /** No piece has more letters. */
  readonly longest: number
}

const isTail = (vocab: string, start: number, end: number) => end - start > 2 && vocab.startsWith('##', start)

/** Finds each piece its place; at most 65,534 of them. */
export function indexPieces(vocab: string): Pieces {
  const lines = vocab.split('\n')
  const starts = new Uint32Array(lines.length + 1)
  const slots = new Uint16Array(2 ** Math.ceil(Math.log2(lines.length * 2)))
  const mask = slots.length - 1
  let longest = 0
  let start = 0
  for (const [id, line] of lines.entries()) {
    starts[id] = start
    const tail = isTail(vocab, start, start + line.length)
    const text = tail ? line.slice(2) : line
    let hash = tail ? TAIL : HEAD
    for (let i = 0; i < text.length; i++) hash = mix(hash, text.charCodeAt(i))
    let slot = slotOf(hash, mask)
    while (slots[slot] !== 0) slot = (slot + 1) & mask
    slots[slot] = id + 1
    longest = Math.max(longest, text.length)
    start += line.length + 1
  }
  starts[lines.length] = start
  return { vocab, starts, slots, longest }
}

/**
 * BERT's uncased WordPiece: the longest piece that fits, again and again; a word with a part that no piece fits is one
 * `unknown`. Names of special tokens in a text are ordinary text.
 *
 * Pieces are found by a hash that grows letter by letter. With a Map of 30,000 strings, making it took longer than all
 * the rest of loading the model, and cutting a string for every try made gibberish ten times slower.
 */
export function wordPiece({ vocab, starts, slots, longest }: Pieces, unknown: number): Encode {
  const mask = slots.length - 1

  /** The piece that is this part of a word, or -1. */
  function find(hash: number, word: string, start: number, end: number): number {
    for (let slot = slotOf(hash, mask); slots[slot] !== 0; slot = (slot + 1) & mask) {
      const id = slots[slot]! - 1
      const line = starts[id]!
      const lineEnd = starts[id + 1]! - 1
      const from = isTail(vocab, line, lineEnd) ? line + 2 : line
      if (lineEnd - from !== end - start || (start === 0) !== (from === line)) continue
      let i = start
      while (i < end && word.charCodeAt(i) === vocab.charCodeAt(from + i - start)) i++
      if (i === end) return id
    }
    return -1
  }

  /** Adds the pieces of a word; of one that does not split, only the unknown. */
  function addPieces(word: string, ids: number[]): void {
    const before = ids.length
    for (let start = 0; start < word.length; ) {
      const last = Math.min(word.length, start + longest)
      let best = -1
      let next = start
      let hash = start === 0 ? HEAD : TAIL
      for (let end = start + 1; end <= last; end++) {
        hash = mix(hash, word.charCodeAt(end - 1))
        const id = find(hash, word, start, end)
        if (id < 0) continue
        best = id
        next = end
      }
      if (best < 0) {
        ids.length = before
        ids.push(unknown)
        return
      }
      ids.push(best)
      start = next
    }
  }

  return (text, limit = Number.POSITIVE_INFINITY) => {
    const ids: number[] = []
    const words = PLAIN.test(text) ? text.toLowerCase().matchAll(PLAIN_WORDS) : normalise(text).matchAll(WORDS)
    for (const [word] of words) {
      if (ids.length >= limit) break
      if (isTooLong(word)) ids.push(unknown)
      else addPieces(word, ids)
    }
    if (ids.length > limit) ids.length = limit
    return ids
  }
}
