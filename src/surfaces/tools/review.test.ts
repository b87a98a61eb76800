import { expect, test } from 'vitest'
import { openTestMemory } from '../../../test/helpers.ts'
import { brief } from '../../session/briefing/brief.ts'
import { review } from './review.ts'
import type { ToolContext } from './tool.ts'

const DAY = 86_400_000

test('[R2] [M6] what waits: said again comes first, and what nobody touched for a month waits no more', async () => {
  const t = openTestMemory()
  const context = { memory: t.memory, project: t.project, session: 'me', by: 'person', local: true }
  const propose = (fact: string, session = 'a') =>
    t.memory.act([['propose', { action: ['record-fact', { fact }] }]], { by: 'agent', session })
  const shown = async () =>
    ((await review.run(context as unknown as ToolContext, {} as never)) as { text: string }).text
  propose('Squash commits')
  propose('Ask before a push')
  t.clock.now += 1_000
  propose('Never use moment')
  propose('Squash commits', 'b')
  expect(await shown()).toMatch(/^fact {2}Squash commits [\s\S]*Never use moment[\s\S]*Ask before a push/)
  t.clock.now += 29 * DAY
  propose('Run the tests')
  t.clock.now += 2 * DAY
  expect(await shown()).toMatch(/^fact {2}Run the tests /)
  expect(await shown()).toContain('3 that nobody touched in 30 days wait no more: tidemark list --standing proposed')
  expect(await shown()).not.toContain('Squash')
  expect(brief(t.memory, t.project, { session: 'c' }).text).toContain('1 rule waits for confirmation')
})

test('[M6] a record that its file has as proposed, or what was retired, is not told as untouched for a month', async () => {
  const t = openTestMemory()
  const context = { memory: t.memory, project: t.project, session: 'me', by: 'person', local: true }
  t.act([['record-decision', { name: 'use-go', description: 'Go', standing: 'proposed', attrs: { adr: 'docs/adr/1.md', status: 'proposed' } }], ['record-fact', { fact: 'Use Go', standing: 'proposed' }], ['retire', { ref: 'fact:use-go', reason: 'no' }]]) // biome-ignore format: a row
  expect((await review.run(context as unknown as ToolContext, {} as never)) as object).toMatchObject({ text: 'nothing is proposed' }) // biome-ignore format: a row
})
