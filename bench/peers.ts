// Two agents' servers of the same kind write at once, over their own MCP tools: how much is there afterwards?
// TIDEMARK_PEERS names a directory with `npm i --prefix DIR @modelcontextprotocol/server-memory`; without it the peer is left out.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { createProject } from '../src/store/project.ts'

const EACH = 50

interface Peer {
  name: string
  /** Starts one server on the shared store. */
  command(dir: string): { command: string; args: string[]; env: Record<string, string> }
  write(client: Client, name: string): Promise<unknown>
  count(client: Client): Promise<number>
}

const text = (r: unknown) => (r as { content: { text: string }[] }).content[0]!.text

const peers: Peer[] = [
  {
    name: 'tidemark mcp',
    command: (dir) => ({
      command: process.execPath,
      args: [join(import.meta.dirname, '../bin/tidemark.js'), 'mcp', '--project', dir],
      env: {},
    }),
    write: (c, name) =>
      c.callTool({
        name: 'act',
        arguments: { actions: [['record-concept', { name, definition: `definition of ${name}` }]] },
      }),
    count: async (c) =>
      Number(text(await c.callTool({ name: 'discover', arguments: { expr: '(length (get-concepts))' } }))),
  },
]
const reference =
  process.env.TIDEMARK_PEERS &&
  join(process.env.TIDEMARK_PEERS, 'node_modules/@modelcontextprotocol/server-memory/dist/index.js')
if (reference && existsSync(reference)) {
  const { version } = JSON.parse(readFileSync(join(reference, '../../package.json'), 'utf8')) as { version: string }
  peers.push({
    name: `server-memory ${version}`,
    command: (dir) => ({
      command: process.execPath,
      args: [reference],
      env: { MEMORY_FILE_PATH: join(dir, 'memory.jsonl') },
    }),
    write: (c, name) =>
      c.callTool({
        name: 'create_entities',
        arguments: { entities: [{ name, entityType: 'concept', observations: [`definition of ${name}`] }] },
      }),
    count: async (c) =>
      (JSON.parse(text(await c.callTool({ name: 'read_graph', arguments: {} }))) as { entities: unknown[] }).entities
        .length,
  })
}

async function connect(peer: Peer, dir: string): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' })
  const { env, ...how } = peer.command(dir)
  await client.connect(
    new StdioClientTransport({ ...how, env: { PATH: process.env.PATH ?? '', HOME: dir, ...env }, stderr: 'ignore' }),
  )
  return client
}

console.log(`two servers, ${EACH} writes each, one after another in each, both at once\n`)
console.log('server                      acknowledged   there afterwards   lost   refused   ms per write (median)')
for (const peer of peers) {
  const dir = mkdtempSync(join(tmpdir(), 'tidemark-peers-'))
  createProject(dir)
  const clients = [await connect(peer, dir), await connect(peer, dir)]
  const times: number[] = []
  let acknowledged = 0
  let refused = 0
  await Promise.all(
    clients.map(async (client, w) => {
      for (let i = 0; i < EACH; i++) {
        const start = performance.now()
        try {
          const answer = (await peer.write(client, `c${w}-${i}`)) as { isError?: boolean }
          if (answer.isError) refused++
          else acknowledged++
        } catch {
          refused++
        }
        times.push(performance.now() - start)
      }
    }),
  )
  let there = Number.NaN
  try {
    there = await peer.count(clients[0]!)
  } catch {} // its file cannot be read any more: the table says NaN
  const median = times.sort((a, b) => a - b)[times.length >> 1]!
  console.log(
    `${peer.name.padEnd(26)}  ${String(acknowledged).padStart(12)}   ${String(there).padStart(16)}   ${String(acknowledged - there).padStart(4)}   ${String(refused).padStart(7)}   ${median.toFixed(2).padStart(8)}`,
  )
  for (const client of clients) await client.close()
  rmSync(dir, { recursive: true, force: true })
}
