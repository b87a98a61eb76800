import { expect, test } from 'vitest'
import type { HookCall } from '../../src/hooking/call.ts'
import { respond } from '../../src/hooking/run.ts'
import { DIALECTS } from '../../src/surfaces/hooks/index.ts'
import { openTestMemory } from '../helpers.ts'

const rule = 'Always run the tests before committing.'

test('[G7] only what a person wrote is captured: not what a client or another agent puts into a prompt', async () => {
  const t = openTestMemory()
  const claude = await DIALECTS.claude()
  const told = async (call: HookCall) => (await respond(t.memory, t.project, call, () => 1_000)).reply.context ?? ''
  const payload = { session_id: 's1', cwd: t.dir, prompt: rule }
  for (const source of ['system', 'loop_wakeup', 'schedule_wakeup', 'poll_event'])
    expect(await told(claude.read('UserPromptSubmit', { ...payload, source }))).toBe('')
  const opencode = await DIALECTS.opencode()
  const byAgent = { sessionID: 'ses_2', parentID: 'ses_1', directory: t.dir, agent: 'explore', prompt: rule }
  expect(await told(opencode.read('chat.message', byAgent))).toBe('')
  expect(t.memory.reader.list('fact', { standing: 'proposed' })).toEqual([])
  expect(await told(claude.read('UserPromptSubmit', { ...payload, source: 'user' }))).toContain('the user just said')
  expect(await told(claude.read('UserPromptSubmit', { ...payload, prompt: 'We use pnpm for installs' }))).toContain(
    'the user just said',
  )
})

test('[A7] private words of a prompt are not looked at, not for what is recalled either', async () => {
  const t = openTestMemory()
  t.act([['record-decision', { name: 'zebra-cache', description: 'zebra caching by quokka layers' }]])
  const call = { client: 'claude', event: 'prompt', session: 's1', cwd: t.dir } as const
  const told = async (prompt: string) => (await respond(t.memory, t.project, { ...call, prompt }, () => 1_000)).reply
  expect(await told('Hello. <private>zebra caching by quokka layers</private>')).toEqual({})
  expect((await told('zebra caching by quokka layers')).context).toContain('zebra-cache')
})

test('[M4] VS Code is sent nothing that is no JSON: before compaction it takes no words', async () => {
  const claude = await DIALECTS.claude()
  expect(claude.print('PreCompact', { context: 'keep this' }, { sessionId: 'v1' })).toBe('')
  expect(claude.tells('PreCompact', { sessionId: 'v1' })).toBe(false)
  expect(claude.print('PreCompact', { context: 'keep this' }, { session_id: 's1' })).toBe('keep this')
})
