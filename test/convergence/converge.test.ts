import * as fc from 'fast-check'
import { afterAll, test } from 'vitest'
import { runs, SEED } from '../runs.ts'
import { dropTemplate, run, scenario, scenarioWithCompaction } from './scenario.ts'

const RUNS = runs(40, 400)

afterAll(dropTemplate)

test(`[C4] [K1] [K2] [K4] [K5] any interleaving, loss, repetition and crash leads to the same rows, as the rules say (${RUNS} runs)`, {
  tags: ['property'],
  timeout: 60_000 + RUNS * 2_000,
}, () => {
  process.stderr.write(`[C4] ${RUNS} runs, TIDEMARK_SEED=${SEED}\n`)
  fc.assert(
    fc.property(scenario, (s) => run(s)),
    { numRuns: RUNS, seed: SEED, endOnFailure: false },
  )
})

const FEWER = Math.ceil(RUNS / 4)

test(`[C4] [C6] compactions between change nothing of it (${FEWER} runs)`, {
  tags: ['property'],
  timeout: 60_000 + RUNS * 2_000,
}, () => {
  fc.assert(
    fc.property(scenarioWithCompaction, (s) => run(s)),
    { numRuns: FEWER, seed: SEED },
  )
})
