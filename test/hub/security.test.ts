import { connect } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { systemEnv } from '../../src/base/env.ts'
import { handleOf } from '../../src/engine/store/keys.ts'
import * as log from '../../src/engine/store/log.ts'
import { listTokens, revokeToken } from '../../src/travel/hub/access-tokens.ts'
import { exchangeOnce } from '../../src/travel/sync/hub-exchange.ts'
import { keyOf, MOST_FRAME } from '../../src/travel/sync/hub-protocol.ts'
import { unsent } from '../../src/travel/sync/publish.ts'
import { decision, knowledge, team } from '../sync/clones.ts'
import { frame, hubOn, Peer, PROJECT, quiet, sqliteStore, wrapped } from './harness.ts'

const started = async (options = {}) => hubOn(await sqliteStore(), options)

/** What a hub answers to somebody who wants to connect: the status of a refusal, 101 for a welcome. */
const knock = (port: number, path: string, headers: Record<string, string> = {}): Promise<number> =>
  new Promise((resolve, reject) => {
    const ws = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers })
    onTestFinished(() => ws.terminate())
    ws.on('unexpected-response', (_, response) => resolve(response.statusCode!))
    ws.on('open', () => resolve(101))
    ws.on('error', reject)
  })
const SYNC = `/v1/projects/${PROJECT}/sync`
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** Sends bytes as they are; what came back until the other side closed. */
const raw = (port: number, text: string): Promise<string> =>
  new Promise((resolve) => {
    let got = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    onTestFinished(() => void socket.destroy())
    socket.setEncoding('latin1').on('data', (part: string) => (got += part))
    socket.on('close', () => resolve(got))
    socket.on('error', () => resolve(got))
  })

/** How a connection ends. */
const ending = (ws: WebSocket): Promise<number> => new Promise((resolve) => void ws.on('close', resolve))
const opened = async (url: string, token: string): Promise<WebSocket> => {
  const ws = new WebSocket(`${url}v1/projects/${PROJECT}/sync`, { headers: bearer(token) })
  onTestFinished(() => ws.terminate())
  await new Promise((resolve) => void ws.on('open', resolve))
  return ws
}

test('[N8] [T90] without a token that holds for the project nobody connects', async () => {
  const { hub, port, token } = await started()
  const good = await token()
  expect(await knock(port, SYNC)).toBe(401)
  expect(await knock(port, SYNC, bearer('tmh_guessed'))).toBe(401)
  expect(await knock(port, SYNC, { authorization: `Basic ${good}` })).toBe(401)
  expect(await knock(port, SYNC, bearer(await token('ben', 'admin', ['other-project'])))).toBe(403)
  expect(await knock(port, SYNC, bearer(await token('ben', 'writer', [PROJECT], Date.now() - 1)))).toBe(401)
  expect(await knock(port, SYNC, { ...bearer(good), origin: 'https://example.org' })).toBe(403)
  expect(await knock(port, `${SYNC}?token=${good}`)).toBe(404)
  expect(await knock(port, SYNC, bearer(good))).toBe(101)
  const audit = await hub.store.all<{ what: string; detail: string }>('SELECT what, detail FROM hub_audit')
  expect(audit.length).toBeGreaterThan(4)
  expect(JSON.stringify(audit)).not.toContain(good)
})

test('[N8] [T90] whoever guesses tokens hears nothing more after ten; good tokens of the same address are heard', async () => {
  const { hub, port, token } = await started()
  const good = bearer(await token())
  const answers = []
  for (let i = 0; i < 12; i++) answers.push(await knock(port, SYNC, bearer(`tmh_${i}`)))
  expect(answers).toEqual([...Array(10).fill(401), 429, 429])
  expect(await knock(port, SYNC, good)).toBe(101)
  const old = bearer(await token('ben', 'writer', [PROJECT], Date.now() - 1))
  const later = []
  for (let i = 0; i < 12; i++) later.push(await knock(port, SYNC, old))
  expect(later).toEqual([...Array(10).fill(401), 429, 429])
  expect(await knock(port, SYNC, good)).toBe(101)
  expect(await hub.store.all('SELECT 1 AS one FROM hub_audit')).toHaveLength(20)
})

