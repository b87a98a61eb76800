import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { builtPackage, filledProject } from './project.ts'
import { type Bench, least, median, most, type Row } from './table.ts'

const SERVERS = 3
const IDLE_MS = 10_000
/** Ticks of /proc/…/stat per second: 100 on every Linux that Node supports. */
const TICKS = 100

const META = {
  _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} },
}

const rss = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
const cpuMs = (pid: number) => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS
}

function server(bin: string, cwd: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [bin, 'mcp'], { cwd, stdio: ['pipe', 'pipe', 'inherit'] })
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  send({ id: 1, method: 'server/discover', params: META })
  const call = { name: 'discover', arguments: { expr: '(get-decisions :limit 20)' }, ...META }
  send({ id: 2, method: 'tools/call', params: call })
  return new Promise((resolve) =>
    createInterface({ input: child.stdout }).on('line', (line) => {
      if ((JSON.parse(line) as { id?: number }).id === 2) resolve(child)
    }),
  )
}

export const bench: Bench = {
  name: 'memory',
  about: `MCP servers that nobody asks anything, after one call each, over ${IDLE_MS / 1000} s`,
  async run() {
    if (process.platform !== 'linux')
      return [{ title: 'measured on Linux alone, through /proc', columns: [], rows: [] }]
    const bin = builtPackage()
    const { root } = filledProject(1000)
    const idle = Array.from({ length: SERVERS }, () =>
      spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: 'ignore' }),
    )
    const servers = await Promise.all(Array.from({ length: SERVERS }, () => server(bin, root)))
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
    ]
  },
}
