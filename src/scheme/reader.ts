import { parseChar } from './characters.ts'
import { isDelimiter, isSpace, readQuoted } from './lexical.ts'
import { MAX_DIGITS, parseNumber } from './numeral.ts'
import { Bracketed, Keyword, list, SchemeError, Sym, type Value, Vec } from './values.ts'

/** Deeper nesting is refused: the reader and the compiler recurse, and must not reach the end of the JS stack. */
export const MAX_NESTING = 400

const QUOTES: Record<string, string> = { "'": 'quote', '`': 'quasiquote', ',': 'unquote', ',@': 'unquote-splicing' }
const DATUM: Record<string, Value> = {
  '#t': true,
  '#true': true,
  '#f': false,
  '#false': false,
  nil: null,
}

/** Reads code, one top-level form after another. */
export class Reader {
  readonly source: string
  at = 0

  constructor(source: string) {
    this.source = source
  }

  /** The next form and the text it was read from, or undefined at the end. Throws a SchemeError for what cannot be read. */
  next(): { form: Value; text: string } | undefined {
    this.#skip(0)
    if (this.at >= this.source.length) return undefined
    const start = this.at
    const form = this.#datum(0)
    return { form, text: this.source.slice(start, this.at) }
  }

  #fail(message: string, at: number, hint = ''): never {
    const before = this.source.slice(0, at)
    const line = before.split('\n').length
    const column = at - before.lastIndexOf('\n')
    throw new SchemeError(`cannot read this at line ${line}, column ${column}: ${message}`, hint)
  }

  #skip(depth: number): void {
    const { source } = this
    for (;;) {
      const c = source[this.at]
      if (c === undefined) return
      if (isSpace(c)) this.at++
      else if (c === ';') {
        const end = source.indexOf('\n', this.at)
        this.at = end < 0 ? source.length : end + 1
      } else if (c === '#' && source[this.at + 1] === '|') this.#blockComment()
      else if (c === '#' && source[this.at + 1] === ';') {
        const start = this.at
        if (depth > MAX_NESTING) this.#fail('too many #; in a row', start)
        this.at += 2
        this.#skip(depth + 1)
        if (this.at >= source.length) this.#fail('#; is followed by nothing', start)
        this.#datum(depth + 1)
      } else return
    }
  }

  #blockComment(): void {
    const start = this.at
    let open = 0
    const mark = /#\||\|#/g
    mark.lastIndex = start
    for (let m = mark.exec(this.source); m; m = mark.exec(this.source)) {
      open += m[0] === '#|' ? 1 : -1
      if (open > 0) continue
      this.at = mark.lastIndex
      return
    }
    this.#fail('a comment is not closed: |# is missing', start)
  }

  #datum(depth: number): Value {
    const start = this.at
    if (depth > MAX_NESTING) this.#fail(`nested deeper than ${MAX_NESTING}`, start, 'name the inner parts with define')
    const c = this.source[start]!
    if (c === '(') return this.#list(depth)
    if (c === '[') return new Bracketed('[', this.#items(']', depth, start + 1))
    if (c === '{') return this.#braces(depth)
    if (c === ')' || c === ']' || c === '}') this.#fail(`${c} closes nothing`, start)
    if (c === '"') return this.#quoted('"', start + 1)
    if (c === '|') return new Sym(this.#quoted('|', start + 1))
    if (c === "'" || c === '`' || c === ',') return this.#quotation(c, depth)
    if (c === ':' && this.source[start + 1] === '|') return new Keyword(this.#quoted('|', start + 2))
    if (c === '#') return this.#hash(depth)
    return this.#word()
  }

  #quotation(c: string, depth: number): Value {
    const start = this.at
    const mark = c === ',' && this.source[start + 1] === '@' ? ',@' : c
    this.at += mark.length
    this.#skip(depth)
    if (this.at >= this.source.length) this.#fail(`${mark} is followed by nothing`, start)
    return list([new Sym(QUOTES[mark]!), this.#datum(depth + 1)])
  }

  #quoted(mark: '"' | '|', from: number): string {
    const read = readQuoted(this.source, from, mark)
    if (typeof read === 'string') this.#fail(read, from - 1)
    this.at = read.end
    return read.text
  }

  #items(closer: string, depth: number, from: number, tail?: (value: Value) => void): Value[] {
    const start = from - 1
    const items: Value[] = []
    this.at = from
    for (;;) {
      this.#skip(depth)
      const c = this.source[this.at]
      if (c === undefined) this.#fail(`${closer} is missing`, start, 'the form is not closed')
      if (c === closer) {
        this.at++
        return items
      }
      if (c === ')' || c === ']' || c === '}') this.#fail(`${c} where ${closer} was expected`, this.at)
      if (c === '.' && isDelimiter(this.source[this.at + 1] ?? ' ')) {
        if (!tail || items.length === 0) this.#fail('a lone dot', this.at)
        this.at++
        this.#skip(depth)
        if (this.at >= this.source.length) this.#fail(`${closer} is missing`, start)
        tail(this.#datum(depth + 1))
        this.#skip(depth)
        if (this.source[this.at] !== closer) this.#fail('one datum stands after a dot', this.at)
        continue
      }
      items.push(this.#datum(depth + 1))
    }
  }

  #list(depth: number): Value {
    let tail: Value | undefined
    const items = this.#items(')', depth, this.at + 1, (value) => {
      tail = value
    })
    return tail === undefined ? list(items) : list(items, tail)
  }

  #braces(depth: number): Value {
    const start = this.at
    const items = this.#items('}', depth, start + 1)
    if (items.length % 2 !== 0) this.#fail('a record is {:key value …}: a value is missing', start)
    for (let i = 0; i < items.length; i += 2)
      if (!(items[i] instanceof Keyword)) this.#fail('the keys of a record are keywords: {:key value …}', start)
    return new Bracketed('{', items)
  }

  #hash(depth: number): Value {
    const start = this.at
    const next = this.source[start + 1]
    if (next === '(') return new Vec(this.#items(')', depth, start + 2))
    if (next === '\\') return this.#char()
    return this.#word()
  }

  #char(): Value {
    const start = this.at
    const first = String.fromCodePoint(this.source.codePointAt(start + 2) ?? 0)
    let end = start + 2 + first.length
    while (end < this.source.length && !isDelimiter(this.source[end]!)) end++
    const text = this.source.slice(start + 2, end)
    const char = start + 2 < this.source.length ? parseChar(text) : undefined
    if (!char) this.#fail(`no such character: #\\${text.slice(0, 40)}`, start)
    this.at = end
    return char
  }

  #word(): Value {
    const { source } = this
    const start = this.at
    let end = start
    while (end < source.length && !isDelimiter(source[end]!)) end++
    const text = source.slice(start, end)
    this.at = end
    if (text.length < 20 && Object.hasOwn(DATUM, text)) return DATUM[text]!
    if (text[0] === ':' && text.length > 1) return new Keyword(text.slice(1))
    const number = /^[#+\-.\d]/.test(text) ? parseNumber(text) : undefined
    if (number === 'rational')
      this.#fail(`exact fractions are not offered: ${text}`, start, 'write a decimal such as 0.5')
    if (number === 'too-long') this.#fail(`a number has at most ${MAX_DIGITS} digits`, start)
    if (number !== undefined) return number
    if (text[0] === '#' || text === '' || text === ':')
      this.#fail(`not understood: ${text.slice(0, 40) || source[end]}`, start)
    return new Sym(text)
  }
}
