import { expect, test } from 'vitest'
import { openTestMemory, type TestMemory } from '../helpers.ts'

const liftedTo = (m: TestMemory, ref: string) =>
  m.memory.reader
    .links('from', m.get(ref)!.id)
    .filter((l) => l.type === 'lifted-to')
    .map((l) => m.memory.reader.entity(l.to)!.name)
    .sort()

const start = (m: TestMemory) =>
  m.act([
    ['start-goal', { originalAsk: 'Add OAuth login' }],
    ['start-activity', { description: 'tokens' }],
    ['start-task', { description: 'refresh them' }],
    ['record-decision', { name: 'use-rs256' }],
    ['record-action-note', { text: 'Wrote the middleware' }],
  ])

test('lift shows a decision at the activity and the goal of its task, once, and undo and unlink take it back', () => {
  const m = openTestMemory()
  start(m)
  const done = m.act([['lift', { ref: 'use-rs256' }]])
  expect(done.results[0]).toMatchObject({ id: 'decision:use-rs256', to: [m.get('tokens')!.id, 'goal:add-oauth-login'] })
  expect(liftedTo(m, 'use-rs256')).toEqual(['Add OAuth login', 'tokens'])
  expect(m.act([['lift', { ref: 'use-rs256' }]]).batch).toBe(null)
  m.act([['unlink-entities', { from: 'use-rs256', to: 'tokens', type: 'lifted-to' }]])
  expect(liftedTo(m, 'use-rs256')).toEqual(['Add OAuth login'])
  m.act([['undo', { batch: done.batch, force: true }]])
  expect(liftedTo(m, 'use-rs256')).toEqual([])
})

test('lift takes another activity or goal, an item without a task goes to where the session stands', () => {
  const m = openTestMemory()
  m.act([['record-fact', { fact: 'Tokens live for an hour' }]])
  m.act([['start-goal', { originalAsk: 'Build microservices' }]])
  start(m)
  m.act([['lift', { ref: 'use-rs256', to: 'Build microservices' }]])
  expect(liftedTo(m, 'use-rs256')).toEqual(['Build microservices'])
  m.act([['lift', { ref: 'Tokens live for an hour' }]])
  expect(liftedTo(m, 'Tokens live for an hour')).toEqual(['Add OAuth login', 'tokens'])
})

test('[A1] what is not lifted, and where nothing is lifted to, is told', () => {
  const m = openTestMemory()
  m.act([['record-decision', { name: 'lonely' }]])
  const at = { session: 'nobody' }
  expect(m.refused([['lift', { ref: 'lonely' }]], at)[0]!.message).toContain('recorded in no activity and no goal')
  start(m)
  const problems = m.refused([
    ['lift', { ref: 'Wrote the middleware' }],
    ['lift', { ref: 'tokens' }],
    ['lift', { ref: 'use-rs256', to: 'refresh them' }],
    ['lift', { ref: 'use-rs256', to: 'tokns' }],
    ['lift', {}],
  ])
  expect(problems.map((p) => p.message)).toEqual([
    'action-note is a kind that is not lifted',
    'activity is a kind that is not lifted',
    `${m.get('refresh them')!.id} is a task`,
    'nothing is called "tokns"',
    'missing',
  ])
  expect(problems[3]!.accepted).toContain('tokens')
})

test('what is recorded with a current activity or goal but no task says so in its provenance', () => {
  const m = openTestMemory()
  const at = (ref: string) => (m.get(ref)!.fields.provenance as { [field: string]: unknown }[])[0]
  m.act([
    ['start-goal', { originalAsk: 'G' }],
    ['record-decision', { name: 'of-goal' }],
  ])
  m.act([
    ['start-activity', { description: 'A' }],
    ['record-decision', { name: 'of-activity' }],
  ])
  m.act([
    ['start-task', { description: 'T' }],
    ['record-decision', { name: 'of-task' }],
  ])
  expect(at('of-goal')).toMatchObject({ goal: 'goal:g' })
  expect(at('of-activity')).toMatchObject({ activity: m.get('A')!.id })
  expect(at('of-activity')).not.toHaveProperty('goal')
  expect(at('of-task')).toMatchObject({ task: m.get('T')!.id })
})
