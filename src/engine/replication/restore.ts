import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Env } from '../../base/env.ts'
import { attempt, UserError, when } from '../../base/errors.ts'
import { sha256 } from '../../model/digest.ts'
import type { Registry } from '../../model/registry.ts'
import { snapshots, syncFile } from '../store/backup.ts'
import { keepLost, keepRemade } from '../store/compare.ts'
import type { Db } from '../store/db.ts'
import { isKeyed, isKeyOf, publicKey } from '../store/keys.ts'
import { follows, isBetter, type Line, originalIn, type PurgeMark, pieced, printLine, standIn } from '../store/line.ts'
import * as log from '../store/log.ts'
import { forgetExchange } from '../store/meta.ts'
import { newStore } from '../store/open-db.ts'
import { isOwnReplica, keepLeft, keepOwn } from '../store/own-lines.ts'
import type { Range } from '../store/ranges.ts'
import { mintReplica } from '../store/replica.ts'
import * as rescue from '../store/rescue.ts'
import { isSenseless } from '../store/store-error.ts'
import { attested, signedRight } from './attested.ts'
import { snapshotOf } from './compaction.ts'
import { Erasure, textsToErase } from './erasure.ts'
import { type Delivery, type Ingested, type IngestOptions, printDelivery } from './ingest.ts'
import type { Fault } from './integrity.ts'
import { applyPurges } from './purge.ts'

/** Batches that were acknowledged and are in no copy any more. */
export interface Missing {
  readonly replica: string
  readonly from: number
  readonly to: number
  /** When the last batch before them was written, and the first one after them, as far as that is known. */
  readonly after?: number
  readonly before?: number
}

export interface Restored {
  /** The file that the new store began as; null: none could be read whole, it was put together from single batches. */
  readonly from: string | null
  /** How many batches stood in other copies alone. */
  readonly salvaged: number
  /** How many stood in no copy, and were brought back as others have them. */
  readonly shared: number
  /** Batches whose line was damaged, made again from what they did. */
  readonly remade: readonly string[]
  readonly missing: readonly Missing[]
  /** Tables of this machine alone, such as sessions and claims, that could not be read to their end. */
  readonly unread: readonly string[]
  readonly kept: readonly string[]
  /** The store was sound and held all that any copy holds. */
  readonly unchanged: boolean
}

/** What restoring and adopting need of an open store; `Memory` is one. */
export interface StoreHandle {
  readonly db: Db
  readonly projectId: string
  faults(): Fault[]
  rebuild(): unknown
  registry(): Registry
  applyUpdates(lines: Uint8Array, options?: IngestOptions): Ingested
  applyLines(delivery: Omit<Delivery, 'project'>, options?: IngestOptions): Ingested
  [Symbol.dispose](): void
}

/** Lines of the project as git and a hub hold them. */
export type Shared = readonly Line[]

type OpenAt = (path: string) => StoreHandle

export function sayMissing({ replica, from, to, after, before }: Missing): string {
  const name = from === to ? `batch ${replica}:${from} is` : `batches ${replica}:${from} to ${replica}:${to} are`
  const when = (ms: number) => new Date(ms).toISOString()
  const since = after === undefined ? '' : `, written after ${when(after)}`
  return `${name} missing${since}${before === undefined ? '' : ` and before ${when(before)}`}`
}

/** Builds a sound store from everything that can be read, verifies it, then puts it in place. Can be repeated after a kill. */
export function restoreStore(path: string, env: Env, open: OpenAt, shared: Shared = []): Restored {
  mkdirSync(dirname(path), { recursive: true }) // the store may be gone with its folder
  rescue.finishMovingAside(path)
  rescue.sweepBuilds(path)
  const sound = withSources(path, env, (sources) => soundAsItIs(path, open, new Pool(sources, shared)))
  if (sound) return sound
  const lock = rescue.holdLock(path)
  try {
    return withSources(path, env, (sources) => {
      const pool = new Pool(sources, shared)
      const build = `${path}.restoring-${process.pid}`
      for (const from of [...sources, ...(pool.lines.size > 0 ? [undefined] : [])]) {
        const done = fill(build, from, sources, pool, shared, env, open)
        if (!done) continue
        syncFile(build)
        const kept = rescue.moveAside(path, env.now())
        renameSync(build, path)
        syncFile(dirname(path))
        return { from: from?.path ?? null, ...done, kept, unchanged: false }
      }
      const message = `nothing can be read of the store ${path}, and there is no sound snapshot beside it`
      throw new UserError('no-snapshot', message, 'bring back a copy of the store from a backup of your own')
    })
  } finally {
    lock?.close()
    rescue.sweepBuilds(path)
  }
}

