/**
 * An agent framework: one process that is a client of several servers. What it is asked comes as lines of JSON, one for
 * each call, and so do the answers: `{agent, tool, args}`, or `{agent, close}`.
 */
import { createInterface } from 'node:readline'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

const entry = new URL('../../bin/tidemark.js', import.meta.url).pathname
const name = process.argv[2] ?? 'orchestrator'
const agents = new Map<string, { client: Client; transport: StdioClientTransport }>()
const env = process.env as Record<string, string>

async function agentOf(agent: string) {
  const there = agents.get(agent)
  if (there) return there
  const mode = agents.size % 2 === 0 ? 'legacy' : ({ pin: '2026-07-28' } as const)
  const client = new Client({ name, version: '1' }, { versionNegotiation: { mode } })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [entry, 'mcp'],
    env,
    stderr: 'inherit',
  })
  agents.set(agent, { client, transport })
  await client.connect(transport)
  return { client, transport }
}

interface Asked {
  agent: string
  tool: string
  args: Record<string, unknown>
  how?: 'closed' | 'killed'
}

async function done({ agent, tool, args, how }: Asked): Promise<object> {
  const { client, transport } = await agentOf(agent)
  if (how === 'closed') {
    await client.close()
    return {}
  }
  if (how === 'killed') {
    process.kill(transport.pid!, 'SIGKILL')
    return {}
  }
  const { content, isError } = await client.callTool({ name: tool, arguments: args })
  return { text: (content as { text: string }[])[0]?.text, isError: isError === true }
}

for await (const line of createInterface({ input: process.stdin }))
  console.log(JSON.stringify(await done(JSON.parse(line) as Asked)))
process.exit(0)
