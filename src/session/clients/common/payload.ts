import { findSecrets } from '../../../base/secrets/find.ts'
import { isObject, jsonIn } from '../../../model/object.ts'

/** What a client may send: anything. Each of these gives what is there in the form wanted, else undefined; none throws. */
export type Payload = Readonly<Record<string, unknown>>

export const record = (value: unknown): Payload => (isObject(value) ? value : {})

const own = (from: Payload, name: string): unknown => (Object.hasOwn(from, name) ? from[name] : undefined)

export const text = (from: Payload, ...names: readonly string[]): string | undefined =>
  names.map((name) => own(from, name)).find((value) => typeof value === 'string' && value !== '') as string | undefined

export const number = (from: Payload, ...names: readonly string[]): number | undefined =>
  names.map((name) => own(from, name)).find((value) => Number.isFinite(value)) as number | undefined

export const sub = (from: Payload, name: string): Payload => record(own(from, name))

export const objectOrJson = (value: unknown): Payload => record(typeof value === 'string' ? jsonIn(value) : value)

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const UUID = /^[0-9a-f-]{1,36}$/i
const PLAIN = /^[\x21-\x7e]{1,200}$/

/** An id as it may be kept: printable, not endless, no secret. */
export function idOf(value: string | undefined): string {
  if (value === undefined || (!UUID.test(value) && findSecrets(value).length > 0)) return ''
  if (PLAIN.test(value)) return value
  return value
    .replace(/[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]+/gu, '')
    .slice(0, 200)
    .toWellFormed()
}
