import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { builtPackage, filledProject } from './project.ts'
import { type Bench, interleave, least, median, most, type Row, ratio } from './table.ts'

const ROUNDS = 25

const META = {
  _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} },
}

/** Milliseconds from the start of a process to its end. */
export function wholeProcess(args: readonly string[], cwd: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const since = performance.now()
    const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    child.stdout.on('data', () => {})
    child.stderr.on('data', (d) => (said += d))
    child.on('close', (code) => {
      const ms = performance.now() - since
      if (code === 0) resolve(ms)
      else reject(new Error(`${args.join(' ')} ended with ${code}: ${said}`))
    })
  })
}

/** Milliseconds from the start of an MCP server to the answer of its first tool call. */
function firstAnswer(bin: string, cwd: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const since = performance.now()
    const child = spawn(process.execPath, [bin, 'mcp'], { cwd, stdio: ['pipe', 'pipe', 'inherit'] })
    let ms = Number.NaN
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { id, error } = JSON.parse(line) as { id?: number; error?: unknown }
      if (error) reject(new Error(line))
      if (id !== 2) return
      ms = performance.now() - since
      child.stdin.end()
    })
    child.on('close', () => resolve(ms))
    const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    send({ id: 1, method: 'server/discover', params: META })
    send({ id: 2, method: 'tools/call', params: { name: 'discover', arguments: { expr: '(+ 1 1)' }, ...META } })
  })
}

export const bench: Bench = {
  name: 'cold',
  about: 'from nothing to the answer: whole processes, each beside an empty one of the same Node',
  async run() {
    const bin = builtPackage()
    const sizes = { 'no entities': filledProject(0).root, '10,000 entities': filledProject(10_000).root }
    const commands: Readonly<Record<string, { args(round: number): string[]; bound?: number }>> = {
      "discover '(+ 1 1)'": { args: () => ['discover', '(+ 1 1)'], bound: 3 },
      'act, one action': {
        args: (round) => ['act', JSON.stringify([['record-decision', { name: 'cold', rationale: `round ${round}` }]])],
        bound: 4,
      },
      status: { args: () => ['status'] },
      list: { args: () => ['list'] },
      '--version': { args: () => ['--version'] },
    }
    const cases: Record<string, (round: number) => Promise<number>> = {
      base: () => wholeProcess(['-e', '0'], '/'),
    }
    const bounds = new Map<string, number>()
    const index = pathToFileURL(join(dirname(bin), '..', 'dist', 'index.js')).href
    const program = `import { openMemory } from '${index}'; openMemory().discover('(+ 1 1)')`
    cases['library: import, openMemory, discover'] = () =>
      wholeProcess(['--input-type=module', '-e', program], sizes['no entities'])
    for (const [size, cwd] of Object.entries(sizes)) {
      for (const [command, { args, bound }] of Object.entries(commands)) {
        if (command === '--version' && size !== 'no entities') continue
        const what = command === '--version' ? command : `${command}, ${size}`
        cases[what] = (round) => wholeProcess([bin, ...args(round)], cwd)
        if (bound !== undefined) bounds.set(what, bound)
      }
      const what = `mcp, start to first answer, ${size}`
      cases[what] = () => firstAnswer(bin, cwd)
      bounds.set(what, 6)
    }
    const { base = [], ...measured } = await interleave(ROUNDS, cases)
    const row = (what: string, ms: readonly number[], bound?: number): Row => {
      const times = ratio(ms, base)
      return {
        what,
        cells: [least(ms), median(ms), most(ms), times],
        ...(bound === undefined ? {} : { bound: `≤ ${bound} ×`, ok: times <= bound }),
      }
    }
    return [
      {
        title: `ms of wall time, ${ROUNDS} rounds`,
        columns: ['min', 'median', 'max', '× empty'],
        rows: [row('node -e 0', base), ...Object.entries(measured).map(([w, ms]) => row(w, ms, bounds.get(w)))],
        notes: ['× empty is the median of the ratios to the empty process of the same round'],
      },
    ]
  },
}
