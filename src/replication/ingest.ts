/**
 * replication: how stores meet, shrink and heal. Ingests lines of other replicas, compacts old ones, purges and erases,
 * checks, rebuilds and restores. Sync through git and the hub will live here.
 */

import type { Env } from '../env.ts'
import { UserError } from '../errors.ts'
import { STATE, type StateValue } from '../log/cells.ts'
import { MAX_LEAD_MS, tick } from '../log/clock.ts'
import { clockAfter, replicaOf, rewriteUpdate } from '../log/document.ts'
import type { Event } from '../log/events.ts'
import { applyLine, Docs, isPlain, reprojectKinds } from '../materialize/apply.ts'
import { sha256 } from '../model/digest.ts'
import { KIND_KIND, kindOf } from '../model/entity.ts'
import type { Json } from '../model/field.ts'
import type { Registry } from '../model/registry.ts'
import type { Db } from '../store/db.ts'
import { firstOf, type Line, type PurgeMark, parseLine, seal, unsigned } from '../store/line.ts'
import * as log from '../store/log.ts'
import { mintReplica, replicaFor, saveClock, sawStamp } from '../store/replica.ts'
import { baseOf } from '../store/rows.ts'
import { keepOwn, ownLines } from '../store/trust.ts'
import { applySnapshot, type Snapshot } from './compaction.ts'
import { textsToErase } from './erasure.ts'
import { applyPurges, eraseFurther, withoutErased } from './purge.ts'
import { rebuildEntities } from './rebuild.ts'

/** What came of a delivery. */
export interface Ingested {
  applied: number
  duplicates: number
  /** Lines waiting for an earlier one of their replica (K10). */
  parked: number
  /** Lines that are not taken, with the reason. */
  refused: { line: string; why: string }[]
  /** This store had written under an identity that another one uses; it has a new one now (K12). */
  forked: boolean
  /** Something was erased: its bytes are to be driven out of the files. These texts are it, as far as they are known. */
  erased?: string[]
}

export interface Delivery {
  project: string
  lines: Line[]
  snapshots: Snapshot[]
}

/** What one replica gives another: a header, then one line each. */
export const printDelivery = (project: string, lines: readonly string[]): Uint8Array =>
  new TextEncoder().encode(`${[JSON.stringify({ tidemark: 1, project }), ...lines].join('\n')}\n`)

/** Reads what `updatesSince` gave. */
export function parseDelivery(bytes: Uint8Array): Delivery {
  let content: string
  try {
    content = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new UserError(
      'line-damaged',
      'the updates are not valid UTF-8',
      'ask the sender to send them again; nothing was taken',
    )
  }
  const [first, ...rest] = content.split('\n').filter((l) => l !== '')
  let header: { tidemark?: number; project?: string } = {}
  try {
    header = JSON.parse(first ?? '{}')
  } catch {}
  if (header.tidemark !== 1 || typeof header.project !== 'string') {
    throw new UserError(
      'line-damaged',
      'these are not updates of a Tidemark this one knows',
      'pass on what updatesSince gave, whole and unchanged',
    )
  }
  const lines: Line[] = []
  const snapshots: Snapshot[] = []
  for (const l of rest) {
    if (l.startsWith('{"snapshot"')) snapshots.push((JSON.parse(l) as { snapshot: Snapshot }).snapshot)
    else lines.push(parseLine(l))
  }
  return { project: header.project, lines, snapshots }
}

/**
 * Takes in lines from another replica. The caller holds the write lock; order, repetition and loss do not matter.
 */
export function ingest(db: Db, env: Env, registry: () => Registry, delivery: Omit<Delivery, 'project'>): Ingested {
  const out: Ingested = { applied: 0, duplicates: 0, parked: 0, refused: [], forked: false }
  const t: Taking = { db, env, makeRegistry: registry, out, heads: new Map(), seen: 0 }
  const own = replicaFor(db, env).tag
  const foreign = delivery.lines.filter((l) => l.replica === own)
  if (foreign.some((l) => l.seq > log.head(db, own).seq)) {
    // lines of ours that we do not know: we were rolled back. What comes next is written under a new identity
    const { clock } = replicaFor(db, env)
    const tag = mintReplica(db, env)
    saveClock(db, { ms: clock.ms, ctr: 0 })
    log.finding(
      db,
      `forked:${tag}`,
      env.now(),
      `another store writes as ${own}, so this one is a copy of it, or was restored; it writes as ${tag} now`,
    )
    out.forked = true
  }
  for (const s of delivery.snapshots) {
    for (const f of s.forked ?? []) giveUp(t, f.replica, f.from)
    if (s.purged?.length > 0) noteErased(t, s.purged)
    applySnapshot(db, registry, s, env.now())
  }
  for (const line of delivery.lines) take(t, unsigned(line))
  for (const replica of log.replicasWaiting(db)) release(t, replica)
  sawStamp(db, t.seen)
  log.packDue(db)
  out.parked = log.gaps(db).reduce((n, g) => n + g.parked, 0)
  return out
}

