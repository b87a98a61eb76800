import { existsSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Env } from '../env.ts'
import { UserError } from '../errors.ts'
import { sha256 } from '../model/digest.ts'
import { snapshots, syncFile } from '../store/backup.ts'
import { keepLost } from '../store/compare.ts'
import type { Db } from '../store/db.ts'
import { type Line, printLine, standIn } from '../store/line.ts'
import * as log from '../store/log.ts'
import { newStore } from '../store/open-db.ts'
import { mintReplica } from '../store/replica.ts'
import {
  damagedCopies,
  finishMovingAside,
  holdLock,
  moveAside,
  putRight,
  Source,
  sweepBuilds,
} from '../store/rescue.ts'
import { isSenseless } from '../store/store-error.ts'
import { keepOwn } from '../store/trust.ts'
import { snapshotOf } from './compaction.ts'
import { type Ingested, type IngestOptions, printDelivery } from './ingest.ts'
import type { Fault } from './integrity.ts'

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
  /** Batches whose line was damaged, made again from what they did. */
  readonly remade: readonly string[]
  readonly missing: readonly Missing[]
  /** Tables of this machine alone, such as sessions and claims, that could not be read to their end. */
  readonly unread: readonly string[]
  /** Files that were put aside. */
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
  applyUpdates(lines: Uint8Array, options?: IngestOptions): Ingested
  close(): void
}

/** Opens a store's file as a memory of the project. */
type OpenAt = (path: string) => StoreHandle

export function sayMissing({ replica, from, to, after, before }: Missing): string {
  const name = from === to ? `batch ${replica}:${from} is` : `batches ${replica}:${from} to ${replica}:${to} are`
  const when = (ms: number) => new Date(ms).toISOString()
  const since = after === undefined ? '' : `, written after ${when(after)}`
  return `${name} missing${since}${before === undefined ? '' : ` and before ${when(before)}`}`
}

/**
 * Makes a sound store out of everything that can be read: the damaged one, copies that earlier restores put aside,
 * snapshots. It is built beside and verified, then takes the place; no file is removed before. Killed at any point, it is
 * run again and does the same.
 */
export function restoreStore(path: string, env: Env, open: OpenAt): Restored {
  finishMovingAside(path)
  sweepBuilds(path)
  const sound = withSources(path, env, (sources) => soundAsItIs(path, open, new Pool(sources)))
  if (sound) return sound
  const lock = holdLock(path)
  try {
    return withSources(path, env, (sources) => {
      const pool = new Pool(sources)
      const build = `${path}.restoring-${process.pid}`
      for (const from of [...sources, ...(pool.lines.size > 0 ? [undefined] : [])]) {
        const done = fill(build, from, sources, pool, env, open)
        if (!done) continue
        syncFile(build)
        const kept = moveAside(path, env.now())
        renameSync(build, path)
        syncFile(dirname(path))
        return { from: from?.path ?? null, ...done, kept, unchanged: false }
      }
      throw new UserError(
        'no-snapshot',
        `nothing can be read of the store ${path}, and there is no sound snapshot beside it`,
        'bring back a copy of the store from a backup of your own',
      )
    })
  } finally {
    lock?.close()
    sweepBuilds(path)
  }
}

function withSources<T>(path: string, env: Env, body: (sources: readonly Source[]) => T): T {
  const files = [
    ...(existsSync(path) ? [path] : []),
    ...damagedCopies(path),
    ...snapshots(path, env.now()).map((s) => s.path),
  ]
  const sources = files.map((file) => new Source(file, path))
  try {
    return body(sources)
  } finally {
    for (const s of sources) s.close()
  }
}

/** Nothing is to be done if the store is sound and no copy holds anything that it lacks. */
function soundAsItIs(path: string, open: OpenAt, pool: Pool): Restored | undefined {
  if (!existsSync(path)) return undefined
  return attempt(() => {
    const memory = open(path)
    try {
      if (memory.faults().length > 0 || pool.lacking(memory.db).length > 0) return undefined
      const missing = pool.missingIn(memory.db)
      return { from: null, salvaged: 0, remade: [], missing, unread: [], kept: [], unchanged: true }
    } finally {
      memory.close()
    }
  })
}

