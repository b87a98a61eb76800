import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { caughtUp, contextUsedBy } from './context-usage.ts'

function transcript(...lines: object[]) {
  const dir = mkdtempSync(join(tmpdir(), 'tidemark-transcript-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const path = join(dir, 't.jsonl')
  const add = (line: object) => appendFileSync(path, `${JSON.stringify(line)}\n`)
  for (const line of lines) add(line)
  return { path, add }
}
const asked = { type: 'user', message: { role: 'user', content: 'go on' } }
const answered = (tokens: number) => ({
  type: 'assistant',
  message: { model: 'claude-haiku-5', usage: { input_tokens: tokens, output_tokens: 0 } },
})
const beside = [
  { type: 'user', isMeta: true, message: { role: 'user', content: 'what a hook said' } },
  { type: 'user', isSidechain: true, message: { role: 'user', content: 'of a subagent' } },
  { type: 'file-history-snapshot' },
]

test('[P4] at the end of a turn the answer is waited for that Claude Code has not written yet', async () => {
  const { path, add } = transcript(answered(20_000), asked)
  const waiting = caughtUp('claude', path)
  add(answered(170_000))
  for (const line of beside) add(line)
  expect(await waiting).toBe(true)
  expect(contextUsedBy('claude', path, {})).toBe(85)
})

test('[P4] what is half written is waited for, and what a compaction took is not', async () => {
  const { path, add } = transcript(asked)
  appendFileSync(path, '{"type":"assistant","message":{"mod')
  const waiting = caughtUp('claude', path)
  appendFileSync(path, `${JSON.stringify(answered(40_000)).slice('{"type":"assistant","message":{"mod'.length)}\n`)
  expect(await waiting).toBe(true)
  expect(contextUsedBy('claude', path, {})).toBe(20)
  add({ type: 'system', subtype: 'compact_boundary' })
  expect(await caughtUp('claude', path)).toBe(true)
  expect(contextUsedBy('claude', path, {})).toBeUndefined()
})

test('[M4] a transcript that never comes, or does not end with an answer, holds a hook up for a moment only', async () => {
  const { path } = transcript(answered(20_000), asked)
  for (const file of [path, `${path}.none`]) {
    const since = performance.now()
    expect(await caughtUp('claude', file)).toBe(false)
    expect(performance.now() - since).toBeLessThan(1_300) // ten times what it waits
  }
  writeFileSync(path, 'no JSON\n')
  expect(await caughtUp('claude', path)).toBe(false)
  expect(await caughtUp('codex', path)).toBe(true) // says it with the answer
})

test("[P4] the window of a model that nobody knows is its client's usual one, or what the client told", () => {
  const of = (model: string, tokens: number) => ({
    type: 'assistant',
    message: { model, usage: { input_tokens: tokens, output_tokens: 0 } },
  })
  const used = (line: object, client: 'claude' | 'codex' | 'gemini' = 'claude', told?: number) =>
    contextUsedBy(client, transcript(line).path, {}, told)
  expect(used(of('claude-sonnet-9', 160_000))).toBe(80)
  expect(used(of('claude-sonnet-9', 160_000), 'claude', 400_000)).toBe(40)
  expect(used(of('claude-sonnet-9', 500_000))).toBe(50) // more than the usual one holds
  expect(used(of('claude-opus-5-5', 160_000))).toBe(16)
  expect(used({ tokens: { total: 524_288 }, model: 'flash-next' }, 'gemini')).toBe(50)
  const count = { payload: { type: 'token_count', info: { last_token_usage: { total_tokens: 136_000 } } } }
  expect(used(count, 'codex')).toBe(50)
})
