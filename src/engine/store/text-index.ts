import { AMONG, type Db, insertion, type Queries, stored } from './db.ts'
import { indexed, textParts } from './terms.ts'
import { dropVector, startAnew } from './vectors.ts'

/** A text of an entity with the weight that its field declares. */
export type WeightedText = { readonly text: string; readonly weight: number }

export interface EntityText {
  readonly title: WeightedText
  readonly parts: readonly WeightedText[]
  /** What it stands in a row with: a conversation, a task. */
  readonly source?: string
  readonly place?: number
}

/** Terms of one weight, as 32-bit hashes of their stems, in order. */
export type Run = { readonly weight: number; readonly terms: Uint32Array }

/** What is kept of a text for ranking. The first run is the title. */
export interface TextRow {
  readonly rowid: number
  readonly source: string | null
  readonly place: number | null
  /** Words as a person counts them. */
  readonly words: number
  readonly runs: readonly Run[]
}

/** A longer text is looked up by its beginning. */
const MAX_TERMS = 20_000

/** How texts are taken apart: another number makes every index of them anew. */
export const TEXT_VERSION = '7'

function countWords(text: string): number {
  let words = 0
  let isWithin = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const isSpace = code === 32 || (code >= 9 && code <= 13) || (code > 127 && /\s/.test(text[i]!))
    if (!isSpace && !isWithin) words++
    isWithin = !isSpace
  }
  return words
}

/** Runs as 32-bit words: their number, then weight in hundredths, length and hashes of each. `more`: what the index lacks. */
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

const ADD_WORDS = insertion('text_index', ['rowid', 'title', 'body', 'extra'])
const ADD_TEXT = insertion('texts', ['rowid', 'source', 'place', 'terms', 'words'])

/** What the indexes hold of a text; made without the store. */
export interface IndexedText extends Pick<TextRow, 'source' | 'place' | 'words'> {
  readonly title: string
  readonly body: string
  readonly extra: string
  readonly terms: Uint8Array
}

export function indexedText({ title, parts, source, place }: EntityText): IndexedText {
  const { terms, words, more } = packRuns([title, ...parts])
  const all = parts.map((p, i) => ({ ...p, more: more[i + 1]! }))
  const column = (of: readonly { text: string; more: string[] }[]) =>
    [of.map((p) => p.text).join('\n'), ...of.flatMap((p) => p.more)].join(' ')
  return {
    title: column([{ text: title.text, more: more[0]! }]),
    body: column(all.filter((p) => p.weight >= 0.5)),
    extra: column(all.filter((p) => p.weight < 0.5)),
    source: source ?? null,
    place: place ?? null,
    terms,
    words,
  }
}

/** Indexes a text in place of the old one; undefined removes it. `was`: nothing (`none`), the same text (`same`), or another. */
export function indexText(db: Db, rowid: number, text: IndexedText | undefined, was: 'none' | 'same' | 'other'): void {
  if (was === 'other' && db.has('SELECT 1 FROM texts WHERE rowid=?', rowid)) dropText(db, rowid)
  if (!text) return
  const { title, body, extra, source, place, terms, words } = text
  db.run(ADD_WORDS, rowid, title, body, extra)
  db.run(ADD_TEXT, rowid, source, place, terms, words)
  if (was !== 'same') db.run('INSERT OR IGNORE INTO vectors_due (rowid) VALUES (?)', rowid)
}

export function dropText(db: Db, rowid: number): void {
  const { before = [], after = [] } = neighboursOf(db, [rowid]).get(rowid) ?? {}
  dropVector(db, rowid, [...before, ...after])
  db.run('DELETE FROM text_index WHERE rowid=?', rowid)
  db.run('DELETE FROM texts WHERE rowid=?', rowid)
}

/** Empties the word index, which cannot delete single words for certain, and the texts. Vectors stay. */
export const clearWords = (db: Db): void =>
  db.exec("INSERT INTO text_index (text_index) VALUES ('delete-all'); DELETE FROM texts")

/** Removes everything that is made of texts. */
export function clearTexts(db: Db): void {
  startAnew(db)
  clearWords(db)
  db.exec('DELETE FROM vectors; DELETE FROM vectors_due; DELETE FROM vector_signs')
}

/** Texts that have neither a vector nor a place in the queue get one. */
export const queueAll = (db: Db): void =>
  db.exec(
    'INSERT OR IGNORE INTO vectors_due (rowid) SELECT rowid FROM texts WHERE rowid NOT IN (SELECT rowid FROM vectors)',
  )

