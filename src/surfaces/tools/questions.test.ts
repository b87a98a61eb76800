import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import { openTestMemory, type TestMemory } from '../../../test/helpers.ts'
import { schemaOf } from '../mcp/call.ts'
import { act } from './act.ts'
import { TOOLS } from './index.ts'
import { openQuestionsTool, questions } from './questions.ts'
import type { Output } from './tool.ts'

interface Found {
  questions: { ref: string; id: string; question: string; topics?: string[] }[]
  topics: Record<string, number>
  omitted: number
}

const ask = (t: TestMemory, args: Record<string, unknown> = {}) =>
  questions.run({ memory: t.memory, project: t.project }, args) as Promise<Output>
const found = async (t: TestMemory, args?: Record<string, unknown>) => (await ask(t, args)).json as unknown as Found
const asked = async (t: TestMemory, topic?: string) =>
  (await found(t, topic === undefined ? {} : { topic })).questions.map((q) => q.question)

function record(t: TestMemory, question: string, fields: Record<string, unknown> = {}): string {
  t.clock.days(1)
  return t.act([['record-question', { question, ...fields }]]).results[0]!.id as string
}

test('[G6] open questions come newest first; one that is answered, rejected, retired or deleted is gone', async () => {
  const t = openTestMemory()
  const [redis, quota, name, gone, linked] = [
    record(t, 'Does the hub need Redis?', { topics: ['hub'] }),
    record(t, 'What is the quota of a token?', { topics: ['Access Control'] }),
    record(t, 'What shall we call it?', { standing: 'proposed' }),
    record(t, 'Does anybody read this?'),
    record(t, 'Which port?', { topics: ['hub'] }),
  ]
  expect(await asked(t)).toEqual([
    'Which port?',
    'Does anybody read this?',
    'What shall we call it?',
    'What is the quota of a token?',
    'Does the hub need Redis?',
  ])
  t.act([['answer-question', { ref: redis, answer: 'No: LISTEN/NOTIFY fans out.' }]])
  expect(await asked(t, 'hub')).toEqual(['Which port?'])
  t.act([['retire', { ref: quota, reason: 'no quotas' }]])
  t.act([['reject', { ref: name, reason: 'it has a name' }]])
  t.act([['delete-question', { ref: gone }]])
  expect(await asked(t)).toEqual(['Which port?'])
  t.act([
    ['record-decision', { name: 'port-8080' }],
    ['link-entities', { from: linked, to: 'port-8080', type: 'answered-by' }],
  ])
  expect(await found(t)).toEqual({ questions: [], topics: {}, omitted: 0 })
  expect((await ask(t)).text).toBe('no question is open')
})

test('[G6] by topic: topics and tags in any case and spelling, else the words of the question', async () => {
  const t = openTestMemory()
  record(t, 'What is the quota of a token?', { topics: ['Access Control'] })
  record(t, 'Does the hub need Redis?', { tags: ['Deployment'] })
  record(t, 'Who rotates tokens?', { context: 'the deployments of the hub', topics: ['access-control'] })
  const both = ['Who rotates tokens?', 'What is the quota of a token?']
  expect(await asked(t, 'access control')).toEqual(both)
  expect(await asked(t, 'ACCESS-CONTROL')).toEqual(both)
  expect((await asked(t, 'tokens')).sort()).toEqual(both.toSorted())
  expect(await asked(t, 'hub deployment')).toHaveLength(2)
  expect(await asked(t, 'deployment')).toEqual(['Does the hub need Redis?', 'Who rotates tokens?'])
  expect(await asked(t, 'red')).toEqual([])
  expect(await asked(t, '???')).toEqual([])
  expect((await ask(t, { topic: 'redact' })).text).toBe('no question is open on "redact"; by topic: access-control 2')
})

test('[G6] on a subject in words of one’s own, by recall’s ranking: the best first, and none that only shares a word', async () => {
  const t = openTestMemory()
  record(t, 'Does the worker need Redis?')
  record(t, 'How often does the worker start again?')
  record(t, 'Who pays for the domain?')
  expect((await asked(t, 'should the worker use redis'))[0]).toBe('Does the worker need Redis?')
  expect(await asked(t, 'should the worker use redis')).not.toContain('Who pays for the domain?')
  expect(await asked(t, 'redis')).toEqual(['Does the worker need Redis?'])
})

