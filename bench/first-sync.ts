import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemEnv } from '../src/base/env.ts'
import { PROJECT_DIR } from '../src/engine/store/project.ts'
import { openProject } from '../src/project/open.ts'
import { addToken } from '../src/travel/hub/access-tokens.ts'
import { openPostgresStore } from '../src/travel/hub/postgres.ts'
import { openSqliteStore } from '../src/travel/hub/sqlite.ts'
import type { HubStore } from '../src/travel/hub/store.ts'
import { exchangeOnce } from '../src/travel/sync/hub-exchange.ts'
import { publish } from '../src/travel/sync/publish.ts'
import { findPostgres } from '../test/hub/postgres.ts'
import { hubProcess } from './hub.ts'
import { entity, question } from './knowledge.ts'
import { builtPackage, tempDir, tempProject } from './project.ts'
import type { Bench, Row } from './table.ts'

/** How many entities, each recorded in a batch of its own, and the seconds that they may take. */
const SIZES = [
  [10_000, 2],
  [100_000, 15],
] as const
/** The seconds that 50 MB of lines that nobody signed may take a first briefing. */
const GARBAGE = 1
/** The seconds until somebody without a disk has the first answer, at the first of these sizes. */
const ANSWER = 3

/** The environment of somebody who has nothing of Tidemark yet. */
const envOf = (cwd: string, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => {
  const { PATH } = process.env
  return { PATH, HOME: `${cwd}-home`, ...more }
}

/** Runs a process; the seconds that it took. */
function run(cwd: string, ...args: string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const since = performance.now()
    const child = spawn(process.execPath, args, { cwd, env: envOf(cwd), stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (out += text))
    child.on('close', (code) => {
      if (code === 0 && out !== '') resolve((performance.now() - since) / 1000)
      else reject(new Error(`${args.join(' ')} ended with ${code}: ${out}`))
    })
  })
}

const TOKEN = 'a-token-for-the-bench'
/** `tidemark serve`, which answers those who have no disk. */
async function serving(bin: string, cwd: string): Promise<{ url: string; stop(): Promise<void> }> {
  const env = envOf(cwd, { TIDEMARK_TOKEN: TOKEN })
  const child = spawn(process.execPath, [bin, 'serve'], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const url = await new Promise<string>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const found = /listens on (\S+)/.exec(text)?.[1]
      if (found) resolve(found)
    })
  })
  return { url, stop: () => new Promise((done) => child.on('exit', () => done()) && child.kill('SIGTERM')) }
}

/** What a machine without Tidemark runs. */
const ASK = `const [url, token, text] = process.argv.slice(1)
const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' }
const answer = await fetch(url + '/api/tools/recall', { method: 'POST', headers, body: JSON.stringify({ text }) })
console.log(await answer.text())
process.exit(answer.ok ? 0 : 1)`

/** A directory with the committed files of a project, and a home of its own. */
function fresh(root: string, withLog: boolean): string {
  const dir = join(tempDir(), 'work')
  mkdirSync(`${dir}-home`, { recursive: true })
  cpSync(join(root, PROJECT_DIR, 'config.json'), join(dir, PROJECT_DIR, 'config.json'))
  if (withLog) cpSync(join(root, PROJECT_DIR, 'log'), join(dir, PROJECT_DIR, 'log'), { recursive: true })
  return dir
}

interface Hub {
  readonly name: string
  readonly store: string
  open(store: string): Promise<HubStore>
}

/** A hub on SQLite, and one on PostgreSQL where there is one. */
async function someHubs(): Promise<{ hubs: Hub[]; notes: string[]; stop(): void }> {
  const found = await findPostgres(true)
  const hubs: Hub[] = [{ name: 'SQLite', store: join(tempDir(), 'hub.db'), open: openSqliteStore }]
  if ('missing' in found) return { hubs, notes: [found.missing], stop() {} }
  const open = (url: string) => openPostgresStore(url, systemEnv, { listen: false })
  hubs.push({ name: 'PostgreSQL', store: await found.database(), open })
  return { hubs, notes: [], stop: found.stop }
}

