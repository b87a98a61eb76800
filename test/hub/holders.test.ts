// @module-tag long
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { systemEnv } from '../../src/base/env.ts'
import type { Memory } from '../../src/engine/memory.ts'
import { findProject } from '../../src/engine/store/project.ts'
import { keepHub } from '../../src/engine/store/user-state.ts'
import { openProject } from '../../src/project/open.ts'
import { addToken } from '../../src/travel/hub/access-tokens.ts'
import { HubClaims } from '../../src/travel/hub/claims.ts'
import { openSqliteStore } from '../../src/travel/hub/sqlite.ts'
import { BIN } from '../cli/run.ts'
import { seeded } from '../convergence/harness.ts'
import { type TalkingChild, talking } from '../coordination/talking-child.ts'
import { judge as judgeLog, type Life as LogLife, type Told } from '../coordination/torture-judge.ts'
import { meets } from '../coordination/torture-universe.ts'
import { runs, SEED } from '../runs.ts'
import { git, team } from '../sync/clones.ts'
import { hubProcess, postgresStore, quiet } from './harness.ts'
import { judge, type Life, type Line } from './holders-judge.ts'
import { findPostgres, type Postgres } from './postgres.ts'

const ROOT = join(import.meta.dirname, '../..')
const RUNS = runs(8, 8)
const KILLS = 4
/** A session's program as one file, which starts in a quarter of the time. */
const made = mkdtempSync(join(tmpdir(), 'tidemark-holders-'))
const CHILD = join(made, 'dist/child.js')
const CODE = 'export class Token {\n  read() {\n    return 1\n  }\n}\n\nexport function parse() {\n  return 2\n}\n'
const now = () => Number(process.hrtime.bigint()) / 1e6

let found: Postgres | { missing: string }
let postgres: string | undefined
beforeAll(async () => {
  for (const name of ['node_modules', 'assets', 'bin', 'package.json']) symlinkSync(join(ROOT, name), join(made, name))
  await build({
    entryPoints: [join(import.meta.dirname, 'holders-child.ts')],
    outfile: CHILD,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
  })
  found = await findPostgres()
  if ('missing' in found) console.log(`on SQLite alone: ${found.missing}`)
  else postgres = await found.database()
})
afterAll(() => {
  rmSync(made, { recursive: true, force: true, maxRetries: 5 })
  if (!('missing' in found)) found.stop()
})

interface Child extends TalkingChild<Line> {
  kill(): void
}

