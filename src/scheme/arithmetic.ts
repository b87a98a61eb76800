import { type Num, notOf, num } from './argument-types.ts'
import { exceeded, MAX_BITS } from './budget.ts'
import { type CallContext, SchemeError, type Value } from './values.ts'

/** Beyond this an integer is large enough for its size to be measured and paid for. */
const LARGE = 1n << 256n

/** Bits of the absolute value. */
export function bitLength(n: bigint): number {
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

function add(a: Value, b: Value, ctx: CallContext): Num {
  if (typeof a === 'bigint' && typeof b === 'bigint') return guard(a + b, ctx)
  if (typeof a === 'number' && typeof b === 'number') return a + b
  return Number(num('+', a)) + Number(num('+', b))
}

function subtract(a: Value, b: Value, ctx: CallContext): Num {
  if (typeof a === 'bigint' && typeof b === 'bigint') return guard(a - b, ctx)
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return Number(num('-', a)) - Number(num('-', b))
}

function multiply(a: Value, b: Value, ctx: CallContext): Num {
  if (typeof a === 'bigint' && typeof b === 'bigint') return guard(a * b, ctx, 8)
  if (typeof a === 'number' && typeof b === 'number') return a * b
  return Number(num('*', a)) * Number(num('*', b))
}

function divide(a: Value, b: Value, ctx: CallContext): Num {
  const [n, m] = [num('/', a), num('/', b)]
  if (m === 0n) throw new SchemeError('/: division by zero')
  if (typeof n === 'bigint' && typeof m === 'bigint') {
    ctx.charge(bitLength(n) >> 12)
    return n % m === 0n ? guard(n / m, ctx) : Number(n) / Number(m)
  }
  return Number(n) / Number(m)
}

export const arith = { add, subtract, multiply, divide }

/** Below, at or above 0; NaN is none of them. Exact and inexact are compared by their true values. */
export function compareNum(a: Num, b: Num): number {
  return a < b ? -1 : a > b ? 1 : a >= b ? 0 : Number.NaN
}

export const isIntegral = (n: Num): boolean => typeof n === 'bigint' || Number.isInteger(n)

export function integer(name: string, v: Value | undefined): Num {
  const n = num(name, v)
  if (!isIntegral(n)) throw notOf(name, 'an integer', n)
  return n
}
