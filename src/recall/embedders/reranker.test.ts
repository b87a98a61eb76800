import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { openTestMemory } from '../../../test/helpers.ts'
import { UserError } from '../../errors.ts'
import { Recaller } from '../recall.ts'
import { httpReranker, RERANKED } from './reranker.ts'

const KEY = 'sk-very-secret-0815'

interface Asked {
  readonly path: string
  readonly authorization: string | undefined
  readonly body: { readonly model?: string; readonly query: string; documents?: string[]; texts?: string[] }
}

const asked: Asked[] = []
let answer: (asked: Asked, response: ServerResponse) => void
let url: string

/** The texts that a request asked about. */
const textsOf = ({ body }: Asked): string[] => body.documents ?? body.texts ?? []
/** The more exclamation marks, the better. */
const scores = (a: Asked) => textsOf(a).map((text, index) => ({ index, score: text.split('!').length / 10 }))

beforeEach(async () => {
  asked.length = 0
  answer = (a, response) => void response.end(JSON.stringify(scores(a)))
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    const one = { path: request.url!, authorization: request.headers.authorization, body: JSON.parse(body) }
    asked.push(one)
    answer(one, response)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
})

/** The UserError of a promise that must fail; it never tells the key. */
async function refusal(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (e: unknown) => e,
  )
  expect(error).toBeInstanceOf(UserError)
  const { message, hint } = error as UserError
  expect(message + hint).not.toContain(KEY)
  return message
}

test('[V10] asks as Cohere and Jina want it with a model, as TEI without, and puts scores into the order of the texts', async () => {
  answer = (a, response) => {
    const results = scores(a).map(({ index, score }) => ({ index, relevance_score: score }))
    response.end(JSON.stringify({ results: results.reverse() }))
  }
  const variables = { RERANK_KEY: KEY }
  const cohere = httpReranker(
    { use: 'http', url: `${url}/v2/rerank`, model: 'm', keyFrom: 'RERANK_KEY' },
    { variables },
  )
  expect(await cohere.rerank('why?', ['a!!', 'b'])).toEqual([0.3, 0.1])
  expect(asked[0]).toEqual({
    path: '/v2/rerank',
    authorization: `Bearer ${KEY}`,
    body: { model: 'm', query: 'why?', documents: ['a!!', 'b'] },
  })
  answer = (a, response) => void response.end(JSON.stringify(scores(a).reverse()))
  const tei = httpReranker({ use: 'http', url })
  expect(await tei.rerank('why?', ['a', 'b!'])).toEqual([0.1, 0.2])
  const body = { query: 'why?', texts: ['a', 'b!'], truncate: true }
  expect(asked[1]).toEqual({ path: '/rerank', authorization: undefined, body })
  expect(await tei.rerank('why?', [])).toEqual([])
  expect(asked).toHaveLength(2)
})

test('[V10] secrets are not sent, long texts are cut, halves of pairs do not break the request', async () => {
  const token = `ghp_${'a1B2c3D4e5F6g7H8i9J0'.repeat(2).slice(0, 36)}`
  await httpReranker({ use: 'http', url }).rerank(`why ${token}?`, [`it is ${token}`, 'y'.repeat(50_000), 'a\ud800'])
  expect(JSON.stringify(asked)).not.toContain(token)
  expect(asked[0]!.body.query).toMatch(/^why \[redacted: .+\]\?$/)
  expect(
    textsOf(asked[0]!)
      .map((t) => t.length)
      .slice(1),
  ).toEqual([4_000, 2])
})

