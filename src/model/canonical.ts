import type { Json } from './field.ts'

/** JSON with sorted keys: equal values give equal text. Equality of list items and hashing rest on it. */
export function canonical(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  // every line that comes in is written so once: lists in between would take half as long again
  let said = ''
  if (Array.isArray(value)) {
    for (const item of value) said += said === '' ? canonical(item) : `,${canonical(item)}`
    return `[${said}]`
  }
  for (const k of sorted(Object.keys(value))) said += `${said === '' ? '' : ','}${quoted(k)}:${canonical(value[k]!)}`
  return `{${said}}`
}

/** Objects have few keys: `sort` takes longer to begin than this takes. */
function sorted(keys: string[]): string[] {
  if (keys.length > 12) return keys.sort()
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i]!
    let at = i
    for (; at > 0 && keys[at - 1]! > key; at--) keys[at] = keys[at - 1]!
    keys[at] = key
  }
  return keys
}

/** Keys of lines and events come again and again. */
const known = new Map<string, string>()
function quoted(key: string): string {
  let text = known.get(key)
  if (text === undefined) {
    text = JSON.stringify(key)
    if (key.length <= 12 && known.size < 500) known.set(key, text)
  }
  return text
}

export type JsonProblem = { path: (string | number)[]; message: string; received: string; accepted: string }

/** A string longer than this is a document, not a field: it belongs into `chunk` entities (design §4). */
export const MAX_STRING = 16_384
/** Deeper structure than this is a mistake, and recursion over it would not be safe. */
const MAX_DEPTH = 32

/** The value as it will be stored (K7): JSON, NFC, no NUL or `__proto__`, sorted keys. Problems go to `problems`. */
export function normalizeJson(value: unknown, problems: JsonProblem[], path: (string | number)[] = []): Json {
  const bad = (message: string, received: string, accepted: string): null => {
    problems.push({ path, message, received, accepted })
    return null
  }
  if (path.length > MAX_DEPTH) return bad(`nested deeper than ${MAX_DEPTH}`, 'deep structure', 'flatter structure')
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return bad('not a finite number', String(value), 'a finite number')
    return value === 0 ? 0 : value
  }
  if (typeof value === 'string') {
    if (value.length > MAX_STRING)
      return bad(
        `${value.length} characters; the limit is ${MAX_STRING}`,
        `${value.slice(0, 40).toWellFormed()}…`,
        `at most ${MAX_STRING} characters`,
      )
    if (!value.isWellFormed())
      return bad('broken Unicode (half of a surrogate pair)', value.slice(0, 40).toWellFormed(), 'well-formed text')
    if (value.includes('\0'))
      return bad('has a NUL character', value.slice(0, 40).toWellFormed().replaceAll('\0', '\\0'), 'text without NUL')
    return value.normalize('NFC')
  }
  if (Array.isArray(value)) return value.map((v, i) => normalizeJson(v, problems, [...path, i]))
  if (
    typeof value === 'object' &&
    (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null)
  ) {
    const out: { [key: string]: Json } = {}
    for (const key of Object.keys(value).sort()) {
      if (key === '__proto__') return bad('a key named __proto__', key, 'another key')
      const cleanKey = normalizeJson(key, problems, path)
      if (typeof cleanKey === 'string')
        out[cleanKey] = normalizeJson((value as Record<string, unknown>)[key], problems, [...path, key])
    }
    return out
  }
  return bad('not a JSON value', typeof value, 'text, number, true, false, null, list or object')
}
