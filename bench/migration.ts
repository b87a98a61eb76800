import { mkdtempSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { systemEnv } from '../src/base/env.ts'
import { intoFirstForm, killMigrations } from '../test/compat/old-store.ts'
import { open } from '../test/convergence/harness.ts'
import { entity } from './knowledge.ts'
import { tempDir } from './project.ts'
import type { Bench, Row } from './table.ts'

/** How many entities, and how many migrations are killed unless TIDEMARK_KILLS says otherwise: 1 of 5 of the largest. */
const SIZES = [10, 10_000, 100_000] as const
const KILLS = Number(process.env.TIDEMARK_KILLS ?? 5)
const SECONDS = 15

/** A store of 0.1.0: the one that 0.1.0 wrote itself, at TIDEMARK_OLD with the number behind it, or one that is written back. */
function oldStore(entities: number): string {
  if (process.env.TIDEMARK_OLD) return `${process.env.TIDEMARK_OLD}${entities}`
  const path = join(tempDir(), 'old.db')
  const memory = open(path, systemEnv)
  memory.db.exec('PRAGMA synchronous=OFF')
  for (let i = 0; i < entities; i++) memory.act([entity(i)])
  intoFirstForm(memory)
  return path
}

export const bench: Bench = {
  name: 'migration',
  about: 'a store of 0.1.0 is opened for the first time',
  async run() {
    const rows: Row[] = []
    for (const entities of SIZES) {
      const store = oldStore(entities)
      const kills = entities === SIZES[2] ? Math.ceil(KILLS / 5) : KILLS
      const { plain, killed, old } = await killMigrations(store, mkdtempSync(join(tempDir(), 'killed-')), kills)
      rows.push({
        what: `${entities} entities`,
        cells: [statSync(store).size / 1e6, plain.seconds!, plain.mb!, kills, killed, old, kills - old],
        ...(entities === SIZES[2] ? { bound: `≤ ${SECONDS} s`, ok: plain.seconds! <= SECONDS } : {}),
      })
    }
    return [
      {
        title: 'the migration of a store, and what is left of it when its process is killed',
        columns: ['MB', 'seconds', 'peak MB', 'runs', 'killed', 'left old', 'new'],
        rows,
        notes: ['kills at even distances in time; after each the store is compared, row by row, and opened again'],
      },
    ]
  },
}
