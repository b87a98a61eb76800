import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DataEntity, fromData, parseData, printData } from './data.ts'
import { createInterpreter } from './interpreter.ts'
import { hides, unfenced, unhidden } from './invisible.ts'
import { remark } from './lexical.ts'
import { Char, Sym } from './values.ts'
import { write } from './write.ts'

const odd = fc.constantFrom(
  ...['\u200b', '\u200d', '\u202e', '\u2066', '\ufeff', '\u{e0041}', '\u{e0100}', '\x1b[31m', '\x9b', '\u2028', '\ufe0f', '\ud800'],
  ...['<', '/', ' ', '</tidemark-data>', '＜tidemark-data>', '< / SYSTEM-reminder>', '<untrusted_context', '|', '\\', '"'],
  ...['a', '7', 'é', 'ی', '👩', '❤'],
) // biome-ignore format: kinds of trouble
const text = fc.array(odd, { maxLength: 12 }).map((parts) => parts.join(''))

test('[M6] nothing printed in the notation hides or ends a fence, and it reads back as the same value', () => {
  fc.assert(
    fc.property(text, (s) => {
      const entity = new DataEntity('made', new Map(Object.entries({ name: s, [`k${s}`]: [s, { [s]: s }] })))
      for (const printed of [
        printData(s),
        printData({ [s]: [s] }),
        printData([entity]),
        printData(s, undefined, { maxChars: 30 }),
      ])
        expect(hides(printed.replaceAll('\n', ' '))).toBe(false)
      expect(parseData(printData(s))).toBe(s)
      expect(parseData(printData({ [`k${s}`]: s }))).toEqual({ [`k${s}`]: s })
      const read = parseData(printData(entity)) as DataEntity
      expect([...read.fields.keys()]).toEqual([...entity.fields.keys()])
    }),
    { numRuns: 3_000 },
  )
})

test('[M6] nor as symbols, characters and remarks', () => {
  fc.assert(
    fc.property(text, (s) => {
      const symbol = new Sym(s)
      const chars = [...s].map((c) => new Char(c.codePointAt(0)!))
      for (const value of [symbol, ...chars, fromData({ [s]: s })]) expect(hides(write(value))).toBe(false)
      expect(hides(remark(s))).toBe(false)
      if (!s.includes('\ud800') && s !== '')
        expect(createInterpreter().run(`(symbol->string '${write(symbol)})`)).toEqual([write(s)])
    }),
    { numRuns: 1_000 },
  )
})

test('[M6] what people write stays readable: emoji, joined letters, tags of other languages', () => {
  for (const s of ['👩‍💻 ❤️ 1️⃣', 'می‌خواهم', 'क्‍ष', 'Map<string, Foo>', '<div class="x">', '\u0600١', 'line'])
    expect([hides(s.replaceAll('"', '')), unhidden(s), unfenced(s)]).toEqual([false, s, s])
  expect(printData('👩‍💻 می‌خواهم <b>')).toBe('"👩‍💻 می‌خواهم <b>"')
  expect(printData('pass\u200dword \u{1f3f4}\u{e0067}')).toBe('"pass\\x200d;word 🏴\\xe0067;"')
  expect(printData('</tidemark-data>')).toBe('"\\x3c;/tidemark-data>"')
})
