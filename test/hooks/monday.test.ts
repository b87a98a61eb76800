import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { project, tidemark } from '../cli/run.ts'
import { contextOf, PATIENT, runHook } from './run.ts'

const FRIDAY = '0f3c1a52-7b1e-4c55-9f0e-2f6f7a1f1a01'
const MONDAY = '7d20c9de-3a44-4c1b-8a55-0c9d55f0b702'

/** A project and the hooks of Claude Code in it, as processes. */
async function week() {
  const { at, run } = await project()
  at.env.TIDEMARK_USER = 'Ana'
  mkdirSync(join(at.dir, 'src'), { recursive: true })
  writeFileSync(join(at.dir, 'src/cart.ts'), 'export {}\n')
  const clients = new Map<string, string>()
  /** Each session has a process of its own. */
  const client = (session: string): string => {
    const child = clients.has(session) ? undefined : spawn('sleep', ['600'])
    onTestFinished(() => void child?.kill())
    if (child) clients.set(session, String(child.pid))
    return clients.get(session)!
  }
  const env = { ...PATIENT, TIDEMARK_USER: 'Ana', TIDEMARK_STATE: process.env.TIDEMARK_STATE! }
  const hook = (session_id: string, event: string, more: object = {}) =>
    runHook(
      ['claude', event],
      { session_id, cwd: at.dir, ...more },
      { env: { ...env, CLAUDE_PID: client(session_id) } },
    )
  const edit = async (session: string, old_string: string, new_string: string) => {
    const call = { tool_name: 'Edit', tool_input: { file_path: join(at.dir, 'src/cart.ts'), old_string, new_string } }
    const before = await hook(session, 'PreToolUse', call)
    await hook(session, 'PostToolUse', { ...call, tool_response: { filePath: 'src/cart.ts' } })
    return before
  }
  const act = (session: string, actions: unknown) => run('act', JSON.stringify(actions), '--session', session)
  return { at, run, hook, edit, act }
}

async function friday(w: Awaited<ReturnType<typeof week>>) {
  await w.hook(FRIDAY, 'SessionStart', { source: 'startup' })
  await w.hook(FRIDAY, 'UserPromptSubmit', {
    prompt: 'add a discount field\nto the cart, key ghp_0123456789abcdefghij0123',
  })
  await w.edit(FRIDAY, 'export {}', 'export const discount = 1\nexport const cart = 2')
  await w.hook(FRIDAY, 'Stop', { last_assistant_message: 'Added `discount`.\n\nTwo tests of rounding still fail.' })
  await w.hook(FRIDAY, 'UserPromptSubmit', { prompt: 'thanks' })
  await w.hook(FRIDAY, 'Stop', { last_assistant_message: 'You are welcome!' })
}

