import { attempt } from '../base/errors.ts'
import type { Json } from './field.ts'

export type JsonObject = { [key: string]: Json }

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The object without the keys that nothing was said of. */
export const defined = <T extends object>(object: T): T =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T

/** What a JSON text says; undefined where it is none, as a line that was cut off. */
export const jsonIn = (text: string): unknown => attempt((): unknown => JSON.parse(text))
