import { UsageError } from '../../base/errors.ts'
import { momentOf, type Reader } from '../../engine/read/reader.ts'
import { toTime } from '../../model/validate.ts'
import { spanOf } from './dates.ts'

const AGO = /^(\d{1,4}|an?|one) (minute|hour|day|week|month|year)s? ago$/
const LENGTH: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 604_800_000 }

/** What a moment may look like, for hints. */
export const MOMENTS =
  'a day such as 2026-11-21, a moment such as 2026-11-21T14:30:00Z, or words such as "3 months ago"'

/** A moment in ms. `since` takes the beginning of a day or span, `as-of` its end. @throws UsageError */
export function momentSaid(
  value: string | number | Date,
  now: number,
  as: 'since' | 'as-of',
  reader?: Pick<Reader, 'entity' | 'list'>,
): number {
  if (typeof value !== 'string') return momentOf(value)
  const moment = inWords(value, now, as) ?? (reader && markedAt(reader, value))
  if (moment === undefined) throw new UsageError(`"${value}" is not a time`, `give ${MOMENTS}`)
  return moment
}

/** The moment of a day, a time or words; nothing for anything else. */
export function inWords(value: string, now: number, as: 'since' | 'as-of'): number | undefined {
  const text = value.trim().replace(/\s+/g, ' ').toLowerCase()
  const [, count, unit] = AGO.exec(text) ?? []
  if (unit !== undefined && (as === 'as-of' || unit === 'minute' || unit === 'hour'))
    return back(now, Number.isNaN(Number(count)) ? 1 : Number(count), unit)
  // a month is a span, not its first moment
  const exact = /^\d{4}-\d{2}$/.test(text) ? undefined : toTime(value.trim())
  if (exact !== undefined) return as === 'since' ? Date.parse(exact) : momentOf(exact)
  const meant = spanOf(text, now)
  return meant && (as === 'since' ? Date.parse(meant.from) : momentOf(meant.to))
}

/** The moment of a mark: the one that it names, else when it was recorded. */
export function markedAt(reader: Pick<Reader, 'entity' | 'list'>, name: string): number | undefined {
  const mark = reader.list('mark').find((e) => e.name === name.trim())
  return mark && (typeof mark.fields.at === 'string' ? momentOf(mark.fields.at) : mark.created)
}

/** The moment `count` units ago, at the same time of day; in a shorter month, its last day. */
function back(now: number, count: number, unit: string): number {
  const length = LENGTH[unit]
  if (length !== undefined) return now - count * length
  const then = new Date(now)
  const day = then.getUTCDate()
  then.setUTCDate(1)
  then.setUTCMonth(then.getUTCMonth() - count * (unit === 'year' ? 12 : 1))
  const last = new Date(Date.UTC(then.getUTCFullYear(), then.getUTCMonth() + 1, 0)).getUTCDate()
  return then.setUTCDate(Math.min(day, last))
}