/** By rowid; those that are there. */
export const textRows = (db: Db, rowids: readonly number[]): TextRow[] =>
  db
    .all<Omit<TextRow, 'runs'> & { terms: Uint8Array }>(`SELECT * FROM texts WHERE rowid ${AMONG}`, rowids)
    .map(({ terms, ...row }) => ({ ...row, runs: unpackRuns(terms) }))

/** The texts next to one in its row by their rowids, nearest first. */
export type Neighbours = Readonly<{ before: readonly number[]; after: readonly number[] }>

const NEIGHBOUR = (side: '<' | '>', offset: number) =>
  `(SELECT n.rowid FROM texts n WHERE n.source=t.source AND (n.place, n.rowid) ${side} (t.place, t.rowid)
    ORDER BY n.place ${side === '<' ? 'DESC' : ''}, n.rowid ${side === '<' ? 'DESC' : ''} LIMIT 1 OFFSET ${offset})`

/** Up to two on each side of each, and how many words it has itself; those that stand in no row are left out. */
export function neighboursOf(db: Db, rowids: readonly number[]): Map<number, Neighbours & { readonly words: number }> {
  type Found = { rowid: number; words: number } & { [side in 'b1' | 'b2' | 'a1' | 'a2']: number | null }
  const sql = `SELECT t.rowid AS rowid, t.words AS words, ${NEIGHBOUR('<', 0)} AS b1, ${NEIGHBOUR('<', 1)} AS b2, ${NEIGHBOUR('>', 0)} AS a1, ${NEIGHBOUR('>', 1)} AS a2
     FROM texts t WHERE t.rowid ${AMONG} AND t.source IS NOT NULL`
  const rows = db.all<Found>(sql, rowids)
  const some = (...found: (number | null)[]) => found.filter((r) => r !== null)
  return new Map(rows.map((r) => [r.rowid, { words: r.words, before: some(r.b1, r.b2), after: some(r.a1, r.a2) }]))
}

const MOST_COUNTS = 10_000
/** What was counted since the last commit: in a large store a frequent word takes milliseconds. */
const counted = new WeakMap<Db, { readonly version: string; readonly counts: Map<string, number> }>()

function countOnce(db: Db, what: string, count: () => number): number {
  const version = db.version()
  if (version === undefined) return count()
  let known = counted.get(db)
  if (known?.version !== version || known.counts.size > MOST_COUNTS)
    counted.set(db, (known = { version, counts: new Map() }))
  const n = known.counts.get(what) ?? count()
  known.counts.set(what, n)
  return n
}

/** How many there are; counted where the rows are smallest. */
export const countTexts = (db: Db): number =>
  countOnce(db, '', () => db.value<number>('SELECT count(*) AS n FROM text_index_docsize')!)

const quoted = (word: string): string => `"${indexed(word)}"`

const matching = (words: readonly (string | readonly string[])[]): string =>
  words.map((w) => (typeof w === 'string' ? quoted(w) : `(${w.map(quoted).join(' AND ')})`)).join(' OR ')

/** Matches in the title count most; the columns of `text_index` are title, body, extra. */
const WEIGHTS = '4.0, 1.0, 0.6'

/** Which entities count: what is agreed and in force; also proposals; whatever is alive. */
export type Which = 'confirmed' | 'known' | 'live'

const FILTER: Readonly<Record<Which, string>> = {
  confirmed: "AND e.retired=0 AND e.standing='confirmed'",
  known: "AND e.retired=0 AND e.standing<>'rejected'",
  live: "AND e.standing<>'rejected'",
}

type Hit = Readonly<{ rowid: number; id: string; kind: string; score: number }>

type Asked = Readonly<{ match: string; limit: number; which: Which; kinds: readonly string[] | undefined }>

export function rowsWith(
  db: Queries,
  words: readonly (string | readonly string[])[],
  limit: number,
  which: Which,
  kinds?: readonly string[],
): Hit[] {
  if (words.length === 0) return []
  const asked = { match: matching(words), limit, which, kinds }
  return bestWith(db, asked) ?? allWith(db, asked)
}

/** So many more than wanted are looked at first. */
const SPARE = 200
/** And so many of them first. */
const FEW = 20

