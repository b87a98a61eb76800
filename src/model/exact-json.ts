import { attempt, UserError, when } from '../base/errors.ts'
import type { Json } from './field.ts'

/** Every number of at most this many digits survives JSON unchanged. */
const EXACT_DIGITS = 15
/** From here on numbers print with an exponent: nobody takes them for an id. */
const PRINTED_WHOLE = 1e21

/** Whether a JSON reader may have rounded the number: it is whole, beyond 2^53 and has many digits. */
function mayBeRounded(n: number): boolean {
  if (!Number.isInteger(n) || Number.isSafeInteger(n) || Math.abs(n) >= PRINTED_WHOLE) return false
  return String(Math.abs(n)).replace(/(?<!0)0+$/, '').length > EXACT_DIGITS
}

/** Where in a value such numbers stand. */
export function roundedIn(
  value: Json,
  path: readonly (string | number)[] = [],
): { path: (string | number)[]; n: number }[] {
  if (typeof value === 'number') return mayBeRounded(value) ? [{ path: [...path], n: value }] : []
  if (value === null || typeof value !== 'object') return []
  const entries: [string | number, Json][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  return entries.flatMap(([key, v]) => roundedIn(v, [...path, key]))
}

/** Deeper data is nobody's: whatever walks it would run out of stack. */
const DEEPEST = 1_000

/** Where a text that begins with a quote ends: at the next quote before which stands an even number of backslashes. */
function endOfText(json: string, from: number): number {
  for (let at = json.indexOf('"', from + 1); at >= 0; at = json.indexOf('"', at + 1)) {
    let first = at
    while (json[first - 1] === '\\') first--
    if ((at - first) % 2 === 0) return at
  }
  return -1
}

export function isTooDeep(text: string): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const c = text[at]
    if (c === '"') {
      const end = endOfText(text, at)
      if (end < 0) return false
      at = end
    } else if (c === '[' || c === '{') {
      if (++depth > DEEPEST) return true
    } else if (c === ']' || c === '}') depth--
  }
  return false
}

/** JSON.parse of outside input. @throws SyntaxError, UserError `too-deep`. */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) throw new UserError('too-deep', `JSON nested deeper than ${DEEPEST} levels`, 'take it apart')
  return JSON.parse(text)
}

/** The same; undefined where it is none, or too deep. */
export const outsideJson = (text: string): Json | undefined => attempt(() => parseJson(text) as Json)

/** JSON.parse that refuses whole numbers it would round. @throws SyntaxError, UserError `inexact-number` or `too-deep`. */
function parseExact(text: string): unknown {
  const plain = parseJson(text)
  if (!/\d{16}/.test(text)) return plain
  const check = (_key: string, value: unknown, { source }: { source?: string }): unknown => {
    if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value
    if (!/^-?\d+$/.test(source) || (Number.isFinite(value) && BigInt(source) === BigInt(value))) return value
    const said = source.slice(0, 60)
    throw new UserError(
      'inexact-number',
      `${said} is beyond 2^53 and would be kept as ${value}`,
      `give it as a string: "${said}", in a shell '"${said}"'`,
      { received: said },
    )
  }
  return JSON.parse(text, check as (key: string, value: unknown) => unknown)
}

const isUnread = (error: unknown) => !(error instanceof UserError)
/** The same; of what is no JSON, what `otherwise` makes of the reason. */
export const exactOr = (text: string, otherwise: (why: string) => unknown): unknown =>
  attempt(
    () => parseExact(text),
    when(isUnread, ({ message }) => otherwise(message)),
  )
