import { closeSync, openSync, watch, writeSync } from 'node:fs'
import { join } from 'node:path'
import { openProject } from '../src/project/open.ts'
import { runTogether } from './group.ts'
import { tempDir, tempProject } from './project.ts'
import { type Bench, least, median, most, quantile, type Row, type Table } from './table.ts'
import { type Heard, type Talk, talk } from './talk.ts'

const ROUNDS = 2
const IDLE_MS = 10_000

const TALKS: Record<string, Talk> = {
  '10 write 10 times a second, 10 others watch': { writers: 10, listeners: 10, writes: 100, pause: 100 },
  '10 write 10 times a second and watch': { writers: 10, listeners: 0, writes: 100, pause: 100 },
  '10 write 20 times a second and watch': { writers: 10, listeners: 0, writes: 200, pause: 50 },
  'without a doorbell: 10 write, 10 watch': { writers: 10, listeners: 10, writes: 100, pause: 100, deaf: true },
  'without a doorbell: 1 writes every 2 s': { writers: 1, listeners: 10, writes: 6, pause: 2000, deaf: true },
}
/** Those that the bounds are for: 100 batches a second, and a doorbell that rings. */
const BOUND = Object.keys(TALKS).slice(0, 2)

/** What the system alone takes: a byte is written to a file, the watcher of the file is called, in one process. */
async function bareWatch(): Promise<number[]> {
  const path = join(tempDir(), 'bell')
  const fd = openSync(path, 'w')
  const ms: number[] = []
  let since = 0
  let told = () => {}
  const watcher = watch(path, () => told())
  for (let i = 0; i < 100; i++) {
    const next = new Promise<void>((resolve) => (told = resolve))
    since = performance.now()
    writeSync(fd, '.', 0)
    await next
    ms.push(performance.now() - since)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  watcher.close()
  closeSync(fd)
  return ms
}

async function news(): Promise<Table> {
  const bare: number[] = []
  const of = new Map<string, Heard[]>(Object.keys(TALKS).map((name) => [name, []]))
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(...(await bareWatch()))
    for (const [name, heard] of of) heard.push(await talk(tempProject(), TALKS[name]!))
  }
  if (process.env.TIDEMARK_EVENTS) {
    const writes = Number(process.env.TIDEMARK_EVENTS) / 10
    of.set('10 write without a pause, 10 others watch', [
      await talk(tempProject(), { writers: 10, listeners: 10, writes, pause: 0 }),
    ])
  }
  const row = (what: string, ms: readonly number[], ...rest: (number | string)[]): Row => ({
    what,
    cells: [median(ms), quantile(ms, 0.95), quantile(ms, 0.99), ms.reduce((a, b) => Math.max(a, b)), ...rest],
  })
  return {
    title: 'ms from act having returned in one process to the batch being delivered in another',
    columns: ['p50', 'p95', 'p99', 'max', 'batches', 'per second', 'deliveries', 'lost'],
    rows: [
      row('a byte written, fs.watch alone', bare, '', '', '', ''),
      ...[...of].map(([name, heard]) => {
        const ms = heard.flatMap((h) => h.ms)
        const lost = heard.reduce((sum, h) => sum + h.missing, 0)
        const written = heard.reduce((sum, h) => sum + h.written, 0)
        const bounded = BOUND.includes(name)
        return {
          ...row(name, ms, String(written), median(heard.map((h) => h.perSecond)), String(ms.length), lost),
          bound: bounded ? 'p50 < 2, p99 < 20, 0 lost' : '0 lost',
          ok: lost === 0 && (!bounded || (median(ms) < 2 && quantile(ms, 0.99) < 20)),
        }
      }),
    ],
    notes: [
      'lost: never delivered, delivered twice, or out of order',
      'every writer has written twenty batches before; 0 ms: heard before the writer had its answer',
      'without a doorbell: a directory lies in its place, so that nobody can ring and nothing is told; looking remains',
      'TIDEMARK_EVENTS=100000 adds a run of so many batches',
    ],
  }
}

/** What it costs to follow a store in which nothing happens. */
async function idle(): Promise<Table> {
  const project = tempProject()
  openProject(project).close()
  const costs = await runTogether<{ percent: number }>(
    Array.from({ length: 3 }, (_, i) => ['idler', project.root, `i${i}`, String(IDLE_MS)]),
  )
  const percent = costs.map((c) => c.percent)
  return {
    title: `percent of a core that a process takes which follows a store in which nothing happens, ${IDLE_MS / 1000} s`,
    columns: ['min', 'median', 'max'],
    rows: [
      {
        what: '3 watchers',
        cells: [least(percent), median(percent), most(percent)],
        bound: '≤ 0.5',
        ok: most(percent) <= 0.5,
      },
    ],
  }
}

export const bench: Bench = {
  name: 'propagation',
  about: 'processes that write and processes that follow them through subscribe',
  run: async () => [await news(), await idle()],
}
