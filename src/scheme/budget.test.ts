import { expect, test } from 'vitest'
import { createInterpreter } from './interpreter.ts'

const BUDGET = /^\(error "execution budget exceeded/

const greedy: [string, string, RegExp?][] = [
  ['an endless loop', '(let loop () (loop))'],
  ['an endless do', '(do () (#f))'],
  ['an endless procedure', '(define (f) (f)) (f)'],
  ['mutual recursion without end', '(define (f) (g)) (define (g) (f)) (f)'],
  ['a growing list', "(let loop ((xs '())) (loop (cons 1 xs)))"],
  ['a growing string', '(let loop ((s "x")) (loop (string-append s s)))'],
  ['a growing vector', "(let loop ((xs '(1))) (loop (vector->list (list->vector (append xs xs)))))"],
  ['a doubling list', "(let loop ((xs '(1))) (loop (append xs xs)))"],
  ['a growing record', '(let loop ((r {:a 1}) (i 0)) (loop (record-with r (number->string i) i) (+ i 1)))'],
  ['growing closures', '(let loop ((f (lambda () 1))) (loop (lambda () (f))))'],
  ['growing boxes', '(let loop ((i 0)) (let ((b i)) (lambda () (set! b 1)) (loop (+ i 1))))'],
  [
    'a growing symbol',
    "(let loop ((s 'ab)) (let ((t (symbol->string s))) (loop (string->symbol (string-append t t)))))",
  ],
  ['a large string', '(make-string 100000000 #\\x)'],
  ['a large vector', '(make-vector 100000000 0)'],
  ['a large list', '(make-list 100000000 0)'],
  ['a large range', '(iota 100000000)'],
  ['an enormous count', '(make-string 9007199254740991 #\\x)'],
  ['a large power', '(expt 2 100000000)'],
  ['a power of a power', '(expt (expt 10 1000) (expt 10 1000))'],
  ['repeated squaring', '(let loop ((n 3)) (loop (* n n)))'],
  ['repeated adding', '(let loop ((n 1)) (loop (+ n n)))'],
  ['recursion without end', '(define (f n) (+ 1 (f n))) (f 1)'],
  ['recursion a million deep', '(define (f n) (if (= n 0) 0 (+ 1 (f (- n 1))))) (f 1000000)'],
  ['wide frames, deep', `(define (f) (list ${'1 '.repeat(900)} (f))) (f)`],
  [
    'comparison of large shared structure',
    "(let loop ((x '(1)) (y '(1)) (i 0)) (if (< i 60) (loop (list x x) (list y y) (+ i 1)) (equal? x y)))",
  ],
  [
    'flattening of large shared structure',
    "(let loop ((x '(1)) (i 0)) (if (< i 60) (loop (list x x) (+ i 1)) (flatten x)))",
  ],
  ['a large number in text', '(string->number (make-string 1000000 #\\9))', /^#f$/],
  [
    'replacement that multiplies',
    '(let loop ((s "a")) (loop (string-replace s "a" "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")))',
  ],
  ['joining that multiplies', '(string-join (make-list 10000 "x") (make-string 100000 #\\x))'],
  ['splitting into many', '(let loop () (string-split (make-string 100000 #\\a) "") (loop))'],
  ['sorting without end', '(let loop () (sort (iota 1000) >) (loop))'],
  ['sorting by a comparison without end', '(sort (iota 1000) (lambda (a b) (let loop () (loop))))'],
]

test.each(greedy)('[D5] %s ends in an error form within the budget', (_, source, wanted = BUDGET) => {
  const budget = { ms: 400 }
  const start = performance.now()
  const printed = createInterpreter({ budget }).run(source)
  expect(performance.now() - start).toBeLessThan(10 * budget.ms)
  expect(printed.at(-1)).toMatch(wanted)
})

test('[D5] the clock is what stops a loop when steps are plenty, and the message says the limit', () => {
  let time = 0
  const interpreter = createInterpreter({ budget: { ms: 150, steps: 1e12 }, now: () => (time += 1) })
  expect(interpreter.run('(let loop () (loop))')[0]).toMatch(/^\(error "execution budget exceeded \(150ms\)" :hint /)
})

test('[D5] steps are what stops it when time stands still', () => {
  const interpreter = createInterpreter({ budget: { steps: 100 }, now: () => 0 })
  expect(interpreter.run('(let loop () (loop))')[0]).toContain('execution budget exceeded (100 steps)')
  expect(interpreter.run('(let loop ((i 0)) (if (< i 40) (loop (+ i 1)) i))')).toEqual([
    '(error "execution budget exceeded (100 steps)" :hint "is there a loop that does not end? ask for less at once")',
  ])
})

test('[D5] after the budget is used up, earlier forms stand and later ones say why they did not run', () => {
  const printed = createInterpreter({ budget: { steps: 1_000 } }).run('(+ 1 1) (let loop () (loop)) (+ 2 2)')
  expect(printed[0]).toBe('2')
  expect(printed[1]).toMatch(BUDGET)
  expect(printed[2]).toBe('(error "not evaluated: an earlier form used up the execution budget")')
})

test('[D5] each call of run has a budget of its own', () => {
  const interpreter = createInterpreter({ budget: { steps: 10_000 } })
  expect(interpreter.run('(let loop () (loop))')[0]).toMatch(BUDGET)
  expect(interpreter.run('(+ 1 1)')).toEqual(['2'])
})

test('[D5] a request that is too large leaves the rest of the memory budget alone', () => {
  expect(createInterpreter().run('(make-vector 100000000 0) (length (iota 1000))').at(-1)).toBe('1000')
})

test('[D5] ten thousand frames are nothing: naive recursion works', () => {
  const source =
    '(define (sum xs) (if (null? xs) 0 (+ (car xs) (sum (cdr xs))))) (sum (iota 10001)) (let f ((n 50000)) (if (= n 0) 0 (+ 1 (f (- n 1)))))'
  expect(createInterpreter().run(source)).toEqual(['sum', '50005000', '50000'])
})

test.each(['(', '[', '{:a ', '#(', "'", '`(', "'(", '(quote ', '#;', '(lambda (x) ', '(if #t ', '[('])(
  '[D5] %s repeated 10,000 or 1,000,000 times is a parse error, not a stack overflow',
  (opening) => {
    for (const times of [500, 10_000, Math.floor(999_000 / opening.length)]) {
      const printed = createInterpreter().run('(+ 1 1) ' + opening.repeat(times))
      expect(printed[0]).toBe('2')
      expect(printed).toHaveLength(2)
      expect(printed[1]).toMatch(/^\(error "cannot read this/)
    }
  },
)

test('[D5] a million balanced parentheses are refused too', () => {
  expect(createInterpreter().run('('.repeat(499_000) + ')'.repeat(499_000))[0]).toContain('nested deeper')
  expect(createInterpreter().run('('.repeat(1_000_000))[0]).toContain('cannot read this')
  expect(createInterpreter().run('('.repeat(2_000_000))[0]).toContain('a program has at most')
})

test('[D5] the deepest nesting that is read is also compiled and printed', () => {
  for (const [open, close] of [
    ['(list ', ')'],
    ['(let ((x 1)) ', ')'],
    ['((lambda (x) ', ') 1)'],
    ['(if #t ', ' 2)'],
    ['(cond (#f 1) (else ', '))'],
    ['`(1 ,', ')'],
    ['(let loop ((i 0)) ', ')'],
    ['[', ']'],
    ['{:a ', '}'],
    ["'(", ')'],
    ['(case 1 ((1) ', '))'],
    ['(do ((i 0 (+ i 1))) ((= i 1) ', '))'],
    ['(and 1 ', ')'],
  ] as const) {
    const deep = Math.floor(390 / (open.match(/[([{`,']/g)!.length || 1))
    const printed = createInterpreter().run(open.repeat(deep) + '1' + close.repeat(deep))
    expect(printed, open).toHaveLength(1)
    expect(printed[0], open).not.toMatch(/^\(error/)
  }
})

test('[D5] values nested 300,000 deep are printed, compared and converted without overflow', () => {
  const build = "(define (nest n x) (if (= n 0) x (nest (- n 1) (list x)))) (define deep (nest 300000 '()))"
  const printed = createInterpreter({ budget: { ms: 60_000 } }).run(
    `${build} deep (equal? deep (nest 300000 '())) (string-length (write->string deep)) (error "x" deep)`,
  )
  expect(printed[2]).toContain('nested deeper')
  expect(printed[2]!.length).toBeLessThan(40_000)
  expect(printed[3]).toBe('#t')
  expect(printed[5]).toMatch(/^\(error "x /)
})

test('[D5] a program of many clauses, bindings or arguments is compiled or refused, never crashes', () => {
  const many = (n: number, each: (i: number) => string): string =>
    Array.from({ length: n }, (_, i) => each(i)).join(' ')
  for (const source of [
    `(cond ${many(20_000, (i) => `((= 1 ${i + 2}) ${i})`)} (else "end"))`,
    `(case 7 ${many(20_000, (i) => `((${i + 10}) ${i})`)} (else "end"))`,
    `(cond ${many(20_000, () => '(#f)')} (else "end"))`,
    `(cond ${many(20_000, () => '(#f => list)')} (else "end"))`,
    `(let* (${many(20_000, (i) => `(x${i} ${i})`)}) "end")`,
    `(begin ${many(50_000, (i) => `${i}`)} "end")`,
    `(string-append ${many(50_000, () => '""')} "end")`,
    `(let () ${many(5_000, (i) => `(define x${i} ${i})`)} "end")`,
    `\`(${many(20_000, (i) => `,${i}`)})`,
  ])
    expect(createInterpreter().run(source)[0]).toMatch(/^"end"$|^\(error "|^\(0 1 2/)
})

test('[D5] the 513th form is refused, the first 512 stand', () => {
  const printed = createInterpreter().run('1 '.repeat(600))
  expect(printed).toHaveLength(513)
  expect(printed[511]).toBe('1')
  expect(printed[512]).toMatch(/^\(error "more than 512 forms/)
})

test('[D5] a host function pays too, and its calls back are bounded', () => {
  const interpreter = createInterpreter({
    budget: { ms: 300 },
    functions: {
      '(work)': (_, ctx) => ctx.charge(1e9) ?? null,
      '(hoard)': (_, ctx) => ctx.alloc(1e9) ?? null,
      '(call f)': ([f], ctx) => ctx.call(f, []),
    },
  })
  expect(interpreter.run('(work)')[0]).toMatch(BUDGET)
  expect(interpreter.run('(hoard)')[0]).toMatch(BUDGET)
  expect(interpreter.run('(call (lambda () 7))')).toEqual(['7'])
  expect(interpreter.run('(define (f) (call f)) (f)')[1]).toMatch(/nested calls from builtins/)
  expect(interpreter.run('(define (g n) (if (= n 0) 0 (+ 1 (call (lambda () (g (- n 1))))))) (g 50)')[1]).toBe('50')
})

test('[D5] 100 MB of result is cut to the output budget', () => {
  const printed = createInterpreter().run(
    '(define s (make-string 8000000 #\\x)) (list s s s s s s s s s s s s) (make-vector 1000000 s)',
  )
  expect(printed.join('').length).toBeLessThanOrEqual(40_000)
})

test('[D5] a small value that prints as 2^60 elements, because it shares its parts, is cut in no time', () => {
  const start = performance.now()
  const printed = createInterpreter().run(
    "(let loop ((x '(1)) (i 0)) (if (< i 60) (loop (list x x) (+ i 1)) x)) (let loop ((x 1) (i 0)) (if (< i 60) (loop {:a x :b x} (+ i 1)) x))",
  )
  expect(printed.join('').length).toBeLessThanOrEqual(40_000)
  expect(performance.now() - start).toBeLessThan(10_000)
})
