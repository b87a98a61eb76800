import { DatabaseSync } from 'node:sqlite'
import { MIGRATIONS, SCHEMA_VERSION } from './migrations.ts'

export function userVersion(db: DatabaseSync): number {
  return (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version
}

/** A store comes into its place complete: one without these tables is none, and is never made into one. */
export const holdsStore = (db: DatabaseSync): boolean =>
  (
    db.prepare("SELECT count(*) AS n FROM sqlite_master WHERE type='table' AND name IN ('meta', 'log')").get() as {
      n: number
    }
  ).n === 2

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
    const db = new DatabaseSync(path, { readOnly: true })
    try {
      return !hasOurSchema(db)
    } finally {
      db.close()
    }
  } catch {
    return true
  }
}
