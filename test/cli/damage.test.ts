// @module-tag long
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { project, tidemark } from './run.ts'

const storeOf = (at: { dir: string }) => join(at.dir, '.git/tidemark/store.db')

/** Leaves the store as a killed process does: what was written last stands in the write-ahead log alone. */
function keepWal(store: string): () => void {
  const reader = new DatabaseSync(store, { readOnly: true })
  reader.prepare('SELECT count(*) FROM log').get()
  return () => reader.close()
}

describe('[T71] upkeep that fails changes no answer of a write', () => {
  const broken: Record<string, (store: string) => string> = {
    'the daily snapshot': (store) => join(store, '../backups'),
    'the doorbell': (store) => `${store}.bell`,
    'the views': (store) => join(store, '../../../.tidemark/local/views'),
  }
  test.each(Object.entries(broken))('%s', async (what, where) => {
    const { at, run } = await project()
    await run('remember', 'the first one')
    const place = where(storeOf(at))
    rmSync(place, { recursive: true, force: true })
    if (what === 'the doorbell') mkdirSync(place)
    else writeFileSync(place, 'a file in its way')
    const { code, out, err } = await tidemark(at, ['remember', 'we use pnpm', '--json'])
    expect(code, err).toBe(0)
    expect(JSON.parse(out).batch).toMatch(/:/)
    expect(await run('list')).toContain('pnpm')
    if (what !== 'the daily snapshot') return
    expect(err).toMatch(/^note: the daily snapshot failed: /m)
    const doctor = await tidemark(at, ['doctor'])
    expect(doctor.out).toMatch(/^FIX {2}the daily snapshot failed: /m)
  })
})

test('[T75] what is known is read where nothing can be written, from a checkpointed store, from one with a write-ahead log, and with the file of shared memory that a mount left there', async () => {
  const { at, run } = await project()
  await run('remember', 'we use pnpm')
  const store = storeOf(at)
  const root = process.getuid?.() === 0
  const uid = root ? 65534 : undefined
  const top = join(at.dir, '..')
  chmodSync(top, 0o755)
  const lock = (mode: string) => void execFileSync('chmod', ['-R', mode, at.dir])
  onTestFinished(() => lock('u+w'))
  for (const left of [[], ['-wal'], ['-wal', '-shm']]) {
    const wal = left.length > 0
    const close = wal ? keepWal(store) : () => {}
    if (wal) await run('remember', 'tests run with vitest')
    if (!left.includes('-shm')) rmSync(`${store}-shm`, { force: true })
    expect(['-wal', '-shm'].filter((f) => existsSync(store + f))).toEqual(left)
    if (uid !== undefined) execFileSync('chown', ['-R', `${uid}:${uid}`, at.dir, at.env.HOME!])
    lock('a-w')
    const as = { ...at, ...(uid === undefined ? {} : { uid }) }
    const status = await tidemark(as, ['status'])
    expect([status.code, status.err]).toEqual([0, 'note: the store cannot be written here: it is read as it is\n'])
    const list = await tidemark(as, ['list', '--json'])
    expect(list.out).toContain('pnpm')
    expect(list.out.includes('vitest')).toBe(wal)
    const refused = await tidemark(as, ['remember', 'more', '--json'])
    expect(refused.code).toBe(1)
    expect(JSON.parse(refused.out).error.code).toBe('store-read-only')
    lock('u+w')
    if (uid !== undefined) execFileSync('chown', ['-R', '0:0', at.dir, at.env.HOME!])
    close()
  }
})

test('[T76] batches that went with a write-ahead log are named by the next opening and by doctor', async () => {
  const { at, run } = await project()
  await run('remember', 'the first one')
  const store = storeOf(at)
  const close = keepWal(store)
  const lost = [JSON.parse(await run('remember', 'lost one', '--json')).batch as string]
  lost.push(JSON.parse(await run('remember', 'lost two', '--json')).batch as string)
  close()
  for (const f of readdirSync(join(store, '..'))) if (/-wal$|-shm$/.test(f)) rmSync(join(store, '..', f))
  const next = await tidemark(at, ['list'])
  expect(next.code).toBe(0)
  expect(next.out).not.toContain('lost')
  expect(next.err).toContain(`batches ${lost[0]} to ${lost[1]} were acknowledged and are not in the store`)
  const doctor = await tidemark(at, ['doctor'])
  expect(doctor.err).toBe('')
  expect(doctor.out).toContain(`FIX  batches ${lost[0]} to ${lost[1]} were acknowledged and are not in the store`)
  const restored = await tidemark(at, ['doctor', '--restore', '--json'])
  const [replica, from] = lost[0]!.split(':')
  expect([restored.code, JSON.parse(restored.out).missing]).toMatchObject([
    1,
    [{ replica, from: Number(from), to: Number(from) + 1 }],
  ])
  // the numbers of what was lost are not given again
  const now = JSON.parse(await run('remember', 'after that', '--json')).batch as string
  expect(lost).not.toContain(now)
  expect(now.split(':')[0]).not.toBe(lost[0]!.split(':')[0])
})

