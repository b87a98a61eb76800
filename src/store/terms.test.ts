import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PATTERNS } from './terms.ts'

test('the patterns for plain text find in it what those for Unicode find', () => {
  const { ascii, unicode } = PATTERNS
  const piece = fc.oneof(
    fc.string({ maxLength: 3 }),
    fc.constantFrom(...'·–—‘’“”•…→'),
    fc.constantFrom(
      'a',
      'Bc',
      'ID',
      '7',
      '_',
      '$',
      '-',
      '--',
      '.',
      '/',
      '\\',
      '::',
      ':',
      '#',
      '+',
      '++',
      '@',
      "'",
      ' ',
    ),
  )
  const text = fc.array(piece, { maxLength: 12 }).map((p) => p.join(''))
  const found = (pattern: RegExp, said: string) => [
    ...said.matchAll(new RegExp(pattern, `${pattern.flags.replace('g', '')}g`)),
  ]
  fc.assert(
    fc.property(text, (said) => {
      for (const name of Object.keys(ascii) as (keyof typeof ascii)[])
        expect([name, ...found(ascii[name], said).map((m) => [...m, m.index])]).toEqual([
          name,
          ...found(unicode[name], said).map((m) => [...m, m.index]),
        ])
    }),
    { numRuns: 2_000 },
  )
})
