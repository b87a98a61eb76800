import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hooksSeen } from '../../src/session/hooks/log.ts'
import { CLIENT_NAMES, type ClientName } from '../../src/work/coordination/clients.ts'
import { hookProject, type Ran, runHook } from './run.ts'

/** Ten times what a hook has on the clock (1 s): other tests keep the machine busy. */
const IN_TIME = 10_000
const MB = 1024 * 1024

/** The empty answer of each client. */
const EMPTY: Readonly<Record<ClientName, string>> = {
  claude: '',
  codex: '',
  gemini: '{}',
  copilot: '{}',
  cursor: '{"continue":true}',
  opencode: '{}',
}

function expectFine(ran: Ran): void {
  expect([ran.code, ran.err]).toEqual([0, ''])
  expect(ran.ms).toBeLessThan(IN_TIME)
  if (ran.out !== '') expect(() => JSON.parse(ran.out)).not.toThrow()
}

const payload = (client: ClientName, dir: string) =>
  client === 'copilot'
    ? { sessionId: 's', cwd: dir, prompt: 'How is it?' }
    : { session_id: 's', conversation_id: 's', cwd: dir, workspace_roots: [dir], prompt: 'How is it?' }

test('[M4] [T12] work that does not come back is ended at the deadline, with the empty answer of each client', async () => {
  const { dir, project } = hookProject()
  // the store is asked, and the answer is never done
  const hang = join(dir, 'hang.cjs')
  writeFileSync(
    hang,
    `const { DatabaseSync } = require('node:sqlite')
    DatabaseSync.prototype.prepare = () => { for (;;); }`,
  )
  for (const client of CLIENT_NAMES) {
    const ran = await runHook([client, 'prompt'], payload(client, dir), { env: { NODE_OPTIONS: `--require ${hang}` } })
    expectFine(ran)
    expect(ran.out.trim(), client).toBe(EMPTY[client])
    expect(hooksSeen(project).at(-1)).toMatchObject({ client, errors: [expect.stringMatching(/time was up/)] })
  }
})

test('[M4] [P1] a session that starts while the disk is slow is told its rules all the same; a prompt is not held up', async () => {
  const { dir, memory } = hookProject()
  memory().act([['record-fact', { fact: 'Prices are integers in cents' }]], { by: 'person' })
  const slow = join(dir, 'slow.cjs')
  writeFileSync(
    slow,
    `const { DatabaseSync } = require('node:sqlite')
    const { prepare } = DatabaseSync.prototype
    DatabaseSync.prototype.prepare = function (sql) {
      DatabaseSync.prototype.prepare = prepare
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500)
      return this.prepare(sql)
    }`,
  )
  const env = { NODE_OPTIONS: `--require ${slow}` }
  const started = await runHook(['claude', 'SessionStart'], { ...payload('claude', dir), source: 'startup' }, { env })
  expectFine(started)
  expect(started.out).toContain('Prices are integers in cents')
  expect((await runHook(['claude', 'UserPromptSubmit'], payload('claude', dir), { env })).out).toBe('')
})

test('[M4] [T12] a wildcard that a repository commits holds no hook up', async () => {
  const { dir } = hookProject()
  const config = join(dir, '.tidemark/config.json')
  const settings = JSON.parse(execFileSync('cat', [config], { encoding: 'utf8' }))
  const rules = Array.from({ length: 200 }, (_, n) => `${'*a'.repeat(240)}${n}`)
  writeFileSync(
    config,
    JSON.stringify({ ...settings, hooks: { excludeCommands: rules, excludePaths: rules.map((r) => `**/${r}`) } }),
  )
  for (const event of ['PreToolUse', 'PostToolUse', 'PostToolUseFailure'])
    for (const command of ['a'.repeat(200_000), '(a&&'.repeat(50_000), 'A=b '.repeat(50_000), 'a/'.repeat(100_000)])
      expectFine(
        await runHook(['claude', event], {
          session_id: 's',
          cwd: dir,
          tool_name: 'Bash',
          tool_input: { command },
          tool_response: command,
          error: command,
        }),
      )
})

test('[M4] [T12] whatever is sent, however large, and wherever a transcript lies', { tags: ['long'] }, async () => {
  const { dir } = hookProject()
  const pipe = join(dir, 'pipe')
  execFileSync('mkfifo', [pipe])
  mkdirSync(join(dir, 'folder'))
  const of = (more: object) => ({ session_id: 's', cwd: dir, ...more })
  const worst: readonly [event: string, payload: unknown][] = [
    ['Stop', of({ transcript_path: pipe })],
    ['Stop', of({ transcript_path: join(dir, 'folder') })],
    ['Stop', of({ transcript_path: '/dev/zero' })],
    ['UserPromptSubmit', of({ prompt: 'never '.repeat(2 * MB) })],
    ['UserPromptSubmit', of({ prompt: `${'<a>\n'.repeat(MB)}` })],
    ['UserPromptSubmit', of({ prompt: `never ${'a'.repeat(10 * MB)}` })],
    ['UserPromptSubmit', `{"session_id":"s","cwd":${JSON.stringify(dir)},"prompt":${'['.repeat(5 * MB)}`],
    ['UserPromptSubmit', `${'{"a":'.repeat(MB)}1${'}'.repeat(MB)}`],
    ['UserPromptSubmit', of({ __proto__: 1, constructor: 'x', prompt: 'x'.repeat(100) })],
    ['PostToolUseFailure', of({ tool_name: 'Bash', tool_input: { command: 'x' }, error: 'key='.repeat(3 * MB) })],
    ['PostToolUse', of({ tool_name: 'apply_patch', tool_input: { input: '*** Add File: a\n'.repeat(MB / 2) } })],
  ]
  for (const [event, sent] of worst) expectFine(await runHook(['claude', event], sent))
})