function withSources<T>(path: string, env: Env, body: (sources: readonly rescue.Source[]) => T): T {
  const sources = [
    ...(existsSync(path) ? [path] : []),
    ...rescue.damagedCopies(path),
    ...snapshots(path, env.now()).map((s) => s.path),
  ].map((file) => new rescue.Source(file, path))
  try {
    return body(sources)
  } finally {
    for (const s of sources) s.close()
  }
}

function soundAsItIs(path: string, open: OpenAt, pool: Pool): Restored | undefined {
  if (!existsSync(path)) return undefined
  return unlessDamaged(() => {
    using memory = open(path)
    if (memory.faults().length > 0 || pool.lacking(memory.db).own.length > 0) return undefined
    const missing = pool.missingIn(memory.db)
    return { from: null, salvaged: 0, shared: 0, remade: [], missing, unread: [], kept: [], unchanged: true }
  })
}

/** Builds a new store that holds all that is known; undefined if it cannot be made sound from this beginning. */
function fill(
  build: string,
  from: rescue.Source | undefined,
  sources: readonly rescue.Source[],
  pool: Pool,
  shared: Shared,
  env: Env,
  open: OpenAt,
): Pick<Restored, 'salvaged' | 'shared' | 'remade' | 'missing' | 'unread'> | undefined {
  for (const suffix of ['', '-wal', '-shm', '.bell', '.owner']) rmSync(build + suffix, { force: true })
  if (from === undefined) newStore(build)
  else if (!from.copyTo(build)) return undefined
  const done = unlessDamaged(() => {
    using memory = open(build)
    const { db } = memory
    const unread = new Set<string>()
    db.write(() => {
      for (const s of sources) {
        const isNewer = s === sources[0] || s.arrived > log.lastArrival(db)
        if (s !== from && isNewer) for (const table of s.copyPresence(db)) unread.add(table)
      }
      mintReplica(db, env) // an identity of its own: the old one may have written more than is known here
      forgetExchange(db)
      if (pool.identities().length === 0) ownByKey(db, memory.projectId, shared)
      for (const s of sources) if (s !== from && s.arrived >= (from?.arrived ?? 0)) s.copyDeclined(db)
      rescue.putRight(db, pool.lines, env.now())
    })
    memory.rebuild()
    db.write(() => eraseMarked(db, memory.registry(), sources, pool))
    const options = { own: true, unfinished: true }
    const take = (lines: readonly string[]) =>
      lines.length === 0 ? 0 : memory.applyUpdates(printDelivery(memory.projectId, lines), options).applied
    for (const s of sources) {
      const snapshot = s.covered().some((c) => !log.isKnown(db, c.replica, c.last)) ? s.base(snapshotOf) : undefined
      if (snapshot) take([JSON.stringify({ snapshot })])
    }
    const lacking = pool.lacking(db)
    const salvaged = take(lacking.own.map(printLine))
    // one that cannot be taken is left to the next exchange, which tells why
    unlessDamaged(() => memory.applyLines({ lines: lacking.shared, snapshots: [] }, { unfinished: true }))
    const missing = pool.missingIn(db)
    db.write(() => {
      for (const { replica, upTo } of pool.identities()) {
        keepLeft(db, replica, pool.sharedOf(replica))
        if (upTo < Number.MAX_SAFE_INTEGER) keepOwn(db, replica, upTo)
        else keepOwn(db, replica, Math.max(log.head(db, replica).seq, ...ends(missing, replica)))
      }
      keepLost(db, missing)
      keepRemade(db, pool.remade)
      for (const m of missing) log.finding(db, `missing:${m.replica}:${m.from}-${m.to}`, env.now(), sayMissing(m))
      log.settleFindings(db)
    })
    if (memory.faults().length > 0) return undefined
    return { salvaged, shared: pool.shared.size, remade: pool.remade, missing, unread: [...unread] }
  })
  for (const suffix of ['-wal', '-shm', '.bell', '.owner']) rmSync(build + suffix, { force: true })
  return done
}

