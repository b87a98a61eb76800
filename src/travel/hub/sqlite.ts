import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { attempt, when } from '../../base/errors.ts'
import { keptIn, keptUpTo } from '../../base/lookup.ts'
import { openReady } from '../../engine/store/sqlite.ts'
import { ADD, type HubStore, LATER, schema, type Value } from './store.ts'

/** How long a statement waits for another process, such as `tidemark hub token`. */
const BUSY_MS = 10_000

/** The hub's database in one SQLite file, for one hub process. */
export async function openSqliteStore(path: string): Promise<HubStore> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  chmodSync(path, 0o600)
  const open = () =>
    openReady(path, {}, (db) =>
      db.exec(
        `PRAGMA busy_timeout=${BUSY_MS}; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON`,
      ),
    )
  const writer = open()
  for (const statement of schema(false)) writer.exec(statement)
  const column = writer.prepare("SELECT 1 FROM pragma_table_info('hub_claims') WHERE name=?")
  for (const [name, type] of Object.entries(LATER)) {
    const isThere = () => column.get(name) !== undefined // another process may be faster
    if (!isThere()) attempt(() => writer.exec(`${ADD} ${name} ${type}`), when(isThere))
  }
  // what a transaction has not committed yet is not to be read
  const reader = open()
  const listeners: ((topic: string, text: string) => void)[] = []
  let last: Promise<unknown> = Promise.resolve()

  const inTurn = <T>(body: () => Promise<T>): Promise<T> => {
    const mine = last.then(body)
    last = mine.catch(() => {})
    return mine
  }
  /** Empties the write-ahead log; a backup that reads it is not waited for, but asked again. */
  const scrub = (): Promise<void> =>
    inTurn(async () => {
      if (!writer.isOpen) return
      writer.exec('PRAGMA busy_timeout=0')
      const done = writer.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number }
      writer.exec(`PRAGMA busy_timeout=${BUSY_MS}`)
      if (done.busy !== 0) setTimeout(() => void scrub(), BUSY_MS).unref()
    })
  return {
    lock: '',
    now: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
    tells: true,
    async all<T>(sql: string, ...values: Value[]) {
      return sql.startsWith('SELECT') ? run<T>(reader, sql, values) : inTurn(async () => run<T>(writer, sql, values))
    },
    transaction: (body) =>
      inTurn(async () => {
        writer.exec('BEGIN IMMEDIATE')
        try {
          const result = await body({ all: async (sql, ...values) => run(writer, sql, values) })
          writer.exec('COMMIT')
          return result
        } catch (error) {
          writer.exec('ROLLBACK')
          throw error
        }
      }),
    async tell(topic, text) {
      for (const listener of listeners) listener(topic, text)
    },
    hear: (listener) => void listeners.push(listener),
    scrub,
    close: () =>
      inTurn(async () => {
        for (const db of [reader, writer]) if (db.isOpen) db.close()
      }),
  }
}

const statements = new WeakMap<DatabaseSync, Map<string, ReturnType<DatabaseSync['prepare']>>>()

function run<T>(db: DatabaseSync, sql: string, values: readonly Value[]): T[] {
  const known = keptIn(statements, db, () => new Map())
  return keptUpTo(200, known, sql, () => db.prepare(sql)).all(...values) as T[]
}
