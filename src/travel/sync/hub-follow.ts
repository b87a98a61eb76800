import { isRunning, type ProcessRef, processRef } from '../../base/env.ts'
import { findSecrets } from '../../base/secrets/find.ts'
import { tidyPath } from '../../engine/claims/glob.ts'
import { leaseTime } from '../../engine/claims/lease.ts'
import { isPart, placeOf } from '../../engine/claims/part.ts'
import type { Memory } from '../../engine/memory.ts'
import { stored } from '../../engine/store/db.ts'
import { isCount } from '../../engine/store/line.ts'
import { dropMeta, getMeta, setMeta } from '../../engine/store/meta.ts'
import * as presence from '../../engine/store/presence.ts'
import { hubOf, type Joined } from '../../engine/store/user-state.ts'
import { isObject, type JsonObject } from '../../model/object.ts'
import { claimsOf } from '../../work/coordination/claims.ts'
import { arbitrate, leaseOf, releaseAt } from './hub-claims.ts'
import { HubExchange } from './hub-exchange.ts'
import { isFinal } from './hub-link.ts'

/** What sessions and claims of other machines have as their client, in the store of this one. */
const HUB = 'hub'
const FOLLOWER = 'hub_follower'
const RETRY_MS = 1_000
const RETRY_AT_MOST_MS = 60_000
const LOOK_MS = 5_000
const PRESENCE_MS = 60_000
/** The hub passes on no more than a few kB. */
const PRESENCE_CHARS = 6_000
const ELSEWHERE = 'another machine'
const BRANCH = /^[\w./@+-]{1,100}$/

/**
 * Exchanges with the hub as long as this process runs: pushes what any process here commits, takes in what comes, has
 * the hub decide on claims, and shows the sessions of other machines. One process does it for a store. `hub`: another
 * than the project has joined. Returns the end.
 */
export function followHub(
  memory: Memory,
  project: { id: string; storePath: string },
  hub?: { url: string; token: string },
): () => void {
  let life: HubLife | undefined
  let known: string | undefined
  let timer: NodeJS.Timeout | undefined
  let pause = RETRY_MS
  let ended = false
  const joinedNow = () => (hub ? { ...hub, member: '' } : hubOf(project.id, project.storePath))
  const later = (ms: number) => {
    clearTimeout(timer)
    if (!ended) timer = setTimeout(() => void begin(), ms).unref()
  }
  const again = (error: Error) => {
    life?.stop()
    life = undefined
    if (pause === RETRY_MS && !ended) memory.env.log(`tidemark: the hub: ${error.message}`)
    if (isFinal(error)) return // `look` sees it when the project has joined with another token
    later((pause = Math.min(pause * 2, RETRY_AT_MOST_MS)))
  }
  const begin = async () => {
    let current: HubLife | undefined
    try {
      const joined = joinedNow()
      known = nameOf(joined)
      if (!joined || !takeTurn(memory)) return later(LOOK_MS)
      life = current = new HubLife(memory, joined, (error) => life === current && again(error))
      await current.start()
      if (life === current) pause = RETRY_MS
    } catch (error) {
      if (life === current) again(error as Error)
    }
  }
  // who has left the hub, or joined another one, means it at once
  const looking = setInterval(() => {
    if (nameOf(joinedNow()) === known) return
    life?.stop()
    life = undefined
    pause = RETRY_MS
    later(0)
  }, LOOK_MS).unref()
  void begin()
  return () => {
    ended = true
    clearTimeout(timer)
    clearInterval(looking)
    life?.stop()
    if (isThere(memory) && isMine(memory)) memory.db.tryWrite(() => dropMeta(memory.db, FOLLOWER))
  }
}

const keyOf = (c: { session: string; on: string; part?: string }) => `${c.session} ${placeOf(c)}`
const nameOf = (hub: Joined | undefined) => hub && `${hub.url} ${hub.token}`
const holderOf = ({ db }: Memory) => stored<ProcessRef | null>(getMeta(db, FOLLOWER) ?? 'null')
/** A store may be removed under a process that has it open. */
const isThere = ({ isOpen, db }: Memory): boolean => isOpen && db.isCurrent()
const isMine = (memory: Memory): boolean => holderOf(memory)?.pid === process.pid

/** Whether this process follows the hub for its store: the one before it has to be gone. */
const takeTurn = (memory: Memory): boolean =>
  memory.db.write(() => {
    const holder = holderOf(memory)
    if (holder && holder.pid !== process.pid && (memory.env.isRunning ?? isRunning)(holder) === true) return false
    setMeta(memory.db, FOLLOWER, JSON.stringify(processRef(process.pid)))
    return true
  })

