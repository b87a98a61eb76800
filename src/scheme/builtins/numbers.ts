import { isNum, type Num, notOf, num, str, WrongArgument } from '../argument-types.ts'
import { exceeded, MAX_BITS } from '../budget.ts'
import { parseNumber, printNumber } from '../numeral.ts'
import { type Args, type CallContext, type Run, SchemeError, type Value } from '../values.ts'

/** Beyond this an integer is large enough for its size to be measured and paid for. */
const LARGE = 1n << 256n

/** Bits of the absolute value, or up to three more of a large one. */
function bitLength(n: bigint): number {
  if (n < 0n) n = -n
  if (n < LARGE) return n < 4294967296n ? 32 - Math.clz32(Number(n)) : n.toString(2).length
  return n.toString(16).length * 4
}

/** Lets a result pass if it is not too large, and makes large ones cost what they do. */
export function guard(n: bigint, ctx: CallContext, effort = 1): bigint {
  if (n < LARGE && n > -LARGE) return n
  const bits = bitLength(n)
  if (bits > MAX_BITS) throw exceeded(`numbers of ${MAX_BITS} bits`, 'use inexact numbers: (inexact n)')
  ctx.charge((bits >> 8) * effort)
  ctx.alloc(bits >> 6)
  return n
}

type Operation = (a: Value, b: Value, ctx: CallContext) => Num

/** Of two exact integers, or of any two numbers as inexact ones. */
const operation =
  (exact: (a: bigint, b: bigint) => bigint, inexact: (a: number, b: number) => number, effort = 1): Operation =>
  (a, b, ctx) => {
    if (typeof a === 'bigint' && typeof b === 'bigint') return guard(exact(a, b), ctx, effort)
    return inexact(Number(num(a)), Number(num(b)))
  }

export const add = operation(
  (a, b) => a + b,
  (a, b) => a + b,
)
const subtract = operation(
  (a, b) => a - b,
  (a, b) => a - b,
)
const multiply = operation(
  (a, b) => a * b,
  (a, b) => a * b,
  8,
)
const divide: Operation = (a, b, ctx) => {
  const [n, m] = [num(a), num(b)]
  if (m === 0n) throw new SchemeError('/: division by zero')
  if (typeof n !== 'bigint' || typeof m !== 'bigint') return Number(n) / Number(m)
  ctx.charge(bitLength(n) >> 12)
  return n % m === 0n ? guard(n / m, ctx) : Number(n) / Number(m)
}

const sum =
  (zero: bigint, of: Operation): Run =>
  (args, ctx) =>
    args.length === 2 ? of(args[0], args[1], ctx) : args.reduce<Num>((sum, arg) => of(sum, arg, ctx), zero)

/** Of one number: what takes it back. */
const difference =
  (zero: bigint, of: Operation): Run =>
  ([first, ...rest], ctx) =>
    rest.length === 0 ? of(zero, first, ctx) : rest.reduce<Num>((left, arg) => of(left, arg, ctx), num(first))

/** Below, at or above 0; NaN is none of them. Exact and inexact are compared by their true values. */
export const compareNum = (a: Num, b: Num): number => (a < b ? -1 : a > b ? 1 : a >= b ? 0 : Number.NaN)

const comparison =
  (holds: (order: number) => boolean): Run =>
  (args) => {
    if (args.includes(null)) return false
    for (const arg of args) num(arg)
    return args.every((arg, i) => i === 0 || holds(compareNum(args[i - 1] as Num, arg as Num)))
  }

const extreme =
  (better: (order: number) => boolean): Run =>
  (args) => {
    let best = num(args[0])
    for (const arg of args) if (Number.isNaN(num(arg)) || better(compareNum(num(arg), best))) best = num(arg)
    return args.some((arg) => typeof arg === 'number') ? Number(best) : best
  }

function integer(v: Value): Num {
  const n = num(v)
  if (typeof n === 'number' && !Number.isInteger(n)) throw notOf('an integer', v)
  return n
}

