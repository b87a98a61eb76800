import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { UserError } from '../../base/errors.ts'
import { MIGRATIONS, OLDEST_WRITER, SCHEMA_VERSION } from './migrations.ts'

/** The first column of the one row. */
export function valueIn<T>(db: DatabaseSync, sql: string, ...params: SQLInputValue[]): T | undefined {
  const row = db.prepare(sql).get(...params)
  return row && (Object.values(row)[0] as T)
}

export const userVersion = (db: DatabaseSync): number => valueIn<number>(db, 'PRAGMA user_version')!

/** A store comes into its place complete: one without these tables is none, and is never made into one. */
export const holdsStore = (db: DatabaseSync): boolean =>
  valueIn(db, "SELECT count(*) FROM sqlite_master WHERE type='table' AND name IN ('meta', 'log')") === 2

/** Whether a file has the tables of a store exactly as Tidemark makes them, and no view, trigger or index of somebody else's. */
export function hasOurSchema(db: DatabaseSync): boolean {
  const version = userVersion(db)
  if (version < 1 || version > SCHEMA_VERSION) return false
  const own = new DatabaseSync(':memory:')
  for (const migration of MIGRATIONS.slice(0, version)) migration(own)
  const all = (of: DatabaseSync) =>
    JSON.stringify(of.prepare('SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name').all())
  return all(own) === all(db)
}

/** Whether the tables of a file are defined otherwise than we define them: then a statement of ours fails through no fault of its own. */
export function isMisdefined(path: string): boolean {
  try {
    using db = new DatabaseSync(path, { readOnly: true })
    return !hasOurSchema(db)
  } catch {
    return true
  }
}

/** Runs the migrations that the file lacks. The caller holds a transaction. */
export function migrate(db: DatabaseSync): void {
  for (let v = userVersion(db); v < SCHEMA_VERSION; v++) MIGRATIONS[v]!(db)
  db.exec(
    `INSERT OR REPLACE INTO meta VALUES ('oldest_writer', '${OLDEST_WRITER}'); PRAGMA user_version=${SCHEMA_VERSION}`,
  )
}

/** Refuses a store that this code is too old for; run at open and in every write, since it may be migrated meanwhile. */
export function checkVersion(db: DatabaseSync, path: string): void {
  const version = userVersion(db)
  if (version <= SCHEMA_VERSION) return
  if (Number(valueIn(db, "SELECT value FROM meta WHERE key='oldest_writer'")) <= SCHEMA_VERSION) return
  const message = `the store ${path} was written by a newer Tidemark (schema ${version}, this one knows ${SCHEMA_VERSION})`
  const hint = 'restart this process with the newer version: `npm install -g tidemark@latest`'
  throw new UserError('store-newer', message, hint)
}
