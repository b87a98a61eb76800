/** An expression of time in a question, as days in UTC, both ends included. */
export interface DateExpression {
  /** As it stands in the question. */
  readonly text: string
  readonly from: string
  readonly to: string
  /** The year was not said: the same days of another year are meant half as much. */
  readonly anyYear: boolean
}

/** Of a longer question the beginning is read. */
const MAX_QUESTION = 10_000
const DAY_MS = 86_400_000
const FIRST = '0001-01-01'
const LAST = '9999-12-31'

const MONTHS = [
  'january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october', 'november', 'december',
] // biome-ignore format: a list to read at a glance
const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
const NUMBERS: { readonly [word: string]: number } = {
  a: 1, an: 1, one: 1, two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7, eight: 8, nine: 9, ten: 10, eleven: 11, twelve: 12,
  couple: 2, few: 3, several: 3,
} // biome-ignore format: a list to read at a glance
const ORDINALS = ['first', 'second', 'third', 'fourth']
/** From the month on in which each begins, in the north. */
const SEASONS: { readonly [name: string]: number } = { spring: 3, summer: 6, autumn: 9, fall: 9, winter: 12 }

/** Days since the epoch; everything below counts in them. */
const dayNumber = (y: number, m: number, d: number) => Math.round(Date.UTC(y, m - 1, d) / DAY_MS)
const iso = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10)
const yearOf = (day: number) => new Date(day * DAY_MS).getUTCFullYear()
const monthOf = (day: number) => new Date(day * DAY_MS).getUTCMonth() + 1
const weekdayOf = (day: number) => new Date(day * DAY_MS).getUTCDay()
/** Monday of its week. */
const mondayOf = (day: number) => day - ((weekdayOf(day) + 6) % 7)

interface Span {
  from: number
  to: number
  anyYear?: boolean
}

/** The month may lie outside of 1 to 12. */
const month = (y: number, m: number, anyYear = false): Span => ({
  from: dayNumber(y, m, 1),
  to: dayNumber(y, m + 1, 1) - 1,
  anyYear,
})
const year = (y: number): Span => ({ from: dayNumber(y, 1, 1), to: dayNumber(y, 12, 31) })
const quarter = (y: number, q: number): Span => ({
  from: dayNumber(y, q * 3 - 2, 1),
  to: dayNumber(y, q * 3 + 1, 1) - 1,
})
const oneDay = (day: number): Span => ({ from: day, to: day })

/** A day of the calendar, or several of one month; nothing for the 30th of February. */
function days(y: number, m: number, first: number, last: number, anyYear = false): Span | undefined {
  const from = dayNumber(y, m, first)
  const to = dayNumber(y, m, last)
  const real = first >= 1 && first <= last && monthOf(from) === m && monthOf(to) === m
  return real ? { from, to, anyYear } : undefined
}

/** The number of a month by its name or the beginning of it. */
const monthNamed = (name: string): number => MONTHS.findIndex((m) => m.startsWith(name.toLowerCase().slice(0, 3))) + 1

/** Whether the month reads as a word of another sense where it stands in lower case, as in "it may" or "march on". */
const isWord = (name: string) => /^(?:may|march|mar|jan|sep|dec)$/.test(name)
/** What may follow the number after such a month; "May 5 users log in" names no day. */
const AFTER_DAY = /^\s*(?:$|[.,;:?!)\]–-]|(?:and|or|to|at|in|on|until|through|for|with|from|by|about)\b)/i
/** After a year that is none: "in 2000 ms", "after 2000 requests". */
const COUNTED = /^\s*(?:%|[-/.:]\d|\s(?:ms|px|k|[kmgt]b|km|(?!was|has|does|this|its|always|towards)[a-z]{2,}s)\b)/

/** The latest year in which that month had begun. */
const latestYear = (m: number, today: number) => yearOf(today) - (m > monthOf(today) ? 1 : 0)

const MONTH = `(${MONTHS.join('|')}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\\b\\.?`
const DAY = '(\\d{1,2})(st|nd|rd|th)?'
const YEAR = '((?:19|20)\\d\\d)(?!\\d)'
const UNTIL = '(?:-|–|to|through|until|and)'
const NUMBER = `(\\d{1,3}|${Object.keys(NUMBERS).join('|')})`
const UNIT = '(day|week|month|year)'

interface Pattern {
  readonly match: RegExp
  /** `m` are the groups; `rest` is what follows in the question. */
  read(m: RegExpExecArray, today: number, rest: string): Span | undefined
}

