import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Memory } from '../src/engine/memory.ts'
import type { Project } from '../src/engine/store/project.ts'
import { discover } from '../src/project/discover/discover.ts'
import { openProject } from '../src/project/open.ts'
import { act } from '../src/surfaces/tools/act.ts'
import { bareCommit, builtPackage, decision, fill, tempProject } from './project.ts'
import { type Bench, interleave, least, median, most, quantile, type Row, ratio, type Table, timed } from './table.ts'

const SIZES = { '1k': 1_000, '10k': 10_000, '100k': 100_000 } as const
type Size = keyof typeof SIZES
const ROUNDS = 300

interface Store {
  project: Project
  memory: Memory
  seconds: number
}

function loadTable(stores: Record<Size, Store>, bare: number): Table {
  return {
    title: 'bulk load, batches of 50',
    columns: ['entities', 'seconds', 'entities/s', 'ms per entity', '× bare commit'],
    rows: (Object.keys(SIZES) as Size[]).map((size) => {
      const each = (stores[size].seconds * 1000) / SIZES[size]
      return { what: size, cells: [SIZES[size], stores[size].seconds, 1000 / each, each, each / bare] }
    }),
  }
}

async function writes(stores: Record<Size, Store>, commit: () => void): Promise<Table> {
  const cases: Record<string, (round: number) => number> = { bare: () => timed(commit) }
  const kinds: Record<string, (round: number) => unknown> = {
    'record, new': (round) => [decision(1_000_000 + round)],
    'record, existing': (round) => [['record-decision', { name: 'auth-choice-0', rationale: `round ${round}` }]],
    link: (round) => [
      ['link-entities', { from: 'auth-choice-0', to: `storage-choice-${(round + 20) * 10 + 1}`, type: 'relates-to' }],
    ],
  }
  for (const [kind, action] of Object.entries(kinds))
    for (const size of Object.keys(SIZES) as Size[])
      cases[`${kind}, at ${size}`] = (round) => {
        const batch = action(round)
        return timed(() => stores[size].memory.act(batch))
      }
  // every link goes to another entity, the warm-up rounds (negative) included; 1k has only 100 of that area
  const spare = (round: number) => (round + 20) * 10 + 1
  for (let round = -2; round < ROUNDS; round++)
    if (spare(round) >= SIZES['1k']) stores['1k'].memory.act([decision(spare(round))])
  const { bare = [], ...measured } = await interleave(ROUNDS, cases)
  const row = (what: string, ms: readonly number[]): Row => {
    const [kind, size] = what.split(', at ') as [string, Size]
    const small = size ? median(measured[`${kind}, at 1k`]!) : Number.NaN
    const p50 = median(ms)
    const bound =
      size === '100k'
        ? { bound: '≤ 2 ms, ≤ 1.5 × 1k', ok: p50 <= 2 && p50 <= 1.5 * small }
        : size
          ? { bound: '≤ 2 ms', ok: p50 <= 2 }
          : {}
    return {
      what,
      cells: [least(ms), p50, quantile(ms, 0.95), quantile(ms, 0.99), ratio(ms, bare), size ? p50 / small : ''],
      ...bound,
    }
  }
  return {
    title: `ms of a batch of one action in an open process, ${ROUNDS} rounds`,
    columns: ['min', 'p50', 'p95', 'p99', '× bare', '× 1k'],
    rows: [row('bare SQLite commit', bare), ...Object.entries(measured).map(([w, ms]) => row(w, ms))],
    notes: ['bare SQLite commit: one row of the same size into a table of its own, WAL, synchronous=FULL'],
  }
}

/** What an agent waits for: `act` as a tool also says what a decision has to do with earlier ones. */
async function answers(stores: Record<Size, Store>): Promise<Table> {
  const kinds: Record<string, (round: number) => unknown> = {
    learning: (round) => [['record-learning', { title: `part ${round}`, body: `Run ${round} needed a retry` }]],
    decision: (round) => [decision(3_000_000 + round)],
  }
  const cases: Record<string, (round: number) => Promise<number>> = {}
  for (const [kind, actions] of Object.entries(kinds))
    for (const size of Object.keys(SIZES) as Size[])
      cases[`${kind}, at ${size}`] = async (round) => {
        const since = performance.now()
        await act.run(stores[size], { actions: actions(round) })
        return performance.now() - since
      }
  const measured = await interleave(30, cases)
  return {
    title:
      'ms of the tool act with one action, 30 rounds; every decision here shares its words with a tenth of the others',
    columns: ['min', 'p50', 'p95', '× learning'],
    rows: Object.entries(measured).map(([what, ms]) => {
      const plain = measured[what.replace('decision', 'learning')]!
      return { what, cells: [least(ms), median(ms), quantile(ms, 0.95), ratio(ms, plain)] }
    }),
  }
}

