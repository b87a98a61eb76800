import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { UserError } from '../../../base/errors.ts'
import { forgetEndpoint, type HttpConfig, type HttpSettings, httpEmbedder } from './http.ts'
import { loadEmbedder } from './index.ts'

const KEY = 'sk-very-secret-0815'

interface Asked {
  readonly path: string
  readonly authorization: string | undefined
  readonly body: { readonly model: string; readonly input: string[]; readonly dimensions?: number }
}

/** A vector that tells its text apart. */
const vectorOf = (text: string, size = 3) =>
  Array.from({ length: size }, (_, i) => 1 + ((text.length * (i + 3) + text.charCodeAt(0)) % 17))

const asked: Asked[] = []
let answer: (asked: Asked, response: ServerResponse, nth: number) => void
let url: string
let models: string
const closing: (() => void)[] = []

const well = ({ body }: Asked, response: ServerResponse) =>
  response.end(
    JSON.stringify({ data: body.input.map((text, index) => ({ index, embedding: vectorOf(text, body.dimensions) })) }),
  )

beforeEach(async () => {
  asked.length = 0
  answer = well
  models = mkdtempSync(join(tmpdir(), 'tidemark-http-'))
  const server = createServer(async (request: IncomingMessage, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const one: Asked = {
      path: request.url!,
      authorization: request.headers.authorization,
      body: JSON.parse(Buffer.concat(parts).toString()),
    }
    asked.push(one)
    answer(one, response, asked.length)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  closing.push(() => {
    server.closeAllConnections()
    server.close()
    rmSync(models, { recursive: true, force: true })
  })
})
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

const waited: number[] = []
const load = (config: Partial<HttpConfig> = {}, settings: HttpSettings = {}) => {
  waited.length = 0
  return httpEmbedder(
    { url, model: 'm', ...config },
    { models, variables: { EMBED_KEY: KEY }, wait: async (ms) => void waited.push(ms), ...settings },
  )
}

/** The UserError of a promise that must fail; it never tells the key. */
async function refusal(promise: Promise<unknown>): Promise<UserError> {
  const error = await promise.then(
    () => undefined,
    (e: unknown) => e,
  )
  expect(error).toBeInstanceOf(UserError)
  const { message, hint, details, stack } = error as UserError
  expect(JSON.stringify([message, hint, details, stack])).not.toContain(KEY)
  return error as UserError
}

test('[V10] asks the endpoint, with the key of the named variable, and gives unit vectors in order', async () => {
  const embedder = await load({ keyFrom: 'EMBED_KEY' })
  expect(embedder.dimensions).toBe(3)
  const texts = Array.from({ length: 150 }, (_, i) => `text ${'x'.repeat(i)}`)
  asked.length = 0
  answer = ({ body }, response) =>
    response.end(
      JSON.stringify({
        data: body.input.map((text, index) => ({ index, embedding: vectorOf(text) })).reverse(),
      }),
    )
  const vectors = await embedder.embed(texts)
  expect(asked.map((a) => a.body.input.length)).toEqual([64, 64, 22])
  expect(asked[0]).toMatchObject({ path: '/v1/embeddings', authorization: `Bearer ${KEY}`, body: { model: 'm' } })
  vectors.forEach((v, i) => {
    const expected = vectorOf(texts[i]!)
    const n = Math.hypot(...expected)
    for (const [k, x] of expected.entries()) expect(v[k]).toBeCloseTo(x / n, 5)
  })
})

test('[V10] without a key none is sent; an address that ends in embeddings stays as it is', async () => {
  await load({ url: `${url}/embeddings` })
  expect(asked[0]).toMatchObject({ path: '/v1/embeddings', authorization: undefined })
})

test('[V10] empty texts are not sent; long ones are cut; halves of pairs do not break the request', async () => {
  const embedder = await load()
  asked.length = 0
  const [empty, long, half] = await embedder.embed([' ', 'y'.repeat(50_000), 'a\ud800'])
  expect([...empty!]).toEqual([0, 0, 0])
  expect(asked[0]!.body.input.map((t) => t.length)).toEqual([8_000, 2])
  expect(long).toHaveLength(3)
  expect(half).toHaveLength(3)
  asked.length = 0
  expect(await embedder.embed([])).toEqual([])
  expect(asked).toEqual([])
})

test('[V11] what is known of an endpoint is asked once, and again after it was forgotten', async () => {
  const first = await load()
  expect(asked.length).toBe(1)
  expect(readdirSync(models)).toHaveLength(1)
  const second = await load()
  expect(asked.length).toBe(1)
  expect(second).toMatchObject({ id: first.id, dimensions: 3, floor: first.floor, ceiling: first.ceiling })
  expect(second.ceiling).toBeGreaterThan(second.floor)
  forgetEndpoint({ url, model: 'm' }, models)
  await load()
  expect(asked.length).toBe(2)
})

test('[V12] a key does not go over the network unencrypted, nor in the address', async () => {
  expect((await refusal(load({ url: 'http://10.0.0.1/v1', keyFrom: 'EMBED_KEY' }))).message).toContain('for anyone')
  expect((await refusal(load({ url: `https://me:${KEY}@host/v1` }))).code).toBe('bad-embedder')
  expect((await refusal(load({ url: 'file:///etc/passwd' }))).code).toBe('bad-embedder')
  expect((await refusal(load({ url: 'nonsense' }))).code).toBe('bad-embedder')
  expect((await refusal(load({ model: '' }))).code).toBe('bad-embedder')
  expect((await refusal(load({ keyFrom: 'NOT_SET' }))).code).toBe('no-key')
})

test('[V13] too many requests: waits as long as the server says, then goes on', async () => {
  const embedder = await load()
  let refusals = 2
  answer = (one, response) => {
    if (refusals-- > 0) response.writeHead(429, { 'retry-after': '3' }).end('slow down')
    else well(one, response)
  }
  expect(await embedder.embed(['again'])).toHaveLength(1)
  expect(waited).toEqual([3000, 3000])
})

test('[V13] a server that stays broken is given up after five tries and bounded waits', async () => {
  const embedder = await load({ keyFrom: 'EMBED_KEY' })
  asked.length = 0
  answer = (_, response) => response.writeHead(503, { 'retry-after': '86400' }).end(`overloaded ${KEY}`)
  const error = await refusal(embedder.embed(['x']))
  expect(error).toMatchObject({ code: 'embedder-failed' })
  expect(error.message).toContain('503')
  expect(asked).toHaveLength(5)
  expect(waited).toEqual([20_000, 20_000, 20_000, 20_000])
})

test('[V13] a server that does not answer in time, or is not there, is told so', async () => {
  const embedder = await load({}, { timeout: 40 })
  answer = () => {}
  expect((await refusal(embedder.embed(['x']))).message).toContain('did not answer within 40 ms')
  for (const close of closing.splice(0)) close()
  expect((await refusal(embedder.embed(['x']))).message).toContain('ECONNREFUSED')
})

test.each([
  [401, 'embedder-refused', 'does not accept the key'],
  [403, 'embedder-refused', 'does not accept the key'],
  [400, 'embedder-failed', '400: no such model'],
  [302, 'embedder-failed', '302'],
])('[V14] %i is told at once', async (status, code, told) => {
  answer = (_, response) => response.writeHead(status, { location: 'http://10.0.0.1/' }).end(`no such model ${KEY}`)
  const error = await refusal(load({ keyFrom: 'EMBED_KEY' }))
  expect(error.code).toBe(code)
  expect(error.message).toContain(told)
  expect(waited).toEqual([])
})

const count = 64
test.each([
  ['garbage', '<html>', 'not JSON'],
  ['null', 'null', 'no list'],
  ['no list', '{"data": 1}', 'no list'],
  ['too few', '{"data": []}', `${count} texts were sent`],
  ['no numbers', JSON.stringify({ data: Array(count).fill({ embedding: 'x' }) }), 'no vector'],
  ['holes', JSON.stringify({ data: Array(count).fill({ embedding: [1, null] }) }), 'no vector'],
  ['empty vectors', JSON.stringify({ data: Array(count).fill({ embedding: [] }) }), 'no vector'],
  ['twice the same', JSON.stringify({ data: Array(count).fill({ index: 0, embedding: [1] }) }), 'not numbered'],
  ['out of range', JSON.stringify({ data: Array(count).fill({ index: 64, embedding: [1] }) }), 'not numbered'],
])('[V14] an answer that is %s is told at once', async (_, body, told) => {
  answer = (_asked, response) => response.end(body)
  const error = await refusal(load())
  expect(error.message).toContain(told)
  expect(waited).toEqual([])
})

test('[V15] dimensions that are not as expected are refused', async () => {
  await load({ dimensions: 5 }) // the server does as asked
  expect(asked[0]!.body.dimensions).toBe(5)
  answer = (one, response) => well({ ...one, body: { ...one.body, dimensions: 7 } }, response)
  expect((await refusal(load({ dimensions: 6 }))).code).toBe('embedder-dimensions')
  const embedder = await load({ dimensions: 5 })
  expect((await refusal(embedder.embed(['changed behind our back']))).message).toContain('7 numbers where 5')
})

test('[V16] closing ends what is under way', async () => {
  const embedder = await load()
  answer = () => embedder.close!()
  expect((await refusal(embedder.embed(['x']))).code).toBe('embedder-failed')
})

test('[V17] the configuration decides which one is loaded', async () => {
  expect(await loadEmbedder({ use: 'none' })).toBeUndefined()
  expect((await loadEmbedder({ use: 'static' }))?.id).toMatch(/^static:/)
  expect((await refusal(loadEmbedder({ use: 'http', url }))).code).toBe('bad-embedder')
  expect((await refusal(loadEmbedder({ use: 'http', model: 'm' }))).code).toBe('bad-embedder')
  expect((await refusal(loadEmbedder({ use: 'word2vec' as never }))).message).toContain('word2vec')
})
