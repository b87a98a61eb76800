import { type Db, stored } from '../store/db.ts'
import { neighboursOf, textRows } from '../store/text-index.ts'
import {
  aboutPages,
  beginSave,
  countVectors,
  dropOldPage,
  eachInRow,
  eachVector,
  endSave,
  lastChange,
  readPages,
  savePage,
  vectorModel,
  vectorOf,
  vectorsEpoch,
  vectorsSince,
} from '../store/vectors.ts'
import type { Embedder } from './embedders/embedder.ts'
import { aroundScale, type Spread, TUNING } from './relevance.ts'

/** 32 bits of a vector (FNV-1a over its beginning). */
function hashOfBytes(bytes: Int8Array | Uint8Array): number {
  let h = 0x811c9dc5
  for (let i = 0; i < Math.min(32, bytes.length); i++) h = Math.imul(h ^ (bytes[i]! & 0xff), 0x01000193)
  // the last bytes reach the upper bits too
  h = Math.imul(h ^ (h >>> 15), 0x85ebca6b)
  return (h ^ (h >>> 13)) >>> 0
}

/** A vector as bytes: the scale (float32), then one signed byte for each dimension. */
export function packVector(v: Float32Array): Uint8Array {
  let max = 0
  for (const x of v) max = Math.max(max, Math.abs(x))
  const scale = max / 127 || 1
  const out = new Uint8Array(4 + v.length)
  new DataView(out.buffer).setFloat32(0, scale, true)
  const bytes = new Int8Array(out.buffer, 4)
  for (let i = 0; i < v.length; i++) bytes[i] = Math.round(v[i]! / scale)
  return out
}

/** A stored vector at length 1, by the arithmetic of the index in memory. */
export function unitOf(data: Uint8Array): Float32Array {
  const bytes = new Int8Array(data.buffer, data.byteOffset + 4, data.byteLength - 4)
  let norm = 0
  for (const b of bytes) norm += b * b
  const scale = norm > 0 ? Math.fround(1 / Math.sqrt(norm)) : 0
  const out = new Float32Array(bytes.length)
  for (let i = 0; i < out.length; i++) out[i] = bytes[i]! * scale
  return out
}

export interface Near {
  readonly rowid: number
  readonly cosine: number
}

/** With more rows than this, a scan of the signs picks those that are compared in full. */
const SCAN_ALL = 4_000
/** That scan picks this many times `limit` rows. */
const CLOSER = 8
const SAMPLE = 512
/** The spread of cosines of unrelated texts that is assumed while there are few texts; counts as `weight` of them. */
const PRIOR = { weight: 24, deviation: 0.1 }
/** More changes than this are read faster with everything else. */
const RELOAD = 2_000
/** With fewer vectors, reading them without pages is as fast. */
const WORTH_SAVING = 1_000
/** About a megabyte: a page is written in a few milliseconds, and the lock is free between two. */
const ROWS_OF_A_PAGE = 2_048
/** How pages are laid out and what vectors are mixed of: with another one they are of no use. */
const LAYOUT = JSON.stringify([2, TUNING.around, TUNING.short])

interface About {
  readonly layout: string
  readonly model: string
  readonly epoch: string
  readonly dimensions: number
  readonly change: number
  readonly n: number
  /** Which save the pages are of. */
  readonly save?: number
}

/** Up to this many vectors are read in a fraction of a second. */
const SOON = 20_000

/**
 * The vectors of a store in the memory of this process, each mixed with those of the texts around it: sign bits and
 * bytes in typed arrays. Brought up to date from the store before each question.
 */
export class VectorIndex {
  readonly #db: Db
  readonly #dimensions: number
  readonly #model: string
  #n = 0
  #rowids = new Float64Array(0)
  #bytes = new Int8Array(0)
  #scales = new Float32Array(0)
  /** The signs, made once there are more than `SCAN_ALL` rows. */
  #bits = new Int32Array(0)
  #signed = false
  #hashes = new Uint32Array(0)
  readonly #at = new Map<number, number>()
  /** Rows of the sample, until something changes. */
  #sample: number[] | undefined
  #change = 0
  /** Up to which change the pages in the store go. */
  #saved = 0
  #epoch = ''

  constructor(db: Db, model: string, dimensions: number) {
    this.#db = db
    this.#model = model
    this.#dimensions = dimensions
  }

  get size(): number {
    return this.#n
  }

