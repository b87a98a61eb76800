import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../test/runs.ts'
import { createInterpreter } from './interpreter.ts'
import { builtinHelp } from './library.ts'

const numRuns = runs(1_000, 10_000)
const words = [
  ...builtinHelp().keys(),
  'x',
  'y',
  'f',
  'loop',
  'nil',
  '#t',
  '#f',
  '0',
  '1',
  '-1',
  '2.5',
  '1e308',
  '99999999999999999999',
  '"s"',
  '"λ😀"',
  '""',
  '#\\a',
  ':k',
  ':name',
  "'()",
  "'(1 2 3)",
  "'#(1 2)",
  '{:k 1}',
  '(lambda (x) x)',
  '(lambda x x)',
  '"a b"',
  '+nan.0',
  '+inf.0',
]
const scraps = [
  '(',
  ')',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  "'",
  '`',
  ',',
  ',@',
  '.',
  '#(',
  '#|',
  '|#',
  ';',
  '#;',
  '"',
  '|',
  '#\\',
  ':|',
  '\n',
  '1/2',
  '#x',
  '😀',
  '\x00',
]

const budget = { ms: 200, steps: 200_000, cells: 200_000 }

/** Runs it and holds it to its budget, with ten times the time for a slow machine. */
function survives(source: string, interpreter = createInterpreter({ budget })): void {
  const start = performance.now()
  const printed = interpreter.run(source)
  expect(performance.now() - start).toBeLessThan(10 * budget.ms)
  expect(printed.join('').length).toBeLessThanOrEqual(40_000)
}

test('[D1] no soup of tokens makes the interpreter throw or overrun its budget', { tags: ['property'] }, () => {
  const token = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...words) },
    { weight: 2, arbitrary: fc.constantFrom(...scraps) },
  )
  fc.assert(
    fc.property(fc.array(token, { maxLength: 40 }), (tokens) => survives(tokens.join(' '))),
    { numRuns },
  )
})

test('[D1] no well-formed form does either', { tags: ['property'] }, () => {
  const { form } = fc.letrec<{ form: string }>((tie) => ({
    form: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(...words),
      fc.array(tie('form'), { maxLength: 5 }).map((parts) => `(${parts.join(' ')})`),
      fc
        .tuple(fc.constantFrom(...words), fc.array(tie('form'), { maxLength: 4 }))
        .map(([head, parts]) => `(${head} ${parts.join(' ')})`),
      fc
        .tuple(fc.constantFrom('let', 'let*', 'letrec', 'do', 'let loop'), tie('form'), tie('form'))
        .map(([head, a, b]) => `(${head} ((x ${a}) (y 1)) ${b})`),
    ),
  }))
  fc.assert(
    fc.property(form, (source) => survives(`${source} ${source}`)),
    { numRuns },
  )
})

test('[D1] every builtin refuses odd arguments with an error form, never with a crash', {
  timeout: 60_000,
}, () => {
  const odd = [
    'nil',
    '#f',
    '-1',
    '1.5',
    '1e308',
    '(expt 2 70)',
    '"text"',
    '""',
    "'()",
    "'(1 2)",
    "'(1 . 2)",
    "'((a . 1) (b . 2))",
    "'#(1 2)",
    '{:a 1}',
    ':a',
    "'a",
    '#\\a',
    'car',
    '(lambda (x) x)',
    '(lambda (x y) (> x y))',
    '(values 1 2)',
    '+nan.0',
    '-inf.0',
  ]
  for (const name of builtinHelp().keys()) {
    const interpreter = createInterpreter({ budget })
    survives(`(${name})`, interpreter)
    for (const a of odd) {
      survives(`(${name} ${a})`, interpreter)
      for (const b of odd) survives(`(${name} ${a} ${b})`, interpreter)
    }
    survives(
      odd.map((a, i) => `(${name} ${a} ${odd[(i * 7 + 3) % odd.length]} ${odd[(i * 5 + 1) % odd.length]})`).join(' '),
      interpreter,
    )
  }
})
