import { existsSync, mkdirSync, readdirSync, realpathSync, rmdirSync, rmSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { attempt, UserError, unlessRefused } from '../../base/errors.ts'
import { removeInside } from '../../base/files.ts'
import { DAY_MS } from '../../model/times.ts'
import { copyStore, snapshots } from './backup.ts'
import { waitForLock } from './db.ts'
import type { OwnFile } from './file-places.ts'
import { markStore } from './owner.ts'
import { hasOurSchema, holdsStore, valueIn } from './schema.ts'
import { openReady, withSqlite } from './sqlite.ts'
import { ofStore } from './store-error.ts'
import { stateDirectory } from './user-state.ts'

/** A store's file, to be read: one without a write-ahead log is complete, and no file is made beside it. */
function wholeFile(path: string): URL {
  const url = pathToFileURL(path)
  if (!existsSync(`${path}-wal`)) url.search = 'immutable=1'
  return url
}

const reading = <T>(path: string, body: (db: DatabaseSync) => T): T | undefined =>
  attempt(() => withSqlite(wholeFile(path), { readOnly: true }, body))

/**
 * What a store holds, for a person who is about to delete it; undefined where it cannot be read.
 * `name`: what the project of a last snapshot was called, and where it lay.
 */
export const contentsOf = (path: string) =>
  reading(path, (db) => {
    if (!hasOurSchema(db)) return undefined // somebody else's tables are not read: they may be views that never end
    const name = valueIn<string>(db, 'SELECT value FROM meta WHERE key=?', NAME_KEY)
    const kinds = 'SELECT kind, count(*) AS n FROM entities WHERE live=1 GROUP BY kind ORDER BY n DESC, kind'
    return {
      project: valueIn<string>(db, "SELECT value FROM meta WHERE key='project'"),
      kinds: db.prepare(kinds).all() as { kind: string; n: number }[],
      ...(name === undefined ? {} : { name }),
      batches: valueIn<number>(db, 'SELECT count(*) FROM log')!,
      last: valueIn<number>(db, 'SELECT at FROM log ORDER BY n DESC LIMIT 1'),
    }
  })

const NAME_KEY = 'last-snapshot-of'

const isSound = (path: string): boolean =>
  reading(path, (db) => holdsStore(db) && valueIn(db, 'PRAGMA quick_check') === 'ok') === true

const LAST_DAYS = 30
const lastFolder = (state: string) => join(state, 'uninstalled')

/** Last snapshots in the user's state directory, the newest first; each is deleted when its `until` is over. */
export function lastSnapshots(state: string) {
  if (!existsSync(lastFolder(state))) return []
  return readdirSync(lastFolder(state))
    .flatMap((name) => {
      const [, project, at] = /^([a-z0-9-]+)-(\d+)\.db$/.exec(name) ?? []
      if (project === undefined) return []
      return [{ path: join(lastFolder(state), name), project, at: Number(at), until: Number(at) + LAST_DAYS * DAY_MS }]
    })
    .sort((a, b) => b.at - a.at)
}

/** Deletes last snapshots that are 30 days old, those of a project whatever their age, and what a killed uninstall left of one. */
export function dropLastSnapshots(state: string, now: number, project?: string): void {
  const old = lastSnapshots(state).filter((s) => s.until <= now || s.project === project)
  const dir = lastFolder(state)
  const partial = existsSync(dir) ? readdirSync(dir).filter((f) => f.endsWith('.partial')) : []
  for (const path of [...old.map((s) => s.path), ...partial.map((f) => join(dir, f))]) rmSync(path, { force: true })
  if (existsSync(dir) && readdirSync(dir).length === 0) rmdirSync(dir)
}

function copyFile(from: string, to: string, name?: string): void {
  const partial = `${to}.partial`
  withSqlite(wholeFile(from), { readOnly: true }, (db) => {
    db.exec('PRAGMA busy_timeout=5000')
    copyStore(db, to, partial, () => {
      if (name === undefined) return
      const sql = 'INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)'
      withSqlite(partial, {}, (copy) => copy.prepare(sql).run(NAME_KEY, name))
    })
  })
}

const LOCK_MS = 10_000

interface Deletion {
  readonly path: string
  readonly files: readonly OwnFile[]
  /** Where the last snapshot goes; undefined: none is kept. */
  readonly keepIn: string | undefined
  readonly project: string
  /** What it is called and where it lies, for a person who finds the last snapshot. */
  readonly name: string
  readonly now: number
}

/** Deletes the files of a store, the store itself last, so that a killed run can be repeated. Returns the last snapshot. */
export function deleteStore({ path, files, keepIn, project, name, now }: Deletion): string | undefined {
  using lock = lockStore(path)
  const source = [...(lock ? [path] : []), ...snapshots(path, now).map((s) => s.path)].find(isSound)
  let kept: string | undefined
  if (keepIn !== undefined && source !== undefined) {
    mkdirSync(lastFolder(keepIn), { recursive: true, mode: 0o700 })
    kept = join(lastFolder(keepIn), `${project}-${now}.db`)
    copyFile(source, kept, name)
  } else if (keepIn !== undefined && files.some((f) => f.kind.knowledge && /\.db|damaged/.test(f.path))) {
    const message = `neither the store ${path} nor a snapshot of it can be read: there would be no last snapshot`
    const hint =
      '`tidemark doctor --restore` brings back what it can; --purge deletes it without a last snapshot. Nothing was deleted'
    throw new UserError('store-damaged', message, hint)
  }
  const last = [`${path}-wal`, `${path}-shm`, path] // SQLite has made the first two anew, to lock the store
  for (const file of [...files.map((f) => f.path).filter((f) => !last.includes(f)), ...last])
    removeInside(dirname(file), basename(file))
  return kept
}

function lockStore(path: string): DatabaseSync | undefined {
  if (!existsSync(path)) return undefined
  waitForLock(LOCK_MS)
  const lock = () => openReady(path, {}, (db) => db.exec(`PRAGMA busy_timeout=${LOCK_MS}; BEGIN IMMEDIATE`))
  return unlessRefused(() => ofStore(path, lock), undefined, 'store-damaged')
}

const isInState = (path: string): boolean =>
  existsSync(stateDirectory()) && realpathSync(path).startsWith(realpathSync(stateDirectory()) + sep)

/** Puts a last snapshot, or any copy of a store, where a project has none. */
export function bringBack(from: string, path: string, project: string | undefined): void {
  if (existsSync(path)) throw new UserError('store-there', `there is a store already: ${path}`, 'nothing was changed')
  if (!isSound(from))
    throw new UserError('no-snapshot', `${from} is no sound store`, 'give the file that uninstall named')
  const holder = contentsOf(from)?.project
  if (project !== undefined && project !== holder)
    throw new UserError('other-project', `${from} is of project ${holder}, not of ${project}`, 'nothing was changed')
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // what lies in the user's state is what uninstall kept there; a copy from elsewhere is to be adopted
  if (holder !== undefined && isInState(from)) markStore(path, holder)
  copyFile(from, path)
}
