// How fast recall is, and what it takes. Each size is a store of its own, filled through act as agents do; the questions
// are asked in a process that did not fill it. TIDEMARK_MILLION=1 measures a million entities as well: minutes, gigabytes.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Memory } from '../src/engine/memory.ts'
import type { Project } from '../src/engine/store/project.ts'
import { useModel } from '../src/engine/store/vectors.ts'
import { wholeProcess } from './cold.ts'
import { entity, question } from './knowledge.ts'
import { builtPackage, tempProject } from './project.ts'
import { openWith } from './recalling.ts'
import { type Bench, interleave, least, median, most, quantile, type Row, ratio } from './table.ts'

const SIZES = [10_000, 100_000]
/** Milliseconds within which 95 of 100 questions are answered. */
const BOUNDS: Readonly<Record<number, number>> = { 10000: 20, 100000: 50, 1000000: 100 }
/** How many times an empty process the first answer of a cold one may take. */
const COLD: Readonly<Record<number, number>> = { 10000: 6, 100000: 8 }
const HOLD_MS = 20
const ADDED_MB = 100
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
  cpu50: number
  cpu95: number
  found: number
}

/** Asks in a process of its own; see worker.ts. */
async function asked(root: string, entities: number, embedder: 'none' | 'static'): Promise<Asked> {
  const worker = join(import.meta.dirname, 'worker.ts')
  const child = spawn(process.execPath, [worker, 'asker', root, embedder, String(entities)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.on('data', (d) => (said += d))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`the asking process ended with ${code}`)
  return JSON.parse(said) as Asked
}

/**
 * How long the write lock is held by what a memory writes from now on: from BEGIN IMMEDIATE to the end of COMMIT. Pages
 * are moved to the file apart, since SQLite does that without the lock.
 */
function holdsOf({ raw }: Memory['db']): number[] {
  const exec = raw.exec.bind(raw)
  exec('PRAGMA wal_autocheckpoint=0')
  const holds: number[] = []
  let since = 0
  raw.exec = (sql) => {
    exec(sql)
    if (sql === 'BEGIN IMMEDIATE') since = performance.now()
    if (sql !== 'COMMIT' || since === 0) return
    holds.push(performance.now() - since)
    since = 0
    exec('PRAGMA wal_checkpoint(PASSIVE)')
  }
  return holds
}

/** A store of so many entities: how fast they were written and got their vectors, and how long that held the lock. */
async function filled(entities: number) {
  const project = tempProject()
  const open = openWith(EMBEDDER, project)
  let since = performance.now()
  for (let i = 0; i < entities; i += 50)
    open.memory.act(Array.from({ length: Math.min(50, entities - i) }, (_, j) => entity(i + j)))
  const written = (performance.now() - since) / 1000
  const holds = holdsOf(open.memory.db)
  since = performance.now()
  await open.settled()
  const indexed = (performance.now() - since) / 1000
  open.close()
  return {
    project,
    holds,
    written: entities / written,
    indexed: entities / indexed,
    mb: statSync(project.storePath).size / MB,
  }
}

const count = (n: number) => n.toLocaleString('en')

/** What another model costs those who write meanwhile: the vectors are taken out of a store that nobody needs any more. */
function emptied(project: Project): number[] {
  const { memory } = openWith(EMBEDDER, project)
  const holds = holdsOf(memory.db)
  while (!memory.db.write(() => useModel(memory.db, 'another')));
  memory.close()
  return holds
}

async function cold(root: string, entities: number): Promise<readonly Row[]> {
  const bin = builtPackage()
  const { stdout } = spawnSync(process.execPath, [bin, 'recall', question(0, entities)], {
    cwd: root,
    encoding: 'utf8',
  })
  if (/by words alone|no vector yet/.test(stdout)) throw new Error(`without all of its vectors: ${stdout}`)
  const { base, recall } = await interleave(COLD_ROUNDS, {
    base: () => wholeProcess(['-e', '0'], '/'),
    recall: (round) => wholeProcess([bin, 'recall', question(Math.max(0, round), entities)], root),
  })
  const times = ratio(recall, base)
  const row = (what: string, ms: readonly number[], x: number): Row => ({
    what,
    cells: [least(ms), median(ms), most(ms), x],
  })
  const bound = COLD[entities]
  return [
    row('node -e 0', base, 1),
    {
      ...row(`tidemark recall, ${count(entities)} entities`, recall, times),
      ...(bound === undefined ? {} : { bound: `≤ ${bound} ×`, ok: times <= bound }),
    },
  ]
}

export const bench: Bench = {
  name: 'recall',
  about: 'latency of recall in an open process, indexing, memory, the write lock, and a cold process',
  async run() {
    const sizes = process.env.TIDEMARK_MILLION ? [...SIZES, 1_000_000] : SIZES
    const latency: Row[] = []
    const indexing: Row[] = []
    const memory: Row[] = []
    const locked: Row[] = []
    const colds: Row[] = []
    for (const n of sizes) {
      const store = await filled(n)
      const what = `${count(n)} entities`
      const a = await asked(store.project.root, n, EMBEDDER)
      const words = await asked(store.project.root, n, 'none')
      const bound = BOUNDS[n]
      latency.push({
        what,
        cells: [a.p50, a.p95, a.most, a.cpu50, a.cpu95, a.firstMs, `${(a.found * 100).toFixed(0)} %`],
        ...(bound === undefined ? {} : { bound: `p95 ≤ ${bound} ms`, ok: a.p95 <= bound }),
      })
      indexing.push({
        what,
        cells: [store.written, store.indexed, store.mb],
        bound: '≥ 1,000 entities/s',
        ok: store.written >= 1000,
      })
      const added = a.askedMb - words.askedMb
      memory.push({
        what,
        cells: [a.emptyMb, a.openMb, a.askedMb, words.askedMb, added],
        bound: `added ≤ ${ADDED_MB}`,
        ok: added <= ADDED_MB,
      })
      colds.push(...(await cold(store.project.root, n)))
      for (const [doing, holds] of [
        ['making vectors', store.holds],
        ['another model', emptied(store.project)],
      ] as const)
        locked.push({
          what: `${doing}, ${what}`,
          cells: [holds.length, median(holds), quantile(holds, 0.99), most(holds)],
          bound: `≤ ${HOLD_MS} ms`,
          ok: most(holds) <= HOLD_MS,
        })
    }
    return [
      {
        title: `ms per question in an open process, with vectors (${EMBEDDER})`,
        columns: ['p50', 'p95', 'max', 'CPU p50', 'CPU p95', 'first', 'answered'],
        rows: latency,
        notes: [
          'first: from opening the store to the first answer, in a process that has loaded the library',
          'a question is made of rare and of common words; one without an answer counts as well',
        ],
      },
      { title: 'indexing, one process', columns: ['written/s', 'vectors/s', 'store MB'], rows: indexing },
      {
        title: 'MB resident in the process that asks',
        columns: ['library loaded', 'first answer', 'all asked', 'by words alone', 'added'],
        rows: memory,
        notes: ['added: what the same questions take more with vectors than by words alone'],
      },
      { title: 'ms that the write lock is held', columns: ['times', 'median', 'p99', 'max'], rows: locked },
      {
        title: `a whole process, embedder ${EMBEDDER}: ms of wall time, ${COLD_ROUNDS} rounds`,
        columns: ['min', 'median', 'max', '× empty'],
        rows: colds,
        notes: ['× empty is the median of the ratios to the empty process of the same round'],
      },
    ]
  },
}
