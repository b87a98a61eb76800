import type { WebSocket } from 'ws'
import type { JsonObject } from '../../model/object.ts'
import { type Frame, PROTOCOL, printFrame, readFrame, replicaOfKey } from '../sync/hub-protocol.ts'
import type { Token } from './access-tokens.ts'
import type { HubClaims } from './claims.ts'
import { digestOf, type HubLog, isEnvelope, type Kept, type Page, type Pushed } from './log.ts'
import type { Follower, Room } from './room.ts'
import { type HubStore, MOST_TOLD } from './store.ts'

const HELLO_MS = 10_000
/** So much of one client is taken in at a time; a frame counts for something, however small. */
const MOST_TAKING = 1024 * 1024
const FRAME_COST = 32 * 1024
/** What one frame may push. */
const MOST_PUSHED = 2000
const MOST_ASKED = 200

export const CLOSE = { revoked: 4401, noHello: 4408, badFrame: 4400 } as const

/** What a connection needs of the process it belongs to. */
export interface Host {
  readonly store: HubStore
  readonly log: HubLog
  readonly claims: HubClaims
  readonly logId: string
  now(): number
  failed(where: string, error: unknown): void
  deny(project: string, member: string, code: string): Promise<void>
  grown(room: Room, head: number): void
}

/** One client: takes its frames in their order, and sends it the log from its cursor on, as fast as it reads. */
export class Connection implements Follower {
  readonly id: string
  readonly token: Token
  readonly #hub: Host
  readonly #room: Room
  readonly #ws: WebSocket
  readonly #own = new Set<number>()
  #cursor: number | undefined
  #met = 0
  #sending = false
  readonly #works = new Set<Promise<void>>()
  #greeted: Promise<void> | undefined
  /** What is being taken in at the moment, in bytes. */
  #taking = 0
  #helloTimer: NodeJS.Timeout | undefined
  isAlive = true

