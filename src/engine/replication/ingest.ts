/**
 * replication: how stores meet, shrink and heal. Ingests lines of other replicas, compacts old ones, purges and erases,
 * checks, rebuilds and restores.
 */

import type { Env } from '../../base/env.ts'
import { attempt, UserError } from '../../base/errors.ts'
import { KIND_KIND, kindOf } from '../../model/entity.ts'
import { isObject, jsonIn } from '../../model/object.ts'
import type { Registry } from '../../model/registry.ts'
import { MAX_LEAD_MS, tick } from '../log/clock.ts'
import type { Event } from '../log/events.ts'
import { applyLine, entitiesIn, isPlain, reprojectKinds, States } from '../materialize/apply.ts'
import { noteAhead } from '../store/clock-ahead.ts'
import { keepLost } from '../store/compare.ts'
import { entitiesWithin } from '../store/coverage.ts'
import type { Db } from '../store/db.ts'
import { ask, moveAsked } from '../store/held.ts'
import { isKeyed, isKeyOf, leaving, publicKey, unsigned } from '../store/keys.ts'
import {
  type Fork, follows, isStandIn, isTombstone, type Line, merged, originalIn, type PurgeMark, parseLine, pieced, printLine,
  redacted, seal, standingFor, tombstoneOf,
} from '../store/line.ts' // biome-ignore format: a list
import * as log from '../store/log.ts'
import { getMeta } from '../store/meta.ts'
import { isOwnReplica, keepLeft, keepOwn, ownIdentities, ownLines } from '../store/own-lines.ts'
import { addRange, type Range } from '../store/ranges.ts'
import { followingShared, keepShared, mintReplica, replicaFor, saveClock, sawStamp } from '../store/replica.ts'
import { signedRight } from './attested.ts'
import { inBranches } from './branches.ts'
import { applySnapshot, damagedState, parseSnapshot, type SignedSnapshot } from './compaction.ts'
import { textsToErase } from './erasure.ts'
import { freezeErased, guarded, keepEndorsements } from './held.ts'
import { keysOf, type MayErase, mayErase } from './may-erase.ts'
import { applyPurges, asKept, eraseFurther } from './purge.ts'
import { rebuildEntities } from './rebuild.ts'
import { decidingLines } from './vouched.ts'

export interface Ingested {
  applied: number
  duplicates: number
  /** Lines that are named by later ones, and missing here. */
  gaps: number
  refused: { line: string; why: string }[]
  /** This store had written under an identity that another one uses; it has a new one now (K12). */
  forked: boolean
  /** Entities that may hold otherwise here now. */
  touched: Set<string>
  /** How many lines of its own came back to this store. */
  back?: number
  /** Something was erased: its bytes are to be driven out of the files. These texts are it, as far as they are known. */
  erased?: string[]
}

export type Delivery = { project: string; lines: Line[]; snapshots: SignedSnapshot[] }

/** What one replica gives another: a header, then one line each. */
export const printDelivery = (project: string, lines: readonly string[]): Uint8Array =>
  new TextEncoder().encode(`${[JSON.stringify({ tidemark: 1, project }), ...lines].join('\n')}\n`)

