import * as fc from 'fast-check'
import { afterAll, test } from 'vitest'
import { runs, SEED } from '../runs.ts'
import { dropTemplate } from './scenario.ts'
import { dropPlaces, type History, histories, live, STEPS } from './table.ts'

const RUNS = runs(25, 1_000)

afterAll(() => {
  dropTemplate()
  dropPlaces()
})

const all = Object.keys(STEPS) as (keyof typeof STEPS)[]
const without = (...names: string[]) => all.filter((name) => !names.includes(name))

const properties: [what: string, arbitrary: fc.Arbitrary<History>][] = [
  ['three who write', histories(without('compact', 'mend'), 'writers')],
  ['some accept others as reviewers', histories(without('compact', 'mend'), 'any')],
  ['three who write and compact', histories(without('wish'), 'writers')],
  ['some accept others as reviewers, and compact', histories(without('wish'), 'any')],
]

test.each(properties)(
  `[Y1] [C4] [T40] [T110] [T112] [T114] [T116] nobody else changes what binds or erases a text without a yes: %s (${RUNS} runs)`,
  { tags: ['property'], timeout: 60_000 + RUNS * 1_000 },
  (what, arbitrary) => {
    process.stderr.write(`[Y1] ${what}: ${RUNS} runs, TIDEMARK_SEED=${SEED}\n`)
    fc.assert(fc.property(arbitrary, live), { numRuns: RUNS, seed: SEED })
  },
)
