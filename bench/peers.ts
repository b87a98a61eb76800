// Memory servers beside each other, over their own MCP tools: what two agents that write at once find afterwards, and
// whether the one right thing of many is found again, how fast, and in how many bytes. bench/peer-servers.ts says how the
// others are installed; TIDEMARK_COMMITS or TIDEMARK_REPO choose the texts (bench/commits.ts).
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import { createProject } from '../src/engine/store/project.ts'
import { type Commit, corpus } from './commits.ts'
import { judge } from './evaluate/metrics.ts'
import { connect, type Item, LIMIT, type Peer, servers } from './peer-servers.ts'
import { median, type Row, render, type Table } from './table.ts'

const EACH = 50
const MOST = 500
/** What every one of them takes: one refuses less, another cuts off more. */
const SHORTEST = 50
const LONGEST = 4000

async function inDirectory<T>(body: (dir: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'tidemark-peers-'))
  createProject(dir)
  try {
    return await body(dir)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Two servers on one store, each told one thing after another, both at once. */
async function writeAtOnce(peer: Peer): Promise<Row> {
  return inDirectory(async (dir) => {
    const clients = [await connect(peer, dir), await connect(peer, dir)]
    const times: number[] = []
    let acknowledged = 0
    let refused = 0
    const write = async (client: Client, item: Item) => {
      const since = performance.now()
      try {
        await peer.record(client, [item])
        acknowledged++
      } catch {
        refused++ // it said so, or its file cannot be read any more: counted
      }
      times.push(performance.now() - since)
    }
    await Promise.all(
      clients.map(async (client, w) => {
        for (let i = 0; i < EACH; i++)
          await write(client, { name: `c${w}-${i}`, text: `what writer ${w} has to say in its turn number ${i}` })
      }),
    )
    const there = await peer.count!(clients[0]!).catch(() => Number.NaN)
    for (const client of clients) await client.close()
    const cells = [acknowledged, there, acknowledged - there, refused].map(String)
    return { what: peer.name, cells: [...cells, median(times)] }
  })
}

const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu) ?? []

/** The word of a subject that the fewest bodies hold, of those that any does. */
function rarest(commits: readonly Commit[]): (subject: string) => string | undefined {
  const holds = new Map<string, number>()
  for (const { body } of commits) for (const w of new Set(wordsOf(body))) holds.set(w, (holds.get(w) ?? 0) + 1)
  return (subject) =>
    wordsOf(subject)
      .filter((w) => holds.has(w))
      .sort((a, b) => holds.get(a)! - holds.get(b)!)[0]
}

interface Asked {
  one: number
  ten: number
  ms: number
  bytes: number
}

const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / Math.max(1, values.length)

async function retrieve(peer: Peer, commits: readonly Commit[], modes: Readonly<Record<string, readonly string[]>>) {
  return inDirectory(async (dir) => {
    const client = await connect(peer, dir)
    const items = commits.map(({ body }, i): Item => ({ name: `item-${i}`, text: body }))
    const since = performance.now()
    await peer.record(client, items)
    const writing = (performance.now() - since) / items.length
    const rows: Record<string, Row> = {}
    for (const [mode, questions] of Object.entries(modes)) {
      await peer.search(client, questions[0]!) // warms up
      const asked: Asked[] = []
      for (const [i, question] of questions.entries()) {
        if (question === '') continue
        const start = performance.now()
        const { names, bytes } = await peer.search(client, question)
        const ms = performance.now() - start
        const q = judge([...new Set(names)], new Set([`item-${i}`]))
        asked.push({ one: q['R@1'], ten: q['R@10'], ms, bytes })
      }
      const percent = (key: 'one' | 'ten') => (mean(asked.map((a) => a[key])) * 100).toFixed(1)
      const cells = [percent('one'), percent('ten'), median(asked.map((a) => a.ms)), mean(asked.map((a) => a.bytes))]
      rows[mode] = { what: `${peer.name}: ${peer.how}`, cells: [...cells, writing] }
    }
    await client.close()
    return rows
  })
}

const { peers, absent } = servers()
if (absent.length > 0) console.log(`not installed in TIDEMARK_PEERS: ${absent.join(', ')}\n`)
const failed: string[] = []
const trying = async <T>(peer: Peer, body: () => Promise<T>): Promise<T[]> => {
  try {
    return [await body()]
  } catch (error) {
    failed.push(`${peer.name}: ${(error as Error).message.split('\n')[0]}`)
    return []
  }
}

const writing: Row[] = []
for (const peer of peers) if (peer.count) writing.push(...(await trying(peer, () => writeAtOnce(peer))))
const tables: Table[] = [
  {
    title: `two servers, ${EACH} writes each, one after another in each, both at once`,
    columns: ['acknowledged', 'there afterwards', 'lost', 'refused', 'ms per write'],
    rows: writing,
  },
]

const { name, commits: all } = corpus()
const commits = all.filter(({ body }) => body.length >= SHORTEST && body.length <= LONGEST).slice(0, MOST)
const rare = rarest(commits)
const modes = {
  'asked by the subject, as it stands': commits.map((c) => c.subject),
  'asked by the one word of the subject that is rarest among the bodies': commits.map((c) => rare(c.subject) ?? ''),
}
const found = Object.fromEntries(Object.keys(modes).map((mode) => [mode, [] as Row[]]))
for (const peer of peers)
  for (const rows of await trying(peer, () => retrieve(peer, commits, modes)))
    for (const [mode, row] of Object.entries(rows)) found[mode]!.push(row)
for (const [mode, rows] of Object.entries(found))
  tables.push({
    title: `${commits.length} commits of ${name}: the body is wanted, ${mode}`,
    columns: ['R@1 %', 'R@10 %', 'ms (median)', 'bytes (mean)', 'ms per write'],
    rows,
    notes: [`limit ${LIMIT} where the tool takes one; bytes of text that the agent is given`],
  })
console.log(tables.map(render).join('\n\n'))
if (failed.length > 0) console.log(`\nfailed:\n${failed.join('\n')}`)
