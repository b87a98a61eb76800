// @module-tag property
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../test/runs.ts'
import { countTokens } from '../../../test/tokens.ts'
import { estimateTokens } from './token-estimate.ts'

const numRuns = runs(100, 500)

const SCRIPTS = [
  'the use of a token in an access rule',
  'größer Straße été naïve año',
  '请在提交之前运行测试 永远不要',
  'コミットの前にテストを実行する',
  'شغل الاختبارات قبل الالتزام',
  'не используйте синхронный ввод',
  'कमिट से पहले परीक्षण चलाएँ',
  '👩‍👩‍👧‍👦🏳️‍🌈😀🇦🇺e\u0301\u200b\u2028',
  'const f = async (x?: Foo<Bar>[]) => { await x!.y?.["z"] ?? 0xFF }\r\n\t\t// ------',
  '  \n\n \t\r\n   \u00a0\u3000',
  `don't WE'LL I'd can'T 1234567 3.14 2026-11-21T14:30:00Z /usr/lib/x.so <|endoftext|>`,
]
const read = (file: string) => readFileSync(join(import.meta.dirname, '../../..', file), 'utf8')
const texts = [
  ...['README.md', 'docs/architecture.md', 'docs/decisions.md', 'src/engine/memory.ts', 'package-lock.json'].map(read),
  ...SCRIPTS.filter((s) => s.trim() !== ''),
  '{"id":"decision:use-sqlite","fields":{"confidence":0.95,"tags":["storage","a b"]}}',
  'fix 3f9a0c7be12d44f8a9 in v2.14.0 of 2026-11-21T14:30:00Z, a 1 b 2 c 3 NEVER EVER',
]

test('[M7] the estimate is not below the count on words, code, JSON, hashes and any script, nor wastefully above', () => {
  const ratios = texts.map((text) => estimateTokens(text) / countTokens(text))
  expect(Math.min(...ratios)).toBeGreaterThanOrEqual(1)
  expect(Math.max(...ratios)).toBeLessThan(6)
  for (const ratio of ratios.slice(0, 3)) expect(ratio).toBeLessThan(1.6)
})

test('[M7] nor is it on ten or more lines of such texts, in any order; random letters apart', () => {
  const lines = texts.filter((text) => !text.includes('"integrity"')).flatMap((text) => text.split('\n'))
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...lines), { minLength: 10, maxLength: 60 }), (some) => {
      const text = some.join('\n')
      expect(estimateTokens(text)).toBeGreaterThanOrEqual(countTokens(text))
    }),
    { numRuns },
  )
})

test('[M7] a long run of anything is estimated in little time', () => {
  const before = process.cpuUsage()
  for (const run of ['ab', 'X', ' ', '中', '1']) estimateTokens(run.repeat(200_000))
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1000).toBeLessThan(3_000) // some 100 ms alone
})
