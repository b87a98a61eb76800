import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonical } from './canonical.ts'
import type { Json } from './field.ts'

test('[K10] the same value has the same canonical text, whatever the order of its keys; the keys are in the order of their characters', () => {
  const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>
  const said = fc.uniqueArray(fc.tuple(fc.oneof(fc.string(), fc.nat().map(String)), json), {
    selector: ([key]) => key,
    maxLength: 20,
  })
  fc.assert(
    fc.property(said, (entries) => {
      const text = canonical(Object.fromEntries(entries))
      expect(canonical(Object.fromEntries(entries.toReversed()))).toBe(text)
      const sorted = entries.toSorted(([a], [b]) => (a < b ? -1 : 1))
      expect(text).toBe(`{${sorted.map(([key, value]) => `${JSON.stringify(key)}:${canonical(value)}`).join(',')}}`)
      expect(canonical(JSON.parse(text))).toBe(text)
    }),
  )
})
