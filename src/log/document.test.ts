import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Json } from '../model/field.ts'
import { encodeDoc, openDoc, readCells, writeEvents } from './document.ts'
import type { Event } from './events.ts'
import { firstState } from './first-state.ts'

const json = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>
const written: fc.Arbitrary<Partial<Event>> = fc.oneof(
  fc.record({ op: fc.constant('set' as const), value: json }),
  fc.record({ op: fc.constant('clear' as const) }),
  fc.record({ op: fc.constant('add' as const), value: json, list: fc.boolean(), pos: fc.nat() }),
  fc.record({ op: fc.constant('put' as const), value: json, path: fc.array(fc.string(), { minLength: 1 }) }),
)
const events = fc
  .array(fc.tuple(fc.constantFrom('name', 'tags', 'a\u{1f600}'), written), { maxLength: 8 })
  .map((all) =>
    all.map(([field, e], i) => ({ entity: 'a:b', field, over: [], stamp: { ms: 1e12, ctr: i, replica: 'z1' }, ...e })),
  ) as fc.Arbitrary<Event[]>

test('[C5] what the first update of a document says is byte for byte what Yjs makes of it', () => {
  let read = 0
  fc.assert(
    fc.property(events, (all) => {
      const update = writeEvents(openDoc([]), all, 'z1')
      const doc = openDoc([update])
      const first = firstState(update)
      if (!first) return
      read++
      expect([...first.cells]).toEqual([...readCells(doc)])
      expect(first.state).toEqual(encodeDoc(doc))
    }),
  )
  expect(read).toBeGreaterThan(20)
})

test('[C5] bytes that were changed on the way are read as Yjs reads them, or are left to it', () => {
  let read = 0
  const change = fc.tuple(fc.nat(), fc.nat(255), fc.constantFrom('set', 'insert', 'remove'))
  fc.assert(
    fc.property(events, fc.array(change, { minLength: 1, maxLength: 3 }), (all, changes) => {
      const bytes = [...writeEvents(openDoc([]), all, 'z1')]
      for (const [at, byte, how] of changes)
        bytes.splice(at % (bytes.length + 1), how === 'insert' ? 0 : 1, ...(how === 'remove' ? [] : [byte]))
      const update = new Uint8Array(bytes)
      const first = firstState(update)
      if (!first) return
      read++
      const doc = openDoc([update])
      expect([...first.cells]).toEqual([...readCells(doc)])
      expect(first.state).toEqual(encodeDoc(doc))
    }),
    { numRuns: 5_000 },
  )
  expect(read).toBeGreaterThan(100)
})

test('[C5] an update that deletes or builds on another one takes the document', () => {
  const set = (ctr: number, over: Event['over'] = []): Event => ({
    entity: 'a:b',
    field: 'name',
    op: 'set',
    value: ctr,
    stamp: { ms: 1, ctr, replica: 'z1' },
    over,
  })
  const doc = openDoc([])
  const first = writeEvents(doc, [set(0)], 'z1')
  expect(firstState(first)).toBeDefined()
  expect(firstState(writeEvents(doc, [set(1, [['z1', 0]])], 'z1'))).toBeUndefined()
  expect(firstState(encodeDoc(doc))).toBeUndefined()
  expect(firstState(writeEvents(openDoc([first]), [set(2, [['z1', 0]])], 'z2'))).toBeUndefined()
})
