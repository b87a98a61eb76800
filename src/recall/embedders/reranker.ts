import { UserError } from '../../errors.ts'
import { redact } from '../../secrets/find.ts'
import type { RecallConfig } from '../config.ts'
import { endpointOf, type HttpSettings, keyOf, readBody } from './http.ts'

/** How many of the first results are read. */
export const RERANKED = 30
/** Most models read 512 pieces, question included. */
const LONGEST_TEXT = 4_000
const TIMEOUT = 2_000

/** Reads a question and texts together, and says how well each answers. */
export interface Reranker {
  /** One number for each text, in order, or for as many of the first as time allows: the higher, the better. */
  rerank(question: string, texts: readonly string[]): Promise<number[]>
  /** Whether its scores say no more than half: they are added to recall's own relevance. */
  readonly isHalf?: boolean
  /** Frees what the model holds. */
  close?(): void
}

/** The numbers of an answer in the order of what was sent; says what is wrong with any other answer. */
function scoresOf(body: string, count: number): number[] {
  let answer: unknown
  try {
    answer = JSON.parse(body)
  } catch {
    throw new Error('the answer is not JSON')
  }
  // a list (Text Embeddings Inference), in `results` (Cohere, Jina), or in `data` (Voyage)
  const { results, data } = (answer ?? {}) as { results?: unknown; data?: unknown }
  const list = [answer, results, data].find(Array.isArray)
  if (!list) throw new Error('the answer has no list of scores')
  const scores = new Map<unknown, number>()
  for (const item of list as ({ index?: unknown; relevance_score?: unknown; score?: unknown } | null)[]) {
    const score = item?.relevance_score ?? item?.score
    if (typeof score !== 'number' || !Number.isFinite(score))
      throw new Error('the answer holds something that is no score')
    scores.set(item?.index, score)
  }
  const inOrder = Array.from({ length: count }, (_, i) => scores.get(i))
  if (scores.size !== count || inOrder.includes(undefined))
    throw new Error(`the scores of the answer are not numbered as the ${count} texts were`)
  return inOrder as number[]
}

/**
 * An endpoint for reranking: with a model as Cohere, Jina, Voyage and vLLM take it, without one as Text Embeddings Inference does.
 * It is asked once, since a question waits for it. Who calls has seen to it that its user allows it.
 */
export function httpReranker(
  config: RecallConfig['reranker'],
  { variables = process.env, timeout = TIMEOUT }: Pick<HttpSettings, 'variables' | 'timeout'> = {},
): Reranker {
  const { model } = config
  const endpoint = endpointOf({ ...config, url: config.url ?? '' }, 'reranker')
  const key = keyOf(config, variables, 'reranker')
  /** How messages call it: without its query, which may hold a key. */
  const at = `the reranker ${endpoint.origin}${endpoint.pathname}`
  /** What a server says may hold what was sent to it; the key goes no further. */
  const clean = (text: string) => (key ? text.replaceAll(key, '…') : text).replace(/\s+/g, ' ').slice(0, 200)
  const failed = (why: string) =>
    new UserError('reranker-failed', `${at} ${why}`, 'see that it runs, or set recall.reranker.use to none')
  const sent = (text: string) => redact(text.slice(0, LONGEST_TEXT).toWellFormed())

  return {
    async rerank(question, texts) {
      if (texts.length === 0) return []
      const query = sent(question)
      const documents = texts.map(sent)
      let response: Response
      let body: string
      try {
        response = await fetch(endpoint, {
          method: 'POST',
          redirect: 'manual',
          headers: { 'content-type': 'application/json', ...(key ? { authorization: `Bearer ${key}` } : {}) },
          body: JSON.stringify(model ? { model, query, documents } : { query, texts: documents, truncate: true }),
          signal: AbortSignal.timeout(timeout),
        })
        body = await readBody(response)
      } catch (error) {
        const { name, message, cause } = error as Error & { cause?: Error }
        throw failed(name === 'TimeoutError' ? `did not answer within ${timeout} ms` : clean(cause?.message || message))
      }
      if (!response.ok) throw failed(`answered ${response.status}: ${clean(body)}`)
      try {
        return scoresOf(body, texts.length)
      } catch (error) {
        throw failed(`is no endpoint for reranking: ${(error as Error).message}`)
      }
    },
  }
}
