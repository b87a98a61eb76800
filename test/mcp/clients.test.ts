// @module-tag long
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished } from 'vitest'
import { testUnless } from '../needs.ts'
import { listening, SERVER, tempDir, tempProject } from './harness.ts'

const run = promisify(execFile)

/** Real clients are hundreds of megabytes: these tests run where somebody has installed them, with no model and no network. */
const clients = process.env.TIDEMARK_REAL_CLIENTS ?? ''
const claude = join(clients, 'node_modules/@anthropic-ai/claude-code/bin/claude.exe')
const withClaude = testUnless(
  (clients === '' || !existsSync(claude)) && 'TIDEMARK_REAL_CLIENTS names no directory with Claude Code',
)

/** Nothing of this session's environment, a home of its own. */
function isolated(home: string, more: Record<string, string> = {}): Record<string, string> {
  return {
    HOME: home,
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    TERM: 'xterm',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    ...more,
  }
}

withClaude(
  '(skipped unless TIDEMARK_REAL_CLIENTS names a directory with them) [M1] claude mcp list connects over stdio and over HTTP with the line that serve prints',
  async () => {
    const cwd = tempProject()
    const env = isolated(tempDir())
    const server = await listening({ projectPath: cwd })
    const ask = (...args: string[]) => run(claude, ['mcp', ...args], { cwd, env })
    await ask('add', '--scope', 'user', 'over-stdio', '--', ...SERVER)
    const header = `Authorization: Bearer ${server.token}`
    await ask('add', '--scope', 'user', '--transport', 'http', 'over-http', `${server.url}/mcp`, '--header', header)
    const { stdout } = await ask('list')
    expect(stdout).toMatch(/over-stdio: .* Connected/)
    expect(stdout).toMatch(/over-http: .* Connected/)
  },
)

/** A model that calls one tool and then is content; remembers what it was shown. */
async function scriptedModel(tool: string, input: object): Promise<{ url: string; requests: string[] }> {
  const requests: string[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    requests.push(body)
    const { messages = [], tools = [] } = JSON.parse(body || '{}') as {
      messages?: object[]
      tools?: { name: string }[]
    }
    const calls = tools.some((t) => t.name === tool) && !JSON.stringify(messages).includes('"tool_result"')
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (type: string, data: object) =>
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
    const usage = { input_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 }
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage }
    send('message_start', { message })
    const block = calls ? { type: 'tool_use', id: 'toolu_1', name: tool, input: {} } : { type: 'text', text: '' }
    send('content_block_start', { index: 0, content_block: block })
    const delta = calls
      ? { type: 'input_json_delta', partial_json: JSON.stringify(input) }
      : { type: 'text_delta', text: 'ok' }
    send('content_block_delta', { index: 0, delta })
    send('content_block_stop', { index: 0 })
    send('message_delta', { delta: { stop_reason: calls ? 'tool_use' : 'end_turn', stop_sequence: null }, usage })
    send('message_stop', {})
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

withClaude(
  '(skipped unless TIDEMARK_REAL_CLIENTS names a directory with them) [M1] the model behind Claude Code is shown the text of a tool, not its JSON, and our instructions',
  async () => {
    const cwd = tempProject()
    const expr = '(list "shown" "as" "text")'
    const model = await scriptedModel('mcp__tidemark__discover', { expr })
    const config = join(tempDir(), 'mcp.json')
    writeFileSync(config, JSON.stringify({ mcpServers: { tidemark: { command: SERVER[0], args: SERVER.slice(1) } } }))
    const home = tempDir()
    mkdirSync(join(home, '.claude'))
    const env = isolated(home, { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'dummy-local-key' })
    const args = [
      '-p',
      'go',
      '--mcp-config',
      config,
      '--strict-mcp-config',
      '--allowedTools',
      'mcp__tidemark__discover',
    ]
    const running = run(claude, args, { cwd, env })
    running.child.stdin?.end()
    await running
    const shown = JSON.parse(model.requests.at(-1)!) as { messages: { content: unknown }[] }
    const results = shown.messages
      .flatMap((m) => (Array.isArray(m.content) ? m.content : []))
      .filter((c: { type: string }) => c.type === 'tool_result')
    expect(results).toHaveLength(1)
    const content = JSON.stringify(results[0].content)
    expect(content).toContain('shown')
    expect(content).not.toContain('values') // the key under which the JSON has it
    expect(model.requests.some((r) => r.includes('memory, shared by all agents'))).toBe(true)
  },
)
