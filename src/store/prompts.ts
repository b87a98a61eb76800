import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { foldText } from '../model/names.ts'
import { openReady } from './sqlite.ts'

/** What a person typed in a session. It never leaves this machine. */
export interface Prompt {
  readonly id: number
  /** When it was typed, ms since the epoch. */
  readonly at: number
  readonly session: string
  readonly client: string
  readonly text: string
}

const TABLES = `
CREATE TABLE prompts (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, session TEXT NOT NULL, client TEXT NOT NULL, text TEXT NOT NULL,
  used INTEGER NOT NULL DEFAULT 0, shown INTEGER NOT NULL DEFAULT 0, UNIQUE (session, text)) STRICT;
CREATE INDEX prompts_by_time ON prompts (at);
CREATE TABLE sentences (words TEXT, session TEXT, at INTEGER NOT NULL, PRIMARY KEY (words, session)) STRICT, WITHOUT ROWID;
CREATE TABLE refused (words TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`
const COLUMNS = 'id, at, session, client, text'
export const KEPT_DAYS = 90
const KEPT_MS = KEPT_DAYS * 86_400_000
/** Of one prompt. */
const MOST_CHARS = 4_000
/** A shorter quotation says nothing. */
const LEAST_QUOTED = 6

/** A text to compare: its words alone, in small letters. */
export const wordsOf = (text: string): string => (foldText(text).match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).join(' ')

/** Prompts that were typed in a project on this machine, for 90 days: `prompts.db` beside its store. */
export class Prompts {
  readonly #db: DatabaseSync

  /** Nothing where there is no such file and none is to be made. `wait`: ms for another process that writes. */
  static open(path: string, options: { create?: boolean; wait?: number } = {}): Prompts | undefined {
    if (!existsSync(path)) {
      if (!options.create) return undefined
      mkdirSync(dirname(path), { recursive: true })
    }
    return new Prompts(path, options.wait ?? 5_000)
  }

  private constructor(path: string, wait: number) {
    this.#db = openReady(path, {}, (db) => {
      db.exec(`PRAGMA busy_timeout=${wait}; PRAGMA secure_delete=ON; PRAGMA synchronous=NORMAL`)
      if (Number(db.prepare('PRAGMA user_version').get()?.user_version) > 0) return
      chmodSync(path, 0o600)
      db.exec('PRAGMA journal_mode=WAL; BEGIN IMMEDIATE')
      if (Number(db.prepare('PRAGMA user_version').get()?.user_version) === 0)
        db.exec(`${TABLES} PRAGMA user_version=1`)
      db.exec('COMMIT')
    })
  }

  [Symbol.dispose](): void {
    this.#db.close()
  }

  #all(sql: string, ...params: SQLInputValue[]): Prompt[] {
    return this.#db.prepare(sql).all(...params) as unknown as Prompt[]
  }
  #run(sql: string, ...params: SQLInputValue[]): number {
    return Number(this.#db.prepare(sql).run(...params).changes)
  }

  /** Keeps a prompt, and what is older no longer. `sentences`: what it says, to know what is said again. Returns its id. */
  add(prompt: Omit<Prompt, 'id'>, sentences: readonly string[] = []): number {
    const { at, session, client, text } = prompt
    this.#db.exec('BEGIN IMMEDIATE')
    try {
      const before = at - KEPT_MS
      for (const table of ['prompts', 'sentences', 'refused']) this.#run(`DELETE FROM ${table} WHERE at<?`, before)
      const cut = text.slice(0, MOST_CHARS).toWellFormed()
      this.#run('INSERT OR IGNORE INTO prompts (at, session, client, text) VALUES (?,?,?,?)', at, session, client, cut)
      for (const words of new Set(sentences.map(wordsOf)))
        this.#run('INSERT OR IGNORE INTO sentences VALUES (?,?,?)', words, session, at)
      const row = this.#db.prepare('SELECT id FROM prompts WHERE session=? AND text=?').get(session, cut)
      this.#db.exec('COMMIT')
      return Number(row?.id)
    } catch (error) {
      this.#db.exec('ROLLBACK')
      throw error
    }
  }

  /** In how many sessions a sentence was typed. */
  sessionsThatSay(sentence: string): number {
    const row = this.#db.prepare('SELECT count(*) AS n FROM sentences WHERE words=?').get(wordsOf(sentence))
    return Number(row?.n)
  }

  /** The person does not want this sentence to be kept, and is not asked again. */
  refuse(sentence: string, at: number): void {
    this.#run('INSERT OR REPLACE INTO refused VALUES (?,?)', wordsOf(sentence), at)
  }
  isRefused(sentence: string): boolean {
    return this.#db.prepare('SELECT 1 FROM refused WHERE words=?').get(wordsOf(sentence)) !== undefined
  }

  /** The newest prompt in which these words were typed, one after another; with `session`, its own before those of others. */
  saying(quote: string, session = ''): Prompt | undefined {
    const words = wordsOf(quote)
    if (words.length < LEAST_QUOTED) return undefined
    const all = this.#db.prepare(`SELECT ${COLUMNS} FROM prompts ORDER BY session=? DESC, id DESC`).iterate(session)
    for (const row of all) if (wordsOf(String(row.text)).includes(words)) return row as unknown as Prompt
    return undefined
  }

  /** Something was recorded for it. */
  use(id: number): void {
    this.#run('UPDATE prompts SET used=used+1 WHERE id=?', id)
  }

  /** Prompts of a session for which nothing was recorded, and which no agent was asked about yet; oldest first. */
  unjudgedOf(session: string): Prompt[] {
    return this.#all(`SELECT ${COLUMNS} FROM prompts WHERE session=? AND used=0 AND shown=0 ORDER BY id`, session)
  }
  /** The sessions that have such prompts, the latest first. */
  unjudgedSessions(since: number): string[] {
    return this.#all(
      'SELECT session FROM prompts WHERE used=0 AND shown=0 AND at>=? GROUP BY session ORDER BY max(id) DESC',
      since,
    ).map((row) => row.session)
  }
  /** An agent was asked about these. */
  show(ids: readonly number[], at: number): void {
    const marks = JSON.stringify(ids)
    this.#run('UPDATE prompts SET shown=? WHERE id IN (SELECT value FROM json_each(?))', at, marks)
  }

  /** The newest that hold all words of a question; without one, the newest. */
  search(question: string, limit: number, session?: string): Prompt[] {
    const words = wordsOf(question).split(' ').filter(Boolean)
    const where = session === undefined ? '' : 'WHERE session=?'
    const rows = this.#db
      .prepare(`SELECT ${COLUMNS} FROM prompts ${where} ORDER BY at DESC, id DESC`)
      .iterate(...(session === undefined ? [] : [session]))
    const found: Prompt[] = []
    for (const row of rows) {
      const text = wordsOf(String(row.text))
      if (words.every((word) => text.includes(word)) && found.push(row as unknown as Prompt) >= limit) break
    }
    return found
  }

  /** Erases every prompt that holds one of these texts; all of them where it is not known what has to go. */
  erase(texts: readonly string[] | undefined): void {
    const gone = texts?.map(wordsOf).filter((text) => text !== '')
    for (const [table, column] of [
      ['prompts', 'text'],
      ['sentences', 'words'],
      ['refused', 'words'],
    ] as const) {
      const rows = this.#db.prepare(`SELECT DISTINCT ${column} AS said FROM ${table}`).all()
      for (const { said } of rows)
        if (!gone || gone.some((text) => wordsOf(String(said)).includes(text)))
          this.#run(`DELETE FROM ${table} WHERE ${column}=?`, String(said))
    }
    this.#db.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)')
  }
}
