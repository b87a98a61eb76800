import { type Db, insert } from './db.ts'
import { indexed, textParts } from './terms.ts'
import { clearPages, startAnew } from './vectors.ts'

/** A text of an entity with the weight that its field declares. */
export interface WeightedText {
  readonly text: string
  readonly weight: number
}

/** What an entity is found by. */
export interface EntityText {
  readonly title: WeightedText
  readonly parts: readonly WeightedText[]
  /** What it stands in a row with: a conversation, a task. */
  readonly source?: string
  readonly place?: number
  readonly speaker?: string
}

/** Terms of one weight, as 32-bit hashes of their stems, in order. */
export interface Run {
  readonly weight: number
  readonly terms: Uint32Array
}

/** What is kept of a text for ranking. The first run is the title. */
export interface TextRow {
  readonly rowid: number
  readonly source: string | null
  readonly place: number | null
  readonly speaker: string | null
  /** Words as a person counts them. */
  readonly words: number
  readonly runs: readonly Run[]
}

/** A longer text is looked up by its beginning. */
const MAX_TERMS = 20_000

/** How texts are taken apart: another number makes every index of them anew. */
export const TEXT_VERSION = '4'

const countWords = (text: string): number => text.match(/\S+/g)?.length ?? 0

/**
 * Runs as bytes: their number; then for each its weight in hundredths, its length and its hashes; all of 32 bits. `more`:
 * what the word index does not find in each text by itself.
 */
export function packRuns(texts: readonly WeightedText[]): { terms: Uint8Array; words: number; more: string[][] } {
  let left = MAX_TERMS
  let words = 0
  const runs = texts.map(({ text, weight }) => {
    words += countWords(text)
    const { hashes, more } = textParts(text, left)
    left -= Math.min(left, hashes.length)
    return { weight, hashes, more }
  })
  const out = new Uint32Array(1 + runs.reduce((n, r) => n + 2 + r.hashes.length, 0))
  out[0] = runs.length
  let at = 1
  for (const run of runs) {
    out[at++] = Math.round(run.weight * 100)
    out[at++] = run.hashes.length
    out.set(run.hashes, at)
    at += run.hashes.length
  }
  return { terms: new Uint8Array(out.buffer), words, more: runs.map((r) => r.more) }
}

export function unpackRuns(bytes: Uint8Array): Run[] {
  // a blob may start anywhere in the memory of the driver
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice()
  const all = new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength >> 2)
  const runs: Run[] = []
  let at = 1
  for (let i = 0; i < (all[0] ?? 0); i++) {
    const n = all[at + 1]!
    runs.push({ weight: all[at]! / 100, terms: all.subarray(at + 2, at + 2 + n) })
    at += 2 + n
  }
  return runs
}

/**
 * Puts an entity's text into the indexes in place of what was there; nothing: takes it out. `again`: the text is what it
 * was, and so is the vector that was made of it.
 */
export function indexText(db: Db, rowid: number, text: EntityText | undefined, again = false): void {
  const isKnown = db.get('SELECT 1 FROM texts WHERE rowid=?', rowid) !== undefined
  if (!again && isKnown) dropText(db, rowid)
  if (!text) return
  const { title, parts, source = null, place = null, speaker = null } = text
  const { terms, words, more } = packRuns([title, ...parts])
  const all = parts.map((p, i) => ({ ...p, more: more[i + 1]! }))
  const column = (of: readonly { text: string; more: string[] }[]) =>
    [of.map((p) => p.text).join('\n'), ...of.flatMap((p) => p.more)].join(' ')
  const body = column(all.filter((p) => p.weight >= 0.5))
  const extra = column(all.filter((p) => p.weight < 0.5))
  insert(db, 'text_index', { rowid, title: column([{ text: title.text, more: more[0]! }]), body, extra })
  insert(db, 'texts', { rowid, source, place, speaker, terms, words })
  if (!again) db.run('INSERT OR IGNORE INTO vectors_due (rowid) VALUES (?)', rowid)
}

export function dropText(db: Db, rowid: number): void {
  db.run('DELETE FROM text_index WHERE rowid=?', rowid)
  db.run('DELETE FROM texts WHERE rowid=?', rowid)
  db.run('DELETE FROM vectors WHERE rowid=?', rowid)
  db.run('DELETE FROM vectors_due WHERE rowid=?', rowid)
}

/**
 * Empties the whole word index, since a contentless one cannot delete single words for certain, and what is kept of texts.
 * Vectors stay with their rows.
 */
export function clearWords(db: Db): void {
  db.exec("INSERT INTO text_index (text_index) VALUES ('delete-all'); DELETE FROM texts")
  clearPages(db) // what was erased may be mixed into what stood beside it
}

