import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openTestMemory } from './helpers.ts'

test('[M7] a briefing loads no table of tokens, no embedder, no schema library and no MCP SDK', () => {
  const t = openTestMemory()
  t.act([
    ['record-fact', { fact: 'Run the tests' }],
    ['record-decision', { name: 'use-rs256', description: 'sign with RS256' }],
    ['write-handoff', { nextSteps: ['fix the JWKS cache'] }],
  ])
  const child = join(import.meta.dirname, 'light-child.ts')
  const { text, loaded } = JSON.parse(execFileSync(process.execPath, [child, t.dir], { encoding: 'utf8' })) as {
    text: string
    loaded: string[]
  }
  expect(text).toContain('Run the tests')
  // Yjs is loaded by the bundles when a document is opened (scripts/build.mjs, late-yjs): a briefing opens none
  const heavy = /\/(?:zod|@modelcontextprotocol|hono|chokidar|onnxruntime[\w-]*)\/|recall\/(?:recall|embedders\/)/
  expect(loaded.filter((url) => heavy.test(url))).toEqual([])
})
