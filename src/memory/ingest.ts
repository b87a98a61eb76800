import { STATE, type StateValue } from '../crdt/cells.ts'
import type { Event } from '../crdt/events.ts'
import { MAX_LEAD_MS } from '../crdt/hlc.ts'
import type { Env } from '../env.ts'
import { UserError } from '../errors.ts'
import type { Json } from '../schema/field.ts'
import type { Registry } from '../schema/registry.ts'
import type { Db } from '../store/db.ts'
import { type Line, parseLine, seal } from '../store/line.ts'
import * as log from '../store/log.ts'
import { applyLine, Docs, reprojectKinds, writeToDocs } from './apply.ts'
import { applySnapshot, type Snapshot } from './compact.ts'
import { KIND_KIND, kindOf } from './entity.ts'
import { applyPurges, eraseFurther, withoutErased } from './purge.ts'
import { rebuildEntities } from './rebuild.ts'
import { mintReplica, replicaFor, saveClock, sawStamp } from './replica.ts'

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
  /** Something was erased: its bytes are to be driven out of the files. */
  erased: boolean
}

export interface Delivery {
  project: string
  lines: Line[]
  snapshots: Snapshot[]
}

/** Reads what `updatesSince` gave: a header, then one line each. */
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

/** Takes in lines from another replica. The caller holds the write lock; order, repetition and loss do not matter. */
export function ingest(db: Db, env: Env, registry: () => Registry, delivery: Delivery): Ingested {
  const out: Ingested = { applied: 0, duplicates: 0, parked: 0, refused: [], forked: false, erased: false }
  const own = replicaFor(db, env).tag
  const foreign = delivery.lines.filter((l) => l.replica === own)
  if (foreign.length > 0 && foreign.some((l) => l.seq > log.head(db, own).seq || differs(db, l))) {
    fork(db, env, registry, own, foreign)
    out.forked = true
  }
  for (const s of delivery.snapshots) {
    applySnapshot(db, registry, s, env.now())
    if (s.purged?.length > 0) out.erased = true
  }
  for (const line of delivery.lines) take(db, env, registry, line, out)
  for (const replica of log.replicasWaiting(db)) release(db, env, registry, replica, out)
  out.parked = log.gaps(db).reduce((n, g) => n + g.parked, 0)
  return out
}

function differs(db: Db, line: Line): boolean {
  const known = log.hashOf(db, line.replica, line.seq)
  return known !== undefined && known !== line.hash
}

function take(db: Db, env: Env, registry: () => Registry, line: Line, out: Ingested): void {
  const head = log.head(db, line.replica)
  if (line.seq <= head.seq) {
    if (line.seq <= log.coveredUpTo(db, line.replica) || !differs(db, line)) out.duplicates++
    else if (line.hash < log.hashOf(db, line.replica, line.seq)! && follows(db, line)) {
      giveWay(db, env, registry, line, out)
      release(db, env, registry, line.replica, out)
    } else refuse(db, env, line, out, `another line ${line.replica}:${line.seq} is here already`)
    return
  }
  if (line.seq > head.seq + 1) {
    log.park(db, withoutErased(db, line), env.now())
    return
  }
  if (!follows(db, line)) {
    refuse(db, env, line, out, `${line.replica}:${line.seq} does not follow the line before it here`)
    return
  }
  accept(db, env, registry, line, out)
  release(db, env, registry, line.replica, out)
}

const follows = (db: Db, line: Line): boolean => {
  const before = line.seq === 1 ? '' : log.hashOf(db, line.replica, line.seq - 1)
  return before === undefined || before === line.prev
}

/** A line of another branch of a fork. It is kept beside: should its branch prevail here, it will be wanted. */
function refuse(db: Db, env: Env, line: Line, out: Ingested, what: string): void {
  const why = `${what}: two stores wrote under one identity`
  log.finding(db, `fork:${line.replica}:${line.seq}`, env.now(), why)
  out.refused.push({ line: `${line.replica}:${line.seq}`, why })
  log.park(db, withoutErased(db, line), env.now())
}

function release(db: Db, env: Env, registry: () => Registry, replica: string, out: Ingested): void {
  for (;;) {
    const next = log.parkedAt(db, replica, log.head(db, replica).seq + 1).find((l) => follows(db, l))
    if (!next) return
    log.unpark(db, next)
    accept(db, env, registry, next, out)
  }
}

/**
 * Of two branches that one identity was used for, every replica keeps the one whose first line has the smaller hash:
 * whoever hears of them in whatever order ends with the same. What the other branch said is said again.
 */
function giveWay(db: Db, env: Env, registry: () => Registry, line: Line, out: Ingested): void {
  const losing = takeOut(db, registry, line.replica, line.seq)
  for (const l of losing) log.park(db, l, env.now())
  accept(db, env, registry, line, out)
  sayAgain(
    db,
    env,
    registry,
    losing.filter((l) => !log.wasSaidAgain(db, l.hash)),
  )
}

