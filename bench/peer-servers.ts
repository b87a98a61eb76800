// Memory servers that install from npm, each over its own MCP tools as an agent calls them. TIDEMARK_PEERS names a directory:
//
//   npm i --prefix DIR --ignore-scripts @modelcontextprotocol/server-memory mcp-memory-libsql @ai-devkit/memory
//
// @ai-devkit/memory needs better-sqlite3 built for the Node that runs it: `node-gyp rebuild --release` in its folder, with
// the headers of that Node; TIDEMARK_PEERS_NODE names it where it is not the one in PATH. A peer that is not there or does
// not start is left out, and the output says so. Tried and not comparable: memorix (with its driver built, it discards
// what it takes for duplicates of what it has, two of three sentences about different animals).
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { ROOT } from './project.ts'

/** What is recorded and looked for: the name says nothing of the content. */
export interface Item {
  readonly name: string
  readonly text: string
}

export interface Peer {
  readonly name: string
  /** How it searches, in fairness. */
  readonly how: string
  /** The limit it takes; none where it returns whatever matches. */
  readonly limit?: number
  command(dir: string): { command: string; args: string[]; env: Record<string, string> }
  record(client: Client, items: readonly Item[]): Promise<void>
  search(client: Client, question: string): Promise<{ names: string[]; bytes: number }>
  /** How many items it holds. */
  count?(client: Client): Promise<number>
}

export const LIMIT = 10

const textOf = (answer: unknown) => (answer as { content: { text: string }[] }).content.map((c) => c.text).join('\n')

async function call(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  const answer = await client.callTool({ name, arguments: args })
  if (answer.isError) throw new Error(`${name}: ${textOf(answer)}`)
  return textOf(answer)
}

/** So many items in one call, where a tool takes several. */
const BATCH = 50

async function inBatches(items: readonly Item[], record: (batch: readonly Item[]) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < items.length; i += BATCH) await record(items.slice(i, i + BATCH))
}

const bytesOf = (text: string) => Buffer.byteLength(text)

export const tidemark: Peer = {
  name: 'tidemark mcp',
  how: 'recall',
  limit: LIMIT,
  command: (dir) => ({
    command: process.execPath,
    args: [join(ROOT, 'bin/tidemark.js'), 'mcp', '--project', dir],
    env: {},
  }),
  record: (client, items) =>
    inBatches(items, (batch) =>
      call(client, 'act', {
        actions: batch.map(({ name, text }) => ['record-chunk', { content: text, section: name }]),
      }),
    ),
  async search(client, question) {
    const text = await call(client, 'recall', { text: question, limit: LIMIT })
    return { names: [...text.matchAll(/item-\d+/g)].map((m) => m[0]), bytes: bytesOf(text) }
  },
  count: async (client) => Number(await call(client, 'discover', { expr: '(length (get-chunks))' })),
}

/** A graph of entities with observations: the reference server and what speaks like it. */
function graph(name: string, how: string, command: Peer['command'], limit?: number): Peer {
  return {
    name,
    how,
    ...(limit === undefined ? {} : { limit }),
    command,
    record: (client, items) =>
      inBatches(items, (batch) =>
        call(client, 'create_entities', {
          entities: batch.map((i) => ({ name: i.name, entityType: 'note', observations: [i.text] })),
        }),
      ),
    async search(client, question) {
      const text = await call(client, 'search_nodes', { query: question, ...(limit === undefined ? {} : { limit }) })
      const { entities } = JSON.parse(text) as { entities: { name: string }[] }
      return { names: entities.map((e) => e.name), bytes: bytesOf(text) }
    },
  }
}

/** Every server that is installed in the directory, ours first. */
export function servers(directory = process.env.TIDEMARK_PEERS): { peers: Peer[]; absent: string[] } {
  const peers: Peer[] = [tidemark]
  const absent: string[] = []
  const find = (pack: string, entry: string, make: (file: string, title: string) => Peer) => {
    const file = directory && join(directory, 'node_modules', pack, entry)
    if (!file || !existsSync(file)) return void absent.push(pack)
    const { version } = JSON.parse(readFileSync(join(directory, 'node_modules', pack, 'package.json'), 'utf8'))
    peers.push(make(file, `${pack.split('/').at(-1)} ${version}`))
  }
  find('@modelcontextprotocol/server-memory', 'dist/index.js', (file, title) => ({
    ...graph(`${title}`, 'substring of the whole question, unranked, no limit', (dir) => ({
      command: process.execPath,
      args: [file],
      env: { MEMORY_FILE_PATH: join(dir, 'memory.jsonl') },
    })),
    count: async (client) =>
      (JSON.parse(await call(client, 'read_graph', {})) as { entities: unknown[] }).entities.length,
  }))
  find('mcp-memory-libsql', 'dist/index.js', (file, title) =>
    graph(
      title,
      'LIKE of the words in their order, newest first',
      (dir) => ({ command: process.execPath, args: [file], env: { LIBSQL_URL: `file:${join(dir, 'memory.db')}` } }),
      LIMIT,
    ),
  )
  find('@ai-devkit/memory', 'dist/index.js', (file, title) => ({
    name: `ai-devkit ${title}`,
    how: 'FTS5: all words, else some; its optional vectors fetch a model and are off',
    limit: LIMIT,
    // its database driver is built for the system's Node
    command: () => ({ command: process.env.TIDEMARK_PEERS_NODE ?? 'node', args: [file], env: {} }),
    async record(client, items) {
      for (const { name, text } of items)
        await call(client, 'memory_storeKnowledge', { title: `note ${name}`, content: text })
    },
    async search(client, question) {
      const text = await call(client, 'memory_searchKnowledge', { query: question.slice(0, 500), limit: LIMIT })
      const { results } = JSON.parse(text) as { results: { title: string }[] }
      return { names: results.map((r) => r.title.replace('note ', '')), bytes: bytesOf(text) }
    },
  }))
  return { peers, absent }
}

/** Starts a server of a peer on the directory. */
export async function connect(peer: Peer, dir: string): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' })
  const { env, ...how } = peer.command(dir)
  await client.connect(
    new StdioClientTransport({
      ...how,
      cwd: dir,
      env: { PATH: process.env.PATH ?? '', HOME: dir, ...env },
      stderr: 'ignore',
    }),
  )
  return client
}
