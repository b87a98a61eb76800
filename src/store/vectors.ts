import type { Db } from './db.ts'
import { dropMeta, getMeta, setMeta } from './meta.ts'

/** The model that the vectors in the store are of. */
export const vectorModel = (db: Db): string | undefined => getMeta(db, 'vector_model')

/** Takes every vector of another model out, and marks all texts as lacking one. The caller holds the write lock. */
export function useModel(db: Db, id: string): void {
  if (vectorModel(db) === id) return
  startAnew(db)
  clearPages(db)
  db.exec('DELETE FROM vectors; INSERT OR IGNORE INTO vectors_due (rowid) SELECT rowid FROM texts')
  setMeta(db, 'vector_model', id)
}

export const countDue = (db: Db): number => db.get<{ n: number }>('SELECT count(*) AS n FROM vectors_due')!.n
export const someDue = (db: Db): boolean => db.get('SELECT 1 FROM vectors_due LIMIT 1') !== undefined
export const countVectors = (db: Db): number => db.get<{ n: number }>('SELECT count(*) AS n FROM vectors')!.n
/** A number that grows with every vector that is stored, and never falls. */
export const lastChange = (db: Db): number => Number(getMeta(db, 'vector_change') ?? 0)
/** Changes whenever all vectors are deleted: row ids may then mean other texts. */
export const vectorsEpoch = (db: Db): string => getMeta(db, 'vector_epoch') ?? ''
/** To be called with it, under the write lock. */
export const startAnew = (db: Db): void => setMeta(db, 'vector_epoch', String(Number(vectorsEpoch(db)) + 1))

/** The newest entities without a vector, with the version for which it is wanted. */
export const due = (db: Db, limit: number): { rowid: number; id: string; version: number }[] =>
  db.all(
    `SELECT d.rowid AS rowid, e.id AS id, e.version AS version FROM vectors_due d JOIN entities e ON e.rowid=d.rowid
     ORDER BY d.rowid DESC LIMIT ?`,
    limit,
  )

export interface NewVector {
  readonly rowid: number
  readonly version: number
  readonly data: Uint8Array
}

/** Stores vectors for what has not changed since they were asked for. The caller holds the write lock. */
export function putVectors(db: Db, model: string, vectors: readonly NewVector[]): number {
  if (vectorModel(db) !== model) return 0
  let change = lastChange(db)
  let stored = 0
  for (const v of vectors) {
    const now = db.get<{ version: number }>('SELECT version FROM entities WHERE rowid=?', v.rowid)
    if (now?.version !== v.version || !db.get('SELECT 1 FROM vectors_due WHERE rowid=?', v.rowid)) continue
    db.run('INSERT OR REPLACE INTO vectors (rowid, change, data) VALUES (?,?,?)', v.rowid, ++change, v.data)
    db.run('DELETE FROM vectors_due WHERE rowid=?', v.rowid)
    stored++
  }
  if (stored > 0) setMeta(db, 'vector_change', String(change))
  return stored
}

/** How many rows are read at a time. One by one they take twice as long. */
const PAGE = 2_000

/** Every vector, by row; as pairs, which take half as long to make as records. */
export function* eachVector(db: Db): Iterable<[rowid: number, data: Uint8Array]> {
  const statement = db.raw.prepare('SELECT rowid, data FROM vectors WHERE rowid>? ORDER BY rowid LIMIT ?')
  statement.setReturnArrays(true)
  for (let after = -1; ; ) {
    const page = statement.all(after, PAGE) as unknown as [number, Uint8Array][]
    yield* page
    if (page.length < PAGE) return
    after = page.at(-1)![0]
  }
}

/** Which texts stand in a row, one after another. */
export const eachInRow = (db: Db): Iterable<{ rowid: number; source: string; words: number }> =>
  db.each('SELECT rowid, source, words FROM texts WHERE source IS NOT NULL ORDER BY source, place, rowid')

export const vectorsSince = (db: Db, change: number): { rowid: number }[] =>
  db.all('SELECT rowid FROM vectors WHERE change>? ORDER BY change', change)

export const vectorOf = (db: Db, rowid: number): Uint8Array | undefined =>
  db.get<{ data: Uint8Array }>('SELECT data FROM vectors WHERE rowid=?', rowid)?.data

/** Of what state the pages are; for their maker to read. */
export const aboutPages = (db: Db): string | undefined => getMeta(db, 'vector_pages')

/** Each save has a range of part numbers of its own: the pages before it stand until all of it is there. */
const PARTS = 2 ** 20
const lastSave = (db: Db): number => Number(getMeta(db, 'vector_save') ?? 0)

export const readPages = (db: Db, save: number): Uint8Array[] =>
  db
    .all<{ data: Uint8Array }>(
      'SELECT data FROM vector_pages WHERE part>=? AND part<? ORDER BY part',
      save * PARTS,
      (save + 1) * PARTS,
    )
    .map((r) => r.data)

/** Begins a save, which ends any other: its number. The caller holds the write lock. */
export function beginSave(db: Db): number {
  const save = lastSave(db) + 1
  setMeta(db, 'vector_save', String(save))
  return save
}

/** Stores one page; false if another save has begun, or all pages were cleared. The caller holds the write lock. */
export function savePage(db: Db, save: number, part: number, data: Uint8Array): boolean {
  if (lastSave(db) !== save) return false
  db.run('INSERT INTO vector_pages (part, data) VALUES (?,?)', save * PARTS + part, data)
  return true
}

/** From now on the pages of this save are read. The caller holds the write lock. */
export function endSave(db: Db, save: number, about: string): boolean {
  if (lastSave(db) !== save) return false
  setMeta(db, 'vector_pages', about)
  return true
}

/** Deletes one page of an earlier save; false when none is left. The caller holds the write lock. */
export function dropOldPage(db: Db, save: number): boolean {
  const old = db.get<{ part: number }>('SELECT part FROM vector_pages WHERE part<? LIMIT 1', save * PARTS)
  if (!old || lastSave(db) !== save) return false
  db.run('DELETE FROM vector_pages WHERE part=?', old.part)
  return true
}

/** The caller holds the write lock. */
export function clearPages(db: Db): void {
  db.run('DELETE FROM vector_pages')
  dropMeta(db, 'vector_pages')
  beginSave(db)
}
