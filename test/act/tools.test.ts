import { expect, test } from 'vitest'
import { newestFirst } from '../../src/engine/read/reader.ts'
import { act } from '../../src/surfaces/tools/act.ts'
import { forget } from '../../src/surfaces/tools/forget.ts'
import { history } from '../../src/surfaces/tools/history.ts'
import { list } from '../../src/surfaces/tools/list.ts'
import { review } from '../../src/surfaces/tools/review.ts'
import { show } from '../../src/surfaces/tools/show.ts'
import { status } from '../../src/surfaces/tools/status.ts'
import type { Output, Tool } from '../../src/surfaces/tools/tool.ts'
import { redo, undo } from '../../src/surfaces/tools/undo.ts'
import { restore, retire } from '../../src/surfaces/tools/verbs.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'

const run = async (m: TestMemory, tool: Tool, args: Record<string, unknown> = {}): Promise<string> =>
  ((await tool.run({ memory: m.memory, project: m.project, session: 's1' }, args)) as Output).text

const BATCH = [
  ['record-principle', { name: 'p', description: 'said once' }],
  ['record-decision', { name: 'd' }],
  ['link-entities', { from: 'p', to: 'd', type: 'supports' }],
]

test('[A2] the reply of act has a line for each action, in order, and the batch that undo takes', async () => {
  const m = openTestMemory()
  const batch = /\bbatch (\w+:1)$/.exec(await run(m, act, { actions: BATCH }))?.[1]
  expect(await run(m, act, { actions: [...BATCH, ['record-principle', { name: 'q' }]] })).toBe(
    `record-principle principle:p v1\nrecord-decision decision:d v1\nlink-entities principle:p supports decision:d v1\nrecord-principle principle:q (new) v1\nbatch ${batch!.replace(':1', ':2')}`,
  )
})

test('[A2] [D9] a command that changes nothing says so, why, and nothing else', async () => {
  const m = openTestMemory()
  await run(m, act, { actions: BATCH })
  expect(await run(m, restore, { ref: 'd' })).toBe('nothing changed: decision:d was neither deleted nor retired')
  expect(await run(m, restore, { ref: 'd', to: new Date(m.clock.now).toISOString() })).toBe(
    'nothing changed: decision:d says what it said then',
  )
  expect(await run(m, retire, { ref: 'd', reason: 'r' })).toMatch(/^retired decision "d"\ntidemark undo/)
  expect(await run(m, retire, { ref: 'd', reason: 'r' })).toMatch(/^nothing changed: /)
  expect(await run(m, restore, { ref: 'd' })).toMatch(/^decision "d" is back\ntidemark undo/)
})

test('[A2] a supersession is told with both sides, in the right order, wherever it is told', async () => {
  const m = openTestMemory()
  m.act([
    ['record-decision', { name: 'old' }],
    ['record-decision', { name: 'new' }],
  ])
  expect(await run(m, act, { actions: [['supersede', { old: 'old', new: 'new' }]] })).toMatch(
    /^supersede decision:old by decision:new v\d\n/,
  )
  expect(await run(m, history)).toContain('  superseded "old" by "new"')
  expect(await run(m, undo)).toMatch(/^took back: superseded "old" by "new"\n/)
})

test.each([
  ['a list', BATCH],
  ['an object', { actions: BATCH }],
  ['a string', JSON.stringify(BATCH)],
])('[A5] an intent goes with the batch, given as %s', async (_what, actions) => {
  const m = openTestMemory()
  await run(m, act, { actions, intent: 'to try it' })
  expect(await run(m, history, { ref: 'p' })).toContain('“to try it”')
  expect(m.memory.newsSince(0)[0]!.author).toMatchObject({ intent: 'to try it', session: 's1' })
})

test('[A10] people see what is there, forget it, and take that back', async () => {
  const m = openTestMemory()
  await run(m, act, { actions: BATCH })
  m.act([['propose', { action: ['record-fact', { fact: 'Use pnpm', category: 'tool' }] }]])
  expect(await run(m, list)).toBe(
    'fact       Use pnpm [proposed]  (just now)\ndecision   d  (just now)\nprinciple  p — said once  (just now)',
  )
  expect(await run(m, review)).toContain('fact:use-pnpm')
  expect(await run(m, show, { ref: 'd' })).toContain('supported-by ← p')
  expect(await run(m, status)).toContain('3 entities (1 decision, 1 fact, 1 principle), 1 link · 1 to review')
  const forgotten = await run(m, forget, { ref: 'p', reason: 'wrong' })
  expect(forgotten).toMatch(/^forgot principle p\ntidemark undo \w+:3 brings it back$/)
  expect(await run(m, list, { kind: 'principles' })).not.toContain('said once')
  expect(await run(m, show, { ref: 'p' })).toContain('(deleted: wrong; restore brings it back)')
  expect(await run(m, undo)).toContain('took back: deleted principle "p"')
  expect(await run(m, list, { kind: 'principle' })).toContain('said once')
  expect(await run(m, redo)).toMatch(/^redid: deleted principle "p": wrong\n/)
  await expect(run(m, show, { ref: 'q' })).rejects.toHaveProperty('hint')
  await expect(run(m, list, { kind: 'decison' })).rejects.toMatchObject({ hint: expect.stringContaining('decision') })
})

