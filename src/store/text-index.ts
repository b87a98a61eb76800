import type { Db } from './db.ts'

/** Matches in the title count most; the columns of `text_index` are title, body, extra. */
const WEIGHTS = '4.0, 1.0, 0.6'

/** A longer word is data, not a name: splitting it helps nobody. */
const MAX_IDENTIFIER = 128

/** Adds the parts of identifiers and paths, so that `parseLine` is found by "line". */
export function splitIdentifiers(textValue: string): string {
  const parts: string[] = []
  for (const [word] of textValue.matchAll(/[\p{L}\p{N}_$]+/gu)) {
    if (word.length > MAX_IDENTIFIER || !/_|\p{Ll}\p{Lu}/u.test(word)) continue
    parts.push(
      word
        .replace(/_/g, ' ')
        .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
        .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2'),
    )
  }
  return parts.length > 0 ? `${textValue} ${parts.join(' ')}` : textValue
}

export interface IndexedText {
  title: string
  body: string
  extra: string
}

/** Puts an entity's text in place of what was there. */
export function indexText(db: Db, rowid: number, t: IndexedText | undefined): void {
  db.run('DELETE FROM text_index WHERE rowid=?', rowid)
  if (!t) return
  db.run(
    'INSERT INTO text_index (rowid, title, body, extra) VALUES (?,?,?,?)',
    rowid,
    splitIdentifiers(t.title),
    splitIdentifiers(t.body),
    splitIdentifiers(t.extra),
  )
}

/** Removes the whole index: of a contentless one no word can be taken out for certain. */
export const clearTextIndex = (db: Db): void => db.run("INSERT INTO text_index (text_index) VALUES ('delete-all')")

/** Of a longer question the beginning is searched for. */
const MAX_QUESTION = 10_000

/** The words of a question, without any operator of the index. */
export function queryWords(question: string): string[] {
  const words = splitIdentifiers(question.slice(0, MAX_QUESTION)).match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
  return [...new Set(words.map((w) => w.toLowerCase()))].slice(0, 64)
}

/** Ids of live entities that hold any word of the question, best first (BM25). */
export function searchText(db: Db, question: string, limit: number): { id: string; score: number }[] {
  const words = queryWords(question)
  if (words.length === 0) return []
  const match = words.map((w) => `"${w}"`).join(' OR ')
  return db.all(
    `SELECT e.id AS id, -bm25(text_index, ${WEIGHTS}) AS score FROM text_index JOIN entities e ON e.rowid=text_index.rowid
     WHERE text_index MATCH ? AND e.live=1 AND e.retired=0 AND e.standing<>'rejected' ORDER BY score DESC, e.created DESC, e.id LIMIT ?`,
    match,
    limit,
  )
}
