// @module-tag property
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../test/runs.ts'
import { type Data, DataEntity, parseData, printData, type Shape, type Shapes } from './data.ts'
import { createInterpreter } from './interpreter.ts'

const declared: Shape[] = [
  {
    kind: 'principle',
    plural: 'principles',
    positional: ['name', 'description'],
    fields: ['name', 'description', 'confidence', 'locations', 'tags', 'attrs'],
  },
  {
    kind: 'correction',
    plural: 'corrections',
    positional: ['wrongBelief', 'rightBelief'],
    fields: ['wrongBelief', 'rightBelief', 'impact'],
  },
  { kind: 'hypothesis', plural: 'hypotheses', positional: ['text'], fields: ['text', 'status'] },
  { kind: 'relationship', plural: 'relationships', positional: [], fields: ['from', 'to', 'type'] },
]
const shapes: Shapes = {
  byKind: (kind) => declared.find((shape) => shape.kind === kind),
  byPlural: (plural) => declared.find((shape) => shape.plural === plural),
}
const entity = (kind: string, fields: Record<string, Data>): DataEntity =>
  new DataEntity(kind, new Map(Object.entries(fields)))
const print = (data: Data): string => printData(data, shapes)

/** Equal as JSON is: objects by their own keys whatever their prototype, −0 as 0. */
function same(a: unknown, b: unknown): boolean {
  if (a instanceof DataEntity || b instanceof DataEntity) {
    if (!(a instanceof DataEntity && b instanceof DataEntity) || a.kind !== b.kind || a.fields.size !== b.fields.size)
      return false
    return [...a.fields].every(([key, value]) => b.fields.has(key) && same(value, b.fields.get(key)))
  }
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => same(item, b[i]))
  if (typeof a === 'object' && a !== null) {
    if (typeof b !== 'object' || b === null || Array.isArray(b)) return false
    const keys = Object.keys(a)
    if (keys.length !== Object.keys(b).length) return false
    return keys.every(
      (key) => Object.hasOwn(b, key) && same((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
    )
  }
  return a === b
}

test.each<[Data, string]>([
  [[1, 2, 3], '[1 2 3]'],
  [{ x: 10, y: 20 }, '{:x 10 :y 20}'],
  [[], '[]'],
  [{}, '{}'],
  [null, 'nil'],
  [true, '#t'],
  [false, '#f'],
  ['hello', '"hello"'],
  ['with space', '"with space"'],
  ['a"b\\c\nd\te\rf\x01g', '"a\\"b\\\\c\\nd\\te\\rf\\x1;g"'],
  [['a', { b: ['c'] }], '["a" {:b ["c"]}]'],
  [1e21, '1e21'],
  [-0, '0'],
  [0.1, '0.1'],
  [-1.5e-9, '-1.5e-9'],
  [
    { 'a b': 1, '': 2, 'x|y\\z': 3, '1': 4, __proto: 5, ünï: 6 },
    '{:1 4 :|a b| 1 :|| 2 :|x\\|y\\\\z| 3 :__proto 5 :|ünï| 6}',
  ],
])('[S0] %j prints as %s', (data, wanted) => {
  expect(print(data)).toBe(wanted)
  expect(same(parseData(wanted, shapes), data === 0 ? 0 : data)).toBe(true)
})

test.each(['1.0', 'nil', 'true', ':k', '12n', '', '_', '#t', 'A', 'a--b', '-a', '1a', 'a b', '|', 'é', '[x]', 'a-'])(
  '[S1] %j is quoted even where words may stand bare',
  (text) => {
    expect(print(entity('principle', { name: 'n', tags: [text] }))).toBe(
      `(principle "n" :tags [${JSON.stringify(text)}])`,
    )
  },
)

test.each(['architecture', 'a-b', 'src/a.ts', 'v1.2', 'a1/b2-c3', 'snake_case'])(
  '[S0] %s stands bare in a field, and quoted elsewhere',
  (text) => {
    expect(print(entity('principle', { name: text, tags: text }))).toBe(`(principle "${text}" :tags ${text})`)
    expect(print([text])).toBe(`["${text}"]`)
  },
)

test('[S2] an entity prints its positional fields, then the others in declared order, absent ones omitted', () => {
  const full = entity('principle', {
    tags: ['architecture'],
    confidence: 0.95,
    name: 'name',
    description: 'description',
    locations: ['README.md:12'],
  })
  expect(print(full)).toBe(
    '(principle "name" "description" :confidence 0.95 :locations ["README.md:12"] :tags [architecture])',
  )
  expect(print(entity('principle', { name: 'n', zeta: 1, confidence: null }))).toBe(
    '(principle "n" :confidence nil :zeta 1)',
  )
  expect(print(entity('principle', { description: 'd', confidence: 1 }))).toBe(
    '(principle :description d :confidence 1)',
  )
  expect(print(entity('relationship', { type: 'cites', from: 'a', to: 'b' }))).toBe(
    '(relationship :from a :to b :type cites)',
  )
  expect(print(entity('unheard-of', { name: 'x y' }))).toBe('(unheard-of :name "x y")')
  expect(print(entity('principle', {}))).toBe('(principle)')
  expect(print(entity('error', { message: 'm', hint: 'h' }))).toBe('(error "m" :hint h)')
  expect(print([full, full].map(() => entity('principle', { name: 'n' })))).toBe('[(principle "n") (principle "n")]')
})

test('[S4] three or more of one kind print as a table that reads back as the same entities', () => {
  const rows = [
    entity('principle', { name: 'a', confidence: 0.9, tags: ['x', 'y'] }),
    entity('principle', { name: 'b', confidence: 0.8 }),
    entity('principle', { name: 'c', tags: null, odd: true }),
  ]
  const printed = print(rows)
  expect(printed).toBe('(principles [:name :confidence :tags :odd] ["a" 0.9 [x y] _] ["b" 0.8 _ _] ["c" _ nil #t])')
  expect(same(parseData(printed, shapes), rows)).toBe(true)
  expect(print(rows.slice(1))).toMatch(/^\[\(principle "b"/)
})

test('[S4] a table is chosen only where it is not longer', () => {
  const sparse = ['a', 'b', 'c', 'd', 'e', 'f'].map((name, i) => entity('principle', { [`f${i}`]: name }))
  expect(print(sparse)).toMatch(/^\[\(principle /)
  expect(
    print([
      entity('principle', { name: 'a' }),
      entity('hypothesis', { text: 'b' }),
      entity('principle', { name: 'c' }),
    ]),
  ).toMatch(/^\[/)
})

test('[S4] tables cost less than minified JSON grouped by kind', () => {
  const rows = Array.from({ length: 12 }, (_, i) => ({
    name: `principle-${i}`,
    confidence: 0.5 + i / 100,
    tags: ['testing', 'ci'],
  }))
  const json = JSON.stringify({ principles: rows })
  expect(print(rows.map((row) => entity('principle', row))).length).toBeLessThan(json.length * 0.8)
})

test('[S0] the reader skips comments and refuses what is not data, saying where', () => {
  expect(parseData('#| +3 more |# [1 ; two\n 2 #| end |#]')).toEqual([1, 2])
  for (const text of [
    '',
    '[1',
    '[1 2',
    '{:a}',
    '{a 1}',
    '"open',
    ')',
    '1 2',
    '_',
    ':k',
    '#<procedure car>',
    '(principle "a" "b" "c")',
    '(principle :name)',
    '(principles [:name] ["a" "b"])',
    '(principles [name])',
    '#| open',
    '"\\q"',
    '[1 . 2',
    '1/2',
    '+inf.0',
  ])
    expect(() => parseData(text, shapes), text).toThrow(/cannot read this data/)
  expect(() => parseData('['.repeat(1_000_000))).toThrow(/nested deeper/)
})

test('[S0] what a query prints reads too: lists, vectors, characters', () => {
  expect(parseData('("a" (b c) #(1 2) #\\x () (1 . 2.5e0))'.replace(' (1 . 2.5e0)', ''))).toEqual([
    'a',
    ['b', 'c'],
    [1, 2],
    'x',
    [],
  ])
})

const key = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.string({ unit: 'binary', maxLength: 4 }).filter((s) => s.isWellFormed()),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    '1',
    '',
    'nil',
    'name',
    'description',
    'tags',
    'confidence',
    'text',
    '_',
    '#t',
    '|',
    'a|b',
    ':',
    '.',
    '-1',
    'length',
  ),
)
const text = fc.oneof(
  key,
  fc.constantFrom(
    'a',
    'a-b',
    'x/y.ts',
    'nil',
    'true',
    '1.0',
    ':k',
    '12n',
    '"',
    '\\',
    '|#',
    '#|',
    ';',
    '\n',
    '…',
    '\u2028',
    '\ufeff',
    '\x7f',
  ),
  fc.string({ unit: 'grapheme-composite', maxLength: 12 }),
)
const number = fc
  .oneof(
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(0, -0, 1e21, 1e-7, 2 ** 53, -(2 ** 60), 5e-324, 1.7976931348623157e308),
  )
  .map((n) => (n === 0 ? 0 : n))
const { value, node } = fc.letrec<{ value: Data; node: DataEntity }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'xsmall', withCrossShrink: true },
    fc.oneof(fc.constant(null), fc.boolean(), number, text),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map((entries) => {
      const record: Record<string, Data> = Object.create(null)
      for (const [k, v] of entries) record[k] = v as Data
      return record
    }),
    tie('node'),
    fc.array(tie('node'), { minLength: 3, maxLength: 5 }),
    fc
      .tuple(
        fc.constantFrom('principle', 'hypothesis'),
        fc.array(fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }), { minLength: 3, maxLength: 6 }),
      )
      .map(([kind, rows]) => rows.map((row) => new DataEntity(kind, new Map(row as [string, Data][])))),
  ) as fc.Arbitrary<Data>,
  node: fc
    .tuple(
      fc.oneof(
        fc.constantFrom(
          'principle',
          'correction',
          'hypothesis',
          'relationship',
          'error',
          'unknown',
          'principles',
          'odd kind',
          '',
        ),
        key,
      ),
      fc.array(fc.tuple(key, tie('value')), { maxLength: 5 }),
    )
    .map(([kind, fields]) => new DataEntity(kind, new Map(fields as [string, Data][]))),
}))

