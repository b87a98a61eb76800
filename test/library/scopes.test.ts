import { expect, test } from 'vitest'
import type { RecallOptions } from '../../src/find/recall/types.ts'
import { openTestMemory } from '../helpers.ts'
import { recallFixture } from '../recall-fixture.ts'

/** The three bodies of work, asked as reference/lessons.md asks them. */
function asked() {
  const m = openTestMemory()
  const fixture = recallFixture(m)
  const { items } = fixture
  const known = new Map(Object.entries(items).map(([key, item]) => [item.id, key]))
  const ask = async (question: string, options: RecallOptions = {}) => {
    const { results } = await m.library.recall(question, {
      session: 'test',
      kinds: ['decision', 'learning', 'action-note', 'result'],
      ...options,
    })
    return results.map((r) => ({ ...r, key: known.get(r.id) }))
  }
  const keys = async (question: string, options?: RecallOptions) => (await ask(question, options)).map((r) => r.key)
  return { m, ...fixture, ask, keys }
}
const HISTORY = ['jwtHeader', 'servicesValidate', 'storeJwks', 'useHs256']

test('[H1] micro: what the current task recorded and nothing else, each item once', async () => {
  const { ask } = asked()
  for (const options of [{ scope: 'micro' }, { preset: 'fresh' }, { scope: 'selected' }] as const) {
    const found = await ask('JWT validation', options)
    expect(found.map((r) => r.key)).toEqual(['middleware'])
    expect(found[0]!.parts.proximity).toBe(1)
  }
})

test('[H1] balanced: the current task first, then history; what does not fit is not there', async () => {
  const { ask } = asked()
  const found = await ask('JWT validation')
  expect(found[0]!.key).toBe('middleware')
  expect(
    found
      .slice(1)
      .map((r) => r.key)
      .sort(),
  ).toEqual(HISTORY)
  expect(found.map((r) => r.parts.proximity)).toEqual([1, 0.2, 0.2, 0.2, 0.2])
})

test('[H1] macro counts all goals alike; selected takes the named ones alone', async () => {
  const { ask, goals } = asked()
  const all = await ask('JWT', { scope: 'macro' })
  expect(all.map((r) => r.key).sort()).toEqual([...HISTORY, 'middleware'].sort())
  expect(all.map((r) => r.parts.proximity)).toEqual([1, 1, 1, 1, 1])
  const two = await ask('JWT', { goals: [goals.s1, goals.s3] })
  expect(two.map((r) => [r.key, r.parts.proximity])).toEqual([
    ['middleware', 1],
    [expect.stringMatching(/jwtHeader|useHs256/), 0.2],
    [expect.stringMatching(/jwtHeader|useHs256/), 0.2],
  ])
})

test('[H2] since leaves out what is older', async () => {
  const { keys } = asked()
  expect(await keys('JWT', { since: '100 days ago' })).toHaveLength(3)
  expect(await keys('JWT', { since: 'yesterday' })).toEqual(['middleware'])
})

test('[H1] an item of two tasks is told once, as near as it was recorded nearest', async () => {
  const { m, ask, items } = asked()
  const before = (await ask('sign each JWT')).find((r) => r.key === 'useHs256')!
  m.act([['add-evidence', { ref: items.useHs256.id, evidence: 'the gateway does it too' }]])
  const found = (await ask('sign each JWT')).filter((r) => r.key === 'useHs256')
  expect([before.parts.proximity, ...found.map((r) => r.parts.proximity)]).toEqual([0.2, 1])
})

test('[H5] superseded, retired and expired items are left out, told with all, and told as of a moment when they held', async () => {
  const { m, keys, ask, items } = asked()
  const then = m.clock.now
  m.clock.days(1)
  m.act([
    ['record-decision', { name: 'use-rs256', description: 'Use RS256 for each JWT' }],
    ['supersede', { old: items.useHs256.id, new: 'use-rs256' }],
    ['retire', { ref: items.jwtHeader.id, reason: 'everybody knows' }],
    ['record-learning', { ref: items.storeJwks.id, validTo: new Date(then).toISOString() }],
  ])
  expect(await keys('JWT', { scope: 'macro' })).toEqual(
    expect.not.arrayContaining(['useHs256', 'jwtHeader', 'storeJwks']),
  )
  const all = await ask('JWT', { scope: 'macro', all: true })
  const states = Object.fromEntries(all.flatMap((r) => (r.state === undefined ? [] : [[r.key, r.state]])))
  expect(states).toEqual({ useHs256: 'superseded', jwtHeader: 'retired', storeJwks: 'no longer valid' })
  // what was replaced since may be what a question about the past is after
  const ever = await ask('did we ever use HS256 for JWT', { scope: 'macro' })
  expect(ever.find((r) => r.key === 'useHs256')).toMatchObject({ state: 'superseded' })
  expect(await keys('JWT', { scope: 'macro', asOf: then })).toEqual(expect.arrayContaining(HISTORY))
  expect(await keys('JWT', { scope: 'macro', validAt: then })).toContain('storeJwks')
})

test('[H1] what shares the topics of the current activity, or was lifted to it, is nearer than the rest of history', async () => {
  const { m, ask, items } = asked()
  m.act([['lift', { ref: items.servicesValidate.id, to: 'gateway' }]])
  const proximity = async (key: string) => (await ask('JWT')).find((r) => r.key === key)!.parts.proximity
  expect([await proximity('servicesValidate'), await proximity('storeJwks')]).toEqual([0.5, 0.2])
  const area = m.library.goal('Harden the login', { topics: ['login'] }).activity('tokens', { topics: ['jwt', 'auth'] })
  area.task('check the header')
  m.act([['record-learning', { ref: items.jwtHeader.id, topics: ['JWT'] }]], { session: 'other' })
  expect([await proximity('jwtHeader'), await proximity('servicesValidate')]).toEqual([0.5, 0.2])
})
