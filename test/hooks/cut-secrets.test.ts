import { generateKeyPairSync } from 'node:crypto'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { ownWords } from '../../src/hooks/capture/prompt-text.ts'
import { screen, withoutPrivate } from '../../src/secrets/screen.ts'
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
  const { value } = screen({ x: 'a <private>b <private>c</private> d</private> e' }, false)
  expect(value).toEqual({ x: 'a  e' })
  expect(ownWords('a <private>b <private>c</private> d</private> e')).not.toMatch(/[bcd]/)
})
