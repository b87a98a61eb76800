import { type Data, DataEntity } from './data-types.ts'
import {
  Char,
  Empty,
  Entity,
  elements,
  Keyword,
  list,
  Many,
  Pair,
  Rec,
  SchemeError,
  Sym,
  typeName,
  Unspecified,
  type Value,
  Vec,
} from './values.ts'

/** Deeper data is refused on its way out, where it would have to recurse. */
const MAX_DEPTH = 300

/** JSON data as a program sees it: integers are exact, arrays are lists, objects records, null is nil. */
export function fromData(data: unknown, depth = 0): Value {
  if (data === null || data === undefined) return null
  if (typeof data === 'string' || typeof data === 'boolean' || typeof data === 'bigint') return data
  if (typeof data === 'number') return Number.isSafeInteger(data) ? BigInt(data) : data
  if (depth > MAX_DEPTH) throw new SchemeError(`data nested deeper than ${MAX_DEPTH}`)
  if (data instanceof DataEntity) return new Entity(data.kind, mapFields(data.fields, depth))
  if (data instanceof Entity) return data
  if (Array.isArray(data)) return list(data.map((item) => fromData(item, depth + 1)))
  if (data instanceof Map) return new Rec(mapFields(data, depth))
  if (typeof data === 'object') return new Rec(mapFields(Object.entries(data), depth))
  throw new SchemeError(`not data: ${typeof data}`)
}

function mapFields(entries: Iterable<readonly [string, unknown]>, depth: number): Map<string, Value> {
  const fields = new Map<string, Value>()
  for (const [key, value] of entries) if (value !== undefined) fields.set(key, fromData(value, depth + 1))
  return fields
}

/** A program's value as data: symbols, keywords and characters become strings, vectors arrays; a procedure is refused. */
export function toData(value: Value, depth = 0): Data {
  if (value === null || value instanceof Unspecified) return null
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'bigint') return Number(value)
  if (typeof value === 'number') return Number.isFinite(value) ? (value === 0 ? 0 : value) : null
  if (value instanceof Sym) return value.name
  if (value instanceof Keyword) return `:${value.name}`
  if (value instanceof Char) return value.text
  if (value instanceof Empty) return []
  if (depth > MAX_DEPTH) throw new SchemeError(`a value nested deeper than ${MAX_DEPTH} is not data`)
  const inner = (v: Value): Data => toData(v, depth + 1)
  if (value instanceof Pair) {
    const items = elements(value)
    if (!items) throw new SchemeError('a list that does not end in () is not data')
    return items.map(inner)
  }
  if (value instanceof Vec || value instanceof Many) return value.items.map(inner)
  if (value instanceof Entity)
    return new DataEntity(value.kind, new Map([...value.fields].map(([k, v]) => [k, inner(v)])))
  if (value instanceof Rec) {
    const record: { [key: string]: Data } = Object.create(null)
    for (const [key, v] of value.entries) record[key] = inner(v)
    return record
  }
  throw new SchemeError(`${typeName(value)} is not data`)
}
