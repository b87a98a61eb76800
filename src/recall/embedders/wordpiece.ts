/** Splits a text into the ids of a vocabulary's pieces; stops after `limit` of them. */
export type Encode = (text: string, limit?: number) => number[]

/** A longer word is one unknown: it is a hash or a blob, and the model was trained so. */
const LONGEST_WORD = 100

const PLAIN = /^[\t\n\r\x20-\x7e]*$/
const DROPPED = /(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\ufffd]/gu
const MARKS = /\p{Mn}+/gu
/** Decomposing sorts a run of marks in time quadratic in its length: 100 kB of them took four seconds. */
const PILE = /(\p{M}{30})\p{M}+/gu
/** What the model's training took for Chinese characters, its one odd bound (2B920) included: each is a word. */
const IDEOGRAPHS =
  /[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/gu
const WORDS = /[!-/:-@[-`{-~\p{P}]|[^\s!-/:-@[-`{-~\p{P}]+/gu

/** The text as an uncased model reads it: no control characters, no accents, lower case, ideographs apart. */
function normalise(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase()
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

/**
 * BERT's uncased WordPiece over a vocabulary, one piece a line: the longest piece that fits, again and again; a word with
 * a part that no piece fits is one `unknown`. Names of special tokens in a text are ordinary text.
 *
 * Pieces are found by a hash that grows letter by letter, in a table over the one string: a Map of 30,000 strings took
 * longer to make than the whole model to load, and cutting a string for every try made gibberish ten times slower.
 */
export function wordPiece(vocab: string, unknown: number): Encode {
  const starts: number[] = []
  for (let at = 0; at < vocab.length; at = vocab.indexOf('\n', at) + 1) {
    starts.push(at)
    if (vocab.indexOf('\n', at) < 0) break
  }
  const count = starts.length
  starts.push(vocab.endsWith('\n') ? vocab.length : vocab.length + 1)

  const slots = new Int32Array(2 ** Math.ceil(Math.log2(count * 3 + 1)))
  const mask = slots.length - 1
  const hashes = new Int32Array(count)
  const froms = new Int32Array(count)
  let longest = 0
  for (let id = 0; id < count; id++) {
    const end = starts[id + 1]! - 1
    const isTail = end - starts[id]! > 2 && vocab.startsWith('##', starts[id]!)
    const from = starts[id]! + (isTail ? 2 : 0)
    let hash = isTail ? TAIL : HEAD
    for (let i = from; i < end; i++) hash = mix(hash, vocab.charCodeAt(i))
    let slot = (hash ^ (hash >>> 15)) & mask
    while (slots[slot] !== 0) slot = (slot + 1) & mask
    slots[slot] = id + 1
    hashes[id] = hash
    froms[id] = from
    if (end - from > longest) longest = end - from
  }

  function find(hash: number, word: string, start: number, end: number): number {
    for (let slot = (hash ^ (hash >>> 15)) & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const id = slots[slot]! - 1
      if (hashes[id] !== hash) continue
      const from = froms[id]!
      if (starts[id + 1]! - 1 - from !== end - start) continue
      if (start === 0 ? from !== starts[id] : from === starts[id]) continue
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
    for (const [word] of normalise(text).matchAll(WORDS)) {
      if (ids.length >= limit) break
      if (isTooLong(word)) ids.push(unknown)
      else addPieces(word, ids)
    }
    if (ids.length > limit) ids.length = limit
    return ids
  }
}
