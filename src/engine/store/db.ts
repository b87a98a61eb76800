/**
 * store: SQLite, and nothing else. `open-db.ts` makes, opens and migrates the file; here are statements and the write
 * lock. Then one file of statements per table, the doorbell, backups, and where the store of a project lies.
 */

import { closeSync, fstatSync, statSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { attempt, UserError, unlessRefused } from '../../base/errors.ts'
import { keptIn } from '../../base/lookup.ts'
import { jsonIn } from '../../model/object.ts'
import { type Mark, openBell, ring, ringWith } from './bell-file.ts'
import { lockWait, retryWithBackoff } from './lock-wait.ts'
import { SCHEMA_VERSION } from './migrations.ts'
import { lineText } from './packed.ts'
import { checkVersion, migrate } from './schema.ts'
import { inTurn, openSqlite, truncateWal, WAL_LIMIT } from './sqlite.ts'
import { damaged, ofStore, storeError } from './store-error.ts'

/** Sets how long this process waits for the write lock: less for hooks. For stores opened later, and for `db`. */
export function waitForLock(ms: number, db?: Db): void {
  lockWait.ms = ms
  db?.exec(`PRAGMA busy_timeout=${ms}`)
}
/** Called once for each write that waits long, so that a person learns why nothing happens. */
let onLongWait: (() => void) | undefined
export const tellOfWaiting = (tell: () => void): void => void (onLongWait = tell)

const CHECK_WAL_EVERY = 256

export const inodeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.ino ?? 0

export type Row = Record<string, unknown>

/** Writes that were acknowledged but are not in the file. */
interface Lost {
  /** The number of arrival of the last one. */
  readonly written: number
  /** The newest batch that was written, as `replica:sequence`. */
  readonly batch: string
}

export type Cell = string | number | bigint | null | Uint8Array
/** A list is one parameter, for `AMONG`; parameters that stand in a statement twice come as one object, by their names. */
export type Param = Cell | readonly (string | number)[] | { readonly [name: `$${string}`]: Cell }

/** The condition that a column is one of the parameter, a list. */
export const AMONG = 'IN (SELECT value FROM json_each(?))'

function bound(params: Param[]): SQLInputValue[] {
  for (let i = 0; i < params.length; i++) if (Array.isArray(params[i])) params[i] = JSON.stringify(params[i])
  return params as SQLInputValue[]
}

/** The statement that writes a row; `or`: what becomes of one that is there. */
export const insertion = (table: string, columns: readonly string[], or = ''): string =>
  `INSERT ${or} INTO ${table} (${columns}) VALUES (${columns.map(() => '?')})`

/** Writes a row by the names of its columns. Where rows are many, the statement is made once, by `insertion`. */
export function insert(db: Db, table: string, row: Readonly<Record<string, Cell>>, or = ''): void {
  db.run(insertion(table, Object.keys(row), or), ...Object.values(row))
}

/** JSON from the store. The disk is outside input: content that cannot be read is damage, not a bug. */
export function stored<T>(text: string): T {
  const value = jsonIn(text)
  if (value !== undefined) return value as T
  throw damaged(`the store is damaged: it holds a value that cannot be read: ${text.slice(0, 40).toWellFormed()}`)
}

export type Queries = Pick<Db, 'get' | 'all' | 'value' | 'column'>

const HERE = new Map<string, string>()
/** The same statement over what holds here. A view is joined in whatever order is best: a fixed one has it made whole first. */
function overHere(sql: string): string {
  return keptIn(HERE, sql, () =>
    sql
      .replaceAll('CROSS JOIN', 'JOIN')
      .replace(/\b(FROM|JOIN) (entities|links)\b(?! [a-z])/g, '$1 $2_here AS $2')
      .replace(/\b(FROM|JOIN) (entities|links)(?= [a-z])/g, '$1 $2_here'),
  )
}

interface Opened {
  inode?: number
  readOnly?: boolean
  mark?: Mark | undefined
  /** Removes a private copy. */
  forget?(): void
}

/** Opens a file as it is, to read what can be read of it. */
export const readDb = (path: string): Db => new Db(openSqlite(path, { readOnly: true }), path, { readOnly: true })

/** A database in memory as a store: what is derived is made in it, to be compared. */
export function memoryDb(): Db {
  const raw = new DatabaseSync(':memory:')
  migrate(raw)
  return new Db(raw, ':memory:')
}

/** For a process that writes much: caches more pages, and checkpoints the write-ahead log every 64 MB. */
export const enlargeCache = (db: Db): void => db.exec('PRAGMA cache_size=-262144; PRAGMA wal_autocheckpoint=16384')

const LAST_LINE = 'SELECT replica, seq FROM log ORDER BY n DESC LIMIT 1'
const ARRIVED = "SELECT seq AS n FROM sqlite_sequence WHERE name='log'"

/** The store's SQLite file, opened; statements are prepared once. */
export class Db {
  readonly path: string
  readonly raw: DatabaseSync
  /** The disk lets nobody write here: a private copy is read, or the file as it is. */
  readonly readOnly: boolean
  /** What was acknowledged and is not in the file any more: its write-ahead log was lost, or an older file put in its place. */
  readonly lost: Lost | undefined
  readonly #statements = new Map<string, StatementSync>()
  /** Which file is open here; 0: none, it is in memory. */
  readonly #inode: number
  readonly #forget: () => void
  /** The write-ahead log stays the same file for as long as anybody has the store open. */
  #wal = 0
  #bell: number | undefined
  #rung = 0
  #writes = 0
  #written = 0
  #writing = false

  constructor(raw: DatabaseSync, path: string, { inode = 0, readOnly = false, mark, forget = () => {} }: Opened = {}) {
    this.raw = raw
    raw.function('line_text', lineText)
    this.path = path
    this.readOnly = readOnly
    this.#inode = inode
    this.#forget = forget
    this.#writing = raw.isTransaction
    this.lost = mark && this.#lost(mark, inode)
  }

  /** The mark is of this file, or of the one that this is a copy of: that is the one which its tag was minted for. */
  #lost({ inode, n, batch }: Mark, own: number): Lost | undefined {
    if (inode !== own && this.value("SELECT value FROM meta WHERE key='inode'") !== `${inode}`) return undefined
    return n > this.#arrived() ? { written: n, batch } : undefined
  }

  #statement(sql: string): StatementSync {
    let s = this.#statements.get(sql)
    if (!s) this.#statements.set(sql, (s = this.raw.prepare(sql)))
    return s
  }

  /** Called for every row: it makes no function for each call. */
  #call<M extends 'get' | 'all' | 'run'>(method: M, sql: string, params: Param[]): ReturnType<StatementSync[M]> {
    try {
      return this.#statement(sql)[method](...bound(params)) as ReturnType<StatementSync[M]>
    } catch (error) {
      throw storeError(error, this.path)
    }
  }

  /** The one row, the rows, or the effect of a statement. */
  get<T = Row>(sql: string, ...params: Param[]): T | undefined {
    return this.#call('get', sql, params) as T | undefined
  }
  all<T = Row>(sql: string, ...params: Param[]): T[] {
    return this.#call('all', sql, params) as T[]
  }
  run(sql: string, ...params: Param[]): void {
    this.#call('run', sql, params)
  }
  /** The first column: of the one row, or of the rows. */
  value<T>(sql: string, ...params: Param[]): T | undefined {
    const row = this.get(sql, ...params)
    return row && (Object.values(row)[0] as T)
  }
  column<T>(sql: string, ...params: Param[]): T[] {
    return this.all(sql, ...params).map((row) => Object.values(row)[0] as T)
  }
  has(sql: string, ...params: Param[]): boolean {
    return this.#call('get', sql, params) !== undefined
  }
  /** What holds here: entities and links without what waits for a yes. Where nothing waits, the same rows. */
  get here(): Queries {
    return this.has('SELECT 1 FROM held LIMIT 1') ? this.#here : this
  }
  readonly #here: Queries = {
    get: <T>(sql: string, ...params: Param[]) => this.get<T>(overHere(sql), ...params),
    all: <T>(sql: string, ...params: Param[]) => this.all<T>(overHere(sql), ...params),
    value: <T>(sql: string, ...params: Param[]) => this.value<T>(overHere(sql), ...params),
    column: <T>(sql: string, ...params: Param[]) => this.column<T>(overHere(sql), ...params),
  }
  inserted(sql: string, ...params: Param[]): number {
    return Number(this.#call('run', sql, params).lastInsertRowid)
  }

  *each<T = Row>(sql: string, ...params: Param[]): Generator<T> {
    try {
      for (const row of this.raw.prepare(sql).iterate(...bound(params))) yield row as T
    } catch (error) {
      throw storeError(error, this.path)
    }
  }

  exec(sql: string): void {
    ofStore(this.path, () => this.raw.exec(sql))
  }

  /** Runs `body` under the write lock, all or nothing, then rings the doorbell. Never asynchronous. */
  write<T>(body: () => T extends Promise<unknown> ? never : T): T {
    return this.#write(lockWait.ms, body) as T
  }

  /** As `write`, but returns undefined at once where another process holds the lock: for what may as well wait. */
  tryWrite<T>(body: () => T extends Promise<unknown> ? never : T): T | undefined {
    return this.readOnly ? undefined : unlessRefused(() => this.#write(0, body) as T, undefined, 'store-busy')
  }

  #write<T>(waitMs: number, body: () => T): T {
    if (this.#writing) return body()
    if (this.readOnly) {
      const hint = 'check the permissions of the file and its directory, and that the disk is not mounted read-only'
      throw new UserError('store-read-only', `the store ${this.path} cannot be written, only read`, hint)
    }
    const { raw } = this
    return ofStore(this.path, () => {
      let result: T
      try {
        inTurn(raw, 'BEGIN IMMEDIATE', waitMs, onLongWait)
        this.#writing = true
        if (this.#statement('PRAGMA user_version').get()!.user_version !== SCHEMA_VERSION) checkVersion(raw, this.path)
        // what it took would be in no store
        if (!this.isCurrent()) {
          const message = `the store ${this.path} was replaced or removed since this process opened it`
          const hint = 'restart this process: it still has the old file open; nothing was written'
          throw new UserError('store-replaced', message, hint)
        }
        result = body()
        raw.exec('COMMIT')
      } catch (error) {
        if (this.#writing && raw.isTransaction) raw.exec('ROLLBACK')
        throw error
      } finally {
        this.#writing = false
      }
      this.#written++
      this.#ring()
      this.#tidy()
      return result
    })
  }

  read<T>(body: () => T): T {
    if (this.#writing || this.raw.isTransaction) return body()
    return ofStore(this.path, () => {
      this.raw.exec('BEGIN')
      try {
        return body()
      } finally {
        this.raw.exec('COMMIT')
      }
    })
  }

  /** Changes whenever another process has committed. */
  dataVersion(): number {
    return (this.#statement('PRAGMA data_version').get() as { data_version: number }).data_version
  }

  /** Stays the same as long as nothing is committed, here or elsewhere; undefined while this process writes. */
  version(): string | undefined {
    return this.#writing ? undefined : `${this.dataVersion()} ${this.#written}`
  }

  isCurrent(): boolean {
    if (this.#inode === 0) return true
    const now = inodeOf(`${this.path}-wal`)
    if (inodeOf(this.path) !== this.#inode || (this.#wal !== 0 && now !== this.#wal)) return false
    this.#wal = now
    return true
  }

  #arrived = (): number => (this.#statement(ARRIVED).get() as { n: number } | undefined)?.n ?? 0

  #ring(): void {
    if (this.#inode === 0) return
    // the commit stands whether or not anybody hears of it at once: watchers also poll
    try {
      if (this.#bell !== undefined && fstatSync(this.#bell).nlink === 0) this.#closeBell() // nobody hears this one any more
      this.#bell ??= openBell(this.path)
      const n = this.#arrived()
      const last = n === this.#rung ? undefined : this.get<{ replica: string; seq: number }>(LAST_LINE)
      this.#rung = n
      // of several that ring at once the last one may say less than the others: what was lost is then found a write later
      if (n === 0 || !last) ring(this.#bell)
      else ringWith(this.#bell, this.#inode, n, `${last.replica}:${last.seq}`)
    } catch {}
  }

  #closeBell(): void {
    if (this.#bell !== undefined) closeSync(this.#bell)
    this.#bell = undefined
  }

  /** Upkeep: whatever comes of it, what was committed stands, and the next writer tries again. */
  #tidy(): void {
    if (++this.#writes % CHECK_WAL_EVERY !== 0) return
    if ((statSync(`${this.path}-wal`, { throwIfNoEntry: false })?.size ?? 0) <= WAL_LIMIT) return
    attempt(() => truncateWal(this.raw))
  }

  readonly [Symbol.dispose] = (): void => this.close()

  close(): void {
    this.#closeBell()
    this.#statements.clear()
    if (this.raw.isOpen) this.raw.close()
    this.#forget()
  }
}

/** How long a rewrite of the file waits for writers, and the truncation of the write-ahead log for readers. */
const VACUUM_MS = 15_000
const TRUNCATE_MS = 1_000

/** Rewrites the file, so that nothing deleted is left. False if a reader keeps the write-ahead log. @throws UserError `store-busy`. */
export const vacuum = (db: Db): boolean =>
  ofStore(db.path, () => {
    inTurn(db.raw, 'VACUUM', VACUUM_MS)
    return retryWithBackoff(() => truncateWal(db.raw), TRUNCATE_MS)
  })
