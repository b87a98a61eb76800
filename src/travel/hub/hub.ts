import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import type { Env } from '../../base/env.ts'
import { messageOf } from '../../base/errors.ts'
import { keptIn } from '../../base/lookup.ts'
import { isProjectId } from '../../model/names.ts'
import { COMPRESSION, MOST_FRAME } from '../sync/hub-protocol.ts'
import { findToken, isLive, reaches, type Token, tokensOf } from './access-tokens.ts'
import { HubClaims } from './claims.ts'
import { CLOSE, Connection, type Host } from './connection.ts'
import { HubLog } from './log.ts'
import type { Limits } from './quotas.ts'
import { Room } from './room.ts'
import type { HubStore } from './store.ts'

export interface HubOptions {
  store: HubStore
  env: Env
  host?: string
  port?: number
  limits?: Limits
  /** The address of a caller is the last one in X-Forwarded-For: a proxy stands before the hub. */
  behindProxy?: boolean
}

/** So many wrong tokens of one address, or tries with one that no longer holds, within a minute; then it is not said any more why. */
const MOST_DENIED = 10
const MINUTE_MS = 60_000
/** A request is complete within this time, or its connection ends. */
const REQUEST_MS = 10_000
/** Who is asked about tokens at one moment. */
const MOST_ASKING = 200
const MOST_CONNECTIONS = 20_000
const TOKENS_MS = 2000
const PING_MS = 30_000
/** How often a process looks for what others have appended: rarely where it is told. */
const LOOK_MS = 200
const LOOK_RARELY_MS = 5000
const CLOSE_MS = 5000

const PATH = /^\/v1\/projects\/([^/?]{1,64})\/sync$/

type Refusal = { status: 400 | 401 | 403 | 404 | 429 | 503; code: string }

/** One process of a hub. It keeps nothing that another one would need. */
export class Hub implements Host {
  readonly store: HubStore
  readonly log: HubLog
  readonly claims: HubClaims
  logId = ''
  readonly #env: Env
  readonly #options: HubOptions
  readonly #rooms = new Map<string, Room>()
  readonly #connections = new Set<Connection>()
  readonly #http: Server
  readonly #ws: WebSocketServer
  #denied = new Map<string, number>()
  #asking = 0
  #count = 0
  #timers: NodeJS.Timeout[] = []
  #looked = 0
  #closing: Promise<void> | undefined