function accept(db: Db, env: Env, registry: () => Registry, line: Line, out: Ingested): void {
  const now = env.now()
  if (line.at > now + MAX_LEAD_MS) {
    log.finding(
      db,
      `clock:${line.replica}`,
      now,
      `replica ${line.replica} wrote a stamp ${Math.round((line.at - now) / 60_000)} minutes ahead of this clock`,
    )
  }
  sawStamp(db, line.at)
  const docs = new Docs(db)
  const taken = withoutErased(db, line)
  applyLine(db, docs, registry(), taken, now)
  if (line.purges.length > 0) {
    applyPurges(db, registry(), line.purges)
    out.erased = true
  }
  if (eraseFurther(db, registry(), taken)) out.erased = true
  if ([...line.updates.keys()].some((id) => kindOf(id) === KIND_KIND))
    reprojectKinds(db, registry(), line.updates.keys())
  out.applied++
}

/**
 * Another store writes under this store's identity (K12): this one is a copy, was rolled back or restored. It takes
 * a new identity and says again, under it, what only it had; the other's lines then come in like anybody's.
 */
function fork(db: Db, env: Env, registry: () => Registry, own: string, foreign: readonly Line[]): void {
  const head = log.head(db, own)
  const first = foreign.filter((l) => differs(db, l)).reduce((min, l) => Math.min(min, l.seq), head.seq + 1)
  const divergent = takeOut(db, registry, own, first)
  const clockMs = replicaFor(db, env).clock.ms
  const tag = mintReplica(db, env)
  saveClock(db, { ms: clockMs, ctr: 0 })
  log.finding(
    db,
    `forked:${tag}`,
    env.now(),
    `another store writes as ${own}, so this one is a copy of it, or was restored; it writes as ${tag} now and said ${divergent.length} batch${divergent.length === 1 ? '' : 'es'} again (from ${own}:${first})`,
  )
  sayAgain(db, env, registry, divergent)
}

/** Takes a branch out of the log, and what it said out of the entities. */
function takeOut(db: Db, registry: () => Registry, replica: string, from: number): Line[] {
  const lines = log.takeLinesFrom(db, replica, from)
  const entities = new Set(lines.flatMap((l) => [...l.updates.keys()]))
  if (entities.size > 0) rebuildEntities(db, registry(), entities)
  return lines
}

/** Says lines of a lost branch again under this store's identity, with their moments and authors. */
function sayAgain(db: Db, env: Env, registry: () => Registry, lines: readonly Line[]): void {
  if (lines.length === 0) return
  const { tag, clock } = replicaFor(db, env)
  const lost = lines[0]!.replica
  const firstLost = Math.min(...lines.flatMap((l) => l.events.map((e) => e.stamp.ctr)))
  const renumbered = new Map<number, number>()
  let ctr = clock.ctr
  let { seq, hash: prev } = log.head(db, tag)
  const overwrites = (over: Event['over']): Event['over'] =>
    over.flatMap(([r, c]): Event['over'] => {
      if (r !== lost || c < firstLost) return [[r, c]]
      const now = renumbered.get(c)
      return now === undefined ? [] : [[tag, now]]
    })
  for (const line of lines) {
    // what was erased is not said again
    const events = line.events
      .filter((e) => !e.purged || e.op === 'remove')
      .map((e): Event => {
        const value = e.field === STATE ? seenAgain(e.value, lost, firstLost, renumbered, tag) : e.value
        renumbered.set(e.stamp.ctr, ++ctr)
        return {
          ...e,
          ...(value !== undefined ? { value } : {}),
          stamp: { ms: e.stamp.ms, ctr, replica: tag },
          over: overwrites(e.over),
        }
      })
    const docs = new Docs(db)
    const updates = writeToDocs(docs, events, tag)
    const { substitute: _, ...said } = line
    const again = seal({
      ...said,
      author: { ...line.author, again: line.hash },
      replica: tag,
      seq: ++seq,
      prev,
      updates,
      events,
    })
    prev = again.hash
    applyLine(db, docs, registry(), again, env.now(), true)
  }
  saveClock(db, { ms: clock.ms, ctr })
}

/** What a delete had seen, when the lines it had seen are said again under another identity. */
function seenAgain(
  value: Json | undefined,
  lost: string,
  firstLost: number,
  renumbered: ReadonlyMap<number, number>,
  tag: string,
): Json | undefined {
  const state = value as unknown as StateValue | undefined
  if (state?.s !== 'deleted') return value
  const upTo = state.seen[lost]
  if (upTo === undefined || upTo < firstLost) return value
  const own = [...renumbered].filter(([c]) => c <= upTo).map(([, now]) => now)
  const seen = { ...state.seen, [lost]: firstLost - 1, ...(own.length > 0 ? { [tag]: Math.max(...own) } : {}) }
  return { ...state, seen } as unknown as Json
}
