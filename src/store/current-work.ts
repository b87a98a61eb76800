import { type Db, stored } from './db.ts'

const unpack = (row: { path: string } | undefined): string[] => (row ? stored<string[]>(row.path) : [])

/** Where in the work tree a session stands: ids from the goal down, as it was kept. */
export const workOf = (db: Db, session: string): string[] =>
  unpack(db.get<{ path: string }>('SELECT path FROM current_work WHERE session=?', session))

export const keepWork = (db: Db, session: string, path: readonly string[], at: number): void =>
  db.run('INSERT OR REPLACE INTO current_work VALUES (?,?,?)', session, JSON.stringify(path), at)

/** Forgets sessions that have started nothing for so long. */
export const dropOldWork = (db: Db, before: number): void => db.run('DELETE FROM current_work WHERE at < ?', before)

/** After an erasure: an id may hold the very name that had to go. */
export function forgetErasedWork(db: Db, isThere: (id: string) => boolean): void {
  for (const row of db.all<{ session: string; path: string; at: number }>('SELECT * FROM current_work')) {
    const path = unpack(row)
    const left = path.filter(isThere)
    if (left.length < path.length) keepWork(db, row.session, left, row.at)
  }
}
