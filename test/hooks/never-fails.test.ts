import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { besideStore } from '../../src/engine/store/project.ts'
import { DIALECTS } from '../../src/session/clients/index.ts'
import { missedEdits } from '../../src/session/hooks/backlog.ts'
import { checkHooks, hookSummaries } from '../../src/session/hooks/hook-health.ts'
import { openPrompts } from '../../src/session/hooks/kept-prompts.ts'
import { hooksSeen } from '../../src/session/hooks/log.ts'
import { respond } from '../../src/session/hooks/run.ts'
import { CLIENT_NAMES } from '../../src/work/coordination/clients.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { ROOT, testUnless } from '../needs.ts'
import { BIN, hookProject, PATIENT, type Ran, runHook } from './run.ts'

/** Ten times the limit of a hook on the clock (1 s): other tests keep the machine busy. */
const IN_TIME = 10_000

const START = { session_id: 's1', source: 'startup' }

/** Ended well, in time, and with an answer that the client takes. */
function expectFine(ran: Ran, client = 'claude'): void {
  expect(ran.code).toBe(0)
  expect(ran.ms).toBeLessThan(IN_TIME)
  if (ran.out === '') expect(['claude', 'codex', 'nobody', '']).toContain(client)
  else expect(() => JSON.parse(ran.out)).not.toThrow()
}

test('[M4] no project, no directory: exit 0, an empty answer, and nothing is made', async () => {
  const { dir } = hookProject(false)
  rmSync(join(dir, '.tidemark'), { recursive: true })
  for (const client of CLIENT_NAMES) {
    const ran = await runHook([client, 'session-start'], { ...START, cwd: dir, sessionId: 's' }, { cwd: dir })
    expectFine(ran, client)
    expect(['', '{}']).toContain(ran.out.trim())
    expect(ran.err).toBe('')
  }
  expectFine(await runHook(['claude', 'SessionStart'], { ...START, cwd: join(dir, 'gone') }, { cwd: dir }))
  expect(existsSync(join(dir, '.tidemark'))).toBe(false)
})

test('[M4] no store yet: it is made; one that went missing is not made anew, and the person is told', async () => {
  const { dir, project } = hookProject()
  expectFine(await runHook(['claude', 'SessionStart'], { ...START, cwd: dir }))
  expect(existsSync(project.storePath)).toBe(true)
  mkdirSync(join(dirname(project.storePath), 'backups'), { recursive: true })
  writeFileSync(join(dirname(project.storePath), 'backups', 'x.db'), '')
  for (const s of ['', '-wal', '-shm']) rmSync(`${project.storePath}${s}`, { force: true })
  const ran = await runHook(['gemini', 'SessionStart'], { ...START, cwd: dir }, { env: PATIENT })
  expectFine(ran, 'gemini')
  expect(ran.json).toEqual({ systemMessage: expect.stringMatching(/cannot read its memory: .*doctor --restore/) })
  expect(existsSync(project.storePath)).toBe(false)
  expect(hooksSeen(project).at(-1)?.errors?.[0]).toMatch(/is gone/)
})

test('[M4] an installation that cannot start: exit 0, a valid answer, and the person is told why', async () => {
  const { dir } = hookProject()
  const checkout = join(import.meta.dirname, '../..')
  const installed = join(dir, 'installed')
  for (const part of ['package.json', 'bin', 'dist'])
    cpSync(join(checkout, part), join(installed, part), { recursive: true })
  const old = join(dir, 'old.cjs')
  writeFileSync(old, "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.13.1' } })")
  const run = (event: string, client = 'claude', node: readonly string[] = []) =>
    spawnSync(process.execPath, [...node, join(installed, 'bin/tidemark.js'), 'hook', client, event], {
      input: JSON.stringify({ ...START, cwd: dir }),
      encoding: 'utf8',
    })
  const expectTold = (why: RegExp, node: readonly string[] = []) => {
    const start = run('SessionStart', 'claude', node)
    expect(start.status).toBe(0)
    expect(JSON.parse(start.stdout).systemMessage).toMatch(why)
    expect(start.stderr).toMatch(/^tidemark: .*\n$/)
    for (const client of CLIENT_NAMES) {
      const prompt = run('prompt', client, node)
      expect([prompt.status, prompt.stdout]).toEqual([0, '{}\n'])
      expect(prompt.stderr).toMatch(why)
    }
  }
  expectTold(/needs Node 24, or 22\.16 .* this is 22\.13\.1/, ['--require', old])
  rmSync(join(installed, 'dist/hook.js'))
  expectTold(/hook\.js/)
  rmSync(join(installed, 'dist'), { recursive: true })
  expectTold(/not built/)
  const other = spawnSync(process.execPath, [join(installed, 'bin/tidemark.js'), 'status'], { encoding: 'utf8' })
  expect([other.status, other.stdout]).toEqual([1, ''])
})