export class HubLife {
  readonly #memory: Memory
  readonly #exchange: HubExchange
  /** Own claims that the hub has granted, by session and place, and until when. */
  readonly #granted = new Map<string, { until: number; ttl: number; session: string; on: string; hub: number }>()
  /** The hub has said what is held. */
  #isListed = false
  #stops: (() => void)[] = []
  readonly #met = new Set<unknown>()
  /** What sessions of other machines have claimed, and what they are editing, by connection. */
  #held: RemoteClaim[] = []
  readonly #editing = new Map<unknown, RemoteClaim[]>()
  #told = { text: '', at: 0 }
  #busy = false
  #again = false
  #stopped = false

  constructor(memory: Memory, joined: Joined, gone: (error: Error) => void) {
    this.#memory = memory
    const said = (head: JsonObject) => {
      if (head.t === 'claims' && Array.isArray(head.held)) this.takeClaims(head.held)
      else if (head.t === 'presence') this.takePresence(head)
    }
    this.#exchange = new HubExchange(memory, joined, said, gone)
  }

  async start(): Promise<void> {
    await this.#exchange.start()
    this.#stops.push(this.#memory.subscribe(() => void this.#work()))
    const timer = setInterval(() => void this.#work(), PRESENCE_MS).unref()
    this.#stops.push(() => clearInterval(timer))
    await this.#work()
  }

  stop(): void {
    if (this.#stopped) return
    this.#stopped = true
    for (const stop of this.#stops) stop()
    this.#exchange.link.close()
    if (isThere(this.#memory)) this.#forget()
  }

  /** Pushes what is new; what comes meanwhile is looked at afterwards. */
  async #work(): Promise<void> {
    this.#again = true
    if (this.#busy) return
    this.#busy = true
    try {
      while (this.#again && !this.#stopped) {
        this.#again = false
        await this.#exchange.push()
        await this.#arbitrate()
        this.#tellPresence()
      }
    } catch (error) {
      if (!this.#stopped) this.#memory.env.log(`tidemark: the hub: ${(error as Error).message}`)
    } finally {
      this.#busy = false
    }
  }

  /** Says which sessions live here, and what they are editing: when that changes, and now and then. */
  #tellPresence(): void {
    const edits = this.#claims().filter((c) => c.what === 'path' && c.implicit)
    const own = this.#own().map(({ id, branch = null }) => ({ id, branch }))
    let room = PRESENCE_CHARS - JSON.stringify(own).length - 14 * own.length
    const sessions = own.map(({ id, branch }) => ({
      id,
      branch,
      editing: edits.flatMap((c) => (c.session === id && (room -= c.on.length + 3) > 0 ? c.on : [])),
    }))
    const now = this.#memory.env.now()
    if (this.#told.text === JSON.stringify(sessions) && Math.abs(now - this.#told.at) < PRESENCE_MS) return
    this.#told = { text: JSON.stringify(sessions), at: now }
    this.#exchange.link.tell({ t: 'presence', data: { sessions } })
  }

  #claims = () => {
    const own = new Set(this.#own().map((s) => s.id))
    return claimsOf(this.#memory).held().filter((c) => own.has(c.session)) // biome-ignore format: one row
  }

  #own = () => presence.listSessions(this.#memory.db).filter((s) => s.client !== HUB)

  /** Has the hub decide on what was claimed here, once it has said what is held. */
  async #arbitrate(): Promise<void> {
    if (!this.#isListed) return
    const ask = (head: JsonObject) => this.#exchange.link.ask(head)
    // an edit keeps nobody out: it goes with the presence
    const held = () => this.#claims().filter((c) => c.what !== 'role' && !c.implicit)
    // given up first: another session here may have claimed it since
    const still = new Set(held().map((c) => `${c.session} ${c.hub}`)) // one of a hub from before parts may be for several
    for (const [key, grant] of this.#granted) {
      if (still.has(`${grant.session} ${grant.hub}`)) continue
      await releaseAt(ask, grant)
      this.#granted.delete(key)
    }
    for (const c of held()) {
      const now = this.#memory.env.now()
      const known = this.#granted.get(keyOf(c))
      if (known && known.until - now > known.ttl / 2) continue
      const ttl = leaseOf(c, now)
      const { fence } = await arbitrate(this.#memory, ask, c)
      if (typeof fence !== 'number') continue
      this.#granted.set(keyOf(c), { until: now + ttl, ttl, session: c.session, on: c.on, hub: fence })
    }
  }

  /** Keeps the claims of other machines as if their sessions were here: what asks for claims sees them too. */
  takeClaims(held: readonly unknown[]): void {
    const all = held.filter(isObject)
    if (!this.#isListed) this.#takeUp(all)
    const mine = new Set(this.#own().map((s) => s.id))
    const isMine = (c: JsonObject) => c.member === this.#exchange.member && mine.has(String(c.session))
    this.#held = all.flatMap((c) => (isMine(c) ? [] : (remoteClaim(c) ?? [])))
    this.#keep()
  }

  /** What the hub granted to this store before this connection: it is to be renewed, or given up there too. */
  #takeUp(held: readonly JsonObject[]): void {
    for (const { member, fence } of held) {
      const c = typeof fence === 'number' && presence.claimOfHub(this.#memory.db, fence)
      if (!c || member !== this.#exchange.member || presence.getSession(this.#memory.db, c.session)?.client === HUB)
        continue
      this.#granted.set(keyOf(c), { until: 0, ttl: c.ttl, session: c.session, on: c.on, hub: c.hub! })
    }
    this.#isListed = true
    void this.#work()
  }

  takePresence({ from, member, data }: JsonObject): void {
    if (!this.#met.has(from)) {
      this.#met.add(from)
      this.#told.at = 0
      this.#tellPresence() // who has just come has not heard of us
    }
    const said = isObject(data) && Array.isArray(data.sessions) ? data.sessions.filter(isObject) : []
    const now = leaseTime(this.#memory.db, this.#memory.env)
    const all = said.slice(0, 100).flatMap(({ id, branch, editing }) => {
      const session = sessionId(member, id)
      return session === undefined ? [] : { session, branch, editing }
    })
    this.#memory.db.write(() => {
      for (const { session, branch } of all) this.#session(session, now, branch)
    })
    this.#editing.set(from, all.flatMap((s) => remoteEdits(s.session, s.editing, now))) // biome-ignore format: one row
    this.#keep()
  }

  #session(id: string, now: number, branch?: unknown): void {
    const { db } = this.#memory
    const known = presence.getSession(db, id)
    if (known && known.client !== HUB) return
    const row = { ...presence.newSession(id, known?.started ?? now), seen: now, client: HUB, user: id.split('/')[0]! }
    const on = typeof branch === 'string' && BRANCH.test(branch) ? branch : known?.branch
    presence.putSession(db, { ...row, ...(on === undefined ? {} : { branch: on }), takenUp: HUB })
  }

  #keep(): void {
    const { db, env } = this.#memory
    const now = leaseTime(db, env)
    const theirs = [...this.#held, ...[...this.#editing.values()].flat().filter((c) => c.until > now)]
    db.write(() => {
      const before = presence.openClaims(db).filter((c) => presence.getSession(db, c.session)?.client === HUB)
      const kept = new Set<number>()
      for (const c of theirs) {
        this.#session(c.session, now)
        const known = before.find((b) => keyOf(b) === keyOf(c) && b.implicit === c.implicit)
        const since = c.implicit ? (known?.since ?? c.since) : c.since
        const row = { ...c, since, n: known?.n ?? presence.nextFence(db), ttl: c.until - c.since, exact: true }
        kept.add(row.n)
        const events = known ? [] : [{ session: c.session, type: 'claimed' as const, body: presence.claimBody(row) }]
        presence.keepClaims(db, { rows: [row], events }, now)
      }
      presence.endClaims(db, before.filter((c) => !kept.has(c.n)), 'released', now) // biome-ignore format: one row
    })
  }

  #forget(): void {
    this.#held = []
    this.#editing.clear()
    this.#keep()
    const { db, env } = this.#memory
    db.write(() => {
      for (const s of presence.listSessions(db))
        if (s.client === HUB) presence.putSession(db, { ...s, ended: env.now(), reason: HUB })
    })
  }
}

type RemoteClaim = Pick<
  presence.ClaimRow,
  'session' | 'what' | 'on' | 'part' | 'since' | 'until' | 'hub' | 'note' | 'implicit' | 'root'
>

/** What is edited elsewhere is a copy of its own: whoever edits it here is warned, as with another work tree. */
const remoteEdits = (session: string, editing: unknown, since: number): RemoteClaim[] =>
  (Array.isArray(editing) ? editing : []).slice(0, 100).flatMap((path): RemoteClaim[] => {
    const on = typeof path === 'string' && path.length <= 1000 ? tidyPath(path) : undefined
    const until = since + 2 * PRESENCE_MS
    return on === undefined ? [] : [{ session, what: 'path', on, since, until, implicit: true, root: ELSEWHERE }]
  })

/** The session of another machine: nothing in it is a text that somebody could read as more. */
const sessionId = (member: unknown, session: unknown): string | undefined => {
  const id = `${member}/${session}`
  return /^[A-Za-z0-9._@-]{1,64}\/[A-Za-z0-9._:-]{1,100}$/.test(id) && findSecrets(id).length === 0 ? id : undefined
}

function remoteClaim(claim: JsonObject): RemoteClaim | undefined {
  const { member, session, what, place, part, since, until, fence, note } = claim
  const id = sessionId(member, session)
  const on = typeof place !== 'string' ? undefined : what === 'task' ? place : tidyPath(place)
  if (id === undefined || on === undefined || on.length > 1000 || ![since, until, fence].every(isCount))
    return undefined
  const [from, to, hub] = [since, until, fence] as number[]
  const said = typeof note === 'string' && note !== '' ? { note: note.slice(0, 500) } : {}
  const where = { what: what === 'task' ? ('task' as const) : ('path' as const), on, ...(isPart(part) && { part }) }
  return { session: id, ...where, since: from!, until: to!, hub: hub!, ...said }
}