test('[T78] a damaged line is met by the look at some of them after a write, and no snapshot is made of it', async () => {
  const { at, run } = await project()
  for (const text of ['one', 'two', 'three']) await run('remember', `remember ${text}`)
  const db = new DatabaseSync(storeOf(at))
  db.exec("UPDATE log SET line=replace(line, 'remember two', 'remember tvo')")
  db.close()
  const backups = join(storeOf(at), '../backups')
  rmSync(backups, { recursive: true })
  const { code, err } = await tidemark(at, ['remember', 'four'])
  expect(code).toBe(0)
  expect(err).toMatch(/^note: the store is damaged: batch \w+:\d+ is not what was written: its hash does not fit; /)
  expect(existsSync(backups)).toBe(false)
  const doctor = await tidemark(at, ['doctor'])
  expect(doctor.code).toBe(1)
  expect(doctor.out).toMatch(/^FIX {2}store is damaged: batch .*\n {5}→ `tidemark doctor --restore`/m)
  const restored = await tidemark(at, ['doctor', '--restore', '--json'])
  expect([restored.code, JSON.parse(restored.out).remade]).toEqual([0, [expect.any(String)]])
  expect(await run('list')).toContain('remember two')
  expect((await tidemark(at, ['doctor'])).code).toBe(0)
})

test('[T72] doctor tells of damage that ends its own checks, and how to mend it', async () => {
  const { at, run } = await project()
  for (let i = 0; i < 5; i++) await run('remember', `remember number ${i}`)
  const bytes = readFileSync(storeOf(at))
  for (let i = 4096 * 8; i < 4096 * 14; i++) bytes[i]! ^= 0x5a
  writeFileSync(storeOf(at), bytes)
  const doctor = await tidemark(at, ['doctor'])
  expect([doctor.code, doctor.err]).toEqual([1, ''])
  expect(doctor.out).toMatch(/^FIX {2}.*is damaged.*\n {5}→ `tidemark doctor --restore`/m)
  expect(doctor.out).toContain('marked FIX')
  expect((await tidemark(at, ['doctor', '--restore'])).code).toBe(0)
  expect(await run('list')).toContain('remember number 4')
})

test('[T72] a row that cannot be read is damage and no bug, and is made again', async () => {
  const { at, run } = await project()
  await run('remember', 'we use pnpm')
  const db = new DatabaseSync(storeOf(at))
  db.exec("UPDATE entities SET body='{'")
  db.close()
  const list = await tidemark(at, ['list', '--json'])
  expect([list.code, JSON.parse(list.out).error.code]).toEqual([1, 'store-damaged'])
  const doctor = await tidemark(at, ['doctor'])
  expect(doctor.out).toMatch(/^FIX {2}store is damaged: .*\n {5}→ `tidemark doctor --rebuild`/m)
  await run('doctor', '--rebuild')
  expect(await run('list')).toContain('pnpm')
})

test('[T72] a definition of a table that SQLite cannot make sense of is damage and no bug: --restore puts the lines together anew', async () => {
  const { at, run } = await project()
  await run('remember', 'we use pnpm', '--kind', 'decision')
  const bytes = readFileSync(storeOf(at))
  bytes[bytes.indexOf('contentless_delete') + 14]! ^= 1
  for (const suffix of ['-wal', '-shm']) rmSync(storeOf(at) + suffix, { force: true })
  writeFileSync(storeOf(at), bytes)
  for (const args of [
    ['remember', 'never use npm'],
    ['recall', 'pnpm'],
  ]) {
    const ran = await tidemark(at, args)
    expect([ran.code, ran.err]).toEqual([1, expect.stringMatching(/is damaged: .*\n.*doctor --restore/)])
  }
  const doctor = await tidemark(at, ['doctor'])
  expect(doctor.out).toMatch(/^FIX {2}store is damaged: .*\n {5}→ `tidemark doctor --restore`/m)
  await run('doctor', '--restore')
  expect((await tidemark(at, ['doctor'])).code).toBe(0)
  expect(await run('list')).toContain('pnpm')
  expect(await run('recall', 'pnpm')).toContain('pnpm')
})

test('[T73] doctor says that the clock was ahead', async () => {
  const { at, run } = await project()
  await run('remember', 'we use pnpm')
  expect(await run('doctor')).not.toContain('the clock')
  const backups = join(storeOf(at), '../backups')
  copyFileSync(join(backups, readdirSync(backups)[0]!), join(backups, `store-${Date.UTC(2099, 0)}.db`))
  expect(await run('doctor')).toContain('1 snapshot dated in the future, up to 2099-01-01 00:00 UTC')
})