test('[M4] nobody reads the answer, and the pipe is full: the hook ends all the same', async () => {
  const { dir } = hookProject()
  const path = join(dir, 'pipe')
  execFileSync('mkfifo', [path])
  const full = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  const fill = () => {
    for (;;) writeSync(full, 'x')
  }
  expect(fill).toThrow('EAGAIN')
  // past the shell: what Node gives a child as its stdout waits
  const child = spawn('sh', ['-c', 'exec "$0" "$1" hook gemini SessionStart >&3', process.execPath, BIN], {
    stdio: ['pipe', 'ignore', 'inherit', full],
  })
  child.stdin!.end(JSON.stringify({ ...START, cwd: dir }))
  const [code] = await once(child, 'exit')
  expect(code).toBe(0)
  closeSync(full)
})

test('[M4] a damaged store: exit 0, the person is told as a session starts, and a line for doctor', async () => {
  const { dir, project, memory } = hookProject()
  memory().close()
  writeFileSync(project.storePath, 'this is no database, whatever it says'.repeat(500))
  rmSync(`${project.storePath}-wal`, { force: true })
  const ran = await runHook(['codex', 'SessionStart'], { ...START, cwd: dir }, { env: PATIENT })
  expectFine(ran, 'codex')
  expect(Object.keys(ran.json)).toEqual(['systemMessage']) // nothing of it for the agent
  expect(ran.json.systemMessage).toMatch(/cannot read its memory: .* is damaged: .*tidemark doctor --restore/)
  truncateSync(project.storePath, 0)
  expectFine(await runHook(['codex', 'Stop'], { ...START, cwd: dir }), 'codex')
  const [newest] = hookSummaries(project)
  expect(newest).toMatchObject({ client: 'codex', event: 'Stop', errors: 1 })
  expect(newest!.lastError).toMatch(/empty/)
})

test('[M4] a hook leaves the index of words of an older version to whoever opens the store next: at 10,000 entities it takes a second', async () => {
  const { dir, project, memory } = hookProject()
  const m = memory()
  m.act([['record-fact', { fact: 'Always run the tests', category: 'workflow' }]])
  m.close()
  const version = (set?: string) => {
    const db = new DatabaseSync(project.storePath)
    if (set !== undefined) db.prepare("UPDATE meta SET value=? WHERE key='text_version'").run(set)
    const { value } = db.prepare("SELECT value FROM meta WHERE key='text_version'").get() as { value: string }
    db.close()
    return value
  }
  const now = version()
  version('0')
  const ran = await runHook(['claude', 'SessionStart'], { ...START, cwd: dir }, { env: PATIENT })
  expectFine(ran)
  expect(ran.out).toContain('Always run the tests')
  expect(version()).toBe('0')
  memory().close()
  expect(version()).toBe(now)
})