/** Builds a new store that holds all that is known; undefined if it cannot be made sound from this beginning. */
function fill(
  build: string,
  from: Source | undefined,
  sources: readonly Source[],
  pool: Pool,
  env: Env,
  open: OpenAt,
): Pick<Restored, 'salvaged' | 'remade' | 'missing' | 'unread'> | undefined {
  for (const suffix of ['', '-wal', '-shm', '.bell', '.owner']) rmSync(build + suffix, { force: true })
  if (from === undefined) newStore(build)
  else if (!from.copyTo(build)) return undefined
  return attempt(() => {
    const memory = open(build)
    const { db } = memory
    try {
      const unread = new Set<string>()
      const identities = sources.flatMap((s) => s.meta('replica') ?? [])
      db.write(() => {
        for (const s of sources) {
          const isNewer = s === sources[0] || s.arrived > log.lastArrival(db)
          if (s !== from && isNewer) for (const table of s.copyPresence(db)) unread.add(table)
        }
        mintReplica(db, env) // an identity of its own: the old one may have written more than is known here
        putRight(db, pool.lines, env.now())
      })
      memory.rebuild()
      const take = (lines: readonly string[]) =>
        lines.length === 0 ? 0 : memory.applyUpdates(printDelivery(memory.projectId, lines), { own: true }).applied
      for (const s of sources) {
        const isAhead = s.covered().some((c) => !log.isKnown(db, c.replica, c.last))
        const snapshot = isAhead ? s.base(snapshotOf) : undefined
        if (snapshot) take([JSON.stringify({ snapshot })])
      }
      const salvaged = take(pool.lacking(db).map(printLine))
      const missing = pool.missingIn(db)
      db.write(() => {
        for (const tag of identities) keepOwn(db, tag, Math.max(log.head(db, tag).seq, ...ends(missing, tag)))
        keepLost(db, missing)
        for (const m of missing) log.finding(db, `missing:${m.replica}:${m.from}`, env.now(), sayMissing(m))
      })
      return memory.faults().length > 0 ? undefined : { salvaged, remade: pool.remade, missing, unread: [...unread] }
    } finally {
      memory.close()
      for (const suffix of ['-wal', '-shm', '.bell', '.owner']) rmSync(build + suffix, { force: true })
    }
  })
}

const ends = (missing: readonly Missing[], replica: string) =>
  missing.flatMap((m) => (m.replica === replica ? [m.to] : []))

function attempt<T>(body: () => T): T | undefined {
  try {
    return body()
  } catch (error) {
    // damaged in a way that reading tells, or so that SQLite cannot make sense of the tables' definitions
    if (error instanceof UserError ? error.code !== 'store-newer' : isSenseless(error)) return undefined
    throw error
  }
}

/** Every sound line that any copy holds; where one is missing and what it did is known, one that stands in for it. */
class Pool {
  readonly lines = new Map<string, Line>()
  readonly remade: string[] = []
  /** Up to which number this user's stores wrote, or others are known to have. */
  readonly #heads = new Map<string, number>()
  readonly #own = new Set<string>()

  constructor(sources: readonly Source[]) {
    const isFolded = (replica: string, seq: number) =>
      sources.some((s) => s.covered().some((c) => c.replica === replica && c.first <= seq && seq <= c.last))
    for (const s of sources) {
      for (const line of s.lines) {
        const key = `${line.replica}:${line.seq}`
        const there = this.lines.get(key)
        if (!there || (there.hash === line.hash && line.partial && !there.partial)) this.lines.set(key, line)
      }
      for (const [replica, seq] of s.heads()) this.#heads.set(replica, Math.max(seq, this.#heads.get(replica) ?? 0))
      for (const replica of s.identities()) this.#own.add(replica)
    }
    for (const [replica, head] of this.#heads)
      for (let seq = 1; seq <= head; seq++)
        if (!this.lines.has(`${replica}:${seq}`) && !isFolded(replica, seq)) this.#standIn(sources, replica, seq)
  }

  #standIn(sources: readonly Source[], replica: string, seq: number): void {
    const did = sources
      .values()
      .map((s) => s.effects(replica, seq))
      .find((effects) => effects !== undefined)
    const [first] = did?.events ?? []
    if (!did || !first || did.events.some((e, i) => e.stamp.ctr !== first.stamp.ctr + i)) return
    const place = { replica, seq, prev: '', at: first.stamp.ms, ctr: first.stamp.ctr }
    const next = [...this.lines.values()].find((l) => l.replica === replica && l.from === seq + 1)
    const hash = did.hash ?? next?.prev.padEnd(43, '-') ?? sha256(`${replica}:${seq}`)
    const line = standIn({ ...place, author: {}, events: did.events }, hash)
    this.lines.set(`${replica}:${seq}`, line)
    this.remade.push(`${replica}:${seq}`)
  }

  /** Lines that a store has not, and that nothing it knows makes needless. */
  lacking(db: Db): Line[] {
    return [...this.lines.values()]
      .filter(
        (l) =>
          !log.isKnown(db, l.replica, l.seq) && l.seq < (log.forkedFrom(db, l.replica) ?? Number.POSITIVE_INFINITY),
      )
      .sort((a, b) => (a.replica === b.replica ? a.seq - b.seq : a.at - b.at))
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
    for (const [replica, to] of this.#heads) {
      if (log.forkedFrom(db, replica) !== undefined) continue
      for (let seq = this.#own.has(replica) ? 1 : to; seq <= to; seq++)
        if (!log.isKnown(db, replica, seq)) miss(replica, seq)
    }
    return out
  }
}
