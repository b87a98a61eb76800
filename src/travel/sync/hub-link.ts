import { WebSocket } from 'ws'
import { UserError } from '../../base/errors.ts'
import type { Joined } from '../../engine/store/user-state.ts'
import type { Json } from '../../model/field.ts'
import { isObject, type JsonObject, jsonIn } from '../../model/object.ts'
import { COMPRESSION, type Frame, MOST_FRAME, PROTOCOL, printFrame, readFrame } from './hub-protocol.ts'

const ANSWER_MS = 15_000
const SILENT_MS = 75_000

/** What came while this process was busy is read in this time. */
const READ_MS = 1_000

/** Calls `body` after some time, and some more in which what has come is read; returns what stops it. */
function afterReading(body: () => void, ms: number, holdsProcess: boolean): () => void {
  const wait = (next: () => void, time: number) =>
    holdsProcess ? setTimeout(next, time) : setTimeout(next, time).unref()
  let timer = wait(() => {
    timer = wait(body, READ_MS)
  }, ms)
  return () => clearTimeout(timer)
}

const REFUSED: Readonly<Record<string, readonly [string, string]>> = {
  'no-token': ['the hub does not know this token', 'ask for one, and `tidemark join URL TOKEN`'],
  expired: ['the token has expired', 'ask for a new one, and `tidemark join URL TOKEN`'],
  revoked: ['the token was revoked', 'ask for a new one, and `tidemark join URL TOKEN`'],
  'wrong-project': ['the token is for other projects', 'have one made for the "id" of .tidemark/config.json'],
  'too-many-attempts': ['the hub has refused too many tokens from this address', 'try again in a minute'],
}

/** Refusals that hold until somebody joins with another token. */
export const isFinal = (error: unknown): boolean =>
  error instanceof UserError &&
  ['no-token', 'expired', 'revoked', 'wrong-project'].includes(String(error.details?.code))

const refused = (status: number, code: string): UserError => {
  const [message, hint] = REFUSED[code] ?? [`the hub answers ${status}`, 'check the address: is it that of a hub?']
  return new UserError('hub-refused', message, hint, { status, code })
}

const unreached = (url: string, why: string): UserError => {
  const hint = 'look at the address and the network; what is new waits here'
  return new UserError('hub-unreached', `${url} cannot be reached (${why})`, hint)
}

interface LinkEvents {
  /** What the hub says by itself, its welcome first. */
  frame(frame: Frame): void
  gone(error: UserError): void
}

type Awaited = { done(head: JsonObject): void; failed(error: UserError): void }

/** A connection to a hub: questions with their answers, and what it says by itself. */
export class HubLink {
  readonly #url: string
  readonly #ws: WebSocket
  readonly #events: LinkEvents
  readonly #asked = new Map<number, Awaited>()
  #welcome: Awaited | undefined
  #count = 0
  #silence: (() => void) | undefined
  /** Why it has ended; set here alone. */
  error: UserError | undefined

  constructor({ url, token }: Pick<Joined, 'url' | 'token'>, project: string, events: LinkEvents) {
    this.#url = url
    this.#events = events
    this.#ws = new WebSocket(new URL(`v1/projects/${project}/sync`, url.endsWith('/') ? url : `${url}/`), {
      headers: { authorization: `Bearer ${token}` },
      maxPayload: 2 * MOST_FRAME,
      perMessageDeflate: COMPRESSION,
      handshakeTimeout: 10_000,
      followRedirects: false,
    })
    this.#ws.on('unexpected-response', (_, response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => (text += text.length < 1000 ? part : ''))
      response.on('end', () => this.#end(refused(response.statusCode ?? 0, codeIn(text))))
    })
    this.#ws.on('error', (error: NodeJS.ErrnoException) => this.#end(unreached(url, error.code ?? error.message)))
    this.#ws.on('close', (code) =>
      this.#end(code === 4401 ? refused(401, 'revoked') : unreached(url, `closed, ${code}`)),
    )
    this.#ws.on('ping', () => this.#heardOf())
    this.#ws.on('message', (data, isBinary) => {
      if (this.error) return // whoever listened may be closed by now
      this.#heardOf()
      const frame = isBinary ? undefined : readFrame(data as Buffer)
      if (frame) this.#take(frame)
    })
  }

  async hello(since: number, mark: string | undefined, top?: Json): Promise<JsonObject> {
    await new Promise<void>((resolve, reject) => {
      if (this.error) return reject(this.error)
      if (this.#ws.readyState === WebSocket.OPEN) return resolve()
      this.#welcome = { done: () => resolve(), failed: reject }
      this.#ws.once('open', resolve)
    })
    const welcome = new Promise<JsonObject>((done, failed) => (this.#welcome = { done, failed }))
    this.#ws.send(printFrame({ t: 'hello', v: PROTOCOL, since, mark, top }))
    return this.#inTime(welcome)
  }

  ask(head: JsonObject, updates: readonly string[] = []): Promise<JsonObject> {
    if (this.error) return Promise.reject(this.error)
    const id = ++this.#count
    const answer = new Promise<JsonObject>((done, failed) => this.#asked.set(id, { done, failed }))
    this.#ws.send(printFrame({ ...head, id }, updates))
    return this.#inTime(answer)
  }

  tell(head: JsonObject): void {
    if (this.#ws.readyState === WebSocket.OPEN) this.#ws.send(printFrame(head))
  }

  /** A connection may be gone without anybody saying so. */
  #heardOf(): void {
    this.#silence?.()
    this.#silence = afterReading(() => this.fail('silent'), SILENT_MS, false)
  }

  /** Ends it as if the connection was lost. */
  fail(why: string): void {
    this.#end(unreached(this.#url, why))
    this.#ws.terminate()
  }

  readonly [Symbol.dispose] = (): void => this.close()

  /** Nothing is heard any more; what waits for an answer fails. */
  close(): void {
    this.#silence?.()
    if (!this.error) this.#settle(unreached(this.#url, 'closed here'))
    if (this.#ws.readyState === WebSocket.CONNECTING) this.#ws.terminate()
    else this.#ws.close(1000)
    setTimeout(() => this.#ws.terminate(), 1000).unref()
  }

  async #inTime<T>(answer: Promise<T>): Promise<T> {
    const stop = afterReading(() => this.fail('no answer'), ANSWER_MS, true)
    try {
      return await answer
    } finally {
      stop()
    }
  }

  #end(error: UserError): void {
    if (this.error) return
    this.#settle(error)
    this.#events.gone(error)
  }

  #settle(error: UserError): void {
    this.error = error
    this.#welcome?.failed(error)
    for (const { failed } of this.#asked.values()) failed(error)
  }

  #take(frame: Frame): void {
    const { head } = frame
    // the hub has lost its database, say: another one may answer, or this one later
    if (head.code === 'failed') this.fail('it failed')
    else if (head.t !== 'ack' && head.t !== 'answer') {
      this.#events.frame(frame)
      if (head.t === 'welcome') this.#welcome?.done(head)
    } else if (typeof head.id === 'number') {
      const asked = this.#asked.get(head.id)
      this.#asked.delete(head.id)
      asked?.done(head)
    }
  }
}

function codeIn(text: string): string {
  const said = jsonIn(text)
  return isObject(said) && typeof said.error === 'string' ? said.error : ''
}
