import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { vouchedFor } from '../../src/engine/replication/vouched.ts'
import { openAt } from '../../src/project/open.ts'
import { files, git, inProcess, scratch } from '../cli/run.ts'
import { contextOf, PATIENT, runHook } from '../hooks/run.ts'
import { describeUnless, NOT_ROOT } from '../needs.ts'

const NOBODY = 65534
const RULE = '[["record-decision", {"name": "send-keys-out", "rationale": "it wants the keys"}]]'

type At = ReturnType<typeof scratch>

/** A project with a store that somebody made on another machine, as an archive brings it: without `.git`, or with it. */
async function archive(withGit: boolean): Promise<{ at: At; store: string; theirs: At }> {
  const theirs = scratch()
  if (withGit) git(theirs.dir, 'init', '-q')
  await inProcess(theirs, ['init', '--client', 'none', '--yes', '--no-import'])
  await inProcess(theirs, ['act', RULE])
  expect((await inProcess(theirs, ['brief'])).out).toContain('send-keys-out')
  const at = scratch() // another machine: another home
  cpSync(theirs.dir, at.dir, { recursive: true })
  return { at, store: join(at.dir, withGit ? '.git/tidemark' : '.tidemark/store', 'store.db'), theirs }
}

/** The store of a project, opened as its user. */
const memoryOf = ({ dir }: At) => openAt({ projectPath: dir }).memory

const start = (at: At) => runHook(['claude', 'SessionStart'], { session_id: 's', source: 'startup', cwd: at.dir }, { env: PATIENT }) // biome-ignore format: one thought
const bytes = (dir: string): [string, string][] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((f) => lstatSync(join(dir, f)).isFile())
    .sort()
    .map((f) => [f, readFileSync(join(dir, f), 'base64')])

describe.each([
  ['without git', false],
  ['with .git', true],
])('[T30] a store that came with an archive, %s,', (_, withGit) => {
  test('is refused by every surface in one line that says how to adopt it, and stays as it is', async () => {
    const { at, store } = await archive(withGit)
    const before = bytes(dirname(store))
    for (const args of [
      ['status'],
      ['act', RULE],
      ['recall', 'keys'],
      ['brief'],
      ['init', '--client', 'none', '--yes'],
    ]) {
      const ran = await inProcess(at, args)
      expect(ran.code).toBe(1)
      expect(ran.err).toMatch(/was not made by you on this machine: it is not opened\n.*`tidemark adopt`/)
      expect(ran.err).not.toContain('send-keys-out')
    }
    const doctor = await inProcess(at, ['doctor'])
    expect([doctor.code, doctor.out]).toEqual([1, expect.stringContaining('tidemark adopt')])
    expect((await inProcess(at, ['doctor', '--restore'])).code).toBe(1)
    expect(bytes(dirname(store))).toEqual(before)
  })

  test('[M4] binds nobody at the first hook: the person is told once, and the client works', async () => {
    const { at, store } = await archive(withGit)
    const before = bytes(dirname(store))
    const ran = await start(at)
    expect(ran.code).toBe(0)
    expect(contextOf(ran)).toBe('')
    expect(ran.json.systemMessage).toMatch(/not made by you.*tidemark adopt/)
    const prompt = await runHook(['claude', 'UserPromptSubmit'], { session_id: 's', cwd: at.dir, prompt: 'Always use tabs' }, { env: PATIENT }) // biome-ignore format: one thought
    expect([prompt.code, prompt.out]).toEqual([0, ''])
    expect(bytes(dirname(store))).toEqual(before)
  })
})

test('[T30] what an archive lays where a store is to be made is not taken for ours', async () => {
  for (const left of [
    'token',
    'backups/store-1.db',
    'archive/events-2026-01.jsonl',
    'store.db-wal',
    'store.db.owner',
  ]) {
    const at = scratch()
    files(at.dir, { '.tidemark/config.json': '{"id":"0123456789abcdef0123"}', [`.tidemark/store/${left}`]: 'x' })
    const ran = await inProcess(at, ['act', RULE])
    expect([left, ran.code, ran.err]).toEqual([left, 1, expect.stringContaining('tidemark adopt')])
    expect(existsSync(join(at.dir, '.tidemark/store/store.db'))).toBe(false)
  }
})

