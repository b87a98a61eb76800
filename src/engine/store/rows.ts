import type { Entity } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { forgetAhead } from './clock-ahead.ts'
import { AMONG, type Db, insertion, type Param, type Queries, stored } from './db.ts'
import { addRange, type Range } from './ranges.ts'
import { clearTexts, dropText } from './text-index.ts'

/** A folded entity as a row. `body` and `conflicts` are JSON. */
export interface EntityRow extends Pick<Entity, 'id' | 'kind' | 'name' | 'created' | 'updated' | 'version'> {
  name_key: string
  live: number
  standing: string
  retired: number
  body: string
  conflicts: string | null
}

const COLUMN_NAMES = ['id', 'kind', 'name', 'name_key', 'live', 'standing', 'retired', 'created', 'updated', 'version', 'body', 'conflicts'] as const // biome-ignore format: a list
const COLUMNS = COLUMN_NAMES.join(', ')

/** Before the field that a name is in: no name begins with it. */
const IN_FIELD = '\u0001'
const LONG_NAME = 16
/** A long name stands in the body alone, and its field in the column. */
export const keptName = (name: string, field: string | undefined): string =>
  field !== undefined && name.length > LONG_NAME ? IN_FIELD + field : name
export const nameIn = (kept: string, fields: { readonly [field: string]: Json }): string => {
  const value = kept.startsWith(IN_FIELD) ? fields[kept.slice(1)] : kept
  return typeof value === 'string' ? value : kept
}
const ADD_ROW = insertion('entities', COLUMN_NAMES)
const SET_ROW = `UPDATE entities SET ${COLUMN_NAMES.map((c) => `${c}=?`)} WHERE rowid=?`

export const getRow = (db: Queries, id: string): EntityRow | undefined =>
  db.get(`SELECT ${COLUMNS} FROM entities WHERE id=?`, id)

/** Names are kept otherwise than in version 0.1.0. */
export function renameRow(db: Db, { id, name: $name, name_key: $key }: EntityRow): void {
  const sql = 'UPDATE entities SET name=$name, name_key=$key WHERE id=? AND (name, name_key)<>($name,$key)'
  db.run(sql, { $name, $key }, id)
}

/** Several at once, by rowid. */
export const rowsAt = (db: Queries, rowids: readonly number[]): (EntityRow & { rowid: number })[] =>
  db.all(`SELECT rowid, ${COLUMNS} FROM entities WHERE rowid ${AMONG}`, rowids)

export const rowsOfIds = (db: Queries, ids: readonly string[]): EntityRow[] =>
  db.all(`SELECT ${COLUMNS} FROM entities WHERE id ${AMONG}`, ids)

export const rowId = (db: Queries, id: string): number | undefined =>
  db.value('SELECT rowid FROM entities WHERE id=?', id)

/** When an entity was last touched, and how often. */
export type Touched = Pick<EntityRow, 'updated' | 'version'>

export const placeOf = (db: Db, id: string): (Touched & { rowid: number }) | undefined =>
  db.get('SELECT rowid, updated, version FROM entities WHERE id=?', id)

/** Writes the row in the place of the one at `rowid`, and returns where it stands: the text index shares that number. */
export function putRow(db: Db, r: EntityRow, rowid: number | undefined): number {
  const values = COLUMN_NAMES.map((c) => r[c])
  if (rowid === undefined) return db.inserted(ADD_ROW, ...values)
  db.run(SET_ROW, ...values, rowid)
  return rowid
}

export interface ListOptions {
  limit?: number
  offset?: number
  /** ms since the epoch: recorded at or after. */
  since?: number
  /** Also retired and rejected ones, and those without a status that something took the place of. */
  all?: boolean
  /** Without those that something took the place of, whatever their status. */
  current?: boolean
  standing?: string
}

export const listRows = (db: Queries, kind: string, o: ListOptions = {}): EntityRow[] => listed(db, COLUMNS, [kind], o)

