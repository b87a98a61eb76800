import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { closing } from '../../base/files.ts'
import { DAY_MS } from '../../model/times.ts'
import { MAX_LEAD_MS } from '../log/clock.ts'
import type { Db } from './db.ts'

/** Snapshots kept beside the store: one a day, and one before each migration (C7). */
const KEPT = 3
/** A copy that nobody wrote to for so long is left of a process that was killed. */
const UNFINISHED_MS = 600_000

const folder = (storePath: string) => join(dirname(storePath), 'backups')

/** `future`: it is dated later than now, so the clock was wrong when it was taken, or is now. */
export function snapshots(storePath: string, now: number): { path: string; at: number; future: boolean }[] {
  const dir = folder(storePath)
  if (!fs.statSync(dir, { throwIfNoEntry: false })?.isDirectory()) return []
  return fs
    .readdirSync(dir)
    .filter((f) => /^store-\d+\.db$/.test(f))
    .map((f) => ({ path: join(dir, f), at: Number(f.slice(6, -3)) }))
    .map((s) => ({ ...s, future: s.at > now + MAX_LEAD_MS }))
    .sort((a, b) => Number(a.future) - Number(b.future) || b.at - a.at)
}

/** What was written is on the disk when this returns; also for a directory, and what its names mean. */
export function syncFile(path: string): void {
  using file = closing(fs.openSync(path, 'r'))
  fs.fsyncSync(file.fd)
}

/** Copies a store whole into a file of its user alone, in one step; `finish` works on the copy before it counts. */
export function copyStore(db: DatabaseSync, to: string, partial: string, finish?: () => void): void {
  fs.rmSync(partial, { force: true })
  fs.closeSync(fs.openSync(partial, 'wx', 0o600)) // SQLite takes an empty file for none
  try {
    db.prepare('VACUUM INTO ?').run(partial)
    finish?.()
    syncFile(partial)
    fs.renameSync(partial, to)
  } finally {
    for (const left of [partial, `${partial}-journal`]) fs.rmSync(left, { force: true }) // a full disk has no room for it
  }
}

function dropUnfinished(dir: string): void {
  for (const name of fs.readdirSync(dir)) {
    if (!name.includes('.partial')) continue
    const path = join(dir, name)
    const changed = fs.statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
    if (Math.abs(Date.now() - changed) > UNFINISHED_MS) fs.rmSync(path, { force: true })
  }
}

/** Writes a snapshot and drops those beyond the newest three; `only` keeps no older one (after an erasure). */
export function snapshotNow(raw: DatabaseSync, storePath: string, now: number, only = false): string {
  const dir = folder(storePath)
  fs.mkdirSync(dir, { recursive: true, mode: 0o700 })
  dropUnfinished(dir)
  const path = join(dir, `store-${now}.db`)
  copyStore(raw, path, `${path}.${process.pid}.partial`)
  for (const old of snapshots(storePath, now).slice(only ? 1 : KEPT)) fs.rmSync(old.path, { force: true })
  return path
}

export function snapshotIfDue(db: Db, now: number): void {
  if (db.readOnly || !db.isCurrent()) return // a store that was replaced has snapshots of its own
  const last = snapshots(db.path, now).find((s) => !s.future)
  if (last && now - last.at < DAY_MS) return
  if (last && fs.statSync(db.path).mtimeMs < last.at && !fs.existsSync(`${db.path}-wal`)) return
  snapshotNow(db.raw, db.path, now)
}
