// @module-tag long
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { addToken } from '../../src/travel/hub/access-tokens.ts'
import { openPostgresStore } from '../../src/travel/hub/postgres.ts'
import { openSqliteStore } from '../../src/travel/hub/sqlite.ts'
import { exchangeOnce } from '../../src/travel/sync/hub-exchange.ts'
import { type Clone, decision, knowledge, team } from '../sync/clones.ts'
import { hubProcess, Peer, quiet, sqlitePath, wrapped } from './harness.ts'
import { findPostgres, ownPostgres, type Postgres } from './postgres.ts'

let found: Postgres | { missing: string }
beforeAll(async () => {
  found = await findPostgres()
  if ('missing' in found) console.log(`skipped on PostgreSQL: ${found.missing}`)
})
afterAll(() => {
  if (!('missing' in found)) found.stop()
})

const KILLS = 5
const ACKNOWLEDGED = 30

test.for(['SQLite', 'PostgreSQL'])(
  '[N1] [N3] on %s a hub that is killed as it takes updates has lost none that it acknowledged',
  async (which, { skip }) => {
    if (which === 'PostgreSQL' && 'missing' in found) return skip(found.missing)
    const place = which === 'SQLite' ? sqlitePath() : await (found as Postgres).database()
    const { clone } = team()
    const clones = ['ana', 'ben', 'cem'].map((name) => clone(name)) as [Clone, Clone, Clone]
    const project = clones[0].memory.projectId
    const store =
      which === 'SQLite' ? await openSqliteStore(place) : await openPostgresStore(place, quiet, { listen: false })
    const tokens: string[] = []
    for (const member of ['ana', 'ben', 'cem', 'raw'])
      tokens.push((await addToken(store, quiet, { member, role: 'writer', projects: [project] })).token)
    await store.close()
    const at = { dir: tmpdir(), env: { ...process.env, TIDEMARK_HUB_STORE: place } }
    const joined = (url: string, i: number) => ({ url, token: tokens[i]!, member: clones[i]!.name })

    const acknowledged: string[] = []
    let count = 0
    for (let kill = 0; kill < KILLS; kill++) {
      const hub = await hubProcess(at, '--port', '0')
      const url = `${hub.url.replace('http', 'ws')}/`
      const peer = await Peer.join(url, tokens[3]!, project)
      const before = acknowledged.length
      const pushing = Array.from({ length: 4 }, async (_, lane) => {
        for (;;) {
          const text = `update ${++count} of lane ${lane}`
          await peer.link.ask({ t: 'push', keys: [`raw${lane}:${count}`] }, [wrapped(text)])
          acknowledged.push(text)
          if (acknowledged.length - before === ACKNOWLEDGED) hub.child.kill('SIGKILL')
        }
      })
      const recording = clones.map(async (c, i) => {
        for (let n = 0; ; n++) {
          c.act([decision(`of ${c.name} ${kill} ${n}`), decision('shared', { tags: [`${c.name}${n}`] })])
          await exchangeOnce(c.memory, joined(url, i))
        }
      })
      const ends = await Promise.allSettled([...pushing, ...recording])
      // nobody stopped for another reason than that the hub was gone
      for (const end of ends) expect(end).toMatchObject({ status: 'rejected', reason: { code: 'hub-unreached' } })
      await hub.ended
    }

    const hub = await hubProcess(at, '--port', '0')
    const url = `${hub.url.replace('http', 'ws')}/`
    for (const _ of [1, 2]) for (const [i, c] of clones.entries()) await exchangeOnce(c.memory, joined(url, i))
    const reader = new Peer(url, tokens[3]!, project)
    const { head } = await reader.hello()
    await reader.until(() => reader.last === head)
    expect(acknowledged.length).toBeGreaterThanOrEqual(KILLS * ACKNOWLEDGED)
    expect(acknowledged.filter((text) => !reader.texts.includes(text))).toEqual([])
    expect(reader.got.map((g) => g.n)).toEqual(reader.got.map((_, i) => i + 1))
    const [first, ...others] = clones.map(knowledge)
    for (const other of others) expect(other === first).toBe(true)
    expect(clones[0].memory.reader.list('decision').length).toBeGreaterThan(3 * KILLS)
    hub.child.kill('SIGTERM')
    expect(await hub.ended).toBe(0)
  },
)

test('[N1] [N3] a PostgreSQL that is killed under load takes no hub with it, and is heard again when it is back', async ({
  skip,
}) => {
  const own = await ownPostgres()
  if ('missing' in own) return skip(own.missing)
  onTestFinished(() => own.stop())
  const store = await openPostgresStore(await own.database(), quiet)
  onTestFinished(() => store.close())
  let isOver = false
  let answers = 0
  const lanes = Array.from({ length: 16 }, async () => {
    while (!isOver)
      try {
        await store.transaction((q) => q.all('SELECT ? AS n', 1))
        answers++
      } catch {
        await new Promise((resolve) => setImmediate(resolve)) // it is away
      }
  })
  for (let kill = 0; kill < KILLS; kill++) {
    const back = new Promise<void>((done) => store.hear((topic) => topic === 'again' && done()))
    own.kill()
    own.start()
    await back
    const before = answers
    await vi.waitFor(() => expect(answers).toBeGreaterThan(before), 10_000)
    const heard = new Promise<string>((done) => store.hear((topic, text) => topic === 'log' && done(text)))
    await store.tell('log', `project ${kill}`)
    expect(await heard).toBe(`project ${kill}`)
  }
  isOver = true
  await Promise.all(lanes)
})
