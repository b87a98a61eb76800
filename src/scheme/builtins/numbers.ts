import { isNum, type Num, notOf, num } from '../argument-types.ts'
import { arith, bitLength, compareNum, guard, integer, isIntegral } from '../arithmetic.ts'
import { exceeded, MAX_BITS } from '../budget.ts'
import { alias, type Definition, def, def1, def2, defMany } from '../define.ts'
import { parseNumber, printNumber } from '../numeral.ts'
import { type CallContext, Many, SchemeError, type Value } from '../values.ts'

const folded = (
  signature: string,
  about: string,
  example: string,
  zero: bigint,
  two: (a: Value, b: Value, ctx: CallContext) => Num,
): Definition =>
  defMany(
    signature,
    about,
    example,
    (args, ctx) => {
      let sum: Num = zero
      for (const arg of args) sum = two(sum, arg, ctx)
      return sum
    },
    two,
  )

const comparison = (name: string, about: string, example: string, holds: (order: number) => boolean): Definition => {
  const two = (a: Value, b: Value): boolean => {
    if (a === null || b === null) return false
    return holds(compareNum(num(name, a), num(name, b)))
  }
  const run = (args: Value[]): boolean => {
    for (const arg of args) if (arg !== null) num(name, arg)
    if (args.includes(null)) return false
    for (let i = 1; i < args.length; i++) if (!two(args[i - 1]!, args[i]!)) return false
    return true
  }
  return defMany(`(${name} a b …)`, `${about} With nil among them: #f.`, example, run, two)
}

const test = (name: string, about: string, example: string, holds: (n: Num) => boolean): Definition =>
  def1(`(${name} n)`, about, example, (n) => holds(num(name, n)))

/** Of any value: #f for what is no number. */
const kind = (name: string, about: string, example: string, holds: (n: Num) => boolean): Definition =>
  def1(`(${name} x)`, about, example, (x) => isNum(x) && holds(x))

const division = (
  name: string,
  about: string,
  example: string,
  exact: (a: bigint, b: bigint) => bigint,
  inexact: (a: number, b: number) => number,
): Definition =>
  def2(`(${name} n m)`, about, example, (a, b, ctx) => {
    const [n, m] = [integer(name, a), integer(name, b)]
    if (typeof n === 'bigint' && typeof m === 'bigint') {
      if (m === 0n) throw new SchemeError(`${name}: division by zero`)
      ctx.charge(bitLength(n) >> 12)
      return guard(exact(n, m), ctx)
    }
    if (Number(m) === 0) throw new SchemeError(`${name}: division by zero`)
    return inexact(Number(n), Number(m))
  })

const floorQuotient = (a: bigint, b: bigint): bigint => {
  const q = a / b
  return a % b !== 0n && a < 0n !== b < 0n ? q - 1n : q
}
const floorRemainder = (a: bigint, b: bigint): bigint => {
  const r = a % b
  return r !== 0n && r < 0n !== b < 0n ? r + b : r
}
const positive = (n: number): number => (n === 0 ? 0 : n)

const QUOTIENT = division(
  'quotient',
  'Integer division towards zero.',
  '(quotient -7 2)',
  (a, b) => a / b,
  (a, b) => positive(Math.trunc(a / b)),
)
const REMAINDER = division(
  'remainder',
  'What quotient leaves; the sign of n.',
  '(remainder -7 2)',
  (a, b) => a % b,
  (a, b) => positive(a % b),
)
const MODULO = division(
  'modulo',
  'What floor division leaves; the sign of m.',
  '(modulo -7 2)',
  floorRemainder,
  (a, b) => positive(a - b * Math.floor(a / b)),
)
const FLOOR_QUOTIENT = division(
  'floor-quotient',
  'Integer division towards minus infinity.',
  '(floor-quotient -7 2)',
  floorQuotient,
  (a, b) => positive(Math.floor(a / b)),
)

const both = (name: string, about: string, example: string, first: Definition, second: Definition): Definition =>
  def2(
    `(${name} n m)`,
    about,
    example,
    (a, b, ctx) => new Many([first, second].map((d) => ctx.call(d.body as Value, [a, b]))),
  )

const rounding = (name: string, about: string, example: string, of: (n: number) => number): Definition =>
  def1(`(${name} n)`, about, example, (v) => {
    const n = num(name, v)
    return typeof n === 'bigint' ? n : of(n)
  })

/** To even, as R7RS and IEEE 754 have it. */
const bankers = (n: number): number => {
  const floor = Math.floor(n)
  const rest = n - floor
  if (rest < 0.5) return floor === 0 && Object.is(n, -0) ? n : floor
  if (rest > 0.5) return floor + 1
  return floor % 2 === 0 ? floor : floor + 1
}

