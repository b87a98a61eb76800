import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import { openTestMemory, type TestMemory, userError } from '../../test/helpers.ts'
import { schemaOf } from '../surfaces/mcp-call.ts'
import { openQuestionsTool } from './open-questions.ts'
import { questions } from './questions.ts'
import type { Output } from './tool.ts'

interface Found {
  questions: { ref: string; id: string; question: string; topics?: string[] }[]
  topics: Record<string, number>
  omitted: number
}

const ask = (t: TestMemory, args: Record<string, unknown> = {}) =>
  questions.run({ memory: t.memory, project: t.project }, args) as Output
const found = (t: TestMemory, args?: Record<string, unknown>) => ask(t, args).json as unknown as Found
const asked = (t: TestMemory, topic?: string) =>
  found(t, topic === undefined ? {} : { topic }).questions.map((q) => q.question)

function record(t: TestMemory, question: string, fields: Record<string, unknown> = {}): string {
  t.clock.days(1)
  return t.act([['record-question', { question, ...fields }]]).results[0]!.id as string
}

test('[G6] open questions come newest first; one that is answered, rejected, retired or deleted is gone', () => {
  const t = openTestMemory()
  const [redis, quota, name, gone, linked] = [
    record(t, 'Does the hub need Redis?', { topics: ['hub'] }),
    record(t, 'What is the quota of a token?', { topics: ['Access Control'] }),
    record(t, 'What shall we call it?', { standing: 'proposed' }),
    record(t, 'Does anybody read this?'),
    record(t, 'Which port?', { topics: ['hub'] }),
  ]
  expect(asked(t)).toEqual([
    'Which port?',
    'Does anybody read this?',
    'What shall we call it?',
    'What is the quota of a token?',
    'Does the hub need Redis?',
  ])
  t.act([['answer-question', { ref: redis, answer: 'No: LISTEN/NOTIFY fans out.' }]])
  expect(asked(t, 'hub')).toEqual(['Which port?'])
  t.act([['retire', { ref: quota, reason: 'no quotas' }]])
  t.act([['reject', { ref: name, reason: 'it has a name' }]])
  t.act([['delete-question', { ref: gone }]])
  expect(asked(t)).toEqual(['Which port?'])
  t.act([
    ['record-decision', { name: 'port-8080' }],
    ['link-entities', { from: linked, to: 'port-8080', type: 'answered-by' }],
  ])
  expect(found(t)).toEqual({ questions: [], topics: {}, omitted: 0 })
  expect(ask(t).text).toBe('no question is open')
})

test('[G6] by topic: topics and tags in any case and spelling, else the words of the question', () => {
  const t = openTestMemory()
  record(t, 'What is the quota of a token?', { topics: ['Access Control'] })
  record(t, 'Does the hub need Redis?', { tags: ['Deployment'] })
  record(t, 'Who rotates tokens?', { context: 'the deployments of the hub', topics: ['access-control'] })
  const both = ['Who rotates tokens?', 'What is the quota of a token?']
  expect(asked(t, 'access control')).toEqual(both)
  expect(asked(t, 'ACCESS-CONTROL')).toEqual(both)
  expect(asked(t, 'tokens')).toEqual(both)
  expect(asked(t, 'hub deployment')).toEqual(['Who rotates tokens?'])
  expect(asked(t, 'deployment')).toEqual(['Who rotates tokens?', 'Does the hub need Redis?'])
  expect(asked(t, 'red')).toEqual([])
  expect(asked(t, '???')).toEqual([])
  expect(ask(t, { topic: 'redact' }).text).toBe('no question is open on "redact"; by topic: access-control 2')
})

test('[G6] without a topic the topics are counted, and the number left out is said', () => {
  const t = openTestMemory()
  record(t, 'One?', { topics: ['hub', 'Access Control'] })
  record(t, 'Two?', { topics: ['Hub'] })
  record(t, 'Three?', { topics: ['__proto__'] })
  const { json, text } = ask(t, { limit: 2 })
  expect(json).toMatchObject({ omitted: 1 })
  expect(Object.entries((json as unknown as Found).topics)).toEqual([
    ['Hub', 2],
    ['Access Control', 1],
    ['__proto__', 1],
  ])
  expect(text).toContain('… 1 more: give a topic or a larger limit')
  expect(text).toContain('by topic: Hub 2, Access Control 1, __proto__ 1')
  expect(found(t, { limit: 0 })).toMatchObject({ questions: [], omitted: 3 })
  expect(userError(() => ask(t, { limit: 1.5 })).hint).toContain('whole number')
})

test('[G6] the reference that is shown is the one that answer-question takes', () => {
  const t = openTestMemory()
  record(t, `What of "this" ${'and that '.repeat(30)}?`)
  record(t, 'Was ist mit der Größe?')
  for (let left = 2; left > 0; left--) {
    const { json, text } = ask(t)
    const [q] = (json as unknown as Found).questions
    expect(text).toContain(`\n  ${q!.ref}`)
    const action = JSON.parse(text.slice(text.lastIndexOf('[', text.indexOf('"answer-question"'))))
    t.act([[action[0], { ...action[1], answer: 'so' }]])
    expect(found(t).questions).toHaveLength(left - 1)
  }
})

test('[G6] both names give the same; the tool of agents costs at most 120 tokens', () => {
  const t = openTestMemory()
  record(t, 'Does the hub need Redis?')
  expect(openQuestionsTool.run({ memory: t.memory, project: t.project }, { topic: 'redis' })).toEqual(
    ask(t, { topic: 'redis' }),
  )
  expect(openQuestionsTool).toMatchObject({ name: 'open_questions', mcp: true, readOnly: true })
  const { name, about } = openQuestionsTool
  const schema = JSON.stringify({ name, description: about, input_schema: schemaOf(openQuestionsTool) })
  expect(encode(schema).length).toBeLessThanOrEqual(120)
})
