import { randomBytes } from 'node:crypto'
import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  type InputRequest,
  inputRequired,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Extension } from '../../src/surfaces/mcp/mcp.ts'

/** What the official conformance suite calls by name; mounted beside our own tools, on our own factory and HTTP stack. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA='

const text = (t: string): CallToolResult => ({ content: [{ type: 'text', text: t }] })
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms)) // the fixtures have to take their time
const state = createRequestStateCodec<{ round: number }>({ key: randomBytes(32) })

const form = (message: string, properties: Record<string, unknown>, required = Object.keys(properties)): InputRequest =>
  inputRequired.elicit({ message, requestedSchema: { type: 'object', properties, required } as never })
const sampling = (prompt: string, maxTokens = 100): InputRequest =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text: prompt } }], maxTokens })
const answers = (ctx: ServerContext) => ctx.mcpReq.inputResponses ?? {}
const accepted = (ctx: ServerContext, key: string) => acceptedContent(ctx.mcpReq.inputResponses, key)
const roundOf = (ctx: ServerContext) => ctx.mcpReq.requestState<{ round: number }>()?.round ?? 0

const option = (n: number) => `option${n}`
const titled = (word: string) =>
  ['First', 'Second', 'Third'].map((t, i) => ({ const: `value${i + 1}`, title: `${t} ${word}` }))

export const conformanceFixtures: Extension = {
  options: {
    capabilities: {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      logging: {},
      completions: {},
    },
    requestState: { verify: state.verify },
  },
  mount(server, bus) {
    const tool = (
      name: string,
      run: (ctx: ServerContext, args: Record<string, unknown>) => unknown,
      schema: z.ZodRawShape = {},
    ) =>
      server.registerTool(name, { description: `fixture ${name}`, inputSchema: z.object(schema) }, (args, ctx) =>
        Promise.resolve(run(ctx, args) as CallToolResult),
      )

    tool('test_simple_text', () => text('This is a simple text response for testing.'))
    tool('test_image_content', () => ({ content: [{ type: 'image', data: PIXEL, mimeType: 'image/png' }] }))
    tool('test_audio_content', () => ({ content: [{ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }] }))
    const embedded = { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'An embedded resource.' }
    tool('test_embedded_resource', () => ({ content: [{ type: 'resource', resource: embedded }] }))
    tool('test_multiple_content_types', () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        { type: 'image', data: PIXEL, mimeType: 'image/png' },
        { type: 'resource', resource: { ...embedded, uri: 'test://mixed-content-resource' } },
      ],
    }))
    tool('test_error_handling', () => Promise.reject(new Error('This tool intentionally returns an error for testing')))
    tool('test_tool_with_logging', async (ctx) => {
      for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await ctx.mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } })
        await pause(50)
      }
      return text('logged')
    })
    tool('test_tool_with_progress', async (ctx) => {
      const progressToken = ctx.mcpReq._meta?.progressToken ?? 0
      for (const progress of [0, 50, 100]) {
        await ctx.mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 100, message: `step ${progress}` },
        })
        await pause(50)
      }
      return text(String(progressToken))
    })

    const asking = (
      name: string,
      requests: (args: Record<string, unknown>) => Record<string, InputRequest>,
      schema?: z.ZodRawShape,
    ) =>
      tool(
        name,
        (ctx, args) => {
          const wanted = requests(args)
          const missing = Object.keys(wanted).some((key) => !(key in answers(ctx)))
          return missing ? inputRequired({ inputRequests: wanted }) : text(JSON.stringify(answers(ctx)))
        },
        schema,
      )
    asking('test_sampling', ({ prompt }) => ({ answer: sampling(String(prompt)) }), { prompt: z.string() })
    asking(
      'test_elicitation',
      ({ message }) => ({
        answer: form(String(message), {
          username: { type: 'string', description: "User's response" },
          email: { type: 'string', description: "User's email address" },
        }),
      }),
      { message: z.string() },
    )
    asking('test_elicitation_sep1034_defaults', () => ({
      answer: form(
        'Please review the defaults',
        {
          name: { type: 'string', default: 'John Doe' },
          age: { type: 'integer', default: 30 },
          score: { type: 'number', default: 95.5 },
          status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
          verified: { type: 'boolean', default: true },
        },
        [],
      ),
    }))
    asking('test_elicitation_sep1330_enums', () => ({
      answer: form(
        'Please select',
        {
          untitledSingle: { type: 'string', enum: [1, 2, 3].map(option) },
          titledSingle: { type: 'string', oneOf: titled('Option') },
          legacyEnum: {
            type: 'string',
            enum: ['opt1', 'opt2', 'opt3'],
            enumNames: ['Option One', 'Option Two', 'Option Three'],
          },
          untitledMulti: { type: 'array', items: { type: 'string', enum: [1, 2, 3].map(option) } },
          titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
        },
        [],
      ),
    }))

    const nameForm = () => form('What is your name?', { name: { type: 'string' } })
    tool('test_input_required_result_elicitation', (ctx) => {
      const given = accepted(ctx, 'user_name')
      return given ? text(`Hello, ${given.name}!`) : inputRequired({ inputRequests: { user_name: nameForm() } })
    })
    asking('test_input_required_result_sampling', () => ({
      capital_question: sampling('What is the capital of France?'),
    }))
    asking('test_input_required_result_list_roots', () => ({ client_roots: inputRequired.listRoots() }))
    const confirmed = async (ctx: ServerContext) => {
      if (roundOf(ctx) === 1 && accepted(ctx, 'confirm')) return text('state-ok')
      const confirm = form('Please confirm', { ok: { type: 'boolean' } })
      return inputRequired({ inputRequests: { confirm }, requestState: await state.mint({ round: 1 }, ctx) })
    }
    tool('test_input_required_result_request_state', confirmed)
    tool('test_input_required_result_tampered_state', confirmed)
    tool('test_input_required_result_multiple_inputs', async (ctx) => {
      if (roundOf(ctx) === 1 && ['user_name', 'greeting', 'client_roots'].every((k) => k in answers(ctx)))
        return text('all there')
      return inputRequired({
        inputRequests: {
          user_name: nameForm(),
          greeting: sampling('Generate a greeting', 50),
          client_roots: inputRequired.listRoots(),
        },
        requestState: await state.mint({ round: 1 }, ctx),
      })
    })
    tool('test_input_required_result_multi_round', async (ctx) => {
      const round = roundOf(ctx)
      if (round === 2 && accepted(ctx, 'step2')) return text('done')
      const next = round === 1 && accepted(ctx, 'step1') ? 2 : 1
      const inputRequests: Record<string, InputRequest> =
        next === 1
          ? { step1: form('Step 1: What is your name?', { name: { type: 'string' } }) }
          : { step2: form('Step 2: What is your favorite color?', { color: { type: 'string' } }) }
      return inputRequired({ inputRequests, requestState: await state.mint({ round: next }, ctx) })
    })
    tool('test_input_required_result_capabilities', (ctx) => {
      const envelope: Readonly<Record<string, unknown>> = ctx.mcpReq.envelope ?? {}
      const can = (envelope[CLIENT_CAPABILITIES_META_KEY] ?? {}) as Record<string, unknown>
      const inputRequests = {
        ...(can.elicitation ? { name: nameForm() } : {}),
        ...(can.sampling ? { greeting: sampling('Generate a greeting') } : {}),
      }
      return inputRequired({ inputRequests })
    })
    asking('test_missing_capability', () => ({ question: sampling('Anything?') }))
    asking('test_streaming_elicitation', () => ({ user_name: nameForm() }))
    tool('test_logging_tool', async (ctx) => {
      await ctx.mcpReq.log('info', 'only for those who asked')
      return text('logged')
    })
    tool('test_trigger_tool_change', () => {
      bus?.publish({ kind: 'tools_list_changed' })
      return text('changed')
    })
    tool('test_trigger_prompt_change', () => {
      bus?.publish({ kind: 'prompts_list_changed' })
      return text('changed')
    })

    const resource = (
      name: string,
      uri: string,
      contents: { mimeType: string } & ({ text: string } | { blob: string }),
    ) =>
      server.registerResource(name, uri, { description: name, mimeType: contents.mimeType }, () => ({
        contents: [{ uri, ...contents }],
      }))
    resource('static-text', 'test://static-text', { mimeType: 'text/plain', text: 'Static text for testing.' })
    resource('static-binary', 'test://static-binary', { mimeType: 'image/png', blob: PIXEL })
    // ours refuses to follow what is no address of ours
    server.server.setRequestHandler('resources/subscribe', () => ({}))
    resource('watched', 'test://watched-resource', { mimeType: 'text/plain', text: 'Watched.' })
    const template = new ResourceTemplate('test://template/{id}/data', { list: undefined })
    server.registerResource('template', template, { mimeType: 'application/json' }, (uri, { id }) => {
      const data = { id, templateTest: true, data: `Data for ID: ${id}` }
      return { contents: [{ uri: uri.href, mimeType: 'application/json', text: JSON.stringify(data) }] }
    })

    const user = (content: { type: 'text'; text: string }) => ({ messages: [{ role: 'user' as const, content }] })
    server.registerPrompt('test_simple_prompt', { description: 'simple' }, () =>
      user({ type: 'text', text: 'This is a simple prompt for testing.' }),
    )
    server.registerPrompt(
      'test_prompt_with_arguments',
      { description: 'with arguments', argsSchema: z.object({ arg1: z.string(), arg2: z.string() }) },
      ({ arg1, arg2 }) => user({ type: 'text', text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` }),
    )
    server.registerPrompt(
      'test_prompt_with_embedded_resource',
      { description: 'with a resource', argsSchema: z.object({ resourceUri: z.string() }) },
      ({ resourceUri }) => ({
        messages: [
          { role: 'user', content: { type: 'resource', resource: { ...embedded, uri: resourceUri } } },
          { role: 'user', content: { type: 'text', text: 'Please process the embedded resource above.' } },
        ],
      }),
    )
    server.registerPrompt('test_prompt_with_image', { description: 'with an image' }, () => ({
      messages: [
        { role: 'user', content: { type: 'image', data: PIXEL, mimeType: 'image/png' } },
        { role: 'user', content: { type: 'text', text: 'Please analyze the image above.' } },
      ],
    }))
    server.registerPrompt('test_input_required_result_prompt', { description: 'asks first' }, (ctx) => {
      const given = accepted(ctx, 'user_context')
      if (given) return user({ type: 'text', text: `In the context of ${given.context}.` })
      const question = form('What context should the prompt use?', { context: { type: 'string' } })
      return inputRequired({ inputRequests: { user_context: question } })
    })
    server.server.setRequestHandler('completion/complete', () => ({
      completion: { values: [], total: 0, hasMore: false },
    }))
  },
}
