import type { McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { processRef } from '../../base/env.ts'
import { clientProcess } from '../../work/coordination/client-process.ts'
import { Connection } from '../../work/coordination/connection.ts'
import { keepHeapSmall } from '../heap.ts'
import type { ToolContext } from '../tools/tool.ts'
import { mcpTools } from './call.ts'
import { buildMcpServer, type McpCall } from './mcp.ts'
import { Projects } from './projects.ts'
import { onlyFollowable, onResourceChange } from './resources.ts'

/**
 * Serves MCP to the client that started this process, and ends the process when it goes. The project is around a directory:
 * the given one, what the client says, else the working directory. A project that does not exist
 * yet is no reason to fail: the tools answer with what to do.
 */
export function runStdio(project?: string): Promise<never> {
  keepHeapSmall()
  const projects = new Projects({
    roots: [project ?? process.env.CLAUDE_PROJECT_DIR ?? process.cwd()],
    anyPath: true,
  })
  const client = clientProcess()
  const connection = new Connection()
  const resolve = async (call: McpCall): Promise<ToolContext> => {
    const { agent, progress, ask } = call
    const opened = await projects.open(call.project)
    const origin = { named: call.session, call: call.call, speaks: agent ?? '' }
    const said = { client: agent, process: client, root: opened.project.root }
    const own = { process: processRef(process.pid) } // not the client's: that may have other connections
    const session = connection.acting(opened.memory, origin, said, { own, begins: call.acts ?? false })
    return { ...opened, by: 'agent', session, agent, progress, ask }
  }

  const end = (): never => {
    connection.end()
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
      onResourceChange(memory, (uri) => {
        for (const s of servers) if (s.isConnected()) s.server.sendResourceUpdated({ uri }).catch(() => {}) // it has gone
      })
    } catch {
      following = false // no project yet: nothing to follow
    }
  }
  const transport = new StdioServerTransport()
  serveStdio(
    async ({ era }) => {
      const server = buildMcpServer({ era, asks: true, tools: await mcpTools(), resolve })
      if (era === 'modern') servers.add(server)
      return server
    },
    { transport, onerror: (error) => process.stderr.write(`tidemark mcp: ${error.message}\n`) },
  )
  projects.greet()
  const { onmessage, onclose } = transport // as the SDK has just set them
  transport.onmessage = (message) => {
    onlyFollowable(message)
    if ('method' in message && message.method === 'subscriptions/listen') {
      const filter = message.params?.notifications as { resourceSubscriptions?: unknown[] } | undefined
      if (filter?.resourceSubscriptions?.length) void follow()
    }
    onmessage?.(message)
  }
  transport.onclose = () => {
    onclose?.()
    end()
  }
  return new Promise<never>(() => {}) // `end` is the only way out
}
