import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { attempt, UserError } from '../../../base/errors.ts'
import { replaceFile } from '../../../base/files.ts'
import { jsonIn } from '../../../model/object.ts'
import { calibrate, SAME, UNRELATED } from './calibration.ts'
import type { Embedder } from './embedder.ts'
import { addressOf, keyOf, NoAnswer, post as postJson, type Variables, withoutKey } from './endpoint.ts'
import { modelsDirectory } from './models.ts'
import { toUnit } from './unit-vector.ts'

export interface HttpConfig {
  /** The endpoint, or the address that `/embeddings` follows: `http://localhost:11434/v1`. */
  readonly url: string
  readonly model: string
  /** The name of the environment variable that holds the key. */
  readonly keyFrom?: string
  /** Asked of the endpoint, for models that can shorten their vectors. */
  readonly dimensions?: number
}

/** What tests change: everything else is as users have it. */
export interface HttpSettings {
  readonly variables?: Variables
  /** Where it is kept what was found out about an endpoint. */
  readonly models?: string
  readonly timeout?: number
  readonly wait?: (ms: number) => Promise<void>
}

const TIMEOUT = 30_000
const TEXTS_PER_REQUEST = 64
/** About 2,000 tokens: the least that the common models take. What is longer would be refused whole. */
const LONGEST_TEXT = 8_000
const TRIES = 5
/** No wait is longer, whatever the server asks for: a caller stands behind it. */
const LONGEST_WAIT = 20_000
/** Far more than 64 vectors of the largest models need. */
const LONGEST_ANSWER = 64 * 2 ** 20

/** The vectors of an answer in the order of what was sent; says what is wrong with any other answer. */
function vectorsOf(body: string, count: number): Float32Array[] {
  const answer = jsonIn(body) as { data?: unknown } | null | undefined
  if (answer === undefined) throw new Error('the answer is not JSON')
  const data = answer?.data
  if (!Array.isArray(data)) throw new Error('the answer has no list of vectors')
  if (data.length !== count) throw new Error(`${count} texts were sent and ${data.length} vectors came back`)
  const vectors: (Float32Array | undefined)[] = new Array(count).fill(undefined)
  data.forEach((item: { index?: unknown; embedding?: unknown } | null, i) => {
    const index = item?.index ?? i
    const numbers = item?.embedding
    if (typeof index !== 'number' || !(index in vectors) || vectors[index])
      throw new Error('the vectors of the answer are not numbered as the texts were')
    if (!Array.isArray(numbers) || numbers.length === 0 || !numbers.every(Number.isFinite))
      throw new Error('the answer holds something that is no vector')
    vectors[index] = toUnit(Float32Array.from(numbers))
  })
  return vectors as Float32Array[]
}

const endpointOf = (config: HttpConfig): URL => addressOf(config, '/embeddings', 'bad-embedder')

type Known = Pick<Embedder, 'dimensions' | 'floor' | 'ceiling'>

/** Keeps what is known of an endpoint, as it was named. */
function fileOf(config: HttpConfig, models: string): string {
  const named = JSON.stringify([endpointOf(config).href, config.model, config.dimensions, config.keyFrom])
  return join(models, `http-${createHash('sha256').update(named).digest('hex').slice(0, 16)}.json`)
}

/** Forgets what is known of an endpoint: it is asked anew. */
export const forgetEndpoint = (config: HttpConfig, models = modelsDirectory()): void =>
  rmSync(fileOf(config, models), { force: true })

function readKnown(file: string): Known | undefined {
  // not asked yet, or cut off while it was written: it is asked again
  const known = attempt(() => JSON.parse(readFileSync(file, 'utf8')))
  return [known?.dimensions, known?.floor, known?.ceiling].every(Number.isFinite) ? known : undefined
}

