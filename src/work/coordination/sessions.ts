/**
 * coordination: agents side by side. Sessions with their heartbeat, whose session a call belongs to (`caller.ts`), the
 * list of claims, the shared context and how its feed is followed, the inbox.
 */

import type { ProcessRef } from '../../base/env.ts'
import { UserError } from '../../base/errors.ts'
import { gitState } from '../../base/git.ts'
import { keptIn } from '../../base/lookup.ts'
import { redact } from '../../base/secrets/find.ts'
import { screen } from '../../base/secrets/screen.ts'
import { ClaimPlan, ClaimView, isLive, keepLeaseClock, leaseTime, stateOf } from '../../engine/claims/lease.ts'
import { placeOf } from '../../engine/claims/part.ts'
import type { Memory } from '../../engine/memory.ts'
import type { SessionRow, Told } from '../../engine/store/presence.ts'
import * as presence from '../../engine/store/presence.ts'
import type { Json } from '../../model/field.ts'
import type { JsonObject } from '../../model/object.ts'
import { ancestorRefs, processAlias } from './client-process.ts'
import { checkParent, descendants, withoutCycle } from './parents.ts'
import { knownOf, type Said, type SessionInfo } from './session-info.ts'

export type { Said, SessionInfo } from './session-info.ts'

/** A heartbeat is written at most this often, unless a shorter lease depends on it. */
const HEARTBEAT_MS = 15_000
/** Files in hand that are kept; the oldest go. */
const FILES_AT_MOST = 50
const ID_LENGTH = 200
/** How often one session may have gone on under another id. */
const HOPS = 16

export type Lines = { readonly added: number; readonly removed: number }

const opened = new WeakMap<Memory, Sessions>()

export const sessionsOf = (memory: Memory): Sessions => keptIn(opened, memory, () => new Sessions(memory))

/** What a caller says of a session is shown to all others: secrets are removed, since a refusal would reach nobody. */
const withoutSecrets = <T>(said: T): T => screen(said, true).value as T

/** A session that ended, crashed or was taken up lives again. */
const alive = ({ ended: _e, reason: _r, crashed: _c, takenUp: _t, ...row }: SessionRow): SessionRow => row

/** Sessions, their heartbeats and the files they edit. None of it leaves this machine. */
export class Sessions {
  readonly #memory: Memory
  readonly #lastHeartbeat = new Map<string, number>()

  constructor(memory: Memory) {
    this.#memory = memory
  }