  constructor(hub: Host, room: Room, ws: WebSocket, token: Token, id: string) {
    this.#hub = hub
    this.#room = room
    this.#ws = ws
    this.token = token
    this.id = id
    this.#helloTimer = setTimeout(() => this.close(CLOSE.noHello, 'no hello'), HELLO_MS)
    ws.on('pong', () => (this.isAlive = true))
    ws.on('error', () => ws.terminate()) // an oversized or broken frame: ws has said so to the client
    ws.on('close', () => clearTimeout(this.#helloTimer))
    ws.on('message', (data, isBinary) => {
      this.isAlive = true
      const bytes = data as Buffer
      const frame = isBinary ? undefined : readFrame(bytes)
      if (!frame) return this.close(CLOSE.badFrame, 'not a frame')
      this.#taking += bytes.length + FRAME_COST
      // the client waits, and what it sends stays on its side
      if (this.#taking > MOST_TAKING) ws.pause()
      const work = this.#take(frame)
        .catch((error: unknown) => {
          this.#hub.failed('frame', error)
          this.#answer(frame.head, { code: 'failed' })
        })
        .finally(() => {
          this.#works.delete(work)
          this.#taking -= bytes.length + FRAME_COST
          if (this.#taking <= MOST_TAKING) ws.resume()
        })
      this.#works.add(work)
    })
  }

  get project(): string {
    return this.#room.project
  }

  get #member(): string {
    return this.token.member
  }

  /** Ends it, after what it has begun. */
  async finish(): Promise<void> {
    this.#ws.pause()
    await Promise.all(this.#works)
    this.close(1001, 'the hub goes down')
  }

  close(code: number, why: string): void {
    this.#ws.close(code, why)
  }

  terminate(): void {
    this.#ws.terminate()
  }

  ping(): void {
    this.isAlive = false
    this.#ws.ping()
  }

  relay(frame: string): void {
    if (this.#cursor !== undefined && this.#ws.bufferedAmount < 1024 * 1024) this.#ws.send(frame)
  }

  /** Sends what is missing, page by page. While one goes out to a client that is far behind, the next one is read. */
  wake(): void {
    if (this.#sending || this.#cursor === undefined) return
    this.#sending = true
    void (async () => {
      try {
        let next: Promise<Page> | undefined
        while (this.#ws.readyState === this.#ws.OPEN && this.#cursor! < this.#room.end) {
          const at = this.#cursor!
          const { items, last } = await (next ?? this.#page(at))
          if (last === at) break
          this.#cursor = last
          const sent = this.#send(at, items, last)
          next = last < this.#met ? this.#page(last) : undefined
          next?.catch(() => {}) // it is waited for, unless the client has gone
          await sent
        }
      } catch (error) {
        this.#hub.failed('read', error)
        this.close(1011, 'the log cannot be read')
      } finally {
        this.#sending = false
      }
    })()
  }

  /** The room may keep at hand what was erased before this client came. */
  #page(at: number): Promise<Page> {
    return at < this.#met ? this.#hub.log.page(this.project, at) : this.#room.page(at)
  }

  #send(after: number, items: readonly Kept[], last: number): Promise<void> {
    const others = items.filter(({ n, body }) => !this.#own.delete(n) && body !== null)
    const head = {
      t: 'updates',
      after,
      last,
      mark: items.at(-1)?.digest,
      items: others.map(({ n, key, member }) => [n, key, member]),
    }
    const bodies = others.map((o) => o.body!)
    const frame = printFrame(head, bodies)
    return new Promise((resolve) => this.#ws.send(frame, () => resolve()))
  }

  #say(head: object): void {
    this.#ws.send(printFrame(head))
  }

  #answer({ id, t }: JsonObject, said: object): void {
    this.#say({ t: t === 'push' ? 'ack' : 'answer', id, ...said })
  }

  async #take(frame: Frame): Promise<void> {
    const { head } = frame
    if (head.t === 'hello') return (this.#greeted ??= this.#hello(head))
    if (!this.#greeted) return this.close(CLOSE.noHello, 'no hello')
    if (this.#cursor === undefined) await this.#greeted
    if (head.t === 'push') return this.#push(frame)
    if (head.t === 'presence') return this.#presence(head)
    if (head.t === 'lines') return this.#lines(head)
    if (head.t === 'claim' || head.t === 'release') return this.#claim(head)
    // a newer client asks for something: it goes on without
    this.#answer(head, { code: 'unknown' })
  }

  async #hello({ since, mark, top }: JsonObject): Promise<void> {
    clearTimeout(this.#helloTimer)
    const { log } = this.#hub
    const end = await log.head(this.project)
    this.#room.rise(end)
    this.#met = end
    const asked = typeof since === 'number' && Number.isSafeInteger(since) && since > 0 ? since : 0
    // a cursor of another log, or of this one before it was brought back from a backup; so with what was acknowledged
    const stands = async (n: unknown, digest: unknown) =>
      typeof n !== 'number' || n < 1 || (await log.digestAt(this.project, Math.floor(n))) === digest
    const fits = (await stands(asked, mark)) && (!Array.isArray(top) || (await stands(top[0], top[1])))
    this.#say({
      t: 'welcome',
      v: PROTOCOL,
      log: this.#hub.logId,
      head: end,
      member: this.#member,
      role: this.token.role,
      now: this.#hub.now(),
      relays: true,
      ...(fits ? {} : { reset: true }),
    })
    this.#cursor = fits ? asked : 0
    this.#room.followers.add(this)
    this.#say({ t: 'claims', held: await this.#hub.claims.held(this.project) })
    this.wake()
  }

  async #push({ head, updates }: Frame): Promise<void> {
    const keys: unknown[] = Array.isArray(head.keys) ? head.keys : []
    const over = new Set(Array.isArray(head.over) ? head.over : [])
    if (this.token.role === 'reader') {
      await this.#hub.deny(this.project, this.#member, 'read-only')
      return this.#answer(head, { code: 'read-only' })
    }
    if (keys.length !== updates.length || updates.length === 0 || updates.length > MOST_PUSHED)
      return this.#answer(head, { code: 'bad-push' })
    const relayed = head.relay === true
    // what is none goes on without a key, and is refused
    const keyAt = (i: number) => (isEnvelope(updates[i]!, String(keys[i])) ? String(keys[i]) : '')
    const pushed = updates.map((body, i): Pushed => ({ key: keyAt(i), body, over: over.has(i), relayed }))
    const pusher = { member: this.#member, isAdmin: this.token.role === 'admin' }
    const { places, head: now } = await this.#hub.log.append(this.project, pusher, pushed)
    const refused = places.flatMap((place, i) => (typeof place === 'string' ? [[i, place]] : []))
    for (const place of places) if (typeof place === 'number' && place > this.#cursor!) this.#own.add(place)
    const last = places.findLastIndex((place) => typeof place === 'number')
    const top = last < 0 ? {} : { top: [places[last], digestOf(updates[last]!)] }
    this.#answer(head, { n: now, ...top, ...(refused.length > 0 ? { refused } : {}) })
    if (places.some((place) => place === now)) this.#hub.grown(this.#room, now)
    if (refused.length > 0) await this.#hub.deny(this.project, this.#member, String(refused[0]![1]))
  }

  /** Gives lines that a client misses, and has the other members look for those that are not here. */
  async #lines(head: JsonObject): Promise<void> {
    const all = Array.isArray(head.keys) ? head.keys : []
    const keys = all.filter((key): key is string => typeof key === 'string').slice(0, MOST_ASKED)
    const found = await this.#hub.log.bodiesOf(this.project, keys)
    this.#answer(head, { lines: found.map((f) => f.body) })
    const there = new Set(found.map((f) => f.key))
    const wanted = keys.filter((key) => !there.has(key) && replicaOfKey(key) !== undefined)
    if (wanted.length === 0) return
    const text = JSON.stringify({ t: 'wanted', from: this.id, keys: wanted })
    if (Buffer.byteLength(text) < MOST_TOLD) await this.#hub.store.tell('wanted', `${this.project} ${text}`)
  }

  async #presence({ data }: JsonObject): Promise<void> {
    const text = JSON.stringify({ t: 'presence', from: this.id, member: this.#member, data })
    if (Buffer.byteLength(text) < MOST_TOLD) await this.#hub.store.tell('presence', `${this.project} ${text}`)
  }

  async #claim(head: JsonObject): Promise<void> {
    if (this.token.role === 'reader') return this.#answer(head, { code: 'read-only' })
    const answer = await (head.t === 'claim'
      ? this.#hub.claims.claim(this.project, this.#member, head)
      : this.#hub.claims.release(this.project, this.#member, head))
    this.#answer(head, answer)
    if ('code' in answer) return
    await this.#hub.store.tell('claims', this.project)
  }
}