  /** Takes in what was stored since, by whatever process. */
  refresh(): void {
    const db = this.#db
    if (vectorModel(db) !== this.#model) {
      this.#clear()
      return
    }
    const epoch = vectorsEpoch(db)
    if (epoch !== this.#epoch) this.#clear()
    this.#epoch = epoch
    if (this.#change === 0) this.#restore()
    const change = lastChange(db)
    const count = countVectors(db)
    if (change === this.#change && count === this.#n) return
    this.#sample = undefined
    const changed = change > this.#change && this.#change > 0 ? vectorsSince(db, this.#change) : []
    // what is gone stood beside others: they are mixed anew, unless that takes longer than an answer may
    const gone = this.#n + changed.filter((c) => !this.#at.has(c.rowid)).length - count
    const few = this.#n <= SOON
    if (this.#change === 0 || changed.length > RELOAD || (gone > 0 && few) || gone > this.#n / 10) this.#load()
    else this.#takeIn(changed.map((c) => c.rowid))
    this.#change = change
  }

  /** Leaves the vectors as they are here for the next process, when reading them anew would take it long. */
  save(): void {
    const stale = this.#change - this.#saved
    if (this.#n < WORTH_SAVING || stale <= Math.max(WORTH_SAVING, this.#n / 10)) return
    this.#signAll()
    const db = this.#db
    const save = db.tryWrite(() =>
      vectorModel(db) === this.#model && vectorsEpoch(db) === this.#epoch ? beginSave(db) : undefined,
    )
    if (save === undefined) return
    for (let from = 0, part = 0; from < this.#n; from += ROWS_OF_A_PAGE, part++) {
      const to = Math.min(this.#n, from + ROWS_OF_A_PAGE)
      const columns = [
        this.#rowids.slice(from, to),
        this.#scales.slice(from, to),
        this.#hashes.slice(from, to),
        this.#bits.slice(from * this.#words, to * this.#words),
        this.#bytes.slice(from * this.#dimensions, to * this.#dimensions),
      ]
      const page = Buffer.concat(columns.map((c) => new Uint8Array(c.buffer)))
      if (!db.tryWrite(() => savePage(db, save, part, page))) return
    }
    const about: About = { ...this.#state, change: this.#change, n: this.#n, save }
    if (!db.tryWrite(() => endSave(db, save, JSON.stringify(about)))) return
    this.#saved = this.#change
    while (db.tryWrite(() => dropOldPage(db, save)));
  }

  get #state() {
    return { layout: LAYOUT, model: this.#model, epoch: this.#epoch, dimensions: this.#dimensions }
  }

  /** Takes the vectors as a process before left them; what was stored since is taken in as ever. */
  #restore(): void {
    const about = stored<About | null>(aboutPages(this.#db) ?? 'null')
    if (!about) return
    for (const [key, value] of Object.entries(this.#state)) if (about[key as keyof About] !== value) return
    const pages = readPages(this.#db, about.save ?? 0)
    const signs = 4 * this.#words
    const size = 16 + signs + this.#dimensions
    if (pages.reduce((n, page) => n + page.byteLength, 0) !== about.n * size) return
    this.#signed = true
    this.#grow(about.n)
    if (this.#bits.length < about.n * this.#words) this.#bits = new Int32Array(this.#rowids.length * this.#words)
    for (const page of pages) {
      const rows = page.byteLength / size
      const all = page.slice().buffer // where the driver put it, it may begin anywhere
      const at = this.#n
      this.#rowids.set(new Float64Array(all, 0, rows), at)
      this.#scales.set(new Float32Array(all, 8 * rows, rows), at)
      this.#hashes.set(new Uint32Array(all, 12 * rows, rows), at)
      this.#bits.set(new Int32Array(all, 16 * rows, rows * this.#words), at * this.#words)
      this.#bytes.set(new Int8Array(all, (16 + signs) * rows), at * this.#dimensions)
      this.#n += rows
    }
    for (let at = 0; at < this.#n; at++) this.#at.set(this.#rowids[at]!, at)
    this.#change = about.change
    this.#saved = about.change
  }

  #clear(): void {
    this.#n = 0
    this.#change = 0
    this.#saved = 0
    this.#signed = false
    this.#sample = undefined
    this.#at.clear()
  }

  #load(): void {
    this.#clear()
    this.#grow(countVectors(this.#db))
    for (const [rowid, data] of eachVector(this.#db))
      if (data.byteLength === this.#dimensions + 4) this.#putStored(rowid, data)
    // those of one row come one after another: a window over them holds the neighbours as they were before mixing
    const reach = TUNING.around.length
    let window: { at: number; words: number; vector: Float32Array }[] = []
    let source: string | undefined
    const mix = (i: number) => {
      const { at, words, vector } = window[i]!
      const mixed = Float32Array.from(vector)
      const scale = aroundScale(words)
      for (let d = 1; d <= reach; d++)
        for (const other of [window[i - d], window[i + d]])
          if (other) addTo(mixed, other.vector, TUNING.around[d - 1]! * scale)
      this.#set(at, mixed)
    }
    const finish = () => {
      for (let i = Math.max(0, window.length - reach); i < window.length; i++) mix(i)
      window = []
    }
    for (const row of eachInRow(this.#db)) {
      const at = this.#at.get(row.rowid)
      if (at === undefined) continue
      if (row.source !== source) finish()
      source = row.source
      window.push({ at, words: row.words, vector: this.#vectorAt(at) })
      if (window.length > 2 * reach + 1) window.shift()
      if (window.length > reach) mix(window.length - 1 - reach)
    }
    finish()
  }

  /** As it was put, of length 1. */
  #vectorAt(at: number): Float32Array {
    const start = at * this.#dimensions
    const scale = this.#scales[at]!
    const out = new Float32Array(this.#dimensions)
    for (let i = 0; i < out.length; i++) out[i] = this.#bytes[start + i]! * scale
    return out
  }

  #takeIn(rowids: readonly number[]): void {
    const touched = new Set(rowids)
    for (const { before, after } of neighboursOf(this.#db, rowids).values())
      for (const other of [...before, ...after]) if (this.#at.has(other)) touched.add(other)
    const around = neighboursOf(this.#db, [...touched])
    const stored = (rowid: number): Uint8Array | undefined => {
      const data = vectorOf(this.#db, rowid)
      return data?.byteLength === this.#dimensions + 4 ? data : undefined
    }
    for (const { rowid, words } of textRows(this.#db, [...touched])) {
      const data = stored(rowid)
      if (!data) continue
      this.#putStored(rowid, data)
      const beside = around.get(rowid)
      if (!beside) continue
      // in the order in which all are mixed at once: then the numbers are the same to the last digit
      const mixed = unitOf(data)
      const scale = aroundScale(words)
      for (const [d, factor] of TUNING.around.entries())
        for (const other of [beside.before[d], beside.after[d]]) {
          const theirs = other === undefined ? undefined : stored(other)
          if (theirs) addTo(mixed, unitOf(theirs), factor * scale)
        }
      this.#set(this.#place(rowid), mixed)
    }
  }

  #grow(capacity: number): void {
    if (this.#rowids.length >= capacity) return
    const size = Math.max(256, capacity, Math.ceil(this.#rowids.length * 1.5))
    const grown = <T extends Float64Array | Int8Array | Float32Array | Int32Array | Uint32Array>(from: T, to: T): T => {
      to.set(from)
      return to
    }
    this.#rowids = grown(this.#rowids, new Float64Array(size))
    this.#scales = grown(this.#scales, new Float32Array(size))
    this.#bytes = grown(this.#bytes, new Int8Array(size * this.#dimensions))
    this.#hashes = grown(this.#hashes, new Uint32Array(size))
    if (this.#signed) this.#bits = grown(this.#bits, new Int32Array(size * this.#words))
  }

  get #words(): number {
    return Math.ceil(this.#dimensions / 32)
  }

  /** As the store has it: nothing has to be counted anew but its length. */
  #putStored(rowid: number, data: Uint8Array): void {
    const at = this.#place(rowid)
    const bytes = this.#bytes
    let norm = 0
    for (let i = at * this.#dimensions, from = 4; from < data.length; i++, from++) {
      const b = (data[from]! << 24) >> 24
      bytes[i] = b
      norm += b * b
    }
    this.#scales[at] = norm > 0 ? 1 / Math.sqrt(norm) : 0
    this.#hashes[at] = hashOfBytes(data.subarray(4, 36))
    if (this.#signed) this.#sign(at)
  }

  #signAll(): void {
    if (this.#signed) return
    this.#signed = true
    this.#bits = new Int32Array(this.#rowids.length * this.#words)
    for (let at = 0; at < this.#n; at++) this.#sign(at)
  }

  #sign(at: number): void {
    const start = at * this.#dimensions
    for (let w = 0, i = 0; w < this.#words; w++) {
      let bits = 0
      for (const end = Math.min(i + 32, this.#dimensions); i < end; i++)
        if (this.#bytes[start + i]! > 0) bits |= 1 << (i & 31)
      this.#bits[at * this.#words + w] = bits
    }
  }

  /** Where a row stands in the arrays. */
  #place(rowid: number): number {
    let at = this.#at.get(rowid)
    if (at === undefined) {
      at = this.#n++
      this.#grow(this.#n)
      this.#at.set(rowid, at)
      this.#rowids[at] = rowid
    }
    return at
  }

  #set(at: number, v: Float32Array): void {
    let norm = 0
    let max = 0
    for (const x of v) {
      norm += x * x
      max = Math.max(max, Math.abs(x))
    }
    norm = Math.sqrt(norm)
    const step = max / 127 || 1
    const start = at * this.#dimensions
    for (let i = 0; i < v.length; i++) this.#bytes[start + i] = Math.round(v[i]! / step)
    this.#scales[at] = norm > 0 ? step / norm : 0
    if (this.#signed) this.#sign(at)
  }

  #cosineAt(at: number, q: Float32Array): number {
    const bytes = this.#bytes
    const start = at * this.#dimensions
    let a = 0
    let b = 0
    let c = 0
    let d = 0
    let i = 0
    for (; i + 3 < q.length; i += 4) {
      a += bytes[start + i]! * q[i]!
      b += bytes[start + i + 1]! * q[i + 1]!
      c += bytes[start + i + 2]! * q[i + 2]!
      d += bytes[start + i + 3]! * q[i + 3]!
    }
    for (; i < q.length; i++) a += bytes[start + i]! * q[i]!
    return (a + b + c + d) * this.#scales[at]!
  }

  /** The cosine of one text to a question, if it has a vector. */
  cosine(rowid: number, q: Float32Array): number | undefined {
    const at = this.#at.get(rowid)
    return at === undefined ? undefined : this.#cosineAt(at, q)
  }

  /** The nearest to a question, nearest first. */
  nearest(q: Float32Array, limit: number): Near[] {
    const rows = this.#n <= SCAN_ALL ? [...this.#at.values()] : this.#likely(q, limit * CLOSER)
    const near = rows.map((at) => ({ rowid: this.#rowids[at]!, cosine: this.#cosineAt(at, q) }))
    return near.sort((a, b) => b.cosine - a.cosine || a.rowid - b.rowid).slice(0, limit)
  }

  /** Those whose signs agree most with the question's. */
  #likely(q: Float32Array, wanted: number): number[] {
    const words = this.#words
    this.#signAll()
    const asked = signs(q, words)
    const bits = this.#bits
    const distances = new Uint16Array(this.#n)
    const histogram = new Uint32Array(this.#dimensions + 33)
    for (let at = 0, start = 0; at < this.#n; at++, start += words) {
      let d = 0
      for (let w = 0; w < words; w++) {
        let x = bits[start + w]! ^ asked[w]!
        x -= (x >>> 1) & 0x55555555
        x = (x & 0x33333333) + ((x >>> 2) & 0x33333333)
        d += Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
      }
      distances[at] = d
      histogram[d]!++
    }
    let most = 0
    for (let seen = 0; most < histogram.length; most++) if ((seen += histogram[most]!) >= wanted) break
    const likely: number[] = []
    for (let at = 0; at < this.#n; at++) if (distances[at]! <= most) likely.push(at)
    return likely
  }

  /** What the cosines to a question are like over all texts, from a sample spread evenly over them. */
  spread(q: Float32Array, { floor, weight = TUNING.vector }: Pick<Embedder, 'floor' | 'weight'>): Spread {
    // chosen by what they say and not by where they lie: every process and every replica takes the same ones
    const below = (SAMPLE / Math.max(1, this.#n)) * 2 ** 32
    if (!this.#sample) {
      this.#sample = []
      for (let at = 0; at < this.#n; at++) if (this.#hashes[at]! < below) this.#sample.push(at)
    }
    const chosen = new Map<number, number>()
    for (const at of this.#sample) {
      const hash = this.#hashes[at]!
      // of equal texts one
      chosen.set(hash, Math.max(chosen.get(hash) ?? -1, this.#cosineAt(at, q)))
    }
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

function addTo(to: Float32Array, from: Float32Array, factor: number): void {
  for (let i = 0; i < to.length; i++) to[i]! += from[i]! * factor
}

function signs(v: Float32Array, words: number): Int32Array {
  const out = new Int32Array(words)
  for (let i = 0; i < v.length; i++) if (v[i]! > 0) out[i >> 5]! |= 1 << (i & 31)
  return out
}
