import { expect, test } from 'vitest'
import { openTestMemory } from '../helpers.ts'

const DAY = 86_400_000

test('[D9] [A10] restore --to gives every field the value of that moment in one new batch, which undo takes back', () => {
  const m = openTestMemory()
  const said = () => {
    const { provenance: _, ...fields } = m.get('decision:store')!.fields
    return fields
  }
  const moments: { at: number; fields: unknown }[] = []
  const step = (args: object) => {
    m.act([['record-decision', { name: 'store', ...args }]])
    moments.push({ at: m.clock.now, fields: said() })
    m.clock.days(1)
  }
  step({ rationale: 'simple', tags: ['a', 'b'], evidence: ['one', 'two'], attrs: { k: { l: 1 } } })
  step({ rationale: 'fast', tags: { remove: ['a'], add: ['c'] }, evidence: ['three'], attrs: { k: { m: 2 } } })
  step({ rationale: null, confidence: 0.5, evidence: { remove: ['one'] }, attrs: { k: 3 } })
  step({ confidence: null, tags: { set: [] } })
  m.act([['delete-decision', { ref: 'store' }]])
  m.clock.days(1)
  const history = m.memory.history('decision:store').length
  for (const { at, fields } of moments) {
    const before = said()
    const { batch } = m.act([['restore', { ref: 'store', to: new Date(at).toISOString() }]])
    expect(said()).toEqual(fields)
    expect(m.get('decision:store')!.live).toBe(true)
    m.act([['undo', { batch }]])
    expect(said()).toEqual(before)
    expect(m.get('decision:store')!.live).toBe(false)
  }
  // nothing of the history was rewritten, and the past still says what it said
  expect(m.memory.history('decision:store').length).toBeGreaterThan(history)
  expect(m.memory.asOf(moments[1]!.at).entity('decision:store')!.fields).toMatchObject(moments[1]!.fields as object)
})

test('[D9] restore to a moment before it was recorded, or to no moment, is refused', () => {
  const m = openTestMemory()
  m.act([['record-decision', { name: 'store' }]])
  const early = new Date(m.clock.now - DAY).toISOString()
  expect(m.refused([['restore', { ref: 'store', to: early }]])).toMatchObject([{ field: 'to' }])
  expect(m.refused([['restore', { ref: 'store', to: 'whenever' }]])).toMatchObject([{ field: 'to' }])
})
