import { copyFileSync, existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { isRunning, thisHost } from '../../base/env.ts'
import { attempt } from '../../base/errors.ts'
import type { Event } from '../log/events.ts'
import { readMark } from './bell-file.ts'
import { baseIsSound } from './compare.ts'
import { type Covered, coveredLines } from './coverage.ts'
import { type Cell, type Db, insert, readDb } from './db.ts'
import { type Line, type MarkRow, type PurgeMark, unpackMarkRow } from './line.ts'
import * as log from './log.ts'
import { getMeta } from './meta.ts'
import { keepLeft, leftOf, ownIdentities } from './own-lines.ts'
import { LINE } from './packed.ts'
import { salvage, soundLine } from './salvage.ts'
import { holdsStore } from './schema.ts'
import { openReady } from './sqlite.ts'
import { isBusy, storeError } from './store-error.ts'

const LOCK_MS = 10_000
const TAG = /^[0-9a-z]{1,16}$/

/** Copies that earlier restores put aside, newest first; of one that was interrupted perhaps the write-ahead log alone. */
export function damagedCopies(path: string): string[] {
  const start = `${basename(path)}.damaged-`
  const numbers = readdirSync(dirname(path))
    .filter((f) => f.startsWith(start) && /^\d+(?:-wal)?$/.test(f.slice(start.length)))
    .map((f) => Number.parseInt(f.slice(start.length), 10))
  return [...new Set(numbers)].sort((a, b) => b - a).map((n) => `${path}.damaged-${n}`)
}

/** Moves the store's files aside, the database first: then nobody can open it. */
export function moveAside(path: string, now: number): string[] {
  const kept: string[] = []
  let n = now
  while (existsSync(`${path}.damaged-${n}`) || existsSync(`${path}.damaged-${n}-wal`)) n++
  for (const suffix of ['', '-wal']) {
    if (!existsSync(path + suffix)) continue
    renameSync(path + suffix, `${path}.damaged-${n}${suffix}`)
    kept.push(`${path}.damaged-${n}${suffix}`)
  }
  rmSync(`${path}-shm`, { force: true })
  return kept
}

/** Keeps a write-ahead log that SQLite reads in part alone: the next checkpoint would remove the rest of it. */
export function keepWal(path: string, now: number): void {
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0)
    copyFileSync(`${path}-wal`, `${path}.damaged-${now}-wal`)
}

/** A restore that was killed between the two: the write-ahead log follows its database. */
export function finishMovingAside(path: string): void {
  if (existsSync(path) || !existsSync(`${path}-wal`)) return
  const last = damagedCopies(path).find((copy) => existsSync(copy) && !existsSync(`${copy}-wal`))
  if (last) renameSync(`${path}-wal`, `${last}-wal`)
}

export function sweepBuilds(path: string): void {
  for (const f of readdirSync(dirname(path))) {
    const pid = Number(/^\.restoring-(\d+)/.exec(f.slice(basename(path).length))?.[1])
    if (!f.startsWith(basename(path)) || Number.isNaN(pid)) continue
    if (pid === process.pid || isRunning({ pid, born: '', host: thisHost() }) === false)
      rmSync(join(dirname(path), f), { force: true })
  }
}

/** Keeps every writer out until it is closed, as far as the file can still be opened. @throws UserError `store-busy` */
export function holdLock(path: string): DatabaseSync | undefined {
  if (!existsSync(path)) return undefined
  try {
    return openReady(path, {}, (db) => db.exec(`PRAGMA busy_timeout=${LOCK_MS}; BEGIN IMMEDIATE`))
  } catch (error) {
    if (isBusy(error)) throw storeError(error, path)
    return undefined // too damaged for anybody to write
  }
}

/** Tables of this machine that no line of the log holds. */
const OF_THIS_MACHINE = ['parked', 'sessions', 'doors', 'claims', 'presence_events', 'told', 'defines', 'current_work', 'findings', 'arrivals'] // biome-ignore format: a list

/** A file that may still hold what was written: whatever of it cannot be read is left out. */
export class Source {
  readonly path: string
  readonly lines: readonly Line[]
  readonly #db: Db | undefined
  readonly #written: string | undefined

  /** `store`: whose doorbell may name this file. */
  constructor(path: string, store: string) {
    this.path = path
    const mark = readMark(store)
    this.#written = mark && mark.inode === statSync(path, { throwIfNoEntry: false })?.ino ? mark.batch : undefined
    this.lines = salvage(path)
    this.#db = existsSync(path) ? attempt(() => readDb(path)) : undefined
  }

