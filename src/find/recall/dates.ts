import { DAY_MS } from '../../model/times.ts'

/** Days since the epoch; everything below counts in them. */
type Days = readonly [from: number, to: number]

const MONTHS = [
  'january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october', 'november', 'december',
] // biome-ignore format: a list to read at a glance
const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
const NUMBERS: { readonly [word: string]: number } = {
  a: 1, an: 1, one: 1, two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7, eight: 8, nine: 9, ten: 10, eleven: 11, twelve: 12,
} // biome-ignore format: a list to read at a glance

const dayNumber = (y: number, m: number, d: number) => Math.round(Date.UTC(y, m - 1, d) / DAY_MS)
const iso = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10)
const yearOf = (day: number) => new Date(day * DAY_MS).getUTCFullYear()
const monthOf = (day: number) => new Date(day * DAY_MS).getUTCMonth() + 1
const weekdayOf = (day: number) => new Date(day * DAY_MS).getUTCDay()
const mondayOf = (day: number) => day - ((weekdayOf(day) + 6) % 7)

/** The month may lie outside of 1 to 12. */
const month = (y: number, m: number): Days => [dayNumber(y, m, 1), dayNumber(y, m + 1, 1) - 1]
const year = (y: number): Days => [dayNumber(y, 1, 1), dayNumber(y, 12, 31)]

/** A day of the calendar; nothing for the 30th of February. */
function day(y: number, m: number, d: number): Days | undefined {
  const at = dayNumber(y, m, d)
  return monthOf(at) === m && d >= 1 ? [at, at] : undefined
}

const monthNamed = (name: string) => MONTHS.findIndex((m) => m.startsWith(name.slice(0, 3))) + 1
/** The year that is said, else the latest in which that month had begun. */
const yearFor = (m: number, said: string | undefined, today: number) =>
  said === undefined ? yearOf(today) - (m > monthOf(today) ? 1 : 0) : Number(said)
const counted = (word: string) => NUMBERS[word] ?? Number(word)

const MONTH = `(${MONTHS.join('|')}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\\.?`
const DAY = '(\\d{1,2})(?:st|nd|rd|th)?'
const YEAR = '((?:19|20)\\d\\d)'
const NUMBER = `(\\d{1,3}|${Object.keys(NUMBERS).join('|')})`
const UNIT = '(day|week|month|year)s?'
const WHICH = '(last|past|this)'

/** Each takes a whole phrase, in lower case. */
const READINGS: readonly [phrase: string, (today: number, ...groups: (string | undefined)[]) => Days | undefined][] = [
  [`${YEAR}[-/](\\d\\d)`, (_, y, m) => (Number(m) >= 1 && Number(m) <= 12 ? month(Number(y), Number(m)) : undefined)],
  [`${YEAR}[-/](\\d\\d)[-/](\\d\\d)`, (_, y, m, d) => day(Number(y), Number(m), Number(d))],
  [`${DAY}(?: of)? ${MONTH}(?:,? ${YEAR})?`, (today, d, name, y) => dated(today, name!, d!, y)],
  [`${MONTH} ${DAY}(?:,? ${YEAR})?`, (today, name, d, y) => dated(today, name!, d!, y)],
  [`${MONTH}(?:(?: of)? ${YEAR})?`, (today, name, y) => month(yearFor(monthNamed(name!), y, today), monthNamed(name!))],
  [YEAR, (_, y) => year(Number(y))],
  [`${NUMBER} ${UNIT} ago`, (today, n, unit) => before(today, counted(n!), unit!)],
  [`(?:last|past) ${NUMBER} ${UNIT}`, (today, n, unit) => rolling(today, counted(n!), unit!)],
  ['yesterday', (today) => [today - 1, today - 1]],
  ['today', (today) => [today, today]],
  [`${WHICH} (week|month|year)`, (today, which, unit) => period(which!, unit!, today)],
  [`(?:(last|past|this) )?(${WEEKDAYS.join('|')})`, (today, which, name) => weekday(which, name!, today)],
]

function dated(today: number, name: string, d: string, y: string | undefined): Days | undefined {
  const m = monthNamed(name)
  return day(yearFor(m, y, today), m, Number(d))
}

function before(today: number, n: number, unit: string): Days {
  if (unit === 'day') return [today - n, today - n]
  // nobody counts days who says "three weeks ago"
  if (unit === 'week') return [today - 7 * n - 3, today - 7 * n + 3]
  return unit === 'month' ? month(yearOf(today), monthOf(today) - n) : year(yearOf(today) - n)
}

function rolling(today: number, n: number, unit: string): Days {
  const length = { day: 1, week: 7, month: 30.44, year: 365.25 }[unit]!
  return [today - Math.round(n * length), today]
}

function period(which: string, unit: string, today: number): Days {
  if (which === 'past') return rolling(today, 1, unit)
  const step = which === 'this' ? 0 : -1
  if (unit === 'week') return [mondayOf(today) + 7 * step, mondayOf(today) + 7 * step + 6]
  return unit === 'month' ? month(yearOf(today), monthOf(today) + step) : year(yearOf(today) + step)
}

/** The latest such day; `last` and `past` are never today. */
function weekday(which: string | undefined, name: string, today: number): Days {
  const since = (weekdayOf(today) - WEEKDAYS.indexOf(name) + 7) % 7
  const at =
    which === 'this'
      ? mondayOf(today) + ((WEEKDAYS.indexOf(name) + 6) % 7)
      : today - (which !== undefined && since === 0 ? 7 : since)
  return [at, at]
}

/** Compiled when first asked for: most questions name no time. */
let compiled: readonly [RegExp, (typeof READINGS)[number][1]][] | undefined

/** The days in UTC, both ends included, that a phrase means, seen from `now`: "last week", "8 May". Nothing for any other text. */
export function spanOf(phrase: string, now: number): { from: string; to: string } | undefined {
  compiled ??= READINGS.map(([source, read]) => [new RegExp(`^(?:${source})$`), read])
  const text = phrase.trim().toLowerCase().replace(/\s+/g, ' ').slice(0, 60)
  const bare = text.replace(/^(?:on|in|since|from|during) /, '').replace(/^the /, '')
  for (const [match, read] of compiled) {
    const found = match.exec(bare)
    const days = found && read(Math.floor(now / DAY_MS), ...found.slice(1))
    if (days) return { from: iso(days[0]), to: iso(days[1]) }
  }
  return undefined
}
