import type { Json } from '../../../model/field.ts'
import { isObject, type JsonObject } from '../../../model/object.ts'

export const asList = (value: Json | undefined): string[] => (Array.isArray(value) ? value.map(String) : [])

/** A text that says something, trimmed. */
export const text = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined

/** A text, or the texts of a list. */
export const asStrings = (value: Json | undefined): string[] =>
  typeof value === 'string' ? [value] : Array.isArray(value) ? value.filter((v) => typeof v === 'string') : []

/** The value with each text changed; `path` are the keys and numbers that lead to it. */
export function mapStrings(
  value: Json,
  change: (text: string, path: readonly (string | number)[]) => string,
  path: readonly (string | number)[] = [],
): Json {
  if (typeof value === 'string') return change(value, path)
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((v, i) => mapStrings(v, change, [...path, i]))
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, mapStrings(v, change, [...path, k])]))
}

export const unlessEmpty = (object: JsonObject): JsonObject | undefined =>
  Object.keys(object).length > 0 ? object : undefined

export const unlessNone = (list: readonly string[]): string[] | undefined => (list.length > 0 ? [...list] : undefined)

/** Arguments without texts of which nothing is left. */
export const withoutEmpty = (args: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(args)
      .filter(([, value]) => value !== '')
      .map(([arg, value]) => [arg, Array.isArray(value) ? value.filter((v) => v !== '') : value]),
  )

export const leafOf = (tree: Json | undefined, path: readonly string[]): Json | undefined =>
  path.reduce((node, key) => (isObject(node) && Object.hasOwn(node, key) ? node[key] : undefined), tree)

export function withLeaf(tree: Json | undefined, [key, ...rest]: readonly string[], value: Json): Json {
  if (key === undefined) return value
  const object = isObject(tree) ? tree : {}
  return { ...object, [key]: withLeaf(Object.hasOwn(object, key) ? object[key] : undefined, rest, value) }
}