test('[T30] a copy of one’s own store on one’s own machine keeps working', async () => {
  const at = scratch()
  await inProcess(at, ['init', '--client', 'none', '--yes'])
  await inProcess(at, ['act', RULE])
  const copy = { ...at, dir: join(dirname(at.dir), 'copy') }
  cpSync(at.dir, copy.dir, { recursive: true })
  expect((await inProcess(copy, ['brief'])).out).toContain('send-keys-out')
})

test('[T30] [C5] a store of 0.1.0, which has no mark, is opened where the user’s list knows it, once', async () => {
  const at = scratch()
  await inProcess(at, ['init', '--client', 'none', '--yes'])
  const dir = join(at.dir, '.tidemark/store')
  const listed = join(at.home, '.local/state/tidemark/projects')
  /** As 0.1.0 left it: open to readers, unmarked, listed without a word of a mark. */
  const older = () => {
    for (const f of readdirSync(dir)) if (/owner$/.test(f)) rmSync(join(dir, f))
    chmodSync(dir, 0o755)
    chmodSync(join(dir, 'store.db'), 0o644)
  }
  older()
  const entry = join(listed, readdirSync(listed)[0]!)
  writeFileSync(entry, readFileSync(entry, 'utf8').replace(',"marked":true', ''))
  expect((await inProcess(at, ['status'])).code).toBe(0)
  expect([dir, join(dir, 'store.db'), join(dir, 'store.db.owner')].map((f) => statSync(f).mode & 0o777)).toEqual([0o700, 0o600, 0o600]) // biome-ignore format: one thought
  older() // another one, unpacked in its place
  expect((await inProcess(at, ['status'])).err).toContain('tidemark adopt')
})

test('[T30] a place that the user names is his word, unless it lies in the project; a lost state directory is told', async () => {
  const at = scratch()
  await inProcess(at, ['init', '--client', 'none', '--yes'])
  for (const [place, code] of [
    [join(at.home, 'kept'), 0],
    [join(at.dir, 'kept'), 1],
  ] as const) {
    const env = { ...at.env, TIDEMARK_STORE: place }
    expect((await inProcess({ ...at, env }, ['act', RULE])).code).toBe(0)
    rmSync(join(place, 'store.db.owner'))
    expect((await inProcess({ ...at, env }, ['status'])).code).toBe(code)
  }
  rmSync(join(at.home, '.local/state/tidemark'), { recursive: true })
  expect((await inProcess(at, ['status'])).err).toContain('tidemark adopt')
})

test('[T31] the store, what lies beside it and the user’s state are closed to others from the start', async () => {
  const at = scratch()
  git(at.dir, 'init', '-q')
  process.umask(0o022)
  await inProcess(at, ['init', '--client', 'none', '--yes'])
  await inProcess(at, ['act', RULE])
  await runHook(['claude', 'SessionStart'], { session_id: 's', cwd: at.dir }, { env: PATIENT })
  const dir = join(at.dir, '.git/tidemark')
  const open = [dir, join(at.home, '.local/state/tidemark')].flatMap((top) =>
    ['', ...readdirSync(top, { recursive: true, encoding: 'utf8' })]
      .map((f) => join(top, f))
      .filter((f) => (statSync(f).mode & 0o077) !== 0),
  )
  expect(open).toEqual([])
  expect(readdirSync(join(dir, 'backups')).length).toBe(1)
  chmodSync(dir, 0o755)
  chmodSync(join(dir, 'store.db'), 0o664)
  await inProcess(at, ['status'])
  expect([statSync(dir).mode & 0o777, statSync(join(dir, 'store.db')).mode & 0o777]).toEqual([0o700, 0o600])
  chmodSync(join(dir, 'store.db'), 0o666)
  expect((await inProcess(at, ['status'])).err).toContain('everybody may write to')
})

