import { existsSync, readFileSync } from 'node:fs'
import { UserError } from '../../../base/errors.ts'
import { packageFile } from '../../../base/files.ts'
import { jsonIn } from '../../../model/object.ts'
import type { Embedder } from './embedder.ts'
import { toUnit } from './unit-vector.ts'
import { type Encode, type Pieces, wordPiece } from './wordpiece.ts'

const FILE = 'assets/static-embedding.bin'
/** As calibration.ts finds them; `npm run bench -- embedders` prints them again. */
const FLOOR = 0.32
const CEILING = 0.7
/** Anything from .5 to 1 served every development set; docs/embedders.md has the table. */
const WEIGHT = 0.75

interface Table {
  readonly recipe: string
  readonly dimensions: number
  readonly encode: Encode
  /** The value of a row's step, times how much its piece counts. */
  readonly scales: Float32Array
  /** Half a row's dimensions a byte each: the low four bits are of the first half, the high ones of the second. */
  readonly nibbles: Int8Array
}

export function tablePath(): string {
  const path = packageFile(FILE)
  if (!existsSync(path)) throw damaged('is not there')
  return path
}

const damaged = (what: string) =>
  new UserError('no-static-embedding', `the built-in embedding table ${what}`, 'install tidemark again')

/** Takes a table apart without copying its numbers. */
export function parseTable(file: Buffer): Table {
  const headEnd = file.indexOf(10) + 1
  const head = jsonIn(file.toString('utf8', 0, headEnd)) as Head | undefined
  if (head === undefined) throw damaged('has no readable head')
  if (head.format !== 1) throw damaged(`has format ${head.format}, which this version does not read`)
  const { recipe, dimensions, pieces, slots, longest, unknown } = head
  const places = placesOf(head, headEnd)
  if (file.length !== places.end) throw damaged('is cut off')
  // numbers lie on multiples of four in the file, but not always in the memory that it was read into
  const { buffer, byteOffset } = file.byteOffset % 4 === 0 ? file : new Uint8Array(file)
  const index: Pieces = {
    vocab: file.toString('utf8', places.vocab),
    starts: new Uint32Array(buffer, byteOffset + places.starts, pieces + 1),
    slots: new Uint16Array(buffer, byteOffset + places.slots, slots),
    longest,
  }
  return {
    recipe,
    dimensions,
    scales: new Float32Array(buffer, byteOffset + places.scales, pieces),
    nibbles: new Int8Array(buffer, byteOffset + places.nibbles, (pieces * dimensions) / 2),
    encode: wordPiece(index, unknown),
  }
}

/** What the first line of the file says of it; its numbers are little-endian, like every machine that runs Node. */
export interface Head {
  readonly format: number
  readonly recipe: string
  readonly dimensions: number
  readonly pieces: number
  readonly slots: number
  readonly longest: number
  readonly unknown: number
  readonly vocabBytes: number
}

function placesOf({ pieces, slots, dimensions, vocabBytes }: Head, headEnd: number) {
  const starts = headEnd + pieces * 4
  const slotsAt = starts + (pieces + 1) * 4
  const nibbles = slotsAt + slots * 2
  const vocab = nibbles + (pieces * dimensions) / 2
  return { scales: headEnd, starts, slots: slotsAt, nibbles, vocab, end: vocab + vocabBytes }
}

function embedOne({ dimensions, encode, scales, nibbles }: Table, text: string): Float32Array {
  const half = dimensions / 2
  const vector = new Float32Array(dimensions)
  for (const id of encode(text)) {
    const scale = scales[id]!
    if (scale === 0) continue
    for (let i = 0, at = id * half; i < half; i++, at++) {
      const byte = nibbles[at]!
      vector[i]! += scale * ((byte << 28) >> 28)
      vector[i + half]! += scale * (byte >> 4)
    }
  }
  return toUnit(vector)
}

/** The built-in embedder: the weighted mean of a table's rows for the pieces of a text. */
export function staticEmbedder(): Embedder {
  const table = parseTable(readFileSync(tablePath()))
  const embedNow = (texts: readonly string[]) => texts.map((text) => embedOne(table, text))
  return {
    id: `static:${table.recipe}`,
    dimensions: table.dimensions,
    floor: FLOOR,
    ceiling: CEILING,
    weight: WEIGHT,
    embed: async (texts) => embedNow(texts),
    embedNow,
  }
}
