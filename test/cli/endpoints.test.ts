import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openMemory } from '../../src/surfaces/library.ts'
import { PATIENT, runHook } from '../hooks/run.ts'
import { inProcess, project } from './run.ts'

/** An endpoint for embeddings on this machine, and what it was sent. */
async function endpoint() {
  const asked: { key: string | undefined; texts: string[] }[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    const { input } = JSON.parse(body) as { input: string[] }
    asked.push({ key: request.headers.authorization, texts: input })
    response.end(JSON.stringify({ data: input.map((t) => ({ embedding: [t.length, 1 + (t.charCodeAt(0) % 5)] })) }))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }
}

/** What somebody commits. */
function commit(dir: string, embedder: object): void {
  const path = join(dir, '.tidemark', 'config.json')
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), recall: { embedder } }))
}

test('[T37] a committed endpoint is sent nothing, and no key, until the user has seen and allowed exactly that for this project', async () => {
  const { asked, url } = await endpoint()
  const { at, run } = await project()
  const other = await project()
  Object.assign(at.env, { AWS_SECRET_ACCESS_KEY: 'the-key', OTHER_KEY: 'another-key' })
  const wanted = { use: 'http', url, model: 'm', keyFrom: 'AWS_SECRET_ACCESS_KEY' }
  for (const { dir } of [at, other.at]) commit(dir, wanted)
  await run('act', '[["record-decision", {"name": "queue", "rationale": "bursts"}]]')

  const recalled = await run('recall', 'why a queue?')
  expect(recalled).toContain('queue')
  expect(recalled).not.toContain('by words alone') // the built-in embedder answers
  await run('models', 'index')
  const env = { ...PATIENT, TIDEMARK_STATE: join(at.home, '.local/state/tidemark'), AWS_SECRET_ACCESS_KEY: 'the-key' }
  await runHook(['claude', 'UserPromptSubmit'], { session_id: 's', cwd: at.dir, prompt: 'Why is there a queue for the bursts?' }, { env }) // biome-ignore format: one thought
  const whole = `${url}, model m, with the key in $AWS_SECRET_ACCESS_KEY`
  for (const command of ['status', 'doctor']) {
    const out = await run(command)
    expect(out).toContain(whole)
    expect(out).toContain('tidemark models add http')
  }
  const unasked = await inProcess(at, ['models', 'add', 'http'])
  expect([unasked.code, unasked.out, unasked.err]).toEqual([1, expect.stringContaining(whole), expect.stringContaining('--yes')]) // biome-ignore format: one thought
  const agents = { ...at, env: { ...at.env, CLAUDECODE: '1' } }
  expect((await inProcess(agents, ['models', 'add', 'http', '--yes'])).err).toContain('an agent does not decide this')
  expect(asked).toEqual([])

  await run('models', 'add', 'http', '--yes')
  await run('recall', 'why a queue?')
  expect(asked.some((a) => a.texts.includes('why a queue?') && a.key === 'Bearer the-key')).toBe(true)
  expect(await run('status')).not.toContain(url)
  const sent = asked.length
  await inProcess(other.at, ['recall', 'why a queue?']) // the same words in another project
  for (const changed of [{ keyFrom: 'OTHER_KEY' }, { url: `${url}/x` }, { model: 'n' }, { dimensions: 2 }]) {
    commit(at.dir, { ...wanted, ...changed })
    await run('recall', 'why a queue?')
  }
  expect(asked.length).toBe(sent)
})

test('[T37] a program may name an endpoint itself, and the repository adds no key to it', async () => {
  const { asked, url } = await endpoint()
  const { at } = await project()
  const opened = async () => {
    const memory = openMemory({ projectPath: at.dir, recall: { embedder: { use: 'http', url, model: 'm' } } })
    memory.act([['record-decision', { name: 'queue', rationale: 'bursts' }]], { by: 'person' })
    await memory.recall('why a queue?')
    memory.close()
  }
  await opened()
  expect(asked.length).toBeGreaterThan(0)
  expect(asked.every((a) => a.key === undefined)).toBe(true)
  const sent = asked.length
  process.env.TEST_SECRET = 'the-key'
  onTestFinished(() => void delete process.env.TEST_SECRET)
  commit(at.dir, { keyFrom: 'TEST_SECRET' })
  await opened()
  expect(asked.length).toBe(sent)
})
