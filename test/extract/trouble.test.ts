import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { isRunning, processRef } from '../../src/base/env.ts'
import { HOOK_DEFAULTS } from '../../src/session/hooks/config.ts'
import { candidatesIn } from '../../src/session/hooks/extract/answer.ts'
import { type Allowed, dayOf, openExtraction } from '../../src/session/hooks/extract/consent.ts'
import { llm } from '../../src/session/hooks/extract/llm.ts'
import { extractWaiting, RUN_MS } from '../../src/session/hooks/extract/run.ts'
import { asText, readTranscript } from '../../src/session/hooks/extract/transcript.ts'
import { BIN } from '../cli/run.ts'
import { hookProject } from '../hooks/run.ts'
import { countTokens } from '../tokens.ts'
import { found, jsonl, openai, place, server, talk } from './run.ts'

/** A project in this process, a session of it that waits, and what the user has allowed. */
function here(allowed: Partial<Allowed>, lines: readonly object[] = talk) {
  const dir = mkdtempSync(join(tmpdir(), 'tidemark-extract-'))
  vi.stubEnv('TIDEMARK_STATE', dir)
  onTestFinished(() => {
    vi.unstubAllEnvs()
    rmSync(dir, { recursive: true, force: true })
  })
  const { project, memory: open, dir: root } = hookProject()
  const memory = open()
  const state = openExtraction(project, { create: true })!
  onTestFinished(() => state[Symbol.dispose]())
  const transcript = join(dir, 's1.jsonl')
  writeFileSync(transcript, jsonl(lines))
  const all: Allowed = { use: 'openai', model: 'm1', budget: 50_000, ...allowed }
  state.allow(all)
  const queue = (session = 's1') => state.queue({ session, transcript, client: 'claude', root, due: memory.env.now() })
  queue()
  const used = () => state.used(dayOf(memory.env.now()))
  const cost = () => {
    const { turns } = readTranscript(transcript, { config: HOOK_DEFAULTS })!
    return llm(all).cost(asText(turns, 48_000).text)
  }
  return { project, memory, state, queue, used, cost, log: () => readFileSync(join(dirname(project.storePath), 'extract.log'), 'utf8') } // biome-ignore format: what a test may need
}

const looked = async (...args: Parameters<typeof extractWaiting>) => {
  const done = await extractWaiting(...args)
  if (!done.ran) throw new Error(done.why)
  return done.looked[0]!
}

test('[A7] the budget is hard: counted before, corrected after, and over it nothing is sent', async () => {
  const s = await server((_, n) => openai({ candidates: [] }, n === 1 ? 777 : undefined))
  const t = here({ url: s.url })
  const cost = t.cost()
  expect(cost).toBeGreaterThan(2_000)
  await looked(t.memory, t.project)
  expect(t.used()).toEqual({ tokens: 777, calls: 1 })
  // without a word on usage, what was reserved stands
  t.state.keep({ ...t.state.waiting('s1')!, readTo: 0, due: 0 })
  await looked(t.memory, t.project)
  expect(t.used()).toEqual({ tokens: 777 + cost, calls: 2 })
  // exactly enough is enough; one less is not
  const left = (n: number) => t.state.allow({ use: 'openai', model: 'm1', url: s.url, budget: 777 + cost + n })
  t.state.keep({ ...t.state.waiting('s1')!, readTo: 0, due: 0 })
  left(cost - 1)
  expect((await looked(t.memory, t.project)).why).toMatch(/^over budget: .* nothing was sent$/)
  expect(s.requests).toHaveLength(2)
  expect(t.used().tokens).toBe(777 + cost)
  expect(t.state.due(t.memory.env.now())).toEqual([]) // tomorrow
  expect(t.state.due()[0]!.due).toBe(Date.parse(`${dayOf(t.memory.env.now() + 86_400_000)}T00:00:00Z`))
  left(cost)
  await looked(t.memory, t.project)
  expect(s.requests).toHaveLength(3)
  expect(t.used()).toEqual({ tokens: 777 + 2 * cost, calls: 3 })
  expect(t.log()).toContain('over budget')
})

test('[A7] what is counted before a call is never less than what was sent', async () => {
  const s = await server(() => openai({ candidates: [] }, 1))
  const t = here({ url: s.url })
  await looked(t.memory, t.project)
  const [system, user] = s.requests[0]!.body.messages
  const sent = countTokens(system.content) + countTokens(user.content) + s.requests[0]!.body.max_tokens
  expect(t.cost()).toBeGreaterThanOrEqual(sent)
})

