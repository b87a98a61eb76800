// How fast walks over a big graph are. TIDEMARK_GRAPH=DIR measures a project that was filled before, with its ids in ids.json.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Memory } from '../src/engine/memory.ts'
import { findProject } from '../src/engine/store/project.ts'
import { trace } from '../src/find/graph/trace.ts'
import { neighbours, shortestPath } from '../src/find/graph/walk.ts'
import { touchedBy, whatIf } from '../src/find/graph/what-if.ts'
import { openProject } from '../src/project/open.ts'
import { wholeProcess } from './cold.ts'
import { signalsTable } from './graph-signals.ts'
import { fillGraph } from './graph-store.ts'
import { seeded } from './knowledge.ts'
import { builtPackage, tempProject } from './project.ts'
import { type Bench, interleave, least, median, most, quantile, type Row, ratio, type Table, timed } from './table.ts'

const ENTITIES = 100_000
const LINKS = 300_000
const ROUNDS = 300
const COLD_ROUNDS = 11

/** Every link at both of its ends, as a process would hold it in memory; gone with the next write of anybody. */
function adjacency({ db }: Memory): Map<string, string[]> {
  const found = new Map<string, string[]>()
  const add = (a: string, b: string) => {
    const there = found.get(a)
    if (there) there.push(b)
    else found.set(a, [b])
  }
  for (const { src, dst } of db.all<{ src: string; dst: string }>(
    `SELECT l.src, l.dst FROM links l JOIN entities said ON said.id=l.id JOIN entities a ON a.id=l.src JOIN entities b ON b.id=l.dst
     WHERE said.live=1 AND said.retired=0 AND said.standing='confirmed' AND a.live=1 AND b.live=1`,
  )) {
    add(src, dst)
    add(dst, src)
  }
  return found
}

/** Walks in an open process, from entities that are drawn. */
async function walks(memory: Memory, ids: readonly string[]): Promise<Table> {
  const { reader } = memory
  const chance = seeded(5)
  const drawn = Array.from({ length: ROUNDS + 10 }, () => ids[Math.floor(chance() * ids.length)]!)
  const at = (round: number) => drawn[round + 2]!
  const asks: Record<string, { run(id: string, round: number): number; bound?: [share: number, ms: number] }> = {
    'one hop': { run: (id) => neighbours(reader, id).length, bound: [0.95, 5] },
    'one hop, from what most go to': { run: (_, round) => neighbours(reader, ids[Math.abs(round) % 300]!).length },
    'trace, depth 5': { run: (id) => trace(reader, id, { depth: 5 }).reached.length, bound: [0.95, 50] },
    'shortest path, any relation': { run: (id, round) => shortestPath(reader, id, at(round + 1))?.length ?? 0 },
    'what is touched': { run: (id) => touchedBy(reader, reader.entity(id)!, Date.now()).touched.length },
    'what-if, whole': { run: (id) => whatIf(memory, reader, reader.entity(id)!).touched.length, bound: [0.95, 100] },
  }
  const reached: Record<string, number[]> = {}
  const cpu: Record<string, number[]> = {}
  const measured = await interleave(
    ROUNDS,
    Object.fromEntries(
      Object.entries(asks).map(([what, { run }]) => [
        what,
        (round: number) => {
          const used = process.cpuUsage()
          const ms = timed(() => void (reached[what] ??= []).push(run(at(round), round)))
          const { user, system } = process.cpuUsage(used)
          ;(cpu[what] ??= []).push((user + system) / 1000)
          return ms
        },
      ]),
    ),
  )
  return {
    title: `ms in an open process at ${ids.length.toLocaleString('en')} entities and ${LINKS.toLocaleString('en')} links, ${ROUNDS} rounds`,
    columns: ['p50', 'p95', 'max', 'CPU p95', 'reached, median', 'most'],
    rows: Object.entries(measured).map(([what, ms]): Row => {
      const [share, bound] = asks[what]!.bound ?? []
      const value = quantile(ms, share ?? 1)
      return {
        what,
        cells: [
          median(ms),
          quantile(ms, 0.95),
          most(ms),
          quantile(cpu[what]!, 0.95),
          median(reached[what]!),
          most(reached[what]!),
        ],
        ...(bound === undefined ? {} : { bound: `p95 ≤ ${bound} ms`, ok: value <= bound }),
      }
    }),
    notes: [
      'reached: entities; a walk stops at 1,000, a trace at 400 in each direction, what is touched at 200',
      'CPU: what the process used itself, whatever else the machine does',
    ],
  }
}

/** What holding all links in memory would cost and bring. */
function held(memory: Memory, ids: readonly string[]): Table {
  const before = process.memoryUsage.rss()
  let all = new Map<string, string[]>()
  const load = timed(() => {
    all = adjacency(memory)
  })
  const mb = (process.memoryUsage.rss() - before) / 2 ** 20
  const chance = seeded(6)
  const some = Array.from({ length: ROUNDS }, () => ids[Math.floor(chance() * ids.length)]!)
  const hop = (run: (id: string) => void) => some.map((id) => timed(() => run(id)))
  const sql = hop((id) => neighbours(memory.reader, id))
  const held = hop((id) => new Set(all.get(id)))
  return {
    title: 'one hop by a statement, against all links held in memory',
    columns: ['ms before the first hop', 'ms per hop, median', 'MB'],
    rows: [
      { what: 'a statement per ring', cells: [0, median(sql), 0] },
      { what: 'all links in memory', cells: [load, median(held), mb] },
    ],
    notes: ['every process that is started anew, and every write of another one, would pay for the second row'],
  }
}

async function cold(root: string, ids: readonly string[]): Promise<Table> {
  const bin = builtPackage()
  const id = (round: number) => ids[((round + 3) * 997) % ids.length]!
  const measured = await interleave(COLD_ROUNDS, {
    'node -e 0': () => wholeProcess(['-e', '0'], '/'),
    'tidemark show': (round) => wholeProcess([bin, 'show', id(round)], root),
    'tidemark trace --depth 5': (round) => wholeProcess([bin, 'trace', id(round), '--depth', '5'], root),
    'tidemark what-if': (round) => wholeProcess([bin, 'what-if', id(round)], root),
  })
  return {
    title: `a whole process: ms of wall time, ${COLD_ROUNDS} rounds`,
    columns: ['min', 'median', 'max', '× empty'],
    rows: Object.entries(measured).map(([what, ms]) => ({
      what,
      cells: [least(ms), median(ms), most(ms), ratio(ms, measured['node -e 0'])],
    })),
  }
}

export const bench: Bench = {
  name: 'graph',
  about: `walks over ${LINKS.toLocaleString('en')} links`,
  async run() {
    const there = process.env.TIDEMARK_GRAPH
    const project = there ? findProject(there)! : tempProject()
    const memory = openProject(project, { unlisted: true })
    const ids = there
      ? (JSON.parse(readFileSync(join(there, 'ids.json'), 'utf8')) as string[])
      : fillGraph(memory, ENTITIES, LINKS)
    const tables = [await walks(memory, ids), held(memory, ids), signalsTable(memory, project)]
    memory.close()
    return [...tables, await cold(project.root, ids)]
  },
}
