import { expect, test } from 'vitest'
import { parse } from '../../src/find/code/parse.ts'

const symbolsOf = async (path: string, text: string) =>
  (await parse(path, text)).symbols.map((s) => `${s.kind} ${s.name} ${s.start}-${s.end}`)

const hashOf = async (path: string, text: string, name: string) =>
  (await parse(path, text)).symbols.find((s) => s.name === name)?.hash

const FILES: Readonly<Record<string, readonly [text: string, symbols: readonly string[]]>> = {
  'a.ts': [
    `export const LIMIT = 3
export class Model extends Base {
  size = 1
  open(path: string): void {
    const inner = () => read(path)
  }
}
interface Shape { x: number }
type Name = string
enum Colour { Red }
export default () => new Model()
`,
    [
      'variable LIMIT 1-1', 'class Model 2-7', 'field Model.size 3-3', 'method Model.open 4-6', 'function Model.open.inner 5-5',
      'interface Shape 8-8', 'type Name 9-9', 'enum Colour 10-10', 'default default 11-11',
    ], // biome-ignore format: a list
  ],
  'a.tsx': ['export function Page() {\n  return <p>It is</p>\n}\n', ['function Page 1-3']],
  'a.js': [
    'exports.run = function (a) { return go(a) }\nconst o = { x() {}, y: () => 1 }\n',
    ['function run 1-1', 'variable o 2-2', 'method o.x 2-2', 'method o.y 2-2'],
  ],
  'a.py': [
    'X = 1\n\n@cached\nclass A:\n    y = 2\n    def m(self):\n        return X\n',
    ['variable X 1-1', 'class A 3-7', 'field A.y 5-5', 'method A.m 6-7'],
  ],
  'a.go': [
    'package a\nconst N = 1\ntype T struct{}\nfunc (t *T) M() int { return f() }\nfunc f() int { return N }\n',
    ['constant N 2-2', 'type T 3-3', 'method T.M 4-4', 'function f 5-5'],
  ],
  'a.rs': [
    'struct S;\nimpl S {\n    fn new() -> S { S }\n}\ntrait T { fn x(&self); }\nmod m { fn f() {} }\n',
    ['struct S 1-1', 'method S.new 3-3', 'trait T 5-5', 'method T.x 5-5', 'module m 6-6', 'function m.f 6-6'],
  ],
  'A.java': [
    'class A {\n  int n = 1;\n  A() {}\n  void m() { run(); }\n}\nrecord R(int a) {}\n',
    ['class A 1-5', 'field A.n 2-2', 'constructor A.A 3-3', 'method A.m 4-4', 'record R 6-6'],
  ],
}

test.each(Object.keys(FILES))('symbols of %s: qualified name, kind and lines', async (path) => {
  const [text, symbols] = FILES[path]!
  expect(await symbolsOf(path, text)).toEqual(symbols)
})

test('calls, with the symbol that makes them', async () => {
  const { calls } = await parse('a.ts', 'class A {\n  b() { c(this.d()) }\n}\nnew A()\n')
  expect(calls).toEqual([
    { from: 'A.b', to: 'c' },
    { from: 'A.b', to: 'd' },
    { from: '', to: 'A' },
  ])
})

const REFORMATS: readonly (readonly [path: string, name: string, before: string, after: string])[] = [
  ['a.ts', 'f', "function f(a, b) { return g(a, 'x') }", 'function f(\n  a,\n  b,\n) {\n  // why\n  return g(a, "x");\n}\n'],
  ['a.py', 'f', "def f(a, b):\n  return g('x')\n", 'def f(\n    a,\n    b,\n):\n    # why\n\n    return g("x")\n'],
  ['a.go', 'f', 'package a\nfunc f(a int) { g(a) }\n', 'package a\n\nfunc f(\n\ta int,\n) {\n\tg(a) // why\n}\n'],
  ['a.rs', 'f', 'fn f(a: u8) { g(a) }', 'fn f(\n    a: u8,\n) {\n    /* why */\n    g(a)\n}\n'],
  ['A.java', 'A.f', 'class A { void f(int a) { g(a); } }', 'class A {\n  void f(int a)\n  {\n    g(a);\n  }\n}\n'],
] // biome-ignore format: a table

test.each(REFORMATS)('[F1] a reformat of %s changes no hash', async (path, name, before, after) => {
  expect(await hashOf(path, before, name)).toBeTruthy()
  expect(await hashOf(path, after, name)).toBe(await hashOf(path, before, name))
})

const CHANGES: readonly (readonly [path: string, before: string, after: string])[] = [
  ['a.ts', 'function f() { return 1 }', 'function f() { return 2 }'],
  ['a.ts', "function f() { return 'a b' }", "function f() { return 'a  b' }"],
  ['a.ts', 'function f() { for (;x;) g() }', 'function f() { for (;;x) g() }'],
  ['a.ts', 'function f() { return /a /.test(x) }', 'function f() { return /a/.test(x) }'],
  ['a.py', 'def f():\n    if x:\n        a()\n        b()\n', 'def f():\n    if x:\n        a()\n    b()\n'],
  ['a.go', "package a\nfunc f() rune { return 'a' }", "package a\nfunc f() rune { return 'b' }"],
]

test.each(CHANGES)('[F1] a change of %s changes the hash', async (path, before, after) => {
  expect(await hashOf(path, after, 'f')).not.toBe(await hashOf(path, before, 'f'))
})

test('[F1] a new name, or another place, leaves the hash of the body', async () => {
  const before = await hashOf('a.ts', 'function f(n) { return n ? f(n - 1) : 0 }', 'f')
  expect(await hashOf('a.ts', 'class A {}\nfunction g(n) { return n ? g(n - 1) : 0 }', 'g')).toBe(before)
  const method = await hashOf('a.py', 'def f(a):\n    if a:\n        return 1\n', 'f')
  expect(await hashOf('a.py', 'class A:\n    def f(a):\n        if a:\n            return 1\n', 'A.f')).toBe(method)
})

test('[F1] what the grammar does not understand belongs to the symbol before it', async () => {
  const overloads = (type: string) =>
    `export interface Each {\n  <A>(a: A): void\n  <A, B>(a: A, b: ${type}): void\n}\nexport const next = 1\n`
  expect(await hashOf('a.ts', overloads('B'), 'Each')).not.toBe(await hashOf('a.ts', overloads('A'), 'Each'))
  expect(await symbolsOf('a.ts', overloads('B'))).toEqual(['interface Each 1-4', 'variable next 5-5'])
})

test('what no grammar reads is plain text; broken code is read as far as it goes', async () => {
  expect(await parse('notes.md', 'one\ntwo')).toMatchObject({ language: 'text', symbols: [] })
  expect(await symbolsOf('a.ts', 'function ok() {}\nfunction broken( {\n')).toContain('function ok 1-1')
})

test('[F2] a file that would take the parser seconds is plain text, and the next one is parsed', {
  timeout: 60_000,
}, async () => {
  const brackets = `${'('.repeat(100_000)}${')'.repeat(100_000)}`
  const start = performance.now()
  expect((await parse('deep.js', brackets)).language).toBe('text')
  expect(performance.now() - start).toBeLessThan(1_000) // 10 ms on an idle machine
  expect((await parse('a.js', 'function f() {}')).symbols.map((s) => s.name)).toEqual(['f'])
})
