import { Entity, Pair, Rec, SchemeError, type Value } from './values.ts'

/**
 * `(:k x)` and `(@ x :k)`: a missing field is the default, normally nil. `:kind` of an entity without such a field
 * is its kind. Whatever has no fields has no field of that name either; but a list of things that have asks for `map`.
 */
export function access(x: Value, key: string, missing: Value): Value {
  if (x instanceof Entity) {
    const { fields } = x
    if (fields.has(key)) return fields.get(key) ?? null
    return x.hidden.get(key) ?? (key === 'kind' ? x.kind : missing)
  }
  if (x instanceof Rec) return x.entries.get(key) ?? (x.entries.has(key) ? null : missing)
  if (x instanceof Pair && (x.car instanceof Entity || x.car instanceof Rec))
    throw new SchemeError(`:${key} of a list: one entity or record is expected`, `(map :${key} xs) reads it from each`)
  return missing
}
