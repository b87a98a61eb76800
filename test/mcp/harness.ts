import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { Client, type ElicitResult, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { onTestFinished } from 'vitest'
import { createProject } from '../../src/engine/store/project.ts'
import { openAt } from '../../src/project/open.ts'
import { createApp } from '../../src/surfaces/http/app.ts'
import type { ServerOptions, TidemarkServer } from '../../src/surfaces/http/http.ts'
import type { Extension } from '../../src/surfaces/mcp/mcp.ts'
import { BIN } from '../cli/run.ts'

/** What a client starts. */
export const SERVER = [process.execPath, BIN, 'mcp'] as const

/** An empty directory that goes with the test. */
export function tempDir(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'tidemark-mcp-')))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }))
  return dir
}

/** A directory that is a project. */
export function tempProject(name?: string): string {
  const dir = tempDir()
  createProject(dir, name ? { name } : {})
  return dir
}

/** What the person does in a project, beside all agents. */
export function byPerson(dir: string, ...actions: readonly unknown[]): void {
  const { memory } = openAt({ projectPath: dir, unlisted: true })
  try {
    memory.act(actions)
  } finally {
    memory.close()
  }
}

/** A real server on a free port of the loopback interface. */
export async function listening(options: ServerOptions, extend?: Extension): Promise<TidemarkServer & { url: string }> {
  const server = createApp(options, extend)
  const http = await new Promise<ReturnType<typeof serve>>((resolve) => {
    const starting = serve({ fetch: server.app.fetch, hostname: '127.0.0.1', port: 0 }, () => resolve(starting))
  })
  onTestFinished(async () => {
    await server.close()
    if ('closeAllConnections' in http) http.closeAllConnections()
    await new Promise((resolve) => http.close(resolve))
  })
  return { ...server, url: `http://127.0.0.1:${(http.address() as { port: number }).port}` }
}

/** What the environment of a test must not carry over to servers it starts. */
export function cleanEnv(extra: Record<string, string> = {}): Record<string, string> {
  const { PATH = '', HOME = '', TIDEMARK_STATE = '' } = process.env // the same user of the same machine
  return { PATH, HOME, TIDEMARK_STATE, ...extra }
}

export type Era = 'legacy' | 'modern'
export const ERAS: readonly Era[] = ['legacy', 'modern']

export interface ClientSetup {
  era?: Era
  name?: string
  env?: Record<string, string>
  /** What is started, if not `tidemark mcp`. */
  command?: readonly [string, ...string[]]
  /** What the person answers when the client asks. */
  answers?: (question: string) => ElicitResult
}

function newClient({ era = 'modern', name = 'test-client', answers }: ClientSetup): Client {
  const mode = era === 'modern' ? ({ pin: '2026-07-28' } as const) : ('legacy' as const)
  const client = new Client(
    { name, version: '1' },
    { versionNegotiation: { mode }, ...(answers ? { capabilities: { elicitation: {} } } : {}) },
  )
  if (answers) client.setRequestHandler('elicitation/create', ({ params }) => answers(params.message))
  return client
}

async function connected(client: Client, transport: Transport): Promise<Client> {
  onTestFinished(() => client.close())
  await client.connect(transport)
  return client
}

/** A client whose server is a process of its own, started in a directory. */
export function stdioClient(cwd: string, setup: ClientSetup = {}): Promise<Client> {
  const [command, ...args] = setup.command ?? SERVER
  const started = { command, args, cwd, env: cleanEnv(setup.env), stderr: 'inherit' as const }
  return connected(newClient(setup), new StdioClientTransport(started))
}

/** A client of a server that listens. */
export function httpClient(url: string, token: string | undefined, setup: ClientSetup = {}): Promise<Client> {
  const headers: Record<string, string> = token ? { Authorization: `Bearer ${token}` } : {}
  return connected(newClient(setup), new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
}

export interface Answer {
  text: string
  isError: boolean
  structured: unknown
}

export async function call(client: Client, name: string, args: Record<string, unknown>): Promise<Answer> {
  const result = await client.callTool({ name, arguments: args })
  const [first] = result.content as { type: string; text: string }[]
  return { text: first?.text ?? '', isError: result.isError === true, structured: result.structuredContent }
}

export const decide = (name: string, more: Record<string, unknown> = {}) => ({
  actions: [['record-decision', { name, rationale: 'because', ...more }]],
})

/** The next time something happens, as a promise; made before what makes it happen. */
export function next<T>(): { promise: Promise<T>; got(value: T): void } {
  const { promise, resolve } = Promise.withResolvers<T>()
  return { promise, got: resolve }
}
