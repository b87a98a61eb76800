import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { ProcessRef } from '../../base/env.ts'
import { allOrNothing, openReady, withSqlite } from './sqlite.ts'

/** A session whose transcript is to be looked at. Times in ms since the epoch. */
export interface Waiting {
  session: string
  transcript: string
  client: string
  root: string
  /** Up to which byte of the transcript it was looked at. */
  readTo: number
  /** When it is to be looked at; nothing while there is nothing new. */
  due?: number
  /** How often it went wrong, and how the last time. */
  tries: number
  error?: string
}

const TABLES = `
CREATE TABLE IF NOT EXISTS extractors (store TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS meter (store TEXT, day TEXT, tokens INTEGER NOT NULL, calls INTEGER NOT NULL, PRIMARY KEY (store, day)) STRICT;
CREATE TABLE IF NOT EXISTS waiting (store TEXT, session TEXT, due INTEGER, body TEXT NOT NULL, PRIMARY KEY (store, session)) STRICT;
CREATE TABLE IF NOT EXISTS leases (store TEXT PRIMARY KEY, owner TEXT NOT NULL, until INTEGER NOT NULL) STRICT;
`
const SESSIONS_KEPT = 200

/** What a user allowed of extraction, its use, and what waits: one file of the user for all projects. `store`: the path of a store. */
export class Extraction {
  readonly #db: DatabaseSync
  readonly #store: string

  /** Nothing where there is no such file and none is to be made. */
  static open(path: string, store: string, options: { create?: boolean; wait?: number } = {}): Extraction | undefined {
    if (!existsSync(path)) {
      if (!options.create) return undefined
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    }
    return new Extraction(path, store, options.wait ?? 5_000)
  }

  private constructor(path: string, store: string, wait: number) {
    this.#store = store
    this.#db = openReady(path, {}, (db) => {
      db.exec(`PRAGMA busy_timeout=${wait}; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL`)
      if (db.prepare("SELECT 1 FROM sqlite_master WHERE name='leases'").get()) return
      chmodSync(path, 0o600)
      db.exec(TABLES)
    })
  }

  [Symbol.dispose](): void {
    this.#db.close()
  }

  /** A statement whose first parameter is the store. */
  #run(sql: string, ...params: SQLInputValue[]): boolean {
    return this.#db.prepare(sql).run(this.#store, ...params).changes > 0
  }
  #get(sql: string, ...params: SQLInputValue[]) {
    return this.#db.prepare(sql).get(this.#store, ...params)
  }

  /** What the user has allowed here, as it was kept. */
  get allowed(): unknown {
    const row = this.#get('SELECT body FROM extractors WHERE store=?')
    return row && JSON.parse(String(row.body))
  }

  allow(settings: object): void {
    this.#run('INSERT OR REPLACE INTO extractors VALUES (?,?)', JSON.stringify(settings))
  }

  /** Takes it back, with all that waits; what was used today stays counted. False where nothing was allowed. */
  forbid(): boolean {
    return allOrNothing(this.#db, () => {
      this.#run('DELETE FROM waiting WHERE store=?')
      return this.#run('DELETE FROM extractors WHERE store=?')
    })
  }

  /** Takes back what was allowed for stores that are gone: another project that comes to lie there was never allowed. */
  forbidGone(isGone: (store: string) => boolean): void {
    allOrNothing(this.#db, () => {
      const stores = this.#db.prepare('SELECT store FROM extractors UNION SELECT store FROM waiting').all()
      const gone = (stores as { store: string }[]).filter(({ store }) => isGone(store))
      for (const table of ['waiting', 'extractors'])
        for (const { store } of gone) this.#db.prepare(`DELETE FROM ${table} WHERE store=?`).run(store)
    })
  }

  used(day: string): { tokens: number; calls: number } {
    const row = this.#get('SELECT tokens, calls FROM meter WHERE store=? AND day=?', day)
    return { tokens: Number(row?.tokens ?? 0), calls: Number(row?.calls ?? 0) }
  }

  /** Counts tokens before they are sent, if the day's budget has room for all of them. */
  reserve(day: string, tokens: number, budget: number): boolean {
    return allOrNothing(this.#db, () => {
      if (this.used(day).tokens + tokens > budget) return false
      const add = 'ON CONFLICT DO UPDATE SET tokens=tokens+excluded.tokens, calls=calls+1'
      this.#run(`INSERT INTO meter VALUES (?,?,?,1) ${add}`, day, tokens)
      return true
    })
  }

  /** What it really was, in the place of what was reserved. */
  settle(day: string, reserved: number, tokens: number): void {
    const sql = 'UPDATE meter SET tokens=tokens+? WHERE store=? AND day=?'
    this.#db.prepare(sql).run(tokens - reserved, this.#store, day)
  }

  /** A session has gone on: it waits until `due`. Where it was read to stays. */
  queue(entry: Pick<Waiting, 'session' | 'transcript' | 'client' | 'root'> & { due: number }): void {
    allOrNothing(this.#db, () => {
      const before = this.waiting(entry.session)
      this.keep({ ...entry, readTo: before?.transcript === entry.transcript ? before.readTo : 0, tries: 0 })
      const newest = `SELECT rowid FROM waiting WHERE store=? ORDER BY rowid DESC LIMIT ${SESSIONS_KEPT}`
      this.#run(`DELETE FROM waiting WHERE store=? AND due IS NULL AND rowid NOT IN (${newest})`, this.#store)
    })
  }

  keep({ session, due, ...body }: Waiting): void {
    this.#run('INSERT OR REPLACE INTO waiting VALUES (?,?,?,?)', session, due ?? null, JSON.stringify(body))
  }

  waiting(session: string): Waiting | undefined {
    const row = this.#get('SELECT * FROM waiting WHERE store=? AND session=?', session)
    return row && waitingOf(row)
  }

  /** What is due at a moment, the longest first; without one everything that waits. */
  due(by = Number.MAX_SAFE_INTEGER): Waiting[] {
    const sql = 'SELECT * FROM waiting WHERE store=? AND due<=? ORDER BY due, session'
    return this.#db.prepare(sql).all(this.#store, by).map(waitingOf)
  }

  /** The one process that may work here, until it gives it back, is gone, or the time is over. */
  take(owner: ProcessRef, now: number, until: number, isGone: (p: ProcessRef) => boolean): boolean {
    return allOrNothing(this.#db, () => {
      const row = this.#get('SELECT owner, until FROM leases WHERE store=?')
      const holder = row && (JSON.parse(String(row.owner)) as ProcessRef)
      if (holder && Number(row.until) > now && !isGone(holder)) return false
      return this.#run('INSERT OR REPLACE INTO leases VALUES (?,?,?)', JSON.stringify(owner), until)
    })
  }

  giveBack(owner: ProcessRef): void {
    this.#run('DELETE FROM leases WHERE store=? AND owner=?', JSON.stringify(owner))
  }
}

const waitingOf = (row: Record<string, unknown>): Waiting => ({
  ...(JSON.parse(String(row.body)) as Omit<Waiting, 'session' | 'due'>),
  session: String(row.session),
  ...(row.due === null ? {} : { due: Number(row.due) }),
})

export function eraseErrors(path: string): void {
  const sql = "UPDATE waiting SET body=json_remove(body, '$.error'); VACUUM; PRAGMA wal_checkpoint(TRUNCATE)"
  withSqlite(path, {}, (db) => db.exec(`PRAGMA busy_timeout=5000; ${sql}`))
}
