import { parseChar, readQuoted } from './lexical.ts'
import { MAX_DIGITS, parseNumber } from './numeral.ts'
import { Bracketed, EMPTY, Keyword, list, SchemeError, Sym, type Value, Vec } from './values.ts'

/** Deeper nesting is refused: the reader and the expander recurse, and must not reach the end of the JS stack. */
const MAX_NESTING = 400

const SPACE = /\s+/y
const COMMENT = /;[^\n]*/y
const WORD = /[^\s()[\]{}"';`,|]+/y
const OPENING = /[([{]|#\(/y
const QUOTATION = /['`]|,@?/y
const LONE_DOT = /\.(?=[\s()[\]{}"';`,|]|$)/y
const CLOSING: Record<string, string> = { '(': ')', '#(': ')', '[': ']', '{': '}' }
const QUOTES: Record<string, string> = { "'": 'quote', '`': 'quasiquote', ',': 'unquote', ',@': 'unquote-splicing' }
const NAMED = new Map(Object.entries({ '#t': true, '#true': true, '#f': false, '#false': false, nil: null }))

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
    return { form: this.#datum(0), text: this.source.slice(start, this.at) }
  }

  #fail(message: string, at: number, hint = ''): never {
    const before = this.source.slice(0, at)
    const line = before.split('\n').length
    throw new SchemeError(`cannot read this at line ${line}, column ${at - before.lastIndexOf('\n')}: ${message}`, hint)
  }

  /** What the pattern finds here, passed over. */
  #take(pattern: RegExp): string {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.source)?.[0] ?? ''
    this.at += found.length
    return found
  }

  #skip(depth: number): void {
    for (;;) {
      const start = this.at
      if (this.#take(SPACE) || this.#take(COMMENT)) continue
      if (this.source.startsWith('#|', start)) this.#blockComment()
      else if (this.source.startsWith('#;', start)) {
        if (depth > MAX_NESTING) this.#fail('too many #; in a row', start)
        this.at += 2
        this.#required('#;', depth, start)
      } else return
    }
  }

  #blockComment(): void {
    const mark = /#\||\|#/g
    mark.lastIndex = this.at
    let open = 0
    for (let m = mark.exec(this.source); m; m = mark.exec(this.source)) {
      open += m[0] === '#|' ? 1 : -1
      if (open > 0) continue
      this.at = mark.lastIndex
      return
    }
    this.#fail('a comment is not closed: |# is missing', this.at)
  }

  #required(mark: string, depth: number, start: number): Value {
    this.#skip(depth + 1)
    if (this.at >= this.source.length) this.#fail(`${mark} is followed by nothing`, start)
    return this.#datum(depth + 1)
  }

  #datum(depth: number): Value {
    const { source, at: start } = this
    if (depth > MAX_NESTING) this.#fail(`nested deeper than ${MAX_NESTING}`, start, 'name the inner parts with define')
    const open = this.#take(OPENING)
    if (open) return this.#sequence(open, depth, start)
    const mark = this.#take(QUOTATION)
    if (mark) return list([new Sym(QUOTES[mark]!), this.#required(mark, depth, start)])
    const c = source[start]!
    if (c === ')' || c === ']' || c === '}') this.#fail(`${c} closes nothing`, start)
    if (c === '"') return this.#quoted('"', start + 1)
    if (c === '|') return new Sym(this.#quoted('|', start + 1))
    if (source.startsWith(':|', start)) return new Keyword(this.#quoted('|', start + 2))
    return source.startsWith('#\\', start) ? this.#char() : this.#word()
  }

  #quoted(mark: '"' | '|', from: number): string {
    const read = readQuoted(this.source, from, mark)
    if (typeof read === 'string') this.#fail(read, from - 1)
    this.at = read.end
    return read.text
  }

  #sequence(open: string, depth: number, start: number): Value {
    const closer = CLOSING[open]!
    const items: Value[] = []
    let tail: Value = EMPTY
    for (;;) {
      this.#skip(depth)
      const c = this.source[this.at]
      if (c === undefined) this.#fail(`${closer} is missing`, start, 'the form is not closed')
      if (c === closer) break
      if (c === ')' || c === ']' || c === '}') this.#fail(`${c} where ${closer} was expected`, this.at)
      if (tail !== EMPTY) this.#fail('one datum stands after a dot', this.at)
      const at = this.at
      if (!this.#take(LONE_DOT)) items.push(this.#datum(depth + 1))
      else if (open !== '(' || items.length === 0) this.#fail('a lone dot', at)
      else tail = this.#required('.', depth, at)
    }
    this.at++
    if (open === '(') return list(items, tail)
    if (open === '#(') return new Vec(items)
    if (open === '{' && (items.length % 2 !== 0 || !items.every((item, i) => i % 2 === 1 || item instanceof Keyword)))
      this.#fail('a record is {:key value …}', start)
    return new Bracketed(open as '[' | '{', items)
  }

  #char(): Value {
    const start = this.at
    const first = String.fromCodePoint(this.source.codePointAt(start + 2) ?? 0)
    this.at += 2 + first.length
    const text = first + this.#take(WORD)
    return (
      (start + 2 < this.source.length && parseChar(text)) ||
      this.#fail(`no such character: ${text.slice(0, 40)}`, start)
    )
  }

  #word(): Value {
    const start = this.at
    const text = this.#take(WORD)
    const named = NAMED.get(text)
    if (named !== undefined) return named
    if (text[0] === ':' && text.length > 1) return new Keyword(text.slice(1))
    const number = /^[#+\-.\d]/.test(text) ? parseNumber(text) : undefined
    if (number === 'rational')
      this.#fail(`exact fractions are not offered: ${text}`, start, 'write a decimal such as 0.5')
    if (number === 'too-long') this.#fail(`a number has at most ${MAX_DIGITS} digits`, start)
    if (number !== undefined) return number
    if (text[0] === '#' || text === ':') this.#fail(`not understood: ${text.slice(0, 40)}`, start)
    return new Sym(text)
  }
}
