import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, sep } from 'node:path'
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { attempt } from '../../base/errors.ts'
import { appendInside, readInside } from '../../base/files.ts'
import { isAscii } from '../../base/secrets/plain.ts'
import { foldText } from '../../model/names.ts'
import { valueIn } from './schema.ts'
import { allOrNothing, openReady } from './sqlite.ts'
import { isDamage } from './store-error.ts'

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
CREATE TABLE prompts (id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, session TEXT NOT NULL, client TEXT NOT NULL,
  text TEXT NOT NULL, typed INTEGER NOT NULL, used INTEGER NOT NULL DEFAULT 0, shown INTEGER NOT NULL DEFAULT 0, UNIQUE (session, text)) STRICT;
CREATE INDEX prompts_by_time ON prompts (at);
CREATE TABLE sentences (words TEXT, session TEXT, at INTEGER NOT NULL, PRIMARY KEY (words, session)) STRICT, WITHOUT ROWID;
CREATE TABLE quotes (said TEXT PRIMARY KEY, words TEXT NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE refused (words TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`
/** Where each table has what was typed. */
const WORDS = { prompts: 'text', sentences: 'words', quotes: 'words', refused: 'words' }
const COLUMNS = 'id, at, session, client, text'
export const KEPT_DAYS = 90
const KEPT_MS = KEPT_DAYS * 86_400_000
/** Of one prompt. */
const MOST_CHARS = 4_000
const FILES = ['', '-journal', '-wal', '-shm']

/** A text to compare: its words alone, in small letters. */
export function wordsOf(text: string): string {
  const folded = foldText(text)
  // classes of Unicode take a hook milliseconds to compile
  return (folded.match(isAscii(folded) ? /[a-z0-9]+/g : /[\p{L}\p{M}\p{N}]+/gu) ?? []).join(' ')
}

const sentencesIn = (text: string): string[] =>
  text.split(/(?<=[.!?;])(?<!(?:^|\s)\.)(?<!\/\.{1,3})\s+|[\n\r。！？；]+/).filter((s) => s.trim() !== '')

/** Of fewer words, or characters where a language has no blanks, a part of a sentence says nothing. */
const LEAST = { words: 3, characters: 4 }
/** What turns a sentence round, and what says that somebody else is heard. */
const TURNS =
  /\b(?:never|not|no|don|doesn|shouldn|cannot|without|nie|nicht|kein\w{0,2}|ne|jamais|pas|nunca|sin|não|sem)\b/
/** "Read @a.md" is an order, and "I have said that" the speaker's own. */
const REPORTS =
  /\b(?:says?|(?<!\b(?:i|we) (?:(?:have|ve|already|just) ){0,2})(?:said|wrote|told)|writes?|reads|(?<!^)read|according to|claims?|laut|sagt|schreibt|dit|dice|diz|segundo|según|selon)\b/

/** A question that asks for a nod alone is a statement. */
export const TAG =
  /[,)]? (?:te parece|ok(?:ay)?|right|vale|d[’']accord|oder|ja|oui|s[íi]|yes|please|verdad|non|no)\?\W{0,3}$/i
export const isQuestion = (sentence: string): boolean => /[?？]\W{0,3}$/.test(sentence) && !TAG.test(sentence)

/** What follows is asked for, though the sentence is a question: "Can you show the start times?" */
const REQUEST =
  /^(?:(?:also|and|but|now|ok|okay|please|so|then) )*(?:(?:can|could|would) you|(?:can|could) we|können wir|peut on|pouvons nous|podemos|kannst du|könntest du|peux tu|pourrais tu|pouvez vous|puedes|podrías|você pode)(?: please| bitte)? /

/** Whether a sentence says these words, one after another, as its own: not with a "not" left out, not as a question, not of others. */
function states(sentence: string, quote: string): boolean {
  const [all, said] = [wordsOf(sentence), wordsOf(quote)]
  const request = isQuestion(sentence) ? REQUEST.exec(all)?.[0] : ''
  if (said === '' || request === undefined) return false
  const isSpaced = !/[\u2e80-\uffef]/.test(said)
  const at = isSpaced ? ` ${all} `.indexOf(` ${said} `) : all.indexOf(said)
  if (at < 0) return false
  const isLong = isSpaced ? said.split(' ').length >= LEAST.words : said.length >= LEAST.characters
  if (!isLong && all !== said) return false
  const before = all.slice(0, at)
  if (request !== '' && !request.startsWith(before)) return false
  return !TURNS.test(before.split(' ').slice(-5).join(' ')) && !REPORTS.test(before)
}

/** Whether a file may be ours: a regular one of this user, with one name. */
function isOurs(path: string): boolean | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  return stat?.isFile() && stat.nlink === 1 && (process.getuid === undefined || stat.uid === process.getuid())
}

/** Makes the directory, if it is gone, and keeps the file out of git: a store of before may lie in a work tree. */
function makeRoom(dir: string): void {
  mkdirSync(dir, { recursive: true })
  if (dir.split(sep).includes('.git')) return
  const lines = `${readInside(dir, '.gitignore') ?? ''}`.split('\n')
  if (lines.includes('*') || lines.includes(IGNORED)) return
  appendInside(dir, '.gitignore', `${lines.at(-1) === '' ? '' : '\n'}${IGNORED}\n`)
}
const IGNORED = '/prompts.db*'

/** Prompts that were typed in a project on this machine, for 90 days: `prompts.db` beside its store. */
export class Prompts {
  readonly #db: DatabaseSync
  readonly #since: number

  /** Undefined where there is none, or it is not ours or unreadable. A damaged file is moved aside. `wait`, `now`: ms. */
  static open(path: string, options: { create?: boolean; wait?: number; now?: number } = {}): Prompts | undefined {
    const there = isOurs(path)
    if (there === false || (there === undefined && !options.create)) return undefined
    const make = () => new Prompts(path, options.wait ?? 5_000, options.now ?? Date.now())
    try {
      if (there === undefined) makeRoom(dirname(path))
      return make()
    } catch (error) {
      if (!isDamage(error)) return undefined
      attempt(() => {
        renameSync(path, `${path}.damaged`)
        for (const suffix of FILES.slice(1)) rmSync(path + suffix, { force: true })
      })
      return options.create ? attempt(make) : undefined
    }
  }

  private constructor(path: string, wait: number, now: number) {
    this.#since = now - KEPT_MS
    this.#db = openReady(path, {}, (db) => {
      db.exec(`PRAGMA busy_timeout=${wait}; PRAGMA secure_delete=ON; PRAGMA synchronous=OFF`)
      const isNew = () => valueIn(db, 'PRAGMA user_version') === 0
      if (!isNew()) return
      chmodSync(path, 0o600)
      allOrNothing(db, () => isNew() && db.exec(`${TABLES} PRAGMA user_version=1`))
    })
  }

  [Symbol.dispose](): void {
    this.#db.close()
  }

  #all(sql: string, ...params: SQLInputValue[]): Prompt[] {
    return this.#db.prepare(sql).all(...params) as unknown as Prompt[]
  }
  #value<T>(sql: string, ...params: SQLInputValue[]): T | undefined {
    return valueIn(this.#db, sql, ...params)
  }
  #run(sql: string, ...params: SQLInputValue[]): number {
    return Number(this.#db.prepare(sql).run(...params).changes)
  }

  /** Keeps a prompt, and drops those that are too old. `typed`: by a person. Returns its id. */
  add({ at, session, client, text }: Omit<Prompt, 'id'>, sentences: readonly string[] = [], typed = true): number {
    return allOrNothing(this.#db, () => {
      for (const table of Object.keys(WORDS)) this.#run(`DELETE FROM ${table} WHERE at<?`, this.#since)
      const cut = text.slice(0, MOST_CHARS).toWellFormed()
      const values = [at, session, client, cut, typed ? 1 : 0]
      this.#run('INSERT OR IGNORE INTO prompts (at, session, client, text, typed) VALUES (?,?,?,?,?)', ...values)
      for (const words of new Set(sentences.map(wordsOf)))
        this.#run('INSERT OR IGNORE INTO sentences VALUES (?,?,?)', words, session, at)
      return this.#value<number>('SELECT id FROM prompts WHERE session=? AND text=?', session, cut)!
    })
  }

  sessionsThatSay(sentence: string): number {
    return this.#value<number>('SELECT count(*) FROM sentences WHERE words=?', wordsOf(sentence))!
  }

  refuse(sentence: string, at: number): void {
    this.#run('INSERT OR REPLACE INTO refused VALUES (?,?)', wordsOf(sentence), at)
  }
  isRefused(sentence: string): boolean {
    return this.#value('SELECT 1 FROM refused WHERE words=?', wordsOf(sentence)) !== undefined
  }

  /** The newest prompt in which a person typed these sentences, or parts of sentences; with `session`, its own before those of others. */
  saying(quote: string, session = ''): Prompt | undefined {
    const parts = sentencesIn(quote)
    if (parts.length === 0) return undefined
    const sql = `SELECT ${COLUMNS} FROM prompts WHERE typed=1 AND at>=? ORDER BY session=? DESC, id DESC`
    for (const row of this.#db.prepare(sql).iterate(this.#since, session)) {
      // a list shows a prompt on one line, and so it is quoted
      const text = String(row.text)
      const joined = text.replace(/(?<=[\p{L}\p{N},])\r?\n(?=[ \t]*[\p{L}\p{N}])/gu, ' ')
      const sentences = [text, joined].flatMap(sentencesIn)
      const isSaid = (part: string) => sentences.some((s) => states(s, part))
      // a question between statements was typed, and says nothing
      const isAsked = (part: string) => isQuestion(part) && sentences.some((s) => wordsOf(s) === wordsOf(part))
      if (parts.some(isSaid) && parts.every((part) => isSaid(part) || isAsked(part))) return row as unknown as Prompt
    }
    return undefined
  }

  /** Keeps the words that a record rests on, by what the record says of them. */
  quote(said: string, words: string, at: number): void {
    this.#run('INSERT OR REPLACE INTO quotes VALUES (?,?,?)', said, words.slice(0, MOST_CHARS).toWellFormed(), at)
  }
  quoted(said: string): string | undefined {
    return this.#value('SELECT words FROM quotes WHERE said=?', said)
  }

  /** A session recorded something for it: one of its own, or one that an agent of another session was asked about. Whether it did so by itself. */
  use(id: number, session: string): boolean {
    this.#run('UPDATE prompts SET used=used+(session=?), shown=max(shown, session<>?) WHERE id=?', session, session, id)
    return this.#value('SELECT 1 FROM prompts WHERE id=? AND session=? AND shown=0', id, session) !== undefined
  }

  /** What a person typed in a session and no agent was asked about yet, behind the last for which it recorded something unasked; oldest first. */
  unjudgedOf(session: string): Prompt[] {
    const judged = 'SELECT coalesce(max(id), 0) FROM prompts WHERE session=? AND used>0 AND shown=0'
    return this.#all(
      `SELECT ${COLUMNS} FROM prompts WHERE session=? AND typed=1 AND shown=0 AND id>(${judged}) ORDER BY id`,
      session,
      session,
    )
  }
  /** The sessions that have such prompts, the latest first. */
  unjudgedSessions(since: number): string[] {
    const sql =
      'SELECT session FROM prompts WHERE typed=1 AND used=0 AND shown=0 AND at>=? GROUP BY session ORDER BY max(id) DESC'
    return this.#all(sql, since).map((row) => row.session)
  }
  /** An agent was asked about these. */
  show(ids: readonly number[], at: number): void {
    this.#run('UPDATE prompts SET shown=? WHERE id IN (SELECT value FROM json_each(?))', at, JSON.stringify(ids))
  }

  /** The newest that hold all words of a question; without one, the newest. */
  search(question: string, limit: number): Prompt[] {
    const words = wordsOf(question).split(' ').filter(Boolean)
    const found: Prompt[] = []
    const sql = `SELECT ${COLUMNS} FROM prompts WHERE at>=? ORDER BY at DESC, id DESC`
    for (const row of this.#db.prepare(sql).iterate(this.#since)) {
      const text = wordsOf(String(row.text))
      if (words.every((word) => text.includes(word)) && found.push(row as unknown as Prompt) >= limit) break
    }
    return found
  }

  /** Erases every prompt that holds one of these texts; all of them where it is not known what has to go. */
  erase(texts?: readonly string[]): void {
    const gone = texts?.map(wordsOf).filter((text) => text !== '')
    let erased = 0
    for (const [table, column] of Object.entries(WORDS))
      for (const { said } of this.#db.prepare(`SELECT DISTINCT ${column} AS said FROM ${table}`).all())
        if (!gone || gone.some((text) => wordsOf(String(said)).includes(text)))
          erased += this.#run(`DELETE FROM ${table} WHERE ${column}=?`, String(said))
    if (erased > 0) this.#db.exec('VACUUM')
  }
}
