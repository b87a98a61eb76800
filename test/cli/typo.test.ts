import { expect, test } from 'vitest'
import { inProcess, project } from './run.ts'

/** Commands that act on what a session has: a session that nobody knows has nothing. */
const OF_A_SESSION = [
  ['session', 'end'],
  ['session', 'show'],
  ['session', 'heartbeat'],
  ['claims'],
  ['claims', '--mine'],
  ['release'],
  ['release', 'src', '--to', 'lead'],
  ['task', 'complete'],
  ['task', 'abandon', '--reason', 'x'],
  ['activity', 'complete'],
  ['goal', 'abandon'],
  ['undo'],
  ['undo', '--last'],
]

test('[X7] a typo in --session is refused with those that live, where there must be one, and makes none', async () => {
  const { at, run } = await project()
  await run('session', 'start', 'lead')
  await run('claim', 'src', '--session', 'lead')
  const refused = async (args: readonly string[]) => {
    const ran = await inProcess(at, [...args, '--json'])
    expect([args.join(' '), ran.code]).toEqual([args.join(' '), 1])
    return (JSON.parse(ran.out) as { error: { code: string; message: string; hint: string; details: object } }).error
  }
  for (const args of OF_A_SESSION) {
    const error = await refused([...args, '--session', 'laed'])
    expect(error, args.join(' ')).toMatchObject({
      code: 'not-found',
      message: 'there is no session laed',
      hint: expect.stringMatching(/did you mean lead\? those that live are lead; \(sessions\)/),
      details: { live: ['lead'], nearest: ['lead'] },
    })
  }
  for (const step of ['end', 'show', 'heartbeat'])
    expect((await refused(['session', step, 'laed'])).hint).toContain('did you mean lead?')
  expect((await refused(['release', 'src', '--to', 'laed', '--session', 'lead'])).message).toContain('no session laed')
  const known = async () =>
    (JSON.parse(await run('session', 'list', '--all', '--json')) as { id: string; state: string }[]).map((s) => s.id)
  expect(await known()).toEqual(['lead'])
  expect(await run('claims', '--session', 'lead')).toContain('src lead')
})

test('[X7] what begins something makes its session still, and so does what the environment names', async () => {
  const { at, run } = await project()
  await run('claim', 'a', '--session', 'claimer')
  await run('share', 'set', 'k', '1', '--session', 'sharer')
  await run('task', 'start', 'a task', '--session', 'worker')
  await run('act', '[["record-decision", {"name": "x"}]]', '--session', 'actor')
  await run('session', 'start', '--session', 'starter')
  // whoever sets the variable names the session of a whole shell
  const shell = { ...at, env: { ...at.env, TIDEMARK_SESSION: 'shell' } }
  for (const args of [['claims'], ['release'], ['session', 'heartbeat'], ['session', 'show']])
    expect([args, (await inProcess(shell, args)).code]).toEqual([args, 0])
  const ids = (JSON.parse(await run('session', 'list', '--json')) as { id: string }[]).map((s) => s.id)
  expect(ids.sort()).toEqual(['actor', 'claimer', 'sharer', 'shell', 'starter', 'worker'])
  // one that ended is known, and goes on
  await run('session', 'end', 'worker')
  expect(await run('session', 'heartbeat', 'worker')).toBe('session worker is alive\n')
})
