import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeUnless } from '../../../../test/needs.ts'
import { UserError } from '../../../base/errors.ts'
import { calibrate, SAME, UNRELATED } from './calibration.ts'
import type { Embedder } from './embedder.ts'
import { minilmState, modelsDirectory } from './models.ts'
import { onnxEmbedder } from './onnx.ts'
import { cosine } from './unit-vector.ts'

const models = modelsDirectory()
const isThere = minilmState(models).isComplete

test('[V18] without the model, says which command brings it', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'tidemark-no-model-'))
  const error = await onnxEmbedder(empty).catch((e: unknown) => e)
  rmSync(empty, { recursive: true })
  expect(error).toBeInstanceOf(UserError)
  expect(error).toMatchObject({ code: 'no-model' })
  expect((error as UserError).hint).toContain('tidemark models add minilm')
})

describeUnless(!isThere && `no minilm in ${models}; \`tidemark models add minilm\` brings it`)('MiniLM', () => {
  let embedder: Embedder
  const embed = async (text: string) => (await embedder.embed([text]))[0]!
  beforeAll(async () => {
    embedder = await onnxEmbedder(models)
  })
  afterAll(() => embedder?.close?.())

  test('[V19] a vector is the same in whatever company, and of length one', async () => {
    const texts = [...UNRELATED, 'short', 'a text', 'of', 'one', '日本 の 人', 'word '.repeat(900)]
    const together = await embedder.embed(texts)
    for (const [i, text] of texts.entries()) {
      expect(Math.hypot(...together[i]!)).toBeCloseTo(1, 5)
      expect(await embed(text), text.slice(0, 40)).toEqual(together[i])
    }
  })

  test('[V19] nothing known, nothing said: zeros', async () => {
    expect(await embedder.embed([])).toEqual([])
    for (const v of await embedder.embed(['', ' \n', '\u200b', 'x'.repeat(3000)]))
      expect(v.every((x) => x === 0)).toBe(true)
  })

  test('[V20] the compacted model still knows what belongs together', async () => {
    const [cat, kitten, tax] = (
      await embedder.embed(['a cat sat there', 'the kitten was sitting', 'quarterly tax report'])
    ).map((v) => v.subarray(0, 384))
    expect(cosine(cat!, kitten!) / Math.hypot(...cat!) / Math.hypot(...kitten!)).toBeGreaterThan(0.6)
    expect(cosine(cat!, tax!) / Math.hypot(...cat!) / Math.hypot(...tax!)).toBeLessThan(0.2)
  })

  test('[V9] floor and ceiling are what the calibration finds', async () => {
    const same = await embedder.embed(SAME.flat())
    const found = calibrate(
      await embedder.embed(UNRELATED),
      SAME.map((_, i) => [same[2 * i]!, same[2 * i + 1]!] as const),
    )
    expect(embedder.floor).toBeCloseTo(found.floor, 1)
    expect(embedder.ceiling).toBeCloseTo(found.ceiling, 1)
  })
})
