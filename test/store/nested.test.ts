import { join } from 'node:path'
import { expect, test } from 'vitest'
import { files, git, inProcess, scratch, tidemark } from '../cli/run.ts'

/** A project with a clone inside its work tree, and a folder of the clone. */
async function around() {
  const at = scratch()
  git(at.dir, 'init', '-q')
  await inProcess(at, ['init', '--client', 'none'])
  const dir = join(at.dir, 'vendor/cart')
  files(dir, { 'src/a.ts': '' })
  git(dir, 'init', '-q')
  const inner = { ...at, dir }
  return { at, inner, deep: { ...at, dir: join(dir, 'src') } }
}

const begins = async (at: ReturnType<typeof scratch>, env: NodeJS.ProcessEnv = {}) => {
  const payload = { session_id: 's1', hook_event_name: 'SessionStart', source: 'startup', cwd: at.dir }
  const asked = { ...at, env: { ...at.env, ...env } }
  return (await tidemark(asked, ['hook', 'claude', 'SessionStart'], JSON.stringify(payload))).out
}

test('a project ends where another repository begins: commands and hooks say so, and name the one around it', async () => {
  const { at, deep, inner } = await around()
  const refused = await inProcess(deep, ['remember', 'Never round twice'])
  expect(refused.code).toBe(1)
  expect(refused.err).toContain(
    `${inner.dir} is a repository of its own, in no Tidemark project; the one around it, ${at.dir}, ends here`,
  )
  expect(refused.err).toContain('tidemark init --with vendor/cart')
  expect(JSON.parse(await begins(deep)).systemMessage).toContain('is a repository of its own')
  // a session of the project around that looks into it stays one of that project
  expect(await begins(deep, { CLAUDE_PROJECT_DIR: at.dir })).not.toContain('is a repository of its own')
  expect((await inProcess({ ...at, dir: join(at.dir, 'vendor') }, ['status'])).code).toBe(0)
})

test('init in it makes it a project of its own; init --with makes it part of the one around', async () => {
  const own = await around()
  expect((await inProcess(own.deep, ['init', '--client', 'none'])).out).toContain(
    `making ${own.inner.dir} a Tidemark project`,
  )
  await inProcess(own.deep, ['remember', 'Never round twice'])
  expect((await inProcess(own.at, ['list', 'fact', '--json'])).out).not.toContain('round twice')

  const listed = await around()
  const added = await inProcess(listed.at, ['init', '--client', 'none', '--with', 'vendor/cart'])
  expect(added.out).toContain('vendor/cart belongs to this project now: commit .tidemark/config.json')
  const twice = await inProcess(own.at, ['init', '--client', 'none', '--with', 'vendor/cart'])
  expect(twice.err).toContain('vendor/cart is a Tidemark project of its own')
  await inProcess(listed.deep, ['remember', 'Never round twice'])
  expect((await inProcess(listed.at, ['list', 'fact'])).out).toContain('round twice')
  expect((await inProcess(listed.at, ['init', '--client', 'none', '--with', 'docs'])).err).toContain(
    'is no repository inside',
  )
})

test('a submodule is a repository of its own, and so is a linked work tree of another repository', async () => {
  const { at } = await around()
  const lib = { ...at, dir: join(at.home, 'lib') }
  files(lib.dir, { a: 'x' })
  git(lib.dir, 'init', '-q')
  git(lib.dir, 'add', '-A')
  git(lib.dir, 'commit', '-qm', 'a')
  git(at.dir, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', lib.dir, 'sub')
  git(lib.dir, 'worktree', 'add', '-q', join(at.dir, 'tree'))
  for (const dir of ['sub', 'tree'])
    expect((await inProcess({ ...at, dir: join(at.dir, dir) }, ['status'])).err).toContain('is a repository of its own')
})