test('[N8] behind a proxy each caller is counted by itself, and nobody chooses their own address', async () => {
  const { port } = await started({ behindProxy: true })
  for (let i = 0; i < 11; i++) await knock(port, SYNC, { ...bearer('x'), 'x-forwarded-for': `10.0.0.${i}, 1.1.1.1` })
  expect(await knock(port, SYNC, { ...bearer('x'), 'x-forwarded-for': '10.9.9.9, 1.1.1.1' })).toBe(429)
  expect(await knock(port, SYNC, { ...bearer('x'), 'x-forwarded-for': '2.2.2.2' })).toBe(401)
})

test.each([
  '/v1/projects/../../etc/passwd/sync',
  '/v1/projects/..%2f..%2fetc/sync',
  '/v1/projects/PROJECT-ONE/sync',
  `/v1/projects/${'a'.repeat(65)}/sync`,
  "/v1/projects/a'OR'1/sync",
  '/v1/projects//sync',
  '/v1/projects/project-one/sync/x',
  '/v1/projects/project-one%00/sync',
])('[N8] [T90] %s is no project', async (path) => {
  const { port, token } = await started()
  const { authorization } = bearer(await token('ana', 'admin', ['*']))
  const head = `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: ${authorization}\r\n\r\n`
  expect((await raw(port, head)).split('\r\n')[0]).toBe('HTTP/1.1 404 Refused')
})

test('[N7] [T92] a reader reads, and what they push is refused, audited and in nobody’s log', async () => {
  const { hub, url, token } = await started()
  const [writer, reader] = [await Peer.join(url, await token()), await Peer.join(url, await token('ben', 'reader'))]
  expect(await reader.push('of a reader')).toMatchObject({ code: 'read-only' })
  expect(await reader.link.ask({ t: 'claim', place: 'src', session: 's' })).toMatchObject({ code: 'read-only' })
  await writer.push('of a writer')
  await reader.until(() => reader.last === 1)
  expect(reader.texts).toEqual(['of a writer'])
  const audit = await hub.store.all<{ member: string; detail: string }>('SELECT member, detail FROM hub_audit')
  expect(audit).toEqual([{ member: 'ben', detail: '{"code":"read-only"}' }])
})

test('[N7] a token that is revoked ends its connections, and opens none when it is shown again', async () => {
  const { hub, url, port, token } = await started()
  const shown = await token()
  const peer = await Peer.join(url, shown)
  await peer.push('before')
  await revokeToken(hub.store, quiet, (await listTokens(hub.store))[0]!.id)
  await peer.until(() => peer.gone !== undefined)
  expect(peer.gone).toBe('revoked')
  expect(await knock(port, SYNC, bearer(shown))).toBe(401)
})

test('[N8] [T91] a frame that is too large ends its connection, and no other', async () => {
  const { url, token } = await started()
  const other = await Peer.join(url, await token('ben'))
  const ws = await opened(url, await token())
  const ended = ending(ws)
  ws.send('x'.repeat(MOST_FRAME + 1))
  expect(await ended).toBe(1009)
  expect(await other.push('still here')).toMatchObject({ n: 1 })
})

test('[N8] frames that are none, and a client that never says hello, end', async () => {
  const { url, token } = await started()
  const shown = await token()
  for (const text of ['', 'x', '[]', 'null', Buffer.from([1, 2])] as const) {
    const ws = await opened(url, shown)
    const ended = ending(ws)
    ws.send(text)
    expect(await ended).toBe(4400)
  }
  const early = await opened(url, shown)
  const ended = ending(early)
  early.send(frame({ t: 'push', id: 1, keys: ['a:1'] }, 'too early'))
  expect(await ended).toBe(4408)
})

test('[N8] [T91] who sends a request byte by byte is cut off, and others are served meanwhile', {
  tags: ['long'],
}, async () => {
  const { port } = await started()
  const slow = raw(port, 'GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: ')
  const served = await fetch(`http://127.0.0.1:${port}/health`)
  expect([served.status, await served.json()]).toMatchObject([200, { ok: true }])
  expect(await slow).toContain('408')
})

