import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { Prompts } from '../../src/engine/store/prompts.ts'
import { openAt } from '../../src/project/open.ts'
import { userError } from '../helpers.ts'
import { NOT_ROOT, testUnless } from '../needs.ts'
import { files, git, inProcess, onTerminal, project, scratch, tidemark } from './run.ts'

const DELETE = ['uninstall', '--delete-knowledge', '--yes']
const decide = (name: string) => JSON.stringify([['record-decision', { name, rationale: 'because' }]])
const names = '(sort (map :name (get-decisions)) string<?)'

/** Every file below a directory, with a hash of what is in it. */
const everything = (dir: string) =>
  Object.fromEntries(
    readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((f) => f.isFile())
      .map((f) => join(f.parentPath, f.name))
      .sort()
      .map((f) => [f.slice(dir.length + 1), createHash('sha256').update(readFileSync(f)).digest('base64')]),
  )

const state = (at: { home: string }) => join(at.home, '.local/state/tidemark/uninstalled')
const kept = (at: { home: string }) => (existsSync(state(at)) ? readdirSync(state(at)) : [])

test('[T44] an agent does not delete the knowledge of its user, with --yes neither', async () => {
  const { at, run } = await known()
  const agents = { ...at, env: { ...at.env, CLAUDECODE: '1' } }
  for (const more of [[], ['--purge']]) {
    const ran = await inProcess(agents, [...DELETE, ...more])
    expect([ran.code, ran.err]).toEqual([1, expect.stringMatching(/an agent does not decide[\s\S]*CLAUDECODE/)])
  }
  expect(await run('list')).toContain('use-x')
  const off = { ...at, env: { ...at.env, CLAUDECODE: '0' } }
  expect((await inProcess(off, DELETE)).code).toBe(0)
})

test('[T25] what stands in the home goes with the last project of the user, also where another one made it and is gone', async () => {
  const maker = scratch()
  const last = { ...maker, dir: join(maker.home, 'other') }
  mkdirSync(last.dir)
  for (const at of [maker, last]) await inProcess(at, ['init', '--client', 'cursor', '--yes'])
  const entry = join(maker.home, '.cursor/mcp.json')
  expect(existsSync(entry)).toBe(true)
  rmSync(maker.dir, { recursive: true })
  expect((await inProcess(last, ['uninstall'])).code).toBe(0)
  expect(existsSync(entry)).toBe(false)
})

async function known() {
  const made = await project()
  await made.run('act', decide('use-x'))
  return made
}

test('many files of a directory are told as a number', async () => {
  const { at, run } = await project()
  git(at.dir, 'init', '-q')
  files(at.dir, Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`src/f${n}.ts`, `export const n = ${n}\n`])))
  await run('scan')
  const out = await run('uninstall')
  expect(out).toMatch(/^ {2}delete {2}\.tidemark\/cache\/ \(3\d files of Tidemark\)$/m)
  expect(out).not.toContain('.sexpr')
  expect(existsSync(join(at.dir, '.tidemark/cache'))).toBe(false)
})

