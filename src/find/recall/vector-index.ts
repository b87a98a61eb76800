import type { Db } from '../../engine/store/db.ts'
import { BLOCK, lastChange, signsSince, vectorModel, vectorsEpoch, vectorsOf } from '../../engine/store/vectors.ts'
import type { Embedder } from './embedders/embedder.ts'
import { type Spread, TUNING } from './relevance.ts'
import { cosineTo, signsOf } from './vector-bytes.ts'

export type Near = { readonly rowid: number; readonly cosine: number }

/** The scan of the signs picks this many times `limit` rows, up to `MOST`; they are compared in full. */
const CLOSER = 8
const MOST = 1_000
const SAMPLE = 512
/** Vectors that are kept in memory: those of a small store, some 10 MB. */
const MOST_READ = 20_000
/** The spread of cosines of unrelated texts that is assumed while there are few texts; counts as `weight` of them. */
const PRIOR = { weight: 24, deviation: 0.1 }

/** 32 bits of some signs (FNV-1a over the first words). */
function hashOfSigns(bits: Int32Array, start: number, words: number): number {
  let h = 0x811c9dc5
  for (let w = start; w < start + Math.min(4, words); w++) h = Math.imul(h ^ bits[w]!, 0x01000193) ^ (h >>> 15)
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  return (h ^ (h >>> 13)) >>> 0
}

/** The vectors of a store: signs in memory, all else read for the few that are compared in full. */
export class VectorIndex {
  readonly #db: Db
  readonly #model: string
  readonly #words: number
  /** The signs of `BLOCK` rows each; zeros stand for none. */
  readonly #blocks = new Map<number, Int32Array>()
  #size = 0
  #change = 0
  #epoch = ''
  /** Vectors of the sample with their hashes, until something changes. */
  #sample: { readonly hash: number; readonly data: Uint8Array }[] | undefined
  /** Vectors that were read lately, until something changes. */
  readonly #read = new Map<number, Uint8Array>()
  #distances = new Uint16Array(0)

  constructor(db: Db, model: string, dimensions: number) {
    this.#db = db
    this.#model = model
    this.#words = Math.ceil(dimensions / 32)
  }

  get size(): number {
    return this.#size
  }

  /** Takes in what was stored since, by whatever process. */
  refresh(): void {
    const epoch = vectorModel(this.#db) === this.#model ? vectorsEpoch(this.#db) : undefined
    if (epoch === undefined || epoch !== this.#epoch) this.#clear()
    if (epoch === undefined) return
    this.#epoch = epoch
    const change = lastChange(this.#db)
    if (change === this.#change) return
    for (const { block, bits } of signsSince(this.#db, this.#change)) {
      if (bits.length !== BLOCK * this.#words) continue
      this.#size += this.#count(bits) - this.#count(this.#blocks.get(block) ?? new Int32Array(0))
      this.#blocks.set(block, bits)
    }
    this.#change = change
    this.#sample = undefined
    this.#read.clear()
  }

  #clear(): void {
    this.#blocks.clear()
    this.#size = 0
    this.#change = 0
    this.#sample = undefined
    this.#read.clear()
  }

  #count(bits: Int32Array): number {
    let n = 0
    for (let at = 0; at < bits.length; at += this.#words) if (this.#isThere(bits, at)) n++
    return n
  }

  #isThere(bits: Int32Array, start: number): boolean {
    for (let w = start; w < start + this.#words; w++) if (bits[w] !== 0) return true
    return false
  }

  /** The cosines of texts to a question; of those that have a vector. */
  cosines(rowids: readonly number[], q: Float32Array): Near[] {
    return this.#vectors(rowids).map(({ rowid, data }) => ({ rowid, cosine: cosineTo(data, q) }))
  }

  #vectors(rowids: readonly number[]): { rowid: number; data: Uint8Array }[] {
    if (this.#read.size > MOST_READ) this.#read.clear()
    const missing = rowids.filter((rowid) => !this.#read.has(rowid))
    for (const { rowid, data } of vectorsOf(this.#db, missing)) this.#read.set(rowid, data)
    return rowids.flatMap((rowid) => {
      const data = this.#read.get(rowid)
      return data ? [{ rowid, data }] : []
    })
  }

  /** All that were compared with a question, nearest first: the first `limit` of them are the nearest. */
  near(q: Float32Array, limit: number): Near[] {
    const likely = this.#likely(q, Math.max(limit, Math.min(limit * CLOSER, MOST)))
    return this.cosines(likely, q).sort((a, b) => b.cosine - a.cosine || a.rowid - b.rowid)
  }

  /** Those whose signs agree most with the question's. */
  #likely(q: Float32Array, wanted: number): number[] {
    const words = this.#words
    const none = 32 * words + 1
    const asked = signsOf(q)
    const rows = this.#blocks.size * BLOCK
    if (this.#distances.length < rows) this.#distances = new Uint16Array(rows * 1.1)
    const distances = this.#distances
    const histogram = new Uint32Array(none + 1)
    let at = 0
    for (const bits of this.#blocks.values())
      for (let start = 0; start < bits.length; start += words) {
        let d = 0
        let any = 0
        for (let w = 0; w < words; w++) {
          const own = bits[start + w]!
          any |= own
          let x = own ^ asked[w]!
          x -= (x >>> 1) & 0x55555555
          x = (x & 0x33333333) + ((x >>> 2) & 0x33333333)
          d += Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
        }
        if (any === 0) d = none
        distances[at++] = d
        histogram[d]!++
      }
    let most = 0
    for (let seen = 0; most < none - 1; most++) if ((seen += histogram[most]!) >= wanted) break
    const likely: number[] = []
    at = 0
    for (const block of this.#blocks.keys())
      for (let i = 0; i < BLOCK; i++) if (distances[at++]! <= most) likely.push(block * BLOCK + i)
    return likely
  }

  /** Chosen by what they say and not by where they lie: every process and every replica takes the same ones. */
  #sampled(): { readonly hash: number; readonly data: Uint8Array }[] {
    const below = (SAMPLE / Math.max(1, this.#size)) * 2 ** 32
    const hashes = new Map<number, number>()
    for (const [block, bits] of this.#blocks)
      for (let i = 0, start = 0; i < BLOCK; i++, start += this.#words) {
        if (!this.#isThere(bits, start)) continue
        const hash = hashOfSigns(bits, start, this.#words)
        if (hash < below) hashes.set(block * BLOCK + i, hash)
      }
    return this.#vectors([...hashes.keys()]).map(({ rowid, data }) => ({ hash: hashes.get(rowid)!, data }))
  }

  /** What the cosines to a question are like over all texts, from a sample spread evenly over them. */
  spread(q: Float32Array, { floor, weight = TUNING.vector }: Pick<Embedder, 'floor' | 'weight'>): Spread {
    const chosen = new Map<number, number>()
    // of equal texts one
    for (const { hash, data } of (this.#sample ??= this.#sampled()))
      chosen.set(hash, Math.max(chosen.get(hash) ?? -1, cosineTo(data, q)))
    // a sum depends on the order of its parts in the last digit
    const sample = [...chosen.values()].sort((a, b) => a - b)
    const usual = floor / 2
    const n = sample.length + PRIOR.weight
    const mean = (sample.reduce((a, b) => a + b, 0) + usual * PRIOR.weight) / n
    const variance =
      (sample.reduce((a, b) => a + (b - mean) ** 2, 0) + PRIOR.weight * (PRIOR.deviation ** 2 + (usual - mean) ** 2)) /
      n
    return { mean, deviation: Math.sqrt(variance), weight }
  }
}