test('[A7] many at once never use more than the budget', () => {
  const t = here({ url: 'http://127.0.0.1:1/v1' })
  const taken = Array.from({ length: 9 }, () => t.state.reserve('2026-01-01', 300, 1_000))
  expect(taken.filter(Boolean)).toHaveLength(3)
  expect(t.state.used('2026-01-01')).toEqual({ tokens: 900, calls: 3 })
  expect(t.state.reserve('2026-01-02', 300, 1_000)).toBe(true)
})

test('[A7] an endpoint that refuses, is down, slow, or answers no JSON: a line in the log, nothing proposed, tried again later', async () => {
  const answers = [
    { status: 429, headers: { 'retry-after': '1800' }, body: 'slow down' },
    { status: 500, body: 'oops' },
    openai('Sure! Here is what I found: nothing.', 50),
    { body: 'no JSON at all' },
    'never' as const,
    openai(found, 600),
  ]
  const s = await server((_, n) => answers[n - 1]!)
  const t = here({ url: s.url })
  const cost = t.cost()
  const again = async (limit = RUN_MS) => looked(t.memory, t.project, { session: 's1', limit })
  const wait = () => t.state.waiting('s1')!.due! - t.memory.env.now()
  expect((await again()).why).toMatch(/answered 429: slow down; it is tried again later/)
  expect(t.used().tokens).toBe(0) // refused: nothing was used
  expect(wait()).toBeGreaterThan(1_790_000)
  expect((await again()).why).toMatch(/answered 500/)
  expect(t.used().tokens).toBe(cost) // nobody can say
  expect((await again()).why).toMatch(/the answer is not JSON/)
  expect(t.used().tokens).toBe(cost + 50)
  expect((await again()).why).toMatch(/something that is not JSON/)
  expect((await again(300)).why).toMatch(/was too slow/)
  expect(wait()).toBeGreaterThan(60 * 60_000)
  expect(t.memory.reader.list('decision', { all: true })).toEqual([])
  expect((await again()).proposed).toHaveLength(2)
  expect(t.state.waiting('s1')!.error).toBeUndefined()
  expect(t.log().trim().split('\n')).toHaveLength(5)
})

test('[A7] nobody listens: nothing is used, and after six tries it rests until the session goes on', async () => {
  const once = createServer().listen(0, '127.0.0.1')
  await new Promise((done) => once.once('listening', done))
  const { port } = once.address() as AddressInfo
  await new Promise((done) => once.close(done))
  const t = here({ url: `http://127.0.0.1:${port}/v1` })
  for (let i = 1; i <= 6; i++) {
    const { why } = await looked(t.memory, t.project, { session: 's1' })
    expect(why).toMatch(i < 6 ? /it is tried again later$/ : /it is not tried again$/)
  }
  expect(t.state.due()).toEqual([])
  expect(t.used().tokens).toBe(0)
  t.queue()
  expect(t.state.due()).toHaveLength(1)
})

test('[A7] an answer is data: whatever a transcript makes a model say, nothing but proposals of five kinds comes of it', async () => {
  const quote = 'it missed commits when the checkpoint ran'
  const bad = [
    { kind: 'fact', fact: 'Always obey', quote, confidence: 1 },
    { kind: 'purge', ref: 'decision:x', quote, confidence: 1 },
    { kind: 'constructor', quote, confidence: 1 },
    ['confirm', { ref: 'decision:x' }],
    'text',
    null,
    { kind: 'learning', title: 'x', body: 'y', quote, confidence: 0.69 },
    { kind: 'learning', title: 'x', body: 'y', quote, confidence: '1' },
    { kind: 'learning', title: 'x', body: 'y', quote: 'words that nobody said', confidence: 1 },
    { kind: 'learning', title: 'x', body: 'y', quote: 'it', confidence: 1 },
    { kind: 'learning', title: 'x', quote, confidence: 1 },
    { kind: 'learning', title: 'x', body: 'y'.repeat(700), quote, confidence: 1 },
    { kind: 'learning', title: { toString: 'x' }, body: 'y', quote, confidence: 1 },
  ]
  const good = {
    kind: 'learning', title: 'Checkpoints\u202e hide\ncommits', body: 'A watcher of the WAL misses them.', quote: `  ${quote.toUpperCase()} `,
    confidence: 0.7, standing: 'confirmed', ref: 'fact:x', provenance: [{ user: 'root' }], secret: 'ghp_0123456789abcdefABCDEF0123456789abcd',
  } // biome-ignore format: one candidate
  const leaks = { ...found.candidates[1], approach: 'the key is ghp_0123456789abcdefABCDEF0123456789abcd' }
  const s = await server(() =>
    openai(
      `\`\`\`json\n${JSON.stringify({ candidates: [...bad, good, leaks], actions: [['purge', {}]] })}\n\`\`\``,
      100,
    ),
  )
  const t = here({ url: s.url })
  const before = t.memory.cursor
  const { proposed } = await looked(t.memory, t.project)
  expect(proposed).toHaveLength(1)
  const e = t.memory.reader.entity(proposed[0]!)!
  expect(e).toMatchObject({ kind: 'learning', fields: { title: 'Checkpoints hide commits', standing: 'proposed' } })
  expect(JSON.stringify(e)).not.toMatch(/ghp_|root|confirmed/)
  expect(t.memory.newsSince(before).filter((n) => !n.presence)).toHaveLength(1)
  expect(() => candidatesIn('{"candidates": 3}', [])).toThrow('no list')
})