/** SQLite joins 500 selects at most. */
export const MOST_KINDS = 400

/** Ids of several kinds, newest first, read by index and no further than asked. */
export const listIds = (
  db: Queries,
  kinds: readonly string[],
  o: ListOptions = {},
): { id: string; created: number }[] => (kinds.length === 0 ? [] : listed(db, 'id, created', kinds, o))

const HAS_NEWER = `EXISTS (
  SELECT 1 FROM links l JOIN entities said ON said.id=l.id LEFT JOIN entities now ON now.id=l.src
  WHERE l.dst=entities.id AND l.rel='supersedes' AND said.live=1 AND said.retired=0 AND said.standing='confirmed'
    AND coalesce(now.standing, 'confirmed')='confirmed')`
/** Something took its place, and it has no status that says so. Few have such a link: only theirs is read. */
const REPLACED = `CASE WHEN NOT ${HAS_NEWER}
  THEN 0 WHEN json_valid(entities.body) THEN json_extract(entities.body, '$.status') IS NULL ELSE 0 END`

function listed<T>(db: Queries, columns: string, kinds: readonly string[], o: ListOptions): T[] {
  const where = ['kind=?', 'live=1']
  const params: Param[] = []
  if (!o.all && !o.standing)
    where.push(`retired=0 AND standing<>'rejected' AND NOT ${o.current ? HAS_NEWER : REPLACED}`)
  if (o.standing) {
    where.push('standing=?')
    params.push(o.standing)
  }
  if (o.since !== undefined) {
    where.push('created>=?')
    params.push(o.since)
  }
  const ofKind = `SELECT ${columns} FROM entities WHERE ${where.join(' AND ')}`
  const sql = `${kinds.map(() => ofKind).join(' UNION ALL ')} ORDER BY created DESC, id LIMIT ? OFFSET ?`
  return db.all(sql, ...kinds.flatMap((kind) => [kind, ...params]), o.limit ?? -1, o.offset ?? 0)
}

/** What a list shows of an entity without reading it. */
export interface Listed extends Pick<EntityRow, 'id' | 'live' | 'created' | 'retired' | 'standing'> {
  /** Something superseded it, now at least. */
  replaced: number
}

const LISTED = `id, live, created, retired, standing, EXISTS (SELECT 1 FROM links WHERE dst=entities.id AND rel='supersedes') AS replaced`

/** Entities of a kind that nothing has touched since a moment. */
export const untouchedSince = (db: Db, kind: string, ms: number): Listed[] =>
  db.all(`SELECT ${LISTED} FROM entities WHERE kind=? AND updated<=? AND live=1`, kind, ms)

/** Whether these are there and agreed to, and when something touched them last. */
export const standingOfIds = (
  db: Db,
  ids: readonly string[],
): Pick<EntityRow, 'id' | 'live' | 'retired' | 'standing' | 'updated'>[] =>
  db.all(`SELECT id, live, retired, standing, updated FROM entities WHERE id ${AMONG}`, ids)

/** Entities of a kind that existed at a moment and were touched since. `changed`: lists may show them otherwise. */
export function touchedSince(db: Db, kind: string, $ms: number): (Listed & { changed: number })[] {
  const sql = `SELECT ${LISTED},
       EXISTS (SELECT 1 FROM events WHERE entity=entities.id AND ms>$ms AND lists=1)
         OR NOT EXISTS (SELECT 1 FROM events WHERE entity=entities.id AND ms<=$ms AND lists=1) AS changed
     FROM entities WHERE kind=? AND updated>$ms AND EXISTS (SELECT 1 FROM events WHERE entity=entities.id AND ms<=$ms)`
  return db.all(sql, { $ms }, kind)
}

/** Everything of a kind that was there at a moment, deleted ones too. */
export function idsAt(db: Db, kind: string, $ms: number): string[] {
  const sql = `SELECT id FROM entities WHERE kind=? AND (updated<=$ms OR EXISTS (SELECT 1 FROM events WHERE entity=entities.id AND ms<=$ms))`
  return db.column<string>(sql, { $ms }, kind)
}