/** Removes everything that is made of texts. */
export function clearTexts(db: Db): void {
  startAnew(db)
  clearWords(db)
  db.exec('DELETE FROM vectors; DELETE FROM vectors_due')
}

/** Texts that have neither a vector nor a place in the queue get one. */
export const queueAll = (db: Db): void =>
  db.exec(
    'INSERT OR IGNORE INTO vectors_due (rowid) SELECT rowid FROM texts WHERE rowid NOT IN (SELECT rowid FROM vectors)',
  )

type StoredRow = Omit<TextRow, 'runs'> & { terms: Uint8Array }

const unpack = ({ terms, ...row }: StoredRow): TextRow => ({ ...row, runs: unpackRuns(terms) })

/** By rowid; those that are there. */
export const textRows = (db: Db, rowids: readonly number[]): TextRow[] =>
  db
    .all<StoredRow>('SELECT * FROM texts WHERE rowid IN (SELECT value FROM json_each(?))', JSON.stringify(rowids))
    .map(unpack)

/** The texts next to one in its row by their rowids, nearest first. */
export interface Neighbours {
  readonly before: readonly number[]
  readonly after: readonly number[]
}

const NEIGHBOUR = (side: '<' | '>', offset: number) =>
  `(SELECT n.rowid FROM texts n WHERE n.source=t.source AND (n.place, n.rowid) ${side} (t.place, t.rowid)
    ORDER BY n.place ${side === '<' ? 'DESC' : ''}, n.rowid ${side === '<' ? 'DESC' : ''} LIMIT 1 OFFSET ${offset})`

/** Up to two on each side of each; those that stand in no row are left out. Reads the index alone. */
export function neighboursOf(db: Db, rowids: readonly number[]): Map<number, Neighbours> {
  const rows = db.all<{ rowid: number; b1: number | null; b2: number | null; a1: number | null; a2: number | null }>(
    `SELECT t.rowid AS rowid, ${NEIGHBOUR('<', 0)} AS b1, ${NEIGHBOUR('<', 1)} AS b2, ${NEIGHBOUR('>', 0)} AS a1, ${NEIGHBOUR('>', 1)} AS a2
     FROM texts t WHERE t.rowid IN (SELECT value FROM json_each(?)) AND t.source IS NOT NULL`,
    JSON.stringify(rowids),
  )
  const some = (...found: (number | null)[]) => found.filter((r) => r !== null)
  return new Map(rows.map((r) => [r.rowid, { before: some(r.b1, r.b2), after: some(r.a1, r.a2) }]))
}

/** How many there are; counted where the rows are smallest. */
export const countTexts = (db: Db): number => db.get<{ n: number }>('SELECT count(*) AS n FROM text_index_docsize')!.n

const quoted = (word: string): string => `"${indexed(word)}"`

/** Matches in the title count most; the columns of `text_index` are title, body, extra. */
const WEIGHTS = '4.0, 1.0, 0.6'

/** Which entities count: what is agreed and in force; also proposals; whatever is alive. */
export type Which = 'confirmed' | 'known' | 'live'

const FILTER: Readonly<Record<Which, string>> = {
  confirmed: "AND e.retired=0 AND e.standing='confirmed'",
  known: "AND e.retired=0 AND e.standing<>'rejected'",
  live: "AND e.standing<>'rejected'",
}

/** Rows that hold any of the words, or all of any group of words, best first (BM25). */
export function rowsWith(
  db: Db,
  words: readonly (string | readonly string[])[],
  limit: number,
  which: Which,
  kinds?: readonly string[],
): { rowid: number; id: string; kind: string; score: number }[] {
  if (words.length === 0) return []
  return db.all(
    `SELECT e.rowid AS rowid, e.id AS id, e.kind AS kind, -bm25(text_index, ${WEIGHTS}) AS score FROM text_index JOIN entities e ON e.rowid=text_index.rowid
     WHERE text_index MATCH ? AND e.live=1 ${FILTER[which]}
     ${kinds ? 'AND e.kind IN (SELECT value FROM json_each(?))' : ''} ORDER BY score DESC, e.created DESC, e.id LIMIT ?`,
    words.map((w) => (typeof w === 'string' ? quoted(w) : `(${w.map(quoted).join(' AND ')})`)).join(' OR '),
    ...(kinds ? [JSON.stringify(kinds)] : []),
    limit,
  )
}

/** In how many texts a stem stands. */
export const textsWith = (db: Db, stem: string): number =>
  db.get<{ doc: number }>('SELECT doc FROM text_words WHERE term=?', indexed(stem))?.doc ?? 0
