import type { Db } from './db.ts'

export interface FileRow {
  readonly path: string
  readonly size: number
  /** 0 where the file was too young to tell a further change by its time. */
  readonly mtime: number
  /** SHA-256 of its bytes. */
  readonly hash: string
}

/** How far the events were looked at for the locations of a work tree. */
export const cursorKey = (root: string): string => `code_cursor ${root}`

/** What a location of an entity stood for when somebody last looked at it; where that is now, and whether it changed. */
export interface AnchorRow {
  readonly entity: string
  /** As it was recorded. */
  readonly location: string
  readonly path: string
  readonly symbol: string
  /** Where no symbol holds it: the line, or 0 for the whole file. */
  readonly line: number
  /** Of the text; empty while there is none. */
  readonly hash: string
  /** Why it may no longer hold. */
  readonly stale: string | null
  readonly since: number | null
}

export const filesSeen = (db: Db, root: string): FileRow[] =>
  db.all<FileRow>('SELECT path, size, mtime, hash FROM code_files WHERE root=?', root)

export const fileSeen = (db: Db, root: string, path: string): FileRow | undefined =>
  db.get<FileRow>('SELECT path, size, mtime, hash FROM code_files WHERE root=? AND path=?', root, path)

/** The files in which something is anchored, as they were seen last; those that were not seen have no hash. */
export const anchoredFiles = (db: Db, $root: string): (Omit<FileRow, 'hash'> & { readonly hash: string | null })[] =>
  db.all(
    `SELECT a.path, f.size, f.mtime, f.hash FROM (SELECT DISTINCT path FROM anchors WHERE root=$root AND hash<>'') a
     LEFT JOIN code_files f ON f.root=$root AND f.path=a.path`,
    { $root },
  )

export const isAnyAnchored = (db: Db): boolean => db.has('SELECT 1 FROM anchors LIMIT 1')

export const isAnchored = (db: Db, entity: string): boolean =>
  db.has("SELECT 1 FROM anchors WHERE entity=? AND hash<>'' LIMIT 1", entity)

export const filesEndingIn = (db: Db, root: string, end: string): string[] =>
  db.column<string>('SELECT path FROM code_files WHERE root=? AND substr(path, ?)=? LIMIT 2', root, -end.length, end)

export const pathsOfContent = (db: Db, root: string, hash: string): string[] =>
  db.column<string>('SELECT path FROM code_files WHERE root=? AND hash=? ORDER BY path', root, hash)

export const keepFile = (db: Db, root: string, { path, size, mtime, hash }: FileRow): void =>
  db.run('INSERT OR REPLACE INTO code_files VALUES (?,?,?,?,?)', root, path, size, mtime, hash)

export const dropFile = (db: Db, root: string, path: string): void =>
  db.run('DELETE FROM code_files WHERE root=? AND path=?', root, path)

const ANCHOR = 'SELECT entity, location, path, symbol, line, hash, stale, since FROM anchors'

export const anchorsIn = (db: Db, root: string): AnchorRow[] => db.all<AnchorRow>(`${ANCHOR} WHERE root=?`, root)

export const anchorsOf = (db: Db, root: string, entity: string): AnchorRow[] =>
  db.all<AnchorRow>(`${ANCHOR} WHERE root=? AND entity=? ORDER BY location`, root, entity)

export const anchorsAt = (db: Db, root: string, path: string): AnchorRow[] =>
  db.all<AnchorRow>(`${ANCHOR} WHERE root=? AND path=? ORDER BY entity, location`, root, path)

/** A paragraph that stands word for word in another place of its entity is not stale. */
export const staleAnchors = (db: Db, $root: string): AnchorRow[] =>
  db.all(`${ANCHOR} WHERE root=$root AND stale IS NOT NULL AND NOT (hash LIKE 'p:%' AND (entity, hash) IN
    (SELECT entity, hash FROM anchors WHERE root=$root AND stale IS NULL)) ORDER BY since DESC, entity, location`, { $root }) // biome-ignore format: a query

export const anchorElsewhere = (db: Db, entity: string, location: string): AnchorRow | undefined =>
  db.get<AnchorRow>(`${ANCHOR} WHERE entity=? AND location=? AND hash<>'' LIMIT 1`, entity, location)

/** So many files of one entity are compared. */
const MOST_FILES = 20

/** The files in which an entity is anchored in other work trees, as they were seen there; none where that is not known of each. */
export const filesElsewhere = (db: Db, entity: string): FileRow[] => {
  const sql = `SELECT DISTINCT a.path, f.size, f.mtime, f.hash, a.stale FROM anchors a
    LEFT JOIN code_files f ON f.root=a.root AND f.path=a.path WHERE a.entity=? AND a.hash<>'' LIMIT ${MOST_FILES + 1}`
  const files = db.all<FileRow & { stale: string | null }>(sql, entity)
  return files.length <= MOST_FILES && files.every((f) => f.hash !== null && f.stale === null) ? files : []
}

export const keepAnchor = (db: Db, root: string, a: AnchorRow): void =>
  db.run(
    'INSERT OR REPLACE INTO anchors VALUES (?,?,?,?,?,?,?,?,?)',
    root, a.entity, a.location, a.path, a.symbol, a.line, a.hash, a.stale, a.since,
  ) // biome-ignore format: one row

export const dropAnchor = (db: Db, root: string, { entity, location }: AnchorRow): void =>
  db.run('DELETE FROM anchors WHERE root=? AND entity=? AND location=?', root, entity, location)

/** Somebody looked again: what its locations stand for is found anew. Returns whether it has any. */
export const releaseAnchors = (db: Db, entity: string): boolean =>
  db.all("UPDATE anchors SET hash='', stale=NULL, since=NULL WHERE entity=? RETURNING 1", entity).length > 0

/** Some of what is still to be found; a scan finds the others. */
export const dueAnchors = (db: Db, root: string, limit: number): AnchorRow[] =>
  db.all<AnchorRow>(`${ANCHOR} WHERE root=? AND hash='' LIMIT ?`, root, limit)

export const dropAnchorsOf = (db: Db, entity: string): void => db.run('DELETE FROM anchors WHERE entity=?', entity)
