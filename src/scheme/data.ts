import { UserError } from '../base/errors.ts'
import { print, printLimited } from './layout.ts'
import { Reader } from './reader.ts'
import { Bracketed, Char, Entity, elements, Keyword, list, Pair, Rec, SchemeError, Sym, type Value, Vec } from './values.ts' // biome-ignore format: one line of names
import { layoutData, MAX_DEPTH, type Shapes, shapeOf } from './write.ts'

export type { Shape, Shapes } from './write.ts'

/** What the data notation can say: JSON, and entities. A list of entities of one kind may print as a table. */
export type Data = null | boolean | number | string | readonly Data[] | { readonly [key: string]: Data } | DataEntity

export class DataEntity {
  declare private readonly brand: 'entity'
  readonly kind: string
  readonly fields: ReadonlyMap<string, Data>
  constructor(kind: string, fields: ReadonlyMap<string, Data>) {
    this.kind = kind
    this.fields = fields
  }
}

/** Prints so that `parseData` with the same shapes gives the same value. Throws a UserError for what is nested too deep. */
export function printData(data: Data, shapes?: Shapes, options: { maxChars?: number } = {}): string {
  const layout = layoutData(fromData(data), shapes)
  return options.maxChars === undefined ? print(layout) : printLimited(layout, options.maxChars)
}

/** JSON data as a program sees it: integers are exact, arrays are lists, objects records, null is nil. */
export function fromData(data: unknown, depth = 0): Value {
  if (data === null || data === undefined) return null
  if (typeof data === 'string' || typeof data === 'boolean' || typeof data === 'bigint') return data
  if (typeof data === 'number') return Number.isSafeInteger(data) ? BigInt(data) : Number.isFinite(data) ? data : null
  if (depth > MAX_DEPTH) throw new UserError('too_deep', `data nested deeper than ${MAX_DEPTH}`, 'flatten it')
  if (data instanceof Entity) return data
  if (data instanceof DataEntity) return new Entity(data.kind, fieldsOf(data.fields, depth))
  if (Array.isArray(data)) return list(data.map((item) => fromData(item, depth + 1)))
  return new Rec(fieldsOf(data instanceof Map ? data : Object.entries(data as object), depth))
}

function fieldsOf(entries: Iterable<readonly [string, unknown]>, depth: number): Map<string, Value> {
  const said = [...entries].filter(([, value]) => value !== undefined)
  return new Map(said.map(([key, value]) => [key, fromData(value, depth + 1)]))
}

const unreadable = (message: string): UserError => new UserError('unreadable_data', `cannot read this data: ${message}`)

/** Reads what `printData` or a query printed. A bare word is a string. Objects have no prototype. Throws a UserError. */
export function parseData(text: string, shapes?: Shapes): Data {
  const reader = new Reader(text)
  try {
    const read = reader.next()
    if (!read) throw unreadable('the end was reached where a value was expected')
    if (reader.next()) throw unreadable('more follows after the datum: put several in [ ]')
    return dataOf(read.form, shapes)
  } catch (error) {
    if (!(error instanceof SchemeError)) throw error
    throw new UserError('unreadable_data', error.message.replace('read this', 'read this data'), error.hint)
  }
}

const isAbsent = (v: Value): boolean => v instanceof Sym && v.name === '_'

function dataOf(v: Value, shapes: Shapes | undefined): Data {
  if (v === null || typeof v === 'boolean' || typeof v === 'string') return v
  if (typeof v === 'bigint' || Number.isFinite(v)) return Number(v)
  if (isAbsent(v)) throw unreadable('_ stands only in the rows of a table')
  if (v instanceof Sym) return v.name
  if (v instanceof Char) return v.text
  if (v instanceof Bracketed && v.open === '{') return recordOf(v.items, shapes)
  if (v instanceof Pair && v.car instanceof Sym) return formOf(v.car.name, v.cdr, shapes)
  const items = v instanceof Vec || v instanceof Bracketed ? v.items : elements(v)
  if (!items)
    throw unreadable(v instanceof Keyword ? `:${v.name} where a value was expected` : 'not a value of this notation')
  return items.map((item) => dataOf(item, shapes))
}

function recordOf(items: readonly Value[], shapes: Shapes | undefined): Data {
  const record: { [key: string]: Data } = Object.create(null)
  for (let i = 0; i < items.length; i += 2) record[(items[i] as Keyword).name] = dataOf(items[i + 1]!, shapes)
  return record
}

/** `(kind …)`, `(plural [:column …] [cell …] …)`, or, as queries print them, a plain list. */
function formOf(head: string, rest: Value, shapes: Shapes | undefined): Data {
  const items = elements(rest)
  if (!items) throw unreadable('a lone dot')
  const shape = shapeOf(head, shapes)
  const [columns, ...rows] = items
  const plural = !shape && columns instanceof Bracketed && columns.open === '[' ? shapes?.byPlural(head) : undefined
  if (plural) {
    const names = (columns as Bracketed).items.map((column) => {
      if (column instanceof Keyword) return column.name
      throw unreadable('the columns of a table are [:name …]')
    })
    return rows.map((row) => rowOf(plural.kind, names, row, shapes))
  }
  const firstKey = items.findIndex((item) => item instanceof Keyword)
  const unnamed = firstKey < 0 ? items.length : firstKey
  if (!shape && unnamed === items.length && unnamed > 0) return [head, ...items.map((item) => dataOf(item, shapes))]
  const positional = shape?.positional ?? []
  if (unnamed > positional.length)
    throw unreadable(`(${head} …) takes ${positional.length} value(s) without a name, ${unnamed} given`)
  const fields = new Map(items.slice(0, unnamed).map((item, i) => [positional[i]!, dataOf(item, shapes)]))
  for (let i = unnamed; i < items.length; i += 2) {
    const key = items[i]
    if (!(key instanceof Keyword) || i + 1 >= items.length) throw unreadable(`(${head} …): fields are :name value`)
    fields.set(key.name, dataOf(items[i + 1]!, shapes))
  }
  return new DataEntity(head, fields)
}

/** A row that was cut is shorter than the header: its missing cells are absent. */
function rowOf(kind: string, columns: readonly string[], row: Value, shapes: Shapes | undefined): DataEntity {
  if (!(row instanceof Bracketed) || row.open !== '[') throw unreadable('the rows of a table are [value …]')
  if (row.items.length > columns.length) throw unreadable('a row has more cells than the table has columns')
  const fields = new Map<string, Data>()
  for (const [i, column] of columns.entries()) {
    const cell = row.items[i]
    if (cell !== undefined && !isAbsent(cell)) fields.set(column, dataOf(cell, shapes))
  }
  return new DataEntity(kind, fields)
}