async function measure(
  bin: string,
  hubs: readonly Hub[],
  entities: number,
  bound: number,
  isSmall: boolean,
): Promise<Row[]> {
  const project = tempProject()
  const memory = openProject(project)
  memory.db.exec('PRAGMA synchronous=OFF')
  for (let i = 0; i < entities; i++) memory.act([entity(i)])
  publish(memory, project.root)
  const row = (what: string, seconds: number, most: number): Row => ({
    what: `${entities} entities ${what}`,
    cells: [seconds],
    bound: `≤ ${most}`,
    ok: seconds <= most,
  })
  const clone = fresh(project.root, true)
  const rows = [row('through git, sync', await run(clone, bin, 'sync'), bound)]
  rmSync(clone, { recursive: true })
  for (const { name, store, open } of hubs) {
    const opened = await open(store)
    const { token } = await addToken(opened, systemEnv, { member: 'bench', role: 'writer', projects: [project.id] })
    await opened.close()
    const hub = await hubProcess(store)
    await exchangeOnce(memory, { url: hub.url, token, member: 'bench' })
    const machine = fresh(project.root, false)
    const joined = await run(machine, bin, 'join', hub.url.replace('ws', 'http'), token)
    rows.push(row(`through a hub on ${name}, join`, joined, bound))
    if (isSmall) {
      const recall = await run(machine, bin, 'recall', question(1, entities))
      rows.push(row(`through a hub on ${name}, join and the first recall`, joined + recall, ANSWER))
      const { url, stop } = await serving(bin, machine)
      const asked = await run(machine, '--input-type=module', '-e', ASK, url, TOKEN, question(2, entities))
      rows.push(row(`on a server beside it, the first recall of a machine without a disk`, asked, ANSWER))
      await stop()
    }
    await hub.stop()
    rmSync(machine, { recursive: true })
  }
  memory.close()
  rmSync(project.root, { recursive: true })
  return rows
}

/** The first briefing where somebody has put 50 MB of garbage in the log. */
async function amongGarbage(bin: string): Promise<Row> {
  const { root } = tempProject()
  const dir = join(root, PROJECT_DIR, 'log', 'garbage')
  mkdirSync(dir, { recursive: true })
  const signed = { s: 'A'.repeat(86), key: 'A'.repeat(43) }
  for (let file = 1; file <= 50; file++) {
    const lines = Array.from({ length: 4_000 }, (_, i) =>
      JSON.stringify({
        ...{ v: 2, r: 'garbageaaaabbbb1', n: file * 4_000 + i, c: 1, at: 1_795_000_000_000, by: {} },
        ...{ e: [['decision:x', { f: '$' }]], ...signed },
      }),
    )
    writeFileSync(join(dir, `${file}-${file}-${'0'.repeat(16)}.jsonl`), `${lines.join('\n')}\n`)
  }
  const seconds = await run(root, bin, 'status')
  rmSync(root, { recursive: true })
  return {
    what: '50 MB of garbage, the first command',
    cells: [seconds],
    bound: `≤ ${GARBAGE}`,
    ok: seconds <= GARBAGE,
  }
}

export const bench: Bench = {
  name: 'first-sync',
  about: 'how long a machine takes that has nothing yet',
  async run() {
    const bin = builtPackage()
    const rows: Row[] = []
    const { hubs, notes, stop } = await someHubs()
    for (const [entities, bound] of SIZES)
      rows.push(...(await measure(bin, hubs, entities, bound, entities === SIZES[0][0])))
    stop()
    rows.push(await amongGarbage(bin))
    return [
      {
        title: 'a whole process in an empty directory, with a home of its own',
        columns: ['seconds'],
        rows,
        notes: ['each entity was recorded in a batch of its own; the hub runs on the same machine', ...notes],
      },
    ]
  },
}
