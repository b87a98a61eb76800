import type { Socket } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { HocuspocusProvider, HocuspocusProviderWebsocket } from '@hocuspocus/provider'
import { Server } from '@hocuspocus/server'
import { expect, onTestFinished, test, vi } from 'vitest'
import * as Y from 'yjs'
import type { YjsReport } from '../../src/index.ts'
import { documentOf } from '../../src/travel/formats/export/json.ts'
import { openTestMemory, seededBytes, type TestMemory } from '../helpers.ts'
import { runs, SEED } from '../runs.ts'

/** A stock server on loopback, gone after the test. */
async function serve() {
  const server = new Server({ port: 0, address: '127.0.0.1', quiet: true, stopOnSignals: false })
  await server.listen()
  onTestFinished(() => server.destroy())
  const sockets = new Set<Socket>()
  server.httpServer.on('connection', (socket) => sockets.add(socket))
  return Object.assign(server, {
    cutAll() {
      for (const socket of sockets) socket.destroy()
    },
  })
}

/** A stock client: its document, and its connection, which can be cut. */
async function connect(server: Server, name = 'shop') {
  const doc = new Y.Doc()
  const socket = new HocuspocusProviderWebsocket({ url: server.webSocketURL, delay: 10, minDelay: 10, jitter: false })
  const provider = new HocuspocusProvider({ websocketProvider: socket, name, document: doc })
  provider.attach()
  onTestFinished(() => {
    provider.destroy()
    socket.destroy()
  })
  if (!provider.isSynced) await new Promise<void>((resolve) => provider.on('synced', () => resolve()))
  return {
    doc,
    provider,
    async cut() {
      socket.disconnect()
      await vi.waitFor(() => expect(socket.status).toBe('disconnected'), { interval: 1 })
    },
    connect: () => void socket.connect(),
    entities: doc.getMap<Y.Map<unknown>>('entities'),
    links: doc.getMap<Y.Map<unknown>>('links'),
    fields: (id: string) => doc.getMap<Y.Map<unknown>>('entities').get(id)?.get('fields') as Y.Map<unknown> | undefined,
  }
}
type Client = Awaited<ReturnType<typeof connect>>

const heldBy = ({ doc }: { doc: Y.Doc }) => ({
  entities: doc.getMap('entities').toJSON(),
  links: doc.getMap('links').toJSON(),
})
function saidBy(t: TestMemory) {
  const { entities, links } = documentOf(t.memory, {})
  const byId = (all: readonly { id: string }[]) => Object.fromEntries(all.map((e) => [e.id, e]))
  return { entities: byId(entities), links: byId(links) }
}

/** Everybody is connected, has nothing to send, and says what the memory says. */
const agree = (t: TestMemory, clients: readonly Client[]) =>
  vi.waitFor(
    () => {
      for (const c of clients) expect([c.provider.isSynced, c.provider.hasUnsyncedChanges]).toEqual([true, false])
      for (const c of clients) expect(heldBy(c)).toEqual(saidBy(t))
    },
    { timeout: 8_000, interval: 5 },
  )

/** Where the clients say something else than the memory. */
function differences(t: TestMemory, clients: readonly Client[]): string {
  const said = saidBy(t)
  const lines: string[] = []
  for (const [n, c] of clients.entries())
    for (const root of ['entities', 'links'] as const)
      for (const id of new Set([...Object.keys(said[root]), ...Object.keys(heldBy(c)[root])])) {
        const [a, b] = [said[root][id], heldBy(c)[root][id]]
        if (!isDeepStrictEqual(a, b))
          lines.push(`client ${n}, ${id}\n  memory ${JSON.stringify(a)}\n  client ${JSON.stringify(b)}`)
      }
  return lines.join('\n')
}

async function room() {
  const t = openTestMemory()
  const server = await serve()
  const reports: YjsReport[] = []
  const own = await connect(server)
  const live = await t.library.yjs(own.doc, { onReport: (r) => reports.push(r) })
  onTestFinished(() => live.close())
  const [ben, cleo] = [await connect(server), await connect(server)]
  return { t, server, own, ben, cleo, reports, all: [own, ben, cleo] }
}

const entryOf = ({ fields, ...rest }: { fields: object; [key: string]: unknown }) =>
  new Y.Map<unknown>([...Object.entries(rest), ['fields', new Y.Map(Object.entries(fields))]])