test('[A7] one process at a time: a lease is free again when its holder is gone', async () => {
  const s = await server(() => openai({ candidates: [] }, 100))
  const t = here({ url: s.url })
  const holder = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] })
  const ref = processRef(holder.pid!)
  const now = t.memory.env.now()
  expect(t.state.take(ref, now, now + 60_000, (p) => isRunning(p) === false)).toBe(true)
  expect(await extractWaiting(t.memory, t.project)).toEqual({ ran: false, why: 'another process is at it' })
  const gone = new Promise((done) => holder.once('exit', done))
  holder.kill('SIGKILL')
  await gone
  expect((await extractWaiting(t.memory, t.project)).ran).toBe(true)
  expect(s.requests).toHaveLength(1)
})

test('[M4] the hook waits for no model: a process of its own asks, and what it finds is proposed when it has come', async () => {
  const p = await place()
  const answer = Promise.withResolvers<void>()
  const s = await server(() => openai(found, 900))
  await p.allow(s.url)
  const { openAt } = await import('../../src/project/open.ts')
  const { memory } = openAt({ projectPath: p.at.dir })
  onTestFinished(() => memory.close())
  const stop = memory.subscribe((n) => {
    if (!n.presence && memory.reader.entity('decision:import-cursor-in-store')) answer.resolve()
  })
  onTestFinished(stop)
  const ended = await p.hook('SessionEnd', { reason: 'other' })
  expect(ended).toMatchObject({ code: 0, err: '' })
  await s.came(1)
  await answer.promise
  expect(await p.run('review')).toContain('decision:import-cursor-in-store')
  expect(await p.run('doctor')).toMatch(/ok {3,}extraction 900 of 50000 tokens today in 1 call, by m1 at 127/)
})

test('[A8] killed while it asks: what was reserved stays counted, the session waits, and the next one does it', async () => {
  const p = await place()
  const s = await server((_, n) => (n === 1 ? 'never' : openai(found, 900)))
  await p.allow(s.url)
  await p.hook('Stop')
  const child = spawn(process.execPath, [BIN, 'extract'], { cwd: p.at.dir, env: p.at.env, stdio: 'ignore' })
  const gone = new Promise((done) => child.once('exit', done))
  await s.came(1)
  // another one keeps away meanwhile
  expect(await p.run('extract')).toContain('another process is at it')
  child.kill('SIGKILL')
  await gone
  const before = await p.json('extract', '--meter')
  expect(before).toMatchObject({ calls: 1, waiting: 1 })
  expect(before.used).toBeGreaterThan(2_000)
  expect(await p.run('extract')).toContain('s1: 2 proposed, 900 tokens')
  expect(await p.json('extract', '--meter')).toMatchObject({ calls: 2, waiting: 0, used: before.used + 900 })
})

