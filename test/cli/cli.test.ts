import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, type TestContext, test } from 'vitest'
import { listing } from '../../src/surfaces/cli/help.ts'
import { agreeing, files, git, initProject, onTerminal, scratch, tidemark } from './run.ts'

async function project() {
  const at = scratch()
  git(at.dir, 'init', '-q')
  initProject(at)
  return at
}

const decision = (name: string, more: object = {}) => JSON.stringify([['record-decision', { name, ...more }]])

test('only init creates a project: reads and writes elsewhere are refused with the hint, and leave nothing behind', async () => {
  const at = scratch()
  for (const args of [['status'], ['discover', '(kinds)'], ['act', decision('x')], ['list'], ['mcp', '--help']]) {
    const ran = await tidemark(at, args)
    if (args[1] === '--help') expect(ran.code).toBe(0)
    else {
      expect(ran.code).toBe(1)
      expect(ran.err).toContain('tidemark init')
    }
  }
  expect(readdirSync(at.dir)).toEqual([])
  expect(readdirSync(at.home)).toEqual([])
})

test('[A7] what is said of a session holds no secret either', async () => {
  const at = await project()
  const secret = 'Zq0Xv9LmT4wRk7PbNc2Hd'
  for (const args of [
    ['start', `ghp_${secret}`],
    ['start', 's1', '--agent', `ghp_${secret}`],
    ['start', 's1', '--role', `password=${secret}`],
    ['end', 's1', '--reason', `password=${secret}`],
  ]) {
    const { code, err } = await tidemark(at, ['session', ...args])
    expect(code).toBe(1)
    expect(err).toMatch(/looks like a secret \((?:GitHub token|password)\)/)
    expect(err).not.toContain(secret)
  }
  expect((await tidemark(at, ['session', 'start', 's1', '--role', 'password-reset'])).code).toBe(0)
})

test('[A7] a person reads which part looks like a secret, and the flag that the command has for it', async () => {
  const at = await project()
  const said = `the password=${'Zq0Xv9LmT4wRk7PbNc2Hd'}`
  const refused = async (...args: string[]) => (await tidemark(at, args)).err
  expect(await refused('remember', said)).toBe(
    'tidemark: title: looks like a secret (password); nothing was written\n' +
      '  → leave it out, or give --redact to store its category in its place\n',
  )
  const claim = await refused('claim', 'src', '--note', said, '--session', 's')
  expect(claim).toBe('tidemark: note: looks like a secret (password); nothing was written\n  → leave it out\n')
})

test('[X6] a claim on a link holds the file that it names, and a release of it lets that go', async () => {
  const at = await project()
  writeFileSync(join(at.dir, 'CLAUDE.md'), 'one\n')
  symlinkSync('CLAUDE.md', join(at.dir, 'AGENTS.md'))
  symlinkSync('/etc/hostname', join(at.dir, 'outside'))
  const run = async (...args: string[]) => (await tidemark(at, [...args, '--session', 's1'])).out
  expect(await run('claim', 'AGENTS.md', 'outside')).toBe('claimed CLAUDE.md for 30 min\nclaimed outside for 30 min\n')
  expect(await run('release', 'AGENTS.md')).toContain('released CLAUDE.md')
})

test('`help COMMAND` prints what `COMMAND --help` does; of no command it says which is near', async () => {
  const at = scratch()
  for (const name of ['list', 'init']) {
    const page = await tidemark(at, ['help', name])
    expect(page).toEqual(await tidemark(at, [name, '--help']))
    expect(page.out).toContain(`usage: tidemark ${name}`)
  }
  expect((await tidemark(at, ['help', 'lsit'])).err).toContain('did you mean list?')
  expect((await tidemark(at, ['dashboard'])).err).toContain('there is no command "dashboard"; did you mean ui?')
  const bare = await tidemark(at, [])
  expect([bare.code, bare.err]).toEqual([0, ''])
  for (const args of [['help'], ['--help'], ['-h']]) expect(await tidemark(at, args)).toEqual(bare)
  expect(bare.out).toContain('usage: tidemark COMMAND')
  expect(bare.out.split('\n').length).toBeLessThan(32)
  expect(bare.out.indexOf('remember')).toBeLessThan(bare.out.indexOf('agents '))
  for (const [, names] of listing())
    for (const name of names) expect(bare.out).toMatch(new RegExp(`(^| )${name}( |$)`, 'm'))
})

