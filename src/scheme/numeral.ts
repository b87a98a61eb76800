import { MAX_BITS } from './budget.ts'

/** Digits beyond which a numeral is refused before it is converted: the largest exact integer has fewer. */
export const MAX_DIGITS = Math.floor(MAX_BITS * Math.LOG10E * Math.LN2)

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
const INTEGER = /^[+-]?\d+$/
const RATIONAL = /^[+-]?[\da-f]+\/[\da-f]+$/i
const DIGITS: Record<number, RegExp> = { 2: /^[01]+$/, 8: /^[0-7]+$/, 16: /^[\da-f]+$/i }
const RADIX: Record<string, number> = { x: 16, b: 2, o: 8, d: 10 }

/** A numeral as R7RS reads it; `rational` and `too-long` are what we do not hold; undefined if it is no number. */
export function parseNumber(text: string, radix = 10): bigint | number | 'rational' | 'too-long' | undefined {
  let exactness = ''
  let rest = text
  while (rest.startsWith('#') && rest.length > 2) {
    const mark = rest[1]!.toLowerCase()
    if (RADIX[mark] !== undefined) radix = RADIX[mark]
    else if (mark === 'e' || mark === 'i') exactness = mark
    else return undefined
    rest = rest.slice(2)
  }
  const n = unmarked(rest, radix)
  if (typeof n === 'number' && exactness === 'e')
    return Number.isInteger(n) ? BigInt(n) : Number.isFinite(n) ? 'rational' : undefined
  if (typeof n === 'bigint' && exactness === 'i') return Number(n)
  return n
}

function unmarked(text: string, radix: number): ReturnType<typeof parseNumber> {
  if (text === '+inf.0') return Number.POSITIVE_INFINITY
  if (text === '-inf.0') return Number.NEGATIVE_INFINITY
  if (text === '+nan.0' || text === '-nan.0') return Number.NaN
  if (radix === 10) {
    if (INTEGER.test(text)) return text.length > MAX_DIGITS ? 'too-long' : BigInt(text.replace('+', ''))
    if (DECIMAL.test(text)) return Number(text)
    return RATIONAL.test(text) && /^[-+\d/]+$/.test(text) ? 'rational' : undefined
  }
  const sign = text.startsWith('-') ? -1n : 1n
  const digits = text.replace(/^[+-]/, '')
  if (RATIONAL.test(digits)) return 'rational'
  if (!DIGITS[radix]?.test(digits)) return undefined
  if (digits.length > MAX_DIGITS) return 'too-long'
  return sign * BigInt((radix === 16 ? '0x' : radix === 8 ? '0o' : '0b') + digits)
}

/** As R7RS writes a number: an inexact integer keeps its point. */
export function printNumber(n: bigint | number, radix = 10): string {
  if (typeof n === 'bigint') return n.toString(radix)
  if (Number.isNaN(n)) return '+nan.0'
  if (n === Number.POSITIVE_INFINITY) return '+inf.0'
  if (n === Number.NEGATIVE_INFINITY) return '-inf.0'
  if (Object.is(n, -0)) return '-0.0'
  const text = n.toString(radix).replace('e+', 'e')
  return Number.isInteger(n) && !/[.e]/.test(text) ? text + '.0' : text
}

/** As JSON knows numbers: what `Number()` reads back as the same one; −0 is 0. */
export const printJsonNumber = (n: number): string =>
  Number.isFinite(n) ? String(n === 0 ? 0 : n).replace('e+', 'e') : 'nil'