test('[A10] a list of a few fields gives those alone, and which others an entity names; a field that nothing has is refused', async () => {
  const m = openTestMemory()
  const listed = async (args: object) =>
    ((await list.run({ memory: m.memory, project: m.project }, { ...args })) as Output).json
  expect(await listed({ fields: 'id,topics' })).toEqual([])
  m.act([
    ['start-goal', { originalAsk: 'Sell by the piece' }],
    ['start-activity', { description: 'The cart' }],
    ['record-decision', { name: 'old', rationale: 'see fact:x and more' }],
    ['record-decision', { name: 'new', topics: ['cart'] }],
    ['supersede', { old: 'old', new: 'new' }],
  ])
  expect(await listed({ kind: 'decision', all: true, fields: 'id, state,topics' })).toEqual([
    { id: 'decision:new', topics: ['cart'] },
    { id: 'decision:old', state: 'superseded' },
  ])
  expect(await listed({ kind: 'activity', fields: 'name,refs' })).toEqual([
    { name: 'The cart', goal: 'goal:sell-by-the-piece' },
  ])
  expect(await run(m, list, { kind: 'decision', fields: 'name,topics' })).toBe('name: new  topics: cart')
  await expect(run(m, list, { kind: 'decision', fields: 'name,rational' })).rejects.toMatchObject({
    code: 'unknown-field',
    hint: 'did you mean rationale?',
  })
})

test('[A10] a page of what several kinds list is what stands there in the whole list, of now and of then', () => {
  const m = openTestMemory()
  for (let i = 0; i < 12; i++) {
    if (i % 3 !== 0) m.clock.now += 1000
    m.act([
      i % 2 === 0 ? ['record-decision', { name: `d${i}` }] : ['record-principle', { name: `p${i}`, description: 'x' }],
      ['record-fact', { fact: `Rule ${i}` }],
    ])
  }
  m.act([
    ['supersede', { old: 'd0', new: 'd2' }],
    ['retire', { ref: 'p5', reason: 'old' }],
    ['propose', { action: ['record-fact', { fact: 'Perhaps' }] }],
  ])
  m.clock.now += 1000
  const kinds = ['decision', 'principle', 'fact']
  for (const reader of [m.memory.reader, m.memory.asOf(m.clock.now)])
    for (const options of [{}, { all: true }, { current: true }, { standing: 'proposed' }, { session: 'none' }]) {
      const whole = kinds
        .flatMap((kind) => reader.list(kind, options))
        .sort(newestFirst)
        .map((e) => e.id)
      expect(reader.ids(kinds, options)).toEqual(whole)
      for (let offset = 0; offset < whole.length + 4; offset += 4)
        expect(reader.ids(kinds, { ...options, limit: 4, offset })).toEqual(whole.slice(offset, offset + 4))
    }
})

test('[A10] what waits is told in parts: proposals, then what the code left behind and changes of skills', async () => {
  const m = openTestMemory()
  for (const fact of ['one', 'two', 'three']) {
    m.clock.now += 1000
    m.act([['propose', { action: ['record-fact', { fact }] }]])
  }
  const ask = async (args: object) =>
    (await review.run({ memory: m.memory, project: m.project }, { ...args })) as Output
  const ids = async (args: object) => ((await ask(args)).json as { id: string }[]).map((e) => e.id)
  expect(await ids({})).toEqual(['fact:three', 'fact:two', 'fact:one'])
  expect(await ids({ limit: 2 })).toEqual(['fact:three', 'fact:two'])
  expect(await ids({ limit: 2, offset: 2 })).toEqual(['fact:one'])
  expect((await ask({ limit: 2 })).text).toContain('… 1 more: give --offset 2')
  expect((await ask({ limit: 2, offset: 2 })).text).not.toContain('more')
})