  constructor(options: HubOptions) {
    this.store = options.store
    this.#env = options.env
    this.#options = options
    this.log = new HubLog(options.store, options.env, options.limits)
    this.claims = new HubClaims(options.store)
    const waits = { headersTimeout: REQUEST_MS, requestTimeout: REQUEST_MS, connectionsCheckingInterval: 1000 }
    this.#http = createServer({ ...waits, maxHeaderSize: 8192, keepAliveTimeout: 5000 }, (request, response) => {
      void this.#answer(request).then(({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' })
        response.end(body)
      })
    })
    this.#http.maxConnections = MOST_CONNECTIONS
    this.#http.on('upgrade', (request, socket, head) => void this.#upgrade(request, socket, head))
    this.#ws = new WebSocketServer({ noServer: true, maxPayload: MOST_FRAME, perMessageDeflate: COMPRESSION })
  }

  async start(): Promise<{ port: number }> {
    this.logId = await this.log.id()
    this.store.hear((topic, text) => this.#hear(topic, text))
    await new Promise<void>((resolve, reject) => {
      this.#http.once('error', reject)
      this.#http.listen(this.#options.port ?? 0, this.#options.host ?? '127.0.0.1', resolve)
    })
    const every = (ms: number, body: () => void | Promise<void>) =>
      void this.#timers.push(setInterval(() => void Promise.resolve(body()).catch((e) => this.failed('timer', e)), ms))
    every(LOOK_MS, () => this.#look())
    every(TOKENS_MS, () => this.#checkTokens())
    every(PING_MS, () => this.#pingAll())
    every(MINUTE_MS, () => this.#denied.clear())
    return { port: (this.#http.address() as AddressInfo).port }
  }

  /** Takes nothing new, finishes what has begun, and ends. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      for (const timer of this.#timers) clearInterval(timer)
      this.#http.close()
      const terminate = () => this.#connections.forEach((connection) => void connection.terminate())
      const late = setTimeout(terminate, CLOSE_MS)
      await Promise.all([...this.#connections].map((connection) => connection.finish()))
      clearTimeout(late)
      this.#http.closeIdleConnections()
      const gone = setTimeout(() => {
        terminate()
        this.#http.closeAllConnections()
      }, 500)
      await new Promise((resolve) => this.#ws.close(resolve))
      clearTimeout(gone)
      await this.store.close()
    })()
    return this.#closing
  }

  now(): number {
    return this.#env.now()
  }

  failed(where: string, error: unknown): void {
    this.#say('failed', { where, why: messageOf(error) })
  }

  /** One line of JSON: nothing that others have said can look like another line. */
  #say(what: string, said: object): void {
    this.#env.log(JSON.stringify({ at: new Date(this.#env.now()).toISOString(), what, ...said }))
  }

  async deny(project: string, member: string, code: string): Promise<void> {
    this.#say('denied', { project: isProjectId(project) ? project : '', member, code })
    await this.log.audit(project, member, 'denied', { code })
  }

  /** The log of a project has grown here: the others are told. */
  grown(room: Room, head: number): void {
    room.rise(head)
    this.store.tell('log', `${room.project} ${head}`).catch((error: unknown) => this.failed('tell', error))
  }

  #hear(topic: string, text: string): void {
    const [project = '', ...rest] = text.split(' ')
    const room = this.#rooms.get(project)
    const said = rest.join(' ')
    if (topic === 'again') this.#looked = 0
    else if (topic === 'revoked') void this.#checkTokens().catch((error) => this.failed('tokens', error))
    else if (!room) return
    else if (topic === 'log') room.rise(Number(said))
    else if (topic === 'presence' || topic === 'wanted')
      this.#relay(room, said, (JSON.parse(said) as { from: string }).from)
    else if (topic === 'claims')
      void this.claims
        .held(project)
        .then((held) => this.#relay(room, JSON.stringify({ t: 'claims', held })))
        .catch((error) => this.failed('claims', error))
  }

  #relay(room: Room, frame: string, except?: string): void {
    for (const follower of room.followers) if (follower.id !== except) follower.relay(frame)
  }

  /** Looks for what other processes have appended and nobody has told. */
  async #look(): Promise<void> {
    const now = this.#env.now()
    if (this.#rooms.size === 0 || (this.store.tells && Math.abs(now - this.#looked) < LOOK_RARELY_MS)) return
    this.#looked = now
    for (const [project, head] of await this.log.heads([...this.#rooms.keys()])) {
      const room = this.#rooms.get(project)
      room?.rise(head)
      if (this.store.tells) room?.rest()
    }
  }

  async #checkTokens(): Promise<void> {
    const open = [...this.#connections] // whoever comes while this is asked has just been asked for theirs
    const ids = [...new Set(open.map((c) => c.token.id))]
    const now = this.#env.now()
    const live = new Set((await tokensOf(this.store, ids)).filter((t) => isLive(t, now)).map((t) => t.id))
    for (const c of open) if (!live.has(c.token.id)) c.close(CLOSE.revoked, 'the token was revoked or has expired')
  }

  #pingAll(): void {
    for (const connection of this.#connections)
      if (connection.isAlive) connection.ping()
      else connection.terminate()
  }

  #addressOf(request: IncomingMessage): string {
    const forwarded = this.#options.behindProxy ? request.headers['x-forwarded-for'] : undefined
    const [last = ''] = String(forwarded ?? '')
      .split(',')
      .slice(-1)
    return last.trim().slice(0, 64) || (request.socket.remoteAddress ?? '')
  }

  /** Who asks, if the token that they show holds: then nobody else's wrong ones matter. */
  async #tokenOf(request: IncomingMessage): Promise<Token | Refusal> {
    if (this.#asking >= MOST_ASKING) return { status: 503, code: 'busy' }
    this.#asking++
    try {
      const [, shown] = /^Bearer (\S{1,200})$/.exec(request.headers.authorization ?? '') ?? []
      const token = shown === undefined ? undefined : await findToken(this.store, shown)
      if (token && isLive(token, this.#env.now())) return token
      const whose = token ? `token ${token.id}` : this.#addressOf(request)
      const tries = this.#denied.get(whose) ?? 0
      if (tries >= MOST_DENIED) return { status: 429, code: 'too-many-attempts' }
      if (this.#denied.size < 10_000) this.#denied.set(whose, tries + 1)
      const code = !token ? 'no-token' : token.revoked === null ? 'expired' : 'revoked'
      await this.deny('', token?.member ?? '', code)
      return { status: 401, code }
    } finally {
      this.#asking--
    }
  }

  async #admit(request: IncomingMessage): Promise<{ token: Token; project: string } | Refusal> {
    const [, project] = PATH.exec(request.url ?? '') ?? []
    if (!isProjectId(project)) return { status: 404, code: 'no-such-path' }
    // programs send no Origin: a page in somebody's browser is not to connect
    if (request.headers.origin !== undefined) return { status: 403, code: 'browser' }
    const token = await this.#tokenOf(request)
    if ('status' in token) return token
    if (reaches(token, project)) return { token, project }
    await this.deny(project, token.member, 'wrong-project')
    return { status: 403, code: 'wrong-project' }
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy())
    let admitted: { token: Token; project: string } | Refusal
    try {
      admitted = this.#closing ? { status: 503, code: 'closing' } : await this.#admit(request)
    } catch (error) {
      this.failed('upgrade', error)
      admitted = { status: 503, code: 'failed' }
    }
    if ('status' in admitted) {
      const body = JSON.stringify({ error: admitted.code })
      socket.end(
        `HTTP/1.1 ${admitted.status} Refused\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      )
      setTimeout(() => socket.destroy(), 1000).unref()
      return
    }
    const { token, project } = admitted
    if (socket.destroyed) return
    this.#ws.handleUpgrade(request, socket, head, (ws) => {
      const failed = (error: unknown) => this.failed('read', error)
      const room = keptIn(this.#rooms, project, () => new Room(project, this.log, failed))
      const connection = new Connection(this, room, ws, token, `${process.pid}-${++this.#count}`)
      this.#connections.add(connection)
      ws.on('close', () => {
        this.#connections.delete(connection)
        room.followers.delete(connection)
        const isEmpty = ![...this.#connections].some((c) => c.project === project)
        if (isEmpty && this.#rooms.get(project) === room) this.#rooms.delete(project)
      })
    })
  }

  async #answer(request: IncomingMessage): Promise<{ status: number; body: string }> {
    try {
      if (request.url === '/health') {
        await this.store.all('SELECT 1')
        return { status: 200, body: JSON.stringify({ ok: true, connections: this.#connections.size }) }
      }
      return { status: 404, body: '{"error":"no-such-path"}' }
    } catch (error) {
      this.failed('http', error)
      return { status: 503, body: '{"error":"failed"}' }
    }
  }
}
