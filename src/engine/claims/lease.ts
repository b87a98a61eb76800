/**
 * claims: who holds which path, glob or task. How long a lease runs, when it expires, which claims
 * conflict, and the fencing numbers. `glob.ts` decides whether two globs can match the same file.
 */

import { type Env, isRunning, type ProcessRef } from '../../base/env.ts'
import { keptIn } from '../../base/lookup.ts'
import type { Json } from '../../model/field.ts'
import { defined, type JsonObject } from '../../model/object.ts'
import { workOf } from '../store/current-work.ts'
import { type Db, stored } from '../store/db.ts'
import { getMeta, setMeta } from '../store/meta.ts'
import type { ClaimChanges, ClaimRow, PresenceType, SessionRow } from '../store/presence.ts'
import * as presence from '../store/presence.ts'
import { covers, isGlob, overlaps } from './glob.ts'
import { partsMeet } from './part.ts'

export type { ClaimRow as Claim } from '../store/presence.ts'

/** The lease of a claim, unless a TTL is given. Every heartbeat renews it. */
export const CLAIM_TTL_MS = 30 * 60_000
export const IMPLICIT_TTL_MS = 10 * 60_000
/** A session without a known process counts as crashed after this long without a heartbeat. */
export const SILENT_MS = 30 * 60_000
export const IDLE_MS = 5 * 60_000

/** A clock that is further from the time since the machine's start has jumped: no lease runs or ends by it. */
const JUMP_MS = 60_000
const LEASE_CLOCK = 'lease_clock'

type LeaseClock = { boot: string; ms: number; now: number }

/** The time by which sessions and claims of this store live: the same in processes whose clocks differ. */
export function leaseTime(db: Db, env: Env): number {
  const [now, machine] = [env.now(), env.sinceBoot?.()]
  const kept = machine && stored<LeaseClock | null>(getMeta(db, LEASE_CLOCK) ?? 'null')
  if (!kept || kept.boot !== machine.boot) return now
  const due = Math.round(kept.now + machine.ms - kept.ms)
  return Math.abs(now - due) < JUMP_MS ? now : due
}

/** Goes by the wall clock from now on, where none is kept yet or nobody holds anything. The caller holds the lock. */
export function keepLeaseClock(db: Db, env: Env): void {
  const [now, machine] = [env.now(), env.sinceBoot?.()]
  if (!machine) return
  const kept = stored<LeaseClock | null>(getMeta(db, LEASE_CLOCK) ?? 'null')
  if (kept?.boot === machine.boot && (leaseTime(db, env) === now || presence.openClaims(db).length > 0)) return
  setMeta(db, LEASE_CLOCK, JSON.stringify({ ...machine, now }))
}

export type SessionState = 'active' | 'idle' | 'crashed' | 'ended'

/** Whether a session is alive: by its process if that is known, else by its last heartbeat (X7). */
export function stateOf(s: SessionRow, now: number, env: Env): SessionState {
  if (s.ended !== undefined) return 'ended'
  if (s.crashed !== undefined) return 'crashed'
  const running = s.process && (env.isRunning ?? isRunning)(s.process)
  if (running === false) return 'crashed'
  if (running === undefined && now - s.seen > SILENT_MS) return 'crashed'
  return now - s.seen > IDLE_MS ? 'idle' : 'active'
}

/** Who edits a view by hand acts for a role under this name, where no session does. Nobody listens under it. */
export const HAND = 'hand:'

export const isLive = (state: SessionState | undefined): boolean => state === 'active' || state === 'idle'

export class ClaimView {
  readonly now: number
  readonly env: Env
  readonly #db: Db
  readonly #actor: string | undefined
  readonly #sessions = new Map<string, SessionRow | undefined>()

  /** `actor`: the session that acts, whether or not anybody knows it yet. */
  constructor(db: Db, env: Env, now: number, actor?: string) {
    this.#db = db
    // of one moment: many claims are of few processes, and to ask the system takes as long as reading a file
    const running = new Map<string, { is: boolean | undefined }>()
    const ask = (p: ProcessRef) => ({ is: (env.isRunning ?? isRunning)(p) })
    this.env = { ...env, isRunning: (p) => keptIn(running, `${p.pid} ${p.born} ${p.host}`, () => ask(p)).is }
    this.now = now
    this.#actor = actor
  }

