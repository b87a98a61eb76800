import { describe, expect, test } from 'vitest'
import { openTestMemory, type TestMemory } from '../../../test/helpers.ts'
import { TopicVocabulary } from '../recall/topic-vocabulary.ts'
import { crossTraceLinks, decisionsByTopic, topicsOf, topicsOfPath, tracesByTopic } from './topics.ts'

/** The five decisions of the paper, in its words and its order. */
const FIVE = ['Use JWT tokens', 'Use PostgreSQL', 'Add refresh tokens', 'Use Docker', 'Token expiry 1hr']

function five(): TestMemory {
  const t = openTestMemory()
  for (const [i, description] of FIVE.entries())
    t.act([['record-decision', { name: `decision-${i + 1}`, description }]])
  return t
}

const namesOf = (all: readonly { name: string }[]) => all.map((e) => e.name)
const found = (t: TestMemory, ref: string, vocabulary?: TopicVocabulary) =>
  topicsOf(t.memory.reader, t.memory.reader.find(ref)[0]!, vocabulary).map(
    ({ topic, from, by }) => `${topic} ${from} ${by}`,
  )

describe('topics', () => {
  test('G2: the five decisions of the paper fall into traces: auth has 1, 3, 5; db has 2', () => {
    const { memory } = five()
    const traces = new Map(tracesByTopic(memory.reader).map((t) => [t.topic, namesOf(t.decisions)]))
    expect(traces.get('auth')).toEqual(['decision-1', 'decision-3', 'decision-5'])
    expect(traces.get('database')).toEqual(['decision-2'])
    expect(traces.get('deployment')).toEqual(['decision-4'])
    expect(traces.size).toBe(3)
    expect(namesOf(decisionsByTopic(memory.reader, 'db'))).toEqual(['decision-2'])
    expect(namesOf(decisionsByTopic(memory.reader, 'auth'))).toEqual(['decision-5', 'decision-3', 'decision-1'])
  })

  test('G2: the same as of a moment', () => {
    const t = five()
    const third = t.memory.reader.find('decision-3')[0]!
    expect(namesOf(decisionsByTopic(t.memory.asOf(third.created), 'auth'))).toEqual(['decision-3', 'decision-1'])
  })

  test('G2: topics are told with where they come from', () => {
    const t = openTestMemory()
    t.act([
      ['record-decision', { name: 'a', description: 'Say when it is done', topics: ['DB'], tags: ['wip'] }],
      ['record-decision', { name: 'b', description: 'Run two of them for the deployment pipeline' }],
      ['record-decision', { name: 'c', description: 'Keep it short', locations: ['src/auth/token.ts:3'] }],
      ['record-decision', { name: 'd', description: 'Keep it in PostgreSQL' }],
      ['record-decision', { name: 'e', description: 'Do as before' }],
      ['record-decision', { name: 'f', description: 'Nobody knows' }],
      ['record-decision', { name: 'g', description: 'See https://example.com/ledger/a.x and src/ledger/rows.ts' }],
      ['link-entities', { from: 'e', to: 'd', type: 'depends-on' }],
    ])
    expect(found(t, 'a')).toEqual(['database topics DB', 'wip tags wip'])
    expect(found(t, 'b')).toEqual(['deployment mention deployment'])
    expect(found(t, 'c')).toEqual(['auth path src/auth/token.ts:3'])
    expect(found(t, 'd')).toEqual(['database keyword postgresql'])
    expect(found(t, 'e')).toEqual(['database neighbour decision:d'])
    expect(found(t, 'f')).toEqual([])
    expect(found(t, 'g')).toEqual(['ledger path src/ledger/rows.ts'])
  })

  test('G2: a brand with a capital within is one word', () => {
    const t = openTestMemory()
    t.act([
      ['record-decision', { name: 'a', description: 'Keep it in SQLite' }],
      ['record-decision', { name: 'b', description: 'Run it in GitHub Actions' }],
      ['record-decision', { name: 'c', description: 'Split loginForm in two' }],
    ])
    expect(found(t, 'a')).toEqual(['database keyword sqlite'])
    expect(found(t, 'b')).toEqual(['ci keyword github actions'])
    expect(found(t, 'c')).toEqual(['auth keyword login'])
    const own = new TopicVocabulary({ ledger: ['DunningRun'] })
    t.act([['record-decision', { name: 'd', description: 'Stop the DunningRun' }]])
    expect(found(t, 'd', own)).toEqual(['ledger keyword dunningrun'])
  })

  test('G2: folders that say nothing are skipped', () => {
    expect(topicsOfPath('src/auth/token.ts')).toEqual(['auth'])
    expect(topicsOfPath('packages/billing/src/index.test.ts:12')).toEqual(['payments'])
    expect(topicsOfPath('src/ledger/db/rows.ts')).toEqual(['ledger', 'database'])
    expect(topicsOfPath('lib/deploy.rb')).toEqual(['deployment'])
    expect(topicsOfPath('test/helpers.ts')).toEqual([])
    expect(topicsOfPath('docs/README.md')).toEqual(['documentation'])
  })

  test('G2: a project adds topics and words of its own', () => {
    const t = openTestMemory()
    t.act([['record-decision', { name: 'a', description: 'Ledger rows are immutable once posted' }]])
    const own = new TopicVocabulary({ 'bookkeeping ledger': ['posted', 'double entry'], db: ['rowstore'] })
    expect(found(t, 'a', own)).toEqual(['bookkeeping keyword ledger, posted'])
    expect(own.nameOf('ledger')).toBe('bookkeeping')
    expect(own.nameOf('databases')).toBe('database')
    expect([...own.in('the rowstore').keys()]).toEqual(['database'])
  })

  test('G2: cross-trace links are those between decisions without a topic in common', () => {
    const t = openTestMemory()
    t.act([
      ['record-decision', { name: 'sessions', description: 'Store sessions in Redis', topics: ['auth'] }],
      ['record-decision', { name: 'cluster', description: 'Redis cluster configuration', topics: ['db'] }],
      ['record-decision', { name: 'pool', description: 'A connection pool of ten', topics: ['database'] }],
      ['record-decision', { name: 'vague', description: 'Nobody knows' }],
      ['link-entities', { from: 'sessions', to: 'cluster', type: 'impacts' }],
      ['link-entities', { from: 'pool', to: 'cluster', type: 'depends-on' }],
      ['link-entities', { from: 'pool', to: 'vague', type: 'depends-on' }],
    ])
    expect(crossTraceLinks(t.memory.reader).map((l) => [l.from, l.type, l.to])).toEqual([
      ['decision:sessions', 'impacts', 'decision:cluster'],
    ])
  })
})
