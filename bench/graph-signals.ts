import type { Memory } from '../src/engine/memory.ts'
import type { Project } from '../src/engine/store/project.ts'
import { lookAt, signalsOf } from '../src/find/graph/signals/index.ts'
import { least, median, most, type Table, timed } from './table.ts'

const ROUNDS = 5
/** Milliseconds for all signals at 100,000 entities and 300,000 links. */
const BOUND = 2_000
/** Later by so much, everything is due for review. */
const LATER = 40 * 86_400_000

/** All signals of a memory, when all of its decisions are due for review. */
export function signalsTable(memory: Memory, project: Project): Table {
  const cpu: number[] = []
  let found = 0
  const now = memory.env.now() + LATER
  const ms = Array.from({ length: ROUNDS }, () => {
    const used = process.cpuUsage()
    const took = timed(() => void (found = signalsOf(lookAt(memory, project, { now })).length))
    const { user, system } = process.cpuUsage(used)
    cpu.push((user + system) / 1000)
    return took
  })
  const counted = memory.reader.counts()
  const links = counted.find((c) => c.kind === 'relationship')?.n ?? 0
  const entities = counted.reduce((sum, c) => sum + c.n, 0) - links
  return {
    title: `all signals at ${entities.toLocaleString('en')} entities and ${links.toLocaleString('en')} links: ms, ${ROUNDS} rounds`,
    columns: ['min', 'median', 'max', 'CPU, median', 'signals'],
    rows: [
      {
        what: 'tidemark signals, in an open process',
        cells: [least(ms), median(ms), most(ms), median(cpu), found],
        bound: `CPU ≤ ${BOUND} ms`,
        ok: median(cpu) <= BOUND,
      },
    ],
    notes: ['CPU: what the process used itself, whatever else the machine does'],
  }
}
