import { expect, test } from 'vitest'
import { DataEntity, fromData, parseData, type Shape, type Shapes } from './data.ts'
import { createInterpreter } from './interpreter.ts'
import { printLimited } from './layout.ts'
import { Reader } from './reader.ts'
import { Entity, list } from './values.ts'
import { layoutValue, write } from './write.ts'

const shape: Shape = {
  kind: 'principle',
  plural: 'principles',
  positional: ['name', 'description'],
  fields: ['name', 'description', 'confidence', 'tags'],
}
const shapes: Shapes = {
  byKind: (kind) => (kind === 'principle' ? shape : undefined),
  byPlural: (plural) => (plural === 'principles' ? shape : undefined),
}
const principles = (n: number, body = ''): DataEntity[] =>
  Array.from(
    { length: n },
    (_, i) =>
      new DataEntity(
        'principle',
        new Map<string, string | number | string[]>([
          ['name', `p${i}`],
          ['description', `the ${i}th ${body}`],
          ['confidence', 0.5],
          ['tags', ['x', 'y']],
        ]),
      ),
  )

const interpreter = createInterpreter({
  shapes,
  functions: { '(some n [size])': ([n, size]) => fromData(principles(Number(n), 'w '.repeat(Number(size ?? 1)))) },
})

test('[S0] Scheme values print as write prints them, entities and tables in the data grammar', () => {
  expect(
    interpreter.run('(list \'a "b" #\\c :d 1 2.0 nil #t (list) (vector 1) {:k \'v}) (some 2) (map :name (some 3))'),
  ).toEqual([
    '(a "b" #\\c :d 1 2.0 nil #t () #(1) {:k v})',
    '((principle "p0" "the 0th w " :confidence 0.5 :tags [x y])\n(principle "p1" "the 1th w " :confidence 0.5 :tags [x y]))',
    '("p0" "p1" "p2")',
  ])
  expect(interpreter.run('(car (some 1))')).toEqual(['(principle "p0" "the 0th w " :confidence 0.5 :tags [x y])'])
})

test('[S4] a list of three entities of one kind is a table in a result too', () => {
  const [printed] = interpreter.run('(some 3)')
  expect(printed).toBe(
    '(principles [:name :description :confidence :tags]\n["p0" "the 0th w " 0.5 [x y]]\n["p1" "the 1th w " 0.5 [x y]]\n["p2" "the 2th w " 0.5 [x y]])',
  )
  expect(parseData(printed!, shapes)).toHaveLength(3)
})

test('[D7] a list too long is cut with a count of what was left out, and parses', () => {
  const [printed] = interpreter.run('(some 1000 40)')
  expect(printed!.length).toBeLessThanOrEqual(40_000)
  const left = /#\| \+(\d+) more of 1000 \|#/.exec(printed!)
  expect((parseData(printed!, shapes) as unknown[]).length + Number(left![1])).toBe(1000)
})

test('[D7] siblings are cut fairly: both of two large ones appear, small ones whole', () => {
  const [printed] = interpreter.run('(list (some 1000 40) 7 "small" (some 1000 40))')
  expect(printed!.length).toBeLessThanOrEqual(40_000)
  expect(printed!.match(/more of 1000/g)).toHaveLength(2)
  expect(printed).toContain(' 7\n'.trim())
  expect(printed).toContain('"small"')
  const [first, seven, small, second] = parseData(printed!, shapes) as unknown[][]
  expect([seven, small]).toEqual([7, 'small'])
  expect(Math.abs(first!.length - second!.length)).toBeLessThanOrEqual(2)
  expect(first!.length).toBeGreaterThan(100)
})

test('[D7] forms share the output: a small one after a huge one is whole', () => {
  const printed = interpreter.run('(iota 100000) (+ 1 1) (make-string 100000 #\\x) (iota 20)')
  expect(printed.join('\n').length).toBeLessThanOrEqual(40_000)
  expect(printed[1]).toBe('2')
  expect(printed[3]).toContain(' 19)')
  expect(printed[0]!.length).toBeGreaterThan(15_000)
  expect(printed[2]!.length).toBeGreaterThan(15_000)
  expect(printed[2]).toMatch(/x…" #\| \+\d+ characters \|#$/)
})

test('[D7] what is cut still reads, at every width and shape', () => {
  const values = [
    fromData(principles(50, 'word '.repeat(30))),
    fromData([
      principles(3),
      { a: principles(20), b: 'x'.repeat(500), 'odd key |#': [1, 2, 3] },
      ['"'.repeat(300), '\\'.repeat(300), '\n'.repeat(300), '😀'.repeat(200)],
    ]),
    fromData({ deep: [[[[[[['a'.repeat(1000)]]]]]]] }),
    fromData(Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`key-${i}`, i]))),
    fromData([1n << 4000n, 'small', { ['k'.repeat(500)]: 1, b: 2 }]),
    new Reader(`'(a . ${'(b c) '.repeat(100).replace(/ $/, '')})`.replace('(a . ', '(a ')).next()!.form,
  ]
  for (const value of values) {
    const whole = write(value, shapes).length
    for (let room = 40; room < Math.min(whole + 10, 3_000); room += 7) {
      const printed = printLimited(layoutValue(value, shapes, room), room)
      expect(printed.length).toBeLessThanOrEqual(room)
      parseData(printed, shapes)
    }
    expect(printLimited(layoutValue(value, shapes, whole), whole)).toBe(write(value, shapes))
  }
})

test('[D7] cutting a list of millions costs what is shown', () => {
  const start = performance.now()
  const [printed] = createInterpreter().run('(iota 900000)')
  expect(printed).toMatch(/more of 900000/)
  expect(performance.now() - start).toBeLessThan(10_000)
})

test('[D7] of a long list of entities none is read twice, and none that there is no room for', () => {
  for (const size of [1, 40]) {
    const read: number[] = []
    const fieldsOf = (i: number) => {
      read.push(i)
      return new Map([
        ['name', `p${i}`],
        [i === 5 ? 'odd' : 'description', 'w '.repeat(size)],
      ])
    }
    const all = Array.from({ length: 5_000 }, (_, i) => new Entity('principle', () => fieldsOf(i)))
    const printed = printLimited(layoutValue(list(all), shapes, 8_000), 8_000)
    const shown = parseData(printed, shapes) as DataEntity[]
    expect(printed).toContain(`#| +${5_000 - shown.length} more of 5000 |#`)
    expect(shown.length).toBeGreaterThan(8_000 / (2 * size + 20) / 2)
    expect(shown[5]!.fields.get('odd')).toBe('w '.repeat(size))
    expect(new Set(read).size).toBe(read.length)
    expect(read.length).toBeLessThan(shown.length * 1.5)
  }
})

test('[S0] written data reads back as the same data', () => {
  for (const source of [
    '(a "b" #\\space :k 1.5 #t nil () #(1 (2)) {:k v :|odd key| "x"})',
    '(1 . 2)',
    '|a b|',
    '"\\x1;\\n"',
    '(quote a)',
    '-0.0',
    '+inf.0',
    '||',
    '|1|',
    '|nil|',
    '|:a|',
    '|#a|',
    '...',
    '+',
    '-',
    '->x',
    '|.|',
    '(a . (b . c))',
  ]) {
    const first = createInterpreter().run(`'${source}`)[0]!
    expect(createInterpreter().run(`'${first}`)[0]).toBe(first)
    expect(first).not.toMatch(/^\(error/)
  }
})
