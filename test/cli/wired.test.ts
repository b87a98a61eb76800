import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  type Dirent,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { BIN, files, git, inProcess, onTerminal, project, scratch } from './run.ts'

const ALL = 'claude,codex,gemini,copilot,cursor,opencode'

/** A project where `tidemark` is on the PATH, as a person has it who installed it. */
function installed(version?: string) {
  const at = scratch()
  git(at.dir, 'init', '-q')
  const bin = join(at.home, 'bin')
  mkdirSync(bin)
  if (version === undefined) symlinkSync(BIN, join(bin, 'tidemark'))
  else writeFileSync(join(bin, 'tidemark'), `#!/bin/sh\necho ${version}\n`, { mode: 0o755 })
  at.env.PATH = `${bin}:${at.env.PATH}`
  return at
}

const tree = (dir: string) =>
  Object.fromEntries(
    readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/[\\/]\.git([\\/]|$)/.test(entry.parentPath))
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path, readFileSync(path, 'latin1')]),
  )

test('init wires hooks of every client, a second one changes nothing, a dry one neither, and uninstall leaves no byte of it', async () => {
  const at = installed()
  files(at.dir, {
    '.claude/settings.json': '{\r\n  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}\r\n}',
    '.gemini/settings.json': '\uFEFF{\n  // mine\n  "theme": "dark", // too\n}\n',
  })
  const before = tree(at.dir)
  const dry = await inProcess(at, ['init', '--client', ALL, '--dry-run'])
  expect(dry.out).toContain('.github/hooks/tidemark.json')
  expect(tree(at.dir)).toEqual(before)
  expect((await inProcess(at, ['init', '--client', ALL, '--yes'])).code).toBe(0)
  const wired = tree(at.dir)
  expect((await inProcess(at, ['init', '--client', ALL, '--yes'])).out).toContain('nothing had to be changed')
  expect(tree(at.dir)).toEqual(wired)
  expect(existsSync(join(at.dir, '.opencode/plugins/tidemark.js'))).toBe(true)
  expect((await inProcess(at, ['uninstall'])).code).toBe(0)
  expect(tree(at.dir)).toEqual(before)
})

const EARLIER = join(import.meta.dirname, '../fixtures/wired-earlier.json') // all clients, beside a theme of the user
const THEME = '{\n  "theme": "dark"\n}\n'

test.each([
  ['where it was done', true],
  ['in a fresh clone', false],
])('[X7] %s, what an earlier version wired is brought up to date, and goes at uninstall', async (_, here) => {
  const journal = '.tidemark/local/wiring.json'
  const { [journal]: note, ...earlier } = JSON.parse(readFileSync(EARLIER, 'utf8')) as Record<string, string>
  const mine = (text: string) => text.replace('"timeout": 3000', '"timeout": 9000') // by hand: that hook is the user's now
  const init = ['init', '--client', ALL, '--yes', '--allow', 'none']
  const [at, fresh] = [installed(), installed()]
  await inProcess(at, ['init', '--client', 'none', '--yes'])
  files(at.dir, { ...earlier, '.gemini/settings.json': mine(earlier['.gemini/settings.json']!) })
  if (here) files(at.dir, { [journal]: note! })
  else rmSync(join(at.dir, '.claude/settings.local.json'))
  files(fresh.dir, { '.claude/settings.json': THEME })
  const said = (await inProcess(at, ['doctor'])).out
  expect(said).toContain('with another matcher for PostToolUse, PreCompact')
  expect(said).toContain('with another matcher for AfterTool')

  for (const each of [at, fresh]) expect((await inProcess(each, init)).code).toBe(0)
  const read = (dir: string, file: string) => {
    const text = readFileSync(join(dir, file), 'utf8')
    const now = dir === fresh.dir && file.startsWith('.gemini') ? mine(text) : text
    return [file, file.endsWith('.json') ? JSON.parse(now) : now]
  }
  for (const file of Object.keys(earlier)) expect(read(at.dir, file)).toEqual(read(fresh.dir, file))
  expect((await inProcess(at, init)).out).toContain('nothing had to be changed')
  expect((await inProcess(at, ['doctor'])).out).not.toContain('another version')

  await inProcess(at, ['uninstall'])
  const left = Object.keys(tree(at.dir)).map((file) => relative(at.dir, file))
  expect(left.sort()).toEqual(['.claude/settings.json', ...(here ? [] : ['.gemini/settings.json'])])
  expect(readFileSync(join(at.dir, '.claude/settings.json'), 'utf8')).toBe(THEME)
})

/** Folders as well, and what lies in the home. */
const everything = (...dirs: string[]) =>
  dirs.map((dir) =>
    Object.fromEntries(
      readdirSync(dir, { recursive: true, withFileTypes: true })
        .filter((entry) => !/[\\/]\.git([\\/]|$)/.test(`${entry.parentPath}/`))
        .map((entry) => [relative(dir, join(entry.parentPath, entry.name)), entry])
        .map(([name, entry]) => [
          name,
          (entry as Dirent).isFile() ? readFileSync(join(dir, name as string), 'latin1') : '/',
        ]),
    ),
  )

