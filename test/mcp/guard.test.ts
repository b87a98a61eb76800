import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { type IncomingMessage, type RequestOptions, request } from 'node:http'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { createProject, findProject } from '../../src/engine/store/project.ts'
import { serve } from '../../src/surfaces/http/serve.ts'
import { BIN } from '../cli/run.ts'
import { cleanEnv, httpClient, listening, tempDir, tempProject } from './harness.ts'

/** A request with whatever headers: fetch would not send a foreign Host. */
async function send(url: string, options: RequestOptions, body?: string): Promise<IncomingMessage & { text: string }> {
  const sent = request(url, options)
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk
  return Object.assign(response, { text })
}

const PATHS = ['/healthz', '/mcp', '/api/tools', '/api/tools/discover', '/api/events']

test('[M2] a foreign Host or Origin is refused with 403 before anything else, everywhere', async () => {
  const { url, token } = await listening({ projectPath: tempProject() })
  const { port } = new URL(url)
  const bearer = { authorization: `Bearer ${token}` }
  for (const path of PATHS) {
    for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1.evil.example'])
      expect((await send(url + path, { headers: { ...bearer, host } })).statusCode, `${path} Host ${host}`).toBe(403)
    for (const origin of ['http://evil.example', 'null', 'http://localhost.evil.example', 'file://', 'x'])
      expect((await send(url + path, { headers: { ...bearer, origin } })).statusCode, `${path} ${origin}`).toBe(403)
  }
  for (const headers of [
    { host: `localhost:${port}` },
    { host: `[::1]:${port}` },
    { origin: 'http://localhost:5173' },
  ]) {
    const answer = await send(`${url}/healthz`, { headers })
    expect(answer.statusCode).toBe(200)
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
  }
})

test('[M2] without the token nothing but the health check answers', async () => {
  const { url, token } = await listening({ projectPath: tempProject() })
  const wrong = [undefined, 'Bearer', 'Bearer x', `Basic ${token}`, token!, `Bearer ${token}x`, `Bearer ${token} x`]
  for (const path of PATHS.slice(1))
    for (const authorization of wrong) {
      const answer = await send(url + path, { headers: authorization ? { authorization } : {} })
      expect(answer.statusCode, `${path} ${authorization}`).toBe(401)
      expect(answer.headers['www-authenticate']).toContain('Bearer')
      expect(JSON.parse(answer.text).error).toMatchObject({
        code: 'unauthorized',
        hint: expect.stringContaining('token'),
      })
    }
  expect((await send(`${url}/healthz`, {})).statusCode).toBe(200)
  expect((await send(`${url}/api/events`, { method: 'OPTIONS' })).statusCode).toBe(401)
  await expect(httpClient(`${url}/mcp`, undefined)).rejects.toThrow(/401|nauthorized/)
})

test('[M2] the token is random, kept beside the store for its owner alone, and the environment overrules it', async () => {
  const project = tempProject()
  const first = await listening({ projectPath: project })
  expect(first.token).toMatch(/^[\w-]{43}$/)
  const file = join(dirname(findProject(project).storePath), 'token')
  expect(readFileSync(file, 'utf8').trim()).toBe(first.token)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect((await listening({ projectPath: project })).token).toBe(first.token)
  expect((await listening({ projectPath: tempProject() })).token).not.toBe(first.token)
  process.env.TIDEMARK_TOKEN = 'from-the-environment'
  onTestFinished(() => {
    delete process.env.TIDEMARK_TOKEN
  })
  expect((await listening({ projectPath: project })).token).toBe('from-the-environment')
})

test('[M2] a body over 10 MB is refused while it comes, not when it is there', async () => {
  const { url, token } = await listening({ projectPath: tempProject() })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  for (const path of ['/api/tools/act', '/mcp']) {
    const declared = await fetch(url + path, { method: 'POST', headers, body: 'x'.repeat(10 * 1024 * 1024 + 1) })
    expect(declared.status).toBe(413)
    expect(await declared.json()).toMatchObject({ error: { code: 'too-large' } })

    const before = process.memoryUsage().rss
    const chunk = Buffer.alloc(1 << 20, 32)
    let sent = 0
    const body = new ReadableStream({
      pull(controller) {
        if (sent++ < 100) controller.enqueue(chunk)
        else controller.close()
      },
    })
    // the server answers and hangs up while the client still sends: some clients hear the answer, some the hanging up
    const status = await fetch(url + path, { method: 'POST', headers, body, duplex: 'half' } as RequestInit).then(
      (r) => r.status,
      () => 413,
    )
    expect(status).toBe(413)
    expect(process.memoryUsage().rss - before).toBeLessThan(80e6)
  }
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
})

