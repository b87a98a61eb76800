import { describe, expect, test } from 'vitest'
import { spanOf } from './dates.ts'

/** A Saturday. */
const NOW = Date.parse('2026-11-21T09:30:00Z')

const UNDERSTOOD: readonly (readonly string[])[] = [
  ['today', '2026-11-21'],
  ['Yesterday', '2026-11-20'],
  ['last week', '2026-11-09', '2026-11-15'],
  ['this  week', '2026-11-16', '2026-11-22'],
  ['the past week', '2026-11-14', '2026-11-21'],
  ['the last 30 days', '2026-10-22', '2026-11-21'],
  ['past two weeks', '2026-11-07', '2026-11-21'],
  ['three days ago', '2026-11-18'],
  ['two weeks ago', '2026-11-04', '2026-11-10'],
  ['a month ago', '2026-10-01', '2026-10-31'],
  ['13 months ago', '2025-10-01', '2025-10-31'],
  ['two years ago', '2024-01-01', '2024-12-31'],
  ['last month', '2026-10-01', '2026-10-31'],
  ['this month', '2026-11-01', '2026-11-30'],
  ['last year', '2025-01-01', '2025-12-31'],
  ['since Monday', '2026-11-16'],
  ['Saturday', '2026-11-21'],
  ['last Saturday', '2026-11-14'],
  ['this Sunday', '2026-11-22'],
  ['March', '2026-03-01', '2026-03-31'],
  ['in december', '2025-12-01', '2025-12-31'],
  ['march of 2024', '2024-03-01', '2024-03-31'],
  ['8 May, 2023', '2023-05-08'],
  ['the 8th of May', '2026-05-08'],
  ['May 8th, 2023', '2023-05-08'],
  ['Dec 24', '2025-12-24'],
  ['2024/03/15', '2024-03-15'],
  ['2024-03', '2024-03-01', '2024-03-31'],
  ['2023', '2023-01-01', '2023-12-31'],
]

const NO_TIMES = [
  'tomorrow',
  'next week',
  'it may fail',
  'march on Washington',
  'a second attempt',
  'port 2023',
  'version 2024.3.1',
  '2024-02-30',
  '2024-13',
  '31 February 2024',
  'week',
  'ago',
  'release of last week',
  '3000 days ago',
  '',
]

describe('words for days', () => {
  test.each(UNDERSTOOD)('%s', (phrase, from, to = from) => {
    expect(spanOf(phrase!, NOW)).toEqual({ from, to })
  })

  test.each(NO_TIMES)('no time: %s', (phrase) => {
    expect(spanOf(phrase, NOW)).toBeUndefined()
  })
})
