import { expect, test } from 'vitest'
import { countTokens } from '../tokens.ts'
import { call, ERAS, listening, stdioClient, tempProject } from './harness.ts'

const KNOWLEDGE = {
  actions: [
    ['record-decision', { name: 'use-sqlite', description: 'Store everything in one SQLite file' }],
    ['record-question', { question: 'Does the hub need Redis?', topics: ['hub'] }],
  ],
}

for (const era of ERAS) {
  test(`[M1] stdio, ${era}: recall and open_questions answer, in text and for programs`, async () => {
    const client = await stdioClient(tempProject(), { era })
    await call(client, 'act', KNOWLEDGE)
    const found = await call(client, 'recall', { text: 'which file stores everything?', explain: true })
    expect(found.text).toMatch(/^\(decision "use-sqlite"/)
    expect(found.structured).toMatchObject({ results: [{ id: 'decision:use-sqlite' }], omitted: 0 })
    const open = await call(client, 'open_questions', { topic: 'hub' })
    expect(open.text).toContain('Redis')
    const refused = await call(client, 'recall', { text: 'x', scope: 'mikro', limt: 3 })
    expect(refused.isError).toBe(true)
    for (const part of ['scope: one of micro', 'did you mean limit']) expect(refused.text).toContain(part)
  })
}

test('recall answers at most 40,000 characters, however much is asked for', async () => {
  const client = await stdioClient(tempProject())
  for (let b = 0; b < 3; b++)
    await call(client, 'act', {
      actions: Array.from({ length: 50 }, (_, i) => [
        'record-learning',
        { title: `Caches, lesson ${b * 50 + i}`, body: `cache ${'and what comes of it '.repeat(60)}` },
      ]),
    })
  const { text } = await call(client, 'recall', { text: 'lessons on caches', limit: 1_000 })
  expect(text.length).toBeLessThanOrEqual(40_000)
  expect(text.length).toBeGreaterThan(20_000)
})

test('[H4] an answer is short where nobody says a budget: the best whole, the others in lines to ask by', async () => {
  const client = await stdioClient(tempProject())
  const actions = Array.from({ length: 30 }, (_, i) => [
    'record-learning',
    {
      title: `Invoice ${i}: the export of invoices was slow, and nobody had looked at it before the end of the month`,
      body: `invoices, export, month ${i}: ${'a detail of it, '.repeat(25)}`,
    },
  ])
  await call(client, 'act', { actions })
  const { text } = await call(client, 'recall', { text: 'why was the export of invoices slow?' })
  expect(countTokens(text)).toBeLessThanOrEqual(800)
  const [first, ...lines] = text.split('\n')
  expect(first).toContain('a detail of it, a detail of it')
  expect(lines.length).toBeGreaterThan(4)
  const ref = /:id "(#[a-f0-9]+)"/.exec(text)![1]
  const whole = await call(client, 'discover', { expr: `(get "${ref}")` })
  expect(whole.text).toContain('a detail of it, a detail of it')
  const more = await call(client, 'recall', { text: 'why was the export of invoices slow?', budget: 6_000 })
  expect(more.text.match(/a detail of it, a detail/g)!.length).toBeGreaterThan(4)
  for (const limit of [1, 3, 5, 20]) {
    const asked = await call(client, 'recall', { text: 'why was the export of invoices slow?', limit })
    expect(asked.text.match(/^\(learning /gm)).toHaveLength(limit) // who says how many gets so many
  }
})

test('recall over HTTP', async () => {
  const server = await listening({ projectPath: tempProject() })
  server.memory.act(KNOWLEDGE.actions)
  const response = await fetch(`${server.url}/api/tools/recall`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'which file stores everything?' }),
  })
  expect(response.status).toBe(200)
  const { json } = (await response.json()) as { json: { results: { id: string; score: number }[] } }
  expect(json.results[0]!.id).toBe('decision:use-sqlite')
})

test('a list that discover tells an agent takes 800 tokens, each entry shortened; one that is asked for comes whole', async () => {
  const client = await stdioClient(tempProject())
  const rationale = 'because no daemon may run '.repeat(20)
  const actions = Array.from({ length: 30 }, (_, i) => ['record-decision', { name: `choice-${i}`, rationale }])
  await call(client, 'act', { actions })
  const list = async (more: object) => (await call(client, 'discover', { expr: '(get-decisions)', ...more })).text
  const told = await list({})
  expect(countTokens(told)).toBeLessThanOrEqual(800)
  for (const i of actions.keys()) expect(told).toContain(`"choice-${i}"`)
  expect(countTokens(await list({ budget: 10_000 }))).toBeGreaterThan(2_000)
  expect((await call(client, 'discover', { expr: '(get "choice-7")' })).text).toContain(rationale.trim())
  expect((await call(client, 'discover', { expr: '(get-decisions :limit 1)' })).text).toContain(rationale.trim())
  for (const inside of [
    '(list (get-decisions))',
    '{:all (get-decisions)}',
    '(vector (get-decisions) 1)',
    '(map :rationale (get-decisions))',
  ]) {
    const { text } = await call(client, 'discover', { expr: inside })
    expect(countTokens(text), inside).toBeLessThanOrEqual(800)
    expect(text, inside).toContain('#| +')
  }
  expect(await list({ budget: 1 })).toBe('nil #| cut |#')
})