/** A delivery that is being taken in, and what is not asked of the store again for each of its lines. */
interface Taking {
  readonly db: Db
  readonly env: Env
  readonly out: Ingested
  readonly makeRegistry: () => Registry
  known?: Registry | undefined
  /** The last line of replicas that have not forked, and of which no line waits. */
  readonly heads: Map<string, Line>
  /** The latest stamp. */
  seen: number
}

const registryOf = (t: Taking): Registry => (t.known ??= t.makeRegistry())

/** What was known of the store may have changed. */
function forget(t: Taking): void {
  t.known = undefined
  t.heads.clear()
}

const noteErased = ({ db, out }: Taking, purges: readonly PurgeMark[]): void => {
  out.erased = [...(out.erased ?? []), ...textsToErase(db, purges)]
}

function differs(db: Db, line: Line): boolean {
  const known = log.hashOf(db, line.replica, line.seq)
  return known !== undefined && known !== line.hash
}

function take(t: Taking, line: Line): void {
  const { db, env, heads } = t
  const known = heads.get(line.replica)
  if (known && firstOf(line) === known.seq + 1 && line.prev === known.hash) {
    accept(t, line)
    if (isPlain(line)) heads.set(line.replica, line)
    return
  }
  heads.delete(line.replica)
  const forked = log.forkedFrom(db, line.replica)
  if (forked !== undefined && line.seq >= forked) {
    moveToBranch(t, line, forked)
    return
  }
  const head = log.head(db, line.replica)
  if (line.seq <= head.seq && (line.seq <= log.coveredUpTo(db, line.replica) || !differs(db, line))) {
    t.out.duplicates++
    return
  }
  if (firstOf(line) > head.seq + 1) {
    log.park(db, withoutErased(db, line), env.now())
    return
  }
  const before = firstOf(line) === head.seq + 1 ? head.hash : log.hashOf(db, line.replica, firstOf(line) - 1)
  if (line.seq <= head.seq || (before !== undefined && before !== line.prev)) {
    settleFork(t, line.replica, line.seq <= head.seq ? line.seq : firstOf(line) - 1)
    take(t, line)
    return
  }
  accept(t, line)
  release(t, line.replica)
  const isLast = isPlain(line) && log.head(db, line.replica).hash === line.hash
  if (isLast && forked === undefined && !log.nextParked(db, line.replica, line.seq)) heads.set(line.replica, line)
}

function release(t: Taking, replica: string): void {
  const { db } = t
  for (;;) {
    const { seq } = log.head(db, replica)
    const next = log.nextParked(db, replica, seq)
    if (!next || firstOf(next) > seq + 1) return
    log.unpark(db, next)
    take(t, next)
  }
}

function accept(t: Taking, line: Line): void {
  const { db, env, out } = t
  const now = env.now()
  if (line.at > now + MAX_LEAD_MS) {
    log.finding(
      db,
      `clock:${line.replica}`,
      now,
      `replica ${line.replica} wrote a stamp ${Math.round((line.at - now) / 60_000)} minutes ahead of this clock`,
    )
  }
  t.seen = Math.max(t.seen, line.at)
  const taken = withoutErased(db, line)
  applyLine(db, new Docs(db), registryOf(t), taken, now)
  const plain = isPlain(line)
  if (!plain) forget(t)
  if (line.purges.length > 0) {
    noteErased(t, line.purges)
    applyPurges(db, registryOf(t), line.purges)
  }
  for (const f of line.forks ?? []) giveUp(t, f.replica, f.from)
  if (eraseFurther(db, () => registryOf(t), taken)) out.erased ??= []
  if (!plain && [...line.updates.keys()].some((id) => kindOf(id) === KIND_KIND))
    reprojectKinds(db, registryOf(t), line.updates.keys())
  if (!plain || out.erased) forget(t)
  out.applied++
}

/**
 * Two stores wrote different lines under one identity (K12): a copy that did not know of it, or a store brought back
 * from a backup. What others have written upon such a line says which it overwrites by the identity alone, so neither
 * branch may stay. From the first line that differs on the identity is given up, here and, by a line that says so,
 * everywhere; each branch goes on under an identity of its own.
 */
function settleFork(t: Taking, replica: string, from: number): void {
  const { db, env } = t
  sawStamp(db, t.seen)
  giveUp(t, replica, from)
  const now = env.now()
  const { tag, clock } = replicaFor(db, env)
  const head = log.head(db, tag)
  const notice = seal({
    replica: tag,
    seq: head.seq + 1,
    prev: head.hash,
    at: tick(clock, now),
    author: {},
    summary: `two stores wrote as ${replica}: from line ${from} on it is said again under other identities`,
    updates: new Map(),
    events: [],
    purges: [],
    forks: [{ replica, from }],
  })
  applyLine(db, new Docs(db), registryOf(t), notice, now, true)
  saveClock(db, { ms: notice.at, ctr: clock.ctr })
}

