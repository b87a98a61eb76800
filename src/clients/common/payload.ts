import { findSecrets } from '../../secrets/find.ts'

/** What a client may send: anything. Each of these gives what is there in the form wanted, else undefined; none throws. */
export type Payload = Readonly<Record<string, unknown>>

const isRecord = (value: unknown): value is Payload =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const record = (value: unknown): Payload => (isRecord(value) ? value : {})

/** The first of these fields that holds a text with something in it. */
export function text(from: Payload, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = Object.hasOwn(from, name) ? from[name] : undefined
    if (typeof value === 'string' && value !== '') return value
  }
  return undefined
}

export function number(from: Payload, ...names: readonly string[]): number | undefined {
  for (const name of names) {
    const value = Object.hasOwn(from, name) ? from[name] : undefined
    if (typeof value === 'number' && Number.isFinite(value)) return value
  }
  return undefined
}

export const flag = (from: Payload, ...names: readonly string[]): boolean =>
  names.some((name) => Object.hasOwn(from, name) && from[name] === true)

export const sub = (from: Payload, ...names: readonly string[]): Payload => {
  for (const name of names) if (Object.hasOwn(from, name) && isRecord(from[name])) return from[name]
  return {}
}

/** A field that holds an object, or JSON of one in a text. */
export function objectOrJson(value: unknown): Payload {
  if (typeof value !== 'string') return record(value)
  try {
    return record(JSON.parse(value))
  } catch {
    return {}
  }
}

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Ids as clients make them: they need no look. */
const UUID = /^[0-9a-f-]{1,36}$/i

/** An id as it may be kept: printable, not endless, no secret. */
export function idOf(value: string | undefined): string {
  if (value === undefined || (!UUID.test(value) && findSecrets(value).length > 0)) return ''
  return value
    .replace(/[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]+/gu, '')
    .slice(0, 200)
    .toWellFormed()
}

/** Leaves out what was not said. */
export function said<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const out: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(fields)) if (value !== undefined) out[key] = value
  return out as never
}
