// node scripts/distil.ts: makes assets/static-embedding.bin out of all-MiniLM-L6-v2. Needs npm and a minute.
//
// One forward pass for every piece of the vocabulary, between [CLS] and [SEP]; the piece's own last state is its vector,
// less the mean of all. A row's scale carries its weight: pieces that are common everywhere say little (SIF). Four bits
// a number: in docs/embedders.md is what that and every other recipe brought.
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  END,
  fetchMinilm,
  PIECES,
  RUNTIME_PACKAGE,
  START,
  UNKNOWN,
  WEIGHTS_NAME,
  WIDTH,
} from '../src/find/recall/embedders/minilm.ts'
import { npm } from '../src/find/recall/embedders/npm.ts'
import type { Head } from '../src/find/recall/embedders/static.ts'
import { indexPieces, type Pieces } from '../src/find/recall/embedders/wordpiece.ts'

const RECIPE = 'minilm-l6-v2:1'
const TARGET = join(import.meta.dirname, '..', 'assets', 'static-embedding.bin')
/** Where the vocabulary's words begin, the most frequent first. */
const FIRST_WORD = 1996
const SIF = 2e-3
const BATCH = 512

/** The last state of each piece, alone. */
async function states(graph: Uint8Array, weights: Uint8Array): Promise<Float32Array> {
  const temporary = mkdtempSync(join(tmpdir(), 'tidemark-distil-'))
  try {
    writeFileSync(join(temporary, 'package.json'), '{"private":true}')
    await npm(
      ['install', RUNTIME_PACKAGE, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
      temporary,
    )
    const { InferenceSession, Tensor } = createRequire(join(temporary, 'package.json'))('onnxruntime-node')
    const session = await InferenceSession.create(graph, {
      intraOpNumThreads: 1,
      externalData: [{ path: WEIGHTS_NAME, data: weights }],
    })
    const out = new Float32Array(PIECES * WIDTH)
    for (let from = 0; from < PIECES; from += BATCH) {
      const n = Math.min(BATCH, PIECES - from)
      const ids = BigInt64Array.from({ length: n * 3 }, (_, i) =>
        BigInt(i % 3 === 0 ? START : i % 3 === 2 ? END : from + Math.floor(i / 3)),
      )
      const tensor = (data: BigInt64Array) => new Tensor('int64', data, [n, 3])
      const { last_hidden_state } = await session.run({
        input_ids: tensor(ids),
        attention_mask: tensor(new BigInt64Array(n * 3).fill(1n)),
        token_type_ids: tensor(new BigInt64Array(n * 3)),
      })
      const data: Float32Array = last_hidden_state.data
      for (let i = 0; i < n; i++) {
        const at = (i * 3 + 1) * WIDTH
        out.set(data.subarray(at, at + WIDTH), (from + i) * WIDTH)
      }
    }
    return out
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

/** How much a piece counts in a sum: nothing for special names and lone marks, little for what is everywhere. */
function weightsOf(pieces: readonly string[]): number[] {
  let harmonic = 0
  for (let rank = 1; rank <= PIECES; rank++) harmonic += 1 / rank
  return pieces.map((piece, id) => {
    if (/^\[/.test(piece) || /^[^\p{L}\p{N}#]$/u.test(piece)) return 0
    const probability = 1 / (Math.max(1, id - FIRST_WORD + 1) * harmonic)
    return SIF / (SIF + probability)
  })
}

function lessMean(rows: Float32Array): void {
  const mean = new Float64Array(WIDTH)
  for (let i = 0; i < rows.length; i++) mean[i % WIDTH]! += rows[i]! / PIECES
  for (let i = 0; i < rows.length; i++) rows[i] = rows[i]! - mean[i % WIDTH]!
}

/** Four bits a number: the low half of a byte is of the row's first half, the high half of its second. */
function pack(rows: Float32Array, weights: readonly number[]): { scales: Float32Array; nibbles: Uint8Array } {
  const half = WIDTH / 2
  const scales = new Float32Array(PIECES)
  const nibbles = new Uint8Array(PIECES * half)
  for (let id = 0; id < PIECES; id++) {
    const row = rows.subarray(id * WIDTH, (id + 1) * WIDTH)
    const step = row.reduce((most, x) => Math.max(most, Math.abs(x)), 0) / 7
    scales[id] = step * weights[id]!
    if (scales[id] === 0) continue
    for (let i = 0; i < half; i++)
      nibbles[id * half + i] = (Math.round(row[i]! / step) & 15) | ((Math.round(row[i + half]! / step) & 15) << 4)
  }
  return { scales, nibbles }
}

/** The file that `parseTable` takes apart: its parts, in their order. */
function formatTable(scales: Float32Array, nibbles: Uint8Array, pieces: Pieces): Buffer {
  const vocab = Buffer.from(pieces.vocab)
  const head: Head = {
    format: 1,
    recipe: RECIPE,
    dimensions: WIDTH,
    pieces: scales.length,
    slots: pieces.slots.length,
    longest: pieces.longest,
    unknown: UNKNOWN,
    vocabBytes: vocab.length,
  }
  const said = JSON.stringify(head)
  const bytes = (numbers: Float32Array | Uint32Array | Uint16Array) =>
    Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength)
  return Buffer.concat([
    Buffer.from(`${said.padEnd(said.length + 3 - (said.length % 4))}\n`),
    bytes(scales),
    bytes(pieces.starts),
    bytes(pieces.slots),
    nibbles,
    vocab,
  ])
}

const { graph, weights, vocab } = await fetchMinilm()
const names = Buffer.from(vocab).toString('utf8').trimEnd()
const rows = await states(graph, weights)
lessMean(rows)
const { scales, nibbles } = pack(rows, weightsOf(names.split('\n')))

const table = formatTable(scales, nibbles, indexPieces(names))
writeFileSync(TARGET, table)
console.log(`${table.length} bytes, sha256 ${createHash('sha256').update(table).digest('hex')}`)
