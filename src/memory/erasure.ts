import { closeSync, existsSync, openSync, readdirSync, readSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Registry } from '../schema/registry.ts'
import { archiveFiles } from '../store/archive.ts'
import { snapshotNow } from '../store/backup.ts'
import { type Db, storeFiles, vacuum } from '../store/db.ts'
import { clearDefines, getRow } from '../store/rows.ts'
import { forgetErasedWork } from '../store/work.ts'
import { projectAll } from './apply.ts'
import type { Action } from './batch.ts'
import type { Reader } from './read.ts'
import { scrubArchive } from './rotate.ts'

/** The texts that purges of a batch erase wherever they stand. */
export const secretsIn = (actions: readonly Action[]): string[] =>
  actions.flatMap(([verb, args]) =>
    verb === 'purge' && typeof args.secret === 'string' ? [args.secret.normalize('NFC')] : [],
  )

/** What the purges of a batch are to erase, as it stands on the disk before. */
export const aboutToErase = (reader: () => Reader, actions: readonly Action[]): string[] =>
  actions.flatMap(([verb, args]) => {
    if (verb !== 'purge') return []
    if (typeof args.secret === 'string') return secretsIn([[verb, args]])
    return typeof args.ref === 'string'
      ? reader()
          .find(args.ref, true)
          .map((e) => e.name)
      : []
  })

/** After an erasure: nothing of what was erased may stay in any file of the store. */
export function scrub(db: Db, registry: Registry, now: number, secrets: readonly string[] = []): void {
  db.write(() => {
    scrubArchive(db, secrets)
    clearDefines(db)
    forgetErasedWork(db, (id) => getRow(db, id) !== undefined)
    projectAll(db, registry)
  })
  vacuum(db)
  if (existsSync(backupsOf(db.path))) snapshotNow(db.raw, db.path, now, true)
}

/** The proof of an erasure: the files of the store were searched for what had to go. What it was is not told. */
export const proofOf = (path: string, erased: readonly string[]): string[] =>
  erased
    .filter((text) => text.length > 3)
    .map((text) => {
      const found = occurrences(path, text)
      const still = found.filter((o) => o.count > 0).length
      return still === 0
        ? `looked through the ${found.length} files of the store, snapshots included: what was erased stands in none of them`
        : `what it was called still stands in ${still} of ${found.length} files of the store: something else says it too`
    })

/** How often a text stands in the files of a store, archive and snapshots included. */
export function occurrences(path: string, text: string): { file: string; count: number }[] {
  const backups = backupsOf(path)
  const files = [
    ...storeFiles(path),
    ...archiveFiles(path),
    ...(existsSync(backups) ? readdirSync(backups).map((f) => join(backups, f)) : []),
  ]
  const needles = [text, JSON.stringify(text).slice(1, -1)].map((t) => Buffer.from(t))
  return files.map((file) => ({ file, count: Math.max(...needles.map((n) => countIn(file, n))) }))
}

const backupsOf = (path: string): string => join(dirname(path), 'backups')

const CHUNK = 1 << 20

function countIn(file: string, needle: Buffer): number {
  const fd = openSync(file, 'r')
  try {
    let count = 0
    let tail = Buffer.alloc(0)
    const chunk = Buffer.alloc(CHUNK)
    for (;;) {
      const n = readSync(fd, chunk, 0, CHUNK, null)
      if (n === 0) return count
      const data = Buffer.concat([tail, chunk.subarray(0, n)])
      for (let at = data.indexOf(needle); at !== -1; at = data.indexOf(needle, at + 1)) count++
      tail = data.subarray(Math.max(0, data.length - needle.length + 1))
    }
  } finally {
    closeSync(fd)
  }
}
