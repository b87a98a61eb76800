import { expect, test } from 'vitest'
import { offUntil, pauses, resumeNow, switchOff } from '../../src/session/hooks/pause.ts'
import { inProcess, project, tidemark } from '../cli/run.ts'
import { openTestMemory } from '../helpers.ts'
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
  expect(await run('resume')).toMatch(/capture is on again/)
  expect((await hook('UserPromptSubmit', { prompt: 'We use pnpm for installs' })).out).toContain('Tidemark noted')
  expect(await run('resume')).toMatch(/nothing was off or paused/)
})

test('[A7] off is off for everything: hooks say and keep nothing, for a time or until on', async () => {
  const { at, run } = await project()
  const hook = (event: string, more: object) =>
    runHook(['claude', event], { session_id: 's1', cwd: at.dir, ...more }, { env: PATIENT })
  await run('act', '[["record-decision", {"name": "no-sync-io"}]]')
  expect(await run('off', '--for', '8h')).toMatch(
    /^Tidemark is off here until \d{4}-\d\d-\d\dT.*Z; agents are told nothing.*`tidemark on` switches/,
  )
  expect(await run('status')).toMatch(/off until \d{4}/)
  expect((await hook('SessionStart', { source: 'startup' })).out).toBe('')
  expect((await hook('UserPromptSubmit', { prompt: 'We use pnpm for installs' })).out).toBe('')
  expect((await hook('status-line', {})).out).toBe('tidemark: off\n')
  expect(await run('session', 'list', '--json')).not.toContain('s1')
  expect(await run('on')).toBe('Tidemark is on again\n')
  expect((await hook('SessionStart', { source: 'startup' })).out).toContain('no-sync-io')
  expect(await run('off')).toMatch(/^Tidemark is off here; /)
  const agent = (...args: string[]) => inProcess({ ...at, env: { ...at.env, CLAUDECODE: '1' } }, args)
  for (const args of [['brief'], ['recall', 'sync'], ['discover', '(get-decisions)'], ['status']])
    expect(await agent(...args)).toMatchObject({
      code: 0,
      out: 'the user has switched Tidemark off: go on without it\n',
    })
  expect(JSON.parse((await agent('brief', '--json')).out)).toEqual({ off: true })
  const written = await agent('act', '[["record-decision", {"name": "use-pnpm"}]]')
  expect([written.code, written.err]).toEqual([1, expect.stringContaining('the user has switched Tidemark off')])
  expect((await agent('on')).err).toContain('`tidemark on` is for the user, not for an agent')
  expect(await run('list', 'decision')).not.toContain('use-pnpm')
  // who ends in good order meanwhile has not crashed
  await hook('SessionEnd', { reason: 'prompt_input_exit' })
  expect(JSON.parse(await run('session', 'list', '--all', '--json'))).toMatchObject([{ id: 's1', state: 'ended' }])
  expect((await inProcess(at, ['off', '--for', 'ever'])).err).toContain('--for ever is not a time')
  expect(await run('resume')).toBe('Tidemark is on again\n')
})

test('[A7] an off that was for a time ends by itself; what was said meanwhile stays unheard', () => {
  const m = openTestMemory()
  const { now } = m.clock
  switchOff(m.memory.db, now, now + 1_000)
  expect(offUntil(m.memory.db, now + 999)).toBe(now + 1_000)
  expect(offUntil(m.memory.db, now + 1_000)).toBe(undefined)
  resumeNow(m.memory.db, now + 500)
  expect([offUntil(m.memory.db, now + 600), pauses(m.memory.db)]).toEqual([undefined, [[now, now + 500]]])
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
