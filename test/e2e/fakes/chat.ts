import type { ServerResponse } from 'node:http'
import { type Model, type Protocol, type Request, type Step, scripted } from './script.ts'

const USED = 1_000

const protocol: Protocol = {
  isTurn: (request) =>
    request.path.endsWith('/chat/completions') && Array.isArray(request.body.tools) && request.body.tools.length > 0,
  aside: () => 'A title',
  answer(response: ServerResponse, step: Step, number: number, request: Request) {
    if (!request.path.endsWith('/chat/completions')) {
      response.writeHead(404, { 'content-type': 'application/json' })
      response.end('{}')
      return
    }
    const used = step.used ?? USED
    const usage = { prompt_tokens: used, completion_tokens: 20, total_tokens: used + 20 }
    const about = { id: `chat_${number}`, created: 0, model: String(request.body.model) }
    const calls = 'call' in step
    const tool = calls
      ? { id: `call_${number}`, type: 'function', function: { name: step.call, arguments: JSON.stringify(step.input) } }
      : undefined
    const reason = calls ? 'tool_calls' : 'stop'
    const said = tool
      ? { content: null, tool_calls: [{ index: 0, ...tool }] }
      : { content: (step as { say: string }).say }
    const message = { role: 'assistant', ...said }
    if (request.body.stream !== true) {
      response.writeHead(200, { 'content-type': 'application/json' })
      const choices = [{ index: 0, message, finish_reason: reason }]
      response.end(JSON.stringify({ ...about, object: 'chat.completion', choices, usage }))
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (choice: object, more: object = {}) =>
      response.write(
        `data: ${JSON.stringify({ ...about, object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }], ...more })}\n\n`,
      )
    send({ delta: message, finish_reason: null })
    send({ delta: {}, finish_reason: reason }, { usage })
    response.end('data: [DONE]\n\n')
  },
}

/** A scripted model behind the chat completions that everybody speaks: for opencode and Copilot CLI. */
export const chat = (): Promise<Model> => scripted(protocol)
