import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { claimsOf } from '../../src/work/coordination/claims.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { testUnless } from '../needs.ts'
import { contextOf, hookProject, PATIENT, type RunOptions, runHook as runAsItIs } from './run.ts'

const runHook = (args: readonly string[], payload: unknown, options: RunOptions = {}) =>
  runAsItIs(args, payload, { ...options, env: { ...PATIENT, ...options.env } })

const BIN = join(import.meta.dirname, '..', '..', 'bin', 'tidemark.js')

test('[M5] [T42] what Claude Code records, Codex is told at its next start, and the reverse; so is every other client', async () => {
  const { dir } = hookProject()
  const at = (client: string, event: string, session: string, more: object = {}) =>
    runHook([client, event], {
      session_id: session,
      sessionId: session,
      sessionID: session,
      conversation_id: session,
      cwd: dir,
      directory: dir,
      source: 'startup',
      ...more,
    })
  const act = (session: string, batch: unknown[]) =>
    new Promise<number | null>((resolve) => {
      const child = spawn(process.execPath, [BIN, 'act', JSON.stringify(batch)], {
        cwd: dir,
        env: { ...process.env, TIDEMARK_SESSION: session },
        stdio: 'ignore',
      })
      child.on('close', resolve)
    })
  expect(contextOf(await at('claude', 'SessionStart', 'c1'))).not.toContain('use-redis')
  // the person's rule is asked about, and the next prompt answers: what an agent makes up would only be proposed
  await at('claude', 'UserPromptSubmit', 'c1', { source: 'user', prompt: 'Never use sync I/O in handlers. Now go on.' })
  expect(
    await act('c1', [
      ['record-decision', { name: 'use-redis', description: 'Redis holds the sessions' }],
      ['record-fact', { fact: 'Never use sync I/O in handlers', category: 'constraint' }],
      ['record-fact', { fact: 'Always use sync I/O in hooks', category: 'constraint' }],
    ]),
  ).toBe(0)
  await at('claude', 'UserPromptSubmit', 'c1', { source: 'user', prompt: 'yes' })
  const codex = contextOf(await at('codex', 'SessionStart', 'x1'))
  expect(codex).toContain('decision:use-redis')
  expect(codex).toMatch(/Project Rules.*\n(?:.*\n)*- Never use sync I\/O in handlers/)
  expect(
    await act('x1', [
      ['record-failed-approach', { approach: 'Redis streams as a queue', outcome: 'lost messages on restart' }],
    ]),
  ).toBe(0)
  // in the same moment: the session that lives is told with its next prompt
  expect(contextOf(await at('claude', 'UserPromptSubmit', 'c1', { prompt: 'go on' }))).toContain(
    'Redis streams as a queue',
  )
  expect(contextOf(await at('claude', 'SessionStart', 'c2'))).toContain('Redis streams as a queue')
  for (const [client, event] of [
    ['gemini', 'SessionStart'],
    ['copilot', 'sessionStart'],
    ['cursor', 'sessionStart'],
    ['opencode', 'session.created'],
  ] as const) {
    const { out } = await at(client, event, `${client}1`)
    expect(out, client).toContain('decision:use-redis')
    expect(out, client).toContain('Never use sync I/O in handlers')
    expect(out, client).not.toContain('sync I/O in hooks')
  }
})

