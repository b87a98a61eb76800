import type { Db } from './db.ts'

/** What the store keeps of itself, by name. */
export const getMeta = (db: Db, key: string): string | undefined =>
  db.get<{ value: string }>('SELECT value FROM meta WHERE key=?', key)?.value

export const setMeta = (db: Db, key: string, value: string): void =>
  db.run('INSERT OR REPLACE INTO meta VALUES (?,?)', key, value)

export const dropMeta = (db: Db, key: string): void => db.run('DELETE FROM meta WHERE key=?', key)
