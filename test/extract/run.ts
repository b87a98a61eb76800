import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { inProcess, project } from '../cli/run.ts'

export interface Request {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  // biome-ignore lint/suspicious/noExplicitAny: what was sent, to look into
  readonly body: any
}

export interface Server {
  readonly url: string
  readonly requests: Request[]
  /** Resolves when so many requests have come. */
  came(n: number): Promise<void>
}

type Answer = { status?: number; headers?: Record<string, string>; body: unknown } | 'never'

/** An endpoint on loopback that answers as the test says. */
export async function server(answer: (request: Request, n: number) => Answer): Promise<Server> {
  const requests: Request[] = []
  const waiting: { n: number; done: () => void }[] = []
  const reply = (response: ServerResponse, a: Answer) => {
    if (a === 'never') return
    response.writeHead(a.status ?? 200, { 'content-type': 'application/json', ...a.headers })
    response.end(typeof a.body === 'string' ? a.body : JSON.stringify(a.body))
  }
  const http = createServer((request, response) => {
    let text = ''
    request.on('data', (d) => (text += d))
    request.on('end', () => {
      const said: Request = { path: request.url!, headers: request.headers, body: JSON.parse(text) }
      requests.push(said)
      reply(response, answer(said, requests.length))
      for (const w of waiting) if (requests.length >= w.n) w.done()
    })
  })
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done))
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/v1`,
    requests,
    came: (n) =>
      new Promise((done) => {
        if (requests.length >= n) done()
        else waiting.push({ n, done })
      }),
  }
}

export const openai = (content: unknown, total?: number) => ({
  body: {
    choices: [
      { message: { role: 'assistant', content: typeof content === 'string' ? content : JSON.stringify(content) } },
    ],
    ...(total === undefined
      ? {}
      : { usage: { prompt_tokens: total - 10, completion_tokens: 10, total_tokens: total } }),
  },
})

/** A talk as Claude Code keeps it; the last line is whole. */
export const talk: object[] = [
  { type: 'user', message: { role: 'user', content: 'Please make the importer resumable. We had trouble with it last week.' } },
  {
    type: 'assistant',
    message: {
      content: [
        { type: 'text', text: 'I tried to watch the WAL file first, but it missed commits when the checkpoint ran.' },
        { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'npm run import -- --resume' } },
      ],
    },
  },
  { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: 't1', is_error: true, content: 'Error: no cursor was kept' }] } },
  {
    type: 'assistant',
    message: {
      content: [{ type: 'text', text: 'Then we settled it: the cursor is kept in a table of the store, because a file beside it can get lost.' }],
    },
  },
] // biome-ignore format: one message a line

/** What a model would find in it. */
export const found = {
  candidates: [
    {
      kind: 'decision',
      name: 'import-cursor-in-store',
      description: 'The cursor of an import is kept in a table of the store.',
      rationale: 'a file beside it can get lost',
      quote: 'the cursor is kept in a table of the store',
      confidence: 0.9,
    },
    {
      kind: 'failed-approach',
      approach: 'watching the WAL file',
      outcome: 'missed commits when the checkpoint ran',
      quote: 'it missed commits when the checkpoint ran',
      confidence: 0.8,
    },
  ],
}

export const jsonl = (lines: readonly object[]): string => lines.map((l) => `${JSON.stringify(l)}\n`).join('')

/** A project, a transcript beside it, and the command line in it. */
export async function place(lines: readonly object[] = talk) {
  const { at, run } = await project()
  const dir = mkdtempSync(join(tmpdir(), 'tidemark-extract-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const transcript = join(dir, 's1.jsonl')
  writeFileSync(transcript, jsonl(lines))
  const json = async (...args: string[]) => JSON.parse(await run(...args, '--json'))
  /** What a hook tells, as its client calls it. */
  const hook = (event: string, more: object = {}) => {
    const payload = { session_id: 's1', cwd: at.dir, transcript_path: transcript, ...more }
    const env = { ...at.env, TIDEMARK_HOOK_MS: '15000' }
    return inProcess({ ...at, env }, ['hook', 'claude', event], JSON.stringify(payload))
  }
  const allow = (url: string, ...more: string[]) =>
    run('models', 'add', 'extractor', '--url', url, '--model', 'm1', '--budget', '50000', ...more)
  return { at, run, json, hook, allow, transcript, dir }
}
