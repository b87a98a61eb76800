import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { closing, replaceFile } from '../../base/files.ts'
import { jsonIn } from '../../model/object.ts'
import type { Db } from './db.ts'
import { getMeta, setMeta } from './meta.ts'
import { type PresenceEvent, presenceAfter } from './presence.ts'

/** An event as it is put away, one line each: what happened, and to which entity. */
export interface Archived {
  event_id: string
  seq: number
  timestamp: string
  key: string
  /** Where the key is not its id. */
  entity?: string
}

/** The highest number that was ever put away: whoever asks for later ones need not look here. */
const ARCHIVED = 'archived_n'

const folder = (storePath: string) => join(dirname(storePath), 'archive')

export function archiveFiles(storePath: string): string[] {
  const dir = folder(storePath)
  if (!fs.existsSync(dir)) return []
  return fs
    .readdirSync(dir)
    .filter((f) => /^events-\d{4}-\d{2}\.jsonl$/.test(f))
    .sort()
    .map((f) => join(dir, f))
}

export const archivedUpTo = (db: Db): number => Number(getMeta(db, ARCHIVED) ?? 0)

const parsed = <T>(text: string): T[] =>
  text
    .split('\n')
    .map((line) => jsonIn(line) as T | undefined)
    .filter((event) => event !== undefined)

/** Archives events. The caller removes them from the store afterwards; readers count one that is in both once. */
export function archive(db: Db, events: readonly Archived[]): void {
  if (events.length === 0) return
  fs.mkdirSync(folder(db.path), { recursive: true, mode: 0o700 })
  for (const [month, own] of Map.groupBy(events, (e) => e.timestamp.slice(0, 7))) {
    const flags = fs.constants.O_RDWR | fs.constants.O_CREAT | fs.constants.O_APPEND | (fs.constants.O_NOFOLLOW ?? 0)
    using file = closing(fs.openSync(join(folder(db.path), `events-${month}.jsonl`), flags, 0o600))
    fs.appendFileSync(file.fd, `${isTorn(file.fd) ? '\n' : ''}${own.map((e) => JSON.stringify(e)).join('\n')}\n`)
    fs.fsyncSync(file.fd)
  }
  setMeta(db, ARCHIVED, String(events.reduce((max, e) => Math.max(max, e.seq), archivedUpTo(db))))
}

/** Whether the last line is half a line: somebody was killed while writing it. */
function isTorn(file: number): boolean {
  const { size } = fs.fstatSync(file)
  const last = Buffer.alloc(1)
  return size > 0 && fs.readSync(file, last, 0, 1, size - 1) === 1 && last.toString() !== '\n'
}

/** What was put away after a cursor, in order, each once. */
export function archivedAfter<T extends Archived>(db: Db, seq: number): T[] {
  if (seq >= archivedUpTo(db)) return []
  const found = new Map<string, T>()
  for (const path of archiveFiles(db.path))
    for (const e of parsed<T>(fs.readFileSync(path, 'utf8')))
      if (e.seq > seq && !found.has(e.event_id)) found.set(e.event_id, e)
  return [...found.values()].sort((a, b) => a.seq - b.seq)
}

export function eraseFromArchive(db: Db, isErased: (e: Archived, line: string) => boolean): void {
  for (const path of archiveFiles(db.path)) {
    const all = parsed<Archived>(fs.readFileSync(path, 'utf8'))
    const kept = all.map((e) => JSON.stringify(e)).filter((line, i) => !isErased(all[i]!, line))
    if (kept.length === all.length) continue
    if (kept.length === 0) fs.rmSync(path)
    else replaceFile(path, kept.map((line) => `${line}\n`).join(''), { mode: 0o600, sync: true })
  }
}

/** Events of sessions and claims that are due for the archive: older than `before`, and not among the newest `keep`. */
export function duePresence(db: Db, before: number, keep: number): PresenceEvent[] {
  const nth = db.value<number>('SELECT n FROM presence_events ORDER BY n DESC LIMIT 1 OFFSET ?', keep) ?? 0
  const last = db.value<number | null>('SELECT max(n) AS n FROM presence_events WHERE at < ?', before) ?? 0
  const upTo = Math.max(nth, last)
  return upTo === 0 ? [] : presenceAfter(db, 0).filter((e) => e.seq <= upTo)
}

export const dropPresence = (db: Db, upTo: number): void => db.run('DELETE FROM presence_events WHERE n <= ?', upTo)