test('[M2] what is no JSON is a 400, what does not exist a 404 with the nearest', async () => {
  const { url, token } = await listening({ projectPath: tempProject() })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const post = (path: string, body: string) => fetch(url + path, { method: 'POST', headers, body })
  for (const body of ['{', '[1]', '"x"', 'null', '\u0000'])
    expect((await post('/api/tools/act', body)).status, body).toBe(400)
  const broken = await post('/mcp', '{"jsonrpc":')
  expect(broken.status).toBe(400)
  expect(await broken.json()).toMatchObject({ error: { code: -32700 } })
  const unknown = await post('/api/tools/discove', '{}')
  expect(unknown.status).toBe(404)
  expect(await unknown.json()).toMatchObject({
    error: { code: 'unknown-tool', hint: expect.stringContaining('discover'), details: { nearest: ['discover'] } },
  })
  expect((await post('/api/tools/constructor', '{}')).status).toBe(404)
  expect((await fetch(`${url}/nowhere`, { headers })).status).toBe(404)
})

test('[M2] serve listens on loopback alone, and never makes a project', async () => {
  const dir = tempDir()
  await expect(serve({ project: dir, log: () => {} })).rejects.toMatchObject({ code: 'no-project' })
  expect(readdirSync(dir)).toEqual([])
  createProject(dir)
  const lines: string[] = []
  const running = await serve({ project: dir, log: (line) => lines.push(line) })
  onTestFinished(() => running.close())
  expect(running.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect((await fetch(`${running.url}/healthz`)).status).toBe(200)
  const others = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).filter((a) => !a.internal))
  for (const { address } of others) {
    const socket = connect({ host: address, port: Number(new URL(running.url).port) })
    const [error] = await Promise.race([once(socket, 'error'), once(socket, 'connect').then(() => [undefined])])
    socket.destroy()
    expect(error, `connected to ${address}`).toBeDefined()
  }
  expect(lines.slice(0, 3)).toEqual([
    `tidemark listens on ${running.url}`,
    `project: ${dir}`,
    'Ctrl-C stops it; what is recorded stays',
  ])
  const told = lines.join('\n')
  expect(told).toContain(`claude mcp add --transport http tidemark ${running.url}/mcp --header "Authorization: Bearer`)
  const config = JSON.parse(lines.find((l) => l.includes('mcpServers'))!)
  expect(config.mcpServers.tidemark).toMatchObject({ type: 'http', url: `${running.url}/mcp` })
  expect(JSON.stringify(config)).not.toContain(running.token) // it may be committed
  await expect(serve({ project: dir, port: Number(new URL(running.url).port), log: () => {} })).rejects.toMatchObject({
    code: 'cannot-listen',
  })
})

test('[M2] who asks for another address gets it, told of the risk; foreign names stay out', async () => {
  const lines: string[] = []
  const running = await serve({ project: tempProject(), host: '0.0.0.0', log: (line) => lines.push(line) })
  onTestFinished(() => running.close())
  expect(lines[0]).toContain('reachable from other machines')
  expect((await fetch(`${running.url}/healthz`)).status).toBe(200)
  const { port } = new URL(running.url)
  for (const host of ['evil.example', `evil.example:${port}`, '0.0.0.0.evil.example'])
    expect((await send(`${running.url}/healthz`, { headers: { host } })).statusCode).toBe(403)
})

test('[M3] serve ends at once on SIGINT and SIGTERM, also with open streams, which get their last word', async () => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const cwd = tempProject()
    const child = spawn(process.execPath, [BIN, 'serve', '--port', '0'], {
      cwd,
      env: cleanEnv(),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let told: string[] = []
    for await (const line of createInterface({ input: child.stdout })) {
      told = line.split(/[\s"]+/)
      if (told.includes('--header')) break
    }
    const [url, token] = [told.find((word) => word.endsWith('/mcp'))!, told.at(-2)!]
    const headers = { Authorization: `Bearer ${token}` }
    const client = await httpClient(url, token)
    const listening = await client.listen({ resourceSubscriptions: ['tidemark://entity/decision:x'] })
    const events = await fetch(url.replace(/mcp$/, 'api/events'), { headers })
    const text = events.text()
    const exit = once(child, 'exit')
    const since = performance.now()
    child.kill(signal)
    expect((await exit)[0]).toBe(0)
    expect(performance.now() - since).toBeLessThan(3_000)
    expect(await listening.closed).toBe('graceful')
    expect(await text).toContain(': after 0')
    expect(existsSync(`/proc/${child.pid}`)).toBe(false)
  }
})