/** Compiled when it is first asked for: who loads this file may never ask for a date. */
function pattern(source: string, read: Pattern['read']): Pattern {
  let match: RegExp | undefined
  return {
    get match() {
      return (match ??= new RegExp(`(?<![\\p{L}\\p{N}_./:-])${source}`, 'giu'))
    },
    read,
  }
}

const counted = (word: string) => NUMBERS[word.toLowerCase()] ?? Number(word)

function before(today: number, n: number, unit: string): Span | undefined {
  if (unit === 'day') return oneDay(today - n)
  // nobody counts days who says "three weeks ago"
  if (unit === 'week') return { from: today - 7 * n - 3, to: today - 7 * n + 3 }
  if (unit === 'month') return month(yearOf(today), monthOf(today) - n)
  return n <= 100 ? year(yearOf(today) - n) : undefined
}

function rolling(today: number, n: number, unit: string): Span {
  const length = { day: 1, week: 7, month: 30.44, year: 365.25 }[unit]!
  return { from: today - Math.round(n * length), to: today }
}

/** Months and days of a month whose year may be missing. */
function dated(name: string, first: string, last: string | undefined, y: string | undefined, today: number) {
  const m = monthNamed(name)
  const inYear = y === undefined ? latestYear(m, today) : Number(y)
  return days(inYear, m, Number(first), Number(last ?? first), y === undefined)
}