test('[X7] the shell of an agent in Claude Code learns its session from CLAUDE_ENV_FILE', async () => {
  const { dir } = hookProject()
  const file = join(dir, 'env.sh')
  writeFileSync(file, '')
  await runHook(
    ['claude', 'SessionStart'],
    { session_id: "s'1", source: 'startup', cwd: dir },
    { env: { CLAUDE_ENV_FILE: file } },
  )
  const told = await new Promise<string>((resolve) => {
    const child = spawn('sh', ['-c', `. "${file}"; printf %s "$TIDEMARK_SESSION"`], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let out = ''
    child.stdout.on('data', (d) => (out += d))
    child.on('close', () => resolve(out))
  })
  expect(told).toBe("s'1")
})

test('[X6] two clients, one file: the hook of the second one refuses the edit of what the first one claimed', async () => {
  const { dir, memory } = hookProject()
  const base = { cwd: dir, source: 'startup' }
  const m = memory()
  sessionsOf(m).start({ id: 's1', client: 'claude', root: dir, pid: process.ppid })
  await runHook(['codex', 'SessionStart'], { ...base, session_id: 's2' })
  m.act([['claim', { paths: ['src/auth'] }]], { session: 's1' })
  const patch = '*** Begin Patch\n*** Update File: src/auth/login.ts\n@@\n-a\n+b\n*** End Patch'
  const codex = await runHook(['codex', 'PreToolUse'], {
    session_id: 's2',
    cwd: dir,
    tool_name: 'apply_patch',
    tool_input: { command: patch },
  })
  expect(codex.json).toMatchObject({
    hookSpecificOutput: {
      permissionDecision: 'deny',
      permissionDecisionReason: expect.stringContaining('claimed by s1 (claude, '),
    },
  })
  const own = await runHook(['claude', 'PreToolUse'], {
    session_id: 's1',
    cwd: dir,
    tool_name: 'Edit',
    tool_input: { file_path: join(dir, 'src/auth/login.ts') },
  })
  expect(own.out).toBe('')
})

test('[X6] what a shell was asked to patch is in the session once it was written: Codex tells of it only before', async () => {
  const { dir, memory } = hookProject()
  const codex = (event: string, more: object, cwd = dir) =>
    runHook(['codex', event], { session_id: 's1', cwd, ...more })
  const files = () => sessionsOf(memory()).get('s1')?.files
  const patch = (path: string, before = '') =>
    codex('PreToolUse', {
      tool_name: 'Bash',
      tool_input: {
        command: `${before}apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch\nEOF\n`,
      },
    })
  mkdirSync(join(dir, 'src'))
  await codex('SessionStart', { source: 'startup' })
  await patch('b.ts', 'cd src && ')
  expect(files()).toEqual([])
  writeFileSync(join(dir, 'src/b.ts'), 'x')
  await patch('never.ts')
  expect(files()).toEqual(['src/b.ts'])
  await codex('Stop', { stop_hook_active: false, last_assistant_message: 'done' })
  writeFileSync(join(dir, 'never.ts'), 'by hand')
  await codex('UserPromptSubmit', { prompt: 'go on' })
  expect(files()).toEqual(['src/b.ts'])
})

test('[M4] what is to be told at an event that takes nothing goes with the next answer that does', async () => {
  const { dir, memory } = hookProject()
  const edit = { session_id: 's1', cwd: dir, tool_name: 'write_file', tool_input: { file_path: 'a.ts' } }
  const m = memory()
  sessionsOf(m).start({ id: 's2', pid: process.pid })
  m.act([['claim', { paths: ['a.ts'], implicit: true }]], { session: 's2' })
  expect((await runHook(['gemini', 'BeforeTool'], edit)).json).toMatchObject({ decision: 'deny' })
  const before = await runHook(['gemini', 'BeforeTool'], edit)
  expect(before.json).toMatchObject({ systemMessage: expect.stringContaining('being edited by s2') })
  expect(before.out).not.toContain('additionalContext')
  const after = await runHook(['gemini', 'AfterTool'], { ...edit, tool_response: { llmContent: 'ok' } })
  expect(contextOf(after)).toContain('being edited by s2')
})

test('[M4] the status line keeps the context and is printed behind the one the user had', async () => {
  const { dir, memory } = hookProject()
  const payload = { session_id: 's1', cwd: dir, context_window: { used_percentage: 42.4 } }
  await runHook(['claude', 'SessionStart'], { session_id: 's1', cwd: dir, source: 'startup' })
  expect((await runHook(['claude', 'status-line'], payload)).out).toBe('tidemark: context 42%\n')
  expect(sessionsOf(memory()).get('s1')!.contextUsed).toBe(42)
  const chained = await runHook(
    ['claude', 'status-line', '--chain', 'read line; echo "mine: $line" | cut -c1-20'],
    payload,
  )
  expect(chained.out).toBe('mine: {"session_id": · tidemark: context 42%\n')
  expect((await runHook(['claude', 'status-line', '--chain', 'exit 3'], payload)).out).toBe('tidemark: context 42%\n')
})

/** Processes that were started with this word in their environment or arguments. */
function processesWith(word: string): number[] {
  return readdirSync('/proc')
    .filter((p) => /^\d+$/.test(p))
    .filter((pid) => {
      try {
        return (
          readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word) ||
          readFileSync(`/proc/${pid}/environ`, 'utf8').includes(word)
        )
      } catch {
        return false
      }
    })
    .map(Number)
}

