import type { JSONRPCMessage, McpServer, Transport } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Env } from '../env.ts'
import type { ToolContext } from '../tools/tool.ts'
import { buildMcpServer, type McpCall, onEntityChange } from './mcp.ts'
import { mcpTools } from './mcp-call.ts'
import { Projects } from './mcp-projects.ts'

export interface StdioOptions {
  /** A directory in the project; what the client says it is, else the working directory, unless given. */
  project?: string
  persistencePath?: string
  env?: Env
}

/**
 * Serves MCP to the client that started this process, and ends the process when it goes. A project that does not exist
 * yet is no reason to fail: the tools answer with what to do.
 */
export function runStdio(options: StdioOptions = {}): Promise<never> {
  const projects = new Projects({
    roots: [options.project ?? process.env.CLAUDE_PROJECT_DIR ?? process.cwd()],
    anyPath: true,
    ...(options.persistencePath ? { persistencePath: options.persistencePath } : {}),
    ...(options.env ? { env: options.env } : {}),
  })
  const resolve = async (call: McpCall): Promise<ToolContext> => {
    const { session, agent, progress } = call
    const said = { ...(session ? { session } : {}), ...(agent ? { agent } : {}), ...(progress ? { progress } : {}) }
    return { ...(await projects.open(call.project)), ...said }
  }
  const session = () => process.env.TIDEMARK_SESSION || process.env.CLAUDE_CODE_SESSION_ID || undefined

  const end = (): never => {
    projects.close()
    process.exit(0) // a tool that still waits for something must not hold the process
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end)

  const servers = new Set<McpServer>()
  let following = false
  /** In the modern era the SDK answers `subscriptions/listen`; what changed is ours to say. */
  const follow = async () => {
    if (following) return
    following = true
    try {
      const { memory } = await resolve({})
      onEntityChange(memory, (uri) => {
        for (const s of servers) if (s.isConnected()) s.server.sendResourceUpdated({ uri }).catch(() => {}) // it has gone
      })
    } catch {
      following = false // no project yet: nothing to follow
    }
  }
  const transport = tap(new StdioServerTransport(), {
    onMessage: (message) => {
      if (!('method' in message) || message.method !== 'subscriptions/listen') return
      const filter = message.params?.notifications as { resourceSubscriptions?: unknown[] } | undefined
      if (filter?.resourceSubscriptions?.length) void follow()
    },
    onClose: end,
  })
  serveStdio(
    async ({ era }) => {
      const server = buildMcpServer({ era, tools: await mcpTools(), resolve, session })
      if (era === 'modern') servers.add(server)
      return server
    },
    { transport, onerror: (error) => process.stderr.write(`tidemark mcp: ${error.message}\n`) },
  )
  return new Promise<never>(() => {}) // `end` is the only way out
}

/** A transport that tells what comes in, and when it is over. */
function tap(inner: Transport, tell: { onMessage(message: JSONRPCMessage): void; onClose(): void }): Transport {
  const outer: Transport = {
    start: () => inner.start(),
    send: (message, options) => inner.send(message, options),
    close: () => inner.close(),
  }
  inner.onmessage = (message, extra) => {
    tell.onMessage(message)
    outer.onmessage?.(message, extra)
  }
  inner.onerror = (error) => outer.onerror?.(error)
  inner.onclose = () => {
    outer.onclose?.()
    tell.onClose()
  }
  return outer
}
