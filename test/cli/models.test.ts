import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createProject } from '../../src/engine/store/project.ts'
import type { CommandCall } from '../../src/surfaces/cli/command.ts'
import { models } from '../../src/surfaces/cli/commands/models.ts'

let directory: string
let said: string[]
let flags: CommandCall['flags']

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tidemark-cli-models-'))
  vi.stubEnv('TIDEMARK_MODELS', join(directory, 'models'))
  said = []
  flags = {}
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(directory, { recursive: true, force: true })
})

const run = (...place: string[]) => {
  const call: CommandCall = {
    place,
    flags,
    directory,
    json: false,
    out: (line) => void said.push(line),
    err: (line) => void said.push(line),
    progress() {},
  }
  return models.run(call)
}

/** Makes the directory a project whose configuration names this embedder. */
function configure(embedder: object): void {
  const { project } = createProject(directory, { name: 'here' })
  const path = join(project.root, '.tidemark', 'config.json')
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), recall: { embedder } }))
}

test('lists what is there, outside of a project too', async () => {
  const done = await run()
  expect(done?.json).toMatchObject({
    directory: join(directory, 'models'),
    minilm: { complete: false, modelBytes: 0, runtimeBytes: 0 },
    uses: null,
  })
  expect(said.join('\n')).toMatch(/static +built in, 6\.\d MB[\s\S]*`tidemark models add minilm`[\s\S]*no project here/)
})

test('says which embedder the project uses', async () => {
  configure({ use: 'onnx' })
  expect((await run('list'))?.json).toMatchObject({ uses: 'onnx' })
  expect(said.at(-1)).toBe('here uses onnx')
})

test('a model that is cut off is not listed as there, and can be removed', async () => {
  mkdirSync(join(directory, 'models', 'minilm'), { recursive: true })
  writeFileSync(join(directory, 'models', 'minilm', 'graph.onnx'), 'x')
  expect((await run('list'))?.json).toMatchObject({ minilm: { complete: false } })
  expect((await run('remove', 'minilm'))?.json).toEqual({ removed: true })
  expect((await run('remove', 'minilm'))?.json).toEqual({ removed: false })
})

test.each([
  [['add']],
  [['add', 'gpt']],
  [['remove']],
  [['frobnicate']],
  [['list', 'minilm']],
  [['add', 'minilm', 'now']],
  [['add', 'http']],
])('refuses %j with what to do instead', async (place) => {
  const error = await run(...place).catch((e: unknown) => e)
  expect(error).toMatchObject({ name: 'UserError', hint: expect.stringMatching(/./) })
})

test('allows the endpoint that the project names, and takes that back', async () => {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    const { input } = JSON.parse(body) as { input: string[] }
    response.end(JSON.stringify({ data: input.map((t) => ({ embedding: [t.length, 1 + (t.charCodeAt(0) % 5)] })) }))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  configure({ use: 'http', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, model: 'm' })
  await expect(run('add', 'http')).rejects.toMatchObject({ code: 'needs-yes' })
  flags = { yes: true }
  expect((await run('add', 'http'))?.json).toMatchObject({ dimensions: 2 })
  expect((await run('remove', 'http'))?.json).toEqual({ removed: true })
  expect((await run('remove', 'http'))?.json).toEqual({ removed: false })
  server.closeAllConnections()
  server.close()
})
