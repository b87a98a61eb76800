import { describe, expect, test } from 'vitest'
import { workTree } from '../../src/engine/read/work-tree.ts'
import { dump, exchange, withReplicas } from '../convergence/harness.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'

const goal = (originalAsk: string, more: object = {}) => ['start-goal', { originalAsk, ...more }]
const activity = (description: string, more: object = {}) => ['start-activity', { description, ...more }]
const task = (description: string, more: object = {}) => ['start-task', { description, ...more }]
const add = (description: string, more: object = {}) => ['add-task', { description, ...more }]
const decision = (name: string) => ['record-decision', { name }]

const taskOf = (m: TestMemory, ref: string) => (m.get(ref)!.fields.provenance as { task?: string }[]).map((p) => p.task)
const state = (m: TestMemory, ref: string) => m.get(ref)!.fields.state ?? 'open'

describe('starting', () => {
  test('under nothing named it goes under the current goal and the current activity of the session', () => {
    const m = openTestMemory()
    m.act([goal('Add OAuth login'), activity('tokens')])
    const done = m.act([task('refresh them')])
    expect(done.results[0]).toMatchObject({ verb: 'start-task', kind: 'task', activity: m.get('tokens')!.id })
    expect(m.get('tokens')!.fields.goal).toBe('goal:add-oauth-login')
    expect(m.memory.place('test')).toEqual({
      goal: 'goal:add-oauth-login',
      activity: m.get('tokens')!.id,
      task: m.get('refresh them')!.id,
    })
    m.act([goal('Second'), task('right under the goal')])
    expect(m.get('right under the goal')!.fields).toMatchObject({ goal: 'goal:second' })
    m.act([task('elsewhere', { activity: 'tokens' })])
    expect(m.memory.place('test').goal).toBe('goal:add-oauth-login')
  })

  test('[A2] in one batch, what was started stands for the actions after it, in their provenance too', () => {
    const m = openTestMemory()
    m.act([goal('G'), activity('A'), task('one'), decision('of-one'), task('two'), decision('of-two')])
    expect(taskOf(m, 'of-one')).toEqual([m.get('one')!.id])
    expect(taskOf(m, 'of-two')).toEqual([m.get('two')!.id])
    m.act([['complete', {}], decision('after')])
    expect(taskOf(m, 'after')).toEqual([undefined])
  })

  test('[H1] what is started or added carries neither the task nor the activity that was current before', () => {
    const m = openTestMemory()
    m.act([goal('G'), activity('A'), task('one')])
    m.act([activity('B'), task('two'), add('three'), goal('H')])
    m.act([['complete', { ref: 'two' }]])
    for (const ref of ['B', 'two', 'three', 'H'])
      for (const p of m.get(ref)!.fields.provenance as object[])
        expect(Object.keys(p)).not.toContainEqual(expect.stringMatching(/goal|activity|task/))
  })

  test('what a session records carries its current task until that is complete; a task that is named comes first', () => {
    const m = openTestMemory()
    m.act([decision('before')])
    m.act([task('t')])
    m.act([decision('during')])
    m.act([decision('named')], { task: 'task:other' })
    m.act([['complete', { result: 'done' }]])
    m.act([decision('after')])
    const id = m.get('t')!.id
    expect(['before', 'during', 'named', 'after'].map((ref) => taskOf(m, ref))).toEqual([
      [undefined],
      [id],
      ['task:other'],
      [undefined],
    ])
    expect(m.get('t')!.fields).toMatchObject({ state: 'complete', result: 'done' })
    expect(m.discover('(:task (get-decision "during"))')).toEqual([JSON.stringify(id)])
    expect(m.memory.newsSince(0).map((n) => n.author.task)).toEqual([
      undefined,
      undefined,
      id,
      'task:other',
      id,
      undefined,
    ])
  })

  test('tasks of one batch stand in the order in which they were added, in the tree and in what comes next', () => {
    const m = openTestMemory()
    const names = ['zeta', 'alpha', 'mid', 'beta', 'omega', 'delta', 'kappa', 'iota']
    m.act([goal('G'), ...names.map((name) => add(name))])
    const below = workTree(m.memory.reader)[0]!.children
    expect(below.map((n) => n.entity.name)).toEqual(names)
  })

  test('two sessions have different current tasks, and neither disturbs the other', () => {
    const m = openTestMemory()
    m.act([goal('G'), activity('A')], { session: 'a' })
    m.act([goal('H'), activity('B')], { session: 'b' })
    m.act([task('of a')], { session: 'a' })
    m.act([task('of b')], { session: 'b' })
    m.act([decision('by-a')], { session: 'a' })
    m.act([decision('by-b')], { session: 'b' })
    m.act([decision('by-c')], { session: 'c' })
    expect([taskOf(m, 'by-a'), taskOf(m, 'by-b'), taskOf(m, 'by-c')]).toEqual([
      [m.get('of a')!.id],
      [m.get('of b')!.id],
      [undefined],
    ])
    expect([m.get('A')!, m.get('B')!].map((e) => e.fields.goal)).toEqual(['goal:g', 'goal:h'])
    m.act([['complete', { ref: 'of b' }]], { session: 'a' })
    expect(m.memory.place('a').task).toBe(m.get('of a')!.id)
    expect(m.memory.place('b').task).toBeUndefined()
    expect(m.memory.place('b').activity).toBe(m.get('B')!.id)
  })

  test('a task that is there is started by reference; one that was closed is open again, and a note says so', () => {
    const m = openTestMemory()
    m.act([goal('G'), activity('A'), add('later')])
    expect(m.memory.place('test').task).toBeUndefined()
    const started = m.act([['start-task', { ref: 'later' }]])
    expect(started).toMatchObject({ batch: null, notes: [] })
    expect(m.memory.place('test').task).toBe(m.get('later')!.id)
    m.act([['abandon', { ref: 'later', reason: 'no time' }]])
    expect(m.memory.place('test').task).toBeUndefined()
    expect(m.act([['start-task', { ref: 'later' }]]).notes).toEqual(['"later" was abandoned; it is open again'])
    expect(m.get('later')!.fields).toMatchObject({ state: 'open' })
    expect(m.get('later')!.fields).not.toHaveProperty('abandonReason')
    expect(m.refused([['start-task', { ref: 'later', description: 'x' }]])).toMatchObject([{ field: 'description' }])
    m.act([['complete', { ref: 'goal:g', force: true }]])
    expect(m.act([goal('G')]).notes).toEqual(['"G" was complete; it is open again'])
  })

  test('the same goal started twice is one goal; without a session nothing is current, and a note says so', () => {
    const m = openTestMemory()
    m.act([goal('G', { plan: 'p' })])
    m.act([goal('G')])
    expect(m.memory.reader.list('goal')).toHaveLength(1)
    const alone = m.act([goal('H'), task('t')], { session: '' })
    expect(alone.notes).toEqual(["no session is named, so this is nobody's current work"])
    expect(m.memory.place('')).toEqual({})
  })

  test('[A1] [A3] every reference that is wrong is told, and nothing happens', () => {
    const m = openTestMemory()
    m.act([goal('G'), activity('A'), task('t'), decision('d')])
    expect(
      m
        .refused([
          task('x', { activity: 'Aa', blockedBy: ['t', 'u'], discoveredFrom: 'nothing' }),
          activity('y', { goal: 'decision:d' }),
          task('z', { activity: 'A', goal: 'G' }),
          ['start-task', {}],
          ['complete', { ref: 'd' }],
          ['abandon', { ref: 't' }],
        ])
        .map((p) => [p.index, p.field]),
    ).toEqual([
      [0, 'activity'],
      [0, 'blockedBy.1'],
      [0, 'discoveredFrom'],
      [1, 'goal'],
      [2, 'goal'],
      [3, 'description'],
      [4, 'ref'],
      [5, 'reason'],
    ])
  })
})