test('[G6] act says which open question and which rule are on the subject of a decision, and how to go on', async () => {
  const t = openTestMemory()
  const redis = record(t, 'Does the worker need Redis?')
  record(t, 'Which worker writes the log?')
  const name = record(t, 'What shall we call it?', { topics: ['naming'] })
  const [npm] = t.act([
    ['record-fact', { fact: 'Always use npm for installs', category: 'tool' }],
    ['record-fact', { fact: 'Never log passwords', category: 'constraint' }],
  ]).results
  const notes = async (...actions: [string, object][]) =>
    ((await act.run({ memory: t.memory, project: t.project }, { actions })) as Output).text.match(/(?<=note: ).*/g) ??
    []
  const decide = (args: object): [string, object] => ['record-decision', args]
  const [open, ...others] = await notes(
    decide({ name: 'worker-redis', description: 'Redis holds the queue of the worker' }),
  )
  expect(others).toEqual([])
  expect(open).toContain('an open question on the same subject: "Does the worker need Redis?"')
  expect(open).toContain(`["answer-question", {"ref": "${redis}"`)
  const asked: [string, object] = ['record-question', { question: 'Should the till answer 422 or 400?' }]
  expect(await notes(decide({ name: 'till-422', description: 'The till answers 422' }), asked)).toEqual([])
  const [rule, ...more] = await notes(decide({ name: 'pnpm', description: 'Installs are done by pnpm' }))
  expect(more).toEqual([])
  expect(rule).toContain('contradicts the rule "Always use npm for installs"')
  t.act([JSON.parse(/\["record-exception".*?\}\]/.exec(rule!)![0])])
  expect(await notes(decide({ name: 'pnpm', description: 'Installs are done by pnpm', rationale: 'fast' }))).toEqual([])
  expect(npm!.id).toMatch(/^fact:/)
  expect(await notes(decide({ name: 'tidemark', description: 'It rises', topics: ['naming'] }))).toHaveLength(1)
  const answer: [string, object] = ['answer-question', { ref: name, answer: 'Tidemark' }]
  expect(await notes(decide({ name: 'tidemark', rationale: 'and falls', topics: ['naming'] }), answer)).toEqual([])
  expect(await notes(decide({ name: 'use-sqlite', description: 'Everything is in one file' }))).toEqual([])
})

test('[G6] without a topic the topics are counted, and the number left out is said', async () => {
  const t = openTestMemory()
  record(t, 'One?', { topics: ['hub', 'Access Control'] })
  record(t, 'Two?', { topics: ['Hub'] })
  record(t, 'Three?', { topics: ['__proto__'] })
  const { json, text } = await ask(t, { limit: 2 })
  expect(json).toMatchObject({ omitted: 1 })
  expect(Object.entries((json as unknown as Found).topics)).toEqual([
    ['Hub', 2],
    ['Access Control', 1],
    ['__proto__', 1],
  ])
  expect(text).toContain('… 1 more: give a topic or a larger limit')
  expect(text).toContain('by topic: Hub 2, Access Control 1, __proto__ 1')
  expect(await found(t, { limit: 0 })).toMatchObject({ questions: [], omitted: 3 })
})

test('[G6] the reference that is shown is the one that answer-question takes', async () => {
  const t = openTestMemory()
  record(t, `What of "this" ${'and that '.repeat(30)}?`)
  record(t, 'Was ist mit der Größe?')
  for (let left = 2; left > 0; left--) {
    const { json, text } = await ask(t)
    const [q] = (json as unknown as Found).questions
    expect(text).toContain(`\n  ${q!.ref}`)
    const action = JSON.parse(text.slice(text.lastIndexOf('[', text.indexOf('"answer-question"'))))
    t.act([[action[0], { ...action[1], answer: 'so' }]])
    expect((await found(t)).questions).toHaveLength(left - 1)
  }
})

test('[G6] both names give the same; the tool of agents costs at most 120 tokens', async () => {
  const t = openTestMemory()
  record(t, 'Does the hub need Redis?')
  const { text, json } = await openQuestionsTool.run({ memory: t.memory, project: t.project }, { topic: 'redis' })
  expect(await ask(t, { topic: 'redis' })).toMatchObject({ text, json })
  expect(openQuestionsTool).toMatchObject({ name: 'open_questions', readOnly: true })
  expect(TOOLS.open_questions!.mcp).toBe(true)
  const { name, about } = openQuestionsTool
  const schema = JSON.stringify({ name, description: about, input_schema: schemaOf(openQuestionsTool) })
  expect(encode(schema).length).toBeLessThanOrEqual(120)
})
