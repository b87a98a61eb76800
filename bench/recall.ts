// How fast recall is, and what it takes. Each size is a store of its own, filled through act as agents do; the questions
// are asked in a process that did not fill it. TIDEMARK_MILLION=1 measures a million entities as well: minutes, gigabytes.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { wholeProcess } from './cold.ts'
import { entity, question } from './knowledge.ts'
import { builtPackage, tempProject } from './project.ts'
import { openWith } from './recalling.ts'
import { type Bench, interleave, least, median, most, type Row, ratio, type Table } from './table.ts'

const SIZES = [10_000, 100_000]
/** Milliseconds within which 95 of 100 questions are answered. */
const BOUNDS: Readonly<Record<number, number>> = { 10000: 20, 100000: 60 }
const EMBEDDER = 'static'
const COLD_ROUNDS = 15
const MB = 2 ** 20

/** What one process measured of a store that another filled. */
interface Asked {
  emptyMb: number
  openMb: number
  askedMb: number
  firstMs: number
  p50: number
  p95: number
  most: number
  found: number
}

/** Asks in a process of its own; see worker.ts. */
async function asked(root: string, entities: number): Promise<Asked> {
  const worker = join(import.meta.dirname, 'worker.ts')
  const child = spawn(process.execPath, [worker, 'asker', root, EMBEDDER, String(entities)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.on('data', (d) => (said += d))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`the asking process ended with ${code}`)
  return JSON.parse(said) as Asked
}

/** A store of so many entities: how fast they were written and got their vectors. */
async function filled(entities: number) {
  const project = tempProject()
  const open = openWith(EMBEDDER, project)
  let since = performance.now()
  for (let i = 0; i < entities; i += 50)
    open.memory.act(Array.from({ length: Math.min(50, entities - i) }, (_, j) => entity(i + j)))
  const written = (performance.now() - since) / 1000
  since = performance.now()
  await open.settled()
  const indexed = (performance.now() - since) / 1000
  open.close()
  return {
    project,
    written: entities / written,
    indexed: entities / indexed,
    mb: statSync(project.storePath).size / MB,
  }
}

const count = (n: number) => n.toLocaleString('en')

async function cold(root: string): Promise<Table> {
  const bin = builtPackage()
  const { stdout } = spawnSync(process.execPath, [bin, 'recall', question(0, 10_000)], { cwd: root, encoding: 'utf8' })
  if (/by words alone|no vector yet/.test(stdout)) throw new Error(`without all of its vectors: ${stdout}`)
  const { base, recall } = await interleave(COLD_ROUNDS, {
    base: () => wholeProcess(['-e', '0'], '/'),
    recall: (round) => wholeProcess([bin, 'recall', question(Math.max(0, round), 10_000)], root),
  })
  const times = ratio(recall, base)
  const row = (what: string, ms: readonly number[], x: number): Row => ({
    what,
    cells: [least(ms), median(ms), most(ms), x],
  })
  return {
    title: `a whole process at 10,000 entities, embedder ${EMBEDDER}: ms of wall time, ${COLD_ROUNDS} rounds`,
    columns: ['min', 'median', 'max', '× empty'],
    rows: [row('node -e 0', base, 1), { ...row('tidemark recall', recall, times), bound: '≤ 6 ×', ok: times <= 6 }],
    notes: ['× empty is the median of the ratios to the empty process of the same round'],
  }
}

export const bench: Bench = {
  name: 'recall',
  about: 'latency of recall in an open process, indexing, memory, and a cold process',
  async run() {
    const sizes = process.env.TIDEMARK_MILLION ? [...SIZES, 1_000_000] : SIZES
    const latency: Row[] = []
    const indexing: Row[] = []
    const memory: Row[] = []
    let small = ''
    for (const n of sizes) {
      const store = await filled(n)
      if (n === 10_000) small = store.project.root
      const a = await asked(store.project.root, n)
      const bound = BOUNDS[n]
      latency.push({
        what: `${count(n)} entities`,
        cells: [a.p50, a.p95, a.most, a.firstMs, `${(a.found * 100).toFixed(0)} %`],
        ...(bound === undefined ? {} : { bound: `p95 ≤ ${bound} ms`, ok: a.p95 <= bound }),
      })
      indexing.push({
        what: `${count(n)} entities`,
        cells: [store.written, store.indexed, store.mb],
        bound: '≥ 1,000 entities/s',
        ok: store.written >= 1000,
      })
      memory.push({ what: `${count(n)} entities`, cells: [a.emptyMb, a.openMb, a.askedMb] })
    }
    return [
      {
        title: `ms per question in an open process, with vectors (${EMBEDDER})`,
        columns: ['p50', 'p95', 'max', 'first', 'answered'],
        rows: latency,
        notes: [
          'first: from opening the store to the first answer, in a process that has loaded the library',
          'a question is made of rare and of common words; one without an answer counts as well',
        ],
      },
      { title: 'indexing, one process', columns: ['written/s', 'vectors/s', 'store MB'], rows: indexing },
      {
        title: 'MB resident in the process that asks',
        columns: ['library loaded', 'first answer', 'all asked'],
        rows: memory,
      },
      await cold(small),
    ]
  },
}
