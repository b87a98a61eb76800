import { describe, expect, test } from 'vitest'
import { topicsOf } from '../../src/find/graph/topics.ts'
import { list } from '../../src/surfaces/tools/list.ts'
import { openTestMemory } from '../helpers.ts'

/** Four on auth: by a label, an alias, a word and a path. */
function build() {
  const m = openTestMemory({ now: Date.UTC(2026, 0, 5, 9) })
  for (const more of [
    { name: 'one', description: 'a text', topics: ['auth'] },
    { name: 'two', description: 'a text', tags: ['authentication'] },
    { name: 'three', description: 'Tokens are JWT' },
    { name: 'four', description: 'a text', locations: ['src/auth/check.ts:1'] },
    { name: 'other', description: 'The store is SQLite' },
  ])
    m.act([['record-decision', more]])
  return m
}

describe('[G2] a topic has one meaning', () => {
  test('[G2] [D11] get-decisions :topic, decisions-by-topic and list --topic give the same', async () => {
    const m = build()
    const names = '("four" "three" "two" "one")'
    for (const said of ['auth', 'authn'])
      expect(
        m.discover(`(map :name (get-decisions :topic "${said}")) (map :name (decisions-by-topic "${said}"))`),
      ).toEqual([names, names])
    expect(m.discover('(map :name (get-decisions :topic "auth" :limit 2))')).toEqual(['("four" "three")'])
    expect(m.discover('(map :name (get-decisions-by-status "active" :topic "auth"))')).toEqual([names])
    const { json } = await list.run({ memory: m.memory, project: m.project }, { topic: 'auth' })
    expect((json as { name: string }[]).map((e) => e.name)).toEqual(['four', 'three', 'two', 'one'])
  })

  test('[G2] src/log/ is the log of a store, not observability', () => {
    const m = openTestMemory()
    m.act([
      [
        'record-decision',
        { name: 'in-path', description: 'Cells live in src/log/', locations: ['src/log/cells.ts:3'] },
      ],
      ['record-decision', { name: 'in-word', description: 'Each request writes a structured log' }],
    ])
    const topics = (ref: string) => topicsOf(m.memory.reader, m.get(ref)!).map((t) => t.topic)
    expect(topics('in-path')).toEqual([])
    expect(topics('in-word')).toEqual(['observability'])
  })
})

test('[G1] relatedPrinciples and its siblings are links, as paper 1 writes them', () => {
  const m = openTestMemory()
  m.act([
    [
      'record-principle',
      { name: 'arrival-action-atomicity', relatedPrinciples: ['wrong-impossible-through-structure'] },
    ],
  ])
  m.act([
    [
      'record-principle',
      {
        name: 'wrong-impossible-through-structure',
        description: 'Make invalid states structurally impossible',
        confidence: 0.95,
        relatedPrinciples: ['contagious-materialization', 'arrival-action-atomicity'],
      },
    ],
    ['record-principle', { name: 'contagious-materialization' }],
    ['record-decision', { name: 'use-stage3-decorators' }],
    ['record-decision', { name: 'use-weakref', relatedDecisions: ['use-stage3-decorators', 'not-there'] }],
  ])
  const ends = (ref: string) =>
    [...m.memory.reader.links('from', ref), ...m.memory.reader.links('to', ref)]
      .map((l) => `${l.type} ${l.from === ref ? l.to : l.from}`)
      .sort()
  expect(ends('principle:wrong-impossible-through-structure')).toEqual([
    'relates-to principle:arrival-action-atomicity',
    'relates-to principle:contagious-materialization',
  ])
  expect(ends('decision:use-weakref')).toEqual(['relates-to decision:use-stage3-decorators'])
})

test('[D4] (@ d :timestamp) is its time', () => {
  const m = build()
  expect(m.discover('(@ (get-decision "one") :timestamp)')).toEqual(['"2026-01-05T09:00:00.000Z"'])
})
