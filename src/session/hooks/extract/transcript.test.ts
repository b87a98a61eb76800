import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { HOOK_DEFAULTS } from '../config.ts'
import { readTranscript } from './transcript.ts'

test('[A8] of what a failing command printed the end is read, however long it is', () => {
  const dir = mkdtempSync(join(tmpdir(), 'tidemark-transcript-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const path = join(dir, 't.jsonl')
  const ran = { type: 'tool_use', id: 'c1', name: 'Bash', input: { command: 'npm test' } }
  const content = `${'a line of output\n'.repeat(1_000)}Error: no such table`
  const failed = { type: 'tool_result', tool_use_id: 'c1', is_error: true, content }
  const lines = [
    { type: 'assistant', message: { content: [ran] } },
    { type: 'user', message: { content: [failed] } },
  ]
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const last = readTranscript(path, { config: HOOK_DEFAULTS })?.turns.at(-1)
  expect(last).toMatchObject({ who: 'failed', text: expect.stringMatching(/^… [\s\S]{300,400}Error: no such table$/) })
})