const division =
  (exact: (a: bigint, b: bigint) => bigint, inexact: (a: number, b: number) => number): Run =>
  ([a, b], ctx) => {
    const [n, m] = [integer(a), integer(b)]
    if (Number(m) === 0) throw new WrongArgument('division by zero')
    if (typeof n !== 'bigint' || typeof m !== 'bigint') return inexact(Number(n), Number(m)) || 0 // never -0
    ctx.charge(bitLength(n) >> 12)
    return guard(exact(n, m), ctx)
  }

const quotient = division(
  (a, b) => a / b,
  (a, b) => Math.trunc(a / b),
)
const remainder = division(
  (a, b) => a % b,
  (a, b) => a % b,
)
const modulo = division(
  (a, b) => (a % b !== 0n && a < 0n !== b < 0n ? (a % b) + b : a % b),
  (a, b) => a - b * Math.floor(a / b),
)

const rounding =
  (of: (n: number) => number): Run =>
  ([v]) => {
    const n = num(v)
    return typeof n === 'bigint' ? n : of(n)
  }

/** To even, as R7RS and IEEE 754 have it. */
const bankers = (n: number): number => (Math.abs(n % 1) === 0.5 ? 2 * Math.round(n / 2) : Math.round(n))

const test =
  (holds: (n: Num) => boolean): Run =>
  ([v]) =>
    holds(num(v))

/** Of any value: #f for what is no number. */
const kind =
  (holds: (n: Num) => boolean): Run =>
  ([v]) =>
    isNum(v) && holds(v)

function exact(v: Value, ctx: CallContext): bigint {
  const n = num(v)
  if (typeof n === 'bigint') return n
  if (!Number.isInteger(n))
    throw new WrongArgument(`${printNumber(n)} is no integer`, 'exact fractions are not offered: round first')
  return guard(BigInt(n), ctx)
}

function expt([a, b]: Args, ctx: CallContext): Num {
  const [base, power] = [num(a), num(b)]
  if (typeof base !== 'bigint' || typeof power !== 'bigint' || power < 0n) return Number(base) ** Number(power)
  if (base >= -1n && base <= 1n) return power === 0n ? 1n : base ** (power % 2n === 0n ? 2n : 1n)
  if (power * BigInt(Math.max(1, bitLength(base) - 1)) > BigInt(MAX_BITS))
    throw exceeded(`numbers of ${MAX_BITS} bits`, 'use inexact numbers: (expt 2.0 1000)')
  return guard(base ** power, ctx)
}

/** Exact where the root of an exact integer is one. */
function sqrt([v]: Args): Num {
  const n = num(v)
  if (n < 0) throw new WrongArgument('complex numbers are not offered', 'the argument must not be negative')
  const root = Math.sqrt(Number(n))
  return typeof n === 'bigint' && Number.isFinite(root) && BigInt(Math.round(root)) ** 2n === n
    ? BigInt(Math.round(root))
    : root
}

const isEven = (v: Value): boolean => {
  const n = integer(v)
  return typeof n === 'bigint' ? n % 2n === 0n : n % 2 === 0
}

