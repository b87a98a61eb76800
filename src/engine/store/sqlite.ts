import { DatabaseSync } from 'node:sqlite'
import { lockWait, retryWithBackoff } from './lock-wait.ts'
import { isBusy } from './store-error.ts'

/** A larger write-ahead log is truncated by the next writer. One that nobody truncated grew to 628 MB. */
export const WAL_LIMIT = 16 * 1024 * 1024

/** Opens an SQLite file that anybody may have made: its schema can call no unsafe function. */
export function openSqlite(path: string | URL, options: { readOnly?: boolean } = {}): DatabaseSync {
  const db = new DatabaseSync(path, options)
  db.enableDefensive?.(true) // Node 24.12 and newer
  db.exec('PRAGMA trusted_schema=OFF')
  return db
}

export function openReady(path: string | URL, options: { readOnly?: boolean }, prepare: (db: DatabaseSync) => void) {
  const db = openSqlite(path, options)
  try {
    prepare(db)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Runs `body` under the write lock of a file, all or nothing. */
export function allOrNothing<T>(db: DatabaseSync, body: () => T): T {
  db.exec('BEGIN IMMEDIATE')
  try {
    const done = body()
    db.exec('COMMIT')
    return done
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

export function withSqlite<T>(path: string | URL, options: { readOnly?: boolean }, body: (db: DatabaseSync) => T): T {
  using db = openSqlite(path, options)
  return body(db)
}

export function pragmas(db: DatabaseSync): void {
  db.exec(
    `PRAGMA busy_timeout=${lockWait.ms}; PRAGMA synchronous=FULL; PRAGMA journal_size_limit=${WAL_LIMIT}; PRAGMA secure_delete=ON; PRAGMA temp_store=MEMORY`,
  )
}

/** Runs `body` without SQLite's own waiting. `busy` is SQLite's error if another process holds the lock. */
function unlessBusy<T>(db: DatabaseSync, body: () => T): { done: T } | { busy: unknown } {
  db.exec('PRAGMA busy_timeout=0')
  try {
    return { done: body() }
  } catch (busy) {
    if (!isBusy(busy)) throw busy
    return { busy }
  } finally {
    db.exec(`PRAGMA busy_timeout=${lockWait.ms}`)
  }
}

/** Runs a statement, with our own back-off while the lock is taken. @throws SQLite's error when the time is up */
export function inTurn(db: DatabaseSync, sql: string, forMs: number, onLong?: () => void): void {
  let last: ReturnType<typeof unlessBusy> | undefined
  const attempt = () => 'done' in (last = unlessBusy(db, () => db.exec(sql)))
  if (!retryWithBackoff(attempt, forMs, onLong) && last && 'busy' in last) throw last.busy
}

/** Empties the write-ahead log; false if somebody reads it. Never waits: SQLite would wait with the write lock held. */
export function truncateWal(raw: DatabaseSync): boolean {
  const tried = unlessBusy(raw, () => raw.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number })
  return 'done' in tried && tried.done.busy === 0
}
