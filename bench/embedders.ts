import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { calibrate, SAME, UNRELATED } from '../src/find/recall/embedders/calibration.ts'
import type { Embedder } from '../src/find/recall/embedders/embedder.ts'
import { minilmState, modelsDirectory } from '../src/find/recall/embedders/models.ts'
import { onnxEmbedder } from '../src/find/recall/embedders/onnx.ts'
import { parseTable, staticEmbedder, tablePath } from '../src/find/recall/embedders/static.ts'
import { type Bench, interleave, least, median, type Row, type Table, timed } from './table.ts'

const QUESTION = 'which database do we use for the reports, and why?'

/** Paragraphs and lines of this repository's documents: real text, and at hand in every clone. */
function texts(): { short: string[]; long: string } {
  const docs = ['architecture', 'decisions', 'queries', 'mcp', 'verbs', 'kinds'].map((name) =>
    readFileSync(join(import.meta.dirname, '..', 'docs', `${name}.md`), 'utf8'),
  )
  const long = docs.join('\n').repeat(4).slice(0, 100_000)
  const short = docs.flatMap((d) => d.split('\n')).filter((line) => line.length > 20 && line.length < 300)
  return { short, long }
}

async function calibration(what: string, embedder: Embedder): Promise<Row> {
  const same = await embedder.embed(SAME.flat())
  const pairs = SAME.map((_, i) => [same[2 * i]!, same[2 * i + 1]!] as const)
  const { floor, ceiling } = calibrate(await embedder.embed(UNRELATED), pairs)
  return {
    what,
    cells: [embedder.dimensions, floor, embedder.floor, ceiling, embedder.ceiling],
    bound: 'within .02',
    ok: Math.abs(floor - embedder.floor) < 0.02 && Math.abs(ceiling - embedder.ceiling) < 0.02,
  }
}

async function builtIn(): Promise<Table> {
  const { short, long } = texts()
  const first = timed(() => staticEmbedder())
  const embedder = staticEmbedder()
  const { encode } = parseTable(readFileSync(tablePath()))
  const ms = await interleave(
    15,
    {
      load: () => timed(() => staticEmbedder()),
      question: () => timed(() => embedder.embedNow!([QUESTION])),
      short: () => timed(() => embedder.embedNow!(short)),
      long: () => timed(() => embedder.embedNow!([long])),
      split: () => timed(() => encode(long)),
    },
    3,
  )
  const row = (what: string, samples: readonly number[], rest: Partial<Row> = {}): Row => ({
    what,
    cells: [least(samples), median(samples)],
    ...rest,
  })
  const perSecond = median(ms.short.map((x) => (short.length / x) * 1000))
  return {
    title: `static: ${(statSync(tablePath()).size / 1e6).toFixed(1)} MB, ms`,
    columns: ['min', 'median'],
    rows: [
      row('loading, for the first time', [first], { bound: '≤ 20 ms', ok: first <= 20 }),
      row('loading again', ms.load),
      row('one question', ms.question),
      row(`${short.length} lines of documents`, ms.short, { bound: '≥ 10,000 a second', ok: perSecond >= 10_000 }),
      row('one text of 100 kB', ms.long),
      row('of that, splitting into pieces', ms.split, { bound: '≤ 50 ms', ok: median(ms.split) <= 50 }),
    ],
    notes: [`${Math.round(perSecond / 100) * 100} lines a second`],
  }
}

async function minilm(embedder: Embedder, loading: number): Promise<Table> {
  const { short, long } = texts()
  const some = short.slice(0, 200)
  const wall = async (work: () => Promise<unknown>) => {
    const start = performance.now()
    await work()
    return performance.now() - start
  }
  const ms = await interleave(
    5,
    {
      question: () => wall(() => embedder.embed([QUESTION])),
      short: () => wall(() => embedder.embed(some)),
      long: () => wall(() => embedder.embed([long])),
    },
    1,
  )
  const row = (what: string, samples: readonly number[]): Row => ({ what, cells: [least(samples), median(samples)] })
  return {
    title: 'onnx: MiniLM beside the table, ms',
    columns: ['min', 'median'],
    rows: [
      { what: 'loading, once', cells: [loading, loading] },
      row('one question', ms.question),
      row(`${some.length} lines of documents`, ms.short),
      row('one text of 100 kB (cut to 256 pieces)', ms.long),
    ],
    notes: [`${Math.round(median(ms.short.map((x) => (some.length / x) * 1000)))} lines a second`],
  }
}

export const bench: Bench = {
  name: 'embedders',
  about: 'how fast texts become vectors, and which cosines mean something',
  async run() {
    const tables = [await builtIn()]
    const rows = [await calibration('static', staticEmbedder())]
    const models = modelsDirectory()
    const notes: string[] = []
    if (minilmState(models).isComplete) {
      const start = performance.now()
      const embedder = await onnxEmbedder(models)
      tables.push(await minilm(embedder, performance.now() - start))
      rows.push(await calibration('onnx', embedder))
      embedder.close?.()
    } else notes.push('MiniLM was not measured: `tidemark models add minilm` brings it')
    return [
      ...tables,
      {
        title: `cosines: ${UNRELATED.length} sentences that have nothing to do with each other, ${SAME.length} pairs that say the same`,
        columns: ['dimensions', '95 % of unrelated below', 'floor', 'median of the same', 'ceiling'],
        rows,
        notes,
      },
    ]
  },
}
