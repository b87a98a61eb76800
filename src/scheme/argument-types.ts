import { Builtin, type CallContext, Char, Closure, Empty, Entity, elements, Keyword, Many, Pair, Rec, SchemeError, Sym, type Value, Vec } from './values.ts' // biome-ignore format: one line of names
import { brief } from './write.ts'

export class WrongArgument extends SchemeError {
  readonly says: string
  constructor(says: string, hint = '') {
    super(says, hint)
    this.says = says
  }
  of(name: string): SchemeError {
    const plain = name.replace('%', '')
    return new SchemeError(`${plain}: ${this.says}`, this.hint || `(help "${plain}")`)
  }
}

export const notOf = (wanted: string, value: Value): WrongArgument =>
  value === null
    ? new WrongArgument(`expects ${wanted}, got nil`, 'a missing field is nil: (or (:field x) instead)')
    : new WrongArgument(`expects ${wanted}, got ${typeName(value)}: ${brief(value)}`)

export function checkArity(name: string, count: number, min: number, max: number): void {
  if (count >= min && count <= max) return
  const some = min === max ? `${min}` : max === Number.POSITIVE_INFINITY ? `at least ${min}` : `${min} to ${max}`
  const what = `expects ${some} argument${some === '1' ? '' : 's'}, got ${count}`
  throw new SchemeError(`${name}: ${what}`, `(help "${name}")`)
}

export type Num = bigint | number

export const isNum = (v: Value): v is Num => typeof v === 'bigint' || typeof v === 'number'

const of =
  <T extends Value>(is: (v: Value) => v is T, wanted: string) =>
  (v: Value): T => {
    if (is(v)) return v
    throw notOf(wanted, v)
  }
export const num = of(isNum, 'a number')
export const str = of((v) => typeof v === 'string', 'a string')
export const char = of((v) => v instanceof Char, 'a character')
export const vec = of((v) => v instanceof Vec, 'a vector')
export const pair = of((v) => v instanceof Pair, 'a pair')

/** The elements of a proper list, paid for. */
export function items(v: Value, ctx: CallContext): Value[] {
  const found = elements(v)
  if (!found) throw notOf('a list', v)
  ctx.charge(found.length)
  return found
}

/** An exact integer from 0 to `max`; without, a count, however large: what it would build is paid for before it is built. */
export function index(v: Value, max = Number.MAX_SAFE_INTEGER): number {
  const n = typeof v === 'number' && Number.isInteger(v) ? BigInt(v) : v
  if (typeof n !== 'bigint') throw notOf('an exact integer', v)
  if (n < 0n || n > BigInt(max)) throw new WrongArgument(`${brief(n)} is not between 0 and ${max}`)
  return Number(n)
}

/** `[start] [end]`, as many procedures take them. */
export function range(start: Value | undefined, end: Value | undefined, length: number): [number, number] {
  const to = end === undefined ? length : index(end, length)
  return [start === undefined ? 0 : index(start, to), to]
}

const TYPES = [
  [Pair, 'a list'], [Empty, 'the empty list'], [Sym, 'a symbol'], [Keyword, 'a keyword'], [Char, 'a character'], [Vec, 'a vector'],
  [Rec, 'a record'], [Builtin, 'a procedure'], [Closure, 'a procedure'], [Many, 'multiple values'],
] as const // biome-ignore format: a table

function typeName(v: Value): string {
  if (typeof v === 'bigint') return 'an exact integer'
  if (typeof v === 'number') return 'an inexact number'
  if (typeof v !== 'object') return `a ${typeof v}`
  if (v instanceof Entity) return `an entity (${v.kind})`
  return TYPES.find(([type]) => v instanceof type)?.[1] ?? 'nothing'
}
