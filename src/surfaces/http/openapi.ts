import { schemaOf } from '../mcp/call.ts'
import type { Tool } from '../tools/tool.ts'
import { VERSION } from '../version.ts'

const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const text = { type: 'string' }

/** What the stream of events is asked with. Anything else would be taken for a filter, and filter nothing. */
export const EVENT_QUERY = {
  since: 'only what came after this cursor: the id of the last event',
  session: 'without what this session did itself',
  project: 'another project that is served, by its id, name or path',
  projectId: 'the same as project',
} as const

/** The HTTP API in OpenAPI 3.1, made of the declarations by which tools check their arguments. */
export function openApi(tools: readonly Tool[]): object {
  const failed = { description: 'Refused: what is wrong, and what to do', ...json(ref('Refusal')) }
  const toolPath = (tool: Tool) => ({
    post: {
      operationId: tool.name,
      tags: [tool.readOnly ? 'read' : 'write'],
      summary: tool.title,
      description: `${tool.about}\n\nOn the command line: \`${tool.example}\``,
      requestBody: { required: true, ...json(schemaOf(tool)) },
      responses: { 200: { description: 'What the tool says', ...json(ref('Answer')) }, default: failed },
    },
  })
  const query = Object.entries(EVENT_QUERY).map(([name, description]) => ({
    ...{ name, in: 'query', description, schema: text },
  }))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tidemark',
      version: VERSION,
      description:
        'The memory and coordination layer of AI coding agents. `tidemark serve` prints the address and the token.',
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    paths: {
      ...Object.fromEntries(tools.map((tool) => [`/api/tools/${tool.name}`, toolPath(tool)])),
      '/api/tools': {
        get: {
          operationId: 'listTools',
          summary: 'Every tool with its parameters',
          responses: { 200: { description: 'The tools', ...json({ type: 'object' }) }, default: failed },
        },
      },
      '/api/events': {
        get: {
          operationId: 'followEvents',
          summary: 'What happens, as server-sent events',
          parameters: query,
          responses: {
            200: {
              description: 'Events `batch` and `presence`; the id of each is the cursor after it',
              content: { 'text/event-stream': { schema: text } },
            },
            default: failed,
          },
        },
      },
      '/healthz': {
        get: {
          operationId: 'isAlive',
          summary: 'Whether the server answers; needs no token',
          security: [],
          responses: { 200: { description: 'It does', ...json({ type: 'object' }) } },
        },
      },
    },
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: {
        Answer: {
          type: 'object',
          required: ['text', 'json'],
          properties: {
            text: { ...text, description: 'what a person reads' },
            json: { description: 'the same for a program' },
          },
        },
        Refusal: {
          type: 'object',
          required: ['error'],
          properties: {
            error: {
              type: 'object',
              required: ['code', 'message', 'hint'],
              properties: { code: text, message: text, hint: text, details: {} },
            },
          },
        },
      },
    },
  }
}
