import { toTime } from '../model/validate.ts'

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const MONTH =
  '(?<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\.?'
const DAY = '(?<day>\\d{1,2})(?:st|nd|rd|th)?'
const YEAR = '(?<year>\\d{4})(?!\\d)'
const GAP = '[\\s,./-]+'

/** The forms in which people and programs write a day; months in words first, for they leave no doubt. */
const DAYS = [
  `(?<!\\d)${DAY}(?:${GAP}|\\s+of\\s+)${MONTH}${GAP}${YEAR}`,
  `\\b${MONTH}${GAP}(?:the\\s+)?${DAY}${GAP}${YEAR}`,
  `(?<!\\d)${YEAR}${GAP}${MONTH}${GAP}${DAY}(?!\\d)`,
  `(?<!\\d)${YEAR}[./-](?<number>\\d{1,2})[./-](?<day>\\d{1,2})(?!\\d)`,
  `(?<!\\d)(?<day>\\d{1,2})\\.(?<number>\\d{1,2})\\.${YEAR}`,
].map((form) => new RegExp(form, 'i'))

/** `05/08/2023` is May to some and August to others: understood only where one of the two cannot be a month. */
const SLASHED = /(?<!\d)(?<one>\d{1,2})[/-](?<two>\d{1,2})[/-](?<year>\d{4})(?!\d)/

const CLOCK =
  /(?<!\d)(?<hour>\d{1,2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:\.\d+)?)?(?!\d)\s*(?<half>[ap]\.?m\b\.?)?/i
const ZONE = /(?:\b(?:utc|gmt|z)\b)?\s{0,3}(?<offset>[+-]\d{2}:?\d{2})(?!\d)|\b(?:utc|gmt|z)\b/i
/** What may stand around a day and an hour without changing what they mean. */
const AROUND =
  /\b(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?|on|at|the|of|t)\b|[\s,.;:()[\]|-]+/gi

interface Day {
  year: number
  month: number
  day: number
  rest: string
}

function dayIn(textValue: string): Day | undefined {
  const without = (m: RegExpExecArray) => `${textValue.slice(0, m.index)} ${textValue.slice(m.index + m[0].length)}`
  for (const form of DAYS) {
    const m = form.exec(textValue)
    if (!m) continue
    const { year, month, number, day } = m.groups!
    const at = month === undefined ? Number(number) : MONTHS.indexOf(month.slice(0, 3).toLowerCase()) + 1
    return { year: Number(year), month: at, day: Number(day), rest: without(m) }
  }
  const m = SLASHED.exec(textValue)
  if (!m) return undefined
  const [one, two, year] = [Number(m.groups!.one), Number(m.groups!.two), Number(m.groups!.year)]
  if (one > 12 && two <= 12) return { year, month: two, day: one, rest: without(m) }
  if (two > 12 || one === two) return { year, month: one, day: two, rest: without(m) }
  return undefined
}

const pad = (n: number) => String(n).padStart(2, '0')

/**
 * When something was said, from the words of an export: `1:56 pm on 8 May, 2023`, `March-15-2024`, `2023/05/20 (Sat)
 * 02:21`. A day stays a day; an hour without a zone counts as UTC. Nothing where the words could mean something else.
 */
export function saidDate(words: string): string | undefined {
  const textValue = words.trim()
  if (/^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})?)?$/i.test(textValue)) {
    const local = /T[\d:.]+$/i.test(textValue) ? `${textValue}Z` : textValue
    return toTime(local)
  }
  const found = dayIn(textValue)
  if (!found) return undefined
  const day = `${found.year}-${pad(found.month)}-${pad(found.day)}`
  if (toTime(day) !== day) return undefined // the 31st of February
  const clock = CLOCK.exec(found.rest)
  const zone = clock && ZONE.exec(found.rest.replace(clock[0], ' '))
  let rest = found.rest
  for (const part of [clock?.[0], zone?.[0]]) if (part) rest = rest.replace(part, ' ')
  if (rest.replace(AROUND, '') !== '') return undefined
  if (!clock) return day
  const { hour = '', minute = '', second = '00', half } = clock.groups!
  const said = Number(hour)
  if (half !== undefined && (said < 1 || said > 12)) return undefined
  const at = half === undefined ? said : (said % 12) + (/^p/i.test(half) ? 12 : 0)
  return toTime(`${day}T${pad(at)}:${minute}:${second}${zone?.groups?.offset ?? 'Z'}`)
}