testUnless(!existsSync('/proc/self/environ') && 'no /proc here')(
  '[M3] 50 session starts and kills leave no process, lock or claim behind',
  { tags: ['long'] },
  async () => {
    const { dir, memory } = hookProject()
    const mark = `TIDEMARK_TEST_${process.pid}_${Date.now()}`
    const scripts = mkdtempSync(join(tmpdir(), 'tidemark-client-'))
    onTestFinished(() => rmSync(scripts, { recursive: true, force: true }))
    // a client that starts, begins an edit, says so, and is killed in the middle of a further hook
    const client = join(scripts, 'client.mjs')
    writeFileSync(
      client,
      `import { spawn, spawnSync } from 'node:child_process'
     const [bin, id, dir] = process.argv.slice(2)
     const hook = (event, more) => [[bin, 'hook', 'claude', event], JSON.stringify({ session_id: id, cwd: dir, ...more })]
     const edit = { tool_name: 'Edit', tool_input: { file_path: dir + '/file-' + id + '.ts' } }
     for (const [args, input] of [hook('SessionStart', { source: 'startup' }), hook('PreToolUse', edit)]) spawnSync(process.execPath, args, { input })
     const [args, input] = hook('PostToolUse', edit)
     const last = spawn(process.execPath, args, { stdio: ['pipe', 'ignore', 'ignore'] })
     last.stdin.write(input)
     process.stdout.write('ready')`,
    )
    const one = (i: number) =>
      new Promise<void>((resolve) => {
        const child = spawn(process.execPath, [client, BIN, `s${i}`, dir], {
          env: { ...process.env, ...PATIENT, MARK: mark },
          stdio: ['ignore', 'pipe', 'ignore'],
        })
        child.stdout.on('data', () => child.kill('SIGKILL'))
        child.on('close', () => resolve())
      })
    memory().close()
    for (let i = 0; i < 50; i += 5) await Promise.all([0, 1, 2, 3, 4].map((j) => one(i + j)))
    await expect.poll(() => processesWith(mark), { timeout: 10_000 }).toEqual([])
    const m = memory()
    m.db.write(() => {}) // the lock is free
    const sessions = sessionsOf(m)
    sessions.sweep()
    expect(claimsOf(m).held()).toEqual([])
    expect(sessions.list()).toEqual([])
    const all = sessions.list({ all: true })
    expect(all.length).toBeGreaterThan(0) // on a machine that is busy not every hook is in time
    expect(new Set(all.map((s) => s.state))).toEqual(new Set(['crashed']))
    // on a machine that is busy a hook that was not in time leaves what it missed to the next one
    expect(
      readdirSync(join(dir, '.git', 'tidemark')).filter(
        (f) => !/^(store\.db(-wal|-shm|\.bell|\.owner)?|hooks\.(log|missed)|backups|events.*|archive.*)$/.test(f),
      ),
    ).toEqual([])
  },
)
