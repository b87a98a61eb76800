import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hashOf, PATTERNS, termsOf, textParts } from './terms.ts'

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

test('words that are found where they stand are those that the patterns find', () => {
  const piece = fc.oneof(
    fc.constantFrom(..." \n\t.,;:!?'’-_/+#@$("),
    fc.constantFrom(
      'the',
      'The',
      'stores',
      'runningOut',
      'C++',
      'v2',
      'naïve',
      'word',
      'a',
      'b'.repeat(64),
      'b'.repeat(65),
    ),
    fc.string({ unit: 'grapheme', maxLength: 3 }),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const text = pieces.join('')
      expect(textParts(text, 1_000).hashes).toEqual(termsOf(text).map((t) => hashOf(t.stem)))
    }),
    { numRuns: 3_000 },
  )
  // two words whose place is the same
  const many = Array.from({ length: 40_000 }, (_, i) => [...i.toString(8)].map((d) => 'bcdfghjk'[Number(d)]).join('e'))
  for (const part of [many, many.slice(0, 5_000)])
    expect(textParts(part.join(' '), 50_000).hashes).toEqual(termsOf(part.join(' ')).map((t) => hashOf(t.stem)))
})
