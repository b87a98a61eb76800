import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openTestMemory, type TestMemory, userError } from '../../../test/helpers.ts'
import { recallFixture } from '../../../test/recall-fixture.ts'
import type { Place } from '../../engine/read/work-tree.ts'
import type { Entity } from '../../model/entity.ts'
import { DEFAULTS, recallConfig } from './config.ts'
import { type Asked, resolveOptions } from './options.ts'
import { findInTree, makeProximity, placeOfTask, sharesTopics } from './scope.ts'
import type { RecallOptions } from './types.ts'

const asked = (m: TestMemory, options: RecallOptions): Asked =>
  resolveOptions(DEFAULTS, options, { now: m.clock.now, registry: m.memory.registry() })

/** How near each of some entities is: its place and proximity, or "out". */
function near(m: TestMemory, refs: readonly string[], options: RecallOptions = {}, at?: Place): string[] {
  const { reader } = m.memory
  const place = at ?? (options.task === undefined ? m.memory.place('test') : placeOfTask(reader, options.task))
  const proximity = makeProximity(reader, place, asked(m, options), DEFAULTS)
  return refs.map((ref) => {
    const p = proximity(m.get(ref)!)
    return p.excluded ? 'out' : `${p.where} ${p.proximity}`
  })
}

/** A tree with one item at each distance from the current task. */
function tree(m: TestMemory) {
  m.act([
    ['start-goal', { originalAsk: 'Other goal' }],
    ['start-activity', { description: 'other area', goal: 'Other goal' }],
  ])
  m.act([
    ['start-task', { description: 'far' }],
    ['record-decision', { name: 'in-far' }],
  ])
  m.act([
    ['start-goal', { originalAsk: 'Goal' }],
    ['record-decision', { name: 'at-goal' }],
  ])
  m.act([
    ['start-activity', { description: 'next door', goal: 'Goal' }],
    ['start-task', { description: 'cousin' }],
  ])
  m.act([['record-decision', { name: 'in-cousin' }]])
  m.act([
    ['start-activity', { description: 'area', goal: 'Goal' }],
    ['record-decision', { name: 'at-area' }],
  ])
  m.act([
    ['start-task', { description: 'sibling' }],
    ['record-decision', { name: 'in-sibling' }],
  ])
  m.act([
    ['start-task', { description: 'current' }],
    ['record-decision', { name: 'in-current' }],
  ])
  m.act([['record-decision', { name: 'nowhere' }]], { session: 'somebody' })
}
const ALL = ['in-current', 'in-sibling', 'at-area', 'in-cousin', 'at-goal', 'in-far', 'nowhere']