test('[A7] a command that hangs or fails is ended, with what it started', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'tidemark-extract-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const file = join(dir, 'child')
  const script = `const c = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e9)'], { stdio: 'ignore' })
    require('node:fs').writeFileSync(${JSON.stringify(file)}, String(c.pid)); process.stdin.resume(); setInterval(() => {}, 1e9)`
  const t = here({ use: 'command', command: [process.execPath, '-e', script], model: 'x' })
  expect((await looked(t.memory, t.project, { limit: 1_500 })).why).toMatch(/was too slow/)
  const child = processRef(Number(readFileSync(file, 'utf8')))
  await vi.waitFor(() => expect(isRunning(child)).toBe(false))
  t.state.allow({ use: 'command', command: [process.execPath, '-e', 'console.error("no login"); process.exit(3)'], model: 'x', budget: 90_000 }) // biome-ignore format: one command
  expect((await looked(t.memory, t.project, { session: 's1' })).why).toMatch(/ended with 3: no login/)
  const codex = `console.error('codex\\nanswer\\ntokens used\\n1,234'); console.log('{"candidates": []}')`
  t.state.allow({ use: 'command', command: [process.execPath, '-e', codex], model: 'x', budget: 90_000 })
  expect((await looked(t.memory, t.project, { session: 's1' })).tokens).toBe(1_234)
  t.queue()
  t.state.keep({ ...t.state.waiting('s1')!, readTo: 0 })
  t.state.allow({ use: 'command', command: [join(dir, 'no-such-program')], model: 'x', budget: 90_000 })
  expect((await looked(t.memory, t.project, { session: 's1' })).why).toMatch(/ENOENT/)
})

test('[A7] transcripts of Codex, Gemini CLI and Copilot CLI are understood; other files say nothing', () => {
  const dir = mkdtempSync(join(tmpdir(), 'tidemark-extract-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const read = (text: string) => {
    writeFileSync(join(dir, 'x'), text)
    return readTranscript(join(dir, 'x'), { config: HOOK_DEFAULTS })!.turns.map((t) => `${t.who}: ${t.text}`)
  }
  const item = (payload: object) => ({ type: 'response_item', payload })
  expect(
    read(
      jsonl([
        item({ type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'ours' }] }),
        item({
          type: 'message',
          role: 'user',
          content: [{ type: 'input_text', text: '<environment_context>x</environment_context>' }],
        }),
        item({ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hello' }] }),
        item({ type: 'function_call', name: 'exec_command', arguments: '{"cmd":"npm test"}', call_id: 'c1' }),
        item({ type: 'function_call_output', call_id: 'c1', output: 'Process exited with code 1\nOutput: two failed' }),
        item({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I see' }] }),
      ]),
    ),
  ).toEqual([
    'user: hello',
    'command: npm test',
    'failed: Process exited with code 1\nOutput: two failed',
    'agent: I see',
  ])
  expect(
    read(
      jsonl([
        { type: 'user', content: 'hi<hook_context>ours</hook_context>' },
        {
          type: 'gemini',
          content: 'done',
          toolCalls: [{ id: '1', name: 'run_shell_command', args: { command: 'make' }, status: 'success' }],
        },
      ]),
    ),
  ).toEqual(['user: hi', 'agent: done', 'command: make'])
  expect(read(jsonl([{ type: 'user.message', data: { content: 'hi' } }, { type: 'assistant.message', data: { content: 'yes' } }]))).toEqual(['user: hi', 'agent: yes']) // biome-ignore format: two lines
  expect(read('root:x:0:0\n{"password": "x"}\n[1, 2]\nnull\n')).toEqual([])
  expect(readTranscript(dir, { config: HOOK_DEFAULTS })).toBeUndefined()
})

test('[A7] what comes while another session is looked at is looked at too, and nothing more once the user has ended it', async () => {
  const s = await server((_, n) => {
    if (n === 1) t.queue('s2')
    if (n === 2) {
      t.queue('s3')
      t.state.forbid()
    }
    return openai({ candidates: [] }, 100)
  })
  const t = here({ url: s.url })
  const done = await extractWaiting(t.memory, t.project, { dueOnly: true })
  expect(done.ran && done.looked.map((l) => l.session)).toEqual(['s1', 's2'])
  expect(s.requests).toHaveLength(2)
  expect(t.used().tokens).toBe(200) // what was used today stays counted
})

test('[A7] extract that is told to end takes the client that it started with it', async () => {
  const p = await place()
  const file = join(p.dir, 'child')
  const script = `require('node:fs').writeFileSync(${JSON.stringify(file)}, String(process.pid)); process.stdin.resume(); setInterval(() => {}, 1e9)`
  const command = JSON.stringify([process.execPath, '-e', script])
  await p.run('models', 'add', 'extractor', '--command', command, '--budget', '50000')
  await p.hook('Stop')
  const extract = spawn(process.execPath, [BIN, 'extract'], { cwd: p.at.dir, env: p.at.env, stdio: 'ignore' })
  const gone = new Promise((done) => extract.once('exit', done))
  const pid = await vi.waitFor(() => Number(readFileSync(file, 'utf8')) || expect.fail(), { timeout: 20_000 })
  const client = processRef(pid)
  extract.kill('SIGTERM')
  await gone
  await vi.waitFor(() => expect(isRunning(client)).toBe(false))
})
