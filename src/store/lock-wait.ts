/** The first pause; a batch holds the lock for about a millisecond. */
const FIRST_MS = 0.3
const GROWTH = 1.5
/** Nobody sleeps longer than this, or it would neither write nor hear the others. */
const LONGEST_MS = 8
/** Who has waited for so long asks more often than the others do. */
const OLD_MS = 1000
const OLD_PAUSE_MS = 1

/** Whoever waits for so long is told why. */
const LONG_MS = 2000

const never = new Int32Array(new SharedArrayBuffer(4))

/** Lets those who wait for a lock have their turn. */
export const rest = (): void => void Atomics.wait(never, 0, 0, 4 * LONGEST_MS)

/**
 * Tries until it works or the time is up; the last answer. `onLong` is told once when it has lasted. Blocks the process.
 * SQLite's own waiting sleeps up to 100 ms at a time and lets whoever comes later go first: with ten writers the slowest
 * hundredth of deliveries took half a second. Pauses here are short and random, they grow little, and who has waited long
 * gets ahead.
 */
export function waitTurn(attempt: () => boolean, forMs: number, onLong?: () => void): boolean {
  if (attempt()) return true
  const since = performance.now()
  let tell = onLong
  for (let pause = FIRST_MS; ; pause = Math.min(LONGEST_MS, pause * GROWTH)) {
    const waited = performance.now() - since
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