/** An entity whose row may not say what is asked. */
export interface ChangedRow extends Pick<EntityRow, 'id' | 'live' | 'created'> {
  readonly rowid: number
}

export const changedRows = (db: Db, ids: readonly string[]): ChangedRow[] =>
  db.all(`SELECT rowid, id, live, created FROM entities WHERE id ${AMONG}`, ids)

/** All of those that changed: `entities_changed` holds what was touched more than once. */
export const changedSince = (db: Db, $ms: number): ChangedRow[] =>
  db.all(
    `SELECT rowid, id, live, created FROM entities WHERE version>1 AND updated>$ms
       AND (created<=$ms OR EXISTS (SELECT 1 FROM events WHERE entity=entities.id AND ms<=$ms))`,
    { $ms },
  )

/** How many entities of some kinds came to be by a moment, the last row of one, and which rows before it are of later ones. */
export function cameBy(db: Db, kinds: readonly string[], ms: number): { n: number; last: number; later: number[] } {
  const OF = `FROM entities WHERE kind ${AMONG} AND live=1 AND created`
  const sql = `SELECT count(*) AS n, coalesce(max(rowid), 0) AS last ${OF}<=?`
  const { n, last } = db.get<{ n: number; last: number }>(sql, kinds, ms)!
  return { n, last, later: db.column<number>(`SELECT rowid ${OF}>? AND rowid<=?`, kinds, ms, last) }
}

/** Those of these links that are no links any more; one that was undone has lost its ends with it. */
export const linksGone = (db: Db, ids: readonly string[]): string[] =>
  db.column<string>(
    'SELECT value AS id FROM json_each(?) WHERE NOT EXISTS (SELECT 1 FROM links WHERE links.id=value)',
    ids,
  )

/** Links at some entities, whatever became of their other ends. */
export const allLinksAt = (db: Queries, end: 'src' | 'dst', ids: readonly string[]): LinkRow[] =>
  db.all(`SELECT * FROM links WHERE ${end} ${AMONG}`, ids)

export const linkOf = (db: Queries, id: string): LinkRow | undefined => db.get('SELECT * FROM links WHERE id=?', id)

/** Links of one relation that end at one of these. */
export const linksInto = (db: Queries, relation: string, ids: readonly string[]): LinkRow[] =>
  db.all(`SELECT * FROM links WHERE dst ${AMONG} AND rel=?`, ids, relation)

export const allKinds = (db: Db): string[] => db.column<string>('SELECT DISTINCT kind FROM entities')

export const rowsByName = (db: Queries, nameKey: string): EntityRow[] =>
  db.all(`SELECT ${COLUMNS} FROM entities WHERE name_key=? ORDER BY id`, nameKey)

export const rowsInConflict = (db: Queries): EntityRow[] =>
  db.all(`SELECT ${COLUMNS} FROM entities WHERE conflicts IS NOT NULL ORDER BY id`)

export const allIds = (db: Queries): string[] => db.column<string>('SELECT id FROM entities')

/** The newest names, to suggest from when a reference finds nothing. */
export function someNames(db: Queries, limit: number): { id: string; name: string }[] {
  const sql = "SELECT id, name, body FROM entities WHERE live=1 AND name<>'' ORDER BY created DESC LIMIT ?"
  return db
    .all<{ id: string; name: string; body: string }>(sql, limit)
    .map(({ id, name, body }) => ({ id, name: name.startsWith(IN_FIELD) ? nameIn(name, stored(body)) : name }))
}

export const countByKind = (db: Queries): { kind: string; n: number }[] =>
  db.all('SELECT kind, count(*) AS n FROM entities WHERE live=1 GROUP BY kind ORDER BY n DESC, kind')

export type LinkRow = { id: string; src: string; rel: string; dst: string }