describe('[T3] uninstall deletes files that Tidemark made, one by one', () => {
  test('[T3] what else lies in the directory that TIDEMARK_STORE names stays, also under names like ours', async () => {
    const at = scratch()
    const store = join(at.home, 'documents')
    const env = { ...at.env, TIDEMARK_STORE: store }
    const foreign = {
      'taxes.txt': 'mine',
      'backups/photos.tar': 'mine',
      'backups/store-1.db.txt': 'mine',
      'archive/old.txt': 'mine',
      'below/x/store.db': 'mine',
    }
    files(store, foreign)
    symlinkSync(join(store, 'taxes.txt'), join(store, 'hooks.log'))
    await inProcess({ ...at, env }, ['init', '--client', 'none', '--yes'])
    await inProcess({ ...at, env }, ['act', decide('use-x')])
    const ran = await inProcess({ ...at, env }, DELETE)
    expect(ran).toMatchObject({ code: 0, err: '' })
    expect(ran.out).toMatch(/leave {3}\S+taxes\.txt: Tidemark did not make it/)
    expect(Object.keys(everything(store)).sort()).toEqual(Object.keys(foreign).sort())
    expect(readFileSync(join(store, 'hooks.log'), 'utf8')).toBe('mine')
  })

  test('[T3] no link is followed: neither `local` nor `backups`', async () => {
    const { at, run } = await known()
    const elsewhere = join(at.home, 'elsewhere')
    files(elsewhere, { 'wiring.json': '{}', 'views/handoff.md': 'x', 'store-1.db': 'x' })
    const before = everything(elsewhere)
    rmSync(join(at.dir, '.tidemark/local'), { recursive: true, force: true })
    symlinkSync(elsewhere, join(at.dir, '.tidemark/local'))
    rmSync(join(at.dir, '.git/tidemark/backups'), { recursive: true, force: true })
    symlinkSync(elsewhere, join(at.dir, '.git/tidemark/backups'))
    expect(await run(...DELETE)).toMatch(/leave {3}\.tidemark\/local: it is a link/)
    expect(everything(elsewhere)).toEqual(before)
  })

  test('[T3] an uninstall that keeps the knowledge leaves what else lies in .tidemark', async () => {
    const { at, run } = await known()
    files(at.dir, { '.tidemark/local/notes.txt': 'mine', '.tidemark/plan.md': 'mine' })
    expect(await run('uninstall')).toContain('.tidemark/local/notes.txt: Tidemark did not make it')
    expect(Object.keys(everything(join(at.dir, '.tidemark')))).toEqual(['local/notes.txt', 'plan.md'])
  })

  test('[T3] the knowledge of a project in a folder below stays', async () => {
    const { at, run } = await known()
    const below = { ...at, dir: join(at.dir, 'below') }
    mkdirSync(below.dir)
    await inProcess(below, ['init', '--client', 'none', '--yes', '--project', below.dir])
    await inProcess(below, ['act', decide('of-below')])
    expect(await run(...DELETE)).toContain('the knowledge of projects in folders below')
    expect((await inProcess(below, ['discover', names])).out.trim()).toBe('("of-below")')
    expect((await inProcess(below, DELETE)).code).toBe(0)
    expect(existsSync(join(at.dir, '.git/tidemark'))).toBe(false)
  })

  test('[T3] the store of another project is refused', async () => {
    const { at } = await known()
    const other = await known()
    const env = { ...at.env, TIDEMARK_STORE: join(other.at.dir, '.git/tidemark') }
    const ran = await inProcess({ ...at, env }, DELETE)
    expect(ran.code).toBe(1)
    expect(ran.err).toContain('belongs to project')
    expect((await other.run('discover', names)).trim()).toBe('("use-x")')
  })

  test('[T3] a linked work tree cannot delete what belongs to all; the main one says whose it is', async () => {
    const { at, run } = await known()
    git(at.dir, 'add', '.')
    git(at.dir, 'commit', '-qm', 'start')
    const tree = { ...at, dir: join(at.home, 'tree') }
    git(at.dir, 'worktree', 'add', '-q', '-b', 'side', tree.dir)
    await inProcess(tree, ['act', decide('of-tree')])
    expect(existsSync(join(tree.dir, '.tidemark/decisions.md'))).toBe(true)
    const refused = await inProcess(tree, DELETE)
    expect(refused.code).toBe(1)
    expect(refused.err).toContain(`--project ${at.dir}`)
    expect((await inProcess(tree, ['discover', names])).out.trim()).toBe('("of-tree" "use-x")')
    expect(await run(...DELETE)).toContain(`it is also that of ${tree.dir}`)
    expect(existsSync(join(tree.dir, '.tidemark/decisions.md'))).toBe(false)
    expect(existsSync(join(tree.dir, '.tidemark/config.json'))).toBe(true)
  })
})

