// @module-tag property
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../test/runs.ts'
import type { Card } from './card.ts'
import { MAX_CHARACTERS, pack } from './pack.ts'
import { estimateTokens } from './token-estimate.ts'

const numRuns = runs(100, 300)
const words = (n: number, word = 'alpha') => Array.from({ length: n }, (_, i) => `${word}${i % 7}`).join(' ')
const item = (name: string, n: number): Card => ({
  card: `(learning "${name}" "${words(n)}")`,
  line: `(learning "${name}")`,
})

const someText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 400 }),
  fc
    .tuple(fc.constantFrom('the rule ', '是', '😀', '))\n', ' \n', 'a', 'x=1;'), fc.integer({ min: 1, max: 300 }))
    .map(([s, n]) => s.repeat(n)),
)
const someItem = fc
  .tuple(fc.nat(9999), someText, fc.boolean())
  .map(([n, text, short]): Card => ({ card: `(k${n} ${text})`, line: short ? `(k${n} ${text})` : `(k${n})` }))
const someItems = fc.array(someItem, { maxLength: 25 })
const someLimits = fc.record(
  { budget: fc.oneof(fc.nat(40), fc.nat(3000)), limit: fc.nat(30), found: fc.nat(60) },
  { requiredKeys: [] },
)

test('[H4] the text never costs more than the budget, remark included, and never more than 40,000 characters', () => {
  fc.assert(
    fc.property(someItems, someLimits, (items, limits) => {
      const { text } = pack(items, limits, estimateTokens)
      if (limits.budget !== undefined) expect(estimateTokens(text)).toBeLessThanOrEqual(limits.budget)
      expect(text.length).toBeLessThanOrEqual(MAX_CHARACTERS)
    }),
    { numRuns },
  )
})

test('[H4] items are whole, in their order, and with those left out they are all that were found', () => {
  fc.assert(
    fc.property(someItems, someLimits, (items, limits) => {
      const { text, shown, omitted } = pack(items, limits, estimateTokens)
      const told = shown.map(({ index, form }) => items[index]![form])
      expect(shown.map((s) => s.index)).toEqual(shown.map((s) => s.index).sort((a, b) => a - b))
      expect(shown.length + omitted).toBe(Math.max(items.length, limits.found ?? 0))
      expect(shown.length).toBeLessThanOrEqual(limits.limit ?? Number.POSITIVE_INFINITY)
      const closing = text.slice(told.join('\n').length)
      expect(text.startsWith(told.join('\n'))).toBe(true)
      if (omitted === 0) expect(closing).toBe('')
      else if (closing !== '') expect(closing).toMatch(new RegExp(`^\\n?#\\| ${omitted} left out[^|]*\\|#$`))
      else expect(limits.budget).toBeLessThan(12) // only where not even two words fit
    }),
    { numRuns },
  )
})

test('[H4] the same input gives the same text', () => {
  fc.assert(
    fc.property(someItems, someLimits, (items, limits) => {
      expect(pack(items, limits, estimateTokens)).toEqual(pack(items, limits, estimateTokens))
    }),
    { numRuns: 50 },
  )
})

test('[H4] the budget holds for a tokenizer by which a whole costs more than its parts', () => {
  const odd = (text: string) => text.length + 3 * (text.match(/\)\n\(/g)?.length ?? 0)
  fc.assert(
    fc.property(someItems, fc.nat(2000), (items, budget) => {
      expect(odd(pack(items, { budget }, odd).text)).toBeLessThanOrEqual(budget)
    }),
    { numRuns },
  )
})

test('[H4] everything is told whole when it fits, without a remark and without counting when nobody asks', () => {
  const items = [item('a', 5), item('b', 5)]
  const { text, shown, omitted } = pack(items, {}, () => expect.unreachable('no budget, no counting'))
  expect(text).toBe(`${items[0]!.card}\n${items[1]!.card}`)
  expect(shown.map((s) => s.form)).toEqual(['card', 'card'])
  expect(omitted).toBe(0)
})

test('[H4] a long first item, which fits alone or does not, is told in a line and does not shut out short ones', () => {
  for (const budget of [200, 330]) {
    const { shown } = pack([item('long', 150), item('b', 5), item('c', 5), item('d', 5)], { budget }, estimateTokens)
    expect(shown).toEqual([
      { index: 0, form: 'line' },
      { index: 1, form: 'card' },
      { index: 2, form: 'card' },
      { index: 3, form: 'card' },
    ])
  }
  const monster: Card = { card: 'x '.repeat(500), line: 'y '.repeat(400) }
  expect(pack([monster, item('b', 5)], { budget: 100 }, estimateTokens).shown).toEqual([{ index: 1, form: 'card' }])
})

test('[H4] first whole, then in a line, then left out', () => {
  const items = Array.from({ length: 12 }, (_, i) => item(`item-${i}`, 20))
  const forms = (budget: number) =>
    pack(items, { budget }, estimateTokens)
      .shown.map((s) => s.form[0])
      .join('')
  expect(forms(2000)).toBe('c'.repeat(12))
  const some = forms(420)
  expect(some).toMatch(/^c+l+$/)
  expect(some).toHaveLength(12)
  expect(forms(150).length).toBeLessThan(12)
  expect(forms(3)).toBe('')
})

test('[H4] the first five are told in lines before a second one is told whole', () => {
  const items = Array.from({ length: 12 }, (_, i) => item(`item-${i}`, 40))
  const line = estimateTokens(items[0]!.line) + 1
  for (const budget of [5 * line + 15, 250, 500]) {
    const { shown } = pack(items, { budget, found: 90 }, estimateTokens)
    expect(shown.slice(0, 5).map((s) => s.index)).toEqual([0, 1, 2, 3, 4])
  }
})

test('[H4] the remark says how many were left out for the limit and how to narrow', () => {
  const items = Array.from({ length: 5 }, (_, i) => item(`item-${i}`, 3))
  const { text, omitted } = pack(items, { limit: 2, found: 40 }, estimateTokens)
  expect(omitted).toBe(38)
  expect(text.split('\n').at(-1)).toMatch(/^#\| 38 left out: .*limit.*kind.*\|#$/)
})

test('[H4] a thousand long items are packed at once', () => {
  const items = Array.from({ length: 1000 }, (_, i) => item(`item-${i}`, 60))
  estimateTokens('warm')
  const start = performance.now()
  const packed = pack(items, { budget: 100_000 }, estimateTokens)
  expect(performance.now() - start).toBeLessThan(1000)
  expect(packed.text.length).toBeGreaterThan(MAX_CHARACTERS / 2)
  expect(packed.text.length).toBeLessThanOrEqual(MAX_CHARACTERS)
})
