import { chmodSync, cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { stateDirectory } from '../../src/engine/store/user-state.ts'
import { modelsDirectory } from '../../src/find/recall/embedders/models.ts'
import { files, tidemark } from '../cli/run.ts'
import { CONFIG, world } from './world.ts'

const REPOSITORY = resolve(import.meta.dirname, '../..')

/** A package in the repository that says so when it is loaded. */
const trap = (name: string) => ({
  [`node_modules/${name}/package.json`]: JSON.stringify({ name, version: '9.9.9', main: 'index.js' }),
  [`node_modules/${name}/index.js`]: `require('node:fs').writeFileSync(process.env.MARKER, ${JSON.stringify(name)})\n`,
})

/** Files with the sizes of the model: what is in them is read only after the runtime has been loaded. */
function model(models: string): void {
  mkdirSync(join(models, 'minilm'), { recursive: true })
  const sizes = { 'graph.onnx': 69_663, 'words.bin': 30_522 * 388, 'weights.bin': 7_547_904, 'vocab.txt': 231_508 }
  for (const [name, size] of Object.entries(sizes)) writeFileSync(join(models, 'minilm', name), Buffer.alloc(size, 10))
}

test('[Y5] [T29] a runtime of models that the repository carries is never loaded', async () => {
  const at = world()
  const models = join(dirname(at.dir), 'models')
  model(models)
  const recall = { embedder: { use: 'onnx' } }
  files(at.dir, {
    '.tidemark/config.json': `${JSON.stringify({ id: 'hostile-0001', created: '2026-01-01', recall })}\n`,
    ...trap('onnxruntime-node'),
  })
  for (const more of [{}, { NODE_PATH: 'node_modules' }]) {
    const env = { ...at.env, TIDEMARK_MODELS: models, ...more }
    const ran = await tidemark({ ...at, env }, ['recall', 'what are the rules'])
    expect(existsSync(at.marker)).toBe(false)
    expect(ran.out + ran.err).toContain('tidemark models add minilm')
    expect((await tidemark({ ...at, env }, ['models'])).code).toBe(0)
    expect(existsSync(at.marker)).toBe(false)
  }
})

test('[Y5] [T29] a program that the repository carries is not started, also where the PATH leads into it', async () => {
  const at = world()
  const bin = join(at.dir, 'node_modules', '.bin')
  files(at.dir, { ...CONFIG, 'a.txt': 'a\n' })
  mkdirSync(bin, { recursive: true })
  for (const name of ['git', 'npm', 'claude', 'codex', 'xdg-open']) {
    writeFileSync(join(bin, name), '#!/bin/sh\ntouch "$MARKER"\n')
    chmodSync(join(bin, name), 0o755)
  }
  const env = { ...at.env, PATH: `node_modules/.bin:.:${at.env.PATH}` }
  for (const args of [['maturity', 'assess'], ['scan'], ['sync'], ['doctor'], ['back', 'HEAD']]) {
    await tidemark({ ...at, env }, args)
    expect([args, existsSync(at.marker)]).toEqual([args, false])
  }
})

test('[Y5] [T29] an optional package that is not installed is not taken from the repository', async () => {
  const at = world()
  const own = join(dirname(at.dir), 'lib', 'tidemark')
  for (const name of ['bin', 'dist', 'assets', 'package.json'])
    cpSync(join(REPOSITORY, name), join(own, name), { recursive: true })
  mkdirSync(join(own, 'node_modules', '@hono'), { recursive: true })
  for (const name of ['ws', 'yjs', 'lib0', 'hono', '@hono/node-server'])
    symlinkSync(join(REPOSITORY, 'node_modules', name), join(own, 'node_modules', name))
  files(at.dir, {
    ...CONFIG,
    'a.ts': 'export const a = () => 1\n',
    ...trap('web-tree-sitter'),
    ...trap('@vscode/tree-sitter-wasm'),
    ...trap('pg'),
  })
  const env = { ...at.env, NODE_PATH: 'node_modules', TIDEMARK_HUB_STORE: 'postgres://127.0.0.1:1/none' }
  const bin = join(own, 'bin', 'tidemark.js')
  for (const args of [['scan'], ['doctor'], ['hub', 'token', 'list']]) {
    await tidemark({ ...at, env, bin }, args)
    expect([args, existsSync(at.marker)]).toEqual([args, false])
  }
})

test('[Y5] [T29] a place for state or models that is no whole path is not looked for in the repository', () => {
  const own = { ...process.env }
  try {
    process.env.TIDEMARK_STATE = 'state'
    process.env.XDG_STATE_HOME = '.local'
    process.env.HOME = '/h'
    expect(stateDirectory()).toBe('/h/.local/state/tidemark')
  } finally {
    Object.assign(process.env, own)
    if (own.XDG_STATE_HOME === undefined) delete process.env.XDG_STATE_HOME
  }
  expect(modelsDirectory({ TIDEMARK_MODELS: 'models', XDG_DATA_HOME: 'data' }, 'linux', '/h')).toBe('/h/.local/share/tidemark/models') // biome-ignore format: one row
})
