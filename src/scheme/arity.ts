import { SchemeError } from './values.ts'

export function checkArity(name: string, count: number, min: number, max: number): void {
  if (count < min || count > max) throw arityError(name, count, min, max)
}

/** The error of a call with the wrong number of arguments. */
export function arityError(name: string, count: number, min: number, max: number): SchemeError {
  const some = min === max ? `${min}` : max === Number.POSITIVE_INFINITY ? `at least ${min}` : `${min} to ${max}`
  return new SchemeError(
    `${name}: expects ${some} argument${some === '1' ? '' : 's'}, got ${count}`,
    `(help "${name}")`,
  )
}
