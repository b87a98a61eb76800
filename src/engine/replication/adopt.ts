import { chmodSync, copyFileSync, existsSync, renameSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, sep } from 'node:path'
import { UserError } from '../../base/errors.ts'
import { temporaryDirectory } from '../../base/files.ts'
import { lastBatch } from '../feed/news.ts'
import { asSealed, printLine } from '../store/line.ts'
import { admittedAfter } from '../store/log.ts'
import { getMeta } from '../store/meta.ts'
import { openDb } from '../store/open-db.ts'
import { checkFiles, filesOfStore, keepMarks, markPath } from '../store/owner.ts'
import { countByKind } from '../store/rows.ts'
import { hasOurSchema } from '../store/schema.ts'
import { withSqlite } from '../store/sqlite.ts'
import { ofStore } from '../store/store-error.ts'
import { snapshotOf } from './compaction.ts'
import { type Ingested, printDelivery } from './ingest.ts'
import type { StoreHandle } from './restore.ts'

/**
 * Reads a store that somebody else may have made, from a private copy. Nothing that its schema says is run.
 * `lines`: its log, as a replica would send it.
 */
export function readForeign(storePath: string, ownDirectory: boolean) {
  if (!checkFiles(storePath, ownDirectory) || !existsSync(storePath))
    throw new UserError('no-store', `there is no store at ${storePath}`, 'nothing is to be adopted')
  using dir = temporaryDirectory(tmpdir(), 'tidemark-adopt-')
  return ofStore(storePath, () => {
    const copy = join(dir.path, 'store.db')
    for (const suffix of ['', '-wal'])
      if (existsSync(storePath + suffix)) copyFileSync(storePath + suffix, copy + suffix)
    if (!withSqlite(copy, {}, hasOurSchema)) {
      const message = `${storePath} is no store as this version of Tidemark writes it: it is not opened`
      throw new UserError('store-foreign', message, 'move it away; `tidemark init` makes a new one')
    }
    using db = openDb(copy, { owner: { project: 'adopting', mayTakeOver: () => true, ownDirectory: true } })
    const snapshot = snapshotOf(db)
    return {
      project: getMeta(db, 'project') ?? '',
      kinds: countByKind(db),
      last: lastBatch(db),
      lines: [
        ...(snapshot ? [JSON.stringify({ snapshot })] : []),
        ...admittedAfter(db, 0).map(({ line }) => printLine(asSealed(line))),
      ],
    }
  })
}

/** Replaces somebody else's store by one of our own, with its knowledge as unconfirmed. Returns the names of the old files. */
export function adopt(
  storePath: string,
  { lines }: { lines: readonly string[] },
  now: number,
  open: (path: string) => StoreHandle,
): { taken: Ingested; kept: string[] } {
  const dir = dirname(storePath)
  using work = temporaryDirectory(dir, '.adopting-')
  const fresh = join(work.path, 'store.db')
  const take = () => {
    using memory = open(fresh)
    return memory.applyUpdates(printDelivery(memory.projectId, lines), { own: true })
  }
  const taken = take()
  keepMarks(storePath, fresh)
  const aside = (path: string) => `${storePath}.foreign-${now}-${relative(dir, path).split(sep).join('-')}`
  const old = filesOfStore(storePath).filter((path) => !/\.(?:foreign|adopting)-/.test(relative(dir, path)))
  for (const path of old) if (path !== storePath) renameSync(path, aside(path))
  // at each moment there is one store in its place, and the mark is that of our own
  copyFileSync(storePath, aside(storePath))
  chmodSync(aside(storePath), 0o600)
  renameSync(fresh, storePath)
  renameSync(markPath(fresh), markPath(storePath))
  return { taken, kept: old.map(aside) }
}
