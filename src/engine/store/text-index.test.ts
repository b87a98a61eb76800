import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openTestMemory } from '../../../test/helpers.ts'
import { rowsWith } from './text-index.ts'

test('the first of those that hold a word are the same however many are wanted, also of equal ones and beside retired ones', () => {
  const word = fc.constantFrom('lock', 'queue', 'cache', 'lock lock', 'queue cache')
  fc.assert(
    fc.property(fc.array(fc.tuple(word, fc.boolean()), { minLength: 1, maxLength: 260 }), (texts) => {
      const t = openTestMemory()
      const all = texts.map(([text], i) => ['record-decision', { name: `d${i}`, description: text }] as const)
      for (let i = 0; i < all.length; i += 50) t.act(all.slice(i, i + 50))
      const gone = texts.flatMap(([, retired], i) =>
        retired ? [['retire', { ref: `d${i}`, reason: 'old' }] as const] : [],
      )
      for (let i = 0; i < gone.length; i += 50) t.act(gone.slice(i, i + 50))
      const { db } = t.memory
      for (const which of ['confirmed', 'live'] as const)
        for (const words of [['lock'], ['queue', 'lock'], [['queue', 'cache']]]) {
          const whole = rowsWith(db, words, 1_000, which)
          expect(whole.length).toBeLessThanOrEqual(texts.length)
          for (const limit of [1, 2, 5, 9]) expect(rowsWith(db, words, limit, which)).toEqual(whole.slice(0, limit))
          expect(rowsWith(db, words, 5, which, ['decision'])).toEqual(whole.slice(0, 5))
        }
      t.close()
    }),
    { numRuns: 12, seed: Number(process.env.TIDEMARK_SEED ?? 20261123) },
  )
})
