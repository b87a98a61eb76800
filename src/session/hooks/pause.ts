import { type Db, stored } from '../../engine/store/db.ts'
import { dropMeta, getMeta, setMeta } from '../../engine/store/meta.ts'

const PAUSED = 'paused'

export function pausedSince(db: Db): number | undefined {
  const since = getMeta(db, PAUSED)
  return since === undefined ? undefined : Number(since)
}

export const pauseAt = (db: Db, now: number): void => db.write(() => setMeta(db, PAUSED, String(now)))

/** What was said within these stays unheard, also when a transcript is read later. */
const PAUSES = 'pauses'
const PAUSES_KEPT = 200

/** Capture goes on; from when to when it was off is kept. */
export function resumeNow(db: Db, now: number): void {
  db.write(() => {
    const since = pausedSince(db)
    if (since === undefined) return
    setMeta(db, PAUSES, JSON.stringify([...pausesBefore(db), [since, now]].slice(-PAUSES_KEPT)))
    dropMeta(db, PAUSED)
  })
}

const pausesBefore = (db: Db): [from: number, to: number][] => stored(getMeta(db, PAUSES) ?? '[]')

export function pauses(db: Db): [from: number, to: number][] {
  const since = pausedSince(db)
  return [...pausesBefore(db), ...(since === undefined ? [] : [[since, Number.POSITIVE_INFINITY] as [number, number]])]
}
