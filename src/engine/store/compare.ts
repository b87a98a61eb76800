import { realpathSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { attempt } from '../../base/errors.ts'
import { sha256 } from '../../model/digest.ts'
import { baseEvents, coveredLines } from './coverage.ts'
import { type Db, readDb, stored } from './db.ts'
import { follows, isStandIn, type Line } from './line.ts'
import { forkedFrom, isBranch } from './log.ts'
import { getMeta, setMeta } from './meta.ts'
import { ownIdentities } from './own-lines.ts'
import { LINE } from './packed.ts'
import { addRange, inRanges, type Range } from './ranges.ts'
import { soundLine } from './salvage.ts'

/** What is wrong with a file that nobody writes to any more. */
export function snapshotFaults(path: string): string[] {
  const faults = () => {
    using db = readDb(path)
    return [...lineFaults(db), ...pageFaults(db)]
  }
  return attempt(faults, ({ message }) => [message])
}

/** What SQLite finds wrong with the file: pages, the order of keys, indexes that lack a row, the index of words. */
export const pageFaults = (db: Db): string[] =>
  attempt(
    () => db.column<string>('PRAGMA integrity_check').filter((text) => text !== 'ok'),
    (error) => [error.message],
  )

/** Tables of which no other can be made. */
const KEPT = ['meta', 'log', 'parked', 'covered', 'folded', 'declined', 'gaps', 'purged', 'purged_writes', 'erasers', 'forked', 'branched'] // biome-ignore format: a list

interface LogRow extends Pick<Line, 'replica' | 'seq' | 'hash' | 'at'> {
  line: string
}

const nameOf = (row: LogRow) => `batch ${row.replica}:${row.seq}`

function lineOf(row: LogRow): Line | string {
  const line = soundLine(row.line)
  if (!line) return `${nameOf(row)} is not what was written: its hash does not fit`
  if (line.replica !== row.replica || line.seq !== row.seq || line.hash !== row.hash || line.at !== row.at)
    return `${nameOf(row)} stands under another name than its own, ${line.replica}:${line.seq}`
  return line
}

const NEWEST = 4
const ANY = 4
/** So much text is looked at after a write: parsing and hashing a line of an import of 50 entities takes 3 ms. */
const SAMPLE_LENGTH = 32 * 1024

/** A look at the newest lines and at some of the others; long ones are left to `doctor`. */
export function sampleFaults(db: Db, random: (n: number) => Uint8Array): string[] {
  const columns = `n, replica, seq, hash, at, ${LINE} AS line`
  const newest = db.all<LogRow & { n: number }>(`SELECT ${columns} FROM log ORDER BY n DESC LIMIT ${NEWEST}`)
  const bytes = new DataView(Uint8Array.from(random(4 * ANY)).buffer)
  const next = `SELECT ${columns} FROM log WHERE n>? ORDER BY n LIMIT 1`
  const some = Array.from({ length: newest.length === NEWEST ? ANY : 0 }, (_, i) =>
    db.get<LogRow>(next, bytes.getUint32(4 * i) % newest[0]!.n),
  )
  let left = SAMPLE_LENGTH
  const checked = [...newest, ...some].flatMap((row) => {
    if (!row || row.line.length > left) return []
    left -= row.line.length
    return lineOf(row)
  })
  return [...new Set(checked.filter((c) => typeof c === 'string'))]
}

/** Lines that are not as they were sealed, or do not follow the one that they name, and own ones that are gone; also of those that wait. */
export function lineFaults(db: Db): string[] {
  const faults: string[] = []
  try {
    const here = new Map<string, Range[]>()
    for (const c of coveredLines(db)) here.set(c.replica, addRange(here.get(c.replica) ?? [], c.first, c.last))
    let before: { replica: string; seq: number; hash: string } | undefined
    const sql = `SELECT replica, seq, hash, at, ${LINE} AS line FROM log ORDER BY replica, seq`
    for (const row of db.each<LogRow>(sql)) {
      const line = lineOf(row)
      const isNext = typeof line === 'object' && before?.replica === row.replica && before.seq === line.from - 1
      if (typeof line === 'string') faults.push(line)
      else if (isNext && !isStandIn(line) && !follows(line, before!.hash))
        faults.push(`${nameOf(row)} does not follow the batch before it`)
      here.set(row.replica, addRange(here.get(row.replica) ?? [], row.seq))
      before = { replica: row.replica, seq: row.seq, hash: row.hash }
    }
    for (const { replica, from, to } of ownMissing(db, here))
      faults.push(`${from === to ? `batch ${replica}:${from} is` : `batches ${replica}:${from} to ${to} are`} missing`)
    for (const { line } of db.each<{ line: string }>('SELECT line FROM parked'))
      if (!soundLine(line)) faults.push('a batch that waits for an earlier one is not what was written')
    if (!baseIsSound(db)) faults.push('what a compaction folded is not what it wrote')
  } catch (error) {
    faults.push(`the log cannot be read to its end: ${(error as Error).message}`)
  }
  return faults
}

type Missing = { replica: string; from: number; to: number }

/** Lines that this store wrote and has no more, those apart that a restore could not find. */
function ownMissing(db: Db, here: ReadonlyMap<string, readonly Range[]>): Missing[] {
  const lost = lostLines(db)
  return ownIdentities(db).flatMap(({ replica, upTo }) => {
    const there = (here.get(replica) ?? []).filter(([from]) => from <= upTo)
    if (there.length === 0 || isBranch(db, replica)) return []
    const all = (lost[replica] ?? []).reduce((ranges, [from, to]) => addRange(ranges, from, to), there)
    return [[0, 0] as const, ...all].slice(0, -1).flatMap(([, end], i) => {
      const from = end + 1
      const to = Math.min(all[i]![0], forkedFrom(db, replica) ?? all[i]![0]) - 1
      return from <= to && !inRanges(all, from) ? [{ replica, from, to }] : []
    })
  })
}

/** Own lines that no restore found, by replica. */
const LOST = 'lost_lines'
const lostLines = (db: Db) => stored<{ [replica: string]: readonly Range[] }>(getMeta(db, LOST) ?? '{}')
export function keepLost(db: Db, missing: readonly Missing[]): void {
  const lost = lostLines(db)
  for (const { replica, from, to } of missing) lost[replica] = addRange(lost[replica] ?? [], from, to)
  if (missing.length > 0) setMeta(db, LOST, JSON.stringify(lost))
}

/** Lines that a restore made again from what they did, and that stand in still. */
const REMADE = 'remade_lines'
const batchesIn = (db: Db): string[] => stored<string[]>(getMeta(db, REMADE) ?? '[]')
export function keepRemade(db: Db, batches: readonly string[]): void {
  if (batches.length > 0) setMeta(db, REMADE, JSON.stringify([...new Set([...batchesIn(db), ...batches])]))
}
export const remadeLines = (db: Db): Line[] =>
  batchesIn(db).flatMap((batch) => {
    const [replica = '', seq] = batch.split(':')
    const text = db.value<string>(`SELECT ${LINE} AS line FROM log WHERE replica=? AND seq=?`, replica, Number(seq))
    const line = text && soundLine(text)
    return line && isStandIn(line) ? [line] : []
  })

/** A hash over what a compaction keeps of the lines it folds away: of that no line is left that could be checked. */
function baseDigest(db: Db): string {
  const parts: string[] = []
  for (const row of coveredLines(db)) parts.push(JSON.stringify(Object.values(row)))
  for (const row of db.each('SELECT entity, updated, counts FROM folded ORDER BY entity'))
    parts.push(JSON.stringify(Object.values(row)))
  for (const event of baseEvents(db)) parts.push(JSON.stringify(Object.values(event)))
  return sha256(parts.join('\n'))
}

/** Whether what compactions folded is what they wrote; stores of before have nothing to tell it by. */
export function baseIsSound(db: Db): boolean {
  const kept = getMeta(db, 'base_digest')
  return kept === undefined || kept === baseDigest(db)
}

/** To be called by whatever changed what compactions keep, under its lock. */
export function keepBaseDigest(db: Db): void {
  if (db.has('SELECT 1 FROM covered LIMIT 1')) setMeta(db, 'base_digest', baseDigest(db))
}

export function copyLog(from: Db, to: Db): void {
  const file = from.value<string>("SELECT file FROM pragma_database_list WHERE name='main'")!
  // on a disk that lets nobody write, SQLite can make no shared memory beside the file
  const isFixed = from.readOnly && file === realpathSync(from.path)
  to.run('ATTACH ? AS other', isFixed ? `${pathToFileURL(file).href}?immutable=1` : file)
  for (const table of KEPT) to.exec(`DELETE FROM main.${table}; INSERT INTO main.${table} SELECT * FROM other.${table}`)
  to.exec('INSERT INTO main.events SELECT * FROM other.events WHERE base=1')
}

/** What is derived, row by row, and of what each row is. */
const ROWS: Readonly<Record<string, (schema: string) => string>> = {
  rows: (s) =>
    `id AS about, kind, name, name_key, live, standing, retired, created, updated, version, body, conflicts FROM ${s}.entities`,
  links: (s) => `id AS about, src, rel, dst FROM ${s}.links`,
  events: (s) => `entity AS about, replica, seq, i, ms, lists, body FROM ${s}.events`,
  texts: (s) =>
    `e.id AS about, t.source, t.place, t.words, t.terms FROM ${s}.texts t JOIN ${s}.entities e ON e.rowid=t.rowid`,
  words: (s) => `e.id AS about, v.term, v.col, v.offset FROM temp.words_${s} v JOIN ${s}.entities e ON e.rowid=v.doc`,
}

/** Derived rows that are different, by what they are of. `again` holds them made anew, and has the store attached. */
export function differingRows(again: Db): [table: string, of: string][] {
  for (const s of ['main', 'other'])
    again.exec(`CREATE VIRTUAL TABLE temp.words_${s} USING fts5vocab('${s}', 'text_index', 'instance')`)
  return Object.entries(ROWS).flatMap(([table, rows]) => {
    const only = (a: string, b: string) => `SELECT about FROM (SELECT ${rows(a)} EXCEPT SELECT ${rows(b)})`
    const about = again.column<string>(`${only('main', 'other')} UNION ${only('other', 'main')}`)
    return about.map((of): [string, string] => [table, of])
  })
}
