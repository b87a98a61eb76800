import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Env } from '../../src/base/env.ts'
import { systemEnv } from '../../src/base/env.ts'
import type { JsonObject } from '../../src/model/object.ts'
import { addToken, type Role } from '../../src/travel/hub/access-tokens.ts'
import { Hub, type HubOptions } from '../../src/travel/hub/hub.ts'
import { openPostgresStore } from '../../src/travel/hub/postgres.ts'
import { openSqliteStore } from '../../src/travel/hub/sqlite.ts'
import type { HubStore } from '../../src/travel/hub/store.ts'
import { HubLink } from '../../src/travel/sync/hub-link.ts'
import { type Frame, printFrame } from '../../src/travel/sync/hub-protocol.ts'
import { BIN } from '../cli/run.ts'

export const PROJECT = 'project-one'
export const quiet: Env = { ...systemEnv, log: () => {} }

/** A database of a hub in a file, gone after the test. */
export async function sqliteStore(): Promise<HubStore> {
  return openSqliteStore(sqlitePath())
}

export function sqlitePath(): string {
  const dir = mkdtempSync(join(tmpdir(), 'tidemark-hub-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return join(dir, 'hub.db')
}

export const postgresStore = (url: string, listen = true): Promise<HubStore> =>
  openPostgresStore(url, quiet, { listen })

/** A hub that listens; it and its database are closed after the test. */
export async function hubOn(store: HubStore, options: Partial<HubOptions> = {}) {
  const hub = new Hub({ store, env: quiet, ...options })
  const { port } = await hub.start()
  onTestFinished(() => hub.close())
  const token = async (member = 'ana', role: Role = 'writer', projects = [PROJECT], expires?: number) =>
    (await addToken(store, quiet, { member, role, projects, expires })).token
  return { hub, url: `ws://127.0.0.1:${port}/`, port, token }
}

/** `tidemark hub` as a process of its own; how to end it. */
export async function hubProcess(at: { dir: string; env: NodeJS.ProcessEnv }, ...args: string[]) {
  const child = spawn(process.execPath, [BIN, 'hub', ...args], {
    cwd: at.dir,
    env: at.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let err = ''
  child.stderr!.setEncoding('utf8').on('data', (t: string) => (err += t))
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      const found = /listens on (\S+)/.exec(text)?.[1]
      if (found) resolve(found)
    })
    void ended.then(() => reject(new Error(`the hub ended: ${err}`)))
  })
  return { url, child, ended, said: () => err }
}

/** A text in the envelope that a hub asks for: a line of a version that nobody knows. */
export function wrapped(text: string): string {
  return JSON.stringify({ v: 99, text })
}
const unwrapped = (body: string): string => {
  return body.startsWith('{"v":99,"text"') ? (JSON.parse(body) as { text: string }).text : body
}

/** A client that speaks with a hub and has no store: what it got, in the order in which it came. */
export class Peer {
  readonly link: HubLink
  readonly got: { n: number; key: string; member: string; text: string }[] = []
  readonly claims: unknown[][] = []
  readonly presence: JsonObject[] = []
  last = 0
  mark: string | undefined
  gone: string | undefined
  #waiting: { until(): boolean; done(): void }[] = []

  constructor(url: string, token: string, project = PROJECT) {
    this.link = new HubLink({ url, token }, project, {
      frame: (frame) => {
        const { head } = frame
        if (head.t === 'updates') return this.#take(frame)
        if (head.t === 'claims') this.claims.push(head.held as unknown[])
        if (head.t === 'presence') this.presence.push(head)
        this.#look()
      },
      gone: (error) => {
        this.gone = String(error.details.code ?? error.code)
        this.#look()
      },
    })
    onTestFinished(() => this.link.close())
  }

  static async join(url: string, token: string, project = PROJECT): Promise<Peer> {
    const peer = new Peer(url, token, project)
    await peer.hello()
    return peer
  }

  hello(since = 0, mark?: string): Promise<JsonObject> {
    return this.link.hello(since, mark)
  }

  push(...texts: string[]): Promise<JsonObject> {
    return this.pushAs('r1', ...texts)
  }

  pushAs(replica: string, ...texts: string[]): Promise<JsonObject> {
    const keys = texts.map((_, i) => `${replica}:${i + 1}`)
    return this.link.ask({ t: 'push', keys }, texts.map(wrapped))
  }

  /** Resolves when it is so; what comes from the hub makes it look again. */
  until(condition: () => boolean): Promise<void> {
    if (condition()) return Promise.resolve()
    return new Promise((done) => this.#waiting.push({ until: condition, done }))
  }

  get texts(): string[] {
    return this.got.map((g) => g.text)
  }

  #take({ head, updates }: Frame): void {
    const items = head.items as [number, string, string][]
    for (const [i, text] of updates.entries()) {
      const [n, key, member] = items[i]!
      this.got.push({ n, key, member, text: unwrapped(text) })
    }
    this.last = Number(head.last)
    this.mark = String(head.mark)
    this.#look()
  }

  #look(): void {
    this.#waiting = this.#waiting.filter((w) => {
      if (!w.until()) return true
      w.done()
      return false
    })
  }
}

/** A frame as text, whatever is in it. */
export const frame = (head: object, ...updates: string[]): string => printFrame(head, updates)
