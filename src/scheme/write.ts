import { atom, type Group, group, type Layout, lazyGroup, MIN_SHARE, measure, print, printLimited } from './layout.ts'
import { inBars, isBare, isPlainSymbol, keyText, printChar } from './lexical.ts'
import { parseNumber, printNumber } from './numeral.ts'
import { Bracketed, Builtin, Char, Closure, Empty, Entity, type Fields, Keyword, Many, Pair, Rec, Sym, unlist, type Value, Vec } from './values.ts' // biome-ignore format: one line of names

export interface Shape {
  kind: string
  plural: string
  /** Fields printed first, without their names. */
  positional: string[]
  /** All fields in declared order, the common ones included. */
  fields: string[]
}

export type Shapes = { byKind(kind: string): Shape | undefined; byPlural(plural: string): Shape | undefined }

const ERROR: Shape = { kind: 'error', plural: 'errors', positional: ['message'], fields: ['message', 'hint'] }

/** `(error "…")` is an entity that needs no declaration. */
export const shapeOf = (kind: string, shapes?: Shapes): Shape | undefined =>
  kind === 'error' ? ERROR : shapes?.byKind(kind)

/** Deeper values are cut: the reader refuses what is nested deeper than its own limit. */
export const MAX_DEPTH = 300
const TOO_DEEP = atom(`nil #| nested deeper than ${MAX_DEPTH} |#`)

export const write = (value: Value, shapes?: Shapes): string => print(layoutValue(value, shapes))

/** `room`: for how many characters; of a longer list of entities no more are read than fit in. */
export const layoutValue = (value: Value, shapes?: Shapes, room = Number.POSITIVE_INFINITY): Layout =>
  new Writer(shapes, room).layout(value, 0)

/** A value as an error message shows it. */
export const brief = (value: Value): string => printLimited(layoutValue(value), 60)

/** The same in the data grammar, where a list is `[a b]`. */
export const layoutData = (value: Value, shapes?: Shapes): Layout => new Writer(shapes).cell(value, true, 0)

const symbolText = (name: string): string =>
  isPlainSymbol(name) && parseNumber(name) === undefined && name !== 'nil' && name !== '.' ? name : inBars(name)

/** A head begins with a letter, so that no plain list is taken for an entity. */
const headText = (kind: string): string =>
  isPlainSymbol(kind) && /^\p{L}/u.test(kind) && kind !== 'nil' ? kind : inBars(kind)

const pairLayout = (key: string, value: Layout): Layout => ({ type: 'pair', key, value })

/** Decimal digits of a large number cost milliseconds; how many there will be, its bits tell. */
const LARGE = 1n << 4096n

function integer(n: bigint): Layout {
  if (n > -LARGE && n < LARGE) return atom(printNumber(n))
  const hex = n.toString(16)
  const digits = Math.ceil(
    (hex.length - 14) * Math.log10(16) + Math.log10(Math.abs(Number.parseInt(hex.slice(0, 14), 16)) + 1),
  )
  return { type: 'atom', width: digits + (n < 0n ? 1 : 0), text: () => printNumber(n) }
}

/** Fewer entities than this are not worth a header. */
const MIN_ROWS = 3
/** Above this many the choice is made by the first ones: measuring all would cost more than it saves. */
const SAMPLE = 500
/** An item wider than this counts as this wide. */
const ROW_CAP = 100_000

class Writer {
  readonly shapes: Shapes | undefined
  readonly room: number
  constructor(shapes: Shapes | undefined, room = Number.POSITIVE_INFINITY) {
    this.shapes = shapes
    this.room = room
  }

  layout(value: Value, depth: number): Layout {
    if (value === null) return atom('nil')
    if (typeof value === 'string') return { type: 'text', text: value }
    if (typeof value === 'bigint') return integer(value)
    if (typeof value === 'number') return atom(printNumber(value))
    if (typeof value === 'boolean') return atom(value ? '#t' : '#f')
    if (value instanceof Sym) return atom(symbolText(value.name))
    if (value instanceof Keyword) return atom(keyText(value.name))
    if (value instanceof Char) return atom(printChar(value))
    if (value instanceof Empty) return atom('()')
    if (value instanceof Builtin || value instanceof Closure) {
      const name = value instanceof Builtin ? value.name : value.lambda.name
      return atom(name ? `#<procedure ${symbolText(name)}>` : '#<procedure>')
    }
    if (depth > MAX_DEPTH) return TOO_DEEP
    const all = (open: string, close: string, items: readonly Value[]): Layout =>
      lazyGroup(open, close, items.length, (i) => this.layout(items[i]!, depth + 1))
    if (value instanceof Vec) return all('#(', ')', value.items)
    if (value instanceof Many) return all('(values', ')', value.items)
    if (value instanceof Bracketed) return all(value.open, value.open === '[' ? ']' : '}', value.items)
    if (value instanceof Rec) return this.#record(value, (v) => this.layout(v, depth + 1))
    if (value instanceof Entity) return this.#entity(value, depth)
    if (!(value instanceof Pair)) return atom('nil')
    const { items, tail } = unlist(value)
    if (!(tail instanceof Empty)) {
      const end = pairLayout('.', this.layout(tail, depth + 1))
      return group('(', ')', [...items.map((item) => () => this.layout(item, depth + 1)), () => end])
    }
    return items.every((item) => item instanceof Entity) ? this.#entities(items, depth, '(', ')') : all('(', ')', items)
  }

