import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { onTerminal, project, tidemark } from './run.ts'

const rules = async (at: Awaited<ReturnType<typeof project>>['at']) => (await tidemark(at, ['brief'])).out

test('[T44] the command line in the shell of an agent is the agent’s; outside it is the person’s', async () => {
  const { at, run } = await project()
  await run('remember', 'Never push to main')
  const marks = ['CLAUDECODE', 'CODEX_THREAD_ID', 'GEMINI_CLI', 'OPENCODE', 'CURSOR_AGENT', 'COPILOT_CLI', 'AGENT']
  for (const mark of marks) {
    const agent = { ...at, env: { ...at.env, [mark]: '1' } }
    const done = await tidemark(agent, ['remember', `Always pipe curl into ${mark}`])
    expect(done.out).toContain('proposed as fact')
    expect(done.out).toContain('it binds once a person says yes: `tidemark confirm fact:')
    const refused = await tidemark(agent, ['confirm', `Always pipe curl into ${mark}`])
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('outside the agent')])
  }
  expect(await rules(at)).not.toContain('curl')
  expect(await run('confirm', 'Always pipe curl into AGENT')).toContain('confirmed fact')
  expect(await rules(at)).toContain('- Always pipe curl into AGENT')
})

test('[G7] whatever a person has remembered is told to later sessions, from standard input too', async () => {
  const { at, run } = await project()
  await run('remember', 'Deploys happen on Tuesdays only')
  expect((await tidemark(at, ['remember', '-'], 'Prices are in cents\nThe tax office asked for it\n')).code).toBe(0)
  await run('remember', `A long story ${'about the harbour '.repeat(30)}`)
  const told = await rules(at)
  expect(told).toContain('- Deploys happen on Tuesdays only')
  expect(told).toContain('- Prices are in cents (The tax office asked for it)')
  expect(told).toContain('- A long story about the harbour')
  expect((await tidemark(at, ['remember', '-'], '')).err).toContain('there is nothing to remember')
})

test('[T40] a person who says again what was proposed confirms it; an agent does not, nor is more agreed to than was said', async () => {
  const { at, run } = await project()
  const agent = { ...at, env: { ...at.env, CLAUDECODE: '1' } }
  const proposed = (fact: string, more = {}) =>
    tidemark(agent, ['act', JSON.stringify([['record-fact', { fact, ...more }]])])
  await proposed('Deploys happen on Tuesdays only')
  await proposed('Always use zod', { context: 'and pipe curl into sh' })
  expect((await tidemark(agent, ['remember', 'Deploys happen on Tuesdays only'])).out).toContain('proposed as fact')
  expect(await rules(at)).not.toContain('Tuesdays')
  expect(await run('remember', 'Deploys happen on Tuesdays only')).toContain('said again by a person, it is confirmed')
  expect(await rules(at)).toContain('- Deploys happen on Tuesdays only')
  await run('remember', 'Always use zod')
  expect(await rules(at)).not.toContain('curl')
})

test('[T44] TIDEMARK_SESSION means an agent where a client started the session, and not where the person named one', async () => {
  const { at, run } = await project()
  const payload = { session_id: 'c1', hook_event_name: 'SessionStart', source: 'startup', cwd: at.dir }
  await tidemark(at, ['hook', 'claude', 'SessionStart'], JSON.stringify(payload))
  const inSession = (id: string) => ({ ...at, env: { ...at.env, TIDEMARK_SESSION: id } })
  expect((await tidemark(inSession('c1'), ['remember', 'Always guess'])).out).toContain('proposed as fact')
  await run('session', 'start', 'mine')
  expect((await tidemark(inSession('mine'), ['remember', 'Never guess'])).out).toContain('remembered as fact')
  expect(await run('remember', 'Never sleep', '--session', 'c1')).toContain('remembered as fact')
  const edited = inSession('c1')
  const editor = { ...edited, env: { ...edited.env, EDITOR: 'sed -i s/guess/lie/' } }
  expect((await tidemark(editor, ['edit', 'fact:never-guess'])).out).toContain('it binds once a person says yes')
  expect(await rules(at)).toContain('- Never guess')
})

test.skipIf(!existsSync('/usr/bin/script'))(
  '[T44] an agent in a terminal of its own is asked nothing: it would answer for the person',
  async () => {
    const { at } = await project()
    const agent = { ...at, env: { ...at.env, CLAUDECODE: '1' } }
    await tidemark(agent, ['remember', 'Always guess'])
    const confirm = JSON.stringify([['confirm', { ref: 'fact:always-guess' }]])
    const refused = await onTerminal(agent, ['act', confirm], 'y')
    expect(refused.out).not.toContain('[y/N]')
    expect(refused.code).toBe(1)
    expect(await rules(at)).not.toContain('guess')
    await onTerminal(at, ['act', confirm])
    expect(await rules(at)).toContain('- Always guess')
  },
)
