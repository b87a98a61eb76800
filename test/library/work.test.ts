import { expect, onTestFinished, test } from 'vitest'
import { createServer } from '../../src/surfaces/http/http.ts'
import { openTestMemory } from '../helpers.ts'

test('nested scopes: what is recorded through a task carries it, whatever the session works on meanwhile', () => {
  const m = openTestMemory()
  const { library: memory } = m
  const goal = memory.goal('Add OAuth login', { plan: 'provider first' })
  const activity = goal.activity('tokens', { component: 'auth' })
  const first = activity.task('refresh them')
  const second = activity.task('rotate the keys')
  const said = [
    first.recordAction('Implemented the JWT middleware'),
    first.recordDecision('Use RS256 for key rotation', { rationale: 'public keys can be handed out' }),
    first.recordLearning('RS256 requires that the public key is distributed', { severity: 'high' }),
    first.recordResult('Validation works with refresh tokens', { outcome: 'succeeded' }),
  ]
  expect(said[1]).toEqual({ id: 'decision:use-rs256-for-key-rotation', name: 'use-rs256-for-key-rotation' })
  expect(said.map((r) => m.get(r.id)!.kind)).toEqual(['action-note', 'decision', 'learning', 'result'])
  for (const { id } of said) expect(m.get(id)!.fields.provenance).toMatchObject([{ task: first.id }])
  expect(m.get(said[1]!.id)!.fields).toMatchObject({ description: 'Use RS256 for key rotation' })
  expect(m.memory.place('test').task).toBe(second.id)
  first.complete('they are refreshed')
  expect(memory.read.get(first.id)).toMatchObject({ state: 'complete', result: 'they are refreshed' })
  expect(() => goal.complete()).toThrow(/rotate the keys/)
  second.complete()
  activity.complete()
  goal.complete('login works')
  expect(memory.read.list('goal')).toMatchObject([{ state: 'complete', result: 'login works' }])
})

test('a derived name never means another decision; the same decision said again is the same', () => {
  const m = openTestMemory()
  const task = m.library.goal('G').activity('A').task('T')
  const long = 'Keep every index rebuildable from the log'
  const names = [
    task.recordDecision(`${long}, so that it can be dropped`),
    task.recordDecision(`${long}, always`),
    task.recordDecision(`${long}, always`),
    task.recordDecision('!?'),
    task.recordDecision('使用一个文件'),
    task.recordDecision('Something', { name: 'my-own-name' }),
  ].map((r) => r.name)
  expect(names).toEqual([
    'keep-every-index-rebuildable-from-the',
    'keep-every-index-rebuildable-from-the-2',
    'keep-every-index-rebuildable-from-the-2',
    'decision',
    '使用一个文件',
    'my-own-name',
  ])
  const lesson = task.recordLearning(`First line\n${'and more '.repeat(40)}`)
  expect(m.get(lesson.id)!.fields).toMatchObject({ title: 'First line…' })
})

test('over HTTP the work tree is the same tools, each caller with the session it names', async () => {
  const m = openTestMemory()
  const server = createServer({ projectPath: m.dir, token: false })
  onTestFinished(() => server.close())
  const call = async (tool: string, args: object) => {
    const answer = await server.app.request(`http://localhost/api/tools/${tool}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', host: 'localhost' },
      body: JSON.stringify(args),
    })
    return (await answer.json()) as { text: string; json: { [key: string]: unknown } }
  }
  await call('goal', { do: 'start', text: 'G', session: 'a' })
  await call('task', { do: 'start', text: 'of a', session: 'a' })
  await call('task', { do: 'start', text: 'of b', session: 'b' })
  expect((await call('tree', { session: 'a' })).text).toBe('○ G\n└─ ○ of a ← current\n○ of b')
  expect((await call('tree', { session: 'b' })).text).toBe('○ G\n└─ ○ of a\n○ of b ← current')
  // What another living session has in hand is nobody else's next task.
  expect((await call('next', { session: 'b' })).json).toMatchObject({ task: null })
  await call('task', { do: 'start', text: 'of nobody', session: 'c' })
  await call('session', { do: 'end', session: 'c' })
  expect((await call('next', { session: 'b' })).json).toMatchObject({ task: { name: 'of nobody' } })
})

test('[X6] [X7] a session of the library lives by what it does: what it claims is held, also after a long silence', () => {
  const m = openTestMemory()
  const MINUTE = 60_000
  for (const id of ['a', 'b']) m.library.sessions.start({ id })
  m.library.act([['claim', { paths: ['x'] }]], { session: 'a' })
  for (let i = 0; i < 4; i++) {
    m.clock.now += 20 * MINUTE
    if (i % 2 === 0) m.library.share.set('k', i, { session: 'a' })
    else m.library.act([['record-learning', { title: `l ${i}` }]], { session: 'a' })
  }
  expect(m.library.sessions.get('a')!.state).toBe('active')
  expect(m.library.claims()).toMatchObject([{ session: 'a', on: 'x' }])
  expect(m.library.sessions.get('b')!.state).toBe('crashed')
  m.library.act([['claim', { paths: ['y'] }]], { session: 'b' })
  expect(m.library.claims()).toMatchObject([{ on: 'x' }, { session: 'b', on: 'y' }])
  m.library.sessions.end('b')
  m.library.act([['record-learning', { title: 'after the end' }]], { session: 'b' })
  expect(m.library.sessions.get('b')!.state).toBe('ended')
  m.memory.act([['claim', { paths: ['y'] }]], { session: 'b' })
  expect(m.library.claims()).toMatchObject([{ on: 'x' }, { session: 'b', on: 'y' }])
})