function start(dir: string, id: string, seed: number, options: object): Child {
  const child = spawn(process.execPath, [CHILD, dir, id, String(seed), JSON.stringify(options)], {
    env: { ...process.env, NODE_COMPILE_CACHE: join(made, 'code'), TIDEMARK_STORE: '', TIDEMARK_SESSION: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  /** With the commands that it has typed. */
  const kill = () => void (child.exitCode ?? child.signalCode ?? process.kill(-child.pid!, 'SIGKILL'))
  onTestFinished(kill)
  return { ...talking<Line>(child), kill }
}

/** Two clones of one project, of which the first has a second work tree. */
function clones() {
  const { top, hub: repository } = team()
  const [ana, tree, ben] = [join(top, 'ana'), join(top, 'tree'), join(top, 'ben')] as const
  git(top, 'clone', '-q', `file://${repository}`, ana)
  mkdirSync(join(ana, 'src/auth'), { recursive: true })
  writeFileSync(join(ana, 'src/auth/token.ts'), CODE)
  git(ana, 'add', '-A')
  git(ana, 'commit', '-qm', 'code')
  git(ana, 'worktree', 'add', '-q', '-b', 'tree', tree)
  git(top, 'clone', '-q', `file://${ana}`, ben)
  return { top, dirs: { ana, tree, ben } }
}

/** A hub that is killed and started again on the same database and port. */
async function ownHub(place: string) {
  const at = { dir: tmpdir(), env: { ...process.env, TIDEMARK_HUB_STORE: place } }
  let hub = await hubProcess(at, '--port', '0')
  const { port } = new URL(hub.url)
  const kill = async () => {
    hub.child.kill('SIGKILL')
    await hub.ended
  }
  const restart = async () => {
    await kill()
    hub = await hubProcess(at, '--port', port)
  }
  return { url: `${hub.url.replace('http', 'ws')}/`, kill, restart }
}

/** One run: what is wrong with it, and what was done. */
async function oneRun(seed: number) {
  const bytes = seeded(seed)
  const below = (n: number) => ((bytes(1)[0]! << 8) | bytes(1)[0]!) % n
  const { top, dirs } = clones()
  const kind = (['sqlite', 'postgres', 'local', 'sqlite'] as const)[seed % 4]!
  const isJoined = kind !== 'local'
  const memories: Memory[] = []
  const closes: (() => unknown)[] = [() => rmSync(top, { recursive: true, force: true, maxRetries: 5 })]
  try {
    const projects = { ana: findProject(dirs.ana), ben: findProject(dirs.ben) }
    for (const project of Object.values(projects)) {
      const memory = openProject(project, { env: { ...systemEnv, log: () => {} }, unlisted: true })
      closes.unshift(() => memory.close())
      memories.push(memory)
    }
    const place = kind === 'postgres' && postgres !== undefined ? postgres : join(top, 'hub.db')
    const store = !isJoined
      ? undefined
      : await (place === postgres ? postgresStore(place, false) : openSqliteStore(place))
    if (store) closes.unshift(() => store.close())
    const hub = store && (await ownHub(place))
    if (hub) closes.unshift(hub.kill)
    for (const [member, { id, storePath }] of Object.entries(projects)) {
      if (!hub || !store) continue
      const { token } = await addToken(store, quiet, { member, role: 'writer', projects: [id] })
      keepHub(id, storePath, { url: hub.url, token, member })
    }
    const places = [
      ['ana', 'a1', dirs.ana],
      ['ana', 'a2', dirs.ana],
      ['ana', 't1', dirs.tree],
      ['ben', 'b1', dirs.ben],
    ] as const
    const lives: Life[] = []
    const logLives = { ana: [] as LogLife[], ben: [] as LogLife[] }
    const counts = { kills: 0, hubs: 0 }
    const atHub: string[] = []
    const lookAtHub = async () => {
      const placeAt = (c: { place: string; part: string }) => c.place + c.part
      const held = store ? await new HubClaims(store).held(projects.ana.id) : []
      for (const [i, a] of held.entries())
        for (const b of held.slice(i + 1))
          if (
            `${a.member}/${a.session}` !== `${b.member}/${b.session}` &&
            a.what === b.what &&
            meets(placeAt(a), placeAt(b))
          )
            atHub.push(`two at the hub: ${JSON.stringify([a, b])}`)
    }
    const running = { is: true }
    const ofHub = async () => {
      while (hub && running.is) {
        const upTo = counts.kills + 3
        while (running.is && counts.kills < upTo) await new Promise((resolve) => setTimeout(resolve, 20))
        if (!running.is) return
        await hub.restart()
        counts.hubs++
        await lookAtHub()
      }
    }
    const atPlaces = places.map(async ([member, name, root], i) => {
      const memory = memories[member === 'ana' ? 0 : 1]!
      for (let generation = 0; counts.kills < KILLS; generation++) {
        // some go on under the id of the one before them
        const id = generation % 3 === 1 ? name : `${name}.${generation}`
        const logLife: LogLife = { id, nameless: false, born: memory.cursor }
        logLives[member].push(logLife)
        const child = start(root, id, seed + i * 1000 + generation, { member, isJoined, bin: BIN })
        const life: Life = { id, member, root, isJoined, lines: child.said, dying: Infinity, dead: Infinity }
        lives.push(life)
        await child.until(6 + below(40))
        counts.kills++
        logLife.dying = memory.cursor
        life.dying = now()
        child.kill()
        await child.ended
        life.dead = now()
        logLife.dead = memory.cursor
        if (child.process.signalCode !== 'SIGKILL' || child.errors() !== '') throw new Error(child.errors())
      }
    })
    const hubs = ofHub()
    await Promise.all(atPlaces).finally(() => (running.is = false))
    await hubs
    await lookAtHub()
    const found = judge(lives)
    const wrong = [...found.wrong, ...atHub]
    for (const [i, member] of (['ana', 'ben'] as const).entries()) {
      const log: Told[] = memories[i]!.newsSince(0).flatMap((n) => n.presence ?? [])
      const own = log.filter((e) => !e.session.includes('/')) // what the hub says of others has numbers of its own
      for (const root of member === 'ana' ? [dirs.ana, dirs.tree] : [dirs.ben]) {
        // whether a claim may lapse is judged by what its holder was told
        const here = own.flatMap((e) => (e.body.n === undefined ? e : e.body.root === root ? { ...e, body: { ...e.body, note: 'lease' } } : [])) // biome-ignore format: one row
        wrong.push(...judgeLog(here, [], logLives[member]).wrong)
      }
      const numbers = own.flatMap((e) => (e.type === 'claimed' ? Number(e.body.n) : []))
      if (numbers.some((n, at) => at > 0 && n <= numbers[at - 1]!)) wrong.push(`numbers of ${member} do not grow`)
    }
    return { kind, wrong, counts: { ...counts, ...found.counts } }
  } finally {
    for (const close of closes) await close()
  }
}

test(`[X6] [X7] [N9] sessions in one work tree, in another one and in another clone are killed, and so is their hub, in ${RUNS} runs: never two holders, numbers grow`, {
  timeout: 60_000 + RUNS * 30_000,
}, async () => {
  const sum: Record<string, number> = {}
  const failed: object[] = []
  for (let i = 0; i < RUNS; i++) {
    const { kind, wrong, counts } = await oneRun(SEED + i)
    if (wrong.length > 0) failed.push({ seed: SEED + i, kind, wrong })
    for (const [what, n] of Object.entries({ ...counts, [kind]: 1 })) sum[what] = (sum[what] ?? 0) + n
    if (process.env.TIDEMARK_RUNS)
      process.stderr.write(`[X6] seed ${SEED + i} ${kind}: ${JSON.stringify({ ...counts, wrong })}\n`)
  }
  process.stderr.write(`[X6] seed ${SEED}, ${RUNS} runs: ${JSON.stringify(sum)}\n`)
  expect(failed).toEqual([])
  expect(sum.kills).toBeGreaterThanOrEqual(RUNS * KILLS)
  for (const what of RUNS < 8 ? [] : ['granted', 'refused', 'byHub', 'trees', 'hubs'])
    expect([what, sum[what]! > 0]).toEqual([what, true])
})
