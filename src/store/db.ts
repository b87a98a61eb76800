import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { UserError } from '../errors.ts'
import { MIGRATIONS, OLDEST_WRITER, SCHEMA_VERSION } from './migrations.ts'
import { waitTurn } from './turn.ts'

/** A writer waits this long for its turn; 32 processes writing at once were seen to wait 3 s. */
let busyTimeout = 60_000

/** How long this process waits for the write lock: a hook has no minute. For stores that it opens from now on, and this one. */
export function waitForLock(ms: number, db?: Db): void {
  busyTimeout = ms
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

/** The store's SQLite file, opened; statements are prepared once. */
export interface Db {
  readonly path: string
  readonly raw: DatabaseSync
  /** The one row, the rows, or the effect of a statement. */
  get<T = Row>(sql: string, ...params: Param[]): T | undefined
  all<T = Row>(sql: string, ...params: Param[]): T[]
  run(sql: string, ...params: Param[]): void
  /** The rows one by one. */
  each<T = Row>(sql: string, ...params: Param[]): Generator<T>
  /** Statements without parameters, one after the other. */
  exec(sql: string): void
  /** Runs `body` under the write lock, all or nothing, then rings the doorbell. Never asynchronous. */
  write<T>(body: () => T extends Promise<unknown> ? never : T): T
  /** As `write`, but returns undefined at once where another process holds the lock: for what may as well wait. */
  tryWrite<T>(body: () => T extends Promise<unknown> ? never : T): T | undefined
  /** Runs `body` on one snapshot. */
  read<T>(body: () => T): T
  /** Changes whenever another process has committed. */
  dataVersion(): number
  close(): void
}

export type Param = string | number | bigint | null | Uint8Array

const busy = (error: unknown) => error instanceof Error && /database is locked|SQLITE_BUSY/.test(error.message)

/** Less than what a database needs to be opened. */
const TOO_LITTLE = 1 << 17

function isFull(directory: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize < TOO_LITTLE
  } catch {
    return false
  }
}

/** Turns what SQLite says of a file into what the caller can do about it. */
export function storeError(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || error instanceof UserError) return error
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EACCES':
    case 'EPERM':
      return new UserError(
        'store-unreadable',
        `the store ${path} cannot be opened: permission denied`,
        'check that you may read and write it and its directory',
      )
    case 'EEXIST':
    case 'ENOTDIR':
      return new UserError(
        'store-unreadable',
        `the store ${path} cannot be opened: a file lies where its directory should be`,
        'check the path: persistencePath, or TIDEMARK_STORE',
      )
    case 'EROFS':
      return new UserError(
        'store-read-only',
        `the store ${path} cannot be written: the disk is mounted read-only`,
        'put the store elsewhere with TIDEMARK_STORE, or mount the disk writable',
      )
    case 'ENOSPC':
    case 'EDQUOT':
      return new UserError(
        'disk-full',
        `no space left for the store ${path}`,
        'free some space and try again; nothing was changed',
      )
  }
  const code = (error as { errcode?: number }).errcode ?? 0
  const primary = code & 0xff
  if (primary === 11 || primary === 26 || /malformed|not a database/.test(error.message)) {
    return new UserError(
      'store-damaged',
      `the store ${path} is damaged: ${error.message}`,
      'run `tidemark doctor --restore` to bring back the last snapshot; nothing was changed',
    )
  }
  if (primary === 8 || /readonly database/.test(error.message)) {
    return new UserError(
      'store-read-only',
      `the store ${path} cannot be written`,
      'check the permissions of the file and its directory, and that the disk is not mounted read-only',
    )
  }
  // where no file can grow, opening the database already fails, as an error of reading or writing
  if (primary === 13 || /disk is full/.test(error.message) || (primary === 10 && isFull(dirname(path)))) {
    return new UserError(
      'disk-full',
      `no space left for the store ${path}`,
      'free some space and try again; nothing was changed',
    )
  }
  if (primary === 14 || /unable to open database/.test(error.message)) {
    return new UserError(
      'store-unreadable',
      `the store ${path} cannot be opened`,
      'check that the directory exists and that you may read and write it',
    )
  }
  if (primary === 10)
    return new UserError(
      'disk-error',
      `reading or writing ${path} failed: ${error.message}`,
      'check the disk; nothing was changed',
    )
  if (busy(error)) {
    return new UserError(
      'store-busy',
      `another process has held the store ${path} for ${busyTimeout / 1000} s`,
      '`tidemark doctor` says which process it is, where the system tells; else try again. Nothing was written',
    )
  }
  return error
}

