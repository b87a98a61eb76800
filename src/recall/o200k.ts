/**
 * The vocabulary of o200k_base as one block of bytes: a hash table of ranks, where each token's bytes lie, and the bytes.
 * It is used as it is read from disk: nothing is parsed, no string is made.
 */
export interface Vocabulary {
  /** The rank of the token with these bytes, or -1. */
  rank(bytes: Uint8Array, from: number, to: number): number
}

/** The file that the build writes the table to. */
export const TABLE = 'o200k.bin'

const MAGIC = 0x6f32_3030
/** Slots of the hash table: a power of two, three quarters full with 200,000 tokens. */
const SLOTS = 1 << 18
const HEADER = 2

/** FNV-1a: short keys, few collisions, no multiplication beyond 32 bits. */
function hash(bytes: Uint8Array, from: number, to: number): number {
  let h = 0x811c_9dc5
  for (let i = from; i < to; i++) h = Math.imul(h ^ bytes[i]!, 0x0100_0193)
  return (h ^ (h >>> 15)) & (SLOTS - 1)
}

/** The table of a vocabulary in the published form: a line for each token, its bytes in base64 and its rank. */
export function layOut(published: string): Uint8Array {
  const all: Uint8Array[] = []
  let size = 0
  for (const line of published.split('\n')) {
    const gap = line.indexOf(' ')
    if (gap < 0) continue
    const token = Buffer.from(line.slice(0, gap), 'base64')
    all[Number(line.slice(gap + 1))] = token
    size += token.length
  }
  const words = new Uint32Array(HEADER + SLOTS + all.length + 1 + Math.ceil(size / 4))
  words[0] = MAGIC
  words[1] = all.length
  const offsets = words.subarray(HEADER + SLOTS)
  const bytes = new Uint8Array(words.buffer, 4 * (HEADER + SLOTS + all.length + 1))
  let end = 0
  for (let rank = 0; rank < all.length; rank++) {
    offsets[rank] = end
    const token = all[rank]
    if (!token) continue // a rank that is not used
    bytes.set(token, end)
    end += token.length
    let slot = hash(token, 0, token.length)
    while (words[HEADER + slot] !== 0) slot = (slot + 1) & (SLOTS - 1)
    words[HEADER + slot] = rank + 1
  }
  offsets[all.length] = end
  return new Uint8Array(words.buffer)
}

/** Looks things up in what `layOut` made. */
export function vocabularyIn(table: Uint8Array): Vocabulary {
  const aligned = table.byteOffset % 4 === 0 ? table : table.slice()
  const words = new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength >> 2)
  if (words[0] !== MAGIC) throw new Error('the table of tokens is damaged, or of a machine with another byte order')
  const slots = words.subarray(HEADER, HEADER + SLOTS)
  const offsets = words.subarray(HEADER + SLOTS, HEADER + SLOTS + words[1]! + 1)
  const bytes = aligned.subarray(4 * (HEADER + SLOTS + offsets.length))
  return {
    rank(key, from, to) {
      for (let slot = hash(key, from, to); slots[slot] !== 0; slot = (slot + 1) & (SLOTS - 1)) {
        const rank = slots[slot]! - 1
        const start = offsets[rank]!
        if (offsets[rank + 1]! - start !== to - from) continue
        let i = from
        while (i < to && bytes[start + i - from] === key[i]) i++
        if (i === to) return rank
      }
      return -1
    },
  }
}
