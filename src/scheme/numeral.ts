import { MAX_BITS } from './budget.ts'

/** Digits beyond which a numeral is refused before it is converted: the largest exact integer has fewer. */
export const MAX_DIGITS = Math.floor(MAX_BITS * Math.LOG10E * Math.LN2)

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
const INTEGER = /^[+-]?\d+$/
const RATIONAL = /^[+-]?\d+\/\d+$/
const IN_RADIX = /^#(?:x[+-]?[\da-f]+|b[+-]?[01]+|o[+-]?[0-7]+)$/i
const SPECIAL: Record<string, number> = { '+inf.0': 1 / 0, '-inf.0': -1 / 0, '+nan.0': 0 / 0, '-nan.0': 0 / 0 }

/** A numeral as R7RS reads it; `rational` and `too-long` are what we do not hold; undefined if it is no number. */
export function parseNumber(text: string): bigint | number | 'rational' | 'too-long' | undefined {
  if (INTEGER.test(text)) return text.length > MAX_DIGITS ? 'too-long' : BigInt(text.replace('+', ''))
  if (DECIMAL.test(text)) return Number(text)
  if (RATIONAL.test(text)) return 'rational'
  if (IN_RADIX.test(text)) {
    if (text.length > MAX_DIGITS) return 'too-long'
    const size = BigInt(`0${text.slice(1).toLowerCase().replace(/[+-]/, '')}`)
    return text[2] === '-' ? -size : size
  }
  const mark = text.slice(0, 2).toLowerCase()
  if (mark === '#d') return parseNumber(text.slice(2))
  if (mark !== '#e' && mark !== '#i') return Object.hasOwn(SPECIAL, text) ? SPECIAL[text] : undefined
  const n = parseNumber(text.slice(2))
  if (mark === '#i') return typeof n === 'bigint' ? Number(n) : n
  if (typeof n !== 'number') return n
  return Number.isInteger(n) ? BigInt(n) : Number.isFinite(n) ? 'rational' : undefined
}

/** As R7RS writes a number: an inexact integer keeps its point. */
export function printNumber(n: bigint | number): string {
  if (typeof n === 'bigint') return n.toString()
  if (Number.isNaN(n)) return '+nan.0'
  if (!Number.isFinite(n)) return n > 0 ? '+inf.0' : '-inf.0'
  if (Object.is(n, -0)) return '-0.0'
  const text = n.toString().replace('e+', 'e')
  return Number.isInteger(n) && !/[.e]/.test(text) ? text + '.0' : text
}
