import { readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { machine } from '../../../../test/client-machine.ts'
import { commandIn, EVENTS, pluginText } from './plugin.ts'

type Hooks = Record<string, (input: unknown, output?: unknown) => Promise<void>>

/** The plugin as opencode loads it, asking a command that answers with what stands in a file of the event's name. */
async function loaded(command?: string[]) {
  const m = machine()
  m.write(
    'bin/ask',
    `#!/bin/sh\nprintf '%s ' "$3" >> ${m.path('asked')}; cat >> ${m.path('asked')}; echo >> ${m.path('asked')}\ncat "${m.top}/$3" 2>/dev/null\n`,
  )
  m.write('plugin.mjs', pluginText(command ?? ['/bin/sh', m.path('bin/ask')]))
  const { Tidemark } = (await import(pathToFileURL(m.path('plugin.mjs')).href)) as {
    Tidemark: (input: unknown) => Promise<Hooks>
  }
  const hooks = await Tidemark({ directory: m.ctx.root, client: {} })
  const asked = () =>
    readFileSync(m.path('asked'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => [line.split(' ')[0], JSON.parse(line.slice(line.indexOf(' ')))] as const)
  return {
    m,
    hooks,
    asked,
    answer: (event: string, reply: object) => writeFileSync(m.path(event), JSON.stringify(reply)),
  }
}

test('what a session is told stands in the system prompt from then on, and tools are refused and told', async () => {
  const { hooks, asked, answer } = await loaded()
  answer('session.created', { context: 'the briefing' })
  answer('chat.message', { context: 'some news' })
  answer('tool.execute.after', { context: 'mind this' })
  answer('experimental.session.compacting', { context: 'keep that' })
  const [sessionID, callID] = ['ses_1', 'call_1']
  await hooks['chat.message']!({ sessionID, agent: 'build' }, { parts: [{ type: 'text', text: 'hi' }] })
  const system: string[] = []
  await hooks['experimental.chat.system.transform']!({ sessionID }, { system })
  expect(system).toEqual(['the briefing', 'some news'])
  await hooks['tool.execute.before']!({ tool: 'edit', sessionID, callID }, { args: { filePath: 'a' } })
  answer('tool.execute.before', { permission: 'deny', reason: 'b7 holds it' })
  await expect(hooks['tool.execute.before']!({ tool: 'edit', sessionID, callID }, { args: {} })).rejects.toThrow(
    'b7 holds it',
  )
  const result = { title: 't', output: 'done', metadata: {} }
  await hooks['tool.execute.after']!({ tool: 'edit', sessionID, callID, args: {} }, result)
  expect(result.output).toBe('done\n\nmind this')
  const context: string[] = []
  await hooks['experimental.session.compacting']!({ sessionID }, { context })
  expect(context).toEqual(['keep that'])
  const env: Record<string, string> = {}
  await hooks['shell.env']!({ sessionID }, { env })
  expect(env).toEqual({ TIDEMARK_SESSION: sessionID })
  await hooks.event!({ event: { type: 'session.idle', properties: { sessionID } } })
  await hooks.dispose!({})
  expect([...new Set(asked().map(([event]) => event))].sort()).toEqual(EVENTS.map((e) => e.event).sort())
  expect(asked()[1]![1]).toMatchObject({ sessionID, agent: 'build', prompt: 'hi', pid: process.pid })
})

test('[M4] where tidemark is missing, fails or talks nonsense, opencode goes on as if it were not there', async () => {
  for (const command of [['/no/such/tidemark'], ['/bin/false'], ['/bin/echo', 'nonsense']]) {
    const { hooks } = await loaded(command)
    await hooks['chat.message']!({ sessionID: 's' }, { parts: [] })
    await hooks['tool.execute.before']!({ tool: 'edit', sessionID: 's', callID: 'c' }, { args: {} })
    const system: string[] = []
    await hooks['experimental.chat.system.transform']!({ sessionID: 's' }, { system })
    expect(system).toEqual([])
  }
})

test('its command is read from it again', () => {
  expect(commandIn(pluginText(['/a b/node', 'x"y']))).toEqual(['/a b/node', 'x"y'])
  expect(commandIn('nothing')).toEqual([])
})
