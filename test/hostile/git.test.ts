import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { gitDirectory, gitState, isTracked, whyNotOwn } from '../../src/base/git.ts'
import { findProject, storePathFor } from '../../src/engine/store/project.ts'
import { NO_PIPES, testUnless } from '../needs.ts'

let base: string
let theirs: string
let mine: string
const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'protocol.file.allow=always', ...args], {
    cwd,
    stdio: 'pipe',
  }).toString()

/** A project of the user's, and an archive that was unpacked beside it. */
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'tidemark-git-'))
  mine = join(base, 'mine')
  theirs = join(base, 'theirs')
  for (const dir of [mine, theirs]) mkdirSync(dir)
  git(mine, 'init', '-q', '-b', 'main')
  mkdirSync(join(mine, '.tidemark'))
  writeFileSync(join(mine, '.tidemark', 'config.json'), '{"id":"mine-0000","created":"2026-01-01"}')
  writeFileSync(join(mine, 'a'), 'a')
  git(mine, 'add', 'a')
  git(mine, 'commit', '-qm', 'a')
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

test('[T23] one module alone runs git, with what keeps a repository from starting programs', () => {
  const src = resolve(import.meta.dirname, '../../src')
  const found = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((f) => f.endsWith('.ts') && !f.endsWith('.test.ts'))
    .filter((f) =>
      /(?:spawn|spawnSync|exec|execFile|execSync|execFileSync)\)?\(\s*['"`](?:\S*\/)?git\b/.test(
        readFileSync(join(src, f), 'utf8'),
      ),
    )
  expect(found).toEqual([join('base', 'run-git.ts')])
})

test.each([
  ['its work tree', () => join(mine, '.git')],
  ['a linked work tree of it', () => join(mine, '.git', 'worktrees', 'linked')],
])('[T21] a .git file that leads to another project, as %s, gives neither its knowledge nor its store', (_, dir) => {
  git(mine, 'worktree', 'add', '-q', join(base, 'linked'))
  writeFileSync(join(theirs, '.git'), `gitdir: ${dir()}\n`)
  expect(gitDirectory(theirs).is).toBe('foreign')
  expect(() => findProject(theirs)).toThrow(expect.objectContaining({ code: 'no-project' }))
  expect(gitState(theirs)).toEqual({})
  // an archive may bring the id of a project that is public
  mkdirSync(join(theirs, '.tidemark'))
  writeFileSync(join(theirs, '.tidemark', 'config.json'), readFileSync(join(mine, '.tidemark', 'config.json')))
  expect(() => findProject(theirs)).toThrow(expect.objectContaining({ code: 'foreign-git' }))
  expect(findProject(join(base, 'linked')).storePath).toBe(findProject(mine).storePath)
})

test('[T21] a .git file that leads to no repository makes none outside', () => {
  writeFileSync(join(theirs, '.git'), `gitdir: ${join(base, 'elsewhere')}\n`)
  expect(storePathFor(theirs, '')).toBe(join(theirs, '.tidemark', 'store', 'store.db'))
  expect(existsSync(join(base, 'elsewhere'))).toBe(false)
})

test('[K18] linked work trees, submodules and separate git directories are found as git makes them', () => {
  git(mine, 'worktree', 'add', '-q', join(base, 'linked'))
  expect(gitDirectory(join(base, 'linked'))).toMatchObject({ is: 'own', common: join(mine, '.git'), linked: true })
  git(theirs, 'init', '-q')
  git(theirs, 'submodule', '--quiet', 'add', mine, 'sub dir')
  expect(gitDirectory(join(theirs, 'sub dir'))).toMatchObject({ is: 'own', linked: false })
  mkdirSync(join(base, 'apart'))
  git(join(base, 'apart'), 'init', '-q', '--separate-git-dir', join(base, 'apart.git'))
  expect(gitDirectory(join(base, 'apart'))).toMatchObject({ is: 'own', common: join(base, 'apart.git') })
  renameSync(join(base, 'linked'), join(base, 'moved'))
  expect(() => storePathFor(join(base, 'moved'), '')).toThrow(expect.objectContaining({ code: 'foreign-git' }))
  git(join(base, 'moved'), 'worktree', 'repair')
  expect(gitDirectory(join(base, 'moved'))).toMatchObject({ is: 'own', linked: true })
})

test('[T22] what lies in a submodule is not what the user wrote, whether git has it already or not', () => {
  git(theirs, 'init', '-q')
  git(theirs, 'submodule', '--quiet', 'add', mine, '.tidemark')
  expect(isTracked(theirs, '.tidemark/decisions.md')).toBe(true)
  git(theirs, 'rm', '--cached', '-qf', '.tidemark')
  expect(isTracked(theirs, '.tidemark/decisions.md')).toBe(false)
  expect(whyNotOwn(theirs, '.tidemark/decisions.md')).toContain('a repository of its own')
})

test.each([
  ['a file that HEAD names', '.git/HEAD', 'ref: ../../canary\n'],
  ['a file that HEAD holds', '.git/HEAD', 'BEGIN PRIVATE KEY\n'],
  ['a branch with an escape sequence', '.git/HEAD', 'ref: refs/heads/\x1b[31mred\n'],
  ['what packed-refs says', '.git/packed-refs', 'canary refs/heads/main\n'],
])('[T21] nothing but a commit is taken for one: %s', (_, file, text) => {
  writeFileSync(join(mine, file), text)
  rmSync(join(mine, '.git', 'refs', 'heads', 'main'))
  writeFileSync(join(base, 'canary'), 'canary-canary-canary')
  expect(JSON.stringify(gitState(mine))).not.toMatch(/canary|BEGIN|\\u001b/)
})

testUnless(NO_PIPES)('[T24] pipes in a git directory are not waited for', () => {
  for (const file of ['HEAD', 'index', 'config', 'packed-refs', 'logs/HEAD']) {
    rmSync(join(mine, '.git', file), { force: true })
    execFileSync('mkfifo', [join(mine, '.git', file)])
  }
  expect(gitState(mine)).toEqual({})
  expect(isTracked(mine, 'a')).toBe(true)
  execFileSync('mkfifo', [join(theirs, '.git')])
  expect(gitDirectory(theirs).is).toBe('none')
})