function pragmas(db: DatabaseSync): void {
  db.exec(
    `PRAGMA busy_timeout=${busyTimeout}; PRAGMA synchronous=FULL; PRAGMA journal_size_limit=${WAL_LIMIT}; PRAGMA secure_delete=ON; PRAGMA temp_store=MEMORY`,
  )
}

function migrate(db: DatabaseSync): void {
  const version = userVersion(db)
  for (let v = version; v < SCHEMA_VERSION; v++) MIGRATIONS[v]!(db)
  db.exec(
    `INSERT OR REPLACE INTO meta VALUES ('oldest_writer', '${OLDEST_WRITER}'); PRAGMA user_version=${SCHEMA_VERSION}`,
  )
}

function userVersion(db: DatabaseSync): number {
  return (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version
}

/** A store comes into its place complete: one without these tables is none, and is never made into one. */
export const holdsStore = (db: DatabaseSync): boolean =>
  (
    db.prepare("SELECT count(*) AS n FROM sqlite_master WHERE type='table' AND name IN ('meta', 'log')").get() as {
      n: number
    }
  ).n === 2

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

/** Refuses to write into a file that was put aside: what it took would be in no store. */
function checkSameFile(path: string, inode: number): void {
  if (existsSync(path) && statSync(path).ino === inode) return
  throw new UserError(
    'store-replaced',
    `the store ${path} was replaced or removed since this process opened it`,
    'restart this process: it still has the old file open; nothing was written',
  )
}

/**
 * Makes a new store complete under another name and links it into place: nobody ever sees half of one, of several
 * starting at once one wins, and an empty file in its place is known to be damage.
 */
export function createStore(path: string): void {
  const dir = dirname(path)
  mkdirSync(dir, { recursive: true })
  const leftovers = existsSync(join(dir, 'backups')) && readdirSync(join(dir, 'backups')).some((f) => f.endsWith('.db'))
  if (leftovers || existsSync(`${path}-wal`)) {
    if (existsSync(path)) return // another process made it since this one looked, and both are its own
    throw new UserError(
      'store-missing',
      `the store ${path} is gone, but its ${leftovers ? 'snapshots are' : 'write-ahead log is'} still there`,
      'run `tidemark doctor --restore` to bring back the last snapshot',
    )
  }
  const fresh = join(dir, `.new-${randomBytes(6).toString('hex')}.db`)
  try {
    const db = new DatabaseSync(fresh)
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

export interface OpenOptions {
  /** Make the store if there is none; without it a missing store is refused. */
  create?: boolean
  /** Called before a migration, with the version found. */
  beforeMigration?(db: DatabaseSync, version: number): void
}

export function openDb(path: string, options: OpenOptions = {}): Db {
  try {
    return open(path, options)
  } catch (error) {
    throw storeError(error, path)
  }
}

function open(path: string, options: OpenOptions): Db {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) {
    if (!options.create)
      throw new UserError('no-store', `no store at ${path}`, 'run `tidemark init` in the project root')
    createStore(path)
  }
  if (statSync(path).size === 0) {
    throw new UserError(
      'store-damaged',
      `the store ${path} is empty`,
      'run `tidemark doctor --restore` to bring back the last snapshot; nothing was changed',
    )
  }
  if (NETWORK_FS.has(statfsSync(dirname(path)).type)) {
    throw new UserError(
      'network-file-system',
      `the store ${path} lies on a network file system, where SQLite corrupts`,
      'put it on a local disk: set persistencePath, or TIDEMARK_STORE',
    )
  }
  const raw = new DatabaseSync(path)
  try {
    pragmas(raw)
    if (!holdsStore(raw)) {
      throw new UserError(
        'store-damaged',
        `${path} is a database, but not a store of Tidemark`,
        'run `tidemark doctor --restore` to bring back the last snapshot, or put the file where it belongs; nothing was changed',
      )
    }
    checkVersion(raw, path)
    if (userVersion(raw) < SCHEMA_VERSION) {
      options.beforeMigration?.(raw, userVersion(raw))
      raw.exec('BEGIN IMMEDIATE')
      try {
        migrate(raw)
        raw.exec('COMMIT')
      } catch (error) {
        raw.exec('ROLLBACK')
        throw error
      }
    }
  } catch (error) {
    raw.close()
    throw error
  }

  const inode = statSync(path).ino
  const statements = new Map<string, StatementSync>()
  const statement = (sql: string) => {
    let s = statements.get(sql)
    if (!s) statements.set(sql, (s = raw.prepare(sql)))
    return s
  }
  let bell: number | undefined
  let writes = 0
  let inside = false
  /** Takes the write lock. SQLite's own waiting is for everything else: recovery, the last one to close. */
  const begin = (waitMs: number) => {
    let refused: unknown
    raw.exec('PRAGMA busy_timeout=0')
    try {
      const got = waitTurn(
        () => {
          try {
            raw.exec('BEGIN IMMEDIATE')
            return true
          } catch (error) {
            if (!busy(error)) throw error
            refused = error
            return false
          }
        },
        waitMs,
        onLongWait,
      )
      if (!got) throw refused
    } finally {
      raw.exec(`PRAGMA busy_timeout=${busyTimeout}`)
    }
  }
  const write = <T>(waitMs: number, body: () => T): T => {
    if (inside) return body()
    try {
      begin(waitMs)
      inside = true
      let result: T
      try {
        if (statement('PRAGMA user_version').get()!.user_version !== SCHEMA_VERSION) checkVersion(raw, path)
        checkSameFile(path, inode)
        result = body()
        raw.exec('COMMIT')
      } catch (error) {
        if (raw.isTransaction) raw.exec('ROLLBACK')
        throw error
      } finally {
        inside = false
      }
      ring()
      tidy()
      return result
    } catch (error) {
      throw storeError(error, path)
    }
  }

  const ring = () => {
    // the commit stands whether or not anybody hears of it at once: watchers also poll
    try {
      if (bell !== undefined && fstatSync(bell).nlink === 0) {
        closeSync(bell) // it was removed: nobody hears this one any more
        bell = undefined
      }
      bell ??= openSync(bellPath(path), 'w')
      writeSync(bell, '.', 0)
    } catch {}
  }
  const tidy = () => {
    if (++writes % CHECK_WAL_EVERY !== 0) return
    const wal = `${path}-wal`
    if (existsSync(wal) && statSync(wal).size > WAL_LIMIT) {
      raw.exec('PRAGMA busy_timeout=0')
      try {
        raw.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      } catch (error) {
        if (!busy(error)) throw error // somebody is reading: the next writer tries again
      } finally {
        raw.exec(`PRAGMA busy_timeout=${busyTimeout}`)
      }
    }
  }

  return {
    path,
    raw,
    get<T>(sql: string, ...params: Param[]) {
      try {
        return statement(sql).get(...params) as T | undefined
      } catch (error) {
        throw storeError(error, path)
      }
    },
    all<T>(sql: string, ...params: Param[]) {
      try {
        return statement(sql).all(...params) as T[]
      } catch (error) {
        throw storeError(error, path)
      }
    },
    run(sql, ...params) {
      try {
        statement(sql).run(...params)
      } catch (error) {
        throw storeError(error, path)
      }
    },
    *each<T>(sql: string, ...params: Param[]) {
      try {
        for (const row of raw.prepare(sql).iterate(...params)) yield row as T
      } catch (error) {
        throw storeError(error, path)
      }
    },
    exec(sql) {
      try {
        raw.exec(sql)
      } catch (error) {
        throw storeError(error, path)
      }
    },
    write: (body) => write(busyTimeout, body) as never,
    tryWrite(body) {
      try {
        return write(0, body) as never
      } catch (error) {
        if (error instanceof UserError && error.code === 'store-busy') return undefined
        throw error
      }
    },
    read(body) {
      if (inside || raw.isTransaction) return body()
      try {
        raw.exec('BEGIN')
        try {
          return body()
        } finally {
          raw.exec('COMMIT')
        }
      } catch (error) {
        throw storeError(error, path)
      }
    },
    dataVersion: () => (statement('PRAGMA data_version').get() as { data_version: number }).data_version,
    close() {
      if (bell !== undefined) closeSync(bell)
      bell = undefined
      statements.clear()
      if (raw.isOpen) raw.close()
    },
  }
}

/** Names of the files that make up a store. */
export const storeFiles = (path: string): string[] =>
  ['', '-wal', '-shm'].map((s) => path + s).filter((f) => existsSync(f) && basename(f) !== '')

/** Writes the whole file anew, so that nothing deleted is left in it, and empties the write-ahead log. */
export function vacuum(db: Db): void {
  db.raw.exec('VACUUM')
  db.raw.exec('PRAGMA wal_checkpoint(TRUNCATE)')
}
