// @module-tag long
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished } from 'vitest'
import { claude } from './claude.ts'
import { anthropic } from './fakes/anthropic.ts'
import { binary, type ClientName, type Machine, machine, withClients } from './machine.ts'
import { copilot, gemini, opencode } from './others.ts'

/** A mate's machine: the project as its team wired it, and no Tidemark. */
function mate(client: ClientName): Machine {
  const m = machine([client])
  rmSync(join(m.env.PATH!.split(':')[0]!, 'tidemark'))
  return m
}

const TOLD = 'Tidemark, the memory of this project, is not installed on this machine'

withClients(
  ['claude'],
  '[X7] Claude Code without Tidemark counts no failed server, and its agent is told',
  async () => {
    const m = mate('claude')
    const model = await anthropic()
    const { lines } = await claude(m, model, 'say hello')
    expect(lines.find((line) => line.subtype === 'init')?.mcp_servers).toEqual([
      { name: 'tidemark', status: 'connected', source: 'project' },
    ])
    expect(model.turns[0]!.text).toContain(TOLD)
  },
)

// `codex exec` is silent of servers: what the terminal shows comes from here
withClients(['codex'], '[X7] Codex without Tidemark has no server that failed to start', async () => {
  const m = mate('codex')
  const server = spawn(binary('codex'), ['app-server'], { cwd: m.root, env: m.env, stdio: ['pipe', 'pipe', 'ignore'] })
  onTestFinished(() => void server.kill())
  for (const message of [
    { id: 1, method: 'initialize', params: { clientInfo: { name: 'test', version: '1' } } },
    { method: 'initialized' },
    { id: 2, method: 'thread/start', params: { cwd: m.root, model: 'fake-model' } },
  ])
    server.stdin.write(`${JSON.stringify(message)}\n`)
  const said: unknown[] = []
  for await (const line of createInterface({ input: server.stdout })) {
    const { method, params } = JSON.parse(line)
    if (method === 'mcpServer/startupStatus/updated') said.push([params.name, params.status, params.error])
    if (said.length === 2) break
  }
  expect(said).toEqual([
    ['tidemark', 'starting', null],
    ['tidemark', 'ready', null],
  ])
})

for (const [name, other] of [
  ['gemini', gemini],
  ['copilot', copilot],
  ['opencode', opencode],
] as const)
  withClients([name], `[X7] ${name} without Tidemark says nothing of a server`, async () => {
    const m = mate(name)
    const model = await other.model()
    const { code, out, err } = await other.ask(m, model, 'say hello')
    expect(code).toBe(0)
    const said = (out + err).replace(/^\[STARTUP\].*$/gm, '') // how long Gemini CLI itself took to start
    expect(said).not.toMatch(/\bmcp\b|not found|failed/i)
  })