/** Any endpoint with OpenAI's embeddings API. The first call sends sentences to calibrate. */
export async function httpEmbedder(config: HttpConfig, settings: HttpSettings = {}): Promise<Embedder> {
  const { variables = process.env, models = modelsDirectory(variables), timeout = TIMEOUT, wait = sleep } = settings
  if (!config.model)
    throw new UserError('bad-embedder', 'the embedder needs the name of a model', 'as the endpoint calls it')
  const endpoint = endpointOf(config)
  const name = `${endpoint.host}${endpoint.pathname}:${config.model}${config.dimensions ? `:${config.dimensions}` : ''}`
  const file = fileOf(config, models)
  const known = readKnown(file)
  const key = keyOf(config, variables, (why) => new UserError('no-key', why, `set it: export ${config.keyFrom}=…`))
  /** How messages call it: without its query, which may hold a key. */
  const at = `the embeddings endpoint ${endpoint.origin}${endpoint.pathname}`
  const closing = new AbortController()

  const failed = (what: string, hint: string) => new UserError('embedder-failed', `${at}${what}`, hint)
  const refused = (status: number, body: string): UserError => {
    const { keyFrom, model } = config
    if (status !== 401 && status !== 403)
      return failed(` answered ${status}: ${withoutKey(body, key)}`, `check the url and model ${model}`)
    const hint = keyFrom ? `check the environment variable ${keyFrom}` : 'name the variable of the key in keyFrom'
    return new UserError('embedder-refused', `${at} does not accept the key (${status})`, hint)
  }

  async function post(texts: readonly string[], attempt = 0): Promise<Float32Array[]> {
    let asked: number | undefined
    let why: string
    try {
      const { model, dimensions } = config
      const body = { model, input: texts, encoding_format: 'float', dimensions }
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(timeout)])
      const answer = await postJson(endpoint, body, { key, most: LONGEST_ANSWER, signal })
      if (answer.ok) return vectorsOf(answer.body, texts.length)
      if (answer.status !== 429 && answer.status < 500) throw refused(answer.status, answer.body)
      why = `answered ${answer.status}: ${withoutKey(answer.body, key)}`
      asked = answer.wait
    } catch (error) {
      if (error instanceof UserError) throw error
      if (!(error instanceof NoAnswer) || error.why === 'endless')
        throw failed(`: ${withoutKey((error as Error).message, key)}`, 'is it an endpoint for embeddings?')
      why = error.why === 'slow' ? `did not answer within ${timeout} ms` : error.message
    }
    if (attempt + 1 >= TRIES || closing.signal.aborted)
      throw failed(` ${why}`, 'see that it runs, or use the built-in embedder')
    await wait(Math.min(LONGEST_WAIT, asked ?? 500 * 2 ** attempt))
    return post(texts, attempt + 1)
  }

  async function probe(): Promise<Known> {
    const vectors = await inBatches([...UNRELATED, ...SAME.flat()], post)
    const apart = vectors.slice(0, UNRELATED.length)
    const pairs = SAME.map((_, i) => {
      const first = UNRELATED.length + 2 * i
      return [vectors[first]!, vectors[first + 1]!] as const
    })
    const found = { dimensions: vectors[0]!.length, ...calibrate(apart, pairs) }
    mkdirSync(models, { recursive: true })
    replaceFile(file, JSON.stringify(found))
    return found
  }

  const { dimensions, floor, ceiling } = known ?? (await probe())
  if (config.dimensions !== undefined && dimensions !== config.dimensions)
    throw new UserError(
      'embedder-dimensions',
      `${config.model} gives vectors of ${dimensions} numbers and not of ${config.dimensions}`,
      `leave dimensions out, or set it to ${dimensions}`,
    )

  return {
    id: `http:${name}:${dimensions}`,
    dimensions,
    floor,
    ceiling,
    async embed(texts) {
      const vectors: Float32Array[] = texts.map(() => new Float32Array(dimensions))
      const filled = [...texts.keys()].filter((i) => texts[i]!.trim() !== '')
      const asked = filled.map((i) => texts[i]!.slice(0, LONGEST_TEXT).toWellFormed())
      const found = await inBatches(asked, post)
      filled.forEach((i, k) => {
        if (found[k]!.length !== dimensions)
          throw new UserError(
            'embedder-dimensions',
            `${at} gave a vector of ${found[k]!.length} numbers where ${dimensions} were expected`,
            `the model behind ${config.model} has changed: remove ${file}`,
          )
        vectors[i] = found[k]!
      })
      return vectors
    },
    close: () => closing.abort(),
  }
}

async function inBatches<T>(texts: readonly string[], send: (batch: readonly string[]) => Promise<T[]>): Promise<T[]> {
  const all: T[] = []
  for (let from = 0; from < texts.length; from += TEXTS_PER_REQUEST)
    all.push(...(await send(texts.slice(from, from + TEXTS_PER_REQUEST))))
  return all
}