const real = (name: string, about: string, example: string, of: (n: number) => number): Definition =>
  def1(`(${name} n)`, about, example, (v) => {
    const n = num(name, v)
    const result = of(Number(n))
    return typeof n === 'bigint' && Number.isInteger(result) && (n === 0n || n === 1n) ? BigInt(result) : result
  })

function exact(name: string, v: Value): bigint {
  const n = num(name, v)
  if (typeof n === 'bigint') return n
  if (!Number.isInteger(n))
    throw new SchemeError(`${name}: ${printNumber(n)} is no integer`, 'exact fractions are not offered: round first')
  return BigInt(n)
}

const EXACT = def1('(exact n)', 'The exact integer equal to n.', '(exact 2.0)', (n, ctx) =>
  typeof n === 'bigint' ? n : guard(exact('exact', n), ctx),
)
const INEXACT = def1('(inexact n)', 'The inexact number nearest to n.', '(inexact 2)', (n) => Number(num('inexact', n)))

function expt(a: Value, b: Value, ctx: CallContext): Num {
  const [base, power] = [num('expt', a), num('expt', b)]
  if (typeof base !== 'bigint' || typeof power !== 'bigint') return Number(base) ** Number(power)
  if (power < 0n) return Number(base) ** Number(power)
  if (base === 0n || base === 1n) return power === 0n ? 1n : base
  if (base === -1n) return power % 2n === 0n ? 1n : -1n
  if (power * BigInt(Math.max(1, bitLength(base) - 1)) > BigInt(MAX_BITS))
    throw exceeded(`numbers of ${MAX_BITS} bits`, 'use inexact numbers: (expt 2.0 1000)')
  return guard(base ** power, ctx)
}

function rootOf(n: bigint, ctx: CallContext): bigint {
  if (n < 2n) return n
  let x = 1n << BigInt((bitLength(n) + 1) >> 1)
  for (;;) {
    ctx.charge(1 + (bitLength(n) >> 10))
    const y = (x + n / x) >> 1n
    if (y >= x) return x
    x = y
  }
}

function sqrt(v: Value, ctx: CallContext): Num {
  const n = num('sqrt', v)
  if (n < 0) throw new SchemeError('sqrt: complex numbers are not offered', 'the argument must not be negative')
  if (typeof n === 'number') return Math.sqrt(n)
  const root = guard(rootOf(n, ctx), ctx)
  return root * root === n ? root : Math.sqrt(Number(n))
}

function gcd(a: bigint, b: bigint, ctx: CallContext): bigint {
  let [x, y] = [a < 0n ? -a : a, b < 0n ? -b : b]
  while (y !== 0n) {
    ctx.charge(1 + (bitLength(y) >> 10))
    ;[x, y] = [y, x % y]
  }
  return x
}

const common = (
  name: string,
  about: string,
  example: string,
  of: (a: bigint, b: bigint, ctx: CallContext) => bigint,
  start: bigint,
): Definition =>
  def(`(${name} n …)`, about, example, (args, ctx) => {
    const inexact = args.some((arg) => typeof arg === 'number')
    const result = args.reduce<bigint>((sum, arg) => of(sum, exact(name, integer(name, arg)), ctx), start)
    return inexact ? Number(result) : guard(result, ctx)
  })

const extreme = (name: string, about: string, example: string, better: (order: number) => boolean): Definition =>
  def(`(${name} a b …)`, about, example, (args) => {
    let best = num(name, args[0])
    if (args.length === 0) throw new SchemeError(`${name}: expects at least 1 argument, got 0`)
    for (const arg of args) {
      const n = num(name, arg)
      if (Number.isNaN(n) || better(compareNum(n, best))) best = n
    }
    return args.some((arg) => typeof arg === 'number') ? Number(best) : best
  })