describe('blocking and closing', () => {
  test('[A3] blocked-by closes no cycle, and a task waits only while what blocks it is open', () => {
    const m = openTestMemory()
    m.act([goal('G'), add('one'), add('two', { blockedBy: ['one'] }), add('three', { blockedBy: ['two'] })])
    m.act([add('four', { discoveredFrom: 'two' })])
    expect(m.refused([['link-entities', { from: 'one', to: 'three', type: 'blocked-by' }]])).toMatchObject([
      { field: 'type', message: 'closes a cycle of blocked-by' },
    ])
    const waits = () =>
      Object.fromEntries(
        workTree(m.memory.reader)[0]!.children.map((n) => [n.entity.name, n.blockedBy.map((b) => b.name)]),
      )
    expect(waits()).toEqual({ one: [], two: ['one'], three: ['two'], four: [] })
    expect(m.memory.reader.links('from', m.get('four')!.id)).toMatchObject([{ type: 'discovered-from' }])
    m.act([['complete', { ref: 'one' }]])
    m.act([['abandon', { ref: 'two', reason: 'not needed' }]])
    expect(waits()).toEqual({ one: [], two: [], three: [], four: [] })
  })

  test('a goal or an activity with open tasks is not complete: they are named, unless it is forced', () => {
    const m = openTestMemory()
    m.act([goal('G'), activity('A'), task('one'), add('two'), ['complete', { ref: 'one' }]])
    for (const ref of ['G', 'A']) {
      const [problem] = m.refused([['complete', { ref }]])
      expect(problem!.message).toBe(`a task is open: "two" (${m.get('two')!.id})`)
    }
    m.act([['complete', { ref: 'G', result: 'most of it', force: true }]])
    expect([state(m, 'G'), state(m, 'two')]).toEqual(['complete', 'open'])
    expect(m.get('G')!.fields.result).toBe('most of it')
    expect(m.refused([['complete', {}]])).toMatchObject([{ message: 'the session has no current task' }])
  })

  test('[A10] a start that is undone leaves the session where it stood before; an undone completion makes it current again', () => {
    const m = openTestMemory()
    m.act([goal('G'), activity('A')])
    const started = m.act([task('t')])
    m.act([['undo', { batch: started.batch }]])
    expect(m.memory.reader.list('task')).toEqual([])
    expect(m.memory.place('test')).toEqual({ goal: 'goal:g', activity: m.get('A')!.id })
    m.act([task('u')])
    m.act([['complete', {}]])
    expect(m.memory.place('test').task).toBeUndefined()
    m.act([['undo', {}]])
    expect(m.memory.place('test').task).toBe(m.get('u')!.id)
    expect(state(m, 'u')).toBe('open')
  })

  test('[A7] what is erased stands in no current work either', () => {
    const m = openTestMemory()
    m.act([goal('quokkas are the pets of nobody')])
    m.act([['purge', { ref: 'goal:quokkas-are-the-pets-of-nobody', reason: 'test' }]])
    expect(m.rows()).not.toContain('quokkas')
    expect(m.memory.place('test')).toEqual({})
  })
})