  /** Claims that nobody has ended, whether or not they still hold. */
  open = (): ClaimRow[] => presence.openClaims(this.#db)
  session(id: string): SessionRow | undefined {
    if (!this.#sessions.has(id)) this.#sessions.set(id, presence.getSession(this.#db, id))
    return this.#sessions.get(id) ?? (id === this.#actor ? presence.newSession(id, this.now) : undefined)
  }
  nextFence = (): number => presence.nextFence(this.#db)
  lastOfRole = (role: string): ClaimRow | undefined => presence.lastOfRole(this.#db, role)
  /** Claims released with a handoff note, as long as nobody has claimed the same since; newest first. */
  leftNotes = (): ClaimRow[] => presence.leftNotes(this.#db)
  sessions = (): SessionRow[] => presence.listSessions(this.#db)
  workOf = (session: string): readonly string[] => workOf(this.#db, session)
}

/** Active while the lease has not expired, or, without a TTL, while the holder's process is alive. A hook's claim goes by its lease alone. */
export function holds(claim: ClaimRow, holder: SessionRow | undefined, now: number, env: Env): boolean {
  if (claim.ended !== undefined || !holder || !isLive(stateOf(holder, now, env))) return false
  if (claim.until > now) return true
  const stretched = holder.process && !claim.exact && !claim.implicit
  return stretched === true && (env.isRunning ?? isRunning)(holder.process!) === true
}

type Place = Pick<ClaimRow, 'what' | 'on' | 'part' | 'lines' | 'base' | 'root' | 'implicit'>

/** Whether two claims exclude each other. Roles never do. Two work trees are for the caller to judge (`sameTree`). */
export function claimsConflict(a: Place, b: Place): boolean {
  if (a.what !== b.what || a.what === 'role') return false
  if (a.what === 'task') return a.on === b.on
  // an edit from when its session was alone: the hook of the next one has seen which lines it changed
  if (a.on === b.on) return !(a.implicit && b.implicit && !a.lines !== !b.lines) && partsMeet(a, b)
  if (a.implicit && !isGlob(a.on)) return covers(b.on, a.on) // an edit is of one file
  return b.implicit && !isGlob(b.on) ? covers(a.on, b.on) : overlaps(a.on, b.on)
}

export const sameTree = (a: { root?: string | undefined }, b: { root?: string | undefined }): boolean =>
  a.root === undefined || b.root === undefined || a.root === b.root

const leaseBody = ({ until, note, task, dependsOn }: ClaimRow) =>
  defined({ until, note, task, dependsOn: dependsOn && [...dependsOn] }) as { [key: string]: Json }

export class ClaimPlan {
  readonly view: ClaimView
  /** What did it in the session's name, where that was not the session: `file` for a hand edit of a view. */
  readonly #by: string | undefined
  #claims: Map<number, ClaimRow> | undefined
  #changed = new Set<number>()
  #events: ClaimChanges['events'] = []
  #next: number | undefined
  #holding = new Map<string, boolean>()

  constructor(view: ClaimView, by?: string) {
    this.view = view
    this.#by = by
  }

  #all(): Map<number, ClaimRow> {
    this.#claims ??= new Map(this.view.open().map((c) => [c.n, c]))
    return this.#claims
  }

  #holds(c: ClaimRow): boolean {
    if (c.ended !== undefined) return false
    const { now, env } = this.view
    return keptIn(this.#holding, `${c.n}`, () => holds(c, this.view.session(c.session), now, env))
  }

  /** Claims that hold, oldest first. */
  held(): ClaimRow[] {
    return [...this.#all().values()].filter((c) => this.#holds(c))
  }

  /** Claims of a session that nobody has ended, whether or not they hold. */
  open(session: string): ClaimRow[] {
    return [...this.#all().values()].filter((c) => c.ended === undefined && c.session === session)
  }

  of(session: string): ClaimRow[] {
    return this.held().filter((c) => c.session === session)
  }

  sweep(): void {
    for (const c of [...this.#all().values()]) if (c.ended === undefined && !this.#holds(c)) this.end(c, 'lapsed')
  }

  grant(claim: Omit<ClaimRow, 'n'>): ClaimRow {
    const all = this.#all()
    this.#next ??= this.view.nextFence()
    const row: ClaimRow = { ...claim, n: this.#next++ }
    all.set(row.n, row)
    this.#holding.set(`${row.n}`, true)
    this.#changed.add(row.n)
    this.addEvent('claimed', row, { ...leaseBody(row), ...(row.from === undefined ? {} : { from: row.from }) })
    return row
  }

  addChangedEvent(row: ClaimRow): void {
    this.addEvent('reclaimed', row, { ...leaseBody(row), ...(row.exact ? { ttl: row.ttl / 1000 } : {}) })
  }

  /** Changes what a claim says without a new grant: a renewal, another note. */
  change(row: ClaimRow): ClaimRow {
    this.#all().set(row.n, row)
    this.#changed.add(row.n)
    return row
  }

  end(c: ClaimRow, how: NonNullable<ClaimRow['how']>, more: Partial<ClaimRow> = {}): ClaimRow {
    const row = this.change({ ...c, ...more, how, ended: this.view.now })
    const { status, result, handoff } = more
    this.addEvent(how, row, defined({ status, result, handoff }) as JsonObject)
    return row
  }

  /** Gives claims to another session. All of them end before the first is granted: what is one session's may overlap. */
  handOver(claims: readonly ClaimRow[], to: string, note?: string): ClaimRow[] {
    const { now } = this.view
    for (const c of claims) this.end(c, 'handed-over')
    return claims.map(({ n: _n, ended: _ended, how: _how, implicit: _implicit, session: from, ...rest }) =>
      this.grant({
        ...rest,
        ...(note === undefined ? {} : { note }),
        session: to,
        since: now,
        until: now + rest.ttl,
        from,
      }),
    )
  }

  addEvent(type: PresenceType, c: ClaimRow, more: { [key: string]: Json }): void {
    this.#events.push({
      session: c.session,
      type,
      body: { ...presence.claimBody(c), ...more, ...(this.#by === undefined ? {} : { by: this.#by }) },
    })
  }

  /** Saves the state of the plan; the result restores it. */
  keep(): () => void {
    const were = {
      claims: this.#claims && new Map(this.#claims),
      changed: new Set(this.#changed),
      events: [...this.#events],
      next: this.#next,
    }
    return () => {
      this.#claims = were.claims
      this.#changed = were.changed
      this.#events = were.events
      this.#next = were.next
    }
  }

  changes(): ClaimChanges {
    return { rows: [...this.#changed].sort((a, b) => a - b).map((n) => this.#all().get(n)!), events: this.#events }
  }
}
