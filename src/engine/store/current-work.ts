import { type Db, stored } from './db.ts'

export const workOf = (db: Db, session: string): string[] =>
  stored<string[]>(db.value<string>('SELECT path FROM current_work WHERE session=?', session) ?? '[]')

export const keepWork = (db: Db, session: string, path: readonly string[], at: number): void =>
  db.run('INSERT OR REPLACE INTO current_work VALUES (?,?,?)', session, JSON.stringify(path), at)

/** Forgets sessions that have started nothing since `before`. */
export const dropOldWork = (db: Db, before: number): void => db.run('DELETE FROM current_work WHERE at < ?', before)