const numRuns = runs(2_000, 20_000)

test('[S1] print then parse gives the same value for any JSON value, entity and table', () => {
  fc.assert(
    fc.property(fc.oneof(value, node), (data) => {
      const printed = print(data)
      return same(parseData(printed, shapes), data) && !/\n\n/.test(printed)
    }),
    { numRuns },
  )
})

test('[S1] plain JSON of any kind survives, without any shapes', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (json) => {
      const data = JSON.parse(JSON.stringify(json)) as Data
      return same(parseData(printData(data)), data)
    }),
    { numRuns: numRuns / 4 },
  )
})

test('[D7] whatever the room, what is printed fits and still parses', () => {
  fc.assert(
    fc.property(fc.oneof(value, node), fc.integer({ min: 40, max: 300 }), (data, room) => {
      const printed = printData(data, shapes, { maxChars: room })
      parseData(printed, shapes)
      return printed.length <= room
    }),
    { numRuns: numRuns / 4 },
  )
})

test('[S1] (parse-data …) in a program reads back what a program printed', () => {
  const interpreter = createInterpreter({ shapes })
  const source = '(principles [:name :tags] ["a" [x y]] ["b" _] ["c" nil])'
  expect(interpreter.run(`(parse-data ${JSON.stringify(source)})`)).toEqual([source])
  expect(interpreter.run('(parse-data "[1 2.5 {:a nil} \\"b c\\"]")')).toEqual(['(1 2.5 {:a nil} "b c")'])
  expect(interpreter.run('(parse-data "[1")')[0]).toMatch(/^\(error "cannot read this data/)
  expect(interpreter.run('(map :name (parse-data "(principles [:name] [\\"a\\"] [\\"b\\"])"))')).toEqual(['("a" "b")'])
})

test.each<[string, (i: number) => string]>([
  ['tables', () => 'tags'],
  ['sequences, where a table would be longer,', (i) => `a-field-of-its-own-${i}`],
])('[D5] %s within each other are laid out in reasonable time', (_, field) => {
  let data: Data = 'x'
  for (let i = 0; i < 100; i++) {
    const inner: Data = data
    data = ['a', 'b', 'c'].map(
      (name, j): Data => entity('principle', j === 0 ? { [field(j)]: inner } : { [field(j)]: name }),
    )
  }
  const start = performance.now()
  expect(same(parseData(print(data), shapes), data)).toBe(true)
  expect(performance.now() - start).toBeLessThan(2_000)
})
