import { UserError } from '../../base/errors.ts'
import type { Memory } from '../../engine/memory.ts'
import { type Db, stored } from '../../engine/store/db.ts'
import { dropMeta, getMeta, setMeta } from '../../engine/store/meta.ts'

const PAUSED = 'paused'

export function pausedSince(db: Db): number | undefined {
  const since = getMeta(db, PAUSED)
  return since === undefined ? undefined : Number(since)
}

export const pauseAt = (db: Db, now: number): void => db.write(() => setMeta(db, PAUSED, String(now)))

const OFF = 'off'

/** Until when everything is off here; nothing where it is on. */
export function offUntil(db: Db, now: number): number | undefined {
  const until = Number(getMeta(db, OFF) ?? 0)
  return until > now ? until : undefined
}

/** What every tool of an agent answers while everything is off. */
export const refusedWhileOff = ({ db, env }: Memory): UserError | undefined =>
  offUntil(db, env.now()) === undefined
    ? undefined
    : new UserError('off', 'the user has switched Tidemark off', 'go on without it; `tidemark on` is theirs')

export const switchOff = (db: Db, now: number, until = Number.MAX_SAFE_INTEGER): void =>
  db.write(() => {
    resumeNow(db, now)
    keepPauses(db, [...pausesBefore(db), [now, until]])
    setMeta(db, OFF, String(until))
  })

/** What was said within these stays unheard, also when a transcript is read later. */
const PAUSES = 'pauses'
const PAUSES_KEPT = 200

const keepPauses = (db: Db, all: readonly (readonly [number, number])[]): void =>
  setMeta(db, PAUSES, JSON.stringify(all.slice(-PAUSES_KEPT)))

/** Everything is on; from when to when capture was off is kept. */
export function resumeNow(db: Db, now: number): void {
  db.write(() => {
    const since = pausedSince(db)
    const before = pausesBefore(db).map(([from, to]) => [from, Math.min(to, now)] as const)
    keepPauses(db, since === undefined ? before : [...before, [since, now]])
    dropMeta(db, PAUSED)
    dropMeta(db, OFF)
  })
}

const pausesBefore = (db: Db): [from: number, to: number][] => stored(getMeta(db, PAUSES) ?? '[]')

export function pauses(db: Db): [from: number, to: number][] {
  const since = pausedSince(db)
  return [...pausesBefore(db), ...(since === undefined ? [] : [[since, Number.POSITIVE_INFINITY] as [number, number]])]
}
