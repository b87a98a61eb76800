import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemEnv } from '../src/base/env.ts'
import { addToken } from '../src/travel/hub/access-tokens.ts'
import { openPostgresStore } from '../src/travel/hub/postgres.ts'
import { openSqliteStore } from '../src/travel/hub/sqlite.ts'
import { HubLink } from '../src/travel/sync/hub-link.ts'
import { findPostgres } from '../test/hub/postgres.ts'
import { tempDir } from './project.ts'
import { type Bench, quantile, type Row, type Table } from './table.ts'

const PROJECT = 'bench-project'
const CLIENTS = 20
const PACED_MS = 6000
const PACE_MS = 200
const FLAT_OUT_MS = 5000
const IN_FLIGHT = 4
const IDLE = 1000
/** A batch of one decision with its update takes about this much. */
const SIZE = 900

/** `tidemark hub` as a process of its own. */
export async function hubProcess(store: string) {
  const bin = join(import.meta.dirname, '../bin/tidemark.js')
  const env = { ...process.env, TIDEMARK_HUB_STORE: store }
  const child = spawn(process.execPath, [bin, 'hub', '--port', '0'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const url = await new Promise<string>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const found = /listens on http(\S+)/.exec(text)?.[1]
      if (found) resolve(`ws${found}/`)
    })
  })
  const rss = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1])
  return {
    url,
    rss,
    pid: child.pid,
    stop: () => new Promise((done) => child.on('exit', done) && child.kill('SIGTERM')),
  }
}

interface Written {
  acked?: number
  /** How many others have it, and when the last of them got it. */
  seen: number
  last: number
}

class Client {
  readonly link: HubLink
  readonly #name: string
  #count = 0

  constructor(url: string, token: string, name: string, written: Map<string, Written>) {
    this.#name = name
    this.link = new HubLink({ url, token }, PROJECT, {
      frame: ({ updates }) => {
        const now = performance.now()
        for (const text of updates) {
          const update = written.get((JSON.parse(text) as { key: string }).key)
          if (update) Object.assign(update, { seen: update.seen + 1, last: now })
        }
      },
      gone: () => {},
    })
  }

  /** Writes one update, and waits until it is acknowledged. */
  async write(written: Map<string, Written>): Promise<void> {
    const key = `${this.#name}:${++this.#count}`
    const update: Written = { seen: 0, last: 0 }
    written.set(key, update)
    await this.link.ask({ t: 'push', keys: [key] }, [JSON.stringify({ v: 99, key, text: 'x'.repeat(SIZE) })])
    update.acked = performance.now()
  }
}

const rest = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function measure(name: string, store: string, processes: number, token: string): Promise<Row[]> {
  const hubs: Awaited<ReturnType<typeof hubProcess>>[] = []
  for (let i = 0; i < processes; i++) hubs.push(await hubProcess(store))
  const written = new Map<string, Written>()
  const clients = Array.from(
    { length: CLIENTS },
    (_, i) => new Client(hubs[i % processes]!.url, token, `c${i}`, written),
  )
  for (const c of clients) await c.link.hello(0, undefined)
  const everywhere = async () => {
    while ([...written.values()].some((w) => w.seen < CLIENTS - 1)) await rest(10)
  }
  const write = (c: Client, until: number, pause: number) =>
    (async () => {
      while (performance.now() < until) {
        await c.write(written)
        if (pause > 0) await rest(pause * (0.5 + Math.random()))
      }
    })()

  let until = performance.now() + PACED_MS
  await Promise.all(clients.map((c) => write(c, until, PACE_MS)))
  await everywhere()
  const late = [...written.values()].map((w) => Math.max(0, w.last - w.acked!))
  const paced = late.length / (PACED_MS / 1000)

  written.clear()
  const begin = performance.now()
  until = begin + FLAT_OUT_MS
  await Promise.all(clients.flatMap((c) => Array.from({ length: IN_FLIGHT }, () => write(c, until, 0))))
  const acknowledged = written.size / ((performance.now() - begin) / 1000)
  await everywhere()
  const delivered = written.size / ((performance.now() - begin) / 1000)
  for (const c of clients) c.link.close()
  for (const hub of hubs) await hub.stop()
  const isBound = name.startsWith('PostgreSQL')
  const row = (what: string, value: number, bound: string, ok: boolean): Row => ({
    what: `${name}: ${what}`,
    cells: [value],
    ...(isBound ? { bound, ok } : {}),
  })
  return [
    row(
      `acknowledged → with all others, ms, p50 at ${paced.toFixed(0)}/s`,
      quantile(late, 0.5),
      '≤ 30',
      quantile(late, 0.5) <= 30,
    ),
    row('the same, p99', quantile(late, 0.99), '≤ 250', quantile(late, 0.99) <= 250),
    row('updates acknowledged in a second', acknowledged, '≥ 1,000', acknowledged >= 1000),
    row('updates that all others have, in a second', delivered, '', true),
  ].map((r) => (r.bound === '' ? { what: r.what, cells: r.cells } : r))
}

/** What a connection costs that says nothing: its hub's memory with many of them. */
async function idle(store: string, token: string): Promise<Row> {
  const hub = await hubProcess(store)
  const open = async (n: number) => {
    const all: Client[] = []
    while (all.length < n) {
      const client = new Client(hub.url, token, `i${all.length}`, new Map())
      await client.link.hello(0, undefined)
      all.push(client)
    }
    return all
  }
  for (const c of await open(50)) c.link.close() // what is loaded once
  await rest(1000)
  const before = hub.rss()
  const all = await open(IDLE)
  await rest(2000)
  const each = (hub.rss() - before) / IDLE
  for (const c of all) c.link.close()
  await hub.stop()
  return {
    what: `kB of the hub's memory for each of ${IDLE} idle connections`,
    cells: [each],
    bound: '≤ 100',
    ok: each <= 100,
  }
}

async function run(): Promise<readonly Table[]> {
  const rows: Row[] = []
  const notes = [
    `${CLIENTS} clients in one process, one project, updates of ${SIZE} bytes; all on this machine`,
    'a client is a connection without a store: what a machine does with an update is in "memory" and "propagation"',
  ]
  const found = await findPostgres(true)
  const wanted = { member: 'bench', role: 'admin' as const, projects: [PROJECT] }
  if ('missing' in found) notes.push(`no PostgreSQL here: ${found.missing}`)
  else {
    for (const kind of ['flow', 'idle'] as const) {
      const url = await found.database()
      const store = await openPostgresStore(url, systemEnv, { listen: false })
      const { token } = await addToken(store, systemEnv, wanted)
      await store.close()
      rows.push(...(kind === 'flow' ? await measure('PostgreSQL, 2 hubs', url, 2, token) : [await idle(url, token)]))
    }
    found.stop()
  }
  const file = join(tempDir(), 'hub.db')
  const store = await openSqliteStore(file)
  const { token } = await addToken(store, systemEnv, wanted)
  await store.close()
  rows.push(...(await measure('SQLite, 1 hub', file, 1, token)))
  return [{ title: 'a hub and its clients', columns: ['measured'], rows, notes }]
}

export const bench: Bench = {
  name: 'hub',
  about: 'a team server: how soon others have an update, how many it takes',
  run,
}
