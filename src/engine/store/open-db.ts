import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, sep } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { sinceStart } from '../../base/env.ts'
import { attempt, UserError, whenCode } from '../../base/errors.ts'
import { appendInside, createInside, readInside } from '../../base/files.ts'
import { randomBytes } from '../../base/random.ts'
import { bellPath, readMark } from './bell-file.ts'
import { Db, inodeOf } from './db.ts'
import { SCHEMA_VERSION } from './migrations.ts'
import { type Claim, checkOwner, markStore } from './owner.ts'
import { checkVersion, holdsStore, migrate, userVersion, valueIn } from './schema.ts'
import { allOrNothing, openReady, openSqlite, pragmas } from './sqlite.ts'
import { CANTOPEN, codeOf, damaged, ofStore, READONLY } from './store-error.ts'

/** File systems on which SQLite's shared memory does not work: NFS, SMB, CIFS, SMB2, 9p. */
const NETWORK_FS = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997])

/** What is left of a store whose file is gone. */
function leftOf(path: string): string | undefined {
  const dir = dirname(path)
  if (fs.existsSync(`${path}-wal`)) return 'its write-ahead log is'
  if (fs.readdirSync(dir).some((f) => f.startsWith(`${basename(path)}.damaged-`))) return 'damaged copies of it are'
  const backups = join(dir, 'backups')
  return fs.existsSync(backups) && fs.readdirSync(backups).some((f) => f.endsWith('.db'))
    ? 'its snapshots are'
    : undefined
}

/** Makes a store under another name and links it into place, so that nobody sees half of one and one of several processes wins. */
export function createStore(path: string): void {
  const leftovers = leftOf(path)
  if (leftovers !== undefined) {
    if (fs.existsSync(path)) return // another process made it since this one looked, and both are its own
    const hint =
      'run `tidemark doctor --restore`: it brings back everything that can be read, and finishes a restore that was interrupted'
    throw new UserError('store-missing', `the store ${path} is gone, but ${leftovers} still there`, hint)
  }
  newStore(path)
}

/** Makes an empty store, whatever lies beside it. */
export function newStore(path: string): void {
  fs.rmSync(bellPath(path), { force: true })
  const fresh = join(dirname(path), `.new-${randomBytes(6).toString('hex')}.db`)
  try {
    fs.closeSync(fs.openSync(fresh, 'wx', 0o600)) // SQLite gives its other files the mode of this one
    const db = openSqlite(fresh)
    pragmas(db)
    db.exec('PRAGMA page_size=4096; BEGIN')
    migrate(db)
    db.exec('COMMIT; PRAGMA journal_mode=WAL')
    db.close()
    try {
      fs.linkSync(fresh, path)
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      if (code === 'EPERM' || code === 'ENOTSUP' || code === 'EOPNOTSUPP') {
        if (!fs.existsSync(path)) fs.renameSync(fresh, path) // a file system without hard links
      } else if (code !== 'EEXIST') throw error // EEXIST: another process was first, and its store is as good
    }
  } finally {
    for (const suffix of ['', '-wal', '-shm', '-journal']) if (fs.existsSync(fresh + suffix)) fs.rmSync(fresh + suffix)
  }
}

/** Makes the directory of a store, with a `.gitignore`: for everything in a new one, for the store's files in an old one. */
function makeDirectory(dir: string, store: string): void {
  const isNew = !fs.existsSync(dir)
  if (isNew) {
    fs.mkdirSync(dirname(dir), { recursive: true })
    attempt(() => fs.mkdirSync(dir, 0o700), whenCode(['EEXIST'])) // another process may be first
  }
  if (dir.split(sep).includes('.git')) return
  const lines = isNew ? ['*'] : [`/${store}*`, '/backups/', '/archive/', '/token*', '/hooks.*', '/extract.log*', '/prompts.db*', '/.new-*', '/.tidemark-*.tmp'] // biome-ignore format: a list
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
  /** Refuses a large store that has to be migrated first, which takes seconds: a hook has no time. */
  hurried?: boolean
  beforeMigration?(db: DatabaseSync): void
  /** Called in the transaction of a migration: all of it happens, or nothing. `progress` is told how far it is. */
  afterMigration?(db: Db, progress: (done: number, total: number) => void): void
}

/** A store of this size, about 800 entities, is migrated in a tenth of a second. */
const HURRIED_BYTES = 4 << 20
const TELL_EVERY_MS = 100
/** Called with a line that says what a migration does, so that a person learns why nothing happens, and with '' at its end. */
let onMigrating: ((line: string) => void) | undefined
export const tellOfMigrating = (tell: (line: string) => void): void => void (onMigrating = tell)

