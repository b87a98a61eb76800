import type { Json } from '../../model/field.ts'

export type Tree = { [key: string]: Json }

export const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The items of a list as text; none of anything else. */
export const asList = (value: Json | undefined): string[] => (Array.isArray(value) ? value.map(String) : [])

/** A text, or the texts of a list. */
export const asStrings = (value: Json): string[] =>
  typeof value === 'string' ? [value] : Array.isArray(value) ? value.filter((v) => typeof v === 'string') : []

export function mapStrings(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value)
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((v) => mapStrings(v, change))
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, mapStrings(v, change)]))
}

/** Arguments without texts of which nothing is left. */
export function withoutEmpty(args: Tree): Tree {
  return Object.fromEntries(
    Object.entries(args).flatMap(([arg, value]): [string, Json][] => {
      if (value === '') return []
      return [[arg, Array.isArray(value) ? value.filter((v) => v !== '') : value]]
    }),
  )
}
