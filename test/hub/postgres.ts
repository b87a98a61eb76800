import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'

/** A PostgreSQL to test with, or why there is none. */
export interface Postgres {
  /** The address of a database that is empty. */
  database(): Promise<string>
  stop(): void
}

const BINARIES = '/usr/lib/postgresql'

/** The one at its standard local address, if this user may make databases there; else one on a temporary directory. */
export async function findPostgres(durable = false): Promise<Postgres | { missing: string }> {
  const standing = process.env.TIDEMARK_TEST_POSTGRES ?? 'postgres://localhost:5432/postgres'
  let count = 0
  const databases = (url: string, stop: () => void): Postgres => ({
    async database() {
      const name = `tidemark_test_${process.pid}_${++count}`
      const admin = postgres(url, { max: 1, onnotice: () => {} })
      await admin.unsafe(`DROP DATABASE IF EXISTS ${name}`)
      await admin.unsafe(`CREATE DATABASE ${name}`)
      await admin.end()
      return Object.assign(new URL(url), { pathname: `/${name}` }).href
    },
    stop,
  })
  const probe = postgres(standing, { max: 1, connect_timeout: 2, onnotice: () => {} })
  try {
    const [row] = await probe`SELECT rolcreatedb AS may FROM pg_roles WHERE rolname = current_user`
    if (row?.may) return databases(standing, () => {})
  } catch {
    // nobody listens there
  } finally {
    await probe.end({ timeout: 1 })
  }
  const versions = existsSync(BINARIES) ? readdirSync(BINARIES).sort((a, b) => Number(b) - Number(a)) : []
  const bin = versions.map((v) => join(BINARIES, v, 'bin')).find((dir) => existsSync(join(dir, 'initdb')))
  if (bin === undefined) return { missing: `no PostgreSQL at ${standing}, and no initdb below ${BINARIES}` }
  const dir = mkdtempSync(join(tmpdir(), 'tidemark-pg-'))
  const as = userFor(dir)
  if (as === undefined) return { missing: 'PostgreSQL does not run as root, and there is no user postgres' }
  const run = (name: string, ...args: string[]) =>
    execFileSync(join(bin, name), args, { ...as, cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] })
  const port = await freePort()
  run('initdb', '-D', join(dir, 'data'), '-U', 'postgres', '-A', 'trust', '--no-sync', '-E', 'UTF8', '--locale=C')
  const settings = durable ? '' : '-c fsync=off'
  run('pg_ctl', 'start', '-w', '-D', join(dir, 'data'), '-l', join(dir, 'log'), '-o', `-p ${port} -k ${dir} -h 127.0.0.1 -c max_connections=60 ${settings}`) // biome-ignore format: one row
  return databases(`postgres://postgres@127.0.0.1:${port}/postgres`, () => {
    run('pg_ctl', 'stop', '-m', 'immediate', '-D', join(dir, 'data'))
    rmSync(dir, { recursive: true, force: true })
  })
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
