import { brief } from './excerpt.ts'
import { type CallContext, Char, elements, Pair, SchemeError, Sym, typeName, type Value, Vec } from './values.ts'

/** The error of an argument of the wrong type: names the procedure, what it takes and what it got. */
export const notOf = (name: string, wanted: string, value: Value): SchemeError =>
  value === null
    ? new SchemeError(`${name}: expects ${wanted}, got nil`, 'a missing field is nil: (or (:field x) instead)')
    : new SchemeError(`${name}: expects ${wanted}, got ${typeName(value)}: ${brief(value)}`, `(help "${name}")`)

export type Num = bigint | number

export const isNum = (v: Value | undefined): v is Num => typeof v === 'bigint' || typeof v === 'number'

export function num(name: string, v: Value | undefined): Num {
  if (typeof v === 'bigint' || typeof v === 'number') return v
  throw notOf(name, 'a number', v ?? null)
}

export function str(name: string, v: Value | undefined): string {
  if (typeof v === 'string') return v
  throw notOf(name, 'a string', v ?? null)
}

export function char(name: string, v: Value | undefined): Char {
  if (v instanceof Char) return v
  throw notOf(name, 'a character', v ?? null)
}

export function sym(name: string, v: Value | undefined): Sym {
  if (v instanceof Sym) return v
  throw notOf(name, 'a symbol', v ?? null)
}

export function vec(name: string, v: Value | undefined): Vec {
  if (v instanceof Vec) return v
  throw notOf(name, 'a vector', v ?? null)
}

export function pair(name: string, v: Value | undefined): Pair {
  if (v instanceof Pair) return v
  throw notOf(name, 'a pair', v ?? null)
}

/** The elements of a proper list, paid for. */
export function items(name: string, v: Value | undefined, ctx: CallContext): Value[] {
  const found = elements(v ?? null)
  if (!found) throw notOf(name, 'a list', v ?? null)
  ctx.charge(found.length)
  return found
}

/** An exact integer from 0 to `max`. */
export function index(name: string, v: Value | undefined, max: number): number {
  if (typeof v === 'number' && Number.isInteger(v)) v = BigInt(v)
  if (typeof v !== 'bigint') throw notOf(name, 'an exact integer', v ?? null)
  if (v < 0n || v > BigInt(max)) throw new SchemeError(`${name}: ${brief(v)} is not between 0 and ${max}`)
  return Number(v)
}

/** An exact count, however large: what it would build is paid for before it is built. */
export function count(name: string, v: Value | undefined): number {
  return index(name, v, Number.MAX_SAFE_INTEGER)
}

/** `[start [end]]` as the last arguments of many procedures. */
export function range(name: string, args: readonly Value[], at: number, length: number): [number, number] {
  const end = args[at + 1] === undefined ? length : index(name, args[at + 1], length)
  const start = args[at] === undefined ? 0 : index(name, args[at], end)
  return [start, end]
}