describe('replicas', () => {
  test('[C2] [C4] a task completed here and abandoned there: the later word holds on both, and current work stays at home', () => {
    withReplicas(['a', 'b'], (a, b) => {
      a.act([goal('G'), activity('A'), task('t')])
      exchange(a, b)
      const id = a.memory.place('session-a').task!
      expect(b.memory.place('session-a')).toEqual({})
      a.now += 1000
      b.now += 2000
      a.act([['complete', { result: 'done' }]])
      b.act([['abandon', { ref: id, reason: 'no time' }]])
      exchange(a, b)
      expect(dump(a.memory, false)).toEqual(dump(b.memory, false))
      expect(a.fields(id)).toMatchObject({ state: 'abandoned', result: 'done', abandonReason: 'no time' })
      expect(a.memory.reader.conflicts().map((e) => e.id)).toEqual([id])
      const place = a.memory.place('session-a')
      a.memory.rebuild()
      expect(a.memory.place('session-a')).toEqual(place)
    })
  })

  test('[C4] two replicas that block two tasks by each other still draw the tree', () => {
    withReplicas(['a', 'b'], (a, b) => {
      a.act([goal('G'), add('x'), add('y')])
      exchange(a, b)
      a.act([['link-entities', { from: 'x', to: 'y', type: 'blocked-by' }]])
      b.act([['link-entities', { from: 'y', to: 'x', type: 'blocked-by' }]])
      exchange(a, b)
      const [root] = workTree(a.memory.reader)
      expect(root!.children.map((n) => n.blockedBy.length)).toEqual([1, 1])
    })
  })
})
