import { sinceStart } from '../../base/env.ts'
/** A writer waits this long for the lock unless `waitForLock` changes it. Of 32 writers at once some waited 3 s. */
export const lockWait = { ms: 60_000 }

/** The first pause; a batch holds the lock for about a millisecond. */
const FIRST_MS = 0.3
const GROWTH = 1.5
/** The longest pause. A longer one would delay both writes and deliveries. */
const LONGEST_MS = 8
/** A process that has waited this long retries more often than the others. */
const OLD_MS = 1000
const OLD_PAUSE_MS = 1

const LONG_MS = 2000

const never = new Int32Array(new SharedArrayBuffer(4))

/** Pauses long enough for other processes to take the lock. */
export const rest = (): void => void Atomics.wait(never, 0, 0, 4 * LONGEST_MS)

/** Retries with short random pauses until it succeeds or the time is up. Fairer than SQLite's back-off, which sleeps up to 100 ms. */
export function retryWithBackoff(attempt: () => boolean, forMs: number, onLong?: () => void): boolean {
  if (attempt()) return true
  const since = sinceStart()
  let tell = onLong
  for (let pause = FIRST_MS; ; pause = Math.min(LONGEST_MS, pause * GROWTH)) {
    const waited = sinceStart() - since
    if (waited >= forMs) return false
    if (waited >= LONG_MS) {
      tell?.()
      tell = undefined
    }
    const most = waited < OLD_MS ? pause : OLD_PAUSE_MS
    Atomics.wait(never, 0, 0, Math.min(forMs - waited, most * (0.5 + Math.random())))
    if (attempt()) return true
  }
}
