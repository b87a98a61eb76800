import { keyOf, NoAnswer, post, withoutKey } from '../../../find/recall/embedders/endpoint.ts'
import { jsonIn } from '../../../model/object.ts'
import { type Allowed, addressOf } from './consent.ts'
import { ExtractionFailed } from './extractor.ts'
import { type Tree, tree } from './turns.ts'

export type Asked = Readonly<{ system: string; text: string; maxTokens: number }>

export type Answered = Readonly<{ text: string; tokens?: number }>

export const ANSWER_MAX = 2 ** 20
const first = (v: unknown): Tree => tree(Array.isArray(v) ? v[0] : undefined)

export function counted(usage: unknown, ...names: readonly string[]): number | undefined {
  const found = names.map((n) => tree(usage)[n]).filter((n): n is number => Number.isFinite(n) && Number(n) >= 0)
  return found.length > 0 ? Math.ceil(found.reduce((a, b) => a + b, 0)) : undefined
}

interface Format {
  headers(key: string | undefined): Record<string, string>
  body(model: string, asked: Asked, host: string): object
  read(answer: Tree): { text: unknown; tokens: number | undefined }
}

const FORMATS: Readonly<Record<'openai' | 'anthropic', Format>> = {
  openai: {
    headers: (key): Record<string, string> => (key ? { authorization: `Bearer ${key}` } : {}),
    body: (model, { system, text, maxTokens }, host) => ({
      model,
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: text },
      ],
      // OpenAI's own newer models refuse the name that everybody else knows
      [host === 'api.openai.com' ? 'max_completion_tokens' : 'max_tokens']: maxTokens,
      stream: false,
    }),
    read: ({ choices, usage }) => ({
      text: tree(first(choices).message).content,
      tokens: counted(usage, 'total_tokens') ?? counted(usage, 'prompt_tokens', 'completion_tokens'),
    }),
  },
  anthropic: {
    headers: (key) => ({ 'anthropic-version': '2023-06-01', ...(key ? { 'x-api-key': key } : {}) }),
    body: (model, { system, text, maxTokens }) => ({
      model,
      max_tokens: maxTokens,
      system,
      messages: [{ role: 'user', content: text }],
    }),
    read: ({ content, usage }) => ({
      text: (Array.isArray(content) ? content : [])
        .map(tree)
        .filter((b) => b.type === 'text')
        .map((b) => String(b.text))
        .join(''),
      tokens: anthropicTokens(usage),
    }),
  },
}

export const anthropicTokens = (usage: unknown): number | undefined =>
  counted(usage, 'input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens')

/** Asks an endpoint once, without redirects. @throws ExtractionFailed for everything that is no answer. */
export async function ask(
  allowed: Allowed & { use: 'openai' | 'anthropic' },
  asked: Asked,
  signal: AbortSignal,
): Promise<Answered> {
  const address = addressOf(allowed)
  const key = keyOf(allowed, process.env, (why) => new ExtractionFailed(why, { free: true }))
  const at = `${address.host}${address.pathname}`
  const format = FORMATS[allowed.use]
  try {
    const body = format.body(allowed.model, asked, address.hostname)
    const answered = await post(address, body, { key, most: ANSWER_MAX, signal, headers: format.headers(key) })
    if (!answered.ok)
      throw new ExtractionFailed(`${at} answered ${answered.status}: ${withoutKey(answered.body, key)}`, {
        free: answered.status < 500,
        ...(answered.wait === undefined ? {} : { wait: answered.wait }),
      })
    const answer = jsonIn(answered.body)
    if (answer === undefined) throw new ExtractionFailed(`${at} answered something that is not JSON`)
    const { text, tokens } = format.read(tree(answer))
    return { text: typeof text === 'string' ? text : '', tokens }
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    const { why, message } = error
    if (why === 'endless') throw new ExtractionFailed(message)
    throw new ExtractionFailed(why === 'slow' ? `${at} was too slow` : `${at}: ${message}`, { free: why === 'unsent' })
  }
}
