import type { ServerResponse } from 'node:http'
import { type Model, type Protocol, type Request, type Step, scripted } from './script.ts'

const USED = 1_000

const protocol: Protocol = {
  isTurn: (request) =>
    request.path.includes(':streamGenerateContent') && JSON.stringify(request.body.tools ?? []).includes('mcp_'),
  aside: () => 'ok',
  answer(response: ServerResponse, step: Step, _number: number, request: Request) {
    const streams = request.path.includes(':stream')
    response.writeHead(200, { 'content-type': streams ? 'text/event-stream' : 'application/json' })
    if (request.path.includes(':countTokens')) {
      response.end(JSON.stringify({ totalTokens: USED }))
      return
    }
    const part = 'call' in step ? { functionCall: { name: step.call, args: step.input } } : { text: step.say }
    const used = step.used ?? USED
    const answer = {
      candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: used, candidatesTokenCount: 20, totalTokenCount: used + 20 },
    }
    response.end(streams ? `data: ${JSON.stringify(answer)}\r\n\r\n` : JSON.stringify(answer))
  },
}

/** A scripted model behind the Gemini API. */
export const geminiApi = (): Promise<Model> => scripted(protocol)
