import { execFileSync, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'

/** A PostgreSQL to test with, or why there is none. */
export interface Postgres {
  /** The address of a database that is empty. */
  database(): Promise<string>
  stop(): void
}

/** One of our own, that may be killed. */
export interface OwnPostgres extends Postgres {
  /** `kill -9` of all its processes. */
  kill(): void
  /** Starts it again on the same data and port. */
  start(): void
}

pg.defaults.user ||= userInfo().username

const BINARIES = '/usr/lib/postgresql'

/** The one at its standard local address, if this user may make databases there; else one on a temporary directory. */
export async function findPostgres(durable = false): Promise<Postgres | { missing: string }> {
  const standing = process.env.TIDEMARK_TEST_POSTGRES ?? 'postgres://localhost:5432/postgres'
  const probe = new pg.Client({ connectionString: standing, connectionTimeoutMillis: 2_000 })
  try {
    await probe.connect()
    const { rows } = await probe.query('SELECT rolcreatedb AS may FROM pg_roles WHERE rolname = current_user')
    if (rows[0]?.may) return { database: () => makeDatabase(standing), stop() {} }
  } catch {
    // nobody listens there
  } finally {
    await probe.end()
  }
  return ownPostgres(durable, `no PostgreSQL at ${standing}, and `)
}

let count = 0
async function makeDatabase(url: string): Promise<string> {
  const name = `tidemark_test_${process.pid}_${++count}`
  const admin = new pg.Client(url)
  await admin.connect()
  await admin.query(`DROP DATABASE IF EXISTS ${name}`)
  await admin.query(`CREATE DATABASE ${name}`)
  await admin.end()
  return Object.assign(new URL(url), { pathname: `/${name}` }).href
}

/** One on a temporary directory, or why there can be none. */
export async function ownPostgres(durable = false, before = ''): Promise<OwnPostgres | { missing: string }> {
  const versions = existsSync(BINARIES) ? readdirSync(BINARIES).sort((a, b) => Number(b) - Number(a)) : []
  const bin = versions.map((v) => join(BINARIES, v, 'bin')).find((dir) => existsSync(join(dir, 'initdb')))
  if (bin === undefined) return { missing: `${before}no initdb below ${BINARIES}` }
  const dir = mkdtempSync(join(tmpdir(), 'tidemark-pg-'))
  const as = userFor(dir)
  if (as === undefined) return { missing: 'PostgreSQL does not run as root, and there is no user postgres' }
  const run = (name: string, ...args: string[]) =>
    execFileSync(join(bin, name), args, { ...as, cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] })
  const port = await freePort()
  run('initdb', '-D', join(dir, 'data'), '-U', 'postgres', '-A', 'trust', '--no-sync', '-E', 'UTF8', '--locale=C')
  const settings = durable ? '' : '-c fsync=off'
  const start = () =>
    run('pg_ctl', 'start', '-w', '-D', join(dir, 'data'), '-l', join(dir, 'log'), '-o', `-p ${port} -k '' -h 127.0.0.1 -c max_connections=60 ${settings}`) // biome-ignore format: one row
  start()
  return {
    database: () => makeDatabase(`postgres://postgres@127.0.0.1:${port}/postgres`),
    stop() {
      run('pg_ctl', 'stop', '-m', 'immediate', '-D', join(dir, 'data'))
      rmSync(dir, { recursive: true, force: true })
    },
    kill() {
      const lock = join(dir, 'data', 'postmaster.pid')
      const first = Number(readFileSync(lock, 'utf8').split('\n')[0])
      const ps = (...args: string[]) => spawnSync('ps', args, { encoding: 'utf8' }).stdout.split('\n')
      const pids = [first, ...ps('-o', 'pid=', '--ppid', `${first}`).map(Number)].filter((pid) => pid > 0)
      for (const pid of pids)
        try {
          process.kill(pid, 'SIGKILL')
        } catch {
          // it has ended by itself
        }
      while (ps('-o', 'stat=', '-p', pids.join(',')).some((state) => /^[^Z]/.test(state)));
      rmSync(lock) // where nobody waits for dead processes, their ids seem to be in use
    },
    start,
  }
}

/** PostgreSQL refuses to be root. */
function userFor(dir: string): { uid?: number; gid?: number } | undefined {
  if (process.getuid?.() !== 0) return {}
  try {
    const idOf = (flag: string) =>
      Number(execFileSync('id', [flag, 'postgres'], { stdio: ['ignore', 'pipe', 'ignore'] }))
    const ids = { uid: idOf('-u'), gid: idOf('-g') }
    chownSync(dir, ids.uid, ids.gid)
    return ids
  } catch {
    rmSync(dir, { recursive: true })
    return undefined
  }
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
