import { closeSync, existsSync, type FSWatcher, openSync, watch } from 'node:fs'
import { bellPath, type Db } from './db.ts'

/** The doorbell can be missed (a writer that dies between commit and ring): look this often anyway. */
const POLL_MS = 250

/**
 * Calls `onCommit` after other processes have committed to the store, and never keeps the process alive by itself.
 * Returns the way to stop.
 */
export function watchCommits(db: Db, onCommit: () => void): () => void {
  const bell = bellPath(db.path)
  if (!existsSync(bell)) closeSync(openSync(bell, 'a'))
  let version = db.dataVersion()
  const look = () => {
    const now = db.dataVersion()
    if (now === version) return
    version = now
    onCommit()
  }
  let watcher: FSWatcher | undefined
  try {
    watcher = watch(bell, { persistent: false }, look)
    watcher.on('error', () => watcher?.close()) // the bell was removed: polling goes on
  } catch {} // no file watching on this system: polling alone
  const poll = setInterval(look, POLL_MS)
  poll.unref()
  return () => {
    watcher?.close()
    clearInterval(poll)
  }
}