test('[T32] nothing beside the store is written through a link or a second name', async () => {
  for (const [name, lay] of [
    ['soft', symlinkSync],
    ['hard', linkSync],
  ] as const) {
    const at = scratch()
    await inProcess(at, ['init', '--client', 'none', '--yes'])
    const target = join(at.home, 'precious')
    writeFileSync(target, 'precious')
    const store = join(at.dir, '.tidemark/store/store.db')
    for (const beside of ['.bell', '-wal', '-shm', '']) {
      if (name === 'hard' && beside !== '.bell') continue
      const kept = existsSync(store + beside) ? readFileSync(store + beside) : undefined
      rmSync(store + beside, { force: true })
      lay(target, store + beside)
      const ran = await inProcess(at, ['act', RULE])
      if (name === 'soft') expect([beside, ran.err]).toEqual([beside, expect.stringContaining('is a link')])
      expect([name, beside, readFileSync(target, 'utf8')]).toEqual([name, beside, 'precious'])
      rmSync(store + beside, { force: true })
      if (kept) writeFileSync(store + beside, kept, { mode: 0o600 })
    }
  }
  const at = scratch()
  await inProcess(at, ['init', '--client', 'none', '--yes'])
  const dir = join(at.dir, '.tidemark/store')
  renameSync(dir, join(at.home, 'elsewhere'))
  symlinkSync(join(at.home, 'elsewhere'), dir)
  expect((await inProcess(at, ['status'])).err).toContain('is a link')
})

describeUnless(NOT_ROOT)('[T33] what belongs to another user of the machine', () => {
  const give = (path: string) => execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, path])

  test('a project found upward is not taken: one line says whose it is and what to do', async () => {
    const at = scratch()
    await inProcess(at, ['init', '--client', 'none', '--yes'])
    give(join(at.dir, '.tidemark'))
    const below = { ...at, dir: join(at.dir, 'x') }
    mkdirSync(below.dir)
    for (const args of [['status'], ['act', RULE], ['init', '--client', 'none', '--yes']]) {
      const ran = await inProcess(below, args)
      expect([ran.code, ran.err]).toEqual([1, expect.stringMatching(/belongs to user 65534, not to you.*\n.*tidemark adopt/)]) // biome-ignore format: one thought
    }
    const ran = await start(below)
    expect([ran.code, contextOf(ran)]).toEqual([0, ''])
    expect(ran.json.systemMessage).toContain('belongs to user 65534')
  })

  test('a store is not opened, whoever owns the project', async () => {
    const at = scratch()
    await inProcess(at, ['init', '--client', 'none', '--yes'])
    give(join(at.dir, '.tidemark/store'))
    for (const args of [['status'], ['adopt', '--yes']])
      expect((await inProcess(at, args)).err).toMatch(/belongs to user 65534, not to you: the store is not opened/)
  })

  test('under sudo the files of who called it are ours', async () => {
    const at = scratch()
    await inProcess(at, ['init', '--client', 'none', '--yes'])
    give(at.dir)
    expect((await inProcess({ ...at, env: { ...at.env, SUDO_UID: String(NOBODY) } }, ['status'])).code).toBe(0)
  })
})

test('[T31] a disk on which a file has no mode of its own, as Windows’ disks in WSL, holds a store; another one that all may write to does not', async () => {
  const at = scratch()
  git(at.dir, 'init', '-q')
  const modeless = join(at.home, 'modeless.mjs')
  writeFileSync(
    modeless,
    `import fs from 'node:fs'
     import { syncBuiltinESMExports } from 'node:module'
     for (const name of ['statSync', 'lstatSync', 'fstatSync']) {
       const real = fs[name]
       fs[name] = (...args) => {
         const stat = real(...args)
         if (stat) stat.mode |= typeof stat.mode === 'bigint' ? 0o777n : 0o777
         return stat
       }
     }
     syncBuiltinESMExports()`,
  )
  const wsl = { ...at, env: { ...at.env, NODE_OPTIONS: `--import=${modeless}` } }
  expect((await inProcess(wsl, ['init', '--client', 'none', '--yes'])).err).toBe('')
  expect((await inProcess(wsl, ['act', RULE])).err).toBe('')
  expect((await inProcess(wsl, ['list'])).out).toContain('send-keys-out')
  expect(readdirSync(join(at.dir, '.git/tidemark')).filter((name) => name.startsWith('.new-'))).toEqual([])
  chmodSync(join(at.dir, '.git/tidemark'), 0o777)
  expect((await inProcess(at, ['list'])).err).toContain('everybody may write')
})

