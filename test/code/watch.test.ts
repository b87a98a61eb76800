import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { getMeta } from '../../src/engine/store/meta.ts'
import { watchCode } from '../../src/find/code/watch.ts'
import { openProject } from '../../src/project/open.ts'
import { inbox } from '../../src/work/coordination/inbox.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { openTestCode, type TestCode } from './code.ts'

const decision = (name: string, ...locations: string[]) => [
  'record-decision',
  { name, rationale: 'because', locations },
]

/** Resolves as soon as something holds; it is looked at after every commit, and now and then. */
async function until(c: Pick<TestCode, 'memory'>, holds: () => boolean): Promise<number> {
  const begin = performance.now()
  const { promise, resolve } = Promise.withResolvers<void>()
  const look = () => holds() && resolve()
  const stop = c.memory.subscribe(look)
  const timer = setInterval(look, 10)
  onTestFinished(() => clearInterval(timer))
  look()
  await promise
  clearInterval(timer)
  stop()
  return performance.now() - begin
}

const isWatched = (c: TestCode) => getMeta(c.memory.db, `code_watcher ${c.root}`) !== undefined

function watched(files: Readonly<Record<string, string>>) {
  const c = openTestCode(files)
  const stop = watchCode(c.memory, c.project)
  onTestFinished(stop)
  return { ...c, stop }
}

test('[F1] another live session is told within a second that a file changed, and which knowledge that leaves behind', async () => {
  const c = watched({
    'src/a.ts': 'export function f() { return 1 }\n',
    '.gitignore': 'out/\n',
    'out/b.ts': 'export const b = 1\n',
  })
  await c.record(decision('d', 'src/a.ts#f'))
  await until(c, () => isWatched(c))
  await c.scan()
  const other = openProject(c.project, { unlisted: true })
  onTestFinished(() => other.close())
  sessionsOf(other).start({ id: 'listener', root: c.root })
  const since = other.cursor
  const told = () => inbox(other, 'listener', { since }).lines
  c.write('out/b.ts', 'export const b = 2\n')
  c.write('src/a.ts', 'export function f() { return 2 }\n')
  expect(await until({ memory: other }, () => told().length > 0)).toBeLessThan(1_000)
  expect(told()).toEqual(['src/a.ts changed: what is recorded in decision:d may no longer hold'])
})

test('[F1] a new directory, a renamed one and one that git ignores from now on are watched as they are', async () => {
  const c = watched({ 'src/a.ts': 'export function f() { return 1 }\n' })
  await c.record(decision('d', 'src/a.ts#f'), decision('n', 'new/deep/n.ts#n'))
  await until(c, () => isWatched(c))
  await c.scan()
  c.write('new/deep/n.ts', 'export function n() { return 1 }\n')
  const hashOf = (entity: string) =>
    c.memory.db.get<{ hash: string; path: string }>('SELECT hash, path FROM anchors WHERE entity=?', entity)
  await until(c, () => hashOf('decision:n')!.hash !== '')
  c.move('src', 'lib')
  await until(c, () => hashOf('decision:d')!.path === 'lib/a.ts')
  expect(c.why('d')).toBeUndefined()
  c.write('lib/a.ts', 'export function f() { return 2 }\n')
  await until(c, () => c.why('d') === 'f in lib/a.ts changed to `export function f() { return 2 }`')
  c.write('.gitignore', 'new/\n')
  const isSeen = () => c.memory.db.get('SELECT 1 FROM code_files WHERE path=?', 'new/deep/n.ts') !== undefined
  await until(c, () => !isSeen())
  c.write('new/deep/n.ts', 'export function n() { return 2 }\n')
  c.write('lib/a.ts', 'export function f() { return 1 }\n')
  await until(c, () => c.why('d') === undefined)
  expect([isSeen(), c.why('n')]).toEqual([false, undefined])
})

test('[F1] one process watches a work tree; when it ends another takes its place', async () => {
  const c = watched({ 'a.ts': 'export function f() { return 1 }\n' })
  await until(c, () => isWatched(c))
  const lease = getMeta(c.memory.db, `code_watcher ${c.root}`)!
  c.stop()
  expect(isWatched(c)).toBe(false)
  // one that was killed has left its lease
  const dead = { ...JSON.parse(lease), process: { ...JSON.parse(lease).process, pid: 2 ** 22 - 1 } }
  c.memory.db.run('INSERT INTO meta VALUES (?,?)', `code_watcher ${c.root}`, JSON.stringify(dead))
  onTestFinished(watchCode(c.memory, c.project))
  await until(c, () => JSON.parse(getMeta(c.memory.db, `code_watcher ${c.root}`)!).process.pid === process.pid)
})

test('[M3] a server that watches the code ends at once when its input closes', async () => {
  const c = openTestCode(
    Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`src/${i % 20}/f${i}.ts`, `export const x = ${i}\n`])),
  )
  const bin = join(import.meta.dirname, '../../bin/tidemark.js')
  const server = spawn(process.execPath, [bin, 'mcp', '--project', c.root], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void server.kill('SIGKILL'))
  const say = (message: object) => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const clientInfo = { name: 'test', version: '1' }
  say({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } })
  say({ method: 'notifications/initialized' })
  say({ id: 2, method: 'tools/call', params: { name: 'discover', arguments: { expr: '(kinds)' } } })
  await until(c, () => isWatched(c))
  const begin = performance.now()
  server.stdin.end()
  const [code] = await once(server, 'exit')
  expect(code).toBe(0)
  expect(performance.now() - begin).toBeLessThan(1_000) // ten times the 100 ms of an idle machine
  expect(isWatched(c)).toBe(false)
})