test('[M4] another process holds the write lock: what can be read is said, in time', async () => {
  const { dir, project, memory } = hookProject()
  const m = memory()
  m.act([['record-fact', { fact: 'Always run the tests', category: 'workflow' }]])
  const other = new DatabaseSync(project.storePath)
  other.exec('BEGIN IMMEDIATE')
  try {
    for (const [event, more] of [
      ['SessionStart', {}],
      ['UserPromptSubmit', { prompt: 'We use pnpm for installs. Please fix the page.' }],
      ['PreToolUse', { tool_name: 'Edit', tool_input: { file_path: join(dir, 'a.ts') } }],
      ['PostToolUse', { tool_name: 'Edit', tool_input: { file_path: join(dir, 'a.ts') } }],
      ['Stop', {}],
      ['SessionEnd', { reason: 'other' }],
    ] as const) {
      const ran = await runHook(['claude', event], { ...START, cwd: dir, ...more }, { env: PATIENT })
      expectFine(ran)
      if (event === 'SessionStart') expect(ran.out).toContain('Always run the tests')
    }
  } finally {
    other.exec('ROLLBACK')
    other.close()
  }
  expect(hooksSeen(project).some((h) => h.errors?.some((e) => /another process has held/.test(e)))).toBe(true)
})

test('[M4] an edit that could not be noted in time is noted by the next hook, of whichever session', async () => {
  const { dir, project, memory } = hookProject()
  const m = memory()
  const edit = (session: string, name: string) =>
    runHook(
      ['claude', 'PostToolUse'],
      { session_id: session, cwd: dir, tool_name: 'Edit', tool_input: { file_path: join(dir, name) } },
      { env: PATIENT }, // but for the lock
    )
  const files = (session: string) => sessionsOf(m).get(session)?.files
  await runHook(['claude', 'SessionStart'], { ...START, cwd: dir }, { env: PATIENT })
  const other = new DatabaseSync(project.storePath)
  other.exec('BEGIN IMMEDIATE')
  const missed = await Promise.all([edit('s1', 'a.ts'), edit('s1', 'b.ts'), edit('s2', 'c.ts')])
  other.exec('ROLLBACK')
  other.close()
  for (const ran of missed) expectFine(ran)
  expect(
    missedEdits(project)
      .map((e) => e.path)
      .sort(),
  ).toEqual(['a.ts', 'b.ts', 'c.ts'])
  expect(files('s1')).toEqual([])
  const [failed, ...rest] = checkHooks(project).filter((c) => /missed something|wait/.test(c.text))
  expect(failed).toMatchObject({ state: 'wrong', fix: expect.stringContaining('made up for') })
  expect(rest).toMatchObject([{ state: 'ok', text: expect.stringMatching(/^3 edits wait to be noted/) }])
  await edit('s1', 'd.ts')
  expect(files('s1')?.toSorted()).toEqual(['a.ts', 'b.ts', 'd.ts'])
  expect(missedEdits(project).map((e) => e.path)).toEqual(['c.ts']) // s2 has not said that it is there
  await runHook(['claude', 'UserPromptSubmit'], { session_id: 's2', cwd: dir, prompt: 'go on' }, { env: PATIENT })
  expect(files('s2')).toEqual(['c.ts'])
  expect(existsSync(join(...besideStore(project, 'hooks.missed')))).toBe(false)
  expect(checkHooks(project).every((c) => c.state === 'ok')).toBe(true)
})

test('[M4] [G7] what is typed under load, or when the time is up, is kept all the same, and asked when it is said again', async () => {
  const { dir, project, memory } = hookProject()
  const m = memory()
  const hook = (event: string, more: object) =>
    runHook(['claude', event], { session_id: 's1', cwd: dir, ...more }, { env: PATIENT })
  await runHook(['claude', 'SessionStart'], { ...START, cwd: dir }, { env: PATIENT })
  const other = new DatabaseSync(project.storePath)
  other.exec('BEGIN IMMEDIATE')
  const secret = `ghp_${'Zq0Xv9LmT4wRk7PbNc2HdAbCdEfGhIjKlMnOp'.slice(0, 36)}`
  for (const prompt of ['Fix the login. Always use zod.', `Never send ${secret} anywhere`])
    expectFine(await hook('UserPromptSubmit', { prompt }))
  other.exec('ROLLBACK')
  other.close()
  const call = { client: 'claude', session: 's1', cwd: dir } as const
  const late = await respond(m, project, { ...call, event: 'prompt', prompt: 'We never use enums' }, () => 0)
  expect(late.errors.join()).toContain('no time left')
  using prompts = openPrompts(project)
  expect(prompts!.search('', 9).map((p) => p.text)).toEqual([
    'We never use enums',
    'Never send [redacted: GitHub token] anywhere',
    'Fix the login. Always use zod.',
  ])
  expect((await hook('UserPromptSubmit', { prompt: 'Always use zod.' })).out).toContain(
    '\\"Always use zod\\" — confirm?',
  )
  expect((await hook('UserPromptSubmit', { prompt: 'yes' })).out).toContain('the user agreed')
  expect(m.reader.list('fact').map((e) => e.name)).toEqual(['Always use zod'])
})

