import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { openTestMemory } from '../../../test/helpers.ts'
import { exchangeOnce } from './hub-exchange.ts'
import { HubLink } from './hub-link.ts'
import { PROTOCOL } from './hub-protocol.ts'

test('a link that was closed hears nothing more, and what waits for an answer fails at once', async () => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => server.close())
  await once(server, 'listening')
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
  const heard: string[] = []
  const link = new HubLink({ url, token: 'of-no-use' }, 'p', {
    frame: ({ head }) => heard.push(String(head.t)),
    gone: () => heard.push('gone'),
  })
  const [socket] = (await once(server, 'connection')) as [WebSocket]
  const said = once(socket, 'message')
  const hello = link.hello(0, undefined)
  const failing = expect(hello).rejects.toMatchObject({ code: 'hub-unreached' })
  await said
  link.close()
  await failing
  await expect(link.ask({ t: 'push' })).rejects.toMatchObject({ code: 'hub-unreached' })
  socket.send(JSON.stringify({ t: 'welcome', v: PROTOCOL, log: 'l', head: 0 }))
  socket.close()
  await once(socket, 'close')
  expect(heard).toEqual([])
})

test('[N3] what is lost right behind the welcome fails the exchange; it does not wait for ever', async () => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => server.close())
  await once(server, 'listening')
  server.on('connection', (socket: WebSocket, { socket: bytes }: IncomingMessage) =>
    socket.once('message', () => {
      bytes.cork() // both come to the client in one piece
      socket.send(JSON.stringify({ t: 'welcome', v: PROTOCOL, log: 'l', head: 9, member: 'ana', role: 'writer' }))
      socket.send(JSON.stringify({ t: 'updates', after: 7, last: 9, items: [] }))
      bytes.uncork()
    }),
  )
  const { memory } = openTestMemory()
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
  const late = new Promise((done) => setTimeout(done, 5_000, 'nothing came').unref())
  const exchanged = exchangeOnce(memory, { url, token: 'of-no-use', member: 'ana' }).catch((error) => error.code)
  expect(await Promise.race([exchanged, late])).toBe('hub-unreached')
})
