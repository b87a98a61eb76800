import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { hookProject, PATIENT, runHook } from './run.ts'

/** Node's own modules that cost milliseconds at a start; each hook is one. */
const HEAVY = /^NativeModule (crypto|stream|net|tty|http|https|zlib|child_process|worker_threads|readline|events\/.*)$/

test('[M4] hooks that write no knowledge load none of Node’s heavy modules', async () => {
  const { dir, memory } = hookProject()
  memory().act([
    ['record-fact', { fact: 'Always run the tests', category: 'workflow' }],
    ['record-decision', { name: 'queue', description: 'jobs go through a queue', rationale: 'bursts' }],
    ['record-failed-approach', { approach: 'one file for all in a.ts', outcome: 'merge conflicts' }],
  ])
  const at = mkdtempSync(join(tmpdir(), 'tidemark-light-'))
  onTestFinished(() => rmSync(at, { recursive: true, force: true }))
  const list = join(at, 'loaded')
  const preload = join(at, 'preload.cjs')
  writeFileSync(
    preload,
    `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(list)}, process.moduleLoadList.join('\\n')))`,
  )
  const edit = { tool_name: 'Edit', tool_use_id: 't', tool_input: { file_path: join(dir, 'a.ts') } }
  const calls: [event: string, payload: object][] = [
    ['SessionStart', { source: 'startup' }],
    ['UserPromptSubmit', { prompt: 'How do jobs go through the queue?' }],
    ['UserPromptSubmit', { prompt: 'Please draw the queue. It has three ends.' }],
    ['PreToolUse', edit],
    ['PostToolUse', edit],
  ]
  for (const [event, payload] of calls) {
    // the second time: what keeps the compiled code is no part of it
    for (const _ of [1, 2]) {
      const ran = await runHook(
        ['claude', event],
        { session_id: 's', cwd: dir, ...payload },
        { cwd: dir, env: { ...PATIENT, NODE_OPTIONS: `--require ${preload}`, NODE_COMPILE_CACHE: join(at, 'code') } },
      )
      expect([event, ran.code, ran.err]).toEqual([event, 0, ''])
      if (event === 'SessionStart') expect(ran.out).toContain('Always run the tests')
    }
    const loaded = readFileSync(list, 'utf8').split('\n')
    expect(loaded).toContain('NativeModule sqlite')
    expect([event, loaded.filter((m) => HEAVY.test(m))]).toEqual([event, []])
  }
})