test('[J1] two stock clients at a stock server and a memory: what one of them writes, all of them have', async () => {
  const { t, ben, cleo, all, reports } = await room()
  t.act([
    ['record-decision', { name: 'cents', description: 'Money in cents' }],
    ['record-concept', { name: 'ledger', definition: 'What is owed' }],
    ['link-entities', { from: 'cents', to: 'ledger', type: 'informs' }],
  ])
  await agree(t, all)
  ben.fields('decision:cents')!.set('rationale', 'floats drift')
  cleo.entities.set('new', entryOf({ kind: 'learning', fields: { title: 'Yen have no cents' } }))
  await vi.waitFor(() => expect(t.get('learning:yen-have-no-cents')?.live).toBe(true))
  await vi.waitFor(() => expect(t.get('cents')!.fields.rationale).toBe('floats drift'))
  await agree(t, all)
  cleo.fields('decision:cents')!.set('impact', 99)
  await vi.waitFor(() => expect(reports.map((r) => r.code)).toEqual(['refused']))
  await agree(t, all)
  expect(ben.fields('decision:cents')!.has('impact')).toBe(false)
})

test('[J4] connections are cut, also all at once by the server; both sides write on; afterwards all are equal', async () => {
  const { t, own, ben, cleo, all, server } = await room()
  t.act([['record-decision', { name: 'cents', description: 'Money in cents' }]])
  await agree(t, all)
  await own.cut()
  t.act([['record-decision', { name: 'cents', description: 'All money in cents' }]])
  ben.fields('decision:cents')!.set('rationale', 'floats drift')
  await cleo.cut()
  cleo.fields('decision:cents')!.set('description', 'Money in whole cents')
  t.act([['record-learning', { title: 'Yen have no cents' }]])
  own.connect()
  cleo.connect()
  await agree(t, all)
  expect(t.get('cents')!.fields.rationale).toBe('floats drift')
  // a cut that nobody asked for: the clients come back by themselves
  const gone = all.map((c) => new Promise<void>((resolve) => c.provider.on('disconnect', () => resolve())))
  server.cutAll()
  ben.fields('decision:cents')!.set('impact', 7)
  t.act([['record-decision', { name: 'queue', description: 'Jobs wait' }]])
  await Promise.all(gone)
  await agree(t, all)
  expect(t.get('cents')!.fields.impact).toBe(7)
})

test('[J4] any order of writes, cuts and reconnects ends in one document and the same rows', {
  tags: ['property'],
}, async () => {
  const { t, all, ben, cleo, own } = await room()
  for (let run = 0, seed = SEED; run < runs(6, 60); run++, seed++) {
    const bytes = seededBytes(seed)
    const pick = (n: number) => bytes(1)[0]! % n
    const done: string[] = [`seed ${seed}`]
    const name = (n: number) => `d${n}`
    for (let step = 0; step < 25; step++) {
      const [who, id, value] = [pick(3), pick(6), `v${run}-${step}`]
      const client = [own, ben, cleo][who]!
      const what = pick(8)
      done.push(`${step}: ${who} ${what} ${id}`)
      t.clock.now++
      if (what === 0) await client.cut()
      else if (what === 1) client.connect()
      else if (client === own) {
        const there = t.get(`decision:${name(id)}`)
        if (what === 2 && there?.live) t.act([['delete-decision', { ref: there.id }]])
        else t.act([['record-decision', { name: name(id), description: value, anew: there?.live === false }]])
      } else if (what === 2) client.entities.delete(`decision:${name(id)}`)
      else if (what === 3) client.entities.set(value, entryOf({ kind: 'learning', fields: { title: value } }))
      else if (what === 4)
        client.links.set(
          value,
          entryOf({ from: `decision:${name(id)}`, to: `decision:${name(pick(6))}`, type: 'informs', fields: {} }),
        )
      else
        client
          .fields(`decision:${name(id)}`)
          ?.set(['description', 'rationale', 'topics'][what % 3]!, what % 3 === 2 ? [value] : value)
      if (pick(3) === 0) await new Promise(setImmediate)
    }
    for (const c of all) c.connect()
    await agree(t, all).catch((error) => expect.fail(`${done.join('\n')}\n${differences(t, all)}\n${error}`))
  }
  expect(t.memory.faults()).toEqual([])
})
