import { expect, test } from 'vitest'
import { analyze } from '../../src/find/code/analysis/propose.ts'
import { openTestMemory } from '../helpers.ts'
import { lay } from '../imports/helpers.ts'

test('what recurs is proposed with evidence, never applied, and neither what was proposed nor what was rejected comes again', async () => {
  const t = openTestMemory()
  lay(t.dir, Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`src/errors/e${i}.ts`, `export class E${i} extends AppError {}\n`]))) // biome-ignore format: one thought
  const options = { limit: 20, dryRun: false }
  expect((await analyze(t.memory, t.dir, { ...options, dryRun: true })).proposed).toHaveLength(1)
  expect(t.memory.reader.list('pattern', { all: true })).toEqual([])

  const first = await analyze(t.memory, t.dir, options)
  expect(first.proposed).toHaveLength(1)
  const [pattern] = t.memory.reader.list('pattern', { standing: 'proposed' })
  expect(pattern!.fields).toMatchObject({ type: 'base class', location: 'src/errors/e0.ts:1' })
  expect(await analyze(t.memory, t.dir, options)).toMatchObject({ proposed: [], known: 1, batches: [] })
  t.memory.act([['reject', { ref: pattern!.id }]])
  expect(await analyze(t.memory, t.dir, options)).toMatchObject({ proposed: [], known: 1, batches: [] })
})
