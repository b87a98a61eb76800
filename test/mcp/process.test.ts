import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { cleanEnv, ERAS, SERVER, tempProject } from './harness.ts'

const INITIALIZE = {
  legacy: {
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'p', version: '1' } },
  },
  modern: {
    method: 'server/discover',
    params: {
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  },
}

interface Running {
  child: ChildProcess
  ask(request: { method: string; params?: Record<string, unknown> }): Promise<{ result?: unknown }>
  send(request: { method: string; params?: Record<string, unknown> }): void
  /** What became of it, and after how many ms. */
  ending(): Promise<{ ms: number; code: number | null; signal: string | null }>
}

function start(cwd: string): Running {
  const [command, ...args] = SERVER
  const child = spawn(command, args, { cwd, env: cleanEnv(), stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>
  const waiting = new Map<number, (message: { result?: unknown }) => void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as { id?: number; jsonrpc: string; result?: unknown } // only protocol on stdout
    expect(message.jsonrpc).toBe('2.0')
    if (message.id !== undefined) waiting.get(message.id)?.(message)
  })
  let id = 0
  const send = (request: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: ++id, ...request })}\n`)
  return {
    child,
    send,
    ask(request) {
      send(request)
      return new Promise((resolve) => waiting.set(id, resolve))
    },
    async ending() {
      const since = performance.now()
      const [code, signal] = await exited
      return { ms: performance.now() - since, code, signal }
    },
  }
}

const ENDS = {
  'stdin closes': (r: Running) => r.child.stdin!.end(),
  SIGINT: (r: Running) => r.child.kill('SIGINT'),
  SIGTERM: (r: Running) => r.child.kill('SIGTERM'),
} as const

const gone = (pid: number) => {
  try {
    process.kill(pid, 0)
    return false
  } catch {
    return true // ESRCH: there is no such process
  }
}

const act = { name: 'act', arguments: { actions: [['record-decision', { name: 'x', rationale: 'y' }]] } }

for (const [how, end] of Object.entries(ENDS))
  for (const era of ERAS)
    test(`[M3] ${how}: the server ends at once, also with its store open (${era})`, async () => {
      const running = start(tempProject())
      await running.ask(INITIALIZE[era])
      const params = era === 'legacy' ? act : { ...act, ...INITIALIZE.modern.params }
      expect(await running.ask({ method: 'tools/call', params })).not.toHaveProperty('error')
      const ended = running.ending()
      end(running)
      const { ms, code } = await ended
      expect(code).toBe(0)
      expect(ms).toBeLessThan(3_000) // 100 ms is measured by the benchmark, on a machine that is not busy
      expect(gone(running.child.pid!)).toBe(true)
    })

test('[M3] a signal that comes while a tool computes is heard as soon as its budget is spent', async () => {
  const running = start(tempProject())
  await running.ask(INITIALIZE.legacy)
  await running.ask({ method: 'tools/call', params: { name: 'discover', arguments: { expr: '1' } } })
  running.send({ method: 'tools/call', params: { name: 'discover', arguments: { expr: '(let loop () (loop))' } } })
  const ended = running.ending()
  running.child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0 })
})

test('[M3] 50 starts and kills leave no process behind', { tags: ['long'] }, async () => {
  const cwd = tempProject()
  const pids: number[] = []
  const ways = Object.values(ENDS)
  for (let round = 0; round < 10; round++) {
    await Promise.all(
      Array.from({ length: 5 }, async (_, i) => {
        const running = start(cwd)
        pids.push(running.child.pid!)
        if (i % 2 === 0) await running.ask(INITIALIZE.modern) // some are ended before they could say a word
        const ended = running.ending()
        ways[(round + i) % ways.length]!(running)
        await ended
      }),
    )
  }
  expect(pids.length).toBe(50)
  expect(pids.filter((pid) => !gone(pid))).toEqual([])
})
