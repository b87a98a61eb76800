import { once } from 'node:events'
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { type RawData, WebSocket, WebSocketServer } from 'ws'
import type { JsonObject } from '../../src/model/object.ts'
import { readFrame } from '../../src/travel/sync/hub-protocol.ts'

/** What went by of claims: what a client asked for, and what the hub answered. */
export interface Seen {
  readonly at: number
  readonly member: string
  readonly asked: JsonObject
  readonly answer?: JsonObject
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/**
 * A network between clients and hubs in which everything goes wrong. It has two parts, one behind the other:
 *
 * - of bytes: they come in small pieces and late, the connection stalls, and is cut in the middle of a frame;
 * - of WebSocket messages. TCP hides from those who use it that packets are lost, doubled and overtaken, so it is done
 *   to whole messages here: one is lost while the next ones arrive, comes twice, the second time much later, or is
 *   overtaken. What was on its way to the hub may also arrive after its client has hung up and come back.
 */
export class BadNetwork {
  readonly seen: Seen[] = []
  readonly counts = { connections: 0, cut: 0, lost: 0, doubled: 0, overtaken: 0, stalled: 0 }
  /** From now on nothing goes wrong. */
  isGood = false
  readonly #random: () => number
  readonly #hubs: () => readonly string[]
  readonly #memberOf: (authorization: string) => string

  private constructor(
    random: () => number,
    hubs: () => readonly string[],
    memberOf: (authorization: string) => string,
  ) {
    this.#random = random
    this.#hubs = hubs
    this.#memberOf = memberOf
  }

  /** `hubs`: those that are running; each connection goes to one of them. Its address for clients. */
  static async open(random: () => number, hubs: () => readonly string[], memberOf: (authorization: string) => string) {
    const network = new BadNetwork(random, hubs, memberOf)
    const messages = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    messages.on('connection', (ws, request) => network.#pass(ws, request.url!, request.headers.authorization!))
    await once(messages, 'listening')
    const { port } = messages.address() as AddressInfo
    const bytes = createServer((socket) => {
      network.counts.connections++
      const on = dial(port, '127.0.0.1')
      for (const [from, to] of [[socket, on], [on, socket]] as const) network.#carry(from, to) // biome-ignore format: one row
    })
    await once(bytes.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => {
      bytes.close()
      messages.close()
      for (const ws of messages.clients) ws.terminate()
    })
    return { network, url: `ws://127.0.0.1:${(bytes.address() as AddressInfo).port}/` }
  }

  #below(n: number): number {
    return this.#random() * n
  }

  #carry(from: Socket, to: Socket): void {
    const end = () => {
      from.destroy()
      to.destroy()
    }
    from.on('error', end).on('close', end)
    from.on('data', (bytes) => {
      from.pause()
      void this.#trickle(bytes, to, end).then(() => from.resume())
    })
  }

  async #trickle(bytes: Buffer, to: Socket, end: () => void): Promise<void> {
    for (let at = 0; at < bytes.length && !to.destroyed; ) {
      const roll = this.isGood ? 1 : this.#random()
      const size = roll < 0.1 ? 1 + this.#below(8) : roll < 0.5 ? 1 + this.#below(1400) : bytes.length
      at += to.write(bytes.subarray(at, at + size)) || to.writable ? size : bytes.length
      if (roll < 0.004) {
        this.counts.cut++
        end()
      } else if (roll < 0.01) {
        this.counts.stalled++
        await pause(this.#below(1500))
      } else if (roll < 0.3) await pause(this.#below(15))
    }
  }

  #pass(client: WebSocket, path: string, authorization: string): void {
    const hubs = this.#hubs()
    const member = this.#memberOf(authorization)
    if (hubs.length === 0) return void client.terminate()
    const hub = new WebSocket(new URL(path, hubs[Math.floor(this.#below(hubs.length))]), {
      headers: { authorization },
      perMessageDeflate: false,
    })
    const open = once(hub, 'open').catch(() => {})
    const asked = new Map<unknown, JsonObject>()
    const cut = () => client.terminate()
    client.on('error', cut).on('message', (data) => {
      const head = readFrame(data as Buffer)?.head
      if (head?.t === 'claim' || head?.t === 'release') {
        asked.set(head.id, head)
        this.seen.push({ at: Date.now(), member, asked: head })
      }
      void open.then(() => this.#mangle(data, hub, cut))
    })
    hub
      .on('error', cut)
      .on('close', cut)
      .on('message', (data) => {
        const answer = readFrame(data as Buffer)?.head
        const question = answer?.t === 'answer' && asked.get(answer.id)
        if (question) this.seen.push({ at: Date.now(), member, asked: question, answer: answer! })
        this.#mangle(data, client, cut)
      })
    // who hangs up may be believed there for a while, and what is on its way still arrives
    client.on('close', () =>
      setTimeout(() => hub.terminate(), this.isGood || this.#random() < 0.5 ? 0 : this.#below(1500)),
    )
  }

  #mangle(data: RawData, to: WebSocket, cut: () => void): void {
    const deliver = () => to.readyState === to.OPEN && to.send(String(data))
    const roll = this.isGood ? 1 : this.#random()
    if (roll < 0.01) {
      this.counts.lost++
      // without it there is no answer, until somebody gives up
      setTimeout(cut, this.#below(1000))
    } else if (roll < 0.04) {
      this.counts.doubled++
      deliver()
      setTimeout(deliver, this.#below(800))
    } else if (roll < 0.07) {
      this.counts.overtaken++
      setTimeout(deliver, this.#below(150))
    } else deliver()
  }
}