/** Brings a store up to date: in one transaction, after a snapshot. */
function bringUpToDate(db: DatabaseSync, path: string, inode: number, options: OpenOptions): void {
  const isLarge = fs.statSync(path).size > HURRIED_BYTES
  if (isLarge && options.hurried) {
    const message = `the store ${path} was written by an older Tidemark, and bringing it up to date takes longer than a hook may`
    const hint = 'run `tidemark status` once; every other command and tool does it as well'
    throw new UserError('store-older', message, hint)
  }
  let told = 0
  try {
    if (isLarge) onMigrating?.('bringing the store up to date: copying it first')
    options.beforeMigration?.(db)
    allOrNothing(db, () => {
      migrate(db)
      options.afterMigration?.(new Db(db, path, { inode }), (done, total) => {
        if (!isLarge || sinceStart() < told + TELL_EVERY_MS) return
        told = sinceStart()
        onMigrating?.(`bringing the store up to date: ${done} of ${total} entities`)
      })
    })
    shrink(db)
  } finally {
    onMigrating?.('')
  }
}

export const openDb = (path: string, options: OpenOptions): Db => ofStore(path, () => open(path, options))

function open(path: string, options: OpenOptions): Db {
  checkOwner(path, options.owner)
  if (fs.statSync(path, { throwIfNoEntry: false }) === undefined) {
    if (!options.create)
      throw new UserError('no-store', `no store at ${path}`, 'run `tidemark init` in the project root')
    makeDirectory(dirname(path), basename(path))
    markStore(path, options.owner.project) // before the store: one without a mark is somebody else's
    createStore(path)
  }
  if (fs.statSync(path).size === 0) throw damaged(`the store ${path} is empty`)
  if (NETWORK_FS.has(fs.statfsSync(dirname(path)).type)) {
    const message = `the store ${path} lies on a network file system, where SQLite corrupts`
    const hint = 'put it on a local disk: set persistencePath, or TIDEMARK_STORE'
    throw new UserError('network-file-system', message, hint)
  }
  const inode = inodeOf(path)
  const mark = readMark(path)
  const { raw, readOnly, forget } = connect(path, (db) => {
    pragmas(db)
    if (!holdsStore(db)) throw damaged(`${path} is a database, but not a store of Tidemark`)
    checkVersion(db, path)
    if (userVersion(db) < SCHEMA_VERSION) bringUpToDate(db, path, inode, options)
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

/** Makes the file smaller where a migration left much of it empty; who reads or a full disk may prevent it. */
function shrink(raw: DatabaseSync): void {
  const pages = (what: string) => valueIn<number>(raw, `PRAGMA ${what}`)!
  if (pages('freelist_count') * 4 < pages('page_count')) return
  attempt(() => raw.exec('VACUUM'))
}

const MAY_NOT_WRITE = new Set(['EACCES', 'EPERM', 'EROFS'])

/** Opens the file to write, or, where the disk allows nobody to, to read. */
function connect(path: string, prepare: (db: DatabaseSync) => void) {
  const tryOpen = (name: string, readOnly = false) => openReady(name, { readOnly }, prepare)
  try {
    fs.accessSync(path, fs.constants.W_OK) // where the shared memory of a log lies beside it, SQLite would open it to read and not say so
    return { raw: tryOpen(path), readOnly: false, forget: () => {} }
  } catch (error) {
    const refused = MAY_NOT_WRITE.has((error as NodeJS.ErrnoException).code ?? '')
    if (!refused && codeOf(error) !== CANTOPEN && codeOf(error) !== READONLY) throw error
    if (!fs.statSync(path).isFile()) throw error
    fs.accessSync(path, fs.constants.R_OK) // throws what is in the way of reading
    // without a write-ahead log the file is all there is, and SQLite may read it without making files beside it
    if ((fs.statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) {
      try {
        return { raw: tryOpen(`${pathToFileURL(path).href}?immutable=1`, true), readOnly: true, forget: () => {} }
      } catch (again) {
        if (codeOf(again) !== READONLY) throw again // an old store, which is to be migrated: in a copy
      }
    }
    const own = fs.mkdtempSync(join(tmpdir(), 'tidemark-read-'))
    const forget = () => fs.rmSync(own, { recursive: true, force: true })
    try {
      for (const suffix of ['', '-wal'])
        if (fs.existsSync(path + suffix)) fs.copyFileSync(path + suffix, join(own, `store.db${suffix}`))
      return { raw: tryOpen(join(own, 'store.db')), readOnly: true, forget }
    } catch (again) {
      forget()
      throw again
    }
  }
}
