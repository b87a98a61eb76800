import { closeSync, openSync, watch, writeSync } from 'node:fs'
import { join } from 'node:path'
import { openProject } from '../src/open.ts'
import { runTogether } from './group.ts'
import { tempDir, tempProject } from './project.ts'
import { type Bench, least, median, most, quantile, type Row } from './table.ts'

const WRITES = 60

interface Talked {
  written: [batch: string, at: number][]
  heard: [batch: string, at: number][]
}

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

async function talk(processes: number): Promise<{ ms: number[]; missing: number }> {
  const project = tempProject()
  openProject(project).close()
  const talked = await runTogether<Talked>(
    Array.from({ length: processes }, (_, i) => ['talker', project.root, `t${i}`, String(WRITES)]),
  )
  const ms: number[] = []
  let missing = 0
  for (const [writer, { written }] of talked.entries())
    for (const [listener, { heard }] of talked.entries()) {
      if (writer === listener) continue
      const at = new Map(heard)
      for (const [batch, committed] of written) {
        const delivered = at.get(batch)
        if (delivered === undefined) missing++
        else ms.push(Math.max(0, delivered - committed))
      }
    }
  return { ms, missing }
}

export const bench: Bench = {
  name: 'propagation',
  about: 'processes that write ten times a second each and follow one another through subscribe',
  async run() {
    const bare: number[] = []
    const of = new Map<number, { ms: number[]; missing: number }>()
    for (let round = 0; round < 2; round++) {
      bare.push(...(await bareWatch()))
      for (const n of [4, 10]) {
        const { ms, missing } = await talk(n)
        const before = of.get(n) ?? { ms: [], missing: 0 }
        of.set(n, { ms: [...before.ms, ...ms], missing: before.missing + missing })
      }
    }
    const row = (what: string, ms: readonly number[], missing: number | string): Row => ({
      what,
      cells: [least(ms), median(ms), quantile(ms, 0.95), quantile(ms, 0.99), most(ms), missing],
    })
    return [
      {
        title: 'ms from act having returned in one process to the batch being delivered in another',
        columns: ['min', 'p50', 'p95', 'p99', 'max', 'never heard'],
        rows: [
          row('a byte written, fs.watch alone', bare, ''),
          ...[...of].map(([n, { ms, missing }]) => ({
            ...row(`${n} processes, ${n * 10} batches/s`, ms, missing),
            bound: n === 10 ? 'p50 < 2, p99 < 20, 0' : '0 never heard',
            ok: missing === 0 && (n !== 10 || (median(ms) < 2 && quantile(ms, 0.99) < 20)),
          })),
        ],
        notes: ['0 means: heard before the writer had its answer'],
      },
    ]
  },
}