  /** What can be asked of it; undefined where it cannot be read. */
  #read<T>(body: (db: Db) => T): T | undefined {
    const db = this.#db
    return db && attempt(() => body(db))
  }

  /** Gives `each` the rows of a table one by one; whether that were all. */
  #each<T = Record<string, Cell>>(sql: string, each: (row: T) => void): boolean {
    return (
      this.#read((db) => {
        for (const row of db.each<T>(sql)) each(row)
        return true
      }) === true
    )
  }

  /** A copy of the whole, if SQLite can read the whole. */
  copyTo(build: string): boolean {
    rmSync(build, { force: true })
    return this.#read((db) => holdsStore(db.raw) && db.raw.prepare('VACUUM INTO ?').run(build)) instanceof Object
  }

  meta(key: string): string | undefined {
    return this.#read((db) => getMeta(db, key))
  }

  get arrived(): number {
    return Math.max(this.#read(log.lastArrival) ?? 0, this.#read(log.lastLine) ?? 0)
  }

  /** Up to which number each replica is known to have written. */
  heads(): Map<string, number> {
    const heads = new Map<string, number>()
    const raise = (replica: string, seq: number) => heads.set(replica, Math.max(seq, heads.get(replica) ?? 0))
    const raiseOf = (r: { replica: string; seq: number }) => TAG.test(r.replica) && raise(r.replica, r.seq)
    for (const end of ['seq FROM log', 'last AS seq FROM covered', 'seq FROM covered', 'seq FROM events'])
      this.#each(`SELECT replica, max(seq) AS seq FROM (SELECT replica, ${end}) GROUP BY replica`, raiseOf) // 0.1.0 counted up to a number
    const acknowledged = (this.#read(log.findings) ?? []).map((f) => f.key.replace(/^(?:lost|missing):/, ''))
    for (const batch of [...acknowledged, this.#written ?? '']) {
      const [, replica = '', seq] = /^([0-9a-z]{1,16}):(?:\d+-)?(\d+)$/.exec(batch) ?? []
      if (replica) raise(replica, Number(seq))
    }
    for (const l of this.lines) raise(l.replica, l.seq)
    return heads
  }

  /** The names under which it was written, and up to which line. */
  identities(): { replica: string; upTo: number }[] {
    return this.#read(ownIdentities) ?? []
  }

  /** The hashes of all lines that it had, of those too that are damaged. */
  hashes(): string[] {
    const hashes = this.lines.map((l) => l.hash)
    for (const table of ['log', 'covered'])
      this.#each<{ hash: string }>(`SELECT hash FROM ${table}`, (row) => void hashes.push(row.hash))
    return hashes
  }

  /** What it says was erased; whether that is all that it knows of. */
  marks(): { marks: PurgeMark[]; isWhole: boolean } {
    const marks: PurgeMark[] = []
    const take = (row: MarkRow) => void attempt(() => marks.push(unpackMarkRow(row)))
    return { isWhole: this.#each('SELECT * FROM purged', take), marks }
  }

  get isErasing(): boolean {
    return this.meta('erasing') !== undefined
  }

  copyDeclined(to: Db): void {
    for (const { replica } of this.identities()) keepLeft(to, replica, this.#read((db) => leftOf(db, replica)) ?? [])
    this.#each('SELECT * FROM declined', (row) => insert(to, 'declined', row, 'OR REPLACE'))
  }

  covered(): readonly Covered[] {
    return this.base(coveredLines) ?? []
  }

  /** For what a compaction folded away: read as from a store, if it is what the compaction wrote. */
  base<T>(body: (db: Db) => T): T | undefined {
    return this.#read(baseIsSound) === true ? this.#read(body) : undefined
  }

  /** What a batch did, of which the line itself is damaged. */
  effects(replica: string, seq: number): { hash: string | undefined; events: Event[] } | undefined {
    return this.#read((db) => {
      const sql = 'SELECT replica, seq, i, entity, ms, body FROM events WHERE replica=? AND seq=? AND base=0 ORDER BY i'
      const logged = db.all<log.EventRow>(sql, replica, seq).flatMap(log.unpack)
      const events = logged.map(({ id, event }, i) => {
        if (id !== `${replica}:${seq}:${i}`) throw new Error('one is missing')
        return event
      })
      const hash = attempt(() => db.value<string>('SELECT hash FROM log WHERE replica=? AND seq=?', replica, seq))
      return events.length === 0 ? undefined : { hash, events }
    })
  }

  /** Copies sessions, claims and what waits. Numbers are not reused. Returns the tables that could not be read whole. */
  copyPresence(to: Db): string[] {
    const unread = OF_THIS_MACHINE.filter(
      (table) => !this.#each(`SELECT * FROM ${table}`, (row) => insert(to, table, row, 'OR REPLACE')),
    )
    if (this.arrived > log.lastArrival(to)) log.countArrival(to, this.arrived)
    const claims = this.#read((db) => db.value<number>("SELECT seq FROM sqlite_sequence WHERE name='claims'")) ?? 0
    to.run("UPDATE sqlite_sequence SET seq=max(seq, ?) WHERE name='claims'", claims)
    return unread
  }

  close(): void {
    this.#db?.close()
    if (/\.damaged-\d+$/.test(this.path)) rmSync(`${this.path}-shm`, { force: true })
  }
}

/** Puts sound lines in the place of damaged ones; what no copy holds goes. */
export function putRight(db: Db, sound: ReadonlyMap<string, Line>, received: number): void {
  const sql = `SELECT n, replica, seq, hash, ${LINE} AS line FROM log`
  for (const row of db.all<{ n: number; replica: string; seq: number; hash: string; line: string }>(sql)) {
    const line = soundLine(row.line)
    if (line && line.replica === row.replica && line.seq === row.seq && line.hash === row.hash) continue
    db.run('DELETE FROM log WHERE n=?', row.n)
    const right = sound.get(`${row.replica}:${row.seq}`)
    if (!right || log.hashOf(db, right.replica, right.seq) !== undefined) continue
    log.append(db, right, received)
    db.run('UPDATE log SET n=? WHERE replica=? AND seq=?', row.n, right.replica, right.seq)
  }
}
