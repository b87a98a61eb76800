import type { Event } from '../crdt/events.ts'
import { MAX_LEAD_MS } from '../crdt/hlc.ts'
import type { Env } from '../env.ts'
import { UserError } from '../errors.ts'
import type { Registry } from '../schema/registry.ts'
import type { Db } from '../store/db.ts'
import { type Line, parseLine, seal } from '../store/line.ts'
import * as log from '../store/log.ts'
import { applyLine, Docs, reprojectKinds, writeToDocs } from './apply.ts'
import { applySnapshot, type Snapshot } from './compact.ts'
import { KIND_KIND, kindOf } from './entity.ts'
import { applyPurges, withoutErased } from './purge.ts'
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
  const out: Ingested = { applied: 0, duplicates: 0, parked: 0, refused: [], forked: false }
  const own = replicaFor(db, env).tag
  const foreign = delivery.lines.filter((l) => l.replica === own)
  if (foreign.length > 0 && foreign.some((l) => l.seq > log.head(db, own).seq || differs(db, l))) {
    fork(db, env, registry, own, foreign)
    out.forked = true
  }
  for (const s of delivery.snapshots) applySnapshot(db, registry, s, env.now())
  for (const line of delivery.lines) take(db, env, registry, line, out)
  for (const { replica } of log.gaps(db)) release(db, env, registry, replica, out)
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
    if (line.seq > log.coveredUpTo(db, line.replica) && differs(db, line)) {
      const why = `another line ${line.replica}:${line.seq} is here already: two stores wrote under one identity`
      log.finding(db, `fork:${line.replica}:${line.seq}`, env.now(), why)
      out.refused.push({ line: `${line.replica}:${line.seq}`, why })
    } else {
      out.duplicates++
    }
    return
  }
  if (line.seq > head.seq + 1) {
    log.park(db, line, env.now())
    return
  }
  accept(db, env, registry, line, head.hash, out)
  release(db, env, registry, line.replica, out)
}

function release(db: Db, env: Env, registry: () => Registry, replica: string, out: Ingested): void {
  for (;;) {
    const head = log.head(db, replica)
    const next = log.unpark(db, replica, head.seq + 1)
    if (next.length === 0) return
    const fits = next.find((l) => l.prev === head.hash) ?? next[0]!
    if (!accept(db, env, registry, fits, head.hash, out)) return
  }
}

function accept(db: Db, env: Env, registry: () => Registry, line: Line, prevHash: string, out: Ingested): boolean {
  if (line.prev !== prevHash && prevHash !== '') {
    const why = `${line.replica}:${line.seq} does not follow the line before it here: two stores wrote under one identity`
    log.finding(db, `fork:${line.replica}:${line.seq}`, env.now(), why)
    out.refused.push({ line: `${line.replica}:${line.seq}`, why })
    return false
  }
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
  const taken = withoutErased(db, docs, line)
  applyLine(db, docs, registry(), taken, now)
  if (line.purges.length > 0) applyPurges(db, registry(), line.purges)
  if ([...line.updates.keys()].some((id) => kindOf(id) === KIND_KIND)) reprojectKinds(db, registry(), line)
  out.applied++
  return true
}

/**
 * Another store writes under this store's identity (K12): this one is a copy, was rolled back or restored. It takes
 * a new identity and says again, under it, what only it had; the other's lines then come in like anybody's.
 */
function fork(db: Db, env: Env, registry: () => Registry, own: string, foreign: readonly Line[]): void {
  const head = log.head(db, own)
  const first = foreign.filter((l) => differs(db, l)).reduce((min, l) => Math.min(min, l.seq), Number.POSITIVE_INFINITY)
  const divergent = Number.isFinite(first) ? log.takeLinesFrom(db, own, first) : []
  const entities = new Set(divergent.flatMap((l) => [...l.updates.keys()]))
  if (entities.size > 0) rebuildEntities(db, registry(), entities)
  const clockMs = replicaFor(db, env).clock.ms
  const tag = mintReplica(db, env)
  log.finding(
    db,
    `forked:${tag}`,
    env.now(),
    `another store writes as ${own}, so this one is a copy of it, or was restored; it writes as ${tag} now and said ${divergent.length} batch${divergent.length === 1 ? '' : 'es'} again (from ${own}:${Number.isFinite(first) ? first : head.seq + 1})`,
  )
  let ctr = 0
  let seq = 0
  let prev = ''
  const renumbered = new Map<number, number>()
  for (const line of divergent) {
    const events = line.events.map((e): Event => {
      renumbered.set(e.stamp.ctr, ++ctr)
      return {
        ...e,
        stamp: { ms: e.stamp.ms, ctr, replica: tag },
        over: e.over.map(([r, c]) => (r === own && renumbered.has(c) ? [tag, renumbered.get(c)!] : [r, c])),
      }
    })
    const docs = new Docs(db)
    const updates = writeToDocs(docs, events, tag)
    const again = seal({ ...line, replica: tag, seq: ++seq, prev, updates, events })
    prev = again.hash
    applyLine(db, docs, registry(), again, env.now(), true)
  }
  saveClock(db, { ms: clockMs, ctr })
}