/** Erases in the new store what any copy says was erased: nothing of it comes back with the lines. Files are cleaned later. */
function eraseMarked(db: Db, registry: Registry, sources: readonly rescue.Source[], pool: Pool): void {
  const isNew = (p: PurgeMark) => !log.isMarked(db, p)
  const [decided, granted] = [pool.decided.filter(isNew), pool.marks.filter(isNew)]
  const said = textsToErase(db, [...decided, ...granted])
  if (decided.length > 0) applyPurges(db, registry, decided)
  // of what others asked for their own words alone were erased
  for (const [replica, marks] of Map.groupBy(granted, (p) => p.replica)) applyPurges(db, registry, marks, replica)
  if (pool.isUnclean || sources.some((s) => s.isErasing)) new Erasure(db, undefined, { secrets: [], said }).mark()
}

const nameOf = ({ replica, seq, hash, entity }: PurgeMark) => `${replica}:${seq}:${hash}:${entity}`

/** Where no copy tells under which names this user's stores wrote, the key tells it that signed their lines. The caller holds the lock. */
export function ownByKey(db: Db, project: string, shared: Shared): void {
  const key = publicKey(project)
  for (const replica of new Set(shared.map((l) => l.replica)))
    if (key !== undefined && isKeyed(replica) && isKeyOf(key, replica)) keepOwn(db, replica, 0)
}

const ends = (missing: readonly Missing[], replica: string) =>
  missing.flatMap((m) => (m.replica === replica ? [m.to] : []))

/** In a way that reading tells, or so that SQLite cannot make sense of the tables' definitions. */
const isDamaged = (e: unknown) => (e instanceof UserError ? e.code !== 'store-newer' : isSenseless(e))
const unlessDamaged = <T>(body: () => T): T | undefined => attempt(body, when(isDamaged))

/** Every sound line that any copy holds; where one is missing and what it did is known, one that stands in for it. */
class Pool {
  readonly lines = new Map<string, Line>()
  readonly remade: string[] = []
  /** What was erased here, and all that was; and whether a copy that can be read does not know of some: it may hold that still. */
  readonly decided: PurgeMark[]
  readonly marks: PurgeMark[]
  readonly isUnclean: boolean
  readonly #heads = new Map<string, number>()
  /** The names under which they wrote, as the newest copy has them. */
  readonly #own = new Map<string, number>()
  /** Names of branches in any copy: which lines stand under them is found anew, and lines that stay here have numbers far above. */
  readonly #branches: ReadonlySet<string>
  /** Lines that no copy holds, and whether one had them. */
  readonly shared = new Map<string, boolean>()

