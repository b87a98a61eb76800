import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createServer } from '../../src/surfaces/http/http.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { call, decide, ERAS, httpClient, listening, next, stdioClient, tempDir, tempProject } from './harness.ts'

type Posted = {
  text?: string
  json?: unknown
  error?: { code: string; message: string; hint: string; details: object }
}

function api(server: { url: string; token: string | undefined }) {
  const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' }
  return {
    headers,
    async post(tool: string, body: object): Promise<{ status: number; body: Posted }> {
      const url = `${server.url}/api/tools/${tool}`
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
      return { status: response.status, body: (await response.json()) as Posted }
    },
    events: (query = '', more: Record<string, string> = {}) =>
      fetch(`${server.url}/api/events${query}`, { headers: { ...headers, ...more } }),
  }
}

/** Reads server-sent events one by one. */
async function* eventsOf(response: Response) {
  let text = ''
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const block = text.slice(0, end)
      text = text.slice(end + 2)
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1]
      const data = field('data')
      if (data !== undefined) yield { id: field('id')!, event: field('event'), data: JSON.parse(data) }
    }
  }
}

/** The next batch; what happens with sessions comes in between. */
async function nextBatch(reading: ReturnType<typeof eventsOf>) {
  for (;;) {
    const { value } = await reading.next()
    if (value?.event !== 'presence') return value!
  }
}

for (const era of ERAS) {
  test(`[M1] HTTP, ${era}: tools, resources and following over Streamable HTTP with the token`, async () => {
    const server = await listening({ projectPath: tempProject() })
    const client = await httpClient(`${server.url}/mcp`, server.token, { era })
    expect((await client.listTools()).tools.map((t) => t.name)).toContain('act')
    expect(await call(client, 'act', { ...decide('one'), session: 'mine' })).toMatchObject({ isError: false })
    const uri = 'tidemark://entity/decision:one'
    const read = await client.readResource({ uri })
    expect((read.contents[0] as { text: string }).text).toContain('"mine"')
    const told = next<string>()
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => told.got(params.uri))
    if (era === 'legacy') await client.subscribeResource({ uri })
    else await client.listen({ resourceSubscriptions: [uri] })
    const other = await stdioClient(server.project.root)
    await call(other, 'act', decide('one', { rationale: 'changed by another process' }))
    expect(await told.promise).toBe(uri)
  })
}

test('[M1] many requests at once, each on a fresh server, do not mix', async () => {
  const server = await listening({ projectPath: tempProject() })
  const clients = await Promise.all(
    Array.from({ length: 6 }, (_, i) =>
      httpClient(`${server.url}/mcp`, server.token, { era: ERAS[i % 2]!, name: `c${i}` }),
    ),
  )
  await Promise.all(
    clients.flatMap((client, i) =>
      Array.from({ length: 10 }, async (_, n) => {
        const answer = await call(client, 'act', decide(`d-${i}-${n}`))
        expect(answer.text).toContain(`decision:d-${i}-${n}`)
      }),
    ),
  )
  const { body } = await api(server).post('discover', { expr: '(length (get-decisions :limit 1000))' })
  expect(body.text).toBe('60')
})

test('the HTTP API answers with text and JSON, and refuses as the command line does', async () => {
  const server = await listening({ projectPath: tempProject() })
  const { post } = api(server)
  const done = await post('act', { ...decide('x'), session: 's-http' })
  expect(done).toMatchObject({ status: 200, body: { json: { results: [{ id: 'decision:x', created: true }] } } })
  expect(server.memory.history('decision:x')[0]?.author).toMatchObject({ session: 's-http', agent: 'http' })
  const refused = await post('act', { actions: [['record-decison', {}]] })
  expect(refused.status).toBe(400)
  expect(refused.body.error).toMatchObject({ code: 'refused', details: { problems: [{ index: 0 }] } })
  const wrong = await post('act', { actoins: [] })
  expect(wrong.body.error).toMatchObject({ code: 'bad-arguments', message: expect.stringContaining('actions') })
})

test('GET /api/tools lists every tool with its parameters', async () => {
  const server = await listening({ projectPath: tempProject() })
  const response = await fetch(`${server.url}/api/tools`, { headers: api(server).headers })
  const { tools } = (await response.json()) as { tools: { name: string; params: object }[] }
  expect(tools.find((t) => t.name === 'act')).toMatchObject({ mcp: true, params: { actions: { required: true } } })
})

