import { expect, test } from 'vitest'
import { dayOf } from '../../src/find/recall/told.ts'
import { saidBy } from '../../src/model/entity.ts'
import { openTestMemory } from '../helpers.ts'

const REF = 'decision:use-pg'

/** A store in which Ana, Ben and others write, one a day; the name and day that are told beside what was said. */
function team() {
  const t = openTestMemory()
  const as = (user: string, action: unknown) => {
    t.act([action], { user })
    t.clock.days(1)
  }
  const told = () => {
    const e = t.get(REF)!
    return [saidBy(e).user, dayOf(e)]
  }
  const decide = (user: string, rationale: string) => as(user, ['record-decision', { name: 'use-pg', rationale }])
  return { t, as, told, decide }
}

test('[W1] after an undo the words are those of their author, with their day', () => {
  const { as, told, decide } = team()
  decide('Ana', 'it has transactions')
  decide('Ben', 'the host has it')
  expect(told()).toEqual(['Ben', '2026-11-22'])
  as('Ben', ['undo', {}])
  expect(told()).toEqual(['Ana', '2026-11-21'])
  as('Ben', ['redo', {}])
  expect(told()).toEqual(['Ben', '2026-11-22'])
  as('Ben', ['undo', {}])
  expect(told()).toEqual(['Ana', '2026-11-21'])
  decide('Cem', 'both')
  expect(told()).toEqual(['Cem', '2026-11-26'])
})

test('[W1] who writes again after another one is the author again', () => {
  const { told, decide } = team()
  for (const user of ['Ana', 'Ben', 'Ana', 'Ben', 'Ana']) decide(user, `${user} says so`)
  expect(told()).toEqual(['Ana', '2026-11-25'])
})

test('[W1] who retires or replaces something did not say it', () => {
  const { t, as, told, decide } = team()
  decide('Ana', 'it has transactions')
  as('Ben', ['record-decision', { name: 'use-my' }])
  as('Ben', ['supersede', { old: REF, new: 'decision:use-my', reason: 'the host' }])
  expect(told()[0]).toBe('Ana')
  as('Ben', ['undo', {}])
  as('Ben', ['retire', { ref: REF, reason: 'old' }])
  expect(saidBy(t.get(REF)!).user).toBe('Ana')
  as('Ben', ['undo', {}])
  expect(told()).toEqual(['Ana', '2026-11-21'])
})

test('[W1] a moment that is none, or lies ahead, is not believed', () => {
  const { t, decide } = team()
  decide('Ana', 'it has transactions')
  const e = t.get(REF)!
  for (const restores of ['x', '9999-12-31T00:00:00.000Z', 7]) {
    const provenance = [...(e.fields.provenance as object[]), { at: '2026-11-22T00:00:00.000Z', user: 'Eve', restores }]
    const forged = { ...e, fields: { ...e.fields, provenance } } as typeof e
    expect([saidBy(forged).user, dayOf(forged)]).toEqual(['Eve', '2026-11-21'])
  }
})

test('[W1] who restores something did not say it: the words are those of their author', () => {
  const { t, as, told, decide } = team()
  decide('Ana', 'it has transactions')
  for (const out of ['retire', 'delete-decision']) {
    as('Ben', [out, { ref: REF, reason: 'old' }])
    as('Ben', ['restore', { ref: REF }])
    expect([t.get(REF)!.live, told()[0]], out).toEqual([true, 'Ana'])
  }
})

test('[W1] something that is restored to a moment has the author and the day of its words then', () => {
  const { t, as, told, decide } = team()
  decide('Ana', 'it has transactions')
  decide('Ben', 'the host has it')
  as('Ben', ['restore', { ref: REF, to: '2026-11-21' }])
  expect(t.get(REF)!.fields.rationale).toBe('it has transactions')
  expect(told()).toEqual(['Ana', '2026-11-21'])
})