test('[M4] a process that starts late says nothing on its error stream', async () => {
  const { dir } = hookProject()
  const slow = 'data:text/javascript,for(;performance.now()<1200;);'
  const ran = await runHook(
    ['claude', 'UserPromptSubmit'],
    { session_id: 's1', cwd: dir, prompt: 'go on' },
    { env: { NODE_OPTIONS: `--import=${slow}` } },
  )
  expect([ran.code, ran.err]).toEqual([0, ''])
})

testUnless(ROOT)('[M4] a store that may not be written: exit 0', async () => {
  const { dir, project, memory } = hookProject()
  memory().close()
  chmodSync(dirname(project.storePath), 0o500)
  try {
    expectFine(await runHook(['claude', 'SessionStart'], { ...START, cwd: dir }))
  } finally {
    chmodSync(dirname(project.storePath), 0o700)
  }
})

test('[M4] no file may grow: exit 0, and the person is told', async () => {
  const { dir, memory } = hookProject()
  const m = memory()
  m.act([['record-fact', { fact: 'Always run the tests', category: 'workflow' }]])
  m.close()
  const ran = await new Promise<{ code: number | null; out: string }>((resolve) => {
    const bin = join(import.meta.dirname, '..', '..', 'bin', 'tidemark.js')
    const child = spawn(
      'sh',
      ['-c', `trap '' XFSZ; ulimit -f 0; exec "$0" "$1" hook claude SessionStart`, process.execPath, bin],
      {
        stdio: ['pipe', 'pipe', 'ignore'],
        env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1', TIDEMARK_HOOK_MS: '5000' }, // it starts cold
      },
    )
    let out = ''
    child.stdout.on('data', (d) => (out += d))
    child.on('close', (code) => resolve({ code, out }))
    child.stdin.end(JSON.stringify({ ...START, cwd: dir }))
  })
  expect(ran.code).toBe(0)
  expect(JSON.parse(ran.out)).toEqual({ systemMessage: expect.stringMatching(/cannot read its memory: .* failed/) })
})

test('[M4] no space left at all: exit 0, the person is told as a session starts, and all is there when there is room', async (context) => {
  const { dir, project, memory } = hookProject()
  memory().close()
  const at = dirname(project.storePath)
  const kept = mkdtempSync(join(tmpdir(), 'tidemark-kept-'))
  cpSync(at, kept, { recursive: true })
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=700', 'tmpfs', at], { stdio: 'ignore' })
  } catch {
    context.skip('no right to mount a small file system here')
  }
  try {
    cpSync(kept, at, { recursive: true })
    const m = memory()
    m.act([['record-fact', { fact: 'Always run the tests', category: 'workflow' }]])
    m.close()
    const fill = openSync(join(at, 'fill'), 'w')
    const block = Buffer.alloc(4096, 'x')
    expect(() => {
      for (;;) writeSync(fill, block)
    }).toThrow('ENOSPC')
    closeSync(fill)
    const call = (event: string, more: object) =>
      runHook(['claude', event], { ...START, cwd: dir, ...more }, { env: PATIENT })
    const started = await call('SessionStart', {})
    expectFine(started)
    expect(started.json).toEqual({
      systemMessage: expect.stringMatching(/no space left for the store .*free some space/),
    })
    for (const [event, more] of [
      ['UserPromptSubmit', { prompt: 'We use pnpm for installs.' }],
      ['PreCompact', { trigger: 'auto' }],
      ['Stop', {}],
    ] as const) {
      const ran = await call(event, more)
      expectFine(ran)
      expect([event, ran.out, ran.err]).toEqual([event, '', ''])
    }
    rmSync(join(at, 'fill'))
    expect((await call('SessionStart', {})).out).toContain('Always run the tests')
  } finally {
    execFileSync('umount', [at])
    rmSync(kept, { recursive: true, force: true })
  }
})