test('events come as they are committed, by whatever process, and go on where a reader left off', async () => {
  const server = await listening({ projectPath: tempProject() })
  const { events, post } = api(server)
  await post('act', decide('before'))
  const response = await events()
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  expect(response.headers.get('x-accel-buffering')).toBe('no')
  const reading = eventsOf(response)
  const other = await stdioClient(server.project.root)
  await call(other, 'act', decide('by-another-process'))
  const first = await nextBatch(reading)
  expect(first).toMatchObject({ event: 'batch', data: { author: { agent: 'test-client' } } })
  expect(JSON.stringify(first.data)).toContain('decision:by-another-process')
  await reading.return(undefined)
  await post('act', decide('while-away'))
  const again = eventsOf(await events('?since=0', { 'last-event-id': first.id }))
  expect(JSON.stringify((await nextBatch(again)).data)).toContain('while-away')
  await again.return(undefined)
  const all = eventsOf(await events('?since=0'))
  expect(JSON.stringify((await nextBatch(all)).data)).toContain('decision:before')
  await all.return(undefined)
  expect((await events('?since=x')).status).toBe(400)
  const filtered = await events('?since=0&type=claimed')
  expect(filtered.status).toBe(400)
  expect(((await filtered.json()) as Posted).error!.message).toContain('type: not a parameter of the stream')
})

test('[X6] several paths are claimed and released over HTTP as a list, as the verb takes them', async () => {
  const server = await listening({ projectPath: tempProject() })
  const { post } = api(server)
  const claimed = await post('claim', { paths: ['src/auth/**', 'docs'], session: 'a' })
  expect(claimed.body.text).toMatch(/claimed src\/auth\/\*\*[\s\S]*claimed docs/)
  expect((await post('claim', { paths: 'docs/x.md', session: 'b' })).body.error!.message).toContain(
    'docs is claimed by a',
  )
  expect((await post('claim', { paths: ['x', 5], session: 'a' })).body.error!.code).toBe('bad-arguments')
  expect((await post('release', { paths: ['docs'], session: 'a' })).body.text).toBe('released docs')
})

test('[X4] [X8] the shared context over HTTP, and its events in the stream', async () => {
  const server = await listening({ projectPath: tempProject() })
  const { post, events } = api(server)
  const reading = eventsOf(await events('?since=0'))
  const set = await post('share', { do: 'set', key: 'phase', value: { a: [1, 1, null] }, session: 's1' })
  expect(set).toMatchObject({ status: 200, body: { json: { key: 'phase', value: { a: [1, 1, null] }, version: 1 } } })
  await post('share', { do: 'set', key: 'phase', value: null, session: 's1' })
  expect((await post('share', { do: 'get', key: 'phase' })).body.json).toEqual({
    key: 'phase',
    value: null,
    version: 2,
  })
  expect((await post('share', { do: 'show' })).body.json).toMatchObject({ data: { phase: null }, version: 2 })
  expect((await nextBatch(reading)).data.stream).toMatchObject([
    { event_type: 'update', key: 'phase', value: { a: [1, 1, null] }, session_id: 's1' },
  ])
  expect((await nextBatch(reading)).data.stream).toMatchObject([{ value: null, previous_value: { a: [1, 1, null] } }])
  await reading.return(undefined)
  expect((await post('events', { since: 0, type: 'share' })).body.json).toMatchObject({
    events: [{ key: 'phase' }, { key: 'phase', value: null }],
  })
  await post('share', { do: 'append', key: 'list', value: 'x', session: 's2' })
  const ofOthers = eventsOf(await events('?since=0&session=s1'))
  expect((await nextBatch(ofOthers)).data.stream).toMatchObject([{ key: 'list', value: ['x'], session_id: 's2' }])
  await ofOthers.return(undefined)
  expect((await post('events', { follow: true })).status).toBe(400)
  expect((await post('share', { do: 'get', key: 'fase' })).body.error).toMatchObject({ code: 'not-found' })
})

test('a reader that was away for long gets everything in order', async () => {
  const server = await listening({ projectPath: tempProject() })
  for (let i = 0; i < 200; i++) server.memory.act([['record-decision', { name: `d${i}`, rationale: 'r' }]])
  const reading = eventsOf(await api(server).events('?since=0'))
  for (let i = 0; i < 200; i++) expect((await reading.next()).value!.data.events[0].entity).toBe(`decision:d${i}`)
  await reading.return(undefined)
})

