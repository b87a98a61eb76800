import { expect, test } from 'vitest'
import { saidDate } from './dialogue-date.ts'

test.each([
  ['1:56 pm on 8 May, 2023', '2023-05-08T13:56:00.000Z'],
  ['12:09 am on 13 September, 2023', '2023-09-13T00:09:00.000Z'],
  ['12:30 p.m. on 1 January, 2024', '2024-01-01T12:30:00.000Z'],
  ['March-15-2024', '2024-03-15'],
  ['May-5-2024', '2024-05-05'],
  ['2025-01-15', '2025-01-15'],
  ['2025-01-15T09:30:00Z', '2025-01-15T09:30:00.000Z'],
  ['2025-01-15T09:30', '2025-01-15T09:30:00.000Z'],
  ['2023/05/20 (Sat) 02:21', '2023-05-20T02:21:00.000Z'],
  ['Monday, the 3rd of July 2023 at 18:05', '2023-07-03T18:05:00.000Z'],
  ['Sept. 4th, 2021', '2021-09-04'],
  ['Wed, 15 Mar 2024 10:00:00 +0100', '2024-03-15T09:00:00.000Z'],
  ['2024-03-15 10:00 UTC', '2024-03-15T10:00:00.000Z'],
  ['15.3.2024', '2024-03-15'],
  ['25/12/2023', '2023-12-25'],
  ['12/25/2023', '2023-12-25'],
  ['2024 June 1', '2024-06-01'],
])('%s is understood', (words, moment) => expect(saidDate(words)).toBe(moment))

test.each([
  '',
  'yesterday',
  'May 2023',
  '2024-05',
  '05/08/2023',
  '31 February, 2023',
  '2023-02-31',
  '8 May 2023 to 9 May 2023',
  'some time after 8 May 2023',
  '25:00 on 8 May 2023',
  '13:56 pm on 8 May 2023',
  '99 May 2023',
  '8 May 20233',
])('%s is left as words', (words) => expect(saidDate(words)).toBeUndefined())