describe('scopes and proximity', () => {
  test('[H1] balanced: 1 for the current task, 0.7 sibling, 0.5 activity, 0.3 goal, 0.2 elsewhere', () => {
    const m = openTestMemory()
    tree(m)
    expect(near(m, ALL)).toEqual([
      'task 1',
      'sibling 0.7',
      'activity 0.5',
      'goal 0.3',
      'goal 0.3',
      'elsewhere 0.2',
      'elsewhere 0.2',
    ])
    const work = ['current', 'sibling', 'area', 'cousin', 'next door', 'Goal', 'far', 'Other goal']
    expect(near(m, work)).toEqual([
      'task 1', 'sibling 0.7', 'activity 0.5', 'goal 0.3', 'goal 0.3', 'goal 0.3', 'elsewhere 0.2', 'elsewhere 0.2',
    ]) // biome-ignore format: as the names stand
    expect(near(m, ALL, { task: 'far' })).toEqual([...Array(5).fill('elsewhere 0.2'), 'task 1', 'elsewhere 0.2'])
  })

  test('[H1] micro is this task alone; macro counts everything alike; selected only what the named goals have', () => {
    const m = openTestMemory()
    tree(m)
    expect(near(m, ALL, { scope: 'micro' })).toEqual(['task 1', ...Array(6).fill('out')])
    expect(near(m, ALL, { preset: 'fresh' })).toEqual(near(m, ALL, { scope: 'micro' }))
    expect(near(m, ALL, { scope: 'macro' }).map((s) => s.split(' ')[1])).toEqual(Array(7).fill('1'))
    expect(near(m, ALL, { goals: ['Other goal'] })).toEqual([...Array(5).fill('out'), 'elsewhere 0.2', 'out'])
    expect(near(m, ALL, { scope: 'selected', goals: ['Goal'] })).toEqual([
      'task 1', 'sibling 0.7', 'activity 0.5', 'goal 0.3', 'goal 0.3', 'out', 'out',
    ]) // biome-ignore format: as the names stand
    expect(near(m, ALL, { scope: 'selected' })).toEqual(near(m, ALL, { scope: 'micro' }))
  })

  test('[H1] with no current task every proximity is 1, and micro says how to come to one', () => {
    const m = openTestMemory()
    tree(m)
    expect(near(m, ALL, {}, {}).map((s) => s.split(' ')[1])).toEqual(Array(7).fill('1'))
    m.act([['complete', {}]])
    expect(near(m, ALL).map((s) => s.split(' ')[1])).toEqual(Array(7).fill('1'))
    expect(near(m, ALL, { goals: ['Other goal'] })).toEqual([...Array(5).fill('out'), 'elsewhere 1', 'out'])
    const refused = userError(() => near(m, ALL, { scope: 'micro' }))
    expect(refused.code).toBe('no-current')
    expect(refused.hint).toContain('start-task')
    expect(refused.hint).toContain('"task"')
  })

  test('[H1] the three bodies of work of the lessons', () => {
    const m = openTestMemory()
    const { items, goals } = recallFixture(m)
    const ids = Object.values(items).map((i) => i.id)
    expect(near(m, ids, { scope: 'micro' })).toEqual([...Array(6).fill('out'), 'task 1'])
    expect(near(m, ids)).toEqual([...Array(6).fill('elsewhere 0.2'), 'task 1'])
    expect(near(m, ids, { preset: 'learn_from_all' })).toEqual([...Array(6).fill('elsewhere 1'), 'task 1'])
    expect(near(m, ids, { goals: [goals.s1, goals.s3] })).toEqual([
      ...Array(4).fill('elsewhere 0.2'),
      'out',
      'out',
      'task 1',
    ])
    const far = (depth: number | null) => {
      const config = { ...DEFAULTS, historyDepthDays: depth }
      const a = resolveOptions(config, {}, { now: m.clock.now, registry: m.memory.registry() })
      const proximity = makeProximity(m.memory.reader, m.memory.place('test'), a, config)
      return ids.filter((id) => !proximity(m.get(id)!).excluded)
    }
    expect(far(1)).toEqual([items.middleware.id])
    expect(far(100)).toEqual([items.servicesValidate.id, items.storeJwks.id, items.middleware.id])
    expect(far(null)).toEqual(ids)
  })

  test('[H1] decisions and learnings that are lifted, or share the topics, count for the activity and its goal', () => {
    const m = openTestMemory()
    m.act([
      ['start-goal', { originalAsk: 'Old' }],
      ['start-task', { description: 'old' }],
    ])
    m.act([
      ['record-decision', { name: 'both', topics: ['JWT', 'auth'] }],
      ['record-learning', { title: 'one of four', tags: ['jwt', 'x', 'y', 'z'] }],
      ['record-learning', { title: 'by tags', tags: ['auth'] }],
      ['record-action-note', { text: 'done', topics: ['jwt', 'auth'] }],
      ['record-decision', { name: 'lifted' }],
      ['record-decision', { name: 'lifted-to-goal' }],
      ['record-decision', { name: 'of-goal', topics: ['login'] }],
    ])
    m.act([['start-goal', { originalAsk: 'New', topics: ['login'] }]])
    m.act([
      ['start-activity', { description: 'tokens', topics: ['jwt', 'auth'] }],
      ['start-task', { description: 'new' }],
    ])
    m.act([
      ['lift', { ref: 'lifted', to: 'tokens' }],
      ['lift', { ref: 'lifted-to-goal', to: 'New' }],
    ])
    const refs = ['both', 'one of four', 'by tags', 'done', 'lifted', 'lifted-to-goal', 'of-goal']
    expect(near(m, refs)).toEqual([
      'activity 0.5', 'elsewhere 0.2', 'activity 0.5', 'elsewhere 0.2', 'activity 0.5', 'goal 0.3', 'goal 0.3',
    ]) // biome-ignore format: as the names stand
    // what somebody lifted to a goal is of it; sharing topics with it is not enough to be selected
    expect(near(m, refs, { goals: ['New'] })).toEqual(['out', 'out', 'out', 'out', 'activity 0.5', 'goal 0.3', 'out'])
    expect(near(m, refs, { scope: 'micro' })).toEqual(Array(7).fill('out'))
  })

  test('[H1] goals and tasks that are not there are refused with what is near; what is open comes first', () => {
    const m = openTestMemory()
    tree(m)
    const goal = userError(() => near(m, ALL, { goals: ['Other gaol'] }))
    expect(goal).toMatchObject({ code: 'not-found', message: 'no goal is called "Other gaol"' })
    expect(goal.hint).toContain('"Other goal" (goal:other-goal)')
    expect(userError(() => near(m, ALL, { task: 'curent' })).hint).toContain('"current"')
    expect(userError(() => near(m, ALL, { task: 'area' })).message).toContain('is a activity, not a task')
    m.act([['add-task', { description: 'current' }]])
    expect(userError(() => near(m, ALL, { task: 'current' })).code).toBe('ambiguous')
    m.act([['complete', {}]])
    expect(findInTree(m.memory.reader, 'task', 'current').fields.state).toBe(undefined)
    m.act([['complete', { ref: 'sibling' }]])
    expect(placeOfTask(m.memory.reader, 'sibling')).toEqual({
      task: m.get('sibling')!.id,
      activity: m.get('area')!.id,
      goal: 'goal:goal',
    })
  })

  test('a weight of 0 leaves out, and an item counts as where it was recorded even if elsewhere weighs more', () => {
    const m = openTestMemory()
    tree(m)
    const weights = { task: 1, sibling: 0.7, activity: 0.5, goal: 0, elsewhere: 1.5 }
    const proximity = makeProximity(m.memory.reader, m.memory.place('test'), asked(m, {}), { weights })
    expect(ALL.map((ref) => proximity(m.get(ref)!)).map((p) => (p.excluded ? 'out' : p.proximity))).toEqual([
      1, 0.7, 0.5, 'out', 'out', 1.5, 1.5,
    ]) // biome-ignore format: as the names stand
  })

  test('[H1] an item of several tasks has its best proximity once, in whatever order they are named', () => {
    const m = openTestMemory()
    tree(m)
    const tasks = ['far', 'cousin', 'sibling', 'current'].map((ref) => m.get(ref)!.id)
    const best: { [id: string]: number } = Object.fromEntries([0.2, 0.3, 0.7, 1].map((w, i) => [tasks[i], w]))
    const proximity = makeProximity(m.memory.reader, m.memory.place('test'), asked(m, {}), DEFAULTS)
    const base = m.get('nowhere')!
    fc.assert(
      fc.property(fc.shuffledSubarray(tasks, { minLength: 1 }), (some) => {
        const e: Entity = { ...base, fields: { ...base.fields, provenance: some.map((task) => ({ task })) } }
        expect(proximity(e).proximity).toBe(Math.max(...some.map((t) => best[t]!)))
      }),
    )
  })

  test('sharing topics does not depend on their order, and one of four is not enough', () => {
    const labels = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { maxLength: 6 })
    fc.assert(
      fc.property(labels, labels, (a, b) => {
        expect(sharesTopics(new Set(a), new Set(b))).toBe(
          sharesTopics(new Set(a.toReversed()), new Set(b.toReversed())),
        )
        if (a.filter((x) => b.includes(x)).length === 1 && a.length >= 4)
          expect(sharesTopics(new Set(a), new Set(b))).toBe(false)
        expect(sharesTopics(new Set(a), new Set(a))).toBe(a.length > 0)
      }),
    )
  })

  test('300 items of 300 tasks among 5,000 cost little: the tree is not walked', { tags: ['long'] }, () => {
    const m = openTestMemory()
    m.act([['start-goal', { originalAsk: 'G' }]])
    for (let i = 0; i < 100; i++) {
      m.act([['start-activity', { description: `a${i}`, goal: 'G' }]])
      m.act(Array.from({ length: 50 }, (_, j) => ['add-task', { description: `t${i}/${j}` }]))
    }
    const tasks = m.memory.reader
      .list('task')
      .filter((_, i) => i % 16 === 0)
      .slice(0, 300)
    m.act([['start-task', { ref: tasks[0]!.id }]])
    const base = tasks[0]!
    const items = tasks.map(
      (t, i): Entity => ({
        ...base,
        id: `decision:${i}`,
        kind: 'decision',
        fields: { provenance: [{ task: t.id }], topics: ['x'] },
      }),
    )
    const once = () => {
      const start = performance.now()
      const proximity = makeProximity(m.memory.reader, m.memory.place('test'), asked(m, {}), DEFAULTS)
      for (const e of items) proximity(e)
      return performance.now() - start
    }
    const times = Array.from({ length: 30 }, once).sort((a, b) => a - b)
    if (process.env.TIDEMARK_SHOW) console.log(`proximity of 300 items: ${times[15]!.toFixed(2)} ms`)
    // 10 times what was measured: a walk of the tree would cost 50 times as much
    expect(times[15]!).toBeLessThan(50)
  })
})

test('settings of a project change the weights', () => {
  const config = recallConfig([{ from: 'recall', value: { weights: { elsewhere: 1.5 } } }], [])
  expect(config.weights).toEqual({ task: 1, sibling: 0.7, activity: 0.5, goal: 0.3, elsewhere: 1.5 })
})
