import * as fc from 'fast-check'
import { afterAll, test } from 'vitest'
import { runs, SEED } from '../runs.ts'
import { dropTemplate } from './scenario.ts'
import { OPS, type OpName, play, plays } from './stage.ts'

const RUNS = runs(25, 400)
const without = (...names: OpName[]) => (Object.keys(OPS) as OpName[]).filter((name) => !names.includes(name))

afterAll(dropTemplate)

const properties: [what: string, ops: OpName[]][] = [
  [
    'what is lost, repeated, turned round, picked out or kept back',
    without('compact', 'purge', 'save', 'back', 'twin', 'keys'),
  ],
  ['the same with compactions', without('purge', 'save', 'back', 'twin', 'keys')],
  ['the same with erasures', without('save', 'back', 'twin', 'compact', 'keys')],
  ['the same with stores under one identity', without('compact', 'purge', 'keys')],
  ['compactions and erasures', without('save', 'back', 'twin', 'keys')],
  ['keys that are lost', without('compact', 'purge', 'save', 'back', 'twin')],
  ['all of it', without()],
]

test.each(properties)(
  `[C4] [C6] [K10] a store says what the lines say that it admits: %s (${RUNS} runs)`,
  {
    tags: ['property'],
    timeout: 60_000 + RUNS * 1_000,
  },
  (what, ops) => {
    process.stderr.write(`[K10] ${what}: ${RUNS} runs, TIDEMARK_SEED=${SEED}\n`)
    fc.assert(fc.property(plays(ops), (p) => play(p)), { numRuns: RUNS, seed: SEED }) // biome-ignore format: one row
  },
)
