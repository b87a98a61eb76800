// @module-tag long
import { mkdirSync, readdirSync } from 'node:fs'
import { expect } from 'vitest'
import { claude } from './claude.ts'
import { codex, codexAsks } from './codex.ts'
import { anthropic } from './fakes/anthropic.ts'
import { responses } from './fakes/responses.ts'
import { type ClientName, type Machine, machine, withClients } from './machine.ts'
import { copilot, opencode } from './others.ts'

/** The same machine, with clients started in packages/api. */
function below(m: Machine): Machine {
  const dir = m.path('packages', 'api')
  mkdirSync(dir, { recursive: true })
  return { ...m, run: (file, args, env) => m.run('env', ['-C', dir, file, ...args], env) }
}

const actions = [['record-decision', { name: 'paging', description: 'pages start at 0' }]]
const called = (m: Machine, event: string) => m.hooks().filter((h) => h.event === event)

withClients(['claude'], '[X1] Claude Code runs the hooks below the root too, and at the root each once', async () => {
  const m = machine(['claude'])
  const model = await anthropic()
  model.next({ call: 'mcp__tidemark__act', input: { actions } })
  const { session } = await claude(below(m), model, 'decide on paging')
  expect(called(m, 'SessionStart')).toHaveLength(1)
  expect(called(m, 'PreToolUse')).toHaveLength(1)
  expect(m.recorded().find((e) => e.key === 'decision:paging')?.session_id).toBe(session)
  await claude(m, model, 'go on')
  expect(model.turns.at(-1)!.text).toContain('decision:paging')
  for (const event of ['SessionStart', 'UserPromptSubmit', 'Stop', 'SessionEnd'])
    expect(called(m, event)).toHaveLength(2)
})

const others: [ClientName, (m: Machine) => Promise<unknown>][] = [
  [
    'codex',
    async (m) => {
      const model = await responses()
      codexAsks(m, model)
      model.next({ call: 'mcp__tidemark.act', input: { actions } })
      return codex(m, 'decide on paging')
    },
  ],
  ...(
    [
      ['copilot', copilot],
      ['opencode', opencode],
    ] as const
  ).map(([name, other]): [ClientName, (m: Machine) => Promise<unknown>] => [
    name,
    async (m) => {
      const model = await other.model()
      model.next({ call: other.act, input: { actions } })
      return other.ask(m, model, 'decide on paging')
    },
  ]),
]
for (const [name, ask] of others)
  withClients([name], `[X1] ${name}: hooks and server work below the root too`, async () => {
    const m = machine([name])
    await ask(below(m))
    const [session] = m.sessions()
    expect(session).toMatchObject({ client: name })
    expect(m.recorded().find((e) => e.key === 'decision:paging')?.session_id).toBe(session!.id)
    m.tidemark('uninstall') // in .opencode/ opencode keeps things of its own
    expect(readdirSync(m.root).filter((name) => !['.git', 'src', 'packages', '.opencode'].includes(name))).toEqual([])
  })
