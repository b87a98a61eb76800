const MINUTE = 60_000
export const DAY_MS = 86_400_000

/** How long ago, in the largest unit that fits. */
export function ago(ms: number, now: number): string {
  const minutes = Math.max(0, Math.round((now - ms) / MINUTE))
  if (minutes < 1) return 'just now'
  if (minutes < 60) return `${minutes} min ago`
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} h ago` : `${Math.round(minutes / 1440)} days ago`
}

/** The time of day for people: where they are, with the zone. */
export function localClock(ms: number): string {
  const offset = -new Date(ms).getTimezoneOffset()
  const two = (n: number) => String(Math.floor(Math.abs(n))).padStart(2, '0')
  const zone = offset === 0 ? 'UTC' : `${offset < 0 ? '-' : '+'}${two(offset / 60)}:${two(offset % 60)}`
  return `${new Date(ms + offset * MINUTE).toISOString().slice(11, 16)} ${zone}`
}

/** A moment for people, to the minute: where they are, with the zone. */
export const localMinute = (ms: number): string =>
  `${new Date(ms - new Date(ms).getTimezoneOffset() * MINUTE).toISOString().slice(0, 10)} ${localClock(ms)}`

/** How long, in the largest unit that fits. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 90) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 90 ? `${minutes} min` : `${Math.round(minutes / 60)} h`
}
