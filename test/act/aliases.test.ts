import { expect, test } from 'vitest'
import { COMMON, type Kind } from '../../src/model/kind.ts'
import { KINDS } from '../../src/model/kinds/index.ts'
import { CONTROLS } from '../../src/model/validate.ts'
import { claimsOf } from '../../src/work/coordination/claims.ts'
import { openTestMemory } from '../helpers.ts'

const taken = (verb: string, args: Record<string, unknown>) => {
  const m = openTestMemory()
  const { results, notes } = m.act([[verb, args]])
  return { fields: m.memory.reader.entity(results[0]!.id)!.fields, notes }
}

test('[A5] near aliases of the commonest kinds are taken, and the answer says so', () => {
  const insight = taken('record-insight', { insight: 'Opening the store is what a short writer pays for' })
  expect(insight.fields.summary).toBe('Opening the store is what a short writer pays for')
  expect(insight.notes).toEqual(['record-insight: insight was taken as summary'])
  const file = taken('record-file-understanding', { path: 'src/a.ts', purpose: 'parses dates' })
  expect(file.fields.summary).toBe('parses dates')
  const decision = taken('record-decision', { title: 'use-sqlite', why: 'no daemon', alternatives: ['files'] })
  expect(decision.fields).toMatchObject({ name: 'use-sqlite', rationale: 'no daemon', optionsConsidered: ['files'] })
  expect(decision.notes).toHaveLength(3)
  expect(taken('record-decision', { title: 'retry', files: ['src/a.ts'] }).fields.locations).toEqual(['src/a.ts'])
  expect(taken('record-fact', { text: 'Always run the tests' }).fields.fact).toBe('Always run the tests')
})

test('[A5] near aliases of what the other verbs take are taken as well, and the answer says so', () => {
  const m = openTestMemory()
  const act = (verb: string, args: Record<string, unknown>) => m.act([[verb, args]], { session: 's1' })
  const held = () =>
    claimsOf(m.memory)
      .held()
      .map((c) => c.on)
  expect(act('claim', { path: 'src/a.ts' }).notes).toContain('claim: path was taken as paths')
  act('claim', { file: 'src/b.ts' })
  act('claim', { files: ['src/c.ts', 'src/d.ts'], note: 'both' })
  expect(held()).toEqual(['src/a.ts', 'src/b.ts', 'src/c.ts', 'src/d.ts'])
  m.library.sessions.start({ id: 's2' })
  act('release', { file: 'src/a.ts' })
  act('hand-over', { path: 'src/b.ts', to: 's2' })
  expect(held()).toEqual(['src/c.ts', 'src/d.ts', 'src/b.ts'])
  act('start-goal', { goal: 'Add OAuth login' })
  act('start-task', { title: 'callback' })
  act('abandon', { id: 'callback', why: 'the provider does it' })
  expect(m.get('callback')!.fields).toMatchObject({ abandonReason: 'the provider does it' })
  expect(m.refused([['claim', { paths: ['a.ts'], path: 'b.ts' }]], { session: 's1' })[0]).toMatchObject({
    field: 'path',
  })
})

test('[A5] an alias never takes the place of what was said by name, and one that means nothing is refused', () => {
  const both = taken('record-learning', { title: 'Stdout carries protocol', text: 'Anything else breaks the client.' })
  expect(both.fields).toMatchObject({ title: 'Stdout carries protocol', body: 'Anything else breaks the client.' })
  const m = openTestMemory()
  expect(m.refused([['record-insight', { summary: 'one', text: 'two' }]])[0]).toMatchObject({ field: 'text' })
  expect(m.refused([['record-insight', { summary: 'one', zzz: 'two' }]])[0]).toMatchObject({ field: 'zzz' })
})

test('[A5] null beside an alias, and null in redact, says that it was not given', () => {
  const m = openTestMemory()
  const { notes } = m.act({
    redact: null,
    actions: [['record-principle', { name: 'a', description: 'd', principle: null }]],
  })
  expect(notes).toEqual([])
  m.act([['update-confidence', { ref: null, id: 'a', confidence: 0.4 }]])
  m.act([['update-confidence', { ref: 'a', id: null, confidence: 0.5 }]])
  m.act([['record-correction', { rightBelief: null, text: 'b', right: null }]])
  expect(m.get('a')!.fields.confidence).toBe(0.5)
  expect(m.memory.reader.list('correction').map((e) => e.name)).toEqual(['b'])
  expect(m.refused([['update-confidence', { ref: 'a', id: 'b', confidence: 1 }]])).toHaveLength(1)
})

test('[A5] [T3] an alias is screened like the field, within a proposal as well', () => {
  const m = openTestMemory()
  const key = `ghp_${'a1B2'.repeat(9)}`
  expect(m.refused([['record-insight', { text: `the key is ${key}` }]])[0]).toMatchObject({ code: 'secret' })
  const { results } = m.act([['propose', { action: ['record-insight', { text: 'seen' }] }]])
  expect(m.memory.reader.entity(results[0]!.id)).toBeDefined()
})

test('no alias is the name of a field', () => {
  for (const kind of KINDS as readonly Kind[])
    for (const [name, { also = [] }] of Object.entries(kind.fields))
      for (const alias of also) {
        const names = [...Object.keys(kind.fields), ...Object.keys(COMMON), ...CONTROLS]
        expect(names, `${kind.name}.${name}: ${alias}`).not.toContain(alias)
      }
})