for (const onPath of [true, false])
  for (const again of [false, true])
    test(`uninstall leaves nothing of a project that was moved${again ? ', and wired again there' : ''}, tidemark ${onPath ? '' : 'not '}on the PATH`, async () => {
      const at = onPath ? installed() : scratch()
      if (!onPath) git(at.dir, 'init', '-q')
      files(at.home, { '.claude.json': '{"numStartups": 3, "projects": {"/other": {}}}', '.local/state/x': '' })
      files(at.dir, { '.github/workflows/x.yml': 'on: push\n' })
      const before = everything(at.dir, at.home)
      const moved = { ...at, dir: `${at.dir}-moved` }
      expect((await inProcess(at, ['init', '--client', ALL, '--yes'])).code).toBe(0)
      await inProcess(at, ['remember', 'we use pnpm'])
      renameSync(at.dir, moved.dir)
      if (again) expect((await inProcess(moved, ['init', '--client', ALL, '--yes'])).code).toBe(0)
      expect((await inProcess(moved, ['list'])).out).toContain('pnpm')
      expect((await inProcess(moved, ['uninstall', '--delete-knowledge', '--purge', '--yes'])).code).toBe(0)
      expect(everything(moved.dir, at.home)).toEqual(before)
    })

test('uninstall in a copy leaves the entries of the first project', async () => {
  const at = scratch()
  git(at.dir, 'init', '-q')
  files(at.home, { '.claude.json': '{}' })
  await inProcess(at, ['init', '--client', 'claude', '--yes'])
  const home = () =>
    Object.entries(everything(at.dir, at.home)[1]!).filter(([path]) => !path.includes('/tidemark/wiring/'))
  const before = home()
  cpSync(at.dir, `${at.dir}-copy`, { recursive: true })
  await inProcess({ ...at, dir: `${at.dir}-copy` }, ['uninstall'])
  expect(home()).toEqual(before)
  await inProcess(at, ['uninstall'])
  expect(readFileSync(join(at.home, '.claude.json'), 'utf8')).toBe('{}')
})

test('doctor says when each hook last called, what it cost, and which hooks would stay silent', async () => {
  const at = installed()
  await inProcess(at, ['init', '--client', 'claude,codex', '--yes'])
  const payload = JSON.stringify({ session_id: 's1', source: 'startup', cwd: at.dir })
  expect((await inProcess(at, ['hook', 'claude', 'SessionStart'], payload)).code).toBe(0)
  const { out } = await inProcess(at, ['doctor'])
  expect(out).toMatch(
    /^ok {3}hook claude SessionStart: last \d{4}-\d\d-\d\d \d\d:\d\d UTC \(just now\), 1 call, \d+ ms$/m,
  )
  expect(out).toMatch(/^ok {3}clients start \S+, which is this version$/m)
  expect(out).toMatch(/^FIX {2}codex: .*\n.*\/hooks/m)
})

test('doctor says that clients start another version than this one', async () => {
  const at = installed('0.0.1')
  await inProcess(at, ['init', '--client', 'none', '--yes'])
  expect((await inProcess(at, ['doctor'])).out).toMatch(
    /^FIX {2}\S+ is what clients start, and it is tidemark 0\.0\.1/m,
  )
})

test('uninstall --delete-knowledge deletes what an uninstall before it kept, and says where that is', async () => {
  const { at, run } = await project()
  await run('remember', 'we use pnpm')
  await run('uninstall')
  const again = await inProcess(at, ['uninstall'])
  expect(again.code).toBe(1)
  expect(again.err).toContain('.git/tidemark/store.db')
  expect(again.err).toContain('--delete-knowledge')
  expect(await run('uninstall', '--delete-knowledge', '--yes')).toContain('delete  the knowledge')
  expect(existsSync(join(at.dir, '.git/tidemark'))).toBe(false)
  expect((await inProcess(at, ['uninstall', '--delete-knowledge', '--yes'])).err).toContain('in no Tidemark project')
})

test('init --personal: git sees nothing of it, and a second init keeps to that; init says what is left to do', async () => {
  const at = installed()
  git(at.dir, 'commit', '-q', '--allow-empty', '-m', 'x')
  const first = await inProcess(at, ['init', '--client', ALL, '--yes', '--personal'])
  expect(first.out).toMatch(/^ {2}next {3}codex: .*\/hooks/m)
  const untracked = () => git(at.dir, 'status', '--porcelain', '--untracked-files=all')
  expect(untracked()).toBe('')
  expect((await inProcess(at, ['init', '--client', ALL, '--yes'])).out).toContain('nothing had to be changed')
  expect(untracked()).toBe('')
  await inProcess(at, ['uninstall'])
  expect(readdirSync(at.dir)).toEqual(['.git'])
})

