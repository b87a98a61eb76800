import { expect, test } from 'vitest'
import { act } from '../../src/tools/act.ts'
import { forget } from '../../src/tools/forget.ts'
import { history } from '../../src/tools/history.ts'
import { list } from '../../src/tools/list.ts'
import { review } from '../../src/tools/review.ts'
import { show } from '../../src/tools/show.ts'
import { status } from '../../src/tools/status.ts'
import type { Output, Tool } from '../../src/tools/tool.ts'
import { undo } from '../../src/tools/undo.ts'
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

test('[A2] a supersession is told with both sides, in the right order, wherever it is told', async () => {
  const m = openTestMemory()
  m.act([
    ['record-decision', { name: 'old' }],
    ['record-decision', { name: 'new' }],
  ])
  expect(await run(m, act, { actions: [['supersede', { old: 'old', new: 'new' }]] })).toMatch(
    /^supersede decision:old by decision:new v\d\n/,
  )
  expect(await run(m, history)).toContain('  supersede "old" by "new"')
  expect(await run(m, undo)).toMatch(/^took back supersede "old" by "new"\n/)
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
  expect(await run(m, show, { ref: 'p' })).toContain('(deleted; restore brings it back)')
  expect(await run(m, undo)).toContain('took back delete-principle "p"')
  expect(await run(m, list, { kind: 'principle' })).toContain('said once')
  expect(await run(m, undo)).toMatch(/^took back undo \w+:3\n/)
  await expect(run(m, show, { ref: 'q' })).rejects.toHaveProperty('hint')
  await expect(run(m, list, { kind: 'decison' })).rejects.toMatchObject({ hint: expect.stringContaining('decision') })
})
