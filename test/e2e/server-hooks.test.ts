// @module-tag long
// What Claude Code does with hooks that are calls of a connected server (`mcp_tool`): docs/benchmarks.md says why ours are commands.
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type ClaudeRan, claude } from './claude.ts'
import { anthropic } from './fakes/anthropic.ts'
import type { Model, Step } from './fakes/script.ts'
import { type Machine, machine, withClients } from './machine.ts'

const SERVER = join(import.meta.dirname, 'fakes', 'hook-server.mjs')
const TOOLS = ['--allowedTools', 'mcp__x,Write,Agent,Task']
type Hook = { [key: string]: unknown }
const call = (event: string, refuses: boolean): Hook => ({
  type: 'mcp_tool',
  server: 'x',
  tool: 'hook',
  input: { event, ...(refuses ? { refuses } : {}) },
})

/** A project whose prompts and edits are answered by hooks of a server, or by those given. */
function withServer(isOn: boolean, hooks: { [event: string]: Hook }): Machine & { log(): string[] } {
  const m = machine([])
  const log = m.path('..', 'log.txt')
  m.write('.mcp.json', JSON.stringify({ mcpServers: { x: { command: 'node', args: [SERVER, log] } } }))
  mkdirSync(m.path('.claude'), { recursive: true })
  const groups = Object.entries(hooks).map(([event, hook]) => {
    return [event, [{ ...(event === 'PreToolUse' ? { matcher: 'Write' } : {}), hooks: [hook] }]]
  })
  m.write(join('.claude', 'settings.json'), JSON.stringify({ hooks: Object.fromEntries(groups) }))
  const servers = isOn ? { enabledMcpjsonServers: ['x'] } : { disabledMcpjsonServers: ['x'] }
  m.write(join('.claude', 'settings.local.json'), JSON.stringify(servers))
  return { ...m, log: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []) }
}

const ALL = Object.fromEntries(['SessionStart', 'UserPromptSubmit', 'SubagentStart'].map((e) => [e, call(e, false)]))
const REFUSING = { ...ALL, PreToolUse: call('PreToolUse', true) }
const write = (m: Machine, name: string): Step => ({
  call: 'Write',
  input: { file_path: m.path('src', name), content: 'x' },
})
const all = (model: Model) => model.turns.map((t) => t.text).join('\n')
const failures = ({ out }: ClaudeRan) => out.match(/MCP server 'x' not connected/g)?.length ?? 0

withClients(
  ['claude'],
  '[M4] Claude Code, hooks that a server answers: edits are refused, in a sub-agent too; right after the server ended one may pass; not at a start',
  async () => {
    const m = withServer(true, REFUSING)
    const model = await anthropic()
    const task = { description: 'sub', prompt: 'write it', subagent_type: 'general-purpose' }
    model.next(
      { call: 'mcp__x__end', input: {} },
      write(m, 'one.ts'),
      { call: 'Agent', input: task },
      write(m, 'two.ts'),
    )
    const ran = await claude(m, model, 'write', TOOLS)
    expect(existsSync(m.path('src', 'two.ts'))).toBe(false)
    // right after the server ended the client may not have noticed: then the edit passes unjudged
    const isUnjudged = existsSync(m.path('src', 'one.ts'))
    expect(m.log().filter((l) => l === 'hook PreToolUse')).toHaveLength(isUnjudged ? 1 : 2)
    for (const event of ['UserPromptSubmit', 'SubagentStart']) expect(all(model)).toContain(`TOLD at ${event}`)
    expect(all(model)).not.toContain('TOLD at SessionStart')
    expect(ran.out).toContain("mcp_tool hooks are not available for the 'SessionStart' hook event")
  },
)

withClients(
  ['claude'],
  '[M4] Claude Code, hooks of a server that is switched off: an edit passes unjudged, and the agent is told nothing',
  async () => {
    const m = withServer(false, REFUSING)
    const model = await anthropic()
    model.next(write(m, 'one.ts'))
    const ran = await claude(m, model, 'write', TOOLS)
    expect(existsSync(m.path('src', 'one.ts'))).toBe(true)
    expect(failures(ran)).toBeGreaterThan(0)
    expect(all(model)).not.toContain('not connected')
  },
)

/** The median of the milliseconds between two requests to the model, an edit between them. */
async function pace(m: Machine): Promise<number> {
  const model = await anthropic()
  const at: number[] = []
  const push = model.turns.push.bind(model.turns)
  model.turns.push = (...requests) => {
    at.push(performance.now())
    return push(...requests)
  }
  model.next(...Array.from({ length: 20 }, (_, i) => write(m, `${i}.ts`)))
  await claude(m, model, 'write', TOOLS)
  const gaps = at.slice(1).map((t, i) => t - at[i]!)
  return gaps.sort((a, b) => a - b)[gaps.length >> 1]!
}

withClients(
  ['claude'],
  '[M4] Claude Code, an edit with hooks of a server, with an empty process and with ours: the times are printed',
  async () => {
    const edit = (hook: Hook) => withServer(true, { PreToolUse: hook })
    const times = {
      'no hook': await pace(withServer(true, {})),
      'a call of a server': await pace(edit(call('PreToolUse', false))),
      'an empty process': await pace(edit({ type: 'command', command: 'node -e 0' })),
      'all of ours': await pace(machine(['claude'])),
    }
    for (const [what, ms] of Object.entries(times))
      process.stderr.write(`[M4] from request to request, an edit between: ${what} ${ms.toFixed(0)} ms\n`)
    expect(times['a call of a server']).toBeLessThan(10 * times['an empty process'])
  },
)
