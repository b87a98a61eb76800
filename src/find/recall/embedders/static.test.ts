import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { UserError } from '../../../base/errors.ts'
import { calibrate, SAME, UNRELATED } from './calibration.ts'
import { parseTable, staticEmbedder, tablePath } from './static.ts'
import { cosine } from './unit-vector.ts'

const embedder = staticEmbedder()
const embed = (text: string) => embedder.embedNow!([text])[0]!
const length = (v: Float32Array) => Math.sqrt(v.reduce((sum, x) => sum + x * x, 0))

test('[V5] the table is of the size and the recipe that its head says, and small enough to ship', () => {
  const file = readFileSync(tablePath())
  expect(file.length).toBeLessThanOrEqual(8 * 2 ** 20)
  const table = parseTable(file)
  expect(table).toMatchObject({ recipe: 'minilm-l6-v2:1', dimensions: 384 })
  expect(table.scales).toHaveLength(30522)
  expect(table.scales.every((s) => Number.isFinite(s) && s >= 0)).toBe(true)
  expect(readFileSync(join(tablePath(), '..', 'NOTICE'), 'utf8')).toMatch(/all-MiniLM-L6-v2[\s\S]*Apache License/)
})

test('[V5] a table that is cut off, changed or of another format is refused with what to do', () => {
  const file = readFileSync(tablePath())
  const headEnd = file.indexOf(10) + 1
  const other = Buffer.from(file.toString('latin1', 0, headEnd).replace('"format":1', '"format":2'), 'latin1')
  for (const bad of [file.subarray(0, -1), Buffer.alloc(0), Buffer.from('{}\n'), Buffer.from('not json\n'), other]) {
    const error = (() => {
      try {
        parseTable(bad)
      } catch (e) {
        return e
      }
    })()
    expect(error).toBeInstanceOf(UserError)
    expect(error).toMatchObject({ code: 'no-static-embedding', hint: 'install tidemark again' })
  }
})

test('[V5] a table at any place in memory gives the same', () => {
  const file = readFileSync(tablePath())
  const shifted = Buffer.concat([Buffer.alloc(1), file]).subarray(1)
  expect(parseTable(shifted).scales).toEqual(parseTable(file).scales)
})

test('[V6] any text has a vector of length one, or of zeros where nothing is known; the same each time and in any company', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 60 }), { maxLength: 5 }), (texts) => {
      const vectors = embedder.embedNow!(texts)
      expect(vectors).toHaveLength(texts.length)
      vectors.forEach((v, i) => {
        expect(v).toHaveLength(embedder.dimensions)
        const n = length(v)
        expect(n === 0 || Math.abs(n - 1) < 1e-5).toBe(true)
        expect(embed(texts[i]!)).toEqual(v)
      })
    }),
  )
})

test('[V6] at once and awaited are the same', async () => {
  expect(await embedder.embed(['one', 'two'])).toEqual(embedder.embedNow!(['one', 'two']))
})

test.each(['', '   ', '!?', '\u200b', '🦄'.repeat(101)])('[V7] %j has no direction', (text) => {
  expect(length(embed(text))).toBe(0)
})

test('[V8] what means the same is nearer than what only stands beside it', () => {
  const asked = embed('which database do we use')
  expect(cosine(asked, embed('PostgreSQL was chosen for storing the data'))).toBeGreaterThan(
    cosine(asked, embed('The bakery on the corner closes at six')),
  )
  expect(cosine(embed('getUserById'), embed('get user by id'))).toBeGreaterThan(embedder.floor)
})

test('[V9] floor and ceiling are what the calibration finds', () => {
  const found = calibrate(
    embedder.embedNow!(UNRELATED),
    SAME.map(([a, b]) => [embed(a), embed(b)] as const),
  )
  expect(embedder.floor).toBeCloseTo(found.floor, 2)
  expect(embedder.ceiling).toBeCloseTo(found.ceiling, 2)
})