/** In order: what stands in an earlier one is not looked at by a later one. */
const PATTERNS: readonly Pattern[] = [
  // 2024-03-15, 2024/03/15, 2024-03
  pattern('((?:19|20)\\d\\d)([-/])(\\d\\d)(?:\\2(\\d\\d)(?:T[\\d:.]+Z?)?)?(?![\\w/-])', (m) => {
    const [y, mo, d] = [Number(m[1]), Number(m[3]), Number(m[4])]
    if (mo < 1 || mo > 12) return undefined
    return m[4] === undefined ? month(y, mo) : days(y, mo, d, d)
  }),
  // 15.03.2024, 3/15/2024; where both readings are possible the month stands first, as in English
  pattern(`(\\d{1,2})([./])(\\d{1,2})\\2${YEAR}(?![\\w/-])`, (m) => {
    const [a, b, y] = [Number(m[1]), Number(m[3]), Number(m[4])]
    const [mo, d] = m[2] === '.' || a > 12 ? [b, a] : [a, b]
    return mo >= 1 && mo <= 12 ? days(y, mo, d, d) : undefined
  }),
  // from March to May 2024
  pattern(`(?:from|between)\\s+${MONTH}(?:\\s+${YEAR})?\\s*${UNTIL}\\s*${MONTH}(?:\\s+${YEAR})?`, (m, today) => {
    const [a, b] = [monthNamed(m[1]!), monthNamed(m[3]!)]
    const end = m[4] === undefined ? latestYear(b, today) : Number(m[4])
    const start = m[2] === undefined ? end - (a > b ? 1 : 0) : Number(m[2])
    const last = month(m[2] !== undefined && m[4] === undefined && a <= b ? start : end, b)
    return { from: month(start, a).from, to: last.to }
  }),
  // 8 May 2023, the 8th of May, 8-10 May
  pattern(`${DAY}(?:\\s*${UNTIL}\\s*${DAY})?(\\s+of)?\\s+${MONTH}(?:,?\\s+${YEAR})?`, (m, today) => {
    const name = m[6]!
    const sure = m[2] ?? m[4] ?? m[5] ?? m[7]
    if (sure === undefined && isWord(name)) return undefined
    return dated(name, m[1]!, m[3], m[7], today)
  }),
  // May 8, 2023; March 3rd; Nov 8-10
  pattern(`${MONTH}\\s+${DAY}(?!\\d|[:.]\\d)(?:\\s*(?:-|–)\\s*${DAY})?(?:,?\\s+${YEAR})?`, (m, today, rest) => {
    const sure = m[3] ?? m[5] ?? m[6]
    const odd = isWord(m[1]!) || (isWord(m[1]!.toLowerCase()) && !AFTER_DAY.test(rest))
    return sure === undefined && odd ? undefined : dated(m[1]!, m[2]!, m[4], m[6], today)
  }),
  // May 2023, March of 2024
  pattern(`${MONTH}(?:\\s+of)?,?\\s+${YEAR}`, (m) => month(Number(m[2]), monthNamed(m[1]!))),
  // Q3 2025, 2025 Q3, Q3, the third quarter of 2025
  pattern(`${YEAR}[\\s-]*Q([1-4])(?![\\w-])`, (m) => quarter(Number(m[1]), Number(m[2]))),
  pattern(`Q([1-4])(?:\\s*(?:of\\s+|[/-]\\s*)?${YEAR})?(?![\\w-])`, (m, today) => {
    if (m[2] !== undefined) return quarter(Number(m[2]), Number(m[1]))
    return m[0].startsWith('Q') ? latestQuarter(Number(m[1]), today) : undefined
  }),
  pattern(`(${ORDINALS.join('|')})\\s+quarter(?:\\s+(?:of\\s+)?${YEAR})?\\b`, (m, today) => {
    const q = ORDINALS.indexOf(m[1]!.toLowerCase()) + 1
    return m[2] === undefined ? latestQuarter(q, today) : quarter(Number(m[2]), q)
  }),
  // summer 2021, the winter of 2023, last summer; "last fall" may be one of many falls
  pattern(`(${Object.keys(SEASONS).join('|')})(?:\\s+of)?\\s+${YEAR}`, (m) =>
    season(m[1]!.toLowerCase(), Number(m[2])),
  ),
  pattern('(?<=\\b(last|this)\\s+)(summer|winter|autumn)\\b', (m, today) => {
    const last = m[1]!.toLowerCase() === 'last'
    const now = season(m[2]!.toLowerCase(), yearOf(today))
    return last && now.to >= today ? season(m[2]!.toLowerCase(), yearOf(today) - 1) : now
  }),
  // two weeks ago, a couple of days ago
  pattern(`(?:a\\s+)?${NUMBER}\\s+(?:of\\s+)?${UNIT}s?\\s+ago\\b`, (m, today) =>
    before(today, counted(m[1]!), m[2]!.toLowerCase()),
  ),
  pattern(`${NUMBER}\\s+(?:hour|minute|second)s?\\s+ago\\b`, (_m, today) => oneDay(today)),
  // in the last 30 days
  pattern(`(?:last|past|previous)\\s+(?:a\\s+)?${NUMBER}\\s+(?:of\\s+)?${UNIT}s?\\b`, (m, today) =>
    rolling(today, counted(m[1]!), m[2]!.toLowerCase()),
  ),
  pattern('(?:the\\s+)?day\\s+before\\s+yesterday\\b', (_m, today) => oneDay(today - 2)),
  pattern('(?:yesterday|last\\s+night)\\b', (_m, today) => oneDay(today - 1)),
  pattern('(?:today|tonight|this\\s+(?:morning|afternoon|evening))\\b', (_m, today) => oneDay(today)),
  pattern('tomorrow\\b', (_m, today) => oneDay(today + 1)),
  // last week, this month, next year
  pattern('(last|past|previous|this|current|next|coming)\\s+(week|weekend|month|quarter|year)\\b', (m, today) =>
    period(m[1]!.toLowerCase(), m[2]!.toLowerCase(), today),
  ),
  // on Monday, last Friday
  pattern(
    `(?<=\\b(on|since|until|till|by|before|after|last|this|next|past)\\s+)(${WEEKDAYS.join('|')})\\b`,
    (m, today) => oneDay(weekday(m[1]!.toLowerCase(), WEEKDAYS.indexOf(m[2]!.toLowerCase()), today)),
  ),
  // in March, since May, last June, in early April
  pattern(
    `(?<=\\b(in|during|throughout|since|until|till|before|after|last|this|next|early|mid|late)[\\s-]+)${MONTH}`,
    (m, today) => named(m[1]!.toLowerCase(), m[2]!, today),
  ),
  // in 2023, since 2022
  pattern(
    `(?<=\\b(?:in|during|throughout|since|from|between|before|after|until|till|by|year|early|mid|late|(?:end|start|beginning|summer|spring|autumn|fall|winter)\\s+of|(?:from|between)\\s+\\d{4}\\s+(?:and|to))[\\s-]+)${YEAR}(?![\\w/-])`,
    (m, _today, rest) => (COUNTED.test(rest) ? undefined : year(Number(m[1]))),
  ),
]

/** One of these stands in every expression: most questions need not wait until all patterns are compiled. */
const HINT =
  /\d|day|night|morning|afternoon|evening|tomorrow|week|month|year|hour|minute|second|quarter|summer|winter|autumn|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec/iu

const season = (name: string, y: number): Span => ({
  from: dayNumber(y, SEASONS[name]!, 1),
  to: dayNumber(y, SEASONS[name]! + 3, 1) - 1,
})

const latestQuarter = (q: number, today: number): Span =>
  quarter(yearOf(today) - (q > Math.ceil(monthOf(today) / 3) ? 1 : 0), q)