describe('[T4] the knowledge goes only after it was shown and agreed to, and can be brought back', () => {
  test('[T2] [T4] shows what goes; asks on a terminal, needs --yes in a pipe; --dry-run shows the same and changes nothing', async () => {
    const { at, run } = await known()
    const before = { ...everything(at.dir), ...everything(at.home) }
    const dry = await run('uninstall', '--delete-knowledge', '--dry-run')
    expect(dry).toMatch(/1 decision; 1 batch, the last of \d{4}-\d\d-\d\d \d\d:\d\d UTC\n.*store\.db/)
    const piped = await inProcess(at, ['uninstall', '--delete-knowledge'])
    expect(piped.code).toBe(1)
    expect(piped.err).toContain('--yes')
    const no = await onTerminal(at, ['uninstall', '--delete-knowledge'], '')
    expect(no).toMatchObject({ code: 1 })
    expect(no.out).toMatch(/delete all of that\? \[y\/N\] \n*nothing was done/)
    expect({ ...everything(at.dir), ...everything(at.home) }).toEqual(before)
    const lines = (text: string) => text.split('\n').filter((l) => /^ {2}(delete|restore|keep|leave|end)/.test(l))
    const yes = await onTerminal(at, ['uninstall', '--delete-knowledge'], 'y')
    expect(lines(yes.out)).toEqual(lines(dry))
    expect(existsSync(join(at.dir, '.git/tidemark'))).toBe(false)
  })

  test('[T4] a last snapshot is kept for 30 days, and the command that is named brings it back', async () => {
    const { at, run } = await known()
    const said = await run(...DELETE)
    const [, command = ''] = /^for 30 days this brings the knowledge back: tidemark (.+)$/m.exec(said) ?? []
    expect(statSync(join(state(at), kept(at)[0]!)).mode & 0o777).toBe(0o600)
    expect(statSync(state(at)).mode & 0o777).toBe(0o700)
    expect((await inProcess(at, [...command.split(' '), '--client', 'none'])).code).toBe(0)
    expect((await run('discover', names)).trim()).toBe('("use-x")')
    await run('act', decide('use-y'))
    expect((await inProcess(at, command.split(' '))).err).toContain('there is a store already')
    // --purge deletes the snapshots of this project, also those kept before
    expect(await run(...DELETE, '--purge')).toContain('it cannot be brought back')
    expect(kept(at)).toEqual([])
  })

  test('[T4] what goes is counted in words; `doctor` of another project says whose last snapshot lies there', async () => {
    const { at, run } = await known()
    await run('remember', 'we use pnpm')
    await run('remember', 'we use vitest')
    expect(await run(...DELETE)).toContain('2 facts, 1 decision; ')
    const other = { ...at, dir: join(at.home, 'other') }
    mkdirSync(other.dir)
    await inProcess(other, ['init', '--client', 'none', '--yes'])
    const { out } = await inProcess(other, ['doctor'])
    expect(out).toContain(`ok   the last snapshot of project, ${at.dir} (2 facts, 1 decision), kept until 20`)
    await run('init', '--client', 'none', '--yes', '--from', join(state(at), kept(at)[0]!))
    expect((await inProcess(at, ['list'])).out).toContain('we use pnpm')
  })

  test('[T4] a last snapshot goes after 30 days, with a later run', async () => {
    const { at, run } = await known()
    await run(...DELETE)
    const [name] = kept(at)
    const old = name!.replace(/\d+\.db$/, `${Date.now() - 31 * 86_400_000}.db`)
    cpSync(join(state(at), name!), join(state(at), old))
    utimesSync(join(state(at), old), 0, 0)
    await run('init', '--client', 'none', '--yes')
    expect(kept(at)).toEqual([name])
  })

  test('[T4] of a damaged store the newest sound snapshot is kept; without one only --purge deletes it', async () => {
    const { at, run } = await known()
    const dir = join(at.dir, '.git/tidemark')
    writeFileSync(join(dir, 'store.db'), 'damaged')
    for (const name of ['store.db-wal', 'store.db-shm']) rmSync(join(dir, name), { force: true })
    const sound = join(dir, 'backups')
    renameSync(sound, join(at.home, 'aside'))
    const refused = await inProcess(at, DELETE)
    expect(refused).toMatchObject({ code: 1 })
    expect(refused.err).toContain('--purge')
    expect(existsSync(join(dir, 'store.db'))).toBe(true)
    renameSync(join(at.home, 'aside'), sound)
    expect((await inProcess(at, DELETE)).code).toBe(0)
    expect(existsSync(dir)).toBe(false)
    expect(kept(at)).toHaveLength(1)
    await run('init', '--client', 'none', '--yes', '--from', join(state(at), kept(at)[0]!))
    expect((await run('discover', names)).trim()).toBe('("use-x")')
  })

  test('[T4] a process that has the store open is refused its next write, and brings nothing back', async () => {
    const { at, run } = await known()
    const { memory } = openAt({ projectPath: at.dir, unlisted: true })
    try {
      expect(memory.reader.list('decision')).toHaveLength(1)
      await run(...DELETE)
      expect(userError(() => memory.act([['record-fact', { fact: 'late' }]])).code).toBe('store-replaced')
    } finally {
      memory.close()
    }
    expect(existsSync(join(at.dir, '.git/tidemark'))).toBe(false)
  })

  test('[T4] a writer that is at work is waited for: what it committed is in the last snapshot', async () => {
    const { at, run } = await known()
    const db = new DatabaseSync(join(at.dir, '.git/tidemark/store.db'))
    db.exec('BEGIN IMMEDIATE')
    db.exec("INSERT INTO meta VALUES ('late', 'yes')")
    const running = tidemark(at, DELETE)
    // it has said what goes, and waits for the lock; the snapshot can only be taken once it is ours
    db.exec('COMMIT')
    db.close()
    expect((await running).code).toBe(0)
    const copy = new DatabaseSync(join(state(at), kept(at)[0]!), { readOnly: true })
    expect(copy.prepare("SELECT value FROM meta WHERE key='late'").get()).toEqual({ value: 'yes' })
    copy.close()
    expect(await run('init', '--client', 'none', '--yes')).toContain('done')
  })

  testUnless(NOT_ROOT)('[T4] where a directory cannot be written nothing is changed', async () => {
    const { at } = await known()
    const top = dirname(at.dir)
    const uid = 65_534
    await new Promise((done) => spawn('chown', ['-R', String(uid), top]).on('close', done))
    await new Promise((done) => spawn('chmod', ['555', join(at.dir, '.git/tidemark')]).on('close', done))
    const before = everything(at.dir)
    const ran = await inProcess({ ...at, uid }, DELETE)
    expect(ran).toMatchObject({ code: 1 })
    expect(ran.err).toContain('nothing was changed')
    expect(everything(at.dir)).toEqual(before)
  })

  test('[T4] killed at every step, an uninstall is finished by the next one, and nothing is lost before the snapshot is there', {
    tags: ['long'],
    timeout: 600_000,
  }, async () => {
    const { at, run } = await known()
    await run('remember', 'we use pnpm')
    files(at.dir, { '.tidemark/local/notes.txt': 'mine', '.git/tidemark/notes.txt': 'mine' })
    const [model, home] = [`${at.dir}-model`, `${at.home}-model`]
    cpSync(at.dir, model, { recursive: true })
    cpSync(at.home, home, { recursive: true })
    const probe = join(import.meta.dirname, '../fs-probe.mjs')
    let killed = 0
    for (let n = 1; ; n++) {
      for (const [from, to] of [
        [model, at.dir],
        [home, at.home],
      ] as const) {
        rmSync(to, { recursive: true, force: true })
        cpSync(from, to, { recursive: true })
      }
      const env = { ...at.env, NODE_OPTIONS: `--import ${probe}`, PROBE_KILL: String(n) }
      const first = await inProcess({ ...at, env }, DELETE)
      if (first.code === 0) break
      killed++
      const again = await inProcess(at, DELETE)
      const isOver = /in no Tidemark project/.test(again.err)
      expect([n, isOver ? 0 : again.code, isOver ? '' : again.err]).toEqual([n, 0, ''])
      expect([n, Object.keys(everything(join(at.dir, '.tidemark')))]).toEqual([n, ['local/notes.txt']])
      expect([n, Object.keys(everything(join(at.dir, '.git/tidemark')))]).toEqual([n, ['notes.txt']])
      const last = kept(at)
        .filter((f) => f.endsWith('.db'))
        .sort()
        .at(-1)
      expect([n, last]).toEqual([n, expect.any(String)])
      const copy = new DatabaseSync(join(state(at), last!), { readOnly: true })
      expect([n, copy.prepare('SELECT count(*) AS n FROM log').get()]).toEqual([n, { n: 2 }])
      copy.close()
    }
    expect(killed).toBeGreaterThan(10)
  })
})