  /** Inside entities the data grammar holds: bare words are strings, so a symbol needs its bars. `isName` is quoted. */
  cell(value: Value, isName: boolean, depth: number): Layout {
    if (typeof value === 'string') return !isName && isBare(value) ? atom(value) : { type: 'text', text: value }
    if (value instanceof Sym) return atom(inBars(value.name))
    if (value instanceof Empty) return atom('[]')
    if (depth > MAX_DEPTH) return TOO_DEEP
    if (value instanceof Rec) return this.#record(value, (v) => this.cell(v, isName, depth + 1))
    if (value instanceof Entity) return this.#entity(value, depth)
    const { items, tail } = unlist(value)
    if (items.length === 0 || !(tail instanceof Empty)) return this.layout(value, depth)
    if (items.every((item) => item instanceof Entity)) return this.#entities(items, depth, '[', ']')
    return lazyGroup('[', ']', items.length, (i) => this.cell(items[i]!, isName, depth + 1))
  }

  #record(value: Rec, field: (v: Value) => Layout): Layout {
    const entries = [...value.entries]
    return lazyGroup('{', '}', entries.length, (i) => pairLayout(keyText(entries[i]![0]), field(entries[i]![1])))
  }

  /** `(kind "positional" … :field value …)`; after a positional field that is absent the next ones are named. */
  #entity({ kind, fields }: Pick<Entity, 'kind' | 'fields'>, depth: number, cell = this.#cellAt(depth)): Layout {
    const shape = shapeOf(kind, this.shapes)
    const first = shape?.positional ?? []
    const absent = first.findIndex((field) => !fields.has(field))
    const positional = absent < 0 ? first : first.slice(0, absent)
    const named = ordered([fields], shape).filter((field) => !positional.includes(field))
    return group(`(${headText(kind)}`, ')', [
      ...positional.map((field) => () => cell(fields.get(field)!, true)),
      ...named.map((field) => () => pairLayout(keyText(field), cell(fields.get(field)!, false))),
    ])
  }

  #cellAt(depth: number): (value: Value, isName: boolean) => Layout {
    return (value, isName) => this.cell(value, isName, depth + 1)
  }

  /** Entities one after another, or as a table where that is not longer. Their insides are laid out once for both. */
  #entities(entities: readonly Entity[], depth: number, open: string, close: string): Layout {
    const known = new Map<Value, Layout>()
    const inner = this.#cellAt(depth)
    const cell = (value: Value, isName: boolean): Layout => {
      if (typeof value !== 'object' || value === null) return inner(value, isName)
      if (!known.has(value)) known.set(value, inner(value, isName))
      return known.get(value)!
    }
    const { kind } = entities[0]!
    const shape = entities.length < MIN_ROWS ? undefined : this.shapes?.byKind(kind)
    if (!shape || entities.some((other) => other.kind !== kind))
      return lazyGroup(open, close, entities.length, (i) => this.#entity(entities[i]!, depth, cell), true)
    const rows = this.#rows(entities, cell)
    const item = (i: number) => this.#entity({ kind, fields: rows[i]! }, depth, cell)
    const sequence = lazyGroup(open, close, entities.length, item, true, rows.length)
    const table = layoutTable(rows, entities.length, shape, cell)
    return sampled(table) <= sampled(sequence) ? table : sequence
  }

  /** What the first ones say, up to the last that there is room for; all of those that share it out. */
  #rows(entities: readonly Entity[], cell: (value: Value, isName: boolean) => Layout): Fields[] {
    const cap = Math.max(MIN_SHARE, this.room / 8)
    const isShared = entities.length * MIN_SHARE <= this.room
    const rows: Fields[] = []
    let left = this.room
    for (const { fields } of entities) {
      rows.push(fields)
      if (isShared) continue
      let width = 2
      for (const value of fields.values()) if (width < cap) width += measure(cell(value, false), cap) + 1
      if ((left -= Math.min(width, cap)) < 0) break
    }
    return rows
  }
}

/** The fields that occur, in declared order, then those nobody declared. */
function ordered(rows: readonly Fields[], shape: Shape | undefined): string[] {
  const present = new Set(rows.flatMap((fields) => [...fields.keys()]))
  const declared = [...(shape?.positional ?? []), ...(shape?.fields ?? [])].filter((field) => present.has(field))
  return [...new Set([...declared, ...present])]
}

function layoutTable(
  rows: readonly Fields[],
  total: number,
  shape: Shape,
  cell: (value: Value, isName: boolean) => Layout,
): Group {
  const columns = ordered(rows, shape)
  const header = `(${headText(shape.plural)} [${columns.map(keyText).join(' ')}]`
  const row = (i: number): Layout => {
    const fields = rows[i]!
    return lazyGroup('[', ']', columns.length, (column) => {
      const field = columns[column]!
      return fields.has(field) ? cell(fields.get(field)!, field === shape.positional[0]) : atom('_')
    })
  }
  return lazyGroup(header, ')', total, row, true, rows.length)
}

/** The width, by the first items where there are many. */
function sampled({ open, close, most, item }: Group): number {
  let width = open.length + close.length
  for (let i = 0; i < Math.min(most, SAMPLE); i++) width += Math.min(ROW_CAP, measure(item(i), ROW_CAP)) + 1
  return width
}