export const putLink = (db: Db, l: LinkRow): void =>
  db.run('INSERT OR REPLACE INTO links VALUES (?,?,?,?)', l.id, l.src, l.rel, l.dst)
export const dropLink = (db: Db, id: string): void => db.run('DELETE FROM links WHERE id=?', id)

/** Links at an entity whose other end is alive; a link to a deleted entity is hidden, not an error (K8). */
export const linksAt = (db: Queries, end: 'src' | 'dst', id: string): LinkRow[] =>
  db.all(
    end === 'src'
      ? 'SELECT l.* FROM links l JOIN entities e ON e.id=l.dst WHERE l.src=? AND e.live=1 ORDER BY l.rel, l.dst'
      : 'SELECT l.* FROM links l JOIN entities e ON e.id=l.src WHERE l.dst=? AND e.live=1 ORDER BY l.rel, l.src',
    id,
  )

/** Agreed links at several entities whose other end is alive: one statement for a step of a walk. */
export function edgesAt(
  db: Queries,
  end: 'src' | 'dst',
  ids: readonly string[],
  relations?: readonly string[],
): (LinkRow & { at: number; confidence: number | null })[] {
  const other = end === 'src' ? 'dst' : 'src'
  const sql = `SELECT l.id, l.src, l.rel, l.dst, said.created AS at,
       CASE WHEN json_valid(said.body) THEN json_extract(said.body, '$.confidence') END AS confidence
     FROM json_each(?) here CROSS JOIN links l ON l.${end}=here.value ${relations ? `AND l.rel ${AMONG}` : ''}
       CROSS JOIN entities said ON said.id=l.id CROSS JOIN entities other ON other.id=l.${other}
     WHERE said.live=1 AND said.retired=0 AND said.standing='confirmed' AND other.live=1
     ORDER BY here.key, l.rel, l.${other}`
  return db.all(sql, ids, ...(relations ? [relations] : []))
}

/** Those that something took the place of, both agreed to. Whether that is still there does not matter: the old does not hold again by itself. */
export const replacedAmong = (db: Queries, ids: readonly string[]): string[] =>
  db.column(
    `SELECT DISTINCT l.dst FROM json_each(?) asked CROSS JOIN links l ON l.dst=asked.value AND l.rel='supersedes'
       CROSS JOIN entities said ON said.id=l.id LEFT JOIN entities now ON now.id=l.src
     WHERE said.live=1 AND said.retired=0 AND said.standing='confirmed'
       AND coalesce(now.standing, 'confirmed')='confirmed'`,
    ids,
  )

/** Every link of some relations; whether it and its ends are alive is not looked at, which would take ten times as long. */
export const linksOf = (db: Queries, relations: readonly string[]): LinkRow[] =>
  db.all(`SELECT * FROM links WHERE rel ${AMONG} ORDER BY rel, src, dst`, relations)

export const allRows = (db: Db): EntityRow[] => db.all(`SELECT ${COLUMNS} FROM entities ORDER BY id`)

/** Which entities of two kinds there are, each with its version: changes whenever one of them does. */
export function versionsOfKinds(db: Queries, a: string, b: string): string {
  const sql =
    "SELECT group_concat(id || '@' || version || '/' || live || '/' || updated || '/' || rowid) FROM entities WHERE kind IN (?,?)"
  return db.value(sql, a, b) ?? ''
}

export const idsOfKind = (db: Queries, kind: string): string[] =>
  db.column<string>('SELECT id FROM entities WHERE kind=?', kind)

/** Lines that were folded away, by replica: their numbers, and ranges of them. Of 0.1.0 it is known how many they were. */
export type Counts = { readonly [replica: string]: number | readonly (number | Range)[] }

export type Folded = { entity: string; updated: number; counts: Counts }

type FoldedRow = Omit<Folded, 'counts'> & { counts: string }

const unpackFolded = (row: FoldedRow): Folded => ({ ...row, counts: stored<Counts>(row.counts) })

