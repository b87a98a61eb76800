import { expect, test } from 'vitest'
import { signals } from '../../src/surfaces/tools/signals.ts'
import { topics } from '../../src/surfaces/tools/topics.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'

const text = async (
  tool: typeof topics | typeof signals,
  m: TestMemory,
  args: Record<string, unknown> = {},
  project = {},
) => (await (tool as typeof topics).run({ memory: m.memory, project: { ...m.project, ...project } }, args)).text

/** The paper's five decisions, a day after another. */
function build(): TestMemory {
  const m = openTestMemory({ now: Date.UTC(2026, 0, 5, 9) })
  for (const description of [
    'Use JWT tokens',
    'Use PostgreSQL',
    'Add refresh tokens',
    'Use Docker',
    'Token expiry 1hr',
  ]) {
    m.act([['record-decision', { name: description, description }]])
    m.clock.days(1)
  }
  return m
}

test('[G2] topics lists them with how many decisions each has, tells those of one, and where the topics of an entity come from', async () => {
  const m = build()
  m.act([['supersede', { old: 'Use JWT tokens', new: 'Add refresh tokens' }]])
  expect(await text(topics, m)).toBe(
    'auth  3  2026-01-05 to 2026-01-09\ndatabase  1  2026-01-06 to 2026-01-06\ndeployment  1  2026-01-08 to 2026-01-08',
  )
  m.clock.days(40)
  expect(await text(topics, m, { topic: 'authentication' })).toBe(
    [
      '2026-01-05  Use JWT tokens  [superseded]',
      '2026-01-07  Add refresh tokens  due for review: untouched for 43 days',
      '2026-01-09  Token expiry 1hr  due for review: untouched for 41 days',
    ].join('\n'),
  )
  expect(await text(topics, m, { topic: 'auth', 'as-of': '2026-01-07' })).toBe(
    '2026-01-05  Use JWT tokens\n2026-01-07  Add refresh tokens',
  )
  expect(await text(topics, m, { of: 'Use Docker' })).toBe('deployment  (keyword: docker)')
  expect(await text(topics, m, { topic: 'x' })).toBe('no decision is on x; the topics are auth, database, deployment')
})

test('[G2] the configuration of a project adds topics, and words that speak of them', async () => {
  const m = build()
  m.act([['record-decision', { name: 'ledger', description: 'Post to the journal twice' }]])
  const project = { topics: { 'bookkeeping ledger': ['journal'], db: ['Docker'] } }
  expect(await text(topics, m, { of: 'ledger' })).toBe('no topic is known')
  expect(await text(topics, m, { of: 'ledger' }, project)).toBe('bookkeeping  (keyword: ledger, journal)')
  expect(await text(topics, m, { of: 'Use Docker' }, project)).toContain('database  (keyword: docker)')
})

test('[G2] the functions of discover: topics, topics-of, decisions-by-topic, traces, cross-trace-links, also as of a moment', () => {
  const m = build()
  m.act([
    ['link-entities', { from: 'Token expiry 1hr', to: 'Use PostgreSQL', type: 'depends-on' }],
    ['link-entities', { from: 'Token expiry 1hr', to: 'Use JWT tokens', type: 'depends-on' }],
  ])
  const run = (program: string) => m.discover(program)[0]
  expect(run('(topics)')).toBe(
    '({:topic "auth" :decisions 3} {:topic "database" :decisions 1} {:topic "deployment" :decisions 1})',
  )
  expect(run('(topics-of "Use PostgreSQL")')).toBe('({:topic "database" :from "keyword" :by "postgresql"})')
  expect(run('(map :name (decisions-by-topic "auth"))')).toBe(
    '("Token expiry 1hr" "Add refresh tokens" "Use JWT tokens")',
  )
  expect(run('(as-of "2026-01-07" (map :name (decisions-by-topic "auth")))')).toBe(
    '("Add refresh tokens" "Use JWT tokens")',
  )
  expect(run('(map :topic (traces))')).toBe('("auth" "database" "deployment")')
  expect(run('(map (lambda (l) (list (@ l :from) (@ l :to))) (cross-trace-links))')).toBe(
    '(("Token expiry 1hr" "Use PostgreSQL"))',
  )
})

test('[G5] signals are told as patterns, each with a command, now and as of a moment', async () => {
  const m = openTestMemory({ now: Date.UTC(2026, 0, 5, 9) })
  expect(await text(signals, m)).toBe('no patterns noticed')
  for (const justification of ['start-up', 'tests'])
    m.act([['record-exception', { ruleBroken: 'Use async for I/O', justification }]])
  const [first] = m.memory.reader
    .list('exception')
    .map((e) => e.id)
    .sort()
  const line = '⚠️ "Use async for I/O" has 2 exceptions — consider revising rule or documenting exceptions'
  expect(await text(signals, m)).toBe(`## Patterns Noticed\n\n${line}\n   tidemark show ${first}`)
  expect(await text(signals, m, { limit: 0 })).toContain('… 1 more')
  expect(await text(signals, m, { 'as-of': '2026-01-04' })).toBe('no patterns noticed')
  expect(m.discover('(map :line (signals)) (as-of "2026-01-04" (signals))')).toEqual([
    JSON.stringify([line]).replace('[', '(').replace(']', ')'),
    '()',
  ])
})
