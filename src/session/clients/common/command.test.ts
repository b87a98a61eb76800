import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { GUARDED, launchProblem, startsTidemark } from './command.ts'
import { findOnPath } from './path.ts'
import type { ClientContext } from './types.ts'

// each of them is `sh` on some machine
const SHELLS = ['sh', 'dash', 'bash', 'busybox', 'zsh', 'ksh'].flatMap((name) => findOnPath(name, process.env) ?? [])
const ID = '"id":'

test.each(SHELLS)('[X7] where there is no tidemark, %s a server answers that only says so', (shell) => {
  const dir = mkdtempSync(join(tmpdir(), 'tidemark-serve-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const start = (messages: string[]) => {
    const { stdout, stderr, status } = spawnSync(shell, GUARDED.args, {
      argv0: 'sh',
      input: messages.map((line) => `${line}\n`).join(''),
      encoding: 'utf8',
      env: { PATH: dir },
    })
    expect([stderr, status]).toEqual(['', 0])
    return stdout
  }
  const messages = [
    '{"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","ids":[{"a":1}]}},"jsonrpc":"2.0","id":"d:1 of 2"}',
    `{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":${JSON.stringify(`* %s \\n ${ID}7, $HOME`)},"version":"1"}},"jsonrpc":"2.0","id":0}`,
    '{"jsonrpc": "2.0", "id": "x", "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}}}',
    '{"method":"notifications/initialized","jsonrpc":"2.0"}',
    '',
    '{"jsonrpc":"2.0","id":3,"method":"tools/list"}',
    '{"jsonrpc":"2.0","id":4,"method":"prompts/list"}',
  ]
  const result = (protocolVersion: string) => ({
    protocolVersion,
    capabilities: { prompts: {} },
    serverInfo: { name: 'tidemark', version: '0' },
    instructions: 'Tidemark, the memory of this project, is not installed on this machine: npm install -g tidemark',
  })
  const error = { code: -32601, message: 'Tidemark is not installed: npm install -g tidemark' }
  const answers = start(messages).trimEnd().split('\n')
  expect(answers.map((line) => JSON.parse(line))).toEqual([
    { jsonrpc: '2.0', id: 'd:1 of 2', error },
    { jsonrpc: '2.0', id: 0, result: result('2025-11-25') },
    { jsonrpc: '2.0', id: 'x', result: result('2025-06-18') },
    { jsonrpc: '2.0', id: 3, result: { tools: [] } },
    { jsonrpc: '2.0', id: 4, result: { prompts: [{ name: 'install', description: 'npm install -g tidemark' }] } },
  ])
  writeFileSync(join(dir, 'tidemark'), '#!/bin/sh\necho "$@"\n', { mode: 0o755 })
  expect(start([])).toBe('mcp\n')
})

test('[X7] the shared command is one line that no client puts variables into, and starts what doctor looks for', () => {
  expect(GUARDED.args[1]).not.toMatch(/\n|\$\{|\{env:|\{file:/)
  expect(startsTidemark(GUARDED.command, GUARDED.args)).toBe(true)
  const ctx = { root: '/', env: { PATH: '/usr/bin:/bin' } } as unknown as ClientContext
  expect(launchProblem(ctx, GUARDED.command, GUARDED.args)).toBe(
    'the command tidemark is not on the PATH of this machine',
  )
})