function period(which: string, unit: string, today: number): Span {
  if (which === 'past' && unit !== 'quarter' && unit !== 'weekend') return rolling(today, 1, unit)
  const step = which === 'this' || which === 'current' ? 0 : which === 'next' || which === 'coming' ? 1 : -1
  switch (unit) {
    case 'week':
      return { from: mondayOf(today) + 7 * step, to: mondayOf(today) + 7 * step + 6 }
    case 'weekend': {
      const saturday = mondayOf(today) + 5 + 7 * step
      return { from: saturday, to: saturday + 1 }
    }
    case 'month':
      return month(yearOf(today), monthOf(today) + step)
    case 'quarter': {
      const first = dayNumber(yearOf(today), (Math.ceil(monthOf(today) / 3) + step) * 3 - 2, 1)
      return quarter(yearOf(first), Math.ceil(monthOf(first) / 3))
    }
    default:
      return year(yearOf(today) + step)
  }
}

function weekday(which: string, wanted: number, today: number): number {
  const since = (weekdayOf(today) - wanted + 7) % 7
  if (which === 'next') return today + (7 - since)
  if (which === 'this') return mondayOf(today) + ((wanted + 6) % 7)
  return which === 'last' || which === 'past' ? today - (since || 7) : today - since
}

/** A month that stands alone behind a word that makes it one. */
function named(which: string, name: string, today: number): Span | undefined {
  const lower = name === name.toLowerCase()
  const short = name.length <= 4 && !/^(?:may|june|july)$/i.test(name)
  // "this may fail", "the last may be": only what nobody says of a verb
  if (lower && (short || (isWord(name) && !/^(?:in|during|throughout|since|early|mid|late)$/.test(which))))
    return undefined
  const m = monthNamed(name)
  const now = monthOf(today)
  const y = yearOf(today)
  if (which === 'this') return month(y, m)
  if (which === 'next') return month(y + (m > now ? 0 : 1), m)
  if (which === 'last') return month(y - (m < now ? 0 : 1), m)
  return month(latestYear(m, today), m, true)
}

const OPEN =
  /\b(since|after|before|until|till|by)\s+(?:the\s+)?(?:(?:early|mid|late|end\s+of|start\s+of|beginning\s+of)[\s-]+)?$/i
const FROM = /\b(?:from|between)\s+(?:the\s+)?$/i
const TO = /^\s*(?:-|–|to|until|till|through|and)\s+(?:the\s+)?$/i

/**
 * The expressions of time in a question, seen from `now`: what "last week", "in March" or "on 8 May 2023" mean, as
 * days in UTC. A month without a year is the latest one that has begun. Ordinary words that look like them ("it may",
 * "march on", "a second") are none. For raising what fits, never for leaving out what does not.
 */
export function datesIn(question: string, now: number): DateExpression[] {
  const asked = question.slice(0, MAX_QUESTION)
  if (!HINT.test(asked)) return []
  const today = Math.floor(now / DAY_MS)
  const found: (Span & { at: number; end: number })[] = []
  for (const { match, read } of PATTERNS) {
    for (const m of asked.matchAll(match)) {
      const [at, end] = [m.index, m.index + m[0].length]
      if (found.some((f) => at < f.end && f.at < end)) continue
      const span = read(m, today, asked.slice(end, end + 40))
      if (span) found.push({ ...span, at, end })
    }
  }
  found.sort((a, b) => a.at - b.at)
  const out: DateExpression[] = []
  for (let i = 0; i < found.length; i++) {
    let f = found[i]!
    const lead = asked.slice(Math.max(0, f.at - 24), f.at)
    const next = found[i + 1]
    if (next && FROM.test(lead) && TO.test(asked.slice(f.end, next.at)) && f.from <= next.to) {
      f = { from: f.from, to: next.to, at: f.at, end: next.end }
      i++
    }
    const open = OPEN.exec(lead)?.[1]?.toLowerCase()
    const range = open === undefined ? { from: iso(f.from), to: iso(f.to) } : opened(open, f, today)
    const text = asked.slice(f.at, f.end)
    out.push({ text, ...range, anyYear: open === undefined && f.anyYear === true })
  }
  return out
}

function opened(word: string, f: Span, today: number): { from: string; to: string } {
  switch (word) {
    case 'since':
      return { from: iso(f.from), to: iso(Math.max(today, f.to)) }
    case 'after':
      return { from: iso(f.to + 1), to: LAST }
    case 'before':
      return { from: FIRST, to: iso(f.from - 1) }
    default:
      return { from: FIRST, to: iso(f.to) }
  }
}

/** How well a day (or a moment, by its day) fits: 1 within, 0.5 in another year where none was said, else 0. */
export function covers(x: DateExpression, day: string): number {
  const d = day.slice(0, 10)
  if (x.from <= d && d <= x.to) return 1
  return x.anyYear && x.from.slice(5) <= d.slice(5) && d.slice(5) <= x.to.slice(5) ? 0.5 : 0
}