test('`--since` takes days, moments and words alike', async () => {
  const at = await project()
  await tidemark(at, ['act', decision('use-x')])
  const hourAgo = new Date(Date.now() - 3_600_000).toISOString()
  for (const since of [hourAgo, hourAgo.slice(0, 10), 'an hour ago', 'yesterday']) {
    expect((await tidemark(at, ['list', '--since', since])).out, since).toContain('use-x')
    expect((await tidemark(at, ['events', '--since', since])).out, since).toContain('use-x')
    expect((await tidemark(at, ['recall', 'use-x', '--since', since])).out, since).toContain('use-x')
  }
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString()
  expect((await tidemark(at, ['events', '--since', tomorrow])).out).toBe('')
})

test('what one shell records another finds at once', async () => {
  const at = await project()
  expect(
    (await tidemark(at, ['act', decision('use-sqlite', { description: 'one file', impact: 8 }), '--session', 'a']))
      .code,
  ).toBe(0)
  const found = await tidemark(at, ['discover', '(get-decision "use-sqlite")', '--session', 'b'])
  expect(found.out).toBe('(decision "use-sqlite" "one file" :impact 8)\n')
})

test('[D1] discover prints one value per form and an error is one of them', async () => {
  const at = await project()
  const lines = (await tidemark(at, ['discover', '(+ 1 1) (+ 2 2) (no-such)'])).out.trim().split('\n')
  expect(lines.slice(0, 2)).toEqual(['2', '4'])
  expect(lines[2]).toMatch(/^\(error .*no-such/)
})

test('[D2] [D11] definitions persist with a session and end with the call without one', async () => {
  const at = await project()
  await tidemark(at, ['discover', '(define n 5) (define (twice x) (* 2 x))', '--session', 's'])
  expect((await tidemark(at, ['discover', '(twice n)', '--session', 's'])).out).toBe('10\n')
  expect((await tidemark(at, ['discover', 'n', '--session', 't'])).out).toMatch(/^\(error /)
  await tidemark(at, ['discover', '(define m 5)'])
  expect((await tidemark(at, ['discover', 'm'])).out).toMatch(/^\(error /)
})

test('exit codes: 0 done, 1 refused, 2 wrong use; with --json the refusal is on standard output and nothing else', async () => {
  const at = await project()
  expect((await tidemark(at, ['status'])).code).toBe(0)
  const refused = await tidemark(at, ['act', '[["nope", {}]]', '--json'])
  expect(refused.code).toBe(1)
  const { error } = JSON.parse(refused.out)
  expect(Object.keys(error).sort()).toEqual(['code', 'details', 'hint', 'message'])
  expect(error.details.problems[0]).toMatchObject({ index: 0, verb: 'nope' })
  for (const args of [
    ['nonsense'],
    ['list', '--nope'],
    ['show'],
    ['list', '--limit', 'many'],
    ['show', 'x', '--limit'],
  ])
    expect((await tidemark(at, args)).code, args.join(' ')).toBe(2)
  expect((await tidemark(at, ['statsu'])).err).toContain('did you mean status')
})

test('every command has --help with an example, and --json prints JSON alone', { tags: ['long'] }, async () => {
  const at = await project()
  const names = listing().flatMap(([, listed]) => listed)
  for (const name of names) {
    const help = await tidemark(at, [name, '--help'])
    expect(help.code, name).toBe(0)
    expect(help.out, name).toContain('example:')
    expect(help.out, name).toContain('--json')
  }
  await tidemark(at, ['remember', 'Always run the tests'])
  for (const args of [
    ['status'],
    ['list'],
    ['review'],
    ['conflicts'],
    ['history'],
    ['show', 'always run the tests'],
    ['doctor'],
    ['discover', '(kinds)'],
    ['init', '--dry-run'],
  ]) {
    const ran = await tidemark(at, [...args, '--json'])
    expect(() => JSON.parse(ran.out), `${args.join(' ')}: ${ran.out}`).not.toThrow()
  }
})

test('act reads a file, standard input or its argument', async () => {
  const at = await project()
  writeFileSync(join(at.dir, 'batch.json'), decision('from-file'))
  expect((await tidemark(at, ['act', 'batch.json'])).code).toBe(0)
  expect((await tidemark(at, ['act', '-'], decision('from-dash'))).code).toBe(0)
  expect((await tidemark(at, ['act'], `{"intent":"x","actions":${decision('from-pipe')}}`)).code).toBe(0)
  const json = JSON.parse((await tidemark(at, ['act', decision('from-argument'), '--json'])).out)
  expect(json).toMatchObject({ results: [{ verb: 'record-decision', id: 'decision:from-argument' }], notes: [] })
  expect(
    JSON.parse((await tidemark(at, ['list', 'decisions', '--json'])).out)
      .map((d: { name: string }) => d.name)
      .sort(),
  ).toEqual(['from-argument', 'from-dash', 'from-file', 'from-pipe'])
})

test('bad input is refused clearly and never reaches the store: not JSON, invalid UTF-8, NUL, a directory, 100 MB', async () => {
  const at = await project()
  const before = JSON.parse((await tidemark(at, ['status', '--json'])).out)
  const mb = Buffer.alloc(1 << 20, 'a')
  const cases: [what: string, input: string | Buffer | Iterable<Buffer>, expected: RegExp][] = [
    ['not JSON', '[["record-decision"', /not JSON/],
    ['invalid UTF-8', Buffer.from([0x5b, 0x22, 0xff, 0xfe, 0x22, 0x5d]), /UTF-8/],
    ['NUL', `[["record-decision",{"name":"a\\u0000b"}]]`, /NUL/],
    ['a raw NUL byte', `[["record-decision",{"name":"a\0b"}]]`, /not JSON/],
    ['100 MB', Array.from({ length: 100 }, () => mb), /larger than/],
    ['empty', '', /not JSON/],
  ]
  for (const [what, input, expected] of cases) {
    const ran = await tidemark(at, ['act', '-'], input)
    expect(ran.code, what).toBe(1)
    expect(ran.err, what).toMatch(expected)
    expect(ran.err, what).not.toContain('a bug in tidemark')
  }
  expect((await tidemark(at, ['act', at.dir])).err).toContain('is a directory')
  expect((await tidemark(at, ['act', 'absent.json'])).err).toContain('cannot be read')
  expect(JSON.parse((await tidemark(at, ['status', '--json'])).out).entities).toBe(before.entities)
})

test('people: remember, list, show, forget, undo, history', async () => {
  const at = await project()
  expect((await tidemark(at, ['remember', 'Never use sync I/O in handlers'])).out).toContain('fact (constraint)')
  expect(await agreeing(at, 'remember', 'The build takes four minutes')).toMatch(
    /^remembered as learning #[a-f][0-9a-f]{2,}$/m,
  )
  expect((await tidemark(at, ['list'])).out).toContain('Never use sync I/O in handlers')
  const shown = await tidemark(at, ['show', 'Never use sync I/O in handlers'])
  expect(shown.out).toContain('category: constraint')
  expect(shown.out).toContain('tester')
  const forgot = await onTerminal(at, ['forget', 'The build takes four minutes', '--reason', 'not any more'])
  expect(forgot.code).toBe(0)
  expect((await tidemark(at, ['list'])).out).not.toContain('four minutes')
  await agreeing(at, 'undo', '--last')
  expect((await tidemark(at, ['list'])).out).toContain('four minutes')
  expect((await tidemark(at, ['history', 'The build takes four minutes'])).out).toMatch(
    /recorded[\s\S]*deleted[\s\S]*brought back/,
  )
  expect((await tidemark(at, ['show', 'The bild takes four minutes'])).err).toContain('The build takes four minutes')
})

test('edit records what was changed in $EDITOR, and refuses what somebody else changed meanwhile', async () => {
  const at = await project()
  await tidemark(at, ['act', decision('use-sqlite', { description: 'one file', tags: ['a', 'b'] })])
  const editor = join(at.home, 'editor.mjs')
  const editWith = (code: string) => {
    writeFileSync(
      editor,
      `import {readFileSync,writeFileSync} from 'node:fs';import {execFileSync} from 'node:child_process';const f=process.argv[2];const e=JSON.parse(readFileSync(f,'utf8'));${code};writeFileSync(f,JSON.stringify(e))`,
    )
    return tidemark({ ...at, env: { ...at.env, EDITOR: `${process.execPath} ${editor}` } }, ['edit', 'use-sqlite'])
  }
  expect((await editWith('e.description="two files";e.tags=["b","c"];e.impact=7')).out).toContain('changed')
  const now = JSON.parse((await tidemark(at, ['show', 'use-sqlite', '--json'])).out)
  expect(now).toMatchObject({ description: 'two files', tags: ['b', 'c'], impact: 7 })
  const late = await editWith(
    `e.description="mine";execFileSync(${JSON.stringify(process.execPath)},[${JSON.stringify(join(import.meta.dirname, '../../bin/tidemark.js'))},'act',${JSON.stringify(decision('use-sqlite', { description: 'theirs' }))}])`,
  )
  expect(late.code).toBe(1)
  expect(late.err).toContain('stale')
  expect((await tidemark({ ...at, env: { ...at.env, EDITOR: '/bin/false' } }, ['edit', 'use-sqlite'])).err).toContain(
    'nothing was changed',
  )
})

test('init twice changes nothing, and uninstall restores every file byte for byte and keeps the knowledge', async () => {
  const at = scratch()
  git(at.dir, 'init', '-q')
  files(at.dir, {
    'CLAUDE.md': '# P\n\n- Always run tests before committing\n',
    '.mcp.json': '{"mcpServers":{"other":{"command":"x"}}}',
    '.codex/config.toml': 'model = "m"\n',
  })
  files(at.home, { '.claude.json': '{"numStartups": 3}\n' })
  const bytes = (dir: string): Record<string, string> =>
    Object.fromEntries(
      readdirSync(dir, { recursive: true, encoding: 'utf8' })
        // the knowledge stays, and with it the secrets by which its owner is known
        .filter(
          (f) =>
            !f.startsWith('.git/') && !/state\/tidemark\/(?:stores|keys)/.test(f) && statSync(join(dir, f)).isFile(),
        )
        .map((f) => [f, readFileSync(join(dir, f), 'base64')]),
    )
  const before = { project: bytes(at.dir), home: bytes(at.home) }
  expect((await tidemark(at, ['init', '--yes'])).out).toContain('CLAUDE.md: 1 new')
  expect(readFileSync(join(at.dir, '.mcp.json'), 'utf8')).toContain('"tidemark"')
  expect(readFileSync(join(at.dir, '.mcp.json'), 'utf8')).not.toContain(at.dir)
  const after = { project: bytes(at.dir), home: bytes(at.home) }
  expect((await tidemark(at, ['init', '--yes'])).out).toContain('nothing had to be changed')
  expect({ project: bytes(at.dir), home: bytes(at.home) }).toEqual(after)
  expect((await tidemark(at, ['uninstall'])).code).toBe(0)
  expect({ project: bytes(at.dir), home: bytes(at.home) }).toEqual(before)
  await tidemark(at, ['init', '--client', 'none', '--yes', '--no-import'])
  expect((await tidemark(at, ['list', 'fact'])).out).toContain('Always run tests before committing')
  await tidemark(at, ['uninstall', '--delete-knowledge', '--yes'])
  expect(existsSync(join(at.dir, '.git/tidemark'))).toBe(false)
})

test('all worktrees of a repository share one store, and git clean spares it', async () => {
  const at = scratch()
  git(at.dir, 'init', '-q')
  initProject(at)
  git(at.dir, 'add', '.')
  git(at.dir, 'commit', '-qm', 'start')
  await tidemark(at, ['act', decision('shared')])
  const tree = join(at.home, 'tree')
  git(at.dir, 'worktree', 'add', '-q', '-b', 'side', tree)
  const there = await tidemark({ ...at, dir: tree }, ['list', 'decision'])
  expect(there.out).toContain('shared')
  await tidemark({ ...at, dir: tree }, ['act', decision('from-the-side')])
  git(at.dir, 'clean', '-fdxq')
  const all = JSON.parse((await tidemark(at, ['list', 'decision', '--json'])).out) as {
    name: string
    provenance: { branch: string }[]
  }[]
  expect(all.map((d) => d.name).sort()).toEqual(['from-the-side', 'shared'])
  expect(all.find((d) => d.name === 'from-the-side')!.provenance[0]!.branch).toBe('side')
})

test('hooks run in a linked work tree as git made it, or its first command says that they do not', async () => {
  const at = scratch()
  git(at.dir, 'init', '-q')
  await tidemark(at, ['init', '--client', 'claude', '--yes', '--no-import'])
  git(at.dir, 'add', '.tidemark')
  git(at.dir, 'commit', '-qm', 'start')
  const add = (name: string) => {
    git(at.dir, 'worktree', 'add', '-q', '-b', name, join(at.home, name))
    return { ...at, dir: join(at.home, name) }
  }
  const bare = add('bare')
  const first = await tidemark(bare, ['status'])
  expect(first.err).toContain('no hooks run in this work tree, since .claude/')
  expect(first.err).toContain('`tidemark init` wires it here too')
  expect((await tidemark(bare, ['status'])).err).toBe('')
  expect((await tidemark(at, ['status'])).err).toBe('')
  git(at.dir, 'add', '-f', '.claude')
  git(at.dir, 'commit', '-qm', 'hooks')
  const wired = add('wired')
  expect((await tidemark(wired, ['status'])).err).toBe('')
  const start = await tidemark(wired, ['hook', 'claude', 'SessionStart'], JSON.stringify({ session_id: 's1', cwd: wired.dir, source: 'startup' })) // biome-ignore format: one row
  expect(start.out).toContain('additionalContext')
})

test('[C7] doctor --restore brings a damaged store back and says what it did; nothing re-initialises it before', async () => {
  const at = await project()
  await tidemark(at, ['act', decision('before')])
  const dir = join(at.dir, '.git/tidemark')
  expect(readdirSync(join(dir, 'backups')).length).toBe(1)
  await tidemark(at, ['act', decision('after-the-snapshot')])
  const store = join(dir, 'store.db')
  const whole = readFileSync(store)
  for (const damage of [
    Buffer.alloc(0),
    Buffer.concat([Buffer.from('garbage that is no database header'), whole.subarray(100)]),
  ]) {
    writeFileSync(store, damage)
    for (const args of [['status'], ['act', decision('x')], ['doctor']]) {
      const ran = await tidemark(at, args)
      expect(ran.code).toBe(1)
      expect(ran.out + ran.err).toContain('doctor --restore')
      expect(ran.err).not.toContain('a bug in tidemark')
    }
    expect(readFileSync(store).equals(damage)).toBe(true)
  }
  const restored = await tidemark(at, ['doctor', '--restore'])
  expect(restored.out).toMatch(/made a sound store, beginning with .*backups/)
  expect(restored.out).toMatch(/batch \S+ is missing/)
  expect(restored.code).toBe(1) // what was acknowledged is not all there
  expect((await tidemark(at, ['list', 'decision'])).out).toContain('before')
  expect((await tidemark(at, ['act', decision('goes-on')])).code).toBe(0)
})

test('a store that cannot be written, or a directory that cannot be read, is refused clearly', async () => {
  const at = await project()
  const dir = join(at.dir, '.git/tidemark')
  await tidemark(at, ['act', decision('there')])
  // permissions do not stop root: then the commands run as nobody
  const nobody = process.getuid?.() === 0 ? 65534 : undefined
  const as = { ...at, ...(nobody !== undefined ? { uid: nobody } : {}) }
  if (nobody !== undefined) execFileSync('chown', ['-R', `${nobody}:${nobody}`, join(at.dir, '..')])
  chmodSync(join(dir, 'store.db'), 0o444)
  chmodSync(dir, 0o555)
  const ran = await tidemark(as, ['act', decision('x')])
  expect(ran.code).toBe(1)
  expect(ran.err).toMatch(/cannot be (written|opened)/)
  expect(ran.err).not.toContain('a bug in tidemark')
  chmodSync(dir, 0o000)
  const unreadable = await tidemark(as, ['status'])
  expect(unreadable.code).toBe(1)
  expect(unreadable.err).toMatch(/cannot be|permission/i)
  expect(unreadable.err).not.toContain('a bug in tidemark')
  chmodSync(dir, 0o755)
  chmodSync(join(dir, 'store.db'), 0o644)
  expect((await tidemark(as, ['list', 'decision'])).out).toContain('there')
})

/** A directory on a disk of so many MB. */
function smallDisk(context: TestContext, mb: number) {
  const at = scratch()
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mb}m`, 'tmpfs', at.dir], { stdio: 'ignore' })
  } catch {
    context.skip('no right to mount a small file system here')
  }
  onTestFinished(() => void execFileSync('umount', ['-l', at.dir]))
  return at
}

test('a full disk refuses the batch and loses nothing', async (context) => {
  const at = smallDisk(context, 1)
  await tidemark(at, ['init', '--client', 'none', '--yes'])
  const kept: string[] = []
  let refused: { code: number; err: string } | undefined
  for (let i = 0; i < 100 && !refused; i++) {
    const name = `d${i}`
    const ran = await tidemark(at, [
      'act',
      decision(name, { description: 'x'.repeat(16_000), rationale: 'y'.repeat(16_000) }),
    ])
    if (ran.code === 0) kept.push(name)
    else refused = ran
  }
  expect(refused!.err).toMatch(/no space left|disk/i)
  expect(refused!.err).not.toContain('a bug in tidemark')
  expect(kept.length).toBeGreaterThan(0)
  const there = JSON.parse((await tidemark(at, ['list', 'decision', '--limit', '1000', '--json'])).out) as {
    name: string
  }[]
  expect(there.map((d) => d.name).sort()).toEqual(kept.sort())
})

test('init and import on a full disk say that not all came, fail, and name what takes back the rest', async (context) => {
  const at = smallDisk(context, 2)
  const rules = (n: number, what: string) =>
    Array.from({ length: n }, (_, i) => `- Always do thing ${i} of ${what} with care\n`).join('')
  files(at.dir, { 'CLAUDE.md': rules(1_500, 'all'), 'AGENTS.md': rules(3, 'ours') })
  const ran = await tidemark(at, ['init', '--client', 'none', '--yes'])
  expect(ran.code).toBe(1)
  expect(ran.out).toMatch(/CLAUDE.md: not imported: no space left/)
  expect(ran.out).toMatch(/tidemark undo --all-of arrival-\w+ takes back what came/)
  expect(ran.out).toContain('not all of it came: `tidemark import` tries again')
  expect(ran.out).not.toContain('done.')
  expect((await tidemark(at, ['list', 'fact', '--json', '--all'])).out).toContain('of all with care')
  const again = await tidemark(at, ['import'])
  expect(again.code).toBe(1)
  expect(again.err).toMatch(/CLAUDE.md: not imported: no space left/)
})

test('demo proves that processes share and that a killed writer loses nothing', { tags: ['long'] }, async () => {
  const at = scratch()
  const ran = await tidemark(at, ['demo', '--json'])
  expect(ran.code).toBe(0)
  expect(JSON.parse(ran.out)).toMatchObject({ shared: true, kept: 40, good: true })
})