test('[T3] [T25] what was typed in sessions goes, though the knowledge stays', async () => {
  const { at } = await project()
  const typed = join(at.dir, '.git/tidemark/prompts.db')
  using prompts = Prompts.open(typed, { create: true })!
  prompts.add({ at: Date.now(), session: 's', client: 'claude', text: 'my private words about the merger' })
  const { out } = await inProcess(at, ['uninstall', '--yes'])
  expect(out).toMatch(/delete\s+\S*prompts\.db/)
  expect([existsSync(typed), existsSync(join(at.dir, '.git/tidemark/store.db'))]).toEqual([false, true])
  // not those of another project, nor those of a work tree that goes on
  const [mine, other] = [await project(), await project()]
  const theirs = join(other.at.dir, '.git/tidemark/prompts.db')
  Prompts.open(theirs, { create: true })![Symbol.dispose]()
  const env = { ...mine.at.env, TIDEMARK_STORE: dirname(theirs) }
  await inProcess({ ...mine.at, env }, ['uninstall', '--yes'])
  git(other.at.dir, 'add', '.')
  git(other.at.dir, 'commit', '-qm', 'start')
  git(other.at.dir, 'worktree', 'add', '-q', '-b', 'side', join(other.at.home, 'tree'))
  await inProcess(other.at, ['uninstall', '--yes'])
  expect(existsSync(theirs)).toBe(true)
})
