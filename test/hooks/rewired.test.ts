import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { journalFiles } from '../../src/session/clients/common/journal.ts'
import { rewired } from '../../src/session/clients/common/rewired.ts'
import { project, tidemark } from '../cli/run.ts'
import { machine } from '../client-machine.ts'

test('[T48] [Y1] what is gone of what init wrote is noticed, and neither a new form nor a user’s own setting', () => {
  const m = machine({ 'project/.claude/settings.json': '{ "model": "opus" }\n' })
  m.wire(['claude'])
  const file = join(m.ctx.root, '.claude/settings.json')
  expect(rewired(m.ctx.root)).toEqual([])
  const settings = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify({ ...settings, theme: 'dark' }, null, 8))
  expect(rewired(m.ctx.root)).toEqual([])
  writeFileSync(file, JSON.stringify({ ...settings, hooks: {} }, null, 2))
  expect(rewired(m.ctx.root)).toEqual([file])
  rmSync(file)
  expect(rewired(m.ctx.root)).toEqual([file])
  m.wire(['claude'])
  expect(rewired(m.ctx.root)).toEqual([])
})

test('[T48] [Y1] an agent that takes our hooks out of a client’s settings is told of to the person, once', async () => {
  const { at } = await project()
  await tidemark(at, ['init', '--client', 'claude', '--yes'])
  const hook = async (event: string, more: object) => {
    const payload = { session_id: 's1', hook_event_name: event, cwd: at.dir, ...more }
    const { out } = await tidemark(at, ['hook', 'claude', event], JSON.stringify(payload))
    return String(out === '' ? '' : (JSON.parse(out).systemMessage ?? ''))
  }
  expect(await hook('SessionStart', { source: 'startup' })).not.toContain('changed or removed')
  const file = journalFiles(at.dir).find((f) => f.includes('settings'))!
  writeFileSync(file, '{}\n')
  const edit = {
    tool_name: 'Edit',
    tool_input: { file_path: file, old_string: 'a', new_string: 'b' },
    tool_response: {},
  }
  expect(await hook('PostToolUse', edit)).toMatch(/what wires it in \.claude\/settings\S* was changed or removed/)
  expect(await hook('Stop', {})).not.toContain('changed or removed')
})
