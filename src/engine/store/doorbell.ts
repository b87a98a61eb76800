import { closeSync, existsSync, type FSWatcher, lstatSync, watch } from 'node:fs'
import { bellPath, openBell } from './bell-file.ts'
import type { Db } from './db.ts'

/** The doorbell can be missed (a writer that dies between commit and ring): look this often anyway. */
const IDLE_MS = 250
/** Where commits come that no bell announced, look this often for a while. */
const BUSY_MS = 5

/** Calls `onCommit` after commits of other processes: at once by the doorbell, else within 250 ms. Returns how to stop. */
export function watchCommits(db: Db, onCommit: () => void): () => void {
  let version = db.dataVersion()
  let pause = IDLE_MS
  let timer: NodeJS.Timeout
  let stopped = false
  /** Whether anything was committed since it looked last. */
  const look = () => {
    if (stopped) return false
    const now = db.dataVersion()
    if (now === version) return false
    version = now
    onCommit()
    return true
  }
  const bell = listen(db.path, () => {
    pause = IDLE_MS
    look()
  })
  const poll = () => {
    const found = look()
    if (found && !stopped) bell.check()
    pause = found ? BUSY_MS : Math.min(IDLE_MS, pause * 1.5)
    again()
  }
  const again = () => {
    if (!stopped) timer = setTimeout(poll, pause).unref()
  }
  again()
  return () => {
    stopped = true
    clearTimeout(timer)
    bell.stop()
  }
}

function listen(storePath: string, onRing: () => void): { check(): void; stop(): void } {
  let watcher: FSWatcher | undefined
  const path = bellPath(storePath)
  let inode: number | undefined
  const start = () => {
    try {
      if (!existsSync(path)) closeSync(openBell(storePath))
      inode = lstatSync(path).ino
      watcher = watch(path, { persistent: false }, onRing)
      watcher.on('error', () => watcher?.close()) // the bell was removed
    } catch {} // nothing can be watched here: looking goes on
  }
  start()
  return {
    check() {
      if (lstatSync(path, { throwIfNoEntry: false })?.ino === inode) return
      watcher?.close()
      start()
    },
    stop: () => watcher?.close(),
  }
}