test('one server serves several projects; a call that names none is refused with the choices', async () => {
  const [one, two] = [tempProject('one'), tempProject('two')]
  const server = await listening({ projectPath: one, projects: [two] })
  const { post, events } = api(server)
  const ask = { expr: '(map :name (get-decisions))' }
  const ambiguous = await post('discover', ask)
  expect(ambiguous.status).toBe(409)
  expect(ambiguous.body.error).toMatchObject({ code: 'ambiguous-project', hint: expect.stringContaining(two) })
  const { projects } = ambiguous.body.error!.details as { projects: { id: string }[] }
  const [idOne, idTwo] = [projects[0]!.id, projects[1]!.id]
  expect((await post('act', { ...decide('in-one'), projectId: idOne })).status).toBe(200)
  expect((await post('act', { ...decide('in-two'), project: two })).status).toBe(200)
  expect((await post('discover', { ...ask, project: 'one' })).body.text).not.toContain('in-two')
  expect((await post('discover', { ...ask, projectId: idTwo })).body.text).toContain('in-two')
  expect((await post('discover', { ...ask, project: tempProject() })).status).toBe(404)
  expect((await events()).status).toBe(409)

  const client = await httpClient(`${server.url}/mcp`, server.token)
  const refused = await call(client, 'discover', ask)
  expect(refused).toMatchObject({ isError: true, text: expect.stringContaining(idTwo) })
  expect((await call(client, 'discover', { ...ask, project: idTwo })).text).toContain('in-two')
  await expect(client.readResource({ uri: 'tidemark://entity/decision:in-two' })).rejects.toThrow(idTwo)
  for (const era of ERAS) {
    const pinned = await httpClient(`${server.url}/mcp?project=${idTwo}`, server.token, { era })
    expect((await call(pinned, 'discover', ask)).text).toContain('in-two')
    expect((await call(pinned, 'discover', { ...ask, project: idOne })).text).toContain('in-one')
  }
  const nowhere = await fetch(`${server.url}/mcp?project=nowhere`, {
    method: 'POST',
    headers: api(server).headers,
    body: '{}',
  })
  expect(nowhere.status).toBe(404)
})

test('createServer makes a fresh directory a project, unless it is told not to', async () => {
  const dir = tempDir()
  expect(() => createServer({ projectPath: dir, create: false })).toThrow(/no Tidemark project/)
  expect(() => createServer({ projectPath: dir, syncUrl: 'wss://hub.example' })).toThrow(/syncToken/)
  expect(existsSync(join(dir, '.tidemark'))).toBe(false)
  const server = createServer({ projectPath: dir, projectName: 'fresh', persistencePath: 'kept-here', token: 't' })
  expect(server.project.name).toBe('fresh')
  expect(existsSync(join(dir, 'kept-here', 'store.db'))).toBe(true)
  const answer = await server.app.request('/api/tools/act', {
    method: 'POST',
    headers: { authorization: 'Bearer t', 'content-type': 'application/json' },
    body: JSON.stringify(decide('embedded')),
  })
  expect(answer.status).toBe(200)
  expect(server.memory.reader.entity('decision:embedded')?.name).toBe('embedded')
  await server.close()
  expect(() => server.memory.act([])).toThrow(/closed/)
})

test('[M2] tools that read or write files the caller names are not offered over HTTP', async () => {
  const server = createServer({ projectPath: tempDir(), token: false })
  onTestFinished(() => server.close())
  const listed = (await (await server.app.request('http://localhost/api/tools')).json()) as {
    tools: { name: string }[]
  }
  expect(listed.tools.map((t) => t.name)).toContain('discover')
  expect(listed.tools.map((t) => t.name)).not.toContain('export')
  for (const [name, body] of [
    ['export', { format: 'json', path: '/tmp/stolen.json' }],
    ['import', { format: 'json', path: '/etc/passwd' }],
  ] as const) {
    const answer = await server.app.request(`http://localhost/api/tools/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect(answer.status).toBe(404)
  }
})

test('[A5] actions that come as a JSON string are repaired, and the reply says so', async () => {
  const server = createServer({ projectPath: tempDir(), token: false })
  onTestFinished(() => server.close())
  const answer = await server.app.request('http://localhost/api/tools/act', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ actions: '[["record-decision", {"name": "as-text"}]]' }),
  })
  expect(answer.status).toBe(200)
  expect(((await answer.json()) as { json: { notes: string[] } }).json.notes.join()).toContain('JSON string')
})

test('[X7] a session that nobody knows is refused over HTTP where it must be one, and none is made', async () => {
  const server = await listening({ projectPath: tempProject() })
  const { post } = api(server)
  await post('session', { do: 'start', id: 'lead' })
  for (const [tool, body] of [
    ['release', {}],
    ['claims', {}],
    ['session', { do: 'end' }],
    ['task', { do: 'complete' }],
  ] as const) {
    const refused = await post(tool, { ...body, session: 'laed' })
    expect(refused.body.error, tool).toMatchObject({
      code: 'not-found',
      details: { live: ['lead'], nearest: ['lead'] },
    })
  }
  expect((await post('session', { do: 'list', all: true })).body.json).toMatchObject([{ id: 'lead' }])
  expect((await post('share', { do: 'set', key: 'k', value: 1, session: 'new' })).status).toBe(200)
  expect(
    sessionsOf(server.memory)
      .list()
      .map((s) => s.id)
      .sort(),
  ).toEqual(['lead', 'new'])
})

test('[X8] over HTTP a number that would be rounded is refused as it was written', async () => {
  const server = await listening({ projectPath: tempProject() })
  const response = await fetch(`${server.url}/api/tools/share`, {
    method: 'POST',
    headers: api(server).headers,
    body: '{"do": "set", "key": "k", "value": {"id": 10000000000000000000001}}',
  })
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({
    error: { code: 'inexact-number', details: { received: '10000000000000000000001' } },
  })
})
