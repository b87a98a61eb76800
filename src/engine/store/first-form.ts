import type { Db } from './db.ts'
import { runBody, unpackRun } from './line.ts'
import { dropMeta, getMeta } from './meta.ts'

/** What the migration to schema 16 leaves to whoever opens a store of 0.1.0 and has the time. */
const DUE = 'form_due'
export const isFirstForm = (db: Db): boolean => getMeta(db, DUE) !== undefined
export const endFirstForm = (db: Db): void => dropMeta(db, DUE)

/** Rows of events in the present form: without what was there before them, which nobody believes and an erasure is not to miss. */
export function rewriteEvents(db: Db): void {
  for (let last = 0; ; ) {
    const sql = 'SELECT rowid, replica, entity, ms, body FROM events WHERE rowid>? ORDER BY rowid LIMIT 1000'
    const rows = db.all<{ rowid: number; replica: string; entity: string; ms: number; body: string }>(sql, last)
    if (rows.length === 0) return
    for (const { rowid, replica, entity, ms, body } of rows) {
      const now = runBody(unpackRun(body, entity, { ms, replica }), ms)
      if (now !== body) db.run('UPDATE events SET body=? WHERE rowid=?', now, rowid)
      last = rowid
    }
  }
}

/** Documents at the last compaction, as 0.1.0 kept them. They are read once. */
export function takeDocuments(db: Db): { entity: string; state: Uint8Array }[] {
  if (!db.has("SELECT 1 FROM sqlite_master WHERE name='base'")) return []
  const found = db.all<{ entity: string; state: Uint8Array }>('SELECT entity, state FROM base')
  db.exec('DROP TABLE base')
  return found
}
