import { sha256 } from '../../model/digest.ts'
import { AMONG, type Db, insertion, stored } from './db.ts'
import { isSameKey } from './keys.ts'
import { isTombstone, type MarkRow, type PurgeMark, tombstoneOf, unpackMarkRow } from './line.ts'
import { allLinksAt, type EntityRow, type LinkRow } from './rows.ts'
import { dropText, type IndexedText, indexText } from './text-index.ts'

/** A line of another replica that waits for a yes. */
export type LineName = { readonly replica: string; readonly seq: number }

/** An entity as it holds here, where it is not as its row says. */
export interface Held {
  readonly id: string
  /** Undefined: it does not exist here. */
  readonly row: EntityRow | undefined
  readonly link?: LinkRow | undefined
  readonly lines: readonly LineName[]
  /** Somebody here vouches for it. */
  readonly vouched: boolean
  /** The lines that say it are gone, erased or folded away: it stays as it was until somebody decides. */
  readonly frozen?: Frozen | undefined
}
/** `erased`: by its author. `folded`: into a state of others that says otherwise. */
export type Frozen = 'erased' | 'folded'
const FROZEN = [undefined, 'erased', 'folded'] as const

const COLUMNS = [
  ...['id', 'kind', 'name', 'name_key', 'live', 'standing', 'retired', 'created', 'updated', 'version', 'body'],
  ...['conflicts', 'src', 'rel', 'dst', 'lines', 'vouched', 'frozen'],
] as const
const ADD = insertion('held', ['rowid', ...COLUMNS])
/** Texts of what is held stand in the same index as those of rows, behind them. */
const FIRST_ROW = 2 ** 40

type Stored = EntityRow &
  Omit<LinkRow, 'id'> & { body: string | null; lines: string; vouched: 0 | 1; frozen: 0 | 1 | 2 }

const unpack = ({ src, rel, dst, lines, vouched, frozen, ...row }: Stored): Held => ({
  id: row.id,
  row: row.body === null ? undefined : row,
  ...(src === null ? {} : { link: { id: row.id, src, rel, dst } }),
  lines: stored<[string, number][]>(lines).map(([replica, seq]) => ({ replica, seq })),
  vouched: vouched === 1,
  frozen: FROZEN[frozen],
})

/** Set where what holds here is to be settled again, since lines count otherwise or others are trusted. */
export const HELD_DUE = 'held_due'

export const isAnyHeld = (db: Db): boolean => db.here !== db

export const heldOf = (db: Db, id: string): Held | undefined => {
  const row = db.get<Stored>(`SELECT ${COLUMNS} FROM held WHERE id=?`, id)
  return row && unpack(row)
}

/** The newest first; links stand with what they end at. */
export const allHeld = (db: Db, limit = -1): Held[] =>
  db.all<Stored>(`SELECT ${COLUMNS} FROM held ORDER BY rowid DESC LIMIT ?`, limit).map(unpack)

/** What waits at an entity: at itself, and at links that would take it out of sight. */
export function heldInto(db: Db, id: string): Held[] {
  if (!isAnyHeld(db)) return []
  const links = [db, db.here].flatMap((from) => allLinksAt(from, 'dst', [id]))
  return [...new Set([id, ...links.map((l) => l.id)])].flatMap((of) => {
    const held = heldOf(db, of)
    return held && (held.lines.length > 0 || held.frozen) ? [held] : []
  })
}

/** Of some entities, those that are held, and whether each is vouched for. */
export const heldAmong = (db: Db, ids: readonly string[]): Map<string, boolean> =>
  new Map(
    db
      .all<{ id: string; vouched: number }>(`SELECT id, vouched FROM held WHERE id ${AMONG}`, ids)
      .map((r) => [r.id, r.vouched === 1]),
  )

export const heldIds = (db: Db): string[] => db.column<string>('SELECT id FROM held')

export function dropHeld(db: Db, id: string): void {
  const rowid = db.value<number>('SELECT rowid FROM held WHERE id=?', id)
  if (rowid === undefined) return
  dropText(db, rowid)
  db.run('DELETE FROM held WHERE rowid=?', rowid)
}

