/**
 * store: SQLite, and nothing else. Opening and migrating the file, the write lock, one file of statements per table,
 * the doorbell, backups, and where the store of a project lies.
 */

import {
  accessSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fstatSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, sep } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { UserError } from '../errors.ts'
import { appendInside, createInside, readInside } from '../files.ts'
import { randomBytes } from '../random.ts'
import { waitTurn } from './lock-wait.ts'
import { MIGRATIONS, OLDEST_WRITER, SCHEMA_VERSION } from './migrations.ts'
import { type Claim, checkOwner, markStore } from './owner.ts'
import { CANTOPEN, codeOf, damaged, isBusy, lockWait, READONLY, storeError } from './store-error.ts'
import { holdsStore, userVersion } from './tables.ts'

/** How long this process waits for the write lock: a hook has no minute. For stores that it opens from now on, and this one. */
export function waitForLock(ms: number, db?: Db): void {
  lockWait.ms = ms
  db?.exec(`PRAGMA busy_timeout=${ms}`)
}
/** Told once for each write that has to wait for long: a person wants to know why nothing happens. */
let onLongWait: (() => void) | undefined
export const tellOfWaiting = (tell: () => void): void => void (onLongWait = tell)

/** Beyond this the write-ahead log is truncated by whoever finds it so (a starved one grew to 628 MB). */
const WAL_LIMIT = 16 * 1024 * 1024
const CHECK_WAL_EVERY = 256

/** File systems on which SQLite's shared memory does not work: NFS, SMB, CIFS, SMB2, 9p. */
const NETWORK_FS = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997])

export type Row = Record<string, unknown>

/** The last thing that is known to have been written, and how far the file goes. Numbers of arrival. */
export interface Lost {
  readonly written: number
  readonly there: number
  /** The newest batch that was written, as `replica:sequence`. */
  readonly batch: string
}

export type Param = string | number | bigint | null | Uint8Array

/** Writes a row by the names of its columns; `or`: what becomes of one that is there. */
export function insert(db: Db, table: string, row: Readonly<Record<string, Param>>, or = ''): void {
  const columns = Object.keys(row)
  db.run(`INSERT ${or} INTO ${table} (${columns}) VALUES (${columns.map(() => '?')})`, ...Object.values(row))
}

/** JSON from the store. The disk is outside input: content that cannot be read is damage, not a bug. */
export function stored<T>(text: string): T {
  try {
    return JSON.parse(text) as T
  } catch {
    throw damaged(`the store is damaged: it holds a value that cannot be read: ${text.slice(0, 40).toWellFormed()}`)
  }
}

/** Opens an SQLite file whose schema may be somebody else's: it calls no function that could do harm, and hides nothing. */
export function openSqlite(path: string | URL, options: { readOnly?: boolean } = {}): DatabaseSync {
  const db = new DatabaseSync(path, options)
  db.enableDefensive?.(true) // Node 24.12 and newer
  db.exec('PRAGMA trusted_schema=OFF')
  return db
}

