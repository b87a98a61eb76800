import { UserError } from '../errors.ts'
import { parseChar } from './characters.ts'
import { type Data, DataEntity, MAX_DATA_DEPTH } from './data-types.ts'
import { type Shapes, shapeOf } from './entity-layout.ts'
import { isDelimiter, isSpace, readQuoted } from './lexical.ts'
import { parseNumber } from './numeral.ts'

/** A key, an absent cell, or the head of a form: words that are no values. */
const ABSENT = Symbol('absent')
class Key {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}
type Item = Data | Key | typeof ABSENT

/**
 * Reads the data grammar. A bare word is a string: there are no symbols. It is a little wider than what is printed as
 * data, so that what a query printed reads too: `(a b)` and `#(a b)` are lists, `#\a` is a string of one character.
 */
export class DataReader {
  readonly source: string
  readonly shapes: Shapes | undefined
  at = 0

  constructor(source: string, shapes: Shapes | undefined) {
    this.source = source
    this.shapes = shapes
  }

  /** Exactly one datum. */
  read(): Data {
    const data = this.#value(0)
    this.#skip()
    if (this.at < this.source.length) this.#fail('more follows after the datum: put several in [ ]')
    return data
  }

  #fail(message: string): never {
    const line = this.source.slice(0, this.at).split('\n').length
    throw new UserError('unreadable_data', `cannot read this data (line ${line}, character ${this.at + 1}): ${message}`)
  }

  #skip(): void {
    const { source } = this
    for (;;) {
      const c = source[this.at]
      if (c === undefined) return
      if (isSpace(c)) this.at++
      else if (c === ';') {
        const end = source.indexOf('\n', this.at)
        this.at = end < 0 ? source.length : end + 1
      } else if (c === '#' && source[this.at + 1] === '|') this.#remark()
      else return
    }
  }

  #remark(): void {
    const end = this.source.indexOf('|#', this.at + 2)
    if (end < 0) this.#fail('a remark is not closed: |# is missing')
    this.at = end + 2
  }

  #value(depth: number): Data {
    const item = this.#item(depth)
    if (item instanceof Key) this.#fail(`:${item.name} where a value was expected`)
    if (item === ABSENT) this.#fail('_ stands only in the rows of a table')
    return item
  }

  #item(depth: number): Item {
    this.#skip()
    if (depth > MAX_DATA_DEPTH + 2) this.#fail(`nested deeper than ${MAX_DATA_DEPTH}`)
    const c = this.source[this.at]
    if (c === undefined) this.#fail('the end was reached where a value was expected')
    if (c === '"' || c === '|') return this.#quoted(c, this.at + 1)
    if (c === '[') return this.#list(']', depth)
    if (c === '{') return this.#record(depth)
    if (c === '(') return this.#form(depth)
    if (c === ':') return this.#key()
    if (c === '#' && this.source[this.at + 1] === '(') {
      this.at++
      return this.#list(')', depth)
    }
    if (c === '#' && this.source[this.at + 1] === '\\') return this.#char()
    return this.#word()
  }

  #quoted(mark: '"' | '|', from: number): string {
    const read = readQuoted(this.source, from, mark)
    if (typeof read === 'string') this.#fail(read)
    this.at = read.end
    return read.text
  }

  #key(): Key {
    if (this.source[this.at + 1] === '|') return new Key(this.#quoted('|', this.at + 2))
    this.at++
    const name = this.#token()
    return name === '' ? this.#fail('a key is :name or :|odd name|') : new Key(name)
  }

  #token(): string {
    const start = this.at
    while (this.at < this.source.length && !isDelimiter(this.source[this.at]!)) this.at++
    return this.source.slice(start, this.at)
  }

  #char(): string {
    const first = String.fromCodePoint(this.source.codePointAt(this.at + 2) ?? 0x20)
    this.at += 2 + first.length
    const text = first + this.#token()
    return parseChar(text)?.text ?? this.#fail(`no such character: #\\${text}`)
  }

  #word(): Item {
    const text = this.#token()
    if (text === 'nil') return null
    if (text === '#t' || text === '#true') return true
    if (text === '#f' || text === '#false') return false
    if (text === '_') return ABSENT
    if (text === '') this.#fail(`${this.source[this.at]} was not expected here`)
    const number = /^[+\-.\d]/.test(text) ? parseNumber(text) : undefined
    if (typeof number === 'bigint' || (typeof number === 'number' && Number.isFinite(number))) return Number(number)
    if (number !== undefined || text[0] === '#') this.#fail(`not a value of this notation: ${text.slice(0, 40)}`)
    return text
  }

  /** Is the next thing the closing mark? Then it is taken. */
  #closes(closer: string): boolean {
    this.#skip()
    if (this.source[this.at] === closer) {
      this.at++
      return true
    }
    if (this.at >= this.source.length) this.#fail(`${closer} is missing`)
    return false
  }

  #list(closer: string, depth: number): Data[] {
    this.at++
    const items: Data[] = []
    while (!this.#closes(closer)) items.push(this.#value(depth + 1))
    return items
  }

  #record(depth: number): Data {
    this.at++
    const record: { [key: string]: Data } = Object.create(null)
    while (!this.#closes('}')) {
      const key = this.#item(depth + 1)
      if (!(key instanceof Key)) this.#fail('the keys of a record are :name')
      record[key.name] = this.#value(depth + 1)
    }
    return record
  }

  /** `(kind …)`, `(plural [:column …] [cell …] …)`, or, as queries print them, a plain list. */
  #form(depth: number): Data {
    const start = this.at++
    this.#skip()
    const c = this.source[this.at] ?? ''
    const odd = c === '|'
    if (!odd && (isDelimiter(c) || /[\d:#+\-.]/.test(c) || c === '')) {
      this.at = start
      return this.#list(')', depth)
    }
    const head = odd ? this.#quoted('|', this.at + 1) : this.#token()
    this.#skip()
    const plural = this.source[this.at] === '[' && !shapeOf(head, this.shapes) ? this.shapes?.byPlural(head) : undefined
    if (plural) return this.#table(plural.kind, depth)
    const items: Item[] = []
    while (!this.#closes(')')) items.push(this.#item(depth + 1))
    return this.#entity(head, items) ?? [head, ...items.map((item) => this.#plain(item))]
  }

  #plain(item: Item): Data {
    return item instanceof Key || item === ABSENT ? this.#fail('a plain list holds no keys') : item
  }

  /** The entity these parts say, or undefined if they can only be a list of words. */
  #entity(kind: string, items: readonly Item[]): DataEntity | undefined {
    const shape = shapeOf(kind, this.shapes)
    const firstKey = items.findIndex((item) => item instanceof Key)
    const unnamed = firstKey < 0 ? items.length : firstKey
    if (!shape && unnamed === items.length && unnamed > 0) return undefined
    const positional = shape?.positional ?? []
    if (unnamed > positional.length)
      this.#fail(`(${kind} …) takes ${positional.length} value(s) without a name, ${unnamed} given`)
    const fields = new Map<string, Data>()
    for (let i = 0; i < unnamed; i++) fields.set(positional[i]!, this.#plain(items[i]!))
    for (let i = unnamed; i < items.length; i += 2) {
      const key = items[i]
      if (!(key instanceof Key) || i + 1 >= items.length) this.#fail(`(${kind} …): fields are :name value`)
      fields.set(key.name, this.#plain(items[i + 1]!))
    }
    return new DataEntity(kind, fields)
  }

  #table(kind: string, depth: number): DataEntity[] {
    this.at++
    const columns: string[] = []
    while (!this.#closes(']')) {
      const key = this.#item(depth + 1)
      if (!(key instanceof Key)) this.#fail('the columns of a table are [:name …]')
      columns.push(key.name)
    }
    const rows: DataEntity[] = []
    while (!this.#closes(')')) {
      if (this.source[this.at] !== '[') this.#fail('the rows of a table are [value …]')
      rows.push(this.#row(kind, columns, depth + 1))
    }
    return rows
  }

  /** A row that was cut is shorter than the header: its missing cells are absent. */
  #row(kind: string, columns: readonly string[], depth: number): DataEntity {
    this.at++
    const fields = new Map<string, Data>()
    for (let i = 0; !this.#closes(']'); i++) {
      const item = this.#item(depth + 1)
      if (i >= columns.length) this.#fail('a row has more cells than the table has columns')
      if (item instanceof Key) this.#fail('a row holds values, not keys')
      if (item !== ABSENT) fields.set(columns[i]!, item)
    }
    return new DataEntity(kind, fields)
  }
}
