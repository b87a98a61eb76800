import { AMONG, type Db } from './db.ts'
import { dropMeta, getMeta, setMeta } from './meta.ts'

export const vectorModel = (db: Db): string | undefined => getMeta(db, 'vector_model')

/** How many vectors and blocks of signs go in one transaction: the lock is free again within some milliseconds. */
const SLICE = 500
const SLICE_OF_BLOCKS = 100

/** One step from the vectors of another model to this one's. True when done. The caller holds the write lock. */
export function useModel(db: Db, id: string): boolean {
  const model = vectorModel(db)
  if (model === id) return true
  if (model !== undefined) {
    startAnew(db)
    dropMeta(db, 'vector_model')
  }
  db.exec(`
    INSERT OR IGNORE INTO vectors_due (rowid) SELECT rowid FROM vectors ORDER BY rowid LIMIT ${SLICE};
    DELETE FROM vectors WHERE rowid IN (SELECT rowid FROM vectors ORDER BY rowid LIMIT ${SLICE});
    DELETE FROM vector_signs WHERE block IN (SELECT block FROM vector_signs ORDER BY block LIMIT ${SLICE_OF_BLOCKS})`)
  if (db.get('SELECT 1 FROM vectors UNION ALL SELECT 1 FROM vector_signs LIMIT 1')) return false
  setMeta(db, 'vector_model', id)
  return true
}

export const countDue = (db: Db): number => db.value<number>('SELECT count(*) AS n FROM vectors_due')!
export const someDue = (db: Db): boolean => db.has('SELECT 1 FROM vectors_due LIMIT 1')
export const countVectors = (db: Db): number => db.value<number>('SELECT count(*) AS n FROM vectors')!
/** A number that grows whenever vectors change, and never falls. */
export const lastChange = (db: Db): number => Number(getMeta(db, 'vector_change') ?? 0)
/** Changes whenever all vectors are deleted: row ids may then mean other texts. */
export const vectorsEpoch = (db: Db): string => getMeta(db, 'vector_epoch') ?? ''
/** To be called with it, under the write lock. */
export const startAnew = (db: Db): void => setMeta(db, 'vector_epoch', String(Number(vectorsEpoch(db)) + 1))

/** The newest entities whose vector is to be made, with the version for which it is wanted; or only to be mixed anew. */
export const due = (db: Db, limit: number): { rowid: number; id: string; version: number; made: 0 | 1 }[] =>
  db.all(
    `SELECT d.rowid AS rowid, e.id AS id, e.version AS version, v.rowid IS NOT NULL AS made
     FROM vectors_due d JOIN entities e ON e.rowid=d.rowid LEFT JOIN vectors v ON v.rowid=d.rowid
     ORDER BY d.rowid DESC LIMIT ?`,
    limit,
  )

export function isDue(db: Db, rowid: number, version: number): boolean {
  const sql = 'SELECT 1 FROM vectors_due d JOIN entities e ON e.rowid=d.rowid WHERE d.rowid=? AND e.version=?'
  return db.has(sql, rowid, version)
}

export const plainVectors = (db: Db, rowids: readonly number[]): Map<number, Uint8Array> =>
  new Map(
    db
      .all<{ rowid: number; data: Uint8Array }>(`SELECT rowid, data FROM vectors WHERE rowid ${AMONG}`, rowids)
      .map((r) => [r.rowid, r.data]),
  )

/** Vectors as they are compared with a question: mixed, where the text stands in a row. */
export const vectorsOf = (db: Db, rowids: readonly number[]): { rowid: number; data: Uint8Array }[] =>
  db.all(`SELECT rowid, ifnull(mixed, data) AS data FROM vectors WHERE rowid ${AMONG}`, rowids)

/** `signs`: one bit for each dimension, of the mixed one. */
export function putVectors(
  db: Db,
  vectors: readonly { rowid: number; data: Uint8Array; mixed: Uint8Array | null; signs: Int32Array }[],
): void {
  for (const v of vectors) {
    db.run('INSERT OR REPLACE INTO vectors (rowid, data, mixed) VALUES (?,?,?)', v.rowid, v.data, v.mixed)
    db.run('DELETE FROM vectors_due WHERE rowid=?', v.rowid)
  }
  putSigns(db, vectors)
}

/** Deletes the vector of a text. Those `beside` it are without what it lent them at once, and are mixed anew later. */
export function dropVector(db: Db, rowid: number, beside: readonly number[]): void {
  const mixed = beside.length === 0 ? [] : [...plainVectors(db, beside).keys()]
  for (const other of mixed) {
    db.run('UPDATE vectors SET mixed=NULL WHERE rowid=?', other)
    db.run('INSERT OR IGNORE INTO vectors_due (rowid) VALUES (?)', other)
  }
  db.run('DELETE FROM vectors WHERE rowid=?', rowid)
  db.run('DELETE FROM vectors_due WHERE rowid=?', rowid)
  const gone = [rowid, ...mixed].map((r) => ({ rowid: r, signs: undefined }))
  putSigns(db, gone)
}

/** The signs of so many rows lie side by side: a block of 384 dimensions fills a page of SQLite's. */
export const BLOCK = 64

/** Puts signs into their blocks, or takes them out. */
function putSigns(db: Db, rows: readonly { rowid: number; signs: Int32Array | undefined }[]): void {
  const change = lastChange(db) + 1
  for (const [block, own] of Map.groupBy(rows, (r) => Math.floor(r.rowid / BLOCK))) {
    const there = db.value<Uint8Array>('SELECT data FROM vector_signs WHERE block=?', block)
    const words = own.find((r) => r.signs)?.signs?.length ?? (there?.byteLength ?? 0) / 4 / BLOCK
    const bits = there ? asWords(there) : new Int32Array(BLOCK * words)
    const before = bits.slice()
    for (const { rowid, signs } of own) bits.set(signs ?? new Int32Array(words), (rowid % BLOCK) * words)
    if (bits.every((word, i) => word === before[i])) continue
    const data = new Uint8Array(bits.buffer, bits.byteOffset, bits.byteLength)
    db.run('INSERT OR REPLACE INTO vector_signs (block, change, data) VALUES (?,?,?)', block, change, data)
  }
  setMeta(db, 'vector_change', String(change))
}

/** The blocks of signs that changed since: `BLOCK` rows each, from row `block * BLOCK` on; zeros stand for none. */
export const signsSince = (db: Db, change: number): { block: number; bits: Int32Array }[] =>
  db
    .all<{ block: number; data: Uint8Array }>('SELECT block, data FROM vector_signs WHERE change>?', change)
    .map(({ block, data }) => ({ block, bits: asWords(data) }))

/** Where the driver put it, it may begin anywhere. */
function asWords(bytes: Uint8Array): Int32Array {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice()
  return new Int32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength >> 2)
}
