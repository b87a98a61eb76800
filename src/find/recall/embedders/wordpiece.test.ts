import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseTable, tablePath } from './static.ts'
import { indexPieces, wordPiece } from './wordpiece.ts'

const { encode } = parseTable(readFileSync(tablePath()))

/** Texts, and the ids that Hugging Face's tokenizers 0.22 gives for them with the tokenizer.json of MiniLM. */
const fixture: [text: string, ids: number[]][] = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../../test/fixtures/wordpiece.json'), 'utf8'),
)

test('[V1] ids are those of the tokenizer that the model was trained with', () => {
  expect(fixture.length).toBeGreaterThan(150)
  for (const [text, ids] of fixture) expect(encode(text), text).toEqual(ids)
})

describe('[V2] a small vocabulary', () => {
  const pieces = ['[UNK]', 'a', 'b', 'ab', '##b', '##bc', '##', '#', '測', 'cafe', '##é', 'σ', '##σ', '-']
  const small = wordPiece(indexPieces(pieces.join('\n')), 0)
  const split = (text: string) => small(text).map((id) => pieces[id])

  test.each([
    ['longest first', 'abb', ['ab', '##b']],
    ['a part that no piece fits makes the word unknown', 'abx b', ['[UNK]', 'b']],
    ['accents and case go', 'CAFÉ', ['cafe']],
    ['ideographs are words', 'a測b', ['a', '測', 'b']],
    ['marks of punctuation are words', 'a-b#', ['a', '-', 'b', '#']],
    ['a final sigma is a sigma', 'ΣΣ', ['σ', '##σ']],
    ['what cannot be seen goes', 'a\u0000\u200b\u00adb', ['ab']],
    ['any white space separates', 'a\u3000b\u2028a\tb', ['a', 'b', 'a', 'b']],
    ['nothing is nothing', ' \n ', []],
    ['a hundred letters are a word', 'b'.repeat(100), ['b', ...Array(99).fill('##b')]],
    ['one more is unknown', 'b'.repeat(101), ['[UNK]']],
  ])('%s', (_, text, expected) => {
    expect(split(text)).toEqual(expected)
  })

  test('stops after the limit', () => {
    expect(small('abb abb abb', 3)).toEqual(small('abb abb abb').slice(0, 3))
  })
})

test('[V3] any string splits, into ids of the vocabulary, and the same when it is longer', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.nat(20), (text, limit) => {
      const ids = encode(text)
      for (const id of ids) expect(id >= 0 && id < 30522).toBe(true)
      expect(encode(text, limit)).toEqual(ids.slice(0, limit))
      expect(encode(`${text} and`)).toEqual([...ids, ...encode('and')])
    }),
  )
})

test('[V4] 100 kB take time linear in their length, whatever they hold', () => {
  const letters = Array.from({ length: 99 }, (_, i) => String.fromCharCode(97 + ((i * 7919) % 26))).join('')
  const texts = {
    prose: 'The retry budget of the payment service is three attempts, then it gives up. '.repeat(1300),
    gibberish: `${letters} `.repeat(1000),
    'one word': 'x'.repeat(100_000),
    marks: '\u0301\u0323'.repeat(25_000),
    'marks that take room': '\u302e\u{1d165}'.repeat(14_000),
    punctuation: '#'.repeat(100_000),
    ideographs: '測試'.repeat(16_700),
    'halves of pairs': '\ud800'.repeat(33_000),
  }
  encode(texts.prose)
  for (const [what, text] of Object.entries(texts)) {
    const took = Array.from({ length: 5 }, () => {
      const start = performance.now()
      encode(text)
      return performance.now() - start
    })
    // 5 to 20 ms where nothing else runs (`npm run bench -- embedders` holds it to 50); what was quadratic took seconds
    expect(Math.min(...took), what).toBeLessThan(500)
  }
})