test('[V10] whatever else comes back is refused with what it was', async () => {
  const variables = { RERANK_KEY: KEY, EMPTY: ' ' }
  const ask = () =>
    httpReranker({ use: 'http', url, keyFrom: 'RERANK_KEY' }, { variables, timeout: 300 }).rerank('q', ['a', 'b'])
  const says = (text: string, status = 200) => {
    answer = (_, response) => void response.writeHead(status).end(text)
  }
  says(`who is ${KEY}`, 401)
  expect(await refusal(ask())).toContain('answered 401: who is …')
  says('<html>')
  expect(await refusal(ask())).toContain('is no endpoint for reranking: the answer is not JSON')
  for (const [body, why] of [
    ['null', 'no list'],
    ['{"data": 3}', 'no list'],
    ['[]', 'numbered'],
    ['[{"index":0,"score":1}]', 'numbered'],
    ['[{"index":0,"score":1},{"index":2,"score":1}]', 'numbered'],
    ['[{"index":0,"score":1},{"index":0,"score":1}]', 'numbered'],
    ['[{"index":0,"score":1},{"index":1,"score":"1"}]', 'no score'],
    ['[null,null]', 'no score'],
  ] as const) {
    says(body)
    expect(await refusal(ask())).toContain(why)
  }
  answer = () => {}
  expect(await refusal(ask())).toContain('did not answer within 300 ms')
  answer = (_, response) => void response.destroy()
  expect(await refusal(ask())).toContain('the reranker http://127.0.0.1')
  const made = async (config: object) => httpReranker({ use: 'http', url, ...config }, { variables })
  expect(await refusal(made({ keyFrom: 'EMPTY' }))).toContain('EMPTY')
  expect(await refusal(made({ url: 'http://example.com', keyFrom: 'RERANK_KEY' }))).toContain('for anyone to read')
})

/** What somebody knows, and recall with this reranker and words alone. */
function knowing(texts: readonly string[]) {
  const t = openTestMemory()
  t.act(texts.map((content) => ['record-chunk', { content }]))
  const recaller = new Recaller(t.memory, undefined, { embedder: { use: 'none' }, reranker: { use: 'http', url } })
  onTestFinished(() => recaller.close())
  const names = async (question: string) => (await recaller.ask(question)).results.map((r) => r.name)
  return { ...t, recaller, names }
}

const [TWO, JOBS, WORKERS] = [
  'the queue has two ends',
  'a queue of jobs survives each restart!',
  'every worker is served by one queue!!!',
] as const

test('[H3] the first results come in the reranker’s order, what is called by name stays first, and the parts make the score', async () => {
  const { act, recaller, names } = knowing([TWO, JOBS, WORKERS, 'nothing of it!!!!'])
  expect(await names('ends of the queue')).toEqual([WORKERS, JOBS, TWO])
  for (const { score, parts } of (await recaller.ask('ends of the queue')).results)
    expect(Object.values(parts).reduce((product, x) => product * x, 1)).toBeCloseTo(score, 10)
  act([['record-decision', { name: 'ends of the queue', rationale: 'bursts' }]])
  expect((await names('ends of the queue')).slice(0, 2)).toEqual(['ends of the queue', WORKERS])
})

test('[H3] no more than the first are sent; what is behind them stays behind', async () => {
  const nouns = 'ant bee cat dog elk fox gnu hen ibis jay koi lynx mole newt owl'.split(' ')
  const both = nouns.flatMap((n, i) => [
    `${n} ${i * 31} feeds a queue of workers`,
    `${i * 17} workers: ${n}, in a queue!`,
  ])
  const { recaller } = knowing([...both, ...nouns.map((n, i) => `the ${n} has ${i * 13} workers!!`)])
  const { results } = await recaller.ask('workers of a queue', { limit: 45 })
  const sent = textsOf(asked[0]!)
  expect(sent).toHaveLength(RERANKED)
  expect(results.length).toBeGreaterThan(RERANKED)
  expect(
    results
      .slice(0, RERANKED)
      .map((r) => r.text)
      .sort(),
  ).toEqual(sent.sort())
})

test('[H3] a reranker that fails is told, the order is recall’s own, and it is asked again after a minute', async () => {
  const { recaller, names, clock } = knowing([TWO, JOBS, WORKERS])
  const reranked = await names('ends of the queue')
  answer = (_, response) => void response.writeHead(500).end('out of memory')
  clock.now += 1_000
  const { results, notes } = await recaller.ask('ends of the queue')
  expect(results[0]!.name).toBe(TWO)
  expect(notes.join()).toMatch(/^not reranked: the reranker http.+answered 500: out of memory/)
  const tried = asked.length
  expect((await recaller.ask('ends of the queue')).notes.join()).toContain('not reranked')
  expect(asked).toHaveLength(tried)
  answer = (a, response) => void response.end(JSON.stringify(scores(a)))
  clock.now += 61_000
  expect(await names('ends of the queue')).toEqual(reranked)
})
