// @module-tag property
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import { runs } from '../../test/runs.ts'
import { estimateTokens } from './token-estimate.ts'
import { countTokens } from './tokens.ts'

const numRuns = runs(100, 500)
/** The reference loses byte order marks where it looks tokens up: texts without them are compared. */
const theirs = (text: string) => encode(text, { disallowedSpecial: new Set() }).length

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
const mixed = fc
  .array(
    fc.oneof(
      fc
        .constantFrom(...SCRIPTS)
        .chain((s) =>
          fc.tuple(fc.nat(s.length), fc.nat(s.length)).map(([a, b]) => s.slice(Math.min(a, b), Math.max(a, b))),
        ),
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.string({ unit: 'grapheme', maxLength: 12 }),
      fc.string({ maxLength: 30 }),
      fc.tuple(fc.constantFrom('a', ' ', '\n', '=', 'é', '中', '😀', '9'), fc.nat(200)).map(([c, n]) => c.repeat(n)),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join('').replaceAll('\ufeff', ''))

test('[H4] tokens are counted exactly as the reference tokenizer does, in any script', () => {
  fc.assert(
    fc.property(mixed, (text) => {
      expect(countTokens(text)).toBe(theirs(text))
    }),
    { numRuns },
  )
})

test('[H4] tokens of real files', () => {
  const root = join(import.meta.dirname, '../..')
  for (const file of ['README.md', 'docs/architecture.md', 'src/memory.ts', 'package-lock.json']) {
    const text = readFileSync(join(root, file), 'utf8')
    expect(countTokens(text), file).toBe(theirs(text))
  }
})

test('what splits a pair of surrogates or names a special token is text like any other', () => {
  expect(countTokens('\ud800x\udc00')).toBe(theirs('\ud800x\udc00'))
  expect(countTokens('<|endoftext|>')).toBe(theirs('<|endoftext|>'))
  expect(countTokens('')).toBe(0)
})

test('a megabyte of one letter is counted in the time of a megabyte of words', () => {
  const time = (text: string) => {
    const start = performance.now()
    countTokens(text)
    return performance.now() - start
  }
  time('warm up '.repeat(20_000))
  expect(time('ab'.repeat(500_000))).toBeLessThan(15_000) // ten times the idle figure; quadratic time would be hours
})

test('[M7] the estimate is not below the count on words, code, JSON, hashes and any script, nor wastefully above', () => {
  const read = (file: string) => readFileSync(join(import.meta.dirname, '../..', file), 'utf8')
  const texts = [
    ...['README.md', 'docs/architecture.md', 'docs/decisions.md', 'src/memory.ts', 'package-lock.json'].map(read),
    ...SCRIPTS.filter((s) => s.trim() !== ''),
    '{"id":"decision:use-sqlite","fields":{"confidence":0.95,"tags":["storage","a b"]}}',
    'fix 3f9a0c7be12d44f8a9 in v2.14.0 of 2026-11-21T14:30:00Z, a 1 b 2 c 3 NEVER EVER',
  ]
  const ratios = texts.map((text) => estimateTokens(text) / countTokens(text))
  expect(Math.min(...ratios)).toBeGreaterThanOrEqual(1)
  expect(Math.max(...ratios)).toBeLessThan(6)
  for (const ratio of ratios.slice(0, 3)) expect(ratio).toBeLessThan(1.6)
})

test('[M7] a long run of anything is estimated in little time', () => {
  const before = process.cpuUsage()
  for (const run of ['ab', 'X', ' ', '中', '1']) estimateTokens(run.repeat(200_000))
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1000).toBeLessThan(3_000) // some 100 ms alone
})
