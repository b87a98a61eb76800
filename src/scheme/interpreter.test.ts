import { expect, test } from 'vitest'
import { UserError } from '../base/errors.ts'
import { DataEntity, fromData } from './data.ts'
import { RULES } from './expand.ts'
import { freeze, thaw } from './freeze.ts'
import { createInterpreter, type InterpreterOptions, Source } from './interpreter.ts'
import { builtinHelp } from './library.ts'
import { isProcedure, list, type Pair, Sym, type Value } from './values.ts'
import { write } from './write.ts'

const principle = (name: string, confidence: number | undefined, active: boolean): DataEntity =>
  new DataEntity(
    'principle',
    new Map(Object.entries({ name, active, ...(confidence === undefined ? {} : { confidence }) })),
  )

const xs = fromData([principle('a', 0.9, true), principle('b', undefined, false), principle('c', 0.8, true)])
const knowledge: InterpreterOptions = {
  functions: {
    '(get-principles) | Every principle. | (get-principles)': () => xs,
    '(fails)': () => {
      throw new UserError('nope', 'no such principle: z', 'near: a')
    },
  },
}
const run = (source: string, options: InterpreterOptions = knowledge): string[] =>
  createInterpreter(options).run(source)

test('[D1] one printed value per form; an error is a value and the others stand', () => {
  const printed = run('(+ 1 1)\n(+ 2 2)\n(no-such)')
  expect(printed.slice(0, 2)).toEqual(['2', '4'])
  expect(printed[2]).toMatch(/^\(error "unbound symbol: no-such"/)
  expect(run('(no-such) 1 (car 5) 2').map((text) => text.slice(0, 6))).toEqual(['(error', '1', '(error', '2'])
})

test('[D1] unbalanced input is one error form; earlier complete forms are evaluated', () => {
  expect(run('(+ 1 1) (get-principles')).toHaveLength(2)
  expect(run('(get-principles')[0]).toMatch(/^\(error "cannot read this at line 1, column 1: \) is missing"/)
  expect(run(')')[0]).toMatch(/^\(error /)
  expect(run('"open')[0]).toMatch(/^\(error /)
  expect(run('#| open')[0]).toMatch(/^\(error /)
  expect(run('')).toEqual([])
  expect(run('; nothing')).toEqual([])
})

test('[D1] forms are split where Scheme splits them', () => {
  expect(run('#\\( "a;b" #| ( |# \'(a . b) `(,@(list 1)) "\\"(" #;(skipped 1) :k')).toEqual([
    '#\\(',
    '"a;b"',
    '(a . b)',
    '(1)',
    '"\\"("',
    ':k',
  ])
})

test('[D1] errors name the near names and what to do', () => {
  expect(run('(filtr odd? (list 1))')[0]).toContain('did you mean filter')
  expect(run('(get-principle)')[0]).toContain('get-principles')
  expect(run('(string-length 5)')[0]).toContain('string-length: expects a string, got an exact integer: 5')
  expect(run('(car 1 2)')[0]).toContain('car: expects 1 argument, got 2')
  expect(run('((lambda (a b) a) 1)')[0]).toContain('lambda: expects 2 arguments, got 1')
  expect(run('(fails)')).toEqual(['(error "no such principle: z" :hint "near: a")'])
})

test('[D1] a bug in a host function is not turned into a value', () => {
  const bug = (): Value => {
    throw new TypeError('bug')
  }
  expect(() => run('(f)', { functions: { '(f)': bug } })).toThrow('bug')
})

test('[D2] definitions live as long as the interpreter', () => {
  const interpreter = createInterpreter()
  expect(interpreter.run('(define n 5)')).toEqual(['n'])
  expect(interpreter.run('n')).toEqual(['5'])
  expect(createInterpreter().run('n')[0]).toMatch(/^\(error "unbound symbol: n"/)
})

test('[D2] definitions can be kept by the host: data as values, procedures as source; a query in a define runs once', () => {
  const kept = new Map<string, Value | Source>()
  let ticks = 0
  const options: InterpreterOptions = {
    functions: { '(tick)': () => BigInt(++ticks) },
    lookup: (name) => kept.get(name),
    onDefine: (name, value, source) => void kept.set(name, isProcedure(value) ? new Source(source) : value),
  }
  const next = (source: string): string[] => createInterpreter(options).run(source)
  expect(next('(define a (tick))')).toEqual(['a'])
  expect(next('(define b (tick))')).toEqual(['b'])
  expect(next('(list a b a)')).toEqual(['(1 2 1)'])
  expect(ticks).toBe(2)
  next('(define inc (lambda (x) (+ x step)))')
  next('(define step 1)')
  expect(next('(inc 41)')).toEqual(['42'])
  next('(define (twice f) (lambda (x) (f (f x))))')
  expect(next('((twice inc) 1)')).toEqual(['3'])
  expect(kept.get('twice')).toEqual(new Source('(define (twice f) (lambda (x) (f (f x))))'))
  next('(set! step 10)')
  expect(next('(inc 41)')).toEqual(['51'])
  next('(define (first xs) "mine")')
  expect(next("(first '(1))")).toEqual(['"mine"'])
  next('(begin (define p 1) (define q 2))')
  expect(next('(+ p q)')).toEqual(['3'])
})

test('[D2] what a form defined before it failed does not hold', () => {
  const scheme = createInterpreter()
  expect(scheme.run("(define x 1) (begin (define x 2) (car '())) x").at(-1)).toBe('1')
  expect(scheme.run('(help "")')[0]).not.toContain('is not offered')
})

test('[D2] a definition the host refuses is an error form and does not hold', () => {
  const interpreter = createInterpreter({
    onDefine: () => {
      throw new UserError('full', 'more than 512 definitions', 'start a fresh session')
    },
  })
  expect(interpreter.run('(define n 5) n')).toEqual([
    '(error "more than 512 definitions" :hint "start a fresh session")',
    expect.stringMatching(/unbound symbol: n/),
  ])
})

test('[D2] what a failed form defined is not kept', () => {
  const names: string[] = []
  createInterpreter({ onDefine: (name) => void names.push(name) }).run('(begin (define a 1) (car 5)) (define b 2)')
  expect(names).toEqual(['b'])
})

test('[D4] keywords read fields, from one and through map and filter', () => {
  expect(run('(map :name (get-principles))')).toEqual(['("a" "b" "c")'])
  expect(run('(map :name (filter :active (get-principles)))')).toEqual(['("a" "c")'])
  expect(
    run(
      '(define p (car (get-principles))) (@ p :confidence) (@ p "confidence") (:missing p) (@ p :missing 7) (:missing p 7) (@keys p)',
    ).slice(1),
  ).toEqual(['0.9', '0.9', 'nil', '7', '7', '(:name :active :confidence)'])
  expect(run('(map :name (filter (lambda (p) (> (@ p :confidence) 0.8)) (get-principles)))')).toEqual(['("a")'])
  expect(run('(map (lambda (p) (< (@ p :confidence) 1)) (get-principles))')).toEqual(['(#t #f #t)'])
  expect(run('(> nil 1) (< 1 nil) (>= nil nil) (= nil nil) (<= 1 2 nil)')).toEqual(['#f', '#f', '#f', '#f', '#f'])
  expect(run('(map :name (sort-by :confidence (get-principles) >))')).toEqual(['("a" "c" "b")'])
  expect(run('(count-by :active (get-principles))')).toEqual(['((#t 2) (#f 1))'])
})

test('[D4] a list where one entity is expected says to use map; arithmetic with nil names the argument', () => {
  expect(run('(:name (get-principles))')[0]).toContain('(map :name xs)')
  expect(run('(+ 1 nil)')[0]).toContain('+: expects a number, got nil')
})

test('[D6] no way out: what is not offered is unbound or nil', () => {
  for (const name of [
    'process',
    'globalThis',
    'require',
    'fetch',
    'eval',
    'load',
    'setTimeout',
    'Function',
    'import',
    'this',
    'constructor',
    '__proto__',
    'hasOwnProperty',
    'toString',
    '%',
  ])
    expect(run(`(${name} "x")`)[0], name).toMatch(/^\(error "/)
  expect(
    run(
      '(:constructor (lambda (x) x)) (:__proto__ {:a 1}) (@ {:a 1} "__proto__") (@ {:a 1} "constructor") (@ \'(1) "map") (@ car "name") (:length "abc") (:a 5) (@ nil :a)',
    ),
  ).toEqual(new Array(9).fill('nil'))
  expect(
    run('(@keys {:__proto__ 1}) (:__proto__ {:__proto__ 1}) (string->symbol "__proto__") {:__proto__ {:polluted 1}}'),
  ).toEqual(['(:__proto__)', '1', '__proto__', '{:__proto__ {:polluted 1}}'])
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  expect(run('(parse-data "{:__proto__ {:polluted #t}}")')).toEqual(['{:__proto__ {:polluted #t}}'])
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
})

test('[D6] names of Scheme that are refused say so and what to do instead', () => {
  for (const source of [
    '(set-car! (list 1) 2)',
    '(vector-set! (vector 1) 0 2)',
    '(call/cc car)',
    '(dynamic-wind 1 2 3)',
    '(eval 1)',
    '(guard (e (#t 1)) (car 5))',
    '(define-syntax x 1)',
    '(display "x")',
    '(string-set! "a" 0 #\\b)',
    '(list-set! (list 1) 0 1)',
    '(delay 1)',
  ])
    expect(run(source)[0], source).toMatch(/^\(error "[^"]+ is not offered: [^"]{10,}"/)
  expect(run('(define (display x) (list x)) (display 1)')).toEqual(['display', '(1)'])
})

test('[D6] nothing a program does changes what the host gave it', () => {
  const before = JSON.stringify(run('(get-principles)'))
  run(
    '(define p (get-principles)) (set! p \'()) (record-with (car (get-principles)) :name "changed") (reverse (get-principles))',
  )
  expect(JSON.stringify(run('(get-principles)'))).toBe(before)
  expect(
    run(
      '(define (reverse x) "broken") (define (car x) "broken") (map :name (get-principles)) (sort (list 2 1) (lambda (a b) (< a b)))',
    ).slice(2),
  ).toEqual(['("a" "b" "c")', '(1 2)'])
})

test('[D9] the host can add syntax', () => {
  let time = 'now'
  const interpreter = createInterpreter({
    syntax: {
      'as-of': (form) => {
        const [, when, expression] = [form, (form as Pair).cdr, ((form as Pair).cdr as Pair).cdr] as Pair[]
        return list([new Sym('call-as-of'), when!.car, list([new Sym('lambda'), list([]), expression!.car])])
      },
    },
    functions: {
      '(time)': () => time,
      '(call-as-of when thunk)': ([when, thunk], ctx) => {
        const before = time
        time = when as string
        try {
          return ctx.call(thunk, [])
        } finally {
          time = before
        }
      },
    },
  })
  expect(interpreter.run('(as-of "2026-08-01" (list (time) (as-of "2025-01-01" (time)))) (time)')).toEqual([
    '("2026-08-01" "2025-01-01")',
    '"now"',
  ])
  expect(interpreter.run('(define (f) (as-of "x" (no-such)))(f)')[1]).toContain('unbound symbol: no-such')
  expect(interpreter.run('(time)')).toEqual(['"now"'])
})

test('[D10] every builtin and every piece of syntax has help, and its example runs', () => {
  const help = builtinHelp()
  expect([...help.keys()]).toEqual(expect.arrayContaining([...RULES.keys()]))
  for (const [name, { about, signature, example }] of help) {
    expect(about, name).toBeTruthy()
    expect(signature, name).toMatch(/^\(.+\)$/)
    const printed = createInterpreter().run(example)
    for (const text of printed) expect(text, `${name}: ${example}`).not.toMatch(/^\(error/)
    expect(printed.length, name).toBeGreaterThan(0)
  }
})

test('[D10] the helpers of builtins are not offered', () => {
  expect([...builtinHelp().keys()].filter((name) => name.startsWith('%'))).toEqual([])
})

test('[D2] frozen data thaws to the very same value; a procedure is not frozen', () => {
  const source =
    '(list 1 1.0 -0.0 +inf.0 +nan.0 99999999999999999999 "a" \'b :c #\\d nil #t #f (list) \'(1 . 2) (vector 1 "x") {:__proto__ 1 :k [1]} (if #f #f)'
  const result = createInterpreter(knowledge).evaluate(`${source} (get-principles))`)[0]!
  const value = (result as { value: Value }).value
  expect(write(thaw(freeze(value)!))).toBe(write(value))
  expect(freeze(thaw(freeze(value)!))).toBe(freeze(value))
  const procedures = createInterpreter().evaluate('car (list 1 car) {:f (lambda () 1)}')
  for (const one of procedures) expect(freeze((one as { value: Value }).value)).toBeUndefined()
})
