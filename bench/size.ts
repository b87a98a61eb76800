import { openProject } from '../src/project/open.ts'
import { entity } from './knowledge.ts'
import { tempProject } from './project.ts'
import type { Bench, Table } from './table.ts'

const ENTITIES = Number(process.env.TIDEMARK_SIZE ?? 10_000)
const BATCHES = [1, 50]
const BOUND = 3_000
/** What takes less than this per entity is told as one. */
const SMALL = 50

interface Stored {
  name: string
  bytes: number
  payload: number
}

/** What the file holds after so many entities, and what was said of them, in bytes for each. */
function filled(batch: number): Table {
  const memory = openProject(tempProject())
  const { db } = memory
  db.exec('PRAGMA synchronous=OFF')
  let said = 0
  for (let i = 0; i < ENTITIES; i += batch) {
    const actions = Array.from({ length: batch }, (_, j) => entity(i + j))
    said += JSON.stringify(actions).length
    memory.act(actions)
  }
  const { n } = db.get<{ n: number }>('SELECT count(*) AS n FROM entities')!
  const all = db.all<Stored>(
    'SELECT name, sum(pgsize) AS bytes, sum(payload) AS payload FROM dbstat GROUP BY name ORDER BY bytes DESC',
  )
  memory.close()
  const sum = (of: readonly Stored[], name: string): Stored => ({
    name,
    bytes: of.reduce((total, s) => total + s.bytes, 0),
    payload: of.reduce((total, s) => total + s.payload, 0),
  })
  const isLarge = (s: Stored) => s.bytes >= SMALL * n
  const shown = [
    ...all.filter(isLarge),
    sum(
      all.filter((s) => !isLarge(s)),
      'others',
    ),
  ]
  const whole = sum(all, 'all')
  return {
    title: `bytes for each of ${n} entities, ${batch} in a batch; ${Math.round(said / n)} were said`,
    columns: ['on disk', 'content'],
    rows: [
      ...shown.map((s) => ({ what: s.name, cells: [s.bytes / n, s.payload / n] })),
      {
        what: whole.name,
        cells: [whole.bytes / n, whole.payload / n],
        bound: `≤ ${BOUND}`,
        ok: whole.bytes / n <= BOUND,
      },
    ],
  }
}

export const bench: Bench = {
  name: 'size',
  about: `what an entity takes on disk, without vectors`,
  async run() {
    return BATCHES.map(filled)
  },
}
