import { generateKeyPairSync } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { screen, withoutPrivate } from '../../src/base/secrets/screen.ts'
import { ownWords } from '../../src/session/hooks/typed-words.ts'
import { readEdits, refreshViews } from '../../src/work/handoff/views/refresh.ts'
import { filesWith, hookProject, PATIENT, runHook } from './run.ts'

test('[A7] a secret that a failing command prints is not kept where its beginning falls to a cut', async () => {
  const { dir, project } = hookProject()
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 3072 })
  const key = String(privateKey.export({ type: 'pkcs8', format: 'pem' })) // longer than what is kept of an answer
  const token = `ghp_${'A1b2C3d4E5'.repeat(4)}`
  const says = [`could not use\n${key}\nfailed`, `${'x'.repeat(500)} ${token} ${'z '.repeat(988)}`]
  for (const [i, error] of says.entries())
    for (let n = 0; n < 3; n++) {
      const call = { session_id: 's1', cwd: dir, tool_name: 'Bash', tool_input: { command: `deploy ${i}` }, error }
      await runHook(['claude', 'PostToolUseFailure'], call, { env: PATIENT })
    }
  const store = dirname(project.storePath)
  expect(filesWith(store, 'deploy 1')).not.toBe('')
  for (const line of key.split('\n').slice(1, -2)) expect(filesWith(store, line)).toBe('')
  expect(filesWith(store, 'C3d4E5A1b2C3d4E5')).toBe('')
})

test('[A7] a password in a failing command, or in what it prints, is kept nowhere: it is known by where it stands', async () => {
  const { dir } = hookProject()
  const secret = 'Zq0Xv9LmT4wRk7PbNc2Hd'
  const call = {
    session_id: 's1',
    cwd: dir,
    tool_name: 'Bash',
    tool_input: { command: `vercel --token ${secret} deploy` },
    error: `fatal: could not read from https://${secret}@github.com/x/y`,
  }
  for (let n = 0; n < 3; n++) await runHook(['claude', 'PostToolUseFailure'], call, { env: PATIENT })
  await runHook(['claude', 'Stop'], { session_id: 's1', cwd: dir }, { env: PATIENT })
  expect(filesWith(dir, 'vercel --token [redacted: credential]')).toMatch(/store\.db/)
  expect(filesWith(dir, secret)).toBe('')
})

test('[A7] nor half of one at the end of what is looked at of a long prompt', async () => {
  const { dir, project } = hookProject()
  const before = 'Always deploy on Mondays with ghp_QwertyUi'
  const prompt = `${'\n'.repeat(8_000 - before.length)}${before}${'Q9'.repeat(18)}`
  await runHook(['claude', 'UserPromptSubmit'], { session_id: 's1', cwd: dir, prompt }, { env: PATIENT })
  const store = dirname(project.storePath)
  expect(filesWith(store, 'deploy on Mondays')).not.toBe('')
  expect(filesWith(store, 'QwertyU')).toBe('')
})

test('[A7] private marks within private marks: all of it is left out', () => {
  expect(withoutPrivate('a <private>b <private>c</private> d</private> e')).toBe('a  e')
  expect(withoutPrivate('a <PRIVATE>b</private> c <private>d')).toBe('a  c ')
  expect(withoutPrivate('a </private> b')).toBe('a </private> b')
  const page = 'Text in `<private>` is left out.\n\n## Next\n\nIt ends with `</private>`.'
  expect(withoutPrivate(page)).toBe(page)
  expect(withoutPrivate('`<private>b</private>` c')).toBe('`` c')
  expect(withoutPrivate('run `x`<private>`my plan`</private>`y` now')).toBe('run `x``y` now')
  expect(screen({ x: page }, false)).toMatchObject({ value: { x: page }, privateLeftOut: false })
  const { value } = screen({ x: 'a <private>b <private>c</private> d</private> e' }, false)
  expect(value).toEqual({ x: 'a  e' })
  expect(ownWords('a <private>b <private>c</private> d</private> e')).not.toMatch(/[bcd]/)
})

test('[A7] [T53] a password whose name stands in another sentence is kept with no session, and in no proposal', async () => {
  const { dir, project } = hookProject()
  const password = 'Harbor_4821vy'
  const prompts = [
    `The password of the staging box is:\n${password}\nAlways use ${password.toLowerCase()} nowhere else.`,
    `Always migrate with Host=db.net;Port=5432;Username=app;Password=QwertzMnopAbcdXyz;SSL Mode=Require; on Mondays.`,
  ]
  for (const prompt of prompts)
    await runHook(['claude', 'UserPromptSubmit'], { session_id: 's1', cwd: dir, prompt }, { env: PATIENT })
  const store = dirname(project.storePath)
  expect(filesWith(store, 'Always migrate with')).not.toBe('')
  expect(filesWith(store, password)).toBe('')
  expect(filesWith(store, 'QwertzMnop')).toBe('')
})

test('[A7] [T53] nor half of a token where a command, or what a subagent said last, is cut', async () => {
  const { dir, project, memory } = hookProject()
  const token = `ghp_${'Q7w8E9r0'.repeat(5)}`
  const at = (before: string, length: number) => `${before}${'x'.repeat(length - before.length - 1)} ${token}`
  const hook = (event: string, payload: object) =>
    runHook(['claude', event], { session_id: 's1', cwd: dir, ...payload }, { env: PATIENT })
  await hook('SessionStart', { source: 'startup' })
  await hook('SubagentStart', { agent_id: 'a1', agent_type: 'tester' })
  memory().act([['claim', { role: 'tester' }]], { session: 's1/a1' })
  await hook('SubagentStop', { agent_id: 'a1', agent_type: 'tester', last_assistant_message: at('done ', 185) })
  const command = at('npm test -- ', 70)
  await hook('PostToolUseFailure', { tool_name: 'Bash', tool_input: { command }, error: 'exit 1' })
  expect(filesWith(dirname(project.storePath), 'npm test -- ')).not.toBe('')
  expect(filesWith(dirname(project.storePath), 'Q7w8E')).toBe('')
})

test('[A7] [T53] nor in what is told of a line of a view that cannot be read', () => {
  const { dir, project, memory } = hookProject()
  const open = memory()
  open.act([['record-observation', { operation: 'test', what: 'the tests ran' }]])
  refreshViews(open, project)
  const token = `ghp_${'Q7w8E9r0'.repeat(5)}`
  appendFileSync(join(dir, '.tidemark', 'observations.md'), `${'no observation '.repeat(7)}at ${token}\n`)
  const told = readEdits(open, project).join(' ')
  expect(told).toContain('no observation can be read in')
  expect(told).not.toContain('Q7w8E')
  expect(filesWith(dirname(project.storePath), 'Q7w8E')).toBe('')
})
