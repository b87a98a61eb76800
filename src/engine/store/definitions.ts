import type { Db } from './db.ts'

export type Kept = { form: 'value' | 'source'; source: string }

export const keptDefine = (db: Db, session: string, name: string): Kept | undefined =>
  db.get('SELECT form, source FROM defines WHERE session=? AND name=?', session, name)

/** How many a session keeps, and how long their texts are. */
export function measureDefines(db: Db, session: string): { count: number; characters: number } {
  const sql = 'SELECT count(*) AS count, coalesce(sum(length(source)), 0) AS characters FROM defines WHERE session=?'
  return db.get(sql, session)!
}

export const keepDefine = (db: Db, session: string, name: string, kept: Kept, at: number): void =>
  db.run('INSERT OR REPLACE INTO defines VALUES (?,?,?,?,?)', session, name, kept.form, kept.source, at)

export const dropOldDefines = (db: Db, before: number): void =>
  db.run(
    'DELETE FROM defines WHERE session IN (SELECT session FROM defines GROUP BY session HAVING max(at) < ?)',
    before,
  )

export const keptHolds = (db: Db, textValue: string): boolean =>
  db.get('SELECT 1 FROM defines WHERE instr(source, ?) > 0 LIMIT 1', JSON.stringify(textValue).slice(1, -1)) !==
  undefined