test('init: the settings of this machine are out of git from the start', async () => {
  const at = installed()
  await inProcess(at, ['init', '--client', 'claude', '--yes'])
  const untracked = git(at.dir, 'status', '--porcelain', '--untracked-files=all').trimEnd().split('\n').sort()
  expect(untracked).toEqual([
    '?? .claude/settings.json',
    '?? .mcp.json',
    '?? .tidemark/.gitattributes',
    '?? .tidemark/.gitignore',
    '?? .tidemark/config.json',
  ])
})

test('status in a fresh clone says that the memory stayed behind, and how it comes over', async () => {
  const at = installed()
  await inProcess(at, ['init', '--client', 'claude', '--yes'])
  await inProcess(at, ['act', '[["record-decision", {"name": "paging", "description": "from 0"}]]'])
  git(at.dir, 'add', '-A')
  git(at.dir, 'commit', '-q', '-m', 'x')
  const clone = { ...at, dir: join(at.home, 'clone') }
  git(at.home, 'clone', '-q', at.dir, clone.dir)
  expect((await inProcess(clone, ['init', '--yes', '--client', 'claude'])).code).toBe(0)
  const hint = "nothing has come from others yet: a teammate's `tidemark sync`"
  expect((await inProcess(clone, ['status'])).out).toContain(hint)
  const file = join(at.home, 'memory.json')
  expect((await inProcess(at, ['export', 'json', file])).code).toBe(0)
  expect((await inProcess(clone, ['import', 'json', file])).code).toBe(0)
  expect((await inProcess(clone, ['status'])).out).not.toContain(hint)
  expect((await inProcess(clone, ['show', 'paging'])).out).toContain('from 0')
  expect((await inProcess(at, ['status'])).out).not.toContain(hint)
})

test('init says that it writes over a journal which came with the repository', async () => {
  const at = installed()
  files(at.dir, { '.tidemark/local/wiring.json': '{"version": 1, "files": {}}' })
  git(at.dir, 'add', '-f', '.tidemark/local/wiring.json')
  const { out } = await inProcess(at, ['init', '--client', 'codex', '--yes'])
  expect(out).toMatch(/^ {2}replace \.tidemark\/local\/wiring\.json.*it is committed/m)
})

test('init asks on a terminal whether agents may record without a question', async () => {
  const at = installed()
  const asked = await onTerminal(at, ['init', '--client', 'claude'], 'y', 'y')
  expect(asked.out).toContain('May agents record')
  const allowed = () => readFileSync(join(at.dir, '.claude/settings.local.json'), 'utf8').includes('mcp__tidemark__act')
  expect(allowed()).toBe(true)
  await inProcess(at, ['uninstall'])
  await onTerminal(at, ['init', '--client', 'claude'], 'y', 'n')
  expect(allowed()).toBe(false)
  // said once: a second run changes nothing and asks nothing
  const again = await onTerminal(at, ['init', '--client', 'claude'])
  expect(again.out).toContain('nothing had to be changed')
  expect(again.out).not.toContain('May agents record')
})

test('[T48] an agent does not allow itself `act`', async () => {
  const at = installed()
  const agents = { ...at, env: { ...at.env, CLAUDECODE: '1' } }
  expect(await inProcess(agents, ['init', '--client', 'claude', '--yes', '--allow', 'act'])).toMatchObject({ code: 1 })
  expect(existsSync(join(at.dir, '.claude'))).toBe(false)
  expect((await inProcess(agents, ['init', '--client', 'claude', '--yes'])).code).toBe(0)
  expect(readFileSync(join(at.dir, '.claude/settings.local.json'), 'utf8')).not.toContain('mcp__tidemark__act')
})

test.each(['\x03', '\x04'])(
  'init is stopped at its question by Ctrl-C and Ctrl-D, and nothing is written',
  async (stop) => {
    const at = installed()
    const before = git(at.dir, 'status', '--porcelain', '--ignored')
    const { code, out } = await onTerminal(at, ['init', '--client', 'claude'], stop)
    expect({ code, out: out.slice(out.indexOf('go ahead?')).trim().split('\n') }).toEqual({
      code: 1,
      out: [
        'go ahead? [Y/n] ',
        'tidemark: stopped; what the question asks was not done',
        '  → the same command asks again',
      ],
    })
    expect(git(at.dir, 'status', '--porcelain', '--ignored')).toBe(before)
  },
)

test('[X1] init where nothing can be written says so, and is no bug', async () => {
  const at = scratch()
  const root = process.getuid?.() === 0
  chmodSync(join(at.dir, '..'), 0o755)
  if (root) execFileSync('chown', ['-R', '65534:65534', at.dir, at.env.HOME!])
  chmodSync(at.dir, 0o555)
  const ran = await inProcess({ ...at, ...(root ? { uid: 65534 } : {}) }, ['init', '--yes', '--client', 'none'])
  chmodSync(at.dir, 0o755)
  expect([ran.code, ran.err]).toEqual([1, expect.stringMatching(/cannot be made a project: .*\n.*writable/)])
})
