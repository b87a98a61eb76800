// @module-tag property
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { O200K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants'
import { expect, test } from 'vitest'
import { knownTokens } from '../../scripts/known-tokens.ts'
import { runs } from '../../test/runs.ts'
import { SIMPLE, SIMPLE_SPLIT, upperTokens } from './token-bound.ts'
import { o200kSplit } from './token-split.ts'
import { countTokens } from './tokens.ts'

const numRuns = runs(500, 3_000)

const SCRIPTS = [
  'Always run the tests before committing; never use synchronous I/O in a handler.',
  'größer Straße été naïve año İstanbul ﬁn',
  '请在提交之前运行测试，永远不要在处理程序中使用同步输入输出。𠀀𪚥',
  'コミットの前にテストを実行する 한국어 키보드 쀍쁣',
  'شغل الاختبارات قبل الالتزام ולא להשתמש בקלט',
  'не используйте синхронный ввод в обработчике',
  'कमिट से पहले परीक्षण चलाएँ ทดสอบก่อน გამარჯობა',
  '👩‍👩‍👧‍👦🏳️‍🌈😀🇦🇺e\u0301\u200b\u2028\ud83d',
  'const f = async (x?: Foo<Bar>[]) => { await x!.y?.["z"] ?? 0xFF }\r\n\t\t// ------',
  '{"id":"decision:use-sqlite","fields":{"confidence":0.95,"tags":["storage","a b"]}}',
  'eyJhbGciOiJIUzI1NiJ9.c2Vzc2lvbg+/==sha512-Xq9vKzQjw7bZ',
  '  \n\n \t\r\n   \u00a0\u3000',
  `don't WE'LL I'd can'T 1234567 3.14 2026-11-21T14:30:00Z /usr/lib/x.so <|endoftext|> ١٢٣`,
]
const part = fc.oneof(
  fc
    .constantFrom(...SCRIPTS)
    .chain((s) =>
      fc.tuple(fc.nat(s.length), fc.nat(s.length)).map(([a, b]) => s.slice(Math.min(a, b), Math.max(a, b))),
    ),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({ maxLength: 30 }),
  fc.string({ unit: fc.constantFrom(..."aB9 .\n/—…‘’→-'st\t"), maxLength: 30 }),
  fc.string({ unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz'), maxLength: 24 }),
  fc.string({ unit: fc.constantFrom(...'qxzjvkwQXZJ '), maxLength: 12 }),
  fc.base64String({ maxLength: 40 }),
  fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes).toString()),
  fc.integer({ min: 0x4e00, max: 0x9fff }).map((c) => String.fromCharCode(c)),
  fc.integer({ min: 0xac00, max: 0xd7a3 }).map((c) => String.fromCharCode(c)),
  fc.json({ maxDepth: 3 }),
  fc
    .tuple(fc.constantFrom('a', ' ', '\n', '=', 'é', '中', '😀', '9', '\ud800'), fc.nat(200))
    .map(([c, n]) => c.repeat(n)),
)
const mixed = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(''))

test('[M7] texts are taken apart as the published tokenizer does', () => {
  expect(`${o200kSplit()}`).toBe(`${O200K_TOKEN_SPLIT_REGEX}`)
})

test('[M7] the upper bound is never below what the tokenizer counts, in any script', () => {
  fc.assert(
    fc.property(mixed, (text) => {
      expect(upperTokens(text)).toBeGreaterThanOrEqual(countTokens(text))
    }),
    { numRuns, seed: seed() },
  )
})

test('[M7] nor for any single character, alone or between others', () => {
  for (let point = 0; point < 0x11_0000; point += point < 0x3200 ? 1 : point < 0x3_0000 ? 5 : 97) {
    const c = String.fromCodePoint(point)
    for (const text of [c, ` ${c}`, `a${c}b`, c + c, `о${c}`, `${c}的`, `${c}ა`])
      if (upperTokens(text) < countTokens(text)) throw new Error(`U+${point.toString(16)} in ${JSON.stringify(text)}`)
  }
})

test('[M7] what the bound knows of the vocabulary is what the vocabulary says', () => {
  expect(readFileSync(join(import.meta.dirname, 'token-bound-table.ts'), 'utf8')).toBe(knownTokens())
})

test('[M7] a text of ASCII, dashes, quotes and arrows is split as any text is', () => {
  const simple = fc.string({
    unit: fc.oneof(
      fc.constantFrom(..."aB9 .\n/-'st\t\r"),
      fc.integer({ min: 0, max: 0x7f }).map((c) => String.fromCharCode(c)),
      fc.constantFrom(
        ...[0x2010, 0x2014, 0x2018, 0x2019, 0x2026, 0x2027, 0x2030, 0x205e, 0x2190, 0x21ff].map((c) =>
          String.fromCharCode(c),
        ),
      ),
    ),
    maxLength: 40,
  })
  fc.assert(
    fc.property(simple, (text) => {
      expect(SIMPLE.test(text)).toBe(true)
      expect(text.match(SIMPLE_SPLIT)).toEqual(text.match(O200K_TOKEN_SPLIT_REGEX))
    }),
    { numRuns, seed: seed() },
  )
})

test('[M7] it is not wastefully large: how much above, on texts of this repository', () => {
  const root = join(import.meta.dirname, '../..')
  const read = (file: string) => readFileSync(join(root, file), 'utf8')
  const code = readdirSync(join(root, 'src/write')).map((f) => read(`src/write/${f}`))
  const texts = {
    prose: ['README.md', 'docs/architecture.md', 'docs/decisions.md', 'docs/recall.md'].map(read).join('\n'),
    code: code.join('\n'),
    json: JSON.stringify(JSON.parse(read('package-lock.json'))).slice(0, 50_000),
    Russian: SCRIPTS[5]!,
    Arabic: SCRIPTS[4]!,
    Chinese: SCRIPTS[2]!,
  }
  const ratios = Object.entries(texts).map(([name, text]) => [name, upperTokens(text) / countTokens(text)] as const)
  console.log(ratios.map(([name, r]) => `${name} ${r.toFixed(2)}`).join(', '))
  const ratio = Object.fromEntries(ratios)
  expect(ratio.prose).toBeLessThan(1.6)
  expect(ratio.code).toBeLessThan(1.6)
  expect(Math.max(...ratios.map(([, r]) => r))).toBeLessThan(4)
})

test('[M7] a long run of anything is bounded in little time', () => {
  const texts = ['ab'.repeat(100_000), 'x'.repeat(200_000), ' '.repeat(200_000), '中'.repeat(60_000)]
  const before = process.cpuUsage()
  const bounds = texts.map(upperTokens)
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1000).toBeLessThan(3_000) // some 100 ms alone
  for (const [i, text] of texts.entries()) expect(bounds[i]).toBeGreaterThanOrEqual(countTokens(text))
})

function seed(): number {
  const chosen = Number(process.env.TIDEMARK_SEED ?? Math.floor(Math.random() * 2 ** 31))
  console.log(`seed ${chosen}`)
  return chosen
}
