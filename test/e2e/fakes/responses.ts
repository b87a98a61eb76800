import type { ServerResponse } from 'node:http'
import { type Model, type Protocol, type Request, type Step, scripted } from './script.ts'

const USED = 1_000

const protocol: Protocol = {
  isTurn: (request) =>
    request.path.endsWith('/responses') && Array.isArray(request.body.tools) && request.body.tools.length > 0,
  aside: () => 'ok',
  answer(response: ServerResponse, step: Step, number: number, request: Request) {
    if (!request.path.endsWith('/responses')) {
      response.writeHead(404, { 'content-type': 'application/json' })
      response.end('{}')
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (type: string, data: object) =>
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
    const used = step.used ?? USED
    send('response.created', { response: { id: `resp_${number}` } })
    send('response.output_item.done', { item: item(step, number, request) })
    send('response.completed', {
      response: {
        id: `resp_${number}`,
        usage: {
          input_tokens: used,
          input_tokens_details: null,
          output_tokens: 20,
          output_tokens_details: null,
          total_tokens: used + 20,
        },
      },
    })
    response.end()
  },
}

interface Tool {
  readonly type: string
  readonly name: string
  readonly tools?: readonly Tool[]
}

/** A tool of a server is called with its namespace, `mcp__server.tool` in a script; a freeform one with a text. */
function item(step: Step, number: number, request: Request): object {
  if ('say' in step) return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: step.say }] }
  const [namespace, name] = step.call.includes('.') ? step.call.split('.') : [undefined, step.call]
  const tools = request.body.tools as Tool[]
  const ids = { id: `fc_${number}`, call_id: `call_${number}` }
  if (tools.find((t) => t.name === name)?.type === 'custom')
    return { type: 'custom_tool_call', ...ids, name, input: (step.input as { input: string }).input }
  return {
    type: 'function_call',
    ...ids,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    arguments: JSON.stringify(step.input),
  }
}

/** A scripted model behind the Responses API, for Codex. */
export const responses = (): Promise<Model> => scripted(protocol)

/** What the tools gave back, as the model of this request sees it. */
export const outputs = (request: Request): string[] =>
  ((request.body.input ?? []) as { type?: string; output?: unknown }[])
    .filter((i) => i.type === 'function_call_output' || i.type === 'custom_tool_call_output')
    .map((i) => (typeof i.output === 'string' ? i.output : JSON.stringify(i.output)))

/** Everything that the client put before the model, in words. */
export const words = (request: Request): string =>
  ((request.body.input ?? []) as { content?: { text?: string }[] }[])
    .flatMap((i) => (Array.isArray(i.content) ? i.content : []))
    .map((c) => c.text ?? '')
    .join('\n')