  get #db() {
    return this.#memory.db
  }
  get #now(): number {
    return leaseTime(this.#db, this.#memory.env)
  }

  /**
   * Starts or continues a session. After `/clear` the old id means the new session. A parent may still be unknown.
   * @throws UserError for an invalid id or a cycle of parents.
   */
  start(given: Said & { id?: string; source?: string } = {}): SessionInfo {
    const { id: named, ...said } = given
    const { source, ...rest } = withoutSecrets(said)
    const random = () => Buffer.from(this.#memory.env.random(4)).toString('hex')
    const id = checked(named ?? `${rest.client ?? 'session'}-${random()}`)
    const now = this.#now
    this.#db.write(() => {
      checkParent(this.#db, id, rest.parent)
      this.#sweep(now)
      const there = presence.getSession(this.#db, id)
      const wasLive = there && isLive(stateOf(there, now, this.#memory.env))
      const parent = rest.parent === undefined ? undefined : presence.getSession(this.#db, rest.parent)
      const { process: was, ...known } = alive(there ?? presence.newSession(id, now))
      const row: SessionRow = {
        ...known,
        ...(was && wasLive ? { process: was } : {}), // a process that is gone is not where it lives now
        ...(parent?.process ? { process: parent.process } : {}),
        ...knownOf(rest),
        seen: now,
        cursor: known.cursor ?? this.#memory.cursor,
      }
      presence.putSession(this.#db, row)
      if (row.process)
        // those that came before it live by its process as well
        for (const child of descendants(this.#db, id, (x) => this.resolve(x)))
          if (!child.process && child.crashed === undefined)
            presence.putSession(this.#db, { ...child, process: row.process })
      if (row.process && rest.parent === undefined) {
        const alias = processAlias(row.process)
        const before = presence.sessionOfAlias(this.#db, alias)
        if (before !== undefined && before !== id) this.#follow(before, row, source)
        presence.setAlias(this.#db, alias, id, now)
      }
      if (!wasLive) {
        const { client, agent, role, branch } = row
        const about = { ...knownOf({ client, agent, role, parent: row.parent, branch }), ...(source ? { source } : {}) }
        presence.addPresence(this.#db, now, id, 'session-started', about as JsonObject)
      }
      presence.forgetOld(this.#db, now)
    })
    this.#lastHeartbeat.set(id, now)
    this.#memory.tellListeners()
    return this.get(id)!
  }

  /** The same process had another session before: if that was cleared, this one goes on with it. */
  #follow(before: string, row: SessionRow, source: string | undefined): void {
    const old = presence.getSession(this.#db, before)
    if (!old || old.parent !== undefined) return
    const cleared = source === 'clear' || old.reason === 'clear'
    if (cleared && old.ended === undefined)
      this.#claims((claims) => {
        const kept = claims.open(before).filter((c) => !c.implicit)
        claims.handOver(kept, row.id)
      })
    if (old.ended === undefined) this.#end(old, cleared ? 'clear' : 'another session began in the same client')
    if (!cleared) return
    presence.setAlias(this.#db, `session:${before}`, row.id, this.#now)
    const { title: _title, request: _request, said: _said, ...rest } = old.data
    presence.putSession(this.#db, { ...row, data: { ...rest, ...row.data, after: before } })
    this.#memory.carryWork(before, row.id)
  }

  /** Changes claims as they stand now. The caller holds the lock. */
  #claims(change: (claims: ClaimPlan) => void): void {
    const claims = new ClaimPlan(new ClaimView(this.#db, this.#memory.env, this.#now))
    change(claims)
    presence.keepClaims(this.#db, claims.changes(), this.#now)
  }

  /** Keeps a session and its claims alive, creating it if unknown. Mostly a read; never waits for a writer. */
  heartbeat(id: string, given: Said = {}): void {
    if (id === '' || id.length > ID_LENGTH) return
    const now = this.#now
    const lease = presence.shortestLease(this.#db, id)
    const every = lease === undefined ? HEARTBEAT_MS : Math.min(HEARTBEAT_MS, lease / 4)
    const last = this.#lastHeartbeat.get(id)
    if (last !== undefined && now - last < every && now >= last) return
    const row = presence.getSession(this.#db, id)
    const news = withoutCycle(this.#db, id, knownOf(given))
    const adds = row !== undefined && Object.keys(news).some((k) => row[k as keyof SessionRow] === undefined)
    const lives = row !== undefined && isLive(stateOf(row, now, this.#memory.env))
    if (lives && !adds && now - row.seen < every && now >= row.seen) return void this.#lastHeartbeat.set(id, row.seen)
    const done = this.#db.tryWrite(() => {
      this.#sweep(now) // a lease that has run out is not renewed: the next grant has another number
      const there = presence.getSession(this.#db, id)
      if (!there || !lives) {
        const { process: _gone, ...known } = alive(there ?? presence.newSession(id, now))
        presence.putSession(this.#db, {
          ...known,
          ...withoutSecrets(news),
          seen: now,
          cursor: known.cursor ?? this.#memory.cursor,
        })
        presence.addPresence(this.#db, now, id, 'session-started', given.client ? { client: redact(given.client) } : {})
      } else if (adds)
        presence.putSession(this.#db, { ...withoutSecrets(news), ...there, seen: Math.max(now, there.seen) })
      else presence.seenNow(this.#db, id, now)
      presence.renewClaims(this.#db, id, now)
      return true
    })
    if (done) this.#lastHeartbeat.set(id, now)
  }

  /** It goes on in another work tree. Never waits for a writer. */
  moved(id: string, root: string): void {
    this.#db.tryWrite(() => {
      const { branch: _was, ...row } = presence.getSession(this.#db, id)!
      presence.putSession(this.#db, { ...row, ...withoutSecrets(knownOf({ root, branch: gitState(root).branch })) })
    })
  }

  /** A heartbeat for a session that is known and has not ended, sent by each call of the library. */
  keepAlive(id: string | undefined): void {
    const row = id === undefined ? undefined : presence.getSession(this.#db, id)
    if (row !== undefined && row.ended === undefined) this.heartbeat(row.id)
  }

  /** The session ends: its children with it, and theirs, and what they have claimed is free. */
  end(id: string, why = 'ended'): void {
    const reason = redact(why)
    this.#db.write(() => {
      const row = presence.getSession(this.#db, id)
      if (!row || row.ended !== undefined) return
      for (const child of descendants(this.#db, id, (x) => this.resolve(x))) this.#end(child, reason)
      this.#end(row, reason)
    })
    this.#lastHeartbeat.delete(id)
    this.#memory.tellListeners()
  }

  /** A client of a session left in good order. If nobody comes again, the session has ended, and has not crashed. */
  left(id: string): void {
    this.#db.write(() => {
      const row = presence.getSession(this.#db, id)
      if (row && row.ended === undefined && row.process === undefined)
        presence.putSession(this.#db, { ...row, data: { ...row.data, left: Math.max(row.seen, this.#now) } })
    })
  }

  #end(row: SessionRow, reason: string): void {
    presence.putSession(this.#db, { ...row, ended: this.#now, reason })
    this.#claims((claims) => {
      for (const c of claims.open(row.id)) claims.end(c, 'released')
    })
    presence.addPresence(this.#db, this.#now, row.id, 'session-ended', { reason })
  }

  /** Sessions that have crashed, and are not marked yet. */
  #gone(now: number): SessionRow[] {
    const isGone = (r: SessionRow) => r.crashed === undefined && stateOf(r, now, this.#memory.env) === 'crashed'
    return presence.listSessions(this.#db).filter(isGone)
  }

  /** Marks sessions as crashed whose process is gone, frees their claims and adds the events. */
  #sweep(now: number): void {
    keepLeaseClock(this.#db, this.#memory.env)
    presence.clampToNow(this.#db, now)
    // looked at before their claims: of one that dies meanwhile the next sweep tells
    const gone = this.#gone(now)
    this.#claims((claims) => claims.sweep())
    for (const row of gone) {
      if (Number(row.data.left ?? 0) >= row.seen) {
        this.#end(row, 'its client left')
        continue
      }
      // whoever claimed before anybody noticed has ended what stood in the way
      const held = presence.lapsedSince(this.#db, row.id, row.seen).map(placeOf)
      presence.putSession(this.#db, { ...row, crashed: now, data: { ...row.data, held } })
      presence.addPresence(this.#db, now, row.id, 'session-crashed', row.client ? { client: row.client } : {})
    }
  }

  get(id: string): SessionInfo | undefined {
    const row = presence.getSession(this.#db, id)
    return row && this.#info(row)
  }

  /** Live sessions, newest heartbeat first; with `all` also those that ended or crashed. */
  list(options: { all?: boolean } = {}): SessionInfo[] {
    const infos = presence.listSessions(this.#db, options.all).map((row) => this.#info(row))
    return options.all ? infos : infos.filter((s) => isLive(s.state))
  }

  #info(row: SessionRow): SessionInfo {
    const { crashed: _crashed, ...rest } = row
    const { task } = this.#memory.place(row.id)
    const { files, contextUsed } = row.data
    return {
      ...rest,
      state: stateOf(row, this.#now, this.#memory.env),
      ...(row.process ? { pid: row.process.pid } : {}),
      ...(task === undefined ? {} : { task }),
      files: Array.isArray(files) ? files.map(String) : [],
      ...(typeof contextUsed === 'number' ? { contextUsed } : {}),
    }
  }

  /** The session that an id means now: after `/clear` the old id means the new session. */
  resolve(id: string): string {
    let at = id
    for (let hops = 0; hops < HOPS; hops++) {
      const next = presence.sessionOfAlias(this.#db, `session:${at}`)
      if (next === undefined || next === at) return at
      at = next
    }
    return at
  }

  /** Adds another name for a session, kept for a while: a call, a process, an id from before `/clear`. */
  addAlias(name: string, id: string): void {
    this.#db.write(() => presence.setAlias(this.#db, name, id, this.#now))
  }

  ofAlias(name: string): string | undefined {
    return presence.sessionOfAlias(this.#db, name)
  }

  /** The live session of the client that this process was started by, directly or through a shell. */
  ofProcess(): string | undefined {
    return (
      this.ofClient(() => true) ??
      ancestorRefs()
        .map((p) => this.alone(p))
        .find((id) => id !== undefined)
    )
  }

  /** The live session that hooks have made known for a process above this one, nearest first, to which `is` agrees. */
  ofClient(is: (session: SessionInfo, pid: number) => boolean): string | undefined {
    for (const process of ancestorRefs()) {
      const id = this.ofAlias(processAlias(process))
      const session = id === undefined ? undefined : this.get(id)
      if (session && isLive(session.state) && is(session, process.pid)) return id
    }
    return undefined
  }

  /** The session that the MCP server of a client has, if that is the only one there: of several, its shell is nobody's. */
  alone(process: ProcessRef): string | undefined {
    const alias = processAlias(process)
    const [one, ...more] = this.list().filter((s) => s.data.under === alias)
    return more.length === 0 ? one?.id : undefined
  }

  /** Keeps something with a session; null takes it away. Unknown sessions are made. */
  patch(id: string, data: { [key: string]: Json }): void {
    const kept: { [key: string]: Json } = withoutSecrets(data)
    this.#db.write(() => {
      const row = presence.ensureSession(this.#db, id, this.#now)
      const next = { ...row.data, ...kept }
      for (const [key, value] of Object.entries(kept)) if (value === null) delete next[key]
      presence.putSession(this.#db, { ...row, data: next })
    })
  }

  /** A file was edited: it is in the session's hands, and the others hear of it. */
  edited(id: string, file: string, by: 'tool' | 'shell' = 'tool', lines: Lines = { added: 0, removed: 0 }): void {
    const path = redact(file)
    this.#db.write(() => {
      const row = presence.ensureSession(this.#db, id, this.#now)
      const before = Array.isArray(row.data.files) ? row.data.files : []
      this.#goesOn(id, path)
      const files = [...before.filter((f) => f !== path), path].slice(-FILES_AT_MOST)
      const changed = { ...(row.data.changed as { [file: string]: { [key: string]: Json } } | undefined) }
      const { added = 0, removed = 0 } = changed[path] ?? {}
      changed[path] = { added: Number(added) + lines.added, removed: Number(removed) + lines.removed, at: this.#now }
      presence.putSession(this.#db, {
        ...row,
        seen: Math.max(row.seen, this.#now),
        data: {
          ...row.data,
          files,
          changed: Object.fromEntries(Object.entries(changed).filter(([file]) => files.includes(file))),
          edits: Number(row.data.edits ?? 0) + 1,
          worked: row.data.request ?? null,
        },
      })
      const body: { [key: string]: Json } = { path, by }
      if (row.root !== undefined) body.root = row.root
      presence.addPresence(this.#db, this.#now, id, 'edited', body)
    })
    this.#memory.tellListeners()
  }

  /** A file changed while the session ran a command that does not name it: it is in nobody's hands, and its holder hears of it. */
  changedWhileRunning(id: string, path: string): void {
    const { root } = presence.getSession(this.#db, id) ?? {}
    const body = { path: redact(path), by: 'program', ...(root !== undefined && { root }) }
    this.#db.write(() => presence.addPresence(this.#db, this.#now, id, 'edited', body))
    this.#memory.tellListeners()
  }

  /** Finds out who is gone; cheap where nobody is. */
  sweep(): void {
    const now = this.#now
    if (this.#gone(now).length === 0) return
    this.#db.write(() => this.#sweep(now))
    this.#memory.tellListeners()
  }

  /** Crashed sessions whose last state nobody has taken up, newest first (X5). Subagents go with their parents. */
  recovery(): SessionInfo[] {
    return presence
      .listSessions(this.#db)
      .filter((r) => r.takenUp === undefined && r.parent === undefined)
      .map((r) => this.#info(r))
      .filter((s) => s.state === 'crashed')
  }

  /** A session that edits a file which a crashed one had in hand goes on with what that left. */
  #goesOn(by: string, path: string): void {
    for (const { id, files } of this.recovery()) {
      const row = id !== by && files.includes(path) ? presence.getSession(this.#db, id) : undefined
      if (row) presence.putSession(this.#db, { ...row, takenUp: by })
    }
  }

  /** Keeps what was put before a session and what it cost. */
  told(id: string, told: Omit<Told, 'at'>): void {
    this.#db.write(() => presence.addTold(this.#db, id, { ...told, at: this.#now }))
  }

  toldOf(id: string): Told[] {
    return presence.toldTo(this.#db, id)
  }

  /** The session has been told everything up to this event. */
  caughtUp(id: string, cursor: number): void {
    this.#db.write(() => {
      const row = presence.getSession(this.#db, id)
      if (row && (row.cursor ?? 0) < cursor) presence.putSession(this.#db, { ...row, cursor })
    })
  }
}

function checked(id: string): string {
  if (
    id.trim() !== '' &&
    id.length <= ID_LENGTH &&
    !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/u.test(id)
  )
    return id
  throw new UserError(
    'bad-argument',
    'that is not an id for a session',
    `a text of characters that can be seen, at most ${ID_LENGTH} characters`,
  )
}
