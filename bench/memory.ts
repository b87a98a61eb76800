import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { builtPackage, filledProject } from './project.ts'
import { type Bench, least, median, most, type Row } from './table.ts'

const SERVERS = 3
const IDLE_MS = 10_000
/** What a server may hold that was used, in MB. */
const USED_MB = 150
/** Ticks of /proc/…/stat per second: 100 on every Linux that Node supports. */
const TICKS = 100

const META = {
  _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} },
}

const kept = (pid: number, field: 'VmRSS' | 'VmHWM') =>
  Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
const rss = (pid: number) => kept(pid, 'VmRSS')
const peak = (pid: number) => kept(pid, 'VmHWM')
const cpuMs = (pid: number) => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS
}

interface Server {
  readonly child: ChildProcess
  call(name: string, args: object): Promise<void>
}

async function server(bin: string, cwd: string): Promise<Server> {
  const child = spawn(process.execPath, [bin, 'mcp'], { cwd, stdio: ['pipe', 'pipe', 'inherit'] })
  const waiting = new Map<number, () => void>()
  createInterface({ input: child.stdout }).on('line', (line) =>
    waiting.get((JSON.parse(line) as { id: number }).id)?.(),
  )
  const ask = (id: number, method: string, params: object) =>
    new Promise<void>((resolve) => {
      waiting.set(id, resolve)
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, ...META } })}\n`)
    })
  await ask(0, 'server/discover', {})
  let id = 0
  const call = (name: string, args: object) => ask(++id, 'tools/call', { name, arguments: args })
  await call('discover', { expr: '(get-decisions :limit 20)' })
  return { child, call }
}

const WORDS = 'cache token queue session storage login retry parser schema index deploy config'.split(' ')
const words = (i: number) => `${WORDS[i % 12]} ${WORDS[(i * 7 + 3) % 12]} ${i}`
const USED = 300

/** MB resident after as many writes and questions, and the most that it was in between. */
async function afterUse(bin: string, entities: number): Promise<Row> {
  const { child, call } = await server(bin, filledProject(entities).root)
  for (let i = 0; i < USED; i++) {
    const learning = { title: `About ${words(i)}`, body: `the ${words(i * 5)}` }
    await call('act', { actions: [['record-learning', learning]] })
  }
  for (let i = 0; i < USED; i++) await call('recall', { text: `why ${words(i)}` })
  const cells = [rss(child.pid!), peak(child.pid!)]
  child.kill()
  return { what: `${entities} entities`, cells, bound: `≤ ${USED_MB}`, ok: cells[0]! <= USED_MB }
}

export const bench: Bench = {
  name: 'memory',
  about: `MCP servers: idle over ${IDLE_MS / 1000} s after one call each, and used`,
  async run() {
    if (process.platform !== 'linux')
      return [{ title: 'measured on Linux alone, through /proc', columns: [], rows: [] }]
    const bin = builtPackage()
    const { root } = filledProject(1000)
    const idle = Array.from({ length: SERVERS }, () =>
      spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: 'ignore' }),
    )
    const started = await Promise.all(Array.from({ length: SERVERS }, () => server(bin, root)))
    const servers = started.map(({ child }) => child)
    await new Promise((resolve) => setTimeout(resolve, 1000))
    const before = [...idle, ...servers].map((c) => cpuMs(c.pid!))
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
    const used = [...idle, ...servers].map((c, i) => (cpuMs(c.pid!) - before[i]!) / (IDLE_MS / 1000))
    const resident = [...idle, ...servers].map((c) => rss(c.pid!))
    for (const child of [...idle, ...servers]) child.kill()
    const row = (what: string, values: readonly number[], bound?: number): Row => ({
      what,
      cells: [least(values), median(values), most(values)],
      ...(bound === undefined ? {} : { bound: `≤ ${bound}`, ok: median(values) <= bound }),
    })
    return [
      {
        title: `${SERVERS} processes of each`,
        columns: ['min', 'median', 'max'],
        rows: [
          row('MB resident, empty Node process', resident.slice(0, SERVERS)),
          row('MB resident, tidemark mcp', resident.slice(SERVERS), 100),
          row('ms of CPU per second, empty Node process', used.slice(0, SERVERS)),
          row('ms of CPU per second, tidemark mcp', used.slice(SERVERS)),
        ],
      },
      {
        title: `one server after ${USED} writes and ${USED} questions`,
        columns: ['MB resident', 'most'],
        rows: [await afterUse(bin, 10_000), ...(process.env.TIDEMARK_MILLION ? [await afterUse(bin, 100_000)] : [])],
      },
    ]
  },
}