test('[N8] [T91] a request with endless headers is refused', async () => {
  const { port } = await started()
  expect(await raw(port, `GET /health HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(20_000)}\r\n\r\n`)).toContain('431')
})

test('[N5] pushes that are wrong are refused one by one, and the rest of a push is taken', async () => {
  const { url, token } = await started()
  const [ana, ben] = [await Peer.join(url, await token()), await Peer.join(url, await token('ben'))]
  const ask = (head: object, ...updates: string[]) => ana.link.ask({ t: 'push', ...head }, updates)
  expect(await ask({ keys: ['a:1'] })).toMatchObject({ code: 'bad-push' })
  expect(await ask({ keys: [] }, 'x')).toMatchObject({ code: 'bad-push' })
  expect(await ask({ keys: 'a:1' }, 'x')).toMatchObject({ code: 'bad-push' })
  const ofOther = JSON.stringify({ v: 2, r: 'b', n: 4 })
  const all = [wrapped('x'), wrapped('good'), wrapped('y'), 'no line', ofOther, '{"snapshot":{}}']
  expect(await ask({ keys: [{}, 'a:2', '../x:1', 'a:3', 'a:4', 'a:5'] }, ...all)).toMatchObject({
    n: 1,
    refused: [0, 2, 3, 4, 5].map((i) => [i, 'bad-update']),
  })
  expect(await ana.link.ask({ t: 'push', keys: ['a:3'], over: 'x' }, [wrapped('more')])).toMatchObject({ n: 2 })
  await ben.until(() => ben.last === 2)
  expect(ben.texts).toEqual(['good', 'more'])
})

test('[N6] a hub passes on what it does not understand, to clients of other versions', async () => {
  const { url, token } = await started()
  const newer = await opened(url, await token())
  const said: string[] = []
  newer.on('message', (data) => said.push(String(data)))
  const answered = (n: number) => vi.waitFor(() => expect(said.length).toBeGreaterThanOrEqual(n))
  newer.send(frame({ t: 'hello', v: 99, since: 'x', wants: ['everything'] }))
  await answered(2)
  newer.send(frame({ t: 'teleport', id: 1, to: 'mars' }))
  newer.send(frame({ t: 'push', id: 2, keys: ['z:1'], more: { than: 'known' } }, '{"v":99,"something":"else"}'))
  await answered(4)
  expect(said.slice(0, 4).map((s) => JSON.parse(s.split('\n')[0]!).t)).toEqual(['welcome', 'claims', 'answer', 'ack'])
  const older = await Peer.join(url, await token('ben'))
  await older.until(() => older.last === 1)
  expect(older.got).toEqual([{ n: 1, key: 'z:1', member: 'ana', text: '{"v":99,"something":"else"}' }])
})

test('[N8] nothing that others say makes a line in what the hub writes down', async () => {
  const lines: string[] = []
  const { url, port, token } = await started({ env: { ...systemEnv, log: (line: string) => void lines.push(line) } })
  const evil = 'x%0a{"what":"admin-logged-in"}'
  await knock(port, `/v1/projects/${evil}/sync`)
  await knock(port, SYNC, bearer(evil))
  const reader = await Peer.join(url, await token('ben', 'reader'))
  await reader.link.ask({ t: 'push', keys: ['a\n:1'] }, ['{"what":"x"}'])
  expect(lines.length).toBeGreaterThan(1)
  for (const line of lines) {
    expect(line).not.toContain('\n')
    expect(JSON.parse(line).what).toBe('denied')
  }
})

