import { expect, test } from 'vitest'
import type { HookCall } from '../../src/session/hooks/call.ts'
import { respond } from '../../src/session/hooks/run.ts'
import { act } from '../../src/surfaces/tools/act.ts'
import { openTestMemory } from '../helpers.ts'

/** Sessions of Claude Code, as its hooks tell of them; faults seen where whole histories of real prompts were typed again. */
function sessions() {
  const t = openTestMemory()
  const on = async (session: string, event: HookCall['event'], more: Partial<HookCall> = {}) => {
    t.clock.now += 60_000
    const call = { client: 'claude', event, session, cwd: t.dir, ...more } as const
    return (await respond(t.memory, t.project, call, () => 60_000)).reply
  }
  const record = async (session: string, ...actions: unknown[]) => {
    t.clock.now += 1_000
    const context = {
      memory: t.memory,
      project: t.project,
      session,
      agent: 'claude-code',
      by: 'agent',
      local: true,
    } as const
    return (await act.run(context, { actions } as never)).text
  }
  return { t, on, record }
}

test('[W4] of two sessions that began with the same words, the second keeps its handoff, and takes the place of the first', async () => {
  const { t, on, record } = sessions()
  for (const id of ['aaaaaaaa-1', 'bbbbbbbb-2']) {
    await on(id, 'session-start')
    await on(id, 'prompt', { prompt: 'read the README and the code' })
    await record(id, ['write-handoff', { inProgress: [`part ${id}`], nextSteps: [`finish ${id}`] }])
    await on(id, 'stop')
    await on(id, 'session-end', { reason: 'exit' })
    t.clock.now += 3_600_000
  }
  const { context } = await on('c3', 'session-start')
  expect(context).toContain('finish bbbbbbbb-2')
  expect(context).not.toContain('finish aaaaaaaa-1')
})

test('[W3] what took the place of something is not counted as left out', async () => {
  const { on, record } = sessions()
  await on('s1', 'session-start')
  await record(
    's1',
    ['record-decision', { name: 'a', description: 'use npm' }],
    ['record-decision', { name: 'b', description: 'use pnpm' }],
    ['supersede', { old: 'decision:a', new: 'decision:b' }],
  )
  await on('s1', 'session-end', { reason: 'exit' })
  const { context } = await on('s2', 'session-start')
  expect(context).toContain('decision:b')
  expect(context).not.toContain('left out')
})

test('[R2] an agent that was asked at a full context what lasts is not told at its next stop that it recorded nothing', async () => {
  const { on } = sessions()
  await on('long', 'session-start')
  for (let i = 0; i < 8; i++)
    await on('long', 'prompt', {
      prompt: `the button number ${i} of the window stands too far on the left side, move it`,
    })
  expect((await on('long', 'stop', { contextUsed: 85 })).context).toContain('What of this will a later session need?')
  expect((await on('long', 'stop', { contextUsed: 86 })).context ?? '').not.toContain('recorded nothing')
})

test('[R3] a sentence that says itself that it lasts is a rule after the yes, though it states a wish', async () => {
  const { t, on } = sessions()
  await on('s1', 'session-start')
  const { visible } = await on('s1', 'prompt', { prompt: 'From now on I want you to talk to me in French' })
  expect(visible).toContain('From now on I want you to talk to me in French')
  await on('s1', 'prompt', { prompt: 'yes' })
  expect(t.memory.reader.list('fact').map((e) => [e.name, e.fields.standing ?? 'confirmed'])).toEqual([
    ['From now on I want you to talk to me in French', 'confirmed'],
  ])
})

test('[Y2] a change that an agent wants is asked about in words', async () => {
  const { t, on, record } = sessions()
  t.act([['record-fact', { fact: 'Do not run deploy', standing: 'confirmed' }]])
  await on('s1', 'session-start')
  await on('s1', 'prompt', { prompt: 'I will run all fly commands myself, just tell me' })
  const said = await record(
    's1',
    ['record-fact', { fact: 'Do not run fly commands', said: 'I will run all fly commands myself' }],
    ['supersede', { old: 'Do not run deploy', new: 'Do not run fly commands', reason: 'wider' }],
  )
  expect(said).not.toContain('undefined')
  const { visible } = await on('s1', 'stop')
  expect(visible).toContain('supersede "Do not run deploy" by "Do not run fly commands": wider')
})

test('[R3] what an agent makes of words that the user has agreed to is no second rule', async () => {
  const { t, on, record } = sessions()
  await on('s1', 'session-start')
  await on('s1', 'prompt', { prompt: 'From now on run pnpm lint before you commit. The menu is broken.' })
  await on('s1', 'prompt', { prompt: 'yes' })
  await record(
    's1',
    ['record-fact', { fact: 'Lint with pnpm lint before commits', said: 'run pnpm lint before you commit' }],
    ['record-fact', { fact: 'The menu is ours to mend', said: 'The menu is broken' }],
  )
  const { visible = '' } = await on('s1', 'stop')
  expect(visible).toContain('The menu is ours to mend')
  expect(visible).not.toContain('Lint with')
  const rules = t.memory.reader.list('fact', { standing: 'confirmed' })
  expect(rules.map((e) => e.name)).toEqual(['From now on run pnpm lint before you commit'])
  expect(t.get('Lint with pnpm lint before commits')?.fields.standing).toBe('rejected')
  // the words that were agreed to are gone from the session too, once something is erased
  const kept = () => JSON.stringify(t.memory.db.all('SELECT body FROM sessions'))
  expect(kept()).toContain('pnpm lint')
  t.act([['purge', { ref: rules[0]!.id, reason: 'said by mistake' }]])
  expect(kept()).not.toContain('pnpm lint')
})

test('[R3] what the user says now is asked about, though an older rule that forbids it holds the same words', async () => {
  const { t, on, record } = sessions()
  t.act([['record-fact', { fact: 'Never use npm here', standing: 'confirmed' }]])
  await on('s1', 'session-start')
  await on('s1', 'prompt', { prompt: 'Yarn broke again today. I changed my mind: use npm here' })
  await record('s1', ['record-fact', { fact: 'npm is the package manager', said: 'use npm here' }])
  const { visible = '' } = await on('s1', 'stop')
  expect(visible).toContain('npm is the package manager')
  expect(t.get('npm is the package manager')?.fields.standing).toBe('proposed')
})