describe('[T34] tidemark adopt', () => {
  test('shows what is there, asks, and takes it over as knowledge that binds nobody', async () => {
    const { at, store } = await archive(false)
    const token = join(dirname(store), 'token')
    writeFileSync(token, 'known to the author of the archive\n')
    const before = bytes(dirname(store))
    const unasked = await inProcess(at, ['adopt'])
    expect([unasked.code, unasked.err]).toEqual([1, expect.stringContaining('--yes')])
    expect(unasked.out).toMatch(/1 decision/)
    expect(bytes(dirname(store))).toEqual(before)

    const agents = await inProcess({ ...at, env: { ...at.env, CLAUDECODE: '1' } }, ['adopt', '--yes'])
    expect([agents.code, agents.err]).toEqual([1, expect.stringContaining('an agent does not decide')])
    expect(bytes(dirname(store))).toEqual(before)

    const done = await inProcess(at, ['adopt', '--yes'])
    expect([done.err, done.code]).toEqual(['', 0])
    expect((await inProcess(at, ['list', 'decision'])).out).toContain('send-keys-out')
    expect(existsSync(token)).toBe(false)
    const { db } = memoryOf(at)
    for (const table of ['sessions', 'claims', 'current_work', 'defines', 'presence_events', 'told', 'doors'])
      expect([table, db.get(`SELECT count(*) AS n FROM ${table}`)]).toEqual([table, { n: 0 }])
    expect(vouchedFor({ db }, ['decision:send-keys-out']).size).toBe(0)
    db.close()
    expect((await inProcess(at, ['adopt'])).out).toContain('is yours already')
    expect((await inProcess(at, ['doctor'])).code).toBe(0)
  })

  test('leaves the store open to the machine that made it, as a container and its host share one', async () => {
    const theirs = scratch()
    await inProcess(theirs, ['init', '--client', 'none', '--yes', '--no-import'])
    await inProcess(theirs, ['act', RULE])
    const container = { ...scratch(), dir: theirs.dir } // another home, the same directory
    expect((await inProcess(container, ['list', 'decision'])).err).toContain('tidemark adopt')
    expect((await inProcess(container, ['adopt', '--yes'])).code).toBe(0)
    for (const at of [container, theirs])
      expect((await inProcess(at, ['list', 'decision'])).out).toContain('send-keys-out')
  })

  test('takes a compacted store as unconfirmed, too', async () => {
    const { at, theirs } = await archive(false)
    await inProcess(theirs, ['remember', 'Never push to main'])
    await inProcess(theirs, ['doctor', '--compact', '2099-01-01'])
    rmSync(at.dir, { recursive: true })
    cpSync(theirs.dir, at.dir, { recursive: true })
    expect((await inProcess(at, ['adopt', '--yes'])).code).toBe(0)
    expect((await inProcess(at, ['status'])).out).toContain('1 to review')
    const { db } = memoryOf(at)
    expect(vouchedFor({ db }, ['decision:send-keys-out']).size).toBe(0)
    db.close()
  })

  test('refuses a file whose tables are not exactly ours, and reads nothing from it', async () => {
    for (const sql of [
      'CREATE TRIGGER t AFTER INSERT ON log BEGIN DELETE FROM log; END',
      'ALTER TABLE log RENAME TO old; CREATE VIEW log AS SELECT * FROM old',
      'PRAGMA user_version=0',
    ]) {
      const { at, store } = await archive(false)
      const db = new DatabaseSync(store)
      db.exec(sql)
      db.close()
      const ran = await inProcess(at, ['adopt', '--yes'])
      expect([sql, ran.code, ran.err]).toEqual([sql, 1, expect.stringMatching(/is no store as this version/)])
    }
  })
})
