import type { Db } from '../store/db.ts'
import { dropMeta, getMeta, setMeta } from '../store/meta.ts'

/** The row of the store that says since when capture is off: for the project on this machine, in all of its work trees. */
const PAUSED = 'paused'

/** Since when capture is switched off, in ms; nothing while it is on. */
export function pausedSince(db: Db): number | undefined {
  const since = getMeta(db, PAUSED)
  return since === undefined ? undefined : Number(since)
}

export const pauseAt = (db: Db, now: number): void => db.write(() => setMeta(db, PAUSED, String(now)))

export const resumeNow = (db: Db): void => db.write(() => dropMeta(db, PAUSED))