/** Numbers: exact integers of any size up to the budget, inexact ones as IEEE doubles; no fractions, no complex numbers. */
export const numbers = (): readonly Definition[] => [
  folded('(+ n …)', 'The sum.', '(+ 1 2 3)', 0n, arith.add),
  folded('(* n …)', 'The product.', '(* 2 3 4)', 1n, arith.multiply),
  defMany('(- n m …)', 'The difference; of one number its negation.', '(- 10 3 2)', minus, arith.subtract),
  defMany(
    '(/ n m …)',
    'The quotient; exact only where it comes out even, else inexact: (/ 1 2) is 0.5.',
    '(/ 10 4)',
    over,
    arith.divide,
  ),
  comparison('=', 'Are all numbers equal?', '(= 1 1.0)', (order) => order === 0),
  comparison('<', 'Does each number exceed the one before?', '(< 1 2 3)', (order) => order < 0),
  comparison('>', 'Is each number less than the one before?', '(> 3 2 1)', (order) => order > 0),
  comparison('<=', 'Is no number less than the one before?', '(<= 1 1 2)', (order) => order <= 0),
  comparison('>=', 'Is no number more than the one before?', '(>= 2 1 1)', (order) => order >= 0),
  QUOTIENT,
  REMAINDER,
  MODULO,
  FLOOR_QUOTIENT,
  alias('truncate-quotient', QUOTIENT),
  alias('truncate-remainder', REMAINDER),
  alias('floor-remainder', MODULO),
  both(
    'floor/',
    'floor-quotient and floor-remainder, as two values.',
    '(receive (q r) (floor/ -7 2) (list q r))',
    FLOOR_QUOTIENT,
    MODULO,
  ),
  both(
    'truncate/',
    'quotient and remainder, as two values.',
    '(receive (q r) (truncate/ -7 2) (list q r))',
    QUOTIENT,
    REMAINDER,
  ),
  def1('(abs n)', 'The size without the sign.', '(abs -3)', (n, ctx) => {
    const x = num('abs', n)
    return typeof x === 'bigint' ? (x < 0n ? guard(-x, ctx) : x) : Math.abs(x)
  }),
  extreme('min', 'The least of the numbers.', '(min 3 1 2)', (order) => order < 0),
  extreme('max', 'The greatest of the numbers.', '(max 3 1 2)', (order) => order > 0),
  common('gcd', 'The greatest common divisor.', '(gcd 12 18)', gcd, 0n),
  common(
    'lcm',
    'The least common multiple.',
    '(lcm 4 6)',
    (a, b, ctx) => {
      if (a === 0n || b === 0n) return 0n
      const product = (a / gcd(a, b, ctx)) * b
      return guard(product < 0n ? -product : product, ctx)
    },
    1n,
  ),
  rounding('floor', 'The nearest integer that is not more.', '(floor 2.7)', Math.floor),
  rounding('ceiling', 'The nearest integer that is not less.', '(ceiling 2.1)', Math.ceil),
  rounding('truncate', 'The integer towards zero.', '(truncate -2.7)', Math.trunc),
  rounding('round', 'The nearest integer; a tie goes to the even one.', '(round 2.5)', bankers),
  def2('(round-to n digits)', 'n rounded to so many digits after the point.', '(round-to 0.8567 2)', (n, digits) => {
    const x = num('round-to', n)
    const places = Number(integer('round-to', digits))
    if (places < 0 || places > 20) throw new SchemeError('round-to: digits is from 0 to 20')
    return typeof x === 'bigint' || !Number.isFinite(x) ? x : Number(x.toFixed(places))
  }),
  EXACT,
  INEXACT,
  alias('inexact->exact', EXACT),
  alias('exact->inexact', INEXACT),
  def2('(expt n m)', 'n to the power m.', '(expt 2 10)', expt),
  def1('(square n)', 'n times n.', '(square 5)', (n, ctx) => arith.multiply(n, n, ctx)),
  def1('(sqrt n)', 'The square root, exact where it can be.', '(sqrt 16)', sqrt),
  def1(
    '(exact-integer-sqrt n)',
    'The integer square root and what is left, as two values.',
    '(receive (s r) (exact-integer-sqrt 17) (list s r))',
    (v, ctx) => {
      if (typeof v !== 'bigint' || v < 0n) throw notOf('exact-integer-sqrt', 'an exact integer that is not negative', v)
      const root = rootOf(v, ctx)
      return new Many([guard(root, ctx), guard(v - root * root, ctx)])
    },
  ),
  real('exp', 'e to the power n.', '(exp 0)', Math.exp),
  def('(log n [base])', 'The natural logarithm, or that to the base.', '(log 8 2)', (args) => {
    const [n, base] = args.map((arg) => Number(num('log', arg)))
    if (base === undefined) return args[0] === 1n ? 0n : Math.log(n!)
    return base === 2 ? Math.log2(n!) : base === 10 ? Math.log10(n!) : Math.log(n!) / Math.log(base)
  }),
  real('sin', 'The sine, in radians.', '(sin 0)', Math.sin),
  real('cos', 'The cosine, in radians.', '(cos 0)', Math.cos),
  real('tan', 'The tangent, in radians.', '(tan 0)', Math.tan),
  real('asin', 'The inverse of sin.', '(asin 0)', Math.asin),
  real('acos', 'The inverse of cos.', '(acos 1)', Math.acos),
  def('(atan y [x])', 'The inverse of tan; with x the angle of the point (x, y).', '(atan 1.0 1.0)', (args) => {
    const [y, x] = args.map((arg) => Number(num('atan', arg)))
    return args[0] === 0n && x === undefined ? 0n : x === undefined ? Math.atan(y!) : Math.atan2(y!, x)
  }),
  kind('number?', 'Is it a number?', '(number? 1)', () => true),
  kind('complex?', 'Is it a number?', '(complex? 1)', () => true),
  kind('real?', 'Is it a number?', '(real? 1.5)', () => true),
  kind('rational?', 'Is it a finite number?', '(rational? 0.5)', (n) => typeof n === 'bigint' || Number.isFinite(n)),
  kind('integer?', 'Is it a whole number, exact or not?', '(integer? 2.0)', isIntegral),
  kind('exact-integer?', 'Is it an exact integer?', '(exact-integer? 2)', (n) => typeof n === 'bigint'),
  kind('exact-rational?', 'Is it an exact number?', '(exact-rational? 2)', (n) => typeof n === 'bigint'),
  test('exact?', 'Is the number exact?', '(exact? 2)', (n) => typeof n === 'bigint'),
  test('inexact?', 'Is the number inexact?', '(inexact? 2.0)', (n) => typeof n === 'number'),
  test('nan?', 'Is it not a number?', '(nan? +nan.0)', (n) => Number.isNaN(n)),
  test('finite?', 'Is it neither infinite nor NaN?', '(finite? 1)', (n) => typeof n === 'bigint' || Number.isFinite(n)),
  test(
    'infinite?',
    'Is it infinite?',
    '(infinite? -inf.0)',
    (n) => n === Number.POSITIVE_INFINITY || n === Number.NEGATIVE_INFINITY,
  ),
  test('zero?', 'Is it 0?', '(zero? 0)', (n) => n === 0n || n === 0),
  test('positive?', 'Is it more than 0?', '(positive? 1)', (n) => n > 0),
  test('negative?', 'Is it less than 0?', '(negative? -1)', (n) => n < 0),
  def1('(odd? n)', 'Is the integer odd?', '(odd? 3)', (n) => !isEven('odd?', n)),
  def1('(even? n)', 'Is the integer even?', '(even? 4)', (n) => isEven('even?', n)),
  def('(number->string n [radix])', 'The number as it is written.', '(number->string 255 16)', (args, ctx) => {
    const n = num('number->string', args[0])
    const base = radix('number->string', args[1])
    if (typeof n === 'bigint') {
      const bits = bitLength(n)
      ctx.charge(bits)
      ctx.alloc(1 + (bits >> (base === 2 ? 3 : 4)))
    }
    return printNumber(n, base)
  }),
  def('(string->number text [radix])', 'The number a text says, or #f.', '(string->number "1e3")', (args, ctx) => {
    const [text] = args
    if (typeof text !== 'string') throw notOf('string->number', 'a string', text ?? null)
    ctx.charge(text.length)
    const n = parseNumber(text, radix('string->number', args[1]))
    return n === undefined || typeof n === 'string' ? false : typeof n === 'bigint' ? guard(n, ctx) : n
  }),
]

function isEven(name: string, v: Value): boolean {
  const n = integer(name, v)
  return typeof n === 'bigint' ? n % 2n === 0n : n % 2 === 0
}

function minus(args: Value[], ctx: CallContext): Num {
  if (args.length === 0) throw new SchemeError('-: expects at least 1 argument, got 0')
  if (args.length === 1) return typeof args[0] === 'number' ? -args[0] : arith.subtract(0n, args[0]!, ctx)
  return args.slice(1).reduce<Num>((left, arg) => arith.subtract(left, arg, ctx), num('-', args[0]))
}

function over(args: Value[], ctx: CallContext): Num {
  if (args.length === 0) throw new SchemeError('/: expects at least 1 argument, got 0')
  if (args.length === 1) return arith.divide(1n, args[0]!, ctx)
  return args.slice(1).reduce<Num>((left, arg) => arith.divide(left, arg, ctx), num('/', args[0]))
}

function radix(name: string, v: Value | undefined): number {
  if (v === undefined) return 10
  if (v !== 2n && v !== 8n && v !== 10n && v !== 16n) throw notOf(name, 'a radix of 2, 8, 10 or 16', v)
  return Number(v)
}
