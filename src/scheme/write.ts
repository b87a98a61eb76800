import { printChar } from './characters.ts'
import { layoutEntities, layoutEntity, type Shapes, word } from './entity-layout.ts'
import { atom, group, type Layout, lazyGroup, print } from './layout.ts'
import { inBars, isPlainSymbol, keyText } from './lexical.ts'
import { parseNumber, printNumber } from './numeral.ts'
import {
  Braced,
  Bracketed,
  Builtin,
  Char,
  Closure,
  Empty,
  Entity,
  Keyword,
  list,
  Many,
  Pair,
  Rec,
  Sym,
  type Value,
  Vec,
} from './values.ts'

/** Deeper values are cut: both readers refuse what is nested deeper than their own limit. */
const MAX_PRINT_DEPTH = 300
const TOO_DEEP = atom(`nil #| nested deeper than ${MAX_PRINT_DEPTH} |#`)

/** A value as R7RS `write` prints it; entities and tables in the data grammar. */
export const write = (value: Value, shapes?: Shapes): string => print(layoutValue(value, shapes))

export const layoutValue = (value: Value, shapes?: Shapes): Layout => new Writer(shapes).layout(value, 0)

const symbolText = (name: string): string =>
  isPlainSymbol(name) && parseNumber(name) === undefined && name !== 'nil' && name !== '.' ? name : inBars(name)

/** Decimal digits of a large number cost milliseconds; how many there will be, its bits tell. */
const LARGE = 1n << 4096n

function integer(n: bigint): Layout {
  if (n > -LARGE && n < LARGE) return atom(printNumber(n))
  const hex = n.toString(16)
  const digits = Math.ceil(
    (hex.length - 14) * Math.log10(16) + Math.log10(Math.abs(Number.parseInt(hex.slice(0, 14), 16)) + 1),
  )
  return { type: 'lazy-atom', width: digits + (n < 0n ? 1 : 0), text: () => printNumber(n) }
}

class Writer {
  readonly shapes: Shapes | undefined
  constructor(shapes: Shapes | undefined) {
    this.shapes = shapes
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
    if (depth > MAX_PRINT_DEPTH) return TOO_DEEP
    if (value instanceof Pair) return this.#list(value, depth)
    if (value instanceof Vec)
      return lazyGroup('#(', ')', value.items.length, (i) => this.layout(value.items[i]!, depth + 1))
    if (value instanceof Rec) return this.#record(value, depth, (v) => this.layout(v, depth + 1))
    if (value instanceof Entity) return this.#entity(value, depth)
    if (value instanceof Many)
      return lazyGroup('(values', ')', value.items.length, (i) => this.layout(value.items[i]!, depth + 1))
    if (value instanceof Builtin) return atom(`#<procedure ${symbolText(value.name)}>`)
    if (value instanceof Closure)
      return atom(value.template.name ? `#<procedure ${symbolText(value.template.name)}>` : '#<procedure>')
    if (value instanceof Bracketed) return this.layout(list(value.items), depth)
    if (value instanceof Braced)
      return group(
        '{',
        '}',
        value.items.map((item) => () => this.layout(item, depth + 1)),
      )
    return atom('nil')
  }

  #list(value: Pair, depth: number): Layout {
    const items: Value[] = []
    let rest: Value = value
    let entities = true
    for (; rest instanceof Pair; rest = rest.cdr) {
      items.push(rest.car)
      entities &&= rest.car instanceof Entity
    }
    const proper = rest instanceof Empty
    if (proper && entities) return layoutEntities(items as Entity[], this.shapes, this.#cell(depth + 1), '(', ')')
    const tail = rest
    const item = (i: number): Layout =>
      i < items.length
        ? this.layout(items[i]!, depth + 1)
        : { type: 'pair', key: '.', value: this.layout(tail, depth + 1) }
    return lazyGroup('(', ')', items.length + (proper ? 0 : 1), item)
  }

  #record(value: Rec, depth: number, field: (v: Value) => Layout): Layout {
    if (depth > MAX_PRINT_DEPTH) return TOO_DEEP
    const items = [...value.entries].map(
      ([key, v]) =>
        (): Layout => ({ type: 'pair', key: keyText(key), value: field(v) }),
    )
    return group('{', '}', items)
  }

  #entity(value: Entity, depth: number): Layout {
    return layoutEntity(value, this.shapes, this.#cell(depth + 1))
  }

  /** Inside entities the data grammar holds: bare words are strings, so a symbol needs its bars. */
  #cell(depth: number): (value: Value, name: boolean) => Layout {
    return (value, name) => {
      if (typeof value === 'string') return word(value, name)
      if (value instanceof Sym) return atom(inBars(value.name))
      if (value instanceof Empty) return atom('[]')
      if (depth > MAX_PRINT_DEPTH) return TOO_DEEP
      if (value instanceof Rec) return this.#record(value, depth, (v) => this.#cell(depth + 1)(v, false))
      if (value instanceof Entity) return this.#entity(value, depth)
      if (!(value instanceof Pair)) return this.layout(value, depth)
      const items: Value[] = []
      let rest: Value = value
      for (; rest instanceof Pair; rest = rest.cdr) items.push(rest.car)
      if (!(rest instanceof Empty)) return this.layout(value, depth)
      if (items.every((item) => item instanceof Entity))
        return layoutEntities(items, this.shapes, this.#cell(depth + 1), '[', ']')
      return lazyGroup('[', ']', items.length, (i) => this.#cell(depth + 1)(items[i]!, false))
    }
  }
}