test.each([
  ['nothing at all', ''],
  ['no JSON', 'hello'],
  ['half of it', '{"session_id":"s1","source":'],
  ['a list', '[1,2,3]'],
  ['null', 'null'],
  ['bytes', Buffer.from([0xff, 0xfe, 0x00, 0x80, 0x7b])],
  ['other types', { session_id: 7, cwd: ['x'], tool_name: {}, tool_input: 'x', prompt: null }],
  ['17 MB', Buffer.concat([Buffer.from('{"prompt":"'), Buffer.alloc(17_000_000, 97), Buffer.from('"}')])],
])('[M4] stdin holds %s: exit 0 and a valid answer for every client', async (_, payload) => {
  const { dir, memory } = hookProject()
  memory().close()
  for (const client of CLIENT_NAMES) {
    const dialect = await DIALECTS[client]()
    const event = Object.keys(dialect.events).find((e) => dialect.events[e] === 'prompt')!
    expectFine(await runHook([client, event], payload, { cwd: dir }), client)
  }
})

test('[M4] stdin is missing, or never closed: the hook does not wait for it', async () => {
  const { dir, memory } = hookProject()
  memory().close()
  expectFine(await runHook(['claude', 'SessionStart'], undefined, { cwd: dir }))
  expectFine(await runHook(['claude', 'SessionStart'], { ...START, cwd: dir }, { open: true }))
  expectFine(await runHook(['gemini', 'SessionStart'], '', { open: true, cwd: dir }), 'gemini')
})

test('[M4] an unknown client or event: exit 0', async () => {
  const { dir } = hookProject()
  expectFine(await runHook(['nobody', 'SessionStart'], START, { cwd: dir }), 'nobody')
  expectFine(await runHook(['claude', 'constructor'], START, { cwd: dir }))
  expect((await runHook(['gemini', 'Nonsense'], START, { cwd: dir })).out.trim()).toBe('{}')
  expectFine(await runHook(['claude'], START, { cwd: dir }))
  expectFine(await runHook([], START, { cwd: dir }), '')
})

test('[M4] every event of every client is answered in its dialect', { tags: ['long'] }, async () => {
  const { dir, memory } = hookProject()
  memory().close()
  for (const client of CLIENT_NAMES) {
    const dialect = await DIALECTS[client]()
    for (const event of Object.keys(dialect.events)) {
      const payload = {
        session_id: 'e1', sessionId: 'e1', sessionID: 'e1', conversation_id: 'e1', cwd: dir, directory: dir, workspace_roots: [dir],
        tool_name: 'Edit', toolName: 'edit', tool: 'edit', tool_input: { file_path: 'x.ts' }, toolArgs: { path: 'x.ts' }, args: { filePath: 'x.ts' },
        file_path: 'x.ts', command: 'ls', prompt: 'We use pnpm for installs.', agent_id: 'a', agent_type: 'T', trigger: 'manual',
      } // biome-ignore format: what all clients send, at once
      const ran = await runHook([client, event], payload, { cwd: dir })
      expect(ran.code, `${client} ${event}`).toBe(0)
      const plain = client === 'claude' && (event === 'PreCompact' || event === 'status-line')
      if (ran.out !== '' && !plain) expect(() => JSON.parse(ran.out), `${client} ${event}: ${ran.out}`).not.toThrow()
    }
  }
})