/** Exact integers of any size up to the budget, inexact numbers as IEEE doubles; no fractions, no complex numbers. */
// biome-ignore format: a table, one entry a line where it can be
export const numbers: Record<string, Run | string> = {
  '(+ n …) | The sum. | (+ 1 2 3)': sum(0n, add),
  '(* n …) | The product. | (* 2 3 4)': sum(1n, multiply),
  '(- n m …) | The difference; of one number its negation. | (- 10 3 2)': (args, ctx) =>
    args.length === 2
      ? subtract(args[0], args[1], ctx)
      : args.length === 1 && typeof args[0] === 'number'
        ? -args[0]
        : difference(0n, subtract)(args, ctx),
  '(/ n m …) | The quotient; exact only where it comes out even, else inexact: (/ 1 2) is 0.5. | (/ 10 4)': difference(1n, divide),
  '(= a b …) | Are all numbers equal? With nil among them: #f. | (= 1 1.0)': comparison((order) => order === 0),
  '(< a b …) | Does each number exceed the one before? With nil among them: #f. | (< 1 2 3)': comparison((n) => n < 0),
  '(> a b …) | Is each number less than the one before? With nil among them: #f. | (> 3 2 1)': comparison((n) => n > 0),
  '(<= a b …) | Is no number less than the one before? With nil among them: #f. | (<= 1 1 2)': comparison((n) => n <= 0),
  '(>= a b …) | Is no number more than the one before? With nil among them: #f. | (>= 2 1 1)': comparison((n) => n >= 0),
  '(quotient n m) | Integer division towards zero. | (quotient -7 2)': quotient,
  '(remainder n m) | What quotient leaves; the sign of n. | (remainder -7 2)': remainder,
  '(modulo n m) | What floor division leaves; the sign of m. | (modulo -7 2)': modulo,
  '(abs n) | The size without the sign. | (abs -3)': ([n], ctx) => typeof n === 'bigint' ? (n < 0n ? guard(-n, ctx) : n) : Math.abs(Number(num(n))),
  '(min a b …) | The least of the numbers. | (min 3 1 2)': extreme((order) => order < 0),
  '(max a b …) | The greatest of the numbers. | (max 3 1 2)': extreme((order) => order > 0),
  '(floor n) | The nearest integer that is not more. | (floor 2.7)': rounding(Math.floor),
  '(ceiling n) | The nearest integer that is not less. | (ceiling 2.1)': rounding(Math.ceil),
  '(truncate n) | The integer towards zero. | (truncate -2.7)': rounding(Math.trunc),
  '(round n) | The nearest integer; a tie goes to the even one. | (round 2.5)': rounding(bankers),
  '(round-to n digits) | n rounded to so many digits after the point. | (round-to 0.8567 2)': ([n, digits]) => {
    const [x, places] = [num(n), Number(integer(digits))]
    if (places < 0 || places > 20) throw new WrongArgument('digits is from 0 to 20')
    return typeof x === 'bigint' || !Number.isFinite(x) ? x : Number(x.toFixed(places))
  },
  '(exact n) | The exact integer equal to n. | (exact 2.0)': ([n], ctx) => exact(n, ctx),
  '(inexact n) | The inexact number nearest to n. | (inexact 2)': ([v]) => Number(num(v)),
  '(expt n m) | n to the power m. | (expt 2 10)': expt,
  '(square n) | n times n. | (square 5)': ([n], ctx) => multiply(n, n, ctx),
  '(sqrt n) | The square root, exact where it can be. | (sqrt 16)': sqrt,
  '(number? x) | Is it a number? | (number? 1)': kind(() => true),
  '(real? x) | Is it a number? | (real? 1.5)': kind(() => true),
  '(integer? x) | Is it a whole number, exact or not? | (integer? 2.0)': kind((n) => typeof n === 'bigint' || Number.isInteger(n)),
  '(exact-integer? x) | Is it an exact integer? | (exact-integer? 2)': kind((n) => typeof n === 'bigint'),
  '(exact? n) | Is the number exact? | (exact? 2)': test((n) => typeof n === 'bigint'),
  '(inexact? n) | Is the number inexact? | (inexact? 2.0)': test((n) => typeof n === 'number'),
  '(nan? n) | Is it not a number? | (nan? +nan.0)': test((n) => Number.isNaN(n)),
  '(zero? n) | Is it 0? | (zero? 0)': test((n) => n === 0n || n === 0),
  '(positive? n) | Is it more than 0? | (positive? 1)': test((n) => n > 0),
  '(negative? n) | Is it less than 0? | (negative? -1)': test((n) => n < 0),
  '(odd? n) | Is the integer odd? | (odd? 3)': ([n]) => !isEven(n),
  '(even? n) | Is the integer even? | (even? 4)': ([n]) => isEven(n),
  '(number->string n) | The number as it is written. | (number->string 255)': ([n], ctx) => {
    const bits = typeof n === 'bigint' ? bitLength(n) : 0
    ctx.charge(bits)
    ctx.alloc(1 + (bits >> 4))
    return printNumber(num(n))
  },
  '(string->number text) | The number a text says, or #f. | (string->number "1e3")': ([text], ctx) => {
    ctx.charge(str(text).length)
    const n = parseNumber(str(text))
    return n === undefined || typeof n === 'string' ? false : typeof n === 'bigint' ? guard(n, ctx) : n
  },
}
