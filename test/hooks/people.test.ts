import { expect, test } from 'vitest'
import { project, tidemark } from '../cli/run.ts'
import { PATIENT, runHook } from './run.ts'

test('[A7] pause and resume switch capture for the project; status, the hooks and the status line say so', async () => {
  const { at, run } = await project()
  const hook = (event: string, more: object) =>
    runHook(['claude', event], { session_id: 's1', cwd: at.dir, ...more }, { env: PATIENT })
  expect(await run('pause')).toMatch(/capture is paused/)
  expect(await run('status')).toMatch(/capture paused just now/)
  expect((await hook('SessionStart', { source: 'startup' })).out).toMatch(/capture paused/)
  expect((await hook('UserPromptSubmit', { prompt: 'We use pnpm for installs' })).out).toBe('')
  expect((await hook('status-line', {})).out).toMatch(/capture paused/)
  expect(await run('review')).toMatch(/nothing is proposed/)
  expect(await run('resume')).toMatch(/capture goes on/)
  expect((await hook('UserPromptSubmit', { prompt: 'We use pnpm for installs' })).out).toContain('Tidemark noted')
  expect(await run('resume')).toMatch(/was not paused/)
})

test('[M4] doctor tells the last hook of each client and event, and what is not accepted in the configuration', async () => {
  const { at, run } = await project()
  await runHook(['claude', 'SessionStart'], { session_id: 's1', cwd: at.dir }, { env: PATIENT })
  await runHook(['claude', 'SessionStart'], 'no JSON', { cwd: at.dir, env: PATIENT })
  const out = await run('doctor')
  expect(out).toMatch(
    /hook claude SessionStart: last \d{4}-\d\d-\d\d.*, 2 calls, \d+ ms; 1 missed something: stdin: no JSON object/,
  )
})

test('[M4] the hook command explains itself', async () => {
  const { at } = await project()
  const help = await tidemark(at, ['hook', '--help'])
  expect(help.code).toBe(0)
  expect(help.out).toMatch(/CLIENT EVENT/)
})