function giveUp(t: Taking, replica: string, from: number): void {
  const { db, env, out } = t
  const already = log.forkedFrom(db, replica)
  if (already !== undefined && already <= from) return
  log.setForked(db, replica, from)
  const { tag, clock } = replicaFor(db, env)
  const isOwn = ownLines(db)
  forget(t)
  const lost = [...takeOut(db, t.makeRegistry, replica, from), ...log.takeParkedFrom(db, replica, from)]
  const own = lost.filter((l) => isOwn(l.replica, l.seq))
  if (tag === replica) {
    mintReplica(db, env)
    saveClock(db, { ms: clock.ms, ctr: 0 })
    out.forked = true
  }
  log.finding(
    db,
    `forked:${replica}`,
    env.now(),
    `two stores wrote as ${replica}, so one is a copy of the other or was restored; its lines from ${from} on are said again under other identities`,
  )
  for (const line of lost) moveToBranch(t, line, from)
  for (const { hash } of own) {
    const branch = log.branchedTo(db, hash)
    if (branch) keepOwn(db, branch.replica, branch.seq)
  }
}

/** Takes a branch out of the log, and what it said out of the entities. */
function takeOut(db: Db, registry: () => Registry, replica: string, from: number): Line[] {
  const lines = log.takeLinesFrom(db, replica, from)
  const entities = new Set(lines.flatMap((l) => [...l.updates.keys()]))
  if (entities.size > 0) rebuildEntities(db, registry(), entities)
  return lines
}

/** The identity of a branch: of the hash of its first line, so that everybody gives it the same. */
function branchTag(line: Line): string {
  const client = Number.parseInt(sha256(`${line.replica}:${line.hash}`).slice(0, 8), 16) >>> 0 || 1
  return replicaOf(client)
}

/**
 * Puts a line of a forked identity under the identity of its branch. Everybody who does it gets the same line, so it
 * is one line however many do. It waits if the line before it has not come.
 */
function moveToBranch(t: Taking, given: Line, from: number): void {
  const { db, env, out } = t
  if (log.branchedTo(db, given.hash)) {
    out.duplicates++
    return
  }
  const before = given.seq === from ? { replica: branchTag(given), seq: 0 } : log.branchedTo(db, given.prev)
  if (!before) {
    log.park(db, withoutErased(db, given), env.now())
    return
  }
  const { replica: tag } = before
  const seq = before.seq + 1
  t.heads.delete(tag)
  log.setBranched(db, given.hash, tag, seq)
  const head = log.head(db, tag)
  if (head.seq >= seq) out.duplicates++
  else {
    const line = withoutErased(db, given)
    // what was erased is not said again
    const kept = line.events.filter((e) => !e.purged || e.op === 'remove')
    const firstCtr = Math.min(
      log.firstCtr(db, tag) ?? Number.POSITIVE_INFINITY,
      kept[0]?.stamp.ctr ?? Number.POSITIVE_INFINITY,
    )
    const events = kept.map((e) => underBranch(e, line.replica, firstCtr, tag))
    const updates = new Map<string, Uint8Array>()
    for (const [id, update] of line.updates) {
      updates.set(
        id,
        rewriteUpdate(
          update,
          events.filter((e) => e.entity === id),
          {
            replica: line.replica,
            clock: clockAfter(
              [...(baseOf(db, id) ? [baseOf(db, id)!.state] : []), ...log.updatesOf(db, line.replica, from, id)],
              line.replica,
            ),
          },
          { replica: tag, updates: log.updatesOf(db, tag, seq, id) },
        ),
      )
    }
    const { substitute: _, forks: __, from: ___, ...said } = line
    // whoever says it again, with the signature or without, says the same
    const { key: ____, sig: _____, ...author } = line.author
    accept(t, seal({ ...said, author, replica: tag, seq, prev: head.hash, updates, events }))
    for (const f of line.forks ?? []) giveUp(t, f.replica, f.from)
  }
  for (const next of log.parkedBehind(db, given)) {
    log.unpark(db, next)
    moveToBranch(t, next, from)
  }
}

/** An event as its branch says it: counters stay, and what refers to the branch's own writes names the branch. */
function underBranch(e: Event, lost: string, firstCtr: number, tag: string): Event {
  const own = (replica: string, ctr: number) => replica === lost && ctr >= firstCtr
  const state = e.field === STATE ? (e.value as unknown as StateValue | undefined) : undefined
  const upTo = state?.s === 'deleted' ? state.seen[lost] : undefined
  return {
    ...e,
    ...(state?.s === 'deleted' && upTo !== undefined && upTo >= firstCtr
      ? { value: { ...state, seen: { ...state.seen, [lost]: firstCtr - 1, [tag]: upTo } } as unknown as Json }
      : {}),
    stamp: { ...e.stamp, replica: tag },
    over: e.over.map(([replica, ctr]) => [own(replica, ctr) ? tag : replica, ctr] as const),
  }
}