async function reads(stores: Record<Size, Store>): Promise<Table> {
  const programs: Record<string, (round: number) => string> = {
    'get by name': (round) => `(get-decision "auth-choice-${((round + 7) * 30) % 990}")`,
    'list 20': () => '(get-decisions :limit 20)',
    // the number of a run stands in about ten entities of 100,000, `simpler` in every one
    'search, a rare word': (round) => `(search-knowledge "${((round + 7) * 31) % 9973}" :limit 10)`,
    'search, words in every entity': () => '(search-knowledge "simpler to operate" :limit 10)',
  }
  const cases: Record<string, (round: number) => number> = {}
  for (const [what, program] of Object.entries(programs))
    for (const size of ['1k', '100k'] as const)
      cases[`${what}, at ${size}`] = (round) => {
        const text = program(round)
        return timed(() => {
          const [answer] = discover(stores[size].memory, text)
          if (!answer || answer.startsWith('(error') || answer.length < 20) throw new Error(`${text}: ${answer}`)
        })
      }
  for (const size of ['1k', '100k'] as const)
    cases[`open, one get, close, at ${size}`] = () =>
      timed(() => {
        const memory = openProject(stores[size].project)
        if (memory.reader.find('auth-choice-0').length !== 1) throw new Error('not there')
        memory.close()
      })
  const measured = await interleave(30, cases)
  return {
    title: 'ms of a read in an open process, 30 rounds',
    columns: ['min', 'median', 'max', '× 1k'],
    rows: Object.entries(measured).map(([what, ms]) => {
      const big = what.endsWith('100k')
      const bound = what.startsWith('open') && big ? { bound: '≤ 100 ms', ok: median(ms) <= 100 } : {}
      const times = big ? ratio(ms, measured[what.replace('100k', '1k')]!) : ''
      return { what, cells: [least(ms), median(ms), most(ms), times], ...bound }
    }),
  }
}

/** Where the bytes of the store are. */
function sizes({ memory }: Store, entities: number): Table {
  const { db } = memory
  db.raw.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  const pages = db.all<{ part: string; bytes: number }>(
    `SELECT CASE WHEN coalesce(m.tbl_name, d.name) LIKE 'text_index%' THEN 'text_index'
       WHEN m.type = 'index' THEN m.tbl_name || ', indexes' ELSE coalesce(m.tbl_name, d.name) END AS part,
       sum(d.pgsize) AS bytes
     FROM dbstat d LEFT JOIN sqlite_schema m ON m.name = d.name GROUP BY part ORDER BY bytes DESC`,
  )
  const total = pages.reduce((sum, p) => sum + p.bytes, 0)
  const json = JSON.stringify(decision(5)[1]).length
  const row = (what: string, bytes: number): Row => ({
    what,
    cells: [bytes / 2 ** 20, Math.round(bytes / entities), `${Math.round((bytes / total) * 100)} %`],
  })
  return {
    title: `size of the store at ${entities} entities, after a checkpoint`,
    columns: ['MB', 'bytes per entity', 'share'],
    rows: [row('all', total), ...pages.filter((p) => p.bytes > total / 200).map((p) => row(p.part, p.bytes))],
    notes: [`what was said of an entity is ${json} bytes as minified JSON`, 'parts below 0.5 % are left out'],
  }
}

/** What a process holds that has opened the store through the built library, written and searched. */
function memoryTable(stores: Record<Size, Store>): Table {
  const index = pathToFileURL(join(dirname(builtPackage()), '..', 'dist', 'index.js')).href
  const rss = (root?: string) => {
    const use = root
      ? `const m = openMemory({ projectPath: ${JSON.stringify(root)} })
         m.act([['record-decision', { name: 'resident', rationale: String(process.pid) }]])
         m.discover('(search-knowledge "auth queue" :limit 10)')`
      : ''
    const program = `import { openMemory } from '${index}'; ${use}; console.log(process.memoryUsage().rss)`
    const done = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
    if (done.status !== 0) throw new Error(done.stderr)
    return Number(done.stdout) / 2 ** 20
  }
  const rows = [{ what: 'the library, nothing open', cells: [rss()] }]
  for (const size of Object.keys(SIZES) as Size[])
    rows.push({ what: `one act and one search at ${size}`, cells: [rss(stores[size].project.root)] })
  return { title: 'resident memory of a process that uses the library', columns: ['MB'], rows }
}

export const bench: Bench = {
  name: 'act',
  about: 'writes and reads in an open process, by size of the store',
  async run() {
    const commit = bareCommit()
    const stores = {} as Record<Size, Store>
    for (const size of Object.keys(SIZES) as Size[]) {
      const project = tempProject()
      const memory = openProject(project)
      stores[size] = { project, memory, seconds: fill(memory, SIZES[size]) }
    }
    const bare = median(Array.from({ length: 300 }, () => timed(commit)))
    const load = loadTable(stores, bare)
    const size = sizes(stores['100k'], SIZES['100k'])
    const tables = [
      load,
      await writes(stores, commit),
      await answers(stores),
      await reads(stores),
      size,
      memoryTable(stores),
    ]
    for (const { memory } of Object.values(stores)) memory.close()
    return tables
  },
}