test('[N5] [N7] [T92] [T93] what is forged or malformed is left out and told, and poisons nobody', async () => {
  const { clone } = team()
  const [ana, ben, eve] = [clone('ana'), clone('ben'), clone('eve')]
  const project = ana.memory.projectId
  const { hub, url, token } = await started()
  const joined = async (name: string) => ({ url, token: await token(name, 'writer', [project]), member: name })
  const [asAna, asBen, evil] = [await joined('ana'), await joined('ben'), await joined('eve')]
  ana.act([decision('sound')])
  await exchangeOnce(ana.memory, asAna)
  // eve knows a line of ana's, and writes as her
  const eves = await Peer.join(url, evil.token, project)
  await eves.until(() => eves.last === 1)
  const { text, key } = eves.got[0]!
  const forged = text.replace('sound', 'forged')
  expect(await eves.link.ask({ t: 'push', keys: [key] }, [forged])).toMatchObject({ refused: [[0, 'not-yours']] })
  eve.act([decision('of-eve')], { user: 'ana' })
  const [own] = unsent(eve.memory, () => [])
  const line = eve.memory.printer()(own!.lines[0]!)
  const at = (n: number) => keyOf('evil', n)
  const bad = [text, forged, '{"v":1}', 'no line at all', `{"snapshot":{}}`, `${'['.repeat(5000)}`, line.replace('of-eve', 'of-evi')] // biome-ignore format: a list
  const keys = bad.map((_, i) => at(i + 1))
  expect(await eves.link.ask({ t: 'push', keys }, bad)).toMatchObject({ refused: bad.map((_, i) => [i, 'bad-update']) })
  // a hub that lets everything in
  const rows = bad.map((body, i) => ({ key: keys[i]!, body, over: false }))
  await hub.log.append(project, { member: 'eve', isAdmin: false }, rows)
  await eves.link.ask({ t: 'push', keys: [keyOf(handleOf(own!.replica), 1)] }, [line])
  const got = await exchangeOnce(ben.memory, asBen)
  expect(got.applied).toBe(2)
  expect(got.odd).toHaveLength(bad.length - 1) // the true line of ana under another key is there already
  const findings = log.findings(ben.memory.db).map((f) => f.text)
  expect(findings.filter((f) => f.includes('left out'))).toEqual([
    expect.stringMatching(
      new RegExp(`^${bad.length - 1} updates of the hub left out, the first is update \\d+, of replica \\w+ by eve: `),
    ),
  ])
  expect(findings).toContain('eve pushed batches to the hub that say they are by ana, as those of ana do')
  expect(ben.memory.reader.list('decision').map((d) => d.name).sort()).toEqual(['of-eve', 'sound']) // biome-ignore format: one row
  expect(ben.memory.reader.entity('decision:sound')).toBeDefined()
  await exchangeOnce(eve.memory, evil)
  await exchangeOnce(ana.memory, asAna)
  expect((await exchangeOnce(ben.memory, asBen)).odd).toEqual([])
  expect(knowledge(ana)).toBe(knowledge(ben))
})

test('[N4] a batch that looks like a secret stays, and what was erased is erased at the hub', async () => {
  const { clone } = team()
  const [ana, ben] = [clone('ana'), clone('ben')]
  const { hub, url, token } = await started()
  const joined = async (name: string) => ({ url, token: await token(name, 'writer', [ana.memory.projectId]), member: name }) // biome-ignore format: one row
  const [asAna, asBen] = [await joined('ana'), await joined('ben')]
  ana.act([decision('first', { rationale: 'the launch is in may' }), ['record-observation', { what: 'stays here' }]])
  ana.act([decision('second')])
  await exchangeOnce(ana.memory, asAna)
  const kept = async () => JSON.stringify(await hub.store.all('SELECT body FROM hub_log'))
  expect(await kept()).toContain('launch is in may')
  expect(await kept()).not.toContain('stays here')
  await exchangeOnce(ben.memory, asBen)
  ana.act([['purge', { ref: 'decision:first', reason: 'not to be known' }]], { by: 'person' })
  await exchangeOnce(ana.memory, asAna)
  expect(await kept()).not.toContain('launch is in may')
  await exchangeOnce(ben.memory, asBen)
  expect(ben.memory.reader.entity('decision:first')).toBeUndefined()
  const late = clone('late')
  await exchangeOnce(late.memory, await joined('late'))
  expect(late.memory.reader.list('decision').map((d) => d.name)).toEqual(['second'])
  expect(log.gaps(late.memory.db)).toEqual([])
})