/** Opens a file and makes it ready, or closes it again. */
export function openReady(path: string | URL, options: { readOnly?: boolean }, prepare: (db: DatabaseSync) => void) {
  const db = openSqlite(path, options)
  try {
    prepare(db)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Opens a file for as long as `body` runs. */
export function withSqlite<T>(path: string | URL, options: { readOnly?: boolean }, body: (db: DatabaseSync) => T): T {
  const db = openSqlite(path, options)
  try {
    return body(db)
  } finally {
    db.close()
  }
}

/** Runs `body` without SQLite's own waiting; SQLite's error where another process is in the way. */
function unlessBusy<T>(db: DatabaseSync, body: () => T): { done: T } | { busy: unknown } {
  db.exec('PRAGMA busy_timeout=0')
  try {
    return { done: body() }
  } catch (busy) {
    if (!isBusy(busy)) throw busy
    return { busy }
  } finally {
    db.exec(`PRAGMA busy_timeout=${lockWait.ms}`)
  }
}

/** Runs a statement once nobody is in the way: the pauses are ours. @throws SQLite's error when the time is up */
function inTurn(db: DatabaseSync, sql: string, forMs: number, onLong?: () => void): void {
  let last: ReturnType<typeof unlessBusy> | undefined
  const attempt = () => 'done' in (last = unlessBusy(db, () => db.exec(sql)))
  if (!waitTurn(attempt, forMs, onLong) && last && 'busy' in last) throw last.busy
}

function pragmas(db: DatabaseSync): void {
  db.exec(
    `PRAGMA busy_timeout=${lockWait.ms}; PRAGMA synchronous=FULL; PRAGMA journal_size_limit=${WAL_LIMIT}; PRAGMA secure_delete=ON; PRAGMA temp_store=MEMORY`,
  )
}

function migrate(db: DatabaseSync): void {
  const version = userVersion(db)
  for (let v = version; v < SCHEMA_VERSION; v++) MIGRATIONS[v]!(db)
  db.exec(
    `INSERT OR REPLACE INTO meta VALUES ('oldest_writer', '${OLDEST_WRITER}'); PRAGMA user_version=${SCHEMA_VERSION}`,
  )
}

/** Refuses a store that this code is too old for; run at open and in every write, since it may be migrated meanwhile. */
function checkVersion(db: DatabaseSync, path: string): void {
  const version = userVersion(db)
  if (version <= SCHEMA_VERSION) return
  const oldest = Number(
    (db.prepare("SELECT value FROM meta WHERE key='oldest_writer'").get() as { value: string }).value,
  )
  if (oldest <= SCHEMA_VERSION) return
  throw new UserError(
    'store-newer',
    `the store ${path} was written by a newer Tidemark (schema ${version}, this one knows ${SCHEMA_VERSION})`,
    'restart this process with the newer version: `npm install -g tidemark@latest`',
  )
}

/** Which file lies at a path; 0: none. */
const inodeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.ino ?? 0

/** What is left of a store whose file is gone. */
function leftOf(path: string): string | undefined {
  const dir = dirname(path)
  if (existsSync(`${path}-wal`)) return 'its write-ahead log is'
  if (readdirSync(dir).some((f) => f.startsWith(`${basename(path)}.damaged-`))) return 'damaged copies of it are'
  const backups = join(dir, 'backups')
  return existsSync(backups) && readdirSync(backups).some((f) => f.endsWith('.db')) ? 'its snapshots are' : undefined
}

/**
 * Makes a new store complete under another name and links it into place: nobody ever sees half of one, of several
 * starting at once one wins, and an empty file in its place is known to be damage.
 */
export function createStore(path: string): void {
  const leftovers = leftOf(path)
  if (leftovers !== undefined) {
    if (existsSync(path)) return // another process made it since this one looked, and both are its own
    throw new UserError(
      'store-missing',
      `the store ${path} is gone, but ${leftovers} still there`,
      'run `tidemark doctor --restore`: it brings back everything that can be read, and finishes a restore that was interrupted',
    )
  }
  newStore(path)
}

/** Makes an empty store, whatever lies beside it. */
export function newStore(path: string): void {
  const dir = dirname(path)
  rmSync(bellPath(path), { force: true })
  const fresh = join(dir, `.new-${randomBytes(6).toString('hex')}.db`)
  try {
    closeSync(openSync(fresh, 'wx', 0o600)) // SQLite gives its other files the mode of this one
    const db = openSqlite(fresh)
    pragmas(db)
    db.exec('PRAGMA page_size=4096; BEGIN')
    migrate(db)
    db.exec('COMMIT; PRAGMA journal_mode=WAL')
    db.close()
    try {
      linkSync(fresh, path)
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      if (code === 'EPERM' || code === 'ENOTSUP' || code === 'EOPNOTSUPP') {
        if (!existsSync(path)) renameSync(fresh, path) // a file system without hard links
      } else if (code !== 'EEXIST') throw error // EEXIST: another process was first, and its store is as good
    }
  } finally {
    for (const suffix of ['', '-wal', '-shm', '-journal']) if (existsSync(fresh + suffix)) rmSync(fresh + suffix)
  }
}

export const bellPath = (storePath: string) => `${storePath}.bell`

/** Opens the doorbell: the plain file of ours, never what a link or a second name leads to. */
export function openBell(storePath: string): number {
  const { O_RDWR, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants
  const bell = openSync(bellPath(storePath), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
  const stat = fstatSync(bell)
  if (stat.isFile() && stat.nlink === 1) return bell
  closeSync(bell)
  throw new Error(`${bellPath(storePath)} is no plain file`)
}

/**
 * Makes the directory of a store. One that is made here keeps itself out of git; in one that was there the files of the
 * store are kept out by name.
 */
function makeDirectory(dir: string, store: string): void {
  const isNew = !existsSync(dir)
  if (isNew) {
    mkdirSync(dirname(dir), { recursive: true })
    try {
      mkdirSync(dir, 0o700)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error // another process was first
    }
  }
  if (dir.split(sep).includes('.git')) return
  const lines = isNew ? ['*'] : [`/${store}*`, '/backups/', '/archive/', '/token*', '/hooks.*', '/extract.log*', '/.new-*', '/.tidemark-*.tmp'] // biome-ignore format: a list
  const text = ['# written by Tidemark: what belongs to this machine alone', ...lines, ''].join('\n')
  if (createInside(dir, '.gitignore', text)) return
  const there = readInside(dir, '.gitignore')?.toString('utf8') ?? ''
  if (!there.includes(lines[0]!)) appendInside(dir, '.gitignore', `${there.endsWith('\n') ? '' : '\n'}${text}`)
}

export interface OpenOptions {
  /** Whose the store has to be. */
  owner: Claim
  /** Make the store if there is none; without it a missing store is refused. */
  create?: boolean
  /** Called before a migration, with the version found. */
  beforeMigration?(db: DatabaseSync, version: number): void
}

export function openDb(path: string, options: OpenOptions): Db {
  try {
    return open(path, options)
  } catch (error) {
    throw storeError(error, path)
  }
}

function open(path: string, options: OpenOptions): Db {
  checkOwner(path, options.owner)
  if (statSync(path, { throwIfNoEntry: false }) === undefined) {
    if (!options.create)
      throw new UserError('no-store', `no store at ${path}`, 'run `tidemark init` in the project root')
    makeDirectory(dirname(path), basename(path))
    markStore(path, options.owner.project) // before the store: one without a mark is somebody else's
    createStore(path)
  }
  if (statSync(path).size === 0) throw damaged(`the store ${path} is empty`)
  if (NETWORK_FS.has(statfsSync(dirname(path)).type)) {
    throw new UserError(
      'network-file-system',
      `the store ${path} lies on a network file system, where SQLite corrupts`,
      'put it on a local disk: set persistencePath, or TIDEMARK_STORE',
    )
  }
  const inode = inodeOf(path)
  const mark = readMark(path, inode)
  const { raw, readOnly, forget } = connect(path, (db) => {
    pragmas(db)
    if (!holdsStore(db)) throw damaged(`${path} is a database, but not a store of Tidemark`)
    checkVersion(db, path)
    if (userVersion(db) >= SCHEMA_VERSION) return
    options.beforeMigration?.(db, userVersion(db))
    db.exec('BEGIN IMMEDIATE')
    try {
      migrate(db)
      db.exec('COMMIT')
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK')
      throw error
    }
  })
  if (inodeOf(path) !== inode) {
    raw.close()
    forget()
    return open(path, options) // it was replaced while it was opened
  }
  try {
    return new Db(raw, path, { inode, readOnly, mark, forget })
  } catch (error) {
    raw.close()
    forget()
    throw error
  }
}

const MAY_NOT_WRITE = new Set(['EACCES', 'EPERM', 'EROFS'])

/** Opens the file to write, or, where the disk allows nobody to, to read. */
function connect(path: string, prepare: (db: DatabaseSync) => void) {
  const tryOpen = (name: string, readOnly = false) => openReady(name, { readOnly }, prepare)
  try {
    accessSync(path, constants.W_OK) // where the shared memory of a log lies beside it, SQLite would open it to read and not say so
    return { raw: tryOpen(path), readOnly: false, forget: () => {} }
  } catch (error) {
    const refused = MAY_NOT_WRITE.has((error as NodeJS.ErrnoException).code ?? '')
    if (!refused && codeOf(error) !== CANTOPEN && codeOf(error) !== READONLY) throw error
    if (!statSync(path).isFile()) throw error
    accessSync(path, constants.R_OK) // throws what is in the way of reading
    // without a write-ahead log the file is all there is, and SQLite may read it without making files beside it
    if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) {
      try {
        const raw = tryOpen(`${pathToFileURL(path).href}?immutable=1`, true)
        return { raw, readOnly: true, forget: () => {} }
      } catch (again) {
        if (codeOf(again) !== READONLY) throw again // an old store, which is to be migrated: in a copy
      }
    }
    const own = mkdtempSync(join(tmpdir(), 'tidemark-read-'))
    const forget = () => rmSync(own, { recursive: true, force: true })
    try {
      for (const suffix of ['', '-wal'])
        if (existsSync(path + suffix)) copyFileSync(path + suffix, join(own, `store.db${suffix}`))
      return { raw: tryOpen(join(own, 'store.db')), readOnly: true, forget }
    } catch (again) {
      forget()
      throw again
    }
  }
}

/** What the doorbell says was written last into the file with this inode. */
export function readMark(path: string, inode: number): { n: number; batch: string } | undefined {
  try {
    const [file, n, batch = ''] = readFileSync(bellPath(path), 'latin1').trim().split(' ')
    return Number(file) === inode && inode !== 0 && Number.isSafeInteger(Number(n))
      ? { n: Number(n), batch }
      : undefined
  } catch {
    return undefined // nobody has rung yet
  }
}

interface Opened {
  inode?: number
  readOnly?: boolean
  mark?: { n: number; batch: string } | undefined
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

const MARK_LENGTH = 64
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
  #writing = false

  constructor(raw: DatabaseSync, path: string, { inode = 0, readOnly = false, mark, forget = () => {} }: Opened = {}) {
    this.raw = raw
    this.path = path
    this.readOnly = readOnly
    this.#inode = inode
    this.#forget = forget
    const there = mark === undefined ? 0 : this.#arrived()
    this.lost = mark && mark.n > there ? { written: mark.n, there, batch: mark.batch } : undefined
  }

  #statement(sql: string): StatementSync {
    let s = this.#statements.get(sql)
    if (!s) this.#statements.set(sql, (s = this.raw.prepare(sql)))
    return s
  }

  #guard<T>(body: () => T): T {
    try {
      return body()
    } catch (error) {
      throw storeError(error, this.path)
    }
  }

  /** The one row, the rows, or the effect of a statement. */
  get<T = Row>(sql: string, ...params: Param[]): T | undefined {
    return this.#guard(() => this.#statement(sql).get(...params) as T | undefined)
  }
  all<T = Row>(sql: string, ...params: Param[]): T[] {
    return this.#guard(() => this.#statement(sql).all(...params) as T[])
  }
  run(sql: string, ...params: Param[]): void {
    this.#guard(() => this.#statement(sql).run(...params))
  }

  /** The rows one by one. */
  *each<T = Row>(sql: string, ...params: Param[]): Generator<T> {
    try {
      for (const row of this.raw.prepare(sql).iterate(...params)) yield row as T
    } catch (error) {
      throw storeError(error, this.path)
    }
  }

  /** Statements without parameters, one after the other. */
  exec(sql: string): void {
    this.#guard(() => this.raw.exec(sql))
  }

  /** Runs `body` under the write lock, all or nothing, then rings the doorbell. Never asynchronous. */
  write<T>(body: () => T extends Promise<unknown> ? never : T): T {
    return this.#write(lockWait.ms, body) as T
  }

  /** As `write`, but returns undefined at once where another process holds the lock: for what may as well wait. */
  tryWrite<T>(body: () => T extends Promise<unknown> ? never : T): T | undefined {
    if (this.readOnly) return undefined
    try {
      return this.#write(0, body) as T
    } catch (error) {
      if (error instanceof UserError && error.code === 'store-busy') return undefined
      throw error
    }
  }

  #write<T>(waitMs: number, body: () => T): T {
    if (this.#writing) return body()
    if (this.readOnly)
      throw new UserError(
        'store-read-only',
        `the store ${this.path} cannot be written, only read`,
        'check the permissions of the file and its directory, and that the disk is not mounted read-only',
      )
    const { raw } = this
    return this.#guard(() => {
      let result: T
      try {
        inTurn(raw, 'BEGIN IMMEDIATE', waitMs, onLongWait)
        this.#writing = true
        if (this.#statement('PRAGMA user_version').get()!.user_version !== SCHEMA_VERSION) checkVersion(raw, this.path)
        // what it took would be in no store
        if (!this.isCurrent())
          throw new UserError(
            'store-replaced',
            `the store ${this.path} was replaced or removed since this process opened it`,
            'restart this process: it still has the old file open; nothing was written',
          )
        result = body()
        raw.exec('COMMIT')
      } catch (error) {
        if (this.#writing && raw.isTransaction) raw.exec('ROLLBACK')
        throw error
      } finally {
        this.#writing = false
      }
      this.#ring()
      this.#tidy()
      return result
    })
  }

  /** Runs `body` on one snapshot. */
  read<T>(body: () => T): T {
    if (this.#writing || this.raw.isTransaction) return body()
    return this.#guard(() => {
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

  /** Whether the file at the path is still the one that is open here. */
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
      if (n === 0 || !last) writeSync(this.#bell, ' ', MARK_LENGTH)
      else writeSync(this.#bell, `${this.#inode} ${n} ${last.replica}:${last.seq}`.padEnd(MARK_LENGTH), 0)
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
    try {
      truncateWal(this.raw)
    } catch {}
  }

  close(): void {
    this.#closeBell()
    this.#statements.clear()
    if (this.raw.isOpen) this.raw.close()
    this.#forget()
  }
}

/** For so long a whole rewrite of the file looks for a moment without a writer, and the log's truncation for one without a reader. */
const VACUUM_MS = 15_000
const TRUNCATE_MS = 1_000

/**
 * Empties the write-ahead log, unless somebody reads it: false then. It never waits: SQLite would wait for readers with the
 * write lock in its hand, and writers would be refused.
 */
function truncateWal(raw: DatabaseSync): boolean {
  const tried = unlessBusy(raw, () => raw.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number })
  return 'done' in tried && tried.done.busy === 0
}

/** Empties the write-ahead log; false where a reader keeps it. Waits for none. */
export const emptyWal = (db: Db): boolean => truncateWal(db.raw)

/**
 * Writes the whole file anew, so that nothing deleted is left in it, and empties the write-ahead log. False where a reader
 * kept the log from being emptied. @throws UserError `store-busy` where others write all the time.
 */
export function vacuum(db: Db): boolean {
  try {
    inTurn(db.raw, 'VACUUM', VACUUM_MS)
    return waitTurn(() => truncateWal(db.raw), TRUNCATE_MS)
  } catch (error) {
    throw storeError(error, db.path)
  }
}
