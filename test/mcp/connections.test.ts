import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { processRef } from '../../src/base/env.ts'
import type { Memory } from '../../src/engine/memory.ts'
import { openClaims } from '../../src/engine/store/presence.ts'
import { openAt } from '../../src/project/open.ts'
import { type SessionInfo, sessionsOf } from '../../src/work/coordination/sessions.ts'
import { type Answer, call, cleanEnv, decide, ERAS, httpClient, listening, tempProject } from './harness.ts'

const ORCHESTRATOR = new URL('orchestrator.ts', import.meta.url).pathname
const claim = (path: string) => ({ actions: [['claim', { paths: [path] }]] })

interface Framework {
  ask(agent: string, tool: string, args: Record<string, unknown>): Promise<Answer>
  end(agent: string, how: 'closed' | 'killed'): Promise<unknown>
  pid: number
}

/** A process of its own, with a connection for each of its agents. */
function framework(cwd: string, env: Record<string, string> = {}, name = 'orchestrator'): Framework {
  const child = spawn(process.execPath, [ORCHESTRATOR, name], {
    cwd,
    env: cleanEnv(env),
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const send = async (asked: object) => {
    child.stdin.write(`${JSON.stringify(asked)}\n`)
    return JSON.parse((await lines.next()).value!) as Answer
  }
  return {
    ask: (agent, tool, args) => send({ agent, tool, args }),
    end: (agent, how) => send({ agent, how }),
    pid: child.pid!,
  }
}

function opened(dir: string): Memory {
  const { memory } = openAt({ projectPath: dir, unlisted: true })
  onTestFinished(() => memory.close())
  return memory
}

const holders = (memory: Memory): string[] => openClaims(memory.db).map((c) => c.session)
const live = (memory: Memory): SessionInfo[] => sessionsOf(memory).list()

test('[X6] [X7] twelve agents of one process are twelve sessions: the second claim of a file is refused', {
  tags: ['long'],
}, async () => {
  const dir = tempProject()
  const memory = opened(dir)
  const { ask } = framework(dir)
  const answers: Answer[] = []
  for (let i = 0; i < 12; i++) answers.push(await ask(`a${i}`, 'act', claim('src/auth.ts')))
  expect(answers.filter((a) => !a.isError)).toHaveLength(1)
  expect(answers[1]!.text).toMatch(/src\/auth\.ts is claimed by orchestrator-[0-9a-f]{8}/)
  expect(live(memory)).toHaveLength(12)
  expect(holders(memory)).toHaveLength(1)
})

test('[X7] what two agents of one process record is each its own, and the shell of neither is taken for one', async () => {
  const dir = tempProject()
  const memory = opened(dir)
  const { ask, pid } = framework(dir)
  await ask('a', 'act', decide('one'))
  const ofShell = () => sessionsOf(memory).alone(processRef(pid))
  expect(ofShell()).toBe(live(memory)[0]!.id) // its one connection
  await ask('b', 'act', decide('one', { rationale: 'changed' }))
  const authors = memory.history('decision:one').map((h) => h.author?.session)
  expect(new Set(authors)).toEqual(new Set(live(memory).map((s) => s.id)))
  expect(ofShell()).toBeUndefined()
})

test('[X5] an agent whose server is killed has crashed, and its claims are free, while its process goes on', async () => {
  const dir = tempProject()
  const memory = opened(dir)
  const { ask, end } = framework(dir)
  await ask('a', 'act', claim('src/auth.ts'))
  await ask('b', 'act', claim('docs'))
  await end('a', 'killed')
  expect((await ask('c', 'act', claim('src/auth.ts'))).isError).toBe(false)
  await end('b', 'closed')
  expect((await ask('c', 'act', claim('docs'))).isError).toBe(false)
  expect(live(memory)).toHaveLength(1)
})

test('[X7] what a framework inherits from the shell of another agent is not who its own agents are', async () => {
  const dir = tempProject()
  const memory = opened(dir)
  const lead = { id: 'lead', client: 'claude', pid: process.pid }
  sessionsOf(memory).start(lead)
  const inherited = { CLAUDE_CODE_SESSION_ID: 'lead', TIDEMARK_SESSION: 'lead', CLAUDECODE: '1' }
  const { ask } = framework(dir, inherited, 'claude-flow')
  expect((await ask('a', 'act', claim('src'))).isError).toBe(false)
  expect((await ask('b', 'act', claim('src'))).isError).toBe(true)
  expect(holders(memory)).toEqual([expect.stringMatching(/^claude-flow-/)])
})

test('[X7] a session that is named in the environment is the one that acts, for every connection that names it', async () => {
  const dir = tempProject()
  const memory = opened(dir)
  const { ask } = framework(dir, { TIDEMARK_SESSION: 'run-7' })
  expect((await ask('a', 'act', claim('src'))).isError).toBe(false)
  expect((await ask('b', 'act', claim('src'))).isError).toBe(false)
  expect(live(memory).map((s) => s.id)).toEqual(['run-7'])
})

test('[X7] a client that hooks have made known is one session with its server, by its process alone', async () => {
  const dir = tempProject()
  const memory = opened(dir)
  const { ask, pid } = framework(dir)
  sessionsOf(memory).start({ id: 'by-hook', client: 'copilot', pid })
  await ask('a', 'act', claim('src'))
  expect(live(memory).map((s) => s.id)).toEqual(['by-hook'])
})

test('[X7] HTTP, legacy: each MCP session is a session, without an argument, until it ends', async () => {
  const server = await listening({ projectPath: tempProject() })
  const of = () => httpClient(`${server.url}/mcp`, server.token, { era: 'legacy', name: 'orchestrator' })
  const [a, b] = [await of(), await of()]
  expect((await call(a, 'act', claim('src/auth.ts'))).isError).toBe(false)
  const refused = await call(b, 'act', claim('src/auth.ts'))
  expect(refused).toMatchObject({ isError: true, text: expect.stringMatching(/claimed by orchestrator-[0-9a-f]{8}/) })
  expect((await call(a, 'act', claim('src/auth.ts'))).isError).toBe(false) // it has it already
  expect(live(server.memory)).toHaveLength(2)
  await (a as unknown as { transport: { terminateSession(): Promise<void> } }).transport.terminateSession()
  expect((await call(b, 'act', claim('src/auth.ts'))).isError).toBe(false)
  expect(live(server.memory)).toHaveLength(1)
})

test('[X7] HTTP, modern: requests have nothing in common, so what needs a session asks for the argument', async () => {
  const server = await listening({ projectPath: tempProject() })
  const client = await httpClient(`${server.url}/mcp`, server.token)
  const refused = await call(client, 'act', claim('src'))
  expect(refused.isError).toBe(true)
  expect(refused.text).toContain('session')
  expect((await call(client, 'act', { ...claim('src'), session: 'mine' })).isError).toBe(false)
  expect(live(server.memory).map((s) => s.id)).toEqual(['mine'])
})

for (const era of ERAS)
  test(`[X7] ${era}: who only reads resources begins no session`, async () => {
    const server = await listening({ projectPath: tempProject() })
    const client = await httpClient(`${server.url}/mcp`, server.token, { era })
    await client.readResource({ uri: 'tidemark://sessions' })
    expect(live(server.memory)).toEqual([])
  })
