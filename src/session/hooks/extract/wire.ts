import { keyOf, NoAnswer, post, withoutKey } from '../../../find/recall/embedders/endpoint.ts'
import { jsonIn } from '../../../model/object.ts'
import { type Allowed, addressOf } from './consent.ts'
import { ExtractionFailed } from './extractor.ts'
import { type Tree, tree } from './turns.ts'

export type Asked = Readonly<{ system: string; text: string; maxTokens: number }>

export type Answered = Readonly<{ text: string; tokens?: number }>

export const ANSWER_MAX = 2 ** 20
const first = (v: unknown): Tree => tree(Array.isArray(v) ? v[0] : undefined)

function counted(usage: unknown, ...names: readonly string[]): number | undefined {
  const found = names.map((n) => tree(usage)[n]).filter((n): n is number => Number.isFinite(n) && Number(n) >= 0)
  return found.length > 0 ? Math.ceil(found.reduce((a, b) => a + b, 0)) : undefined
}

/** What messages of Anthropic cost, as its client says it. */
export const anthropicTokens = (usage: unknown): number | undefined =>
  counted(usage, 'input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens')

/** Asks an endpoint once, without redirects. @throws ExtractionFailed for everything that is no answer. */
export async function ask(
  allowed: Allowed,
  { system, text, maxTokens }: Asked,
  signal: AbortSignal,
): Promise<Answered> {
  const address = addressOf(allowed)
  const key = keyOf(allowed, process.env, (why) => new ExtractionFailed(why, { free: true }))
  const at = `${address.host}${address.pathname}`
  try {
    const body = {
      model: allowed.model,
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: text },
      ],
      // OpenAI's own newer models refuse the name that everybody else knows
      [address.hostname === 'api.openai.com' ? 'max_completion_tokens' : 'max_tokens']: maxTokens,
      stream: false,
    }
    const answered = await post(address, body, { key, most: ANSWER_MAX, signal })
    if (!answered.ok)
      throw new ExtractionFailed(`${at} answered ${answered.status}: ${withoutKey(answered.body, key)}`, {
        free: answered.status < 500,
        ...(answered.wait === undefined ? {} : { wait: answered.wait }),
      })
    const answer = jsonIn(answered.body)
    if (answer === undefined) throw new ExtractionFailed(`${at} answered something that is not JSON`)
    const { choices, usage } = tree(answer)
    const { content } = tree(first(choices).message)
    const tokens = counted(usage, 'total_tokens') ?? counted(usage, 'prompt_tokens', 'completion_tokens')
    return { text: typeof content === 'string' ? content : '', tokens }
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    const { why, message } = error
    if (why === 'endless') throw new ExtractionFailed(message)
    throw new ExtractionFailed(why === 'slow' ? `${at} was too slow` : `${at}: ${message}`, { free: why === 'unsent' })
  }
}