  constructor(sources: readonly rescue.Source[], shared: Shared) {
    const covered = sources.flatMap((s) => s.covered())
    const isFolded = (replica: string, seq: number) =>
      covered.some((c) => c.replica === replica && c.first <= seq && seq <= c.last)
    for (const s of sources) {
      for (const { replica, upTo } of s.identities()) if (!this.#own.has(replica)) this.#own.set(replica, upTo)
      for (const line of s.lines) {
        const key = `${line.replica}:${line.seq}`
        const there = this.lines.get(key)
        if (!there || isBetter(line, there)) this.lines.set(key, line)
      }
      for (const [replica, seq] of s.heads()) this.#heads.set(replica, Math.max(seq, this.#heads.get(replica) ?? 0))
    }
    this.#branches = new Set([...this.lines.values()].flatMap((l) => (originalIn(l) ? l.replica : [])))
    const hashes = new Set(sources.flatMap((s) => s.hashes()))
    for (const line of attested(shared, hashes)) {
      const key = `${line.replica}:${line.seq}`
      const isBest = !this.lines.has(key) || (this.shared.get(key) === false && hashes.has(line.hash))
      if (!isBest || isFolded(line.replica, line.seq)) continue
      this.shared.set(key, hashes.has(line.hash))
      this.lines.set(key, signedRight(line))
    }
    for (const [replica, head] of this.#heads)
      for (let seq = 1; seq <= head && !this.#branches.has(replica); seq++)
        if (!isFolded(replica, seq)) this.#standIn(sources, replica, seq)
    const isOwn = ({ replica }: Line) => this.#own.has(replica)
    const said = sources.map((s) => s.marks())
    this.decided = [...this.lines.values()].flatMap((line) => (isOwn(line) ? line.purges : []))
    this.marks = said.flatMap(({ marks }) => marks)
    const all = new Set([...this.decided, ...this.marks].map(nameOf))
    this.isUnclean = said.some(({ marks, isWhole }) => isWhole && new Set(marks.map(nameOf)).size < all.size)
  }

  #standIn(sources: readonly rescue.Source[], replica: string, seq: number): void {
    const key = `${replica}:${seq}`
    const there = this.lines.get(key)
    if (there && !(there.partial && this.shared.has(key))) return
    const did = sources
      .values()
      .map((s) => s.effects(replica, seq))
      .find((effects) => effects !== undefined)
    const [first] = did?.events ?? []
    if (!did || !first) return
    if (there?.v === 2) return void this.lines.set(key, pieced(there, did.events))
    if (did.events.some((e, i) => e.stamp.ctr !== first.stamp.ctr + i)) return
    const place = { replica, seq, prev: '', at: first.stamp.ms, ctr: first.stamp.ctr }
    const next = [...this.lines.values()].find((l) => l.replica === replica && l.from === seq + 1)
    const isRight = did.hash !== undefined && (!next || follows(next, did.hash))
    const hash = isRight ? did.hash! : (next?.prev.padEnd(43, '-') ?? sha256(key))
    this.lines.set(key, standIn({ ...place, author: {}, events: did.events }, hash))
    this.remade.push(key)
  }

  identities(): { replica: string; upTo: number }[] {
    return [...this.#own].map(([replica, upTo]) => ({ replica, upTo }))
  }

  /** Lines that a store has not, and that nothing it knows makes needless: those of its copies, and what others alone have. */
  lacking(db: Db): { own: Line[]; shared: Line[] } {
    const lines = [...this.lines.values()].filter(
      (l) =>
        !log.isKnown(db, l.replica, l.seq) &&
        log.branchedTo(db, (originalIn(l) ?? l).hash) === undefined &&
        l.seq < (log.forkedFrom(db, l.replica) ?? Number.POSITIVE_INFINITY),
    )
    const isForeign = (l: Line) => this.shared.get(`${l.replica}:${l.seq}`) === false
    // others speak last, so nothing of theirs binds by what was said here before
    const rank = (l: Line) => (isOwnReplica(db, l.replica) ? 0 : 1)
    return {
      own: lines.filter((l) => !isForeign(l)).sort((a, b) => (a.replica === b.replica ? a.seq - b.seq : a.at - b.at)),
      shared: lines.filter(isForeign).sort((a, b) => rank(a) - rank(b) || a.at - b.at || a.seq - b.seq),
    }
  }

  /** Which lines of a replica no copy holds, and others do. */
  sharedOf(replica: string): Range[] {
    const own = [...this.shared.keys()].filter((key) => key.startsWith(`${replica}:`))
    return own.map((key) => this.lines.get(key)!).map((l): Range => [l.seq, l.seq])
  }

  /** What was acknowledged and is not in a store, in no form: own lines, and what others have named. */
  missingIn(db: Db): Missing[] {
    const at = (replica: string, seq: number) => log.lineOf(db, replica, seq)?.at
    const out: Missing[] = []
    const miss = (replica: string, seq: number) => {
      const last = out.at(-1)
      const from = last?.replica === replica && last.to === seq - 1 ? out.pop()!.from : seq
      const [after, before] = [at(replica, from - 1), at(replica, seq + 1)]
      out.push({ replica, from, to: seq, ...(after && { after }), ...(before && { before }) })
    }
    for (const replica of new Set([...this.#heads.keys(), ...this.#own.keys()])) {
      if (log.forkedFrom(db, replica) !== undefined || this.#branches.has(replica)) continue
      const isOwn = this.#own.has(replica)
      const to = Math.max(this.#heads.get(replica) ?? 0, isOwn ? log.head(db, replica).seq : 0)
      for (let seq = isOwn ? 1 : to; seq <= to; seq++) if (!log.isKnown(db, replica, seq)) miss(replica, seq)
    }
    return out
  }
}
