import { expect, test } from 'vitest'
import { session } from '../../src/surfaces/tools/session.ts'
import { inbox } from '../../src/work/coordination/inbox.ts'
import { idsOf } from '../../src/work/coordination/session-ids.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { project, tidemark } from '../cli/run.ts'
import { openTestMemory, userError } from '../helpers.ts'

test('[X7] no session is its own ancestor: refused in one step and over several, and nothing is changed', () => {
  const { memory, rows } = openTestMemory()
  const sessions = sessionsOf(memory)
  expect(userError(() => sessions.start({ id: 'a', parent: 'a' })).message).toBe('a session is not its own parent')
  expect(sessions.get('a')).toBeUndefined()
  sessions.start({ id: 'a' })
  sessions.start({ id: 'b', parent: 'a' })
  sessions.start({ id: 'c', parent: 'b' })
  const before = rows()
  for (const [id, parent] of [
    ['a', 'b'],
    ['a', 'c'],
    ['b', 'c'],
  ] as const) {
    const refused = userError(() => sessions.start({ id, parent }))
    expect(refused.message).toBe(`${parent} stands below ${id}, so it cannot be its parent`)
    expect(refused.hint).toContain('session list')
  }
  expect(rows()).toBe(before)
  sessions.start({ id: 'd', parent: 'a' }) // siblings and a second start are none
  sessions.start({ id: 'c', parent: 'd' })
  expect(sessions.get('c')!.parent).toBe('d')
})

test('[X7] a sign of life, which never fails, leaves such a parent out', () => {
  const { memory, clock } = openTestMemory()
  const sessions = sessionsOf(memory)
  sessions.start({ id: 'a' })
  sessions.start({ id: 'b', parent: 'a' })
  clock.now += 60_000
  sessions.heartbeat('a', { parent: 'b', client: 'claude' })
  expect(sessions.get('a')).toMatchObject({ client: 'claude' })
  expect(sessions.get('a')!.parent).toBeUndefined()
  sessions.heartbeat('new', { parent: 'new' })
  expect(sessions.get('new')!.parent).toBeUndefined()
})

test("[X7] a subagent's hook may come before its parent is known: it lives by the parent's process, and ends with it", () => {
  const { memory } = openTestMemory()
  const sessions = sessionsOf(memory)
  sessions.start({ id: 'child', parent: 'late' })
  sessions.heartbeat('grandchild', { parent: 'child' })
  expect(sessions.get('child')!.pid).toBeUndefined()
  sessions.start({ id: 'late', pid: process.pid })
  expect(['child', 'grandchild'].map((id) => sessions.get(id)!.pid)).toEqual([process.pid, process.pid])
  sessions.end('late')
  expect(['late', 'child', 'grandchild'].map((id) => sessions.get(id)!.state)).toEqual(['ended', 'ended', 'ended'])
})

test('[X7] what a subagent of a subagent did counts as done by the session, whichever was heard of last', () => {
  const { memory, clock } = openTestMemory()
  const sessions = sessionsOf(memory)
  const start = (id: string, parent?: string) => {
    clock.now += 1000
    sessions.start({ id, ...(parent ? { parent } : {}) })
  }
  start('a')
  start('child', 'a')
  start('grandchild', 'child')
  start('early', 'late')
  start('late', 'a')
  start('other')
  expect([...idsOf(memory, 'a')].sort()).toEqual(['a', 'child', 'early', 'grandchild', 'late'])
})

test('[X4] a session is told nothing of what its subagents, and theirs, have done', () => {
  const t = openTestMemory()
  const sessions = sessionsOf(t.memory)
  for (const [id, parent] of [['a'], ['child', 'a'], ['grandchild', 'child'], ['other']])
    sessions.start({ id: id!, ...(parent ? { parent } : {}) })
  const since = t.memory.cursor
  for (const session of ['child', 'grandchild', 'other']) t.act([['claim', { paths: [`by-${session}`] }]], { session })
  expect(inbox(t.memory, 'a', { since }).lines).toEqual(['other claimed by-other'])
})

test('[X7] session start --parent names a session that lives: a typo is refused with those that do', async () => {
  const { at, run } = await project()
  await run('session', 'start', 'lead')
  await run('session', 'start', 'gone')
  await run('session', 'end', 'gone')
  const refused = async (...args: string[]) => {
    const ran = await tidemark(at, ['session', 'start', ...args])
    expect(ran.code).toBe(1)
    return ran.err
  }
  expect(await refused('w1', '--parent', 'laed')).toMatch(/there is no session laed[\s\S]*did you mean lead\?/)
  expect(await refused('w1', '--parent', 'gone')).toMatch(/session gone has ended[\s\S]*lead/)
  expect(await refused('lead', '--parent', 'lead')).toContain('not its own parent')
  expect(JSON.parse(await run('session', 'list', '--json'))).toMatchObject([{ id: 'lead' }])
  await run('session', 'start', 'w1', '--parent', 'lead')
  expect(JSON.parse(await run('session', 'show', 'w1', '--json'))).toMatchObject({ id: 'w1', parent: 'lead' })
})

test('[X7] after /clear the old id of a parent means the new one', async () => {
  const t = openTestMemory()
  const sessions = sessionsOf(t.memory)
  sessions.start({ id: 'old', pid: process.pid })
  sessions.start({ id: 'new', pid: process.pid, source: 'clear' })
  await session.run({ memory: t.memory, project: t.project }, { do: 'start', id: 'w', parent: 'old' })
  expect(sessions.get('w')!.parent).toBe('new')
  sessions.end('new')
  expect(sessions.get('w')!.state).toBe('ended')
})

test('[W1] [G3] what is only proposed to take the place of something is no news of a supersession', () => {
  const t = openTestMemory()
  const sessions = sessionsOf(t.memory)
  for (const id of ['me', 'other']) sessions.start({ id })
  t.act([
    ['record-decision', { name: 'use-json', description: 'State is kept as json' }],
    ['record-decision', { name: 'use-sqlite', description: 'State is kept in a database' }],
  ])
  const since = t.memory.cursor
  const said = () => inbox(t.memory, 'me', { since }).lines.join('\n')
  const link = { from: 'decision:use-sqlite', to: 'decision:use-json', type: 'supersedes' }
  const { results } = t.act([['link-entities', { ...link, standing: 'proposed' }]], { session: 'other' })
  expect(said()).not.toContain('superseded')
  t.act([['confirm', { ref: results[0]!.id }]], { session: 'other' })
  expect(said()).toContain('superseded decision "use-json" by "use-sqlite"')
})