export function parseDelivery(bytes: Uint8Array, own = false): Delivery {
  const content = attempt(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  if (content === undefined) {
    const hint = 'ask the sender to send them again; nothing was taken'
    throw new UserError('line-damaged', 'the updates are not valid UTF-8', hint)
  }
  const [first, ...rest] = content.split('\n').filter((l) => l !== '')
  const header = jsonIn(first ?? '')
  if (!isObject(header) || header.tidemark !== 1 || typeof header.project !== 'string') {
    const hint = 'pass on what updatesSince gave, whole and unchanged'
    throw new UserError('line-damaged', 'these are not updates of a Tidemark this one knows', hint)
  }
  const lines: Line[] = []
  const snapshots: SignedSnapshot[] = []
  for (const l of rest) {
    if (!l.startsWith('{"snapshot"')) lines.push(parseLine(l, own))
    else {
      const snapshot = parseSnapshot(l)
      if (!snapshot) throw damagedState()
      snapshots.push(snapshot)
    }
  }
  return { project: header.project, lines, snapshots }
}

export interface IngestOptions {
  /** The lines are this store's own, from a copy of it: nobody else has signed them. */
  readonly own?: boolean
  /** The store is not in its place yet: who opens it there cleans the files of what was erased. */
  readonly unfinished?: boolean
}

/** Takes in lines from another replica, in any order. The caller holds the write lock. */
export function ingest(
  db: Db,
  env: Env,
  registry: () => Registry,
  delivery: Omit<Delivery, 'project'>,
  options: IngestOptions = {},
): Ingested {
  const out: Ingested = { applied: 0, duplicates: 0, gaps: 0, refused: [], forked: false, touched: new Set() }
  const t: Taking = {
    ...{ db, env, makeRegistry: registry, out, isOwn: options.own === true },
    decides: options.own === true && options.unfinished !== true,
    ...{ heads: new Map(), mine: new Map(), due: new Set(), own: new Set(), seen: 0 },
  }
  // a line of a branch is taken as its replica wrote it: under which name it stands here is found anew
  const originals = delivery.lines.map((l) => originalIn(l) ?? l)
  const lines = t.isOwn ? originals : sound(t, originals)
  const { tag: own, clock } = replicaFor(db, env)
  if (lines.some((l) => l.replica === own && l.seq > log.head(db, own).seq)) {
    // lines of ours that we do not know: we were rolled back. What comes next is written under a new identity
    const tag = mintReplica(db, env)
    saveClock(db, { ms: clock.ms, ctr: 0 })
    const text = `another store writes as ${own}, so this one is a copy of it, or was restored; it writes as ${tag} now`
    log.finding(db, `forked:${tag}`, env.now(), text)
    out.forked = true
  }
  for (const s of delivery.snapshots) {
    const by = keysOf(s)
    const isMine = (replica: string) => isKeyed(replica) && isOwnReplica(db, replica)
    const isBelieved = (replica: string) => typeof by === 'object' && 'key' in by && isKeyOf(by.key, replica)
    for (const f of s.forked ?? [])
      if (t.isOwn || !isMine(f.replica) || isBelieved(f.replica)) giveUp(t, f.replica, f.from)
    // marks first: nothing that was erased elsewhere may touch the disk here
    if (s.purged?.length > 0) settlePurges(t, s.purged, mayErase(db, t.isOwn ? undefined : keysOf(s)), '')
    const decides = decidingLines(db)
    const isOwn = t.isOwn || s.covered.every((c) => decides(c.replica, c.last))
    // also what it does not speak of any more: it takes the place of lines that are here
    const entities = isOwn ? [] : [...new Set([...s.entities.map((e) => e.id), ...entitiesWithin(db, s.covered)])]
    touch(
      t,
      guarded(db, registryOf(t), entities, (upheld) => applySnapshot(db, registry, s, env.now(), upheld)),
    )
    for (const { replica } of s.covered) if (log.forkedFrom(db, replica) !== undefined) t.due.add(replica)
  }
  for (const [i, line] of lines.entries()) {
    const isBranched = t.isOwn && line !== delivery.lines[i]
    if (isBranched && log.forkedFrom(db, line.replica) === undefined) giveUp(t, line.replica, line.seq)
    take(t, line)
  }
  settleBranches(t)
  for (const [replica, ranges] of t.mine) if (ranges) keepBack(t, replica, ranges)
  if (out.applied > 0) log.settleFindings(db)
  sawStamp(db, t.seen)
  log.packDue(db)
  out.gaps = log.gaps(db).length
  return out
}

interface Taking {
  readonly db: Db
  readonly env: Env
  readonly out: Ingested
  readonly isOwn: boolean
  /** Whatever its lines erase is erased. Of a copy of this store that is true of what was written here alone. */
  readonly decides: boolean
  readonly makeRegistry: () => Registry
  known?: Registry | undefined
  /** The last line of replicas that have not forked, and that nothing known follows. */
  readonly heads: Map<string, Line>
  /** Lines that this store wrote under replicas whose key is here, and that came back; nothing for other replicas. */
  readonly mine: Map<string, readonly Range[] | undefined>
  /** Forked identities whose lines are to be named. */
  readonly due: Set<string>
  /** Hashes of lines that this store wrote under an identity which it gave up. */
  readonly own: Set<string>
  seen: number
}

const registryOf = (t: Taking): Registry => (t.known ??= t.makeRegistry())

/** What was known of the store may have changed. */
function forget(t: Taking): void {
  t.known = undefined
  t.heads.clear()
}

const touch = ({ out }: Taking, ids: Iterable<string>): void => {
  for (const id of ids) out.touched.add(id)
}

/** Carries out what may be erased, and keeps the rest as asked for. */
function settlePurges(t: Taking, purges: readonly PurgeMark[], may: MayErase, by: string): void {
  const { db, out } = t
  const granted: PurgeMark[] = []
  for (const p of purges) {
    const at = log.standing(db, p)
    const ids = isTombstone(p.entity)
      ? log.entitiesOf(db, at.replica, at.seq).filter((id) => tombstoneOf(id) === p.entity)
      : [p.entity]
    touch(t, ids)
    if (!may.of(p.replica)) ask(db, { ...p, ...at, by })
    else {
      granted.push(p.before ? { ...p, before: p.before.filter(([replica]) => may.of(replica)) } : p)
      if (may.as !== '*') for (const id of ids) freezeErased(db, registryOf(t), id, p, by)
    }
  }
  if (granted.length === 0) return
  out.erased = [...(out.erased ?? []), ...textsToErase(db, granted)]
  applyPurges(db, registryOf(t), granted, may.as)
}

/** So many lines of a replica in one delivery that it did not sign, and its others are left. */
const MOST_FAULTS = 64

/** The lines with a valid signature; others are refused. Of a chain of lines only the last signature is checked. */
function sound(t: Taking, lines: readonly Line[]): Line[] {
  const { db, out } = t
  const rested = new Map<string, Line>()
  const refused = new Map<string, number>()
  const isSound = (line: Line): boolean => {
    const isKnown = log.hashOf(db, line.replica, line.seq) === line.hash || log.branchedTo(db, line.hash)
    const isOfBranch = !isKeyed(line.replica) && log.isBranch(db, line.replica)
    if (!isOfBranch && (!isKeyed(line.replica) || isKnown)) return true
    const faults = refused.get(line.replica) ?? 0
    if (faults > MOST_FAULTS) return false // nobody checks a flood to its end
    const next = rested.get(line.replica)
    const isAttested = next?.from === line.seq + 1 && follows(next, line.hash)
    const key = line.signature?.key ?? log.keyOf(db, line.replica)
    const why = isOfBranch ? 'stands under the name of a branch' : unsigned(line, key, isAttested)
    if (why !== undefined) {
      refused.set(line.replica, faults + 1)
      out.refused.push({
        line: `${line.replica}:${line.seq}`,
        why: `line ${line.seq} of replica ${line.replica} ${why}`,
      })
      return false
    }
    log.keepKey(db, line.replica, key!)
    rested.set(line.replica, line)
    return true
  }
  const taken = new Set(lines.toReversed().filter(isSound))
  return lines.filter((l) => taken.has(l))
}

function take(t: Taking, line: Line): void {
  const { db, heads, out } = t
  const last = heads.get(line.replica)
  if (last && line.from === last.seq + 1 && follows(line, last.hash)) {
    accept(t, line)
    if (isPlain(line)) heads.set(line.replica, line)
    return
  }
  heads.delete(line.replica)
  const forked = log.forkedFrom(db, line.replica)
  if (forked !== undefined && line.seq >= forked) {
    const kept = asKept(db, line)
    const stands = log.branchedTo(db, line.hash)
    const there = stands && log.lineOf(db, stands.replica, stands.seq)
    if (there?.partial && !isStandIn(there)) return void complete(t, standingFor(there, line))
    if (stands || log.isParked(db, line) || isFolded(db, kept)) return void out.duplicates++
    log.park(db, kept, t.env.now())
    t.due.add(line.replica)
    return
  }
  const known = log.hashOf(db, line.replica, line.seq)
  const isCovered = known === undefined && log.isCovered(db, line.replica, line.seq)
  if (known === line.hash || isCovered) out.duplicates++
  if (isCovered) return
  if (known === line.hash || (known !== undefined && isOriginalOf(db, line))) return void complete(t, line)
  const from = known === undefined ? forkAt(db, line) : line.seq
  if (from !== undefined) {
    settleFork(t, line, from)
    take(t, line)
    return
  }
  accept(t, line)
  const isLast = isPlain(line) && log.head(db, line.replica).hash === line.hash
  if (isLast && forked === undefined) heads.set(line.replica, line)
}

/** Whether all that a line says stands here as folded, or was overwritten by what does. */
function isFolded(db: Db, { replica, seq, events }: Line): boolean {
  const stands = ({ entity, field, stamp: { ms, ctr } }: Event) =>
    log.eventsOf(db, entity).some(({ event: { field: of, stamp, over } }) => {
      const isSame = stamp.replica === replica && stamp.ctr === ctr && stamp.ms === ms
      return of === field && (isSame || over.some(([r, c]) => r === replica && c === ctr))
    })
  return events.length > 0 && log.isCovered(db, replica, seq) && events.every(stands)
}

/** The first line from which another store has written under this identity, as far as the lines here show it. */
function forkAt(db: Db, line: Line): number | undefined {
  const { replica, seq, from, v } = line
  if (isStandIn(line)) return undefined
  const before = from > 1 ? log.hashOf(db, replica, from - 1) : undefined
  if (before !== undefined && !follows(line, before)) return from - 1
  if (line.local) return undefined
  const beside = log.beside(db, replica, seq, 'before')
  if (v === 2 && beside && beside.seq >= from && !beside.local) return beside.seq
  const next = log.beside(db, replica, seq, 'after')
  if (!next || (v === 1 && next.from !== seq + 1)) return undefined
  const isNext = next.from === seq + 1 ? follows(next, line.hash) : next.from > seq
  return isNext || next.local ? undefined : seq
}

/** Whether a line stands in for this one under another hash: that of the log was damaged, and the next line tells the right one. */
function isOriginalOf(db: Db, line: Line): boolean {
  const there = log.lineOf(db, line.replica, line.seq)
  const next = there && isStandIn(there) ? log.beside(db, line.replica, line.seq, 'after') : undefined
  return next?.from === line.seq + 1 && follows(next, line.hash)
}

/** A line that is here in part may come again with more of it, and one that something stands in for as it was sealed. */
function complete(t: Taking, line: Line): void {
  const { db } = t
  const there = log.lineOf(db, line.replica, line.seq)
  if (!there || isStandIn(line)) return
  const whole = isStandIn(there)
    ? pieced(signedRight(line, log.keyOf(db, line.replica)), there.events)
    : merged(line, there)
  if (whole === there) return
  const kept = asKept(db, whole)
  if (printLine(kept) === printLine(there)) return // all that is more of it was erased here
  const entities = [...new Set([...entitiesIn(there), ...entitiesIn(kept)])]
  // nobody here has read or agreed to what it says more
  const isNew = !isStandIn(there) && !isOwnReplica(db, line.replica)
  const replace = () => {
    log.replaceLine(db, kept)
    rebuildEntities(db, registryOf(t), new Set(entities))
    return new Set(entities)
  }
  touch(t, guarded(db, registryOf(t), isNew ? entities : [], replace, 'more'))
  if (isStandIn(there)) {
    noteBack(t, line)
    obey(t, line)
  }
  t.out.applied++
}

function accept(t: Taking, line: Line): void {
  const { db, env, out } = t
  const now = env.now()
  if (line.at > now + MAX_LEAD_MS) noteAhead(db, entitiesIn(line))
  if (line.at > now + MAX_LEAD_MS && !isOwnReplica(db, line.replica)) {
    const who = line.author.user === undefined ? '' : ` of ${line.author.user}`
    const text = `the clock${who} is wrong, or the one here: replica ${line.replica} dated batch ${line.seq} ${new Date(line.at).toISOString()}; it counts as of ${new Date(now).toISOString()}`
    log.finding(db, `clock:${line.replica}`, now, text)
  }
  t.seen = Math.max(t.seen, line.at)
  const taken = asKept(db, line)
  applyLine(db, new States(db), registryOf(t), taken, now)
  touch(t, entitiesIn(taken))
  const plain = isPlain(line)
  if (!plain) forget(t)
  noteBack(t, line)
  obey(t, line)
  if (eraseFurther(db, () => registryOf(t), taken)) out.erased ??= []
  const touched = plain ? [] : [...entitiesIn(taken)]
  if (touched.some((id) => kindOf(id) === KIND_KIND)) reprojectKinds(db, registryOf(t), touched)
  if (!plain || out.erased) forget(t)
  out.applied++
}

/** Notes a line of this store's own that came from others: it was lost here. Its key shows whose it is. */
function noteBack({ db, mine, isOwn }: Taking, { replica, seq }: Line): void {
  if (isOwn) return
  if (!mine.has(replica)) {
    const key = isKeyed(replica) && isOwnReplica(db, replica) ? publicKey(getMeta(db, 'project') ?? '') : undefined
    mine.set(replica, key !== undefined && isKeyOf(key, replica) ? [] : undefined)
  }
  const ranges = mine.get(replica)
  if (ranges) mine.set(replica, addRange(ranges, seq))
}

/** Lines of a replica that came back are this store's own. What lay between them and stayed on this machine is lost. */
function keepBack({ db, out }: Taking, replica: string, ranges: readonly Range[]): void {
  keepLeft(db, replica, ranges)
  const { upTo = 0 } = ownIdentities(db).find((own) => own.replica === replica) ?? {}
  const last = ranges.at(-1)?.[1] ?? 0
  out.back = (out.back ?? 0) + ranges.reduce((n, [from, to]) => n + to - from + 1, 0)
  if (last <= upTo) return
  keepLost(db, [{ replica, from: upTo + 1, to: last }])
  keepOwn(db, replica, last)
}

function obey(t: Taking, line: Line): void {
  const { db } = t
  const fresh = line.purges.filter((p) => !log.isMarked(db, p))
  if (fresh.length > 0) {
    const author = originalIn(line)?.replica ?? line.replica
    const isOwn = t.decides || decidingLines(db)(line.replica, line.seq)
    settlePurges(t, fresh, mayErase(db, isOwn ? undefined : { author, line }), `${line.replica}:${line.seq}`)
  }
  for (const f of line.forks) if (isProven(t, line, f)) giveUp(t, f.replica, f.from)
}

/** Whether a fork is proven (K12'): by two signed lines that contradict each other. Of a replica of 0.1.0, which has no key, a signed notice is enough. */
function isProven({ db, isOwn }: Taking, line: Line, { replica, from, proof }: Fork): boolean {
  if (log.isBranch(db, replica)) return false // its lines tell
  if (isOwn || replica === line.replica) return true
  if (!isKeyed(replica)) return isKeyed(originalIn(line)?.replica ?? line.replica)
  if (!proof) return false
  try {
    const [a, b] = proof.map((text) => parseLine(text)) as [Line, Line]
    const isOf = (l: Line) => l.replica === replica && l.seq >= from && unsigned(l) === undefined
    return isOf(a) && isOf(b) && a.hash !== b.hash && contradict(a, b)
  } catch {
    return false
  }
}

/** Whether two lines of a replica cannot both be its own: one number, one predecessor, or one where the other says that none left. */
function contradict(a: Line, b: Line): boolean {
  const [first, later] = a.seq <= b.seq ? [a, b] : [b, a]
  if (first.seq === later.seq || first.from === later.from) return true
  return later.from <= first.seq || (later.from === first.seq + 1 && !follows(later, first.hash))
}

/** Two stores wrote under one identity (K12). It is given up from the first line that differs; each branch gets its own identity. */
function settleFork(t: Taking, line: Line, from: number): void {
  const { db, env } = t
  const { replica } = line
  sawStamp(db, t.seen)
  const proof = isKeyed(replica) ? proofOf(t, line, from) : undefined
  giveUp(t, replica, from)
  const now = env.now()
  const { tag, clock } = replicaFor(db, env)
  const notice = seal({
    ...{ replica: tag, seq: log.head(db, tag).seq + 1, ...followingShared(db), at: tick(clock, now) },
    ...{ author: {}, events: [], ctr: clock.ctr + 1 },
    forks: [{ replica, from, ...(proof ? { proof } : {}) }],
  })
  applyLine(db, new States(db), registryOf(t), notice, now)
  keepShared(db, notice)
  saveClock(db, { ms: notice.at, ctr: clock.ctr })
}

/** The two lines that show a fork, without their content. */
function proofOf({ db }: Taking, line: Line, from: number): [string, string] | undefined {
  const others = [log.lineOf(db, line.replica, from), log.beside(db, line.replica, line.seq, 'after')]
  const other = others.find((o) => o && o.hash !== line.hash && contradict(o, line))
  if (!other) return undefined
  const print = leaving(getMeta(db, 'project') ?? '', (replica) => log.keyOf(db, replica))
  const envelope = (l: Line) => print(redacted(l, { hides: () => true, header: true }))
  return [envelope(other), envelope(line)]
}

/** Gives up an identity from a line on: what stood there is named anew. */
function giveUp(t: Taking, replica: string, from: number): void {
  const { db, env, out } = t
  const already = log.forkedFrom(db, replica)
  if ((already !== undefined && already <= from) || log.isBranch(db, replica)) return // the lines of a branch tell
  log.setForked(db, replica, from)
  const { tag, clock } = replicaFor(db, env)
  const isOwn = ownLines(db)
  forget(t)
  keepEndorsements(db, [{ replica, first: from, last: Number.MAX_SAFE_INTEGER }])
  const lost = log.takeLinesFrom(db, replica, from)
  rebuildWithout(t, lost)
  for (const line of lost) {
    if (isOwn(replica, line.seq)) t.own.add(line.hash)
    log.park(db, line, env.now())
  }
  if (tag === replica) {
    mintReplica(db, env)
    saveClock(db, { ms: clock.ms, ctr: 0 })
    out.forked = true
  }
  const text = `two stores wrote as ${replica}, so one is a copy of the other or was restored; its lines from ${from} on are said again under other identities`
  log.finding(db, `forked:${replica}`, env.now(), text)
  t.due.add(replica)
}

/** What lines said that are taken out of the log says so no more. */
function rebuildWithout(t: Taking, lines: readonly Line[]): void {
  const entities = new Set(lines.flatMap((l) => [...entitiesIn(l)]))
  if (entities.size > 0) rebuildEntities(t.db, t.makeRegistry(), entities)
  touch(t, entities)
}

/** Names the lines of forked identities of which some came, or of which a fork was learnt. */
function settleBranches(t: Taking): void {
  const { db, env } = t
  for (const replica of t.due) {
    t.due.delete(replica)
    const from = log.forkedFrom(db, replica)!
    const originalOf = (l: Line) => originalIn(l) ?? l
    const waiting = log.waitingOf(db, replica).filter((l) => originalOf(l).seq >= from)
    const there = new Map(log.branchedOf(db, replica).map((l) => [originalOf(l).hash, l]))
    const owns = ownLines(db)
    const own = new Set([...t.own, ...[...there].flatMap(([hash, l]) => (owns(l.replica, l.seq) ? hash : []))])
    const lines = [...there.values(), ...waiting].map(originalOf)
    const all = [...new Map(lines.toReversed().map((l) => [l.hash, l])).values()]
    const [folded, each] = [true, false].map((is) => all.filter((l) => isFolded(db, l) === is)) as [Line[], Line[]]
    const isOwn = (line: Line, named?: Line) =>
      own.has(line.hash) || (named ? owns(named.replica, named.seq) : line.local && t.isOwn)
    const made = inBranches(db, each, from, isOwn)
    const isAsWas = (line: Line) => made.get(line)?.hash === there.get(line.hash)?.hash
    const moved = all.flatMap((l) => (isAsWas(l) ? [] : (there.get(l.hash) ?? [])))
    keepEndorsements(db, moved.map((l) => ({ replica: l.replica, first: l.seq, last: l.seq }))) // biome-ignore format: a row
    for (const line of moved) {
      log.takeLine(db, line)
      log.unsetBranched(db, originalOf(line).hash)
      declineAs(t, line, originalOf(line))
      log.park(db, originalOf(line), env.now())
    }
    for (const line of folded) log.unpark(db, line)
    rebuildWithout(t, moved)
    const placed = new Set([...made.keys()].map((l) => l.hash))
    for (const line of waiting) if (placed.has(originalOf(line).hash)) log.unpark(db, line)
    for (const [line, named] of made) if (!isAsWas(line)) putInBranch(t, line, named, own.has(line.hash))
  }
}

/** What counts nowhere counts nowhere under another name. */
function declineAs({ db, env }: Taking, line: Line, named: Line): void {
  const why = log.declinedAs(db, line)
  if (!why) return
  log.undecline(db, line)
  log.decline(db, named, why, env.now())
}

function putInBranch(t: Taking, line: Line, named: Line, isOwn: boolean): void {
  const { db } = t
  // what others wrote under this name before
  const isTaken = log.isBranch(db, named.replica) || log.beside(db, named.replica, 0, 'after')?.v === 1
  if (!isTaken) rebuildWithout(t, log.takeLinesFrom(db, named.replica, 1))
  if (log.isKnown(db, named.replica, named.seq)) return void log.park(db, line, t.env.now()) // another identity has it
  log.unpark(db, line)
  log.setBranched(db, line.hash, named.replica, named.seq)
  declineAs(t, line, named)
  moveAsked(db, line.hash, named)
  const { upTo = 0 } = ownIdentities(db).find(({ replica }) => replica === named.replica) ?? {}
  if (isOwn) keepOwn(db, named.replica, Math.max(named.local ? 0 : named.seq, upTo))
  accept(t, named)
  for (const f of line.forks) if (isProven(t, line, f)) giveUp(t, f.replica, f.from)
}
