import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Json } from '../model/field.ts'
import { type Line, parseLine, printLine, printReadable, seal, unsigned } from './line.ts'

const lineOf = (value: Json, author: Line['author']): Line =>
  seal({
    replica: 'z1',
    seq: 1,
    prev: '',
    at: 1e12,
    author,
    summary: 'a:b',
    updates: new Map([['a:b', new Uint8Array([1, 2, 3])]]),
    events: [{ entity: 'a:b', field: 'name', op: 'set', value, stamp: { ms: 1e12, ctr: 0, replica: 'z1' }, over: [] }],
    purges: [],
  })
const read = (text: string): Line | undefined => {
  try {
    return unsigned(parseLine(text))
  } catch {
    return undefined
  }
}
const value = fc.oneof(
  fc.jsonValue() as fc.Arbitrary<Json>,
  fc.constantFrom<Json>({ by: 1 }, 'sub', '\u0001', { h: { u: 1 } }),
)

test('[K10] a line that was read is kept as it is printed, in whichever form it came', () => {
  fc.assert(
    fc.property(value, fc.boolean(), (said, isSigned) => {
      const line = lineOf(said, { user: 'ana' })
      const sent: Line = isSigned ? { ...line, author: { ...line.author, key: 'k', sig: 's' }, substitute: true } : line
      for (const print of [printLine, printReadable]) {
        const got = read(print(sent))!
        expect(printLine(got)).toBe(printLine({ ...got }))
        expect(parseLine(printLine(got))).toEqual(got)
      }
    }),
  )
})

test('[K10] a line that says something twice, or in another order, is kept as what was read of it', () => {
  const line = lineOf('x', { user: 'ana' })
  const sent: Line = { ...line, author: { ...line.author, key: 'k', sig: 's' }, substitute: true }
  const twice = ['"by":{"user":"eve"}', '"b\\u0079":{"user":"ana","key":"k","sig":"s"}', '"by":{"user":"ana","key":"k","sig":"s"}', '"sub":"x"', '"h":"x"', '"n":1', '"n":2', '"u":{}', '"e":[]', ' "sum" : "a:b"'] // biome-ignore format: one row
  let kept = 0
  for (const text of [printReadable(line), printReadable(sent)]) {
    const places = [...text.matchAll(/(?<=[{,])"(?:v|at|u|e|h|by)"/g)].map((m) => m.index)
    for (const more of ['', ...twice])
      for (const at of places) {
        const got = read(more === '' ? text : `${text.slice(0, at)}${more},${text.slice(at)}`)
        if (!got) continue
        kept++
        expect(parseLine(printLine(got))).toEqual(got)
      }
    const { u, ...others } = JSON.parse(text)
    expect(parseLine(printLine(read(JSON.stringify({ ...others, u }))!))).toEqual(line)
  }
  expect(kept).toBeGreaterThan(40)
})