export function putHeld(db: Db, kind: string, h: Held, text: IndexedText | undefined): void {
  dropHeld(db, h.id)
  const rowid = Math.max(FIRST_ROW, db.value<number | null>('SELECT max(rowid) AS n FROM held') ?? 0) + 1
  const lines = JSON.stringify(h.lines.map((l) => [l.replica, l.seq]))
  const beside = { lines, vouched: h.vouched ? 1 : 0, frozen: FROZEN.indexOf(h.frozen) }
  const row: Readonly<Record<string, string | number | null>> = { ...h.row, ...h.link, ...beside, id: h.id, kind }
  db.run(ADD, rowid, ...COLUMNS.map((c) => row[c] ?? null))
  // found by its words alone: vectors are made of rows
  if (text) indexText(db, rowid, { ...text, source: null, place: null }, 'same')
}

/** Under which a table that outlives what is erased knows an entity. */
export const digestOf = (entity: string): string => sha256(entity).slice(0, 32)

/** When somebody here stood by an entity first, and agreed last to what others said of it; by arrival. */
export type Endorsed = { readonly first: number; readonly agreed: number }

export function endorsedBefore(db: Db, entity: string): Endorsed | undefined {
  if (!db.has('SELECT 1 FROM endorsed LIMIT 1')) return undefined
  return db.get('SELECT first, agreed FROM endorsed WHERE entity=?', digestOf(entity))
}

export function keepEndorsed(db: Db, entity: string, { first, agreed }: Endorsed): void {
  const sql = `INSERT INTO endorsed VALUES (?,?,?)
     ON CONFLICT DO UPDATE SET first=min(first, excluded.first), agreed=max(agreed, excluded.agreed)`
  db.run(sql, digestOf(entity), first, agreed)
}

export interface Asked extends PurgeMark {
  readonly by: string
}

type AskedRow = MarkRow & { by: string }

export const isAnyAsked = (db: Db): boolean => db.has('SELECT 1 FROM asked LIMIT 1')

export function askedOf(db: Db, id: string): Asked[] {
  if (!isAnyAsked(db)) return []
  const sql = `SELECT * FROM asked a WHERE entity IN (?,?) AND EXISTS
    (SELECT 1 FROM events e WHERE e.replica=a.replica AND e.seq=a.seq AND e.entity=?)`
  return db.all<AskedRow>(sql, id, isTombstone(id) ? id : tombstoneOf(id), id).map(unpackMarkRow)
}

/** So many, the newest of each line that asks last. */
export const someAsked = (db: Db, limit = -1): Asked[] =>
  db.all<AskedRow>('SELECT * FROM asked LIMIT ?', limit).map(unpackMarkRow)

export function ask(db: Db, { replica, seq, hash, entity, by, writes, was, before }: Asked): void {
  const parts = writes === undefined ? null : JSON.stringify({ writes, was, before })
  db.run('INSERT OR REPLACE INTO asked VALUES (?,?,?,?,?,?)', replica, seq, hash, entity, by, parts)
}

export const dropAsked = (db: Db, id: string): void =>
  db.run('DELETE FROM asked WHERE entity IN (?,?)', id, isTombstone(id) ? id : tombstoneOf(id))

/** A line of which an erasure is asked stands under another name now. */
export const moveAsked = (db: Db, hash: string, { replica, seq }: Omit<LineName, 'hash'>): void =>
  db.run('UPDATE OR REPLACE asked SET replica=?, seq=? WHERE hash=?', replica, seq, hash)

export const isAsked = (db: Db, { replica, seq }: LineName): boolean =>
  db.has('SELECT 1 FROM asked WHERE replica=? AND seq=?', replica, seq)

/** Takes note of whose lines say nothing of an erased entity any more. */
export const keepEraser = (db: Db, tombstone: string, author: string): void =>
  db.run('INSERT OR IGNORE INTO erasers VALUES (?,?)', tombstone, author)

/** Whether what an author says of an erased entity is erased; without an author, whether all is. */
export const isErasedOf = (db: Db, tombstone: string, author?: string): boolean =>
  db
    .column<string>('SELECT author FROM erasers WHERE entity=?', tombstone)
    .some((eraser) => eraser === '*' || (author !== undefined && isSameKey(eraser, author)))