test('[P4] on Monday the handoff says what was being done, and `back` how to go on and what happened, with reasons', async () => {
  const w = await week()
  await friday(w)
  await w.hook(FRIDAY, 'SessionEnd', { reason: 'prompt_input_exit' })
  await w.act('night', [
    ['record-decision', { name: 'cents', description: 'money is integer cents', rationale: 'floats drift' }],
  ])
  const told = contextOf(await w.hook(MONDAY, 'SessionStart', { source: 'startup' }))
  expect(told).toContain('- Handoff "add a discount field", written ')
  expect(told).toContain('Asked: "add a discount field to the cart, key [redacted: GitHub token]"')
  expect(told).toContain('Answered: "Added `discount`. Two tests of rounding still fail."')
  expect(told).toContain('Edited src/cart.ts +2 -1')
  const back = await w.run('back')
  expect(back).toMatch(/## Where the work was left\n- "add a discount field", written (?:just now|\d+ min ago)/)
  expect(back).toContain(`Go on: claude --resume ${FRIDAY}`)
  expect(back).toMatch(/What happened since you left \(\d{4}-\d\d-\d\d \d\d:\d\dZ, (?:just now|\d+ min ago)\):/)
  expect(back).toContain('- decision:cents: money is integer cents; why: floats drift')
  expect(back).not.toMatch(/## Swarm|## Crashed|## Also changed/)
})

test('[X7] a session has a name for people and for the others: its first request, and whose it is', async () => {
  const w = await week()
  await friday(w)
  await w.hook(MONDAY, 'SessionStart', { source: 'startup' })
  expect((await w.hook(MONDAY, 'status-line')).out).toBe('tidemark: also here: Claude "add a discount field" (Ana)\n')
  const told = contextOf(await w.hook('third', 'SessionStart', { source: 'startup' }))
  expect(told).toContain('- Claude "add a discount field" (Ana')
  expect(told).not.toContain(FRIDAY)
  const list = await w.run('session', 'list')
  expect(list).toContain(`Claude "add a discount field" (Ana) ${FRIDAY.slice(0, 8)} active`)
  for (const name of ['add a discount field', FRIDAY.slice(0, 8)])
    expect(await w.run('session', 'show', name)).toContain('edited 1 file')
  const before = await w.edit(MONDAY, 'a', 'b')
  expect(before.out).toMatch(/is being edited by Claude \\"add a discount field\\" \(Ana, (?:just now|\d+ min ago)\)/)
})

test('[X7] to look at a session is no sign of life of it', async () => {
  const w = await week()
  await w.run('status', '--session', 'typo')
  await w.run('back', '--session', 'typo')
  expect(await w.run('session', 'list', '--all')).not.toContain('typo')
})

test('[P4] a session that goes on is told only what its conversation does not hold, and its task is the current one again', async () => {
  const w = await week()
  await w.act('s0', [['record-decision', { name: 'cents', description: 'money is integer cents' }]])
  await friday(w)
  await w.act(FRIDAY, [['start-task', { description: 'discounts in the cart' }]])
  await w.hook(FRIDAY, 'Stop')
  await w.hook(FRIDAY, 'SessionEnd', { reason: 'other' })
  const resume = () => w.hook(FRIDAY, 'SessionStart', { source: 'resume' })
  const first = contextOf(await resume())
  expect(first).toBe('')
  expect((await resume()).json.systemMessage).toMatch(/^Tidemark: .*nothing new/)
  expect(await w.run('tree', '--session', FRIDAY)).toContain('discounts in the cart ← current')
  await w.act('other', [['record-decision', { name: 'rounding', description: 'round half even' }]])
  const news = contextOf(await resume())
  expect(news).toContain('decision:rounding')
  expect(news).not.toContain('decision:cents')
  await w.hook(FRIDAY, 'PreCompact', { trigger: 'manual' })
  const after = contextOf(await w.hook(FRIDAY, 'SessionStart', { source: 'compact' }))
  expect(after).toContain('decision:cents')
  expect(after).toContain('Handoff "discounts in the cart"')
})

test('[P4] what is done leaves the handoff: closed tasks, and what was edited for them', async () => {
  const w = await week()
  await friday(w)
  await w.act(FRIDAY, [
    ['start-task', { description: 'discounts' }],
    ['add-task', { description: 'document discounts' }],
  ])
  await w.hook(FRIDAY, 'Stop')
  const brief = async () => await w.run('handoff')
  expect(await brief()).toMatch(/document discounts \(task:/)
  const json = JSON.parse(await w.run('list', 'task', '--json')) as { id: string; name: string }[]
  const ref = (name: string) => json.find((t) => t.name === name)!.id
  await w.act('other', [['complete', { ref: ref('document discounts') }]])
  expect(await brief()).not.toContain('document discounts')
  await w.act(FRIDAY, [['complete', { ref: ref('discounts') }]])
  await w.hook(FRIDAY, 'Stop')
  expect(await brief()).toContain('no handoff is current')
})

test('[P4] a person who is back hears the name that git has for them, not that of the last agent', async () => {
  const { at } = await project()
  writeFileSync(join(at.dir, '.git/config'), '[core]\n\tbare = false\n[User]\n\tname = "Ana Lovelace" \n')
  const { TIDEMARK_USER: _, ...env } = at.env
  const mine = { ...at, env }
  await tidemark(mine, ['remember', 'deploys happen on Tuesdays'])
  await tidemark(mine, ['act', '[["record-decision", {"name": "cents"}]]', '--session', 'codex-1'])
  expect((await tidemark(mine, ['show', 'cents'])).out).toContain('Ana Lovelace')
})
