import { expect, test } from 'vitest'
import { topicsOf } from '../../src/find/graph/topics.ts'
import { topicVocabularyOf } from '../../src/find/recall/topic-vocabulary.ts'
import { signals } from '../../src/surfaces/tools/signals.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'

const text = async (m: TestMemory, args: Record<string, unknown> = {}) =>
  (await signals.run({ memory: m.memory, project: m.project }, args)).text

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

test('[G2] the configuration of a project adds topics, and words that speak of them', () => {
  const m = build()
  m.act([['record-decision', { name: 'ledger', description: 'Post to the journal twice' }]])
  const project = { topics: { 'bookkeeping ledger': ['journal'], db: ['Docker'] } }
  const of = (ref: string, config = {}) =>
    topicsOf(m.memory.reader, m.get(ref)!, topicVocabularyOf(config)).map((t) => `${t.topic} (${t.from}: ${t.by})`)
  expect(of('ledger')).toEqual([])
  expect(of('ledger', project)).toEqual(['bookkeeping (keyword: ledger, journal)'])
  expect(of('Use Docker', project)).toContain('database (keyword: docker)')
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
  expect(await text(m)).toBe('no patterns noticed')
  for (const justification of ['start-up', 'tests'])
    m.act([['record-exception', { ruleBroken: 'Use async for I/O', justification }]])
  const [first] = m.memory.reader
    .list('exception')
    .map((e) => e.id)
    .sort()
  const line = '⚠️ "Use async for I/O" has 2 exceptions — consider revising rule or documenting exceptions'
  expect(await text(m)).toBe(`## Patterns Noticed\n\n${line}\n   tidemark show ${first}`)
  expect(await text(m, { limit: 0 })).toContain('… 1 more')
  expect(await text(m, { 'as-of': '2026-01-04' })).toBe('no patterns noticed')
  expect(m.discover('(map :line (signals)) (as-of "2026-01-04" (signals))')).toEqual([
    JSON.stringify([line]).replace('[', '(').replace(']', ')'),
    '()',
  ])
})