/** Ranks first, then reads the best entities. Undefined where too many of the best do not count, or the last are tied. */
function bestWith(db: Queries, { match, limit, which, kinds }: Asked): Hit[] | undefined {
  const most = limit + SPARE
  const sql = `SELECT rowid, -bm25(text_index, ${WEIGHTS}) AS score FROM text_index WHERE text_index MATCH ? ORDER BY score DESC LIMIT ?`
  const best = db.all<{ rowid: number; score: number }>(sql, match, most)
  const scores = new Map(best.map((b) => [b.rowid, b.score]))
  // mostly nearly all of them count
  for (const some of [best.slice(0, limit + FEW), best]) {
    const hits = db
      .all<Omit<Hit, 'score'> & { created: number }>(
        `SELECT e.rowid AS rowid, e.id AS id, e.kind AS kind, e.created AS created FROM entities e
         WHERE e.rowid ${AMONG} AND e.live=1 ${FILTER[which]}
         ${kinds ? `AND e.kind ${AMONG}` : ''}`,
        some.map((b) => b.rowid),
        ...(kinds ? [kinds] : []),
      )
      .map((e) => ({ ...e, score: scores.get(e.rowid)! }))
      .sort((a, b) => b.score - a.score || b.created - a.created || (a.id < b.id ? -1 : 1))
      .slice(0, limit)
    const isAll = some.length === best.length && best.length < most
    if (isAll || (hits.length === limit && hits.at(-1)!.score > some.at(-1)!.score))
      return hits.map(({ created: _, ...hit }) => hit)
  }
  return undefined
}

/** Every text that matches is looked at; where kinds are asked for, the rows of those are told apart without reading any. */
function allWith(db: Queries, { match, limit, which, kinds }: Asked): Hit[] {
  const sql = `SELECT e.rowid AS rowid, e.id AS id, e.kind AS kind, -bm25(text_index, ${WEIGHTS}) AS score FROM text_index CROSS JOIN entities e ON e.rowid=text_index.rowid
     WHERE text_index MATCH ?
     ${kinds ? `AND +text_index.rowid IN (SELECT rowid FROM entities WHERE live=1 AND kind ${AMONG})` : ''}
     AND e.live=1 ${FILTER[which]} ORDER BY score DESC, e.created DESC, e.id LIMIT ?`
  return db.all(sql, match, ...(kinds ? [kinds] : []), limit)
}

export function bestAmong(
  db: Db,
  groups: readonly (readonly string[])[],
  limit: number,
  upTo: number,
  counts: (rowid: number) => boolean,
  kinds?: readonly string[],
): { rowid: number; score: number }[] {
  if (groups.length === 0) return []
  const best = (most: number) => {
    const sql = `SELECT rowid, -bm25(text_index, ${WEIGHTS}) AS score FROM text_index WHERE text_index MATCH ? AND rowid<=?
       ${kinds ? `AND +rowid IN (SELECT rowid FROM entities WHERE live=1 AND kind ${AMONG})` : ''}
       ORDER BY score DESC LIMIT ?`
    return db.all<{ rowid: number; score: number }>(sql, matching(groups), upTo, ...(kinds ? [kinds] : []), most)
  }
  const first = best(limit + SPARE)
  const found = first.filter((r) => counts(r.rowid))
  const isShort = found.length < limit && first.length === limit + SPARE
  return (isShort ? best(-1).filter((r) => counts(r.rowid)) : found).slice(0, limit)
}

/** Whether a piece of a document is among the texts. */
export function hasPieceOf(db: Queries, path: string): boolean {
  const begins = JSON.stringify(['document', path]).slice(0, -1)
  return db.all('SELECT 1 FROM texts WHERE source BETWEEN ? AND ? LIMIT 1', `${begins},`, `${begins}-`).length > 0
}

export function rowidsWith(db: Db, word: string, upTo: number): number[] {
  const sql = 'SELECT json_group_array(rowid) AS rowids FROM text_index WHERE text_index MATCH ? AND rowid<=?'
  return stored(db.value<string>(sql, quoted(word), upTo)!)
}

/** Rows that stand in a row with others, by what they stand in, in order. */
export function textsInRows(
  db: Db,
  sources: readonly string[],
  upTo: number,
): Map<string, { rowid: number; place: number }[]> {
  const sql = `SELECT source, rowid, place FROM texts WHERE source ${AMONG} AND rowid<=? ORDER BY source, place, rowid`
  return Map.groupBy(db.all<{ source: string; rowid: number; place: number }>(sql, sources, upTo), (r) => r.source)
}

export const textsWith = (db: Db, stem: string): number =>
  countOnce(db, indexed(stem), () => db.value<number>('SELECT doc FROM text_words WHERE term=?', indexed(stem)) ?? 0)