export const foldedOf = (db: Db, entity: string): Folded | undefined => {
  const row = db.get<FoldedRow>('SELECT * FROM folded WHERE entity=?', entity)
  return row && unpackFolded(row)
}
export const allFolded = (db: Db): Folded[] =>
  db.all<FoldedRow>('SELECT * FROM folded ORDER BY entity').map(unpackFolded)
export const putFolded = (db: Db, f: Folded): void =>
  db.run('INSERT OR REPLACE INTO folded VALUES (?,?,?)', f.entity, f.updated, JSON.stringify(f.counts))
export const dropFolded = (db: Db, entity: string): void => db.run('DELETE FROM folded WHERE entity=?', entity)

const rangesOf = (all: readonly (number | Range)[]): Range[] => {
  let ranges: Range[] = []
  for (const x of all) ranges = typeof x === 'number' ? addRange(ranges, x) : addRange(ranges, x[0], x[1])
  return ranges
}
const countIn = (all: Counts[string]): number =>
  typeof all === 'number' ? all : rangesOf(all).reduce((n, [from, to]) => n + to - from + 1, 0)

/** The same lines counted once. Where it is only known how many they were, the greater number holds. */
export function addCounts(a: Counts = {}, b: Counts): Counts {
  const sum: { [replica: string]: Counts[string] } = { ...a }
  for (const [replica, own] of Object.entries(b)) {
    const there = sum[replica] ?? []
    const ranges = (all: Counts[string]) => (typeof all === 'number' ? [] : all)
    sum[replica] =
      typeof there === 'number' || typeof own === 'number'
        ? Math.max(countIn(there), countIn(own))
        : rangesOf([...ranges(there), ...ranges(own)]).map((r) => (r[0] === r[1] ? r[0] : r))
  }
  return sum
}
/** Counts what is folded away of an entity with what was before. */
export function countFolded(db: Db, { entity, updated, counts }: Folded, add = addCounts): void {
  const there = foldedOf(db, entity)
  putFolded(db, { entity, counts: add(there?.counts, counts), updated: Math.max(updated, there?.updated ?? 0) })
}
export const countOf = (folded: Folded | undefined): number =>
  Object.values(folded?.counts ?? {}).reduce((sum: number, own) => sum + countIn(own), 0)

export function clearIndexes(db: Db): void {
  db.exec(
    'DELETE FROM entities; DELETE FROM links; DELETE FROM unproven; DELETE FROM events WHERE base=0; DELETE FROM survivors',
  )
  clearTexts(db)
}

export function dropEntityIndexes(db: Db, id: string): void {
  const row = rowId(db, id)
  if (row !== undefined) dropText(db, row)
  db.run('DELETE FROM entities WHERE id=?', id)
  db.run('DELETE FROM links WHERE id=?', id)
}

export function forgetErased(db: Db, isThere: (id: string) => boolean): void {
  const gone = 'title,request,said,failing,later,questions,agreed'.replace(/\w+/g, "'$$.data.$&'")
  db.run(`UPDATE sessions SET body=json_remove(body, ${gone})`)
  db.run('DELETE FROM defines')
  forgetAhead(db, isThere)
  const left = (ids: string) => JSON.stringify(stored<string[]>(ids).filter(isThere))
  const captured = "SELECT id, json_extract(body, '$.data.captured') AS ids FROM sessions WHERE ids IS NOT NULL"
  for (const { id, ids } of db.all<{ id: string; ids: string }>(captured))
    db.run("UPDATE sessions SET body=json_set(body, '$.data.captured', json(?)) WHERE id=?", left(ids), id)
  for (const { n, ids } of db.all<{ n: number; ids: string }>('SELECT n, ids FROM told'))
    if (left(ids) !== ids) db.run('UPDATE told SET ids=? WHERE n=?', left(ids), n)
  for (const { session, path } of db.all<{ session: string; path: string }>('SELECT session, path FROM current_work'))
    if (left(path) !== path) db.run('UPDATE current_work SET path=? WHERE session=?', left(path), session)
}
