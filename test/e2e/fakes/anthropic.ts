import type { ServerResponse } from 'node:http'
import { type Model, type Protocol, type Request, type Step, scripted } from './script.ts'

const USED = 1_000
const MODEL = 'claude-haiku-4-5'

/** Claude Code asks for a title without any tool, and for the summary of a compaction in so many words. */
const isSummary = ({ body }: Request) =>
  /create a detailed summary of/.test(JSON.stringify((body.messages as unknown[] | undefined)?.at(-1) ?? ''))

const protocol: Protocol = {
  isTurn: (request) => Array.isArray(request.body.tools) && request.body.tools.length > 0 && !isSummary(request),
  aside: (request) => (isSummary(request) ? '<summary>The conversation was about small things.</summary>' : 'ok'),
  answer(response: ServerResponse, step: Step, number: number, request: Request) {
    if (!request.path.startsWith('/v1/messages') || request.path.includes('count_tokens')) {
      response.writeHead(request.path.includes('count_tokens') ? 200 : 404, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ input_tokens: USED }))
      return
    }
    const calls = 'call' in step
    const usage = {
      input_tokens: step.used ?? USED,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 20,
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (type: string, data: object) =>
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
    send('message_start', {
      message: {
        id: `msg_${number}`,
        type: 'message',
        role: 'assistant',
        model: String(request.body.model ?? MODEL),
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage,
      },
    })
    send('content_block_start', {
      index: 0,
      content_block: calls
        ? { type: 'tool_use', id: `toolu_${number}`, name: step.call, input: {} }
        : { type: 'text', text: '' },
    })
    send('content_block_delta', {
      index: 0,
      delta: calls
        ? { type: 'input_json_delta', partial_json: JSON.stringify(step.input) }
        : { type: 'text_delta', text: step.say },
    })
    send('content_block_stop', { index: 0 })
    send('message_delta', { delta: { stop_reason: calls ? 'tool_use' : 'end_turn', stop_sequence: null }, usage })
    send('message_stop', {})
    response.end()
  },
}

/** A scripted model behind the Messages API, for Claude Code. */
export const anthropic = (): Promise<Model> => scripted(protocol)

interface Block {
  readonly type?: string
  readonly text?: string
  readonly is_error?: boolean
  readonly content?: unknown
}

const blocks = (request: Request): Block[] =>
  ((request.body.messages ?? []) as { content: string | Block[] }[]).flatMap((m) =>
    typeof m.content === 'string' ? [{ type: 'text', text: m.content }] : m.content,
  )

/** What the tools gave back, as the model of this request sees it. */
export const results = (request: Request): { error: boolean; text: string }[] =>
  blocks(request)
    .filter((b) => b.type === 'tool_result')
    .map((b) => ({
      error: b.is_error === true,
      text: Array.isArray(b.content) ? b.content.map((c: Block) => c.text ?? '').join('\n') : String(b.content),
    }))
