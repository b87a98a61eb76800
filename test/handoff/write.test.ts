import { describe, expect, test } from 'vitest'
import { putSession } from '../../src/engine/store/presence.ts'
import { isCurrentHandoff } from '../../src/work/handoff/page.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'

const HOUR = 3_600_000

/** A session that gave a sign of life now, or has ended. */
function session(m: TestMemory, id: string, ended = false, started = m.clock.now): string {
  putSession(m.memory.db, {
    id,
    started,
    seen: m.clock.now,
    data: {},
    ...(ended ? { ended: m.clock.now } : {}),
  })
  return id
}

const write = (m: TestMemory, by: string, said: object) =>
  m.act([['write-handoff', said]], { session: by }).results[0]!.id

const current = (m: TestMemory) =>
  m.memory.reader
    .list('handoff')
    .filter((e) => isCurrentHandoff(e, (id) => m.memory.reader.entity(id)))
    .map((e) => e.name)
    .sort()

describe('[P4] write-handoff', () => {
  test('[P4] written twice, only the second is left, and the first is in the history', () => {
    const m = openTestMemory()
    const id = write(m, 'a', { inProgress: ['one'], blockers: ['b'], contextUsed: 40 })
    m.clock.now += HOUR
    expect(write(m, 'a', { nextSteps: ['two'] })).toBe(id)
    const { fields } = m.get(id)!
    expect(fields).toMatchObject({ nextSteps: ['two'], written: new Date(m.clock.now).toISOString(), session: 'a' })
    for (const gone of ['inProgress', 'blockers', 'contextUsed']) expect(fields[gone] ?? []).toEqual([])
    expect(m.memory.asOf(m.clock.now - 1).entity(id)!.fields).toMatchObject({ inProgress: ['one'], contextUsed: '40%' })
    m.act([['undo', {}]], { session: 'a' })
    expect(m.get(id)!.fields).toMatchObject({ inProgress: ['one'], blockers: ['b'], contextUsed: '40%' })
  })

  test('[P4] one per task: it is called like the task, and goes with it', () => {
    const m = openTestMemory()
    m.act([['start-task', { description: 'auth middleware' }]], { session: 'a' })
    const id = write(m, 'a', { inProgress: ['step 3'] })
    expect(m.get(id)).toMatchObject({ name: 'auth middleware', fields: { task: expect.stringMatching(/^task:/) } })
    m.act([['start-task', { description: 'auth middleware' }]], { session: 'b' })
    const other = write(m, 'b', { inProgress: ['another task of that name'] })
    expect(other).not.toBe(id)
    expect(current(m)).toHaveLength(2)
    m.act([['complete', {}]], { session: 'a' })
    expect(current(m)).toEqual([m.get(other)!.name])
  })

  test('[P4] a live session keeps its own; another session gets a title of its own and is told', () => {
    const m = openTestMemory()
    session(m, 'a')
    session(m, 'b')
    m.act([['start-task', { description: 'auth' }]], { session: 'a' })
    const task = m.memory.reader.list('task')[0]!.id
    m.act([['start-task', { ref: task }]], { session: 'b' })
    const first = write(m, 'a', { nextSteps: ['of a'] })
    const done = m.act([['write-handoff', { nextSteps: ['of b'] }]], { session: 'b' })
    expect(done.results[0]!.name).toBe('auth (b)')
    expect(done.notes).toEqual([expect.stringContaining('session a is live')])
    expect(m.get(first)!.fields.nextSteps).toEqual(['of a'])
    expect(write(m, 'b', { nextSteps: ['again of b'] })).toBe(done.results[0]!.id)
    expect(current(m)).toEqual(['auth', 'auth (b)'])
    // one that is gone leaves its place to the next
    session(m, 'a', true)
    session(m, 'b', true)
    session(m, 'c')
    m.act([['start-task', { ref: task }]], { session: 'c' })
    write(m, 'c', { nextSteps: ['of c'] })
    expect(current(m)).toHaveLength(1)
    expect(m.discover('(length (get-handoffs))')).toEqual(['1'])
  })

  test('[P4] a session that is silent for half an hour is gone, also without a word', () => {
    const m = openTestMemory()
    session(m, 'a')
    write(m, 'a', { title: 'the work', nextSteps: ['of a'] })
    session(m, 'b')
    expect(m.act([['write-handoff', { title: 'the work', nextSteps: ['b'] }]], { session: 'b' }).results[0]!.name).toBe(
      'the work (b)',
    )
    m.clock.now += HOUR
    session(m, 'c')
    expect(m.act([['write-handoff', { title: 'the work', nextSteps: ['c'] }]], { session: 'c' }).results[0]!.name).toBe(
      'the work',
    )
  })

  test('[P4] a session takes the place of those it could know of, not of those that worked beside it', () => {
    const m = openTestMemory()
    m.act([['record-handoff', { title: 'ADD handoff', nextSteps: ['imported'], written: '2026-07-19' }]], {
      session: '',
    })
    session(m, 'old')
    write(m, 'old', { nextSteps: ['of old'] })
    session(m, 'old', true)
    m.clock.now += HOUR
    const started = m.clock.now
    session(m, 'beside')
    m.clock.now += HOUR
    write(m, 'beside', { nextSteps: ['of beside'] })
    session(m, 'beside', true)
    session(m, 'new', false, started)
    write(m, 'new', { nextSteps: ['of new'] })
    expect(current(m)).toEqual(['session beside', 'session new'])
    expect(m.get('handoff:session-old')!.fields.retired).toContain('session beside')
  })

  test('[P4] completing keeps what the session wrote itself, and replaces what was composed before', () => {
    const m = openTestMemory()
    session(m, 'a')
    const id = write(m, 'a', { nextSteps: ['mine'], contextUsed: '50% used' })
    const add = (said: object) => m.act([['write-handoff', { complete: true, ...said }]], { session: 'a' })
    add({ inProgress: ['touched x.ts'], blockers: ['npm test fails'], nextSteps: ['mine'], contextUsed: 50 })
    expect(m.get(id)!.fields).toMatchObject({
      nextSteps: ['mine'],
      inProgress: ['touched x.ts'],
      blockers: ['npm test fails'],
      composed: ['touched x.ts', 'npm test fails'],
    })
    // which items those are is kept, and nobody reads the same line twice
    expect(m.discover('(get-handoffs)')[0]!.match(/touched x\.ts/g)).toHaveLength(1)
    expect(m.discover('(:composed (car (get-handoffs)))')).toEqual(['("touched x.ts" "npm test fails")'])
    m.clock.now += HOUR
    const before = m.get(id)!.fields.written
    expect(add({ inProgress: ['touched x.ts'], blockers: ['npm test fails'], contextUsed: 54 }).batch).toBeNull()
    expect(m.get(id)!.fields).toMatchObject({ written: before, contextUsed: '50%' })
    add({ inProgress: ['touched x.ts'], blockers: ['npm test fails'], contextUsed: 80 })
    expect(m.get(id)!.fields.contextUsed).toBe('80%')
    add({ inProgress: ['touched y.ts'] })
    expect(m.get(id)!.fields).toMatchObject({ nextSteps: ['mine'], inProgress: ['touched y.ts'] })
    expect(m.get(id)!.fields.blockers ?? []).toEqual([])
    // what the session says itself takes the place of all of it
    write(m, 'a', { blockers: ['none'] })
    expect(m.get(id)!.fields).toMatchObject({ blockers: ['none'] })
    expect(m.get(id)!.fields.composed ?? []).toEqual([])
  })

  test('[P4] what is composed for a session never takes the place of what another wrote itself', () => {
    const m = openTestMemory()
    session(m, 'a')
    m.act([['start-task', { description: 'auth' }]], { session: 'a' })
    const task = m.memory.reader.list('task')[0]!.id
    const id = write(m, 'a', { nextSteps: ['a knows what to do'] })
    session(m, 'a', true)
    session(m, 'b')
    m.act([['start-task', { ref: task }]], { session: 'b' })
    m.act([['write-handoff', { complete: true, inProgress: ['b touched x.ts'] }]], { session: 'b' })
    expect(m.get(id)!.fields).toMatchObject({
      nextSteps: ['a knows what to do'],
      inProgress: ['b touched x.ts'],
      session: 'b',
    })
  })

  test('[P4] a page in Markdown is read, arguments beside it count more, and what is long is told', () => {
    const m = openTestMemory()
    const body =
      '# Session Handoff\n**Session context:** 78% used\n\n## In Progress\n- x\n\n## Next Steps\n1. y\n2. z\n'
    const id = write(m, 'a', { body, nextSteps: ['w'] })
    expect(m.get(id)!.fields).toMatchObject({ contextUsed: '78%', inProgress: ['x'], nextSteps: ['w'] })
    const decided = Array.from({ length: 60 }, (_, i) => `decided ${i}`)
    const done = m.act([['write-handoff', { decisionsMade: decided, nextSteps: 'a\nb' }]], { session: 'a' })
    expect(done.notes).toEqual([expect.stringMatching(/^\d+ lines are left out/)])
    expect(m.get(id)!.fields.decisionsMade).toHaveLength(60)
  })

  test('[P4] what says nothing, or not in lists, is refused', () => {
    const m = openTestMemory()
    expect(m.refused([['write-handoff', {}]])).toMatchObject([{ message: 'the handoff says nothing' }])
    const fields = m.refused([['write-handoff', { nextSteps: [1], contextUsed: {}, task: 'none' }]]).map((p) => p.field)
    expect(fields.sort()).toEqual(['contextUsed', 'nextSteps', 'task'])
    expect(m.refused([['write-handoff', { nextStep: ['x'] }]])).toMatchObject([
      { field: 'nextStep' },
      { message: 'the handoff says nothing' },
    ])
  })

  test('[P4] after a clear the session goes on with its own under its new id', () => {
    const m = openTestMemory()
    session(m, 'a')
    const id = write(m, 'a', { nextSteps: ['mine'] })
    session(m, 'a', true)
    putSession(m.memory.db, { id: 'a2', started: m.clock.now, seen: m.clock.now, data: { after: 'a' } })
    m.act([['write-handoff', { complete: true, inProgress: ['more'] }]], { session: 'a2' })
    expect(m.get(id)!.fields).toMatchObject({ nextSteps: ['mine'], inProgress: ['more'], session: 'a2' })
    expect(current(m)).toEqual(['session a'])
  })

  test('[P4] (handoff) lists what is current, newest first, also as of a moment', () => {
    const m = openTestMemory()
    write(m, 'a', { title: 'first', nextSteps: ['one'] })
    m.clock.now += HOUR
    write(m, 'b', { title: 'second', nextSteps: ['two'] })
    expect(m.discover('(map (lambda (h) (@ h :title)) (handoff))')).toEqual(['("second" "first")'])
    m.clock.now += HOUR
    m.act([['retire', { ref: 'handoff:second', reason: 'done' }]])
    expect(m.discover('(length (handoff))')).toEqual(['1'])
    expect(m.discover(`(as-of "${new Date(m.clock.now - 1).toISOString()}" (length (handoff)))`)).toEqual(['2'])
  })
})
