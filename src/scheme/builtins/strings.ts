import { char, count, index, items, notOf, range, str } from '../argument-types.ts'
import { alias, type Definition, def, def1, def2 } from '../define.ts'
import { brief } from '../excerpt.ts'
import { printLimited } from '../layout.ts'
import { type CallContext, Char, list, SchemeError, Sym, type Value, Vec } from '../values.ts'
import { layoutValue } from '../write.ts'

/** Pays for a new string of so many characters: an eighth of a cell each. */
function pay(length: number, ctx: CallContext): void {
  ctx.alloc(1 + (length >> 3))
  ctx.charge(length >> 6)
}

/** Pays for a string that takes no more than what it is made of. */
export function made(text: string, ctx: CallContext): string {
  pay(text.length, ctx)
  return text
}

const SURROGATE = /[\ud800-\udfff]/
/** Where the character `count` further than a position begins: characters are code points. */
function forward(text: string, at: number, count: number): number {
  for (; count > 0; count--) at += text.codePointAt(at)! > 0xffff ? 2 : 1
  return at
}

function lengthOf(text: string): number {
  if (!SURROGATE.test(text)) return text.length
  let n = 0
  for (let at = 0; at < text.length; at = forward(text, at, 1)) n++
  return n
}

/** A part by characters. */
function between(text: string, start: number, end: number): string {
  if (!SURROGATE.test(text)) return text.slice(start, end)
  const from = forward(text, 0, start)
  return text.slice(from, forward(text, from, end - start))
}

function slice(text: string, args: readonly Value[], at: number, name: string): string {
  return args[at] === undefined ? text : between(text, ...range(name, args, at, lengthOf(text)))
}

/** Where a position in the JS string is, counted in characters. */
const position = (text: string, at: number): Value => (at < 0 ? false : BigInt(lengthOf(text.slice(0, at))))

const comparison = (name: string, about: string, fold: boolean, holds: (order: number) => boolean): Definition =>
  def(`(${name} a b …)`, about, `(${name} "a" "b")`, (args, ctx) => {
    for (const arg of args) fold ? pay(str(name, arg).length, ctx) : ctx.charge(str(name, arg).length >> 4)
    const texts = args.map((arg) => (fold ? str(name, arg).toLowerCase() : str(name, arg)))
    return texts.every((text, i) => i === 0 || holds(order(texts[i - 1]!, text)))
  })

/** By code points; UTF-16 order differs where surrogates meet the last of the plane. */
function order(a: string, b: string): number {
  if (a === b) return 0
  if (!SURROGATE.test(a) && !SURROGATE.test(b)) return a < b ? -1 : 1
  for (let at = 0; at < a.length && at < b.length; at = forward(a, at, 1)) {
    const difference = a.codePointAt(at)! - b.codePointAt(at)!
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

const ORDERS: [string, string, (order: number) => boolean][] = [
  ['=?', 'Are they equal', (n) => n === 0],
  ['<?', 'Does each come after the one before', (n) => n < 0],
  ['>?', 'Does each come before the one before', (n) => n > 0],
  ['<=?', 'Does none come before the one before', (n) => n <= 0],
  ['>=?', 'Does none come after the one before', (n) => n >= 0],
]

const each = (name: string, about: string, example: string, of: (text: string) => string): Definition =>
  def1(`(${name} text)`, about, example, (text, ctx) => {
    pay(str(name, text).length, ctx)
    return of(text as string)
  })

/** What separates or is looked for may be a string or a character. */
const piece = (name: string, v: Value): string => (v instanceof Char ? v.text : str(name, v))

const trim = (name: string, about: string, of: (text: string) => string): Definition =>
  each(name, about, `(${name} "  a  ")`, of)

const CONTAINS = def2(
  '(string-contains text part)',
  'Where the part first occurs, or #f.',
  '(string-contains "banana" "nan")',
  (text, part, ctx) => {
    const t = str('string-contains', text)
    ctx.charge(1 + (t.length >> 6))
    return position(t, t.indexOf(piece('string-contains', part)))
  },
)

/** `(string-prefix? "ab" "abc")` is SRFI 13's order; the text first is taken too if only that can be meant. */
const affix = (
  name: string,
  about: string,
  example: string,
  has: (text: string, part: string) => boolean,
): Definition =>
  def2(`(${name} part text)`, about, example, (part, text) => {
    const [p, t] = [piece(name, part), str(name, text)]
    return p.length <= t.length ? has(t, p) : false
  })

export const strings = (): readonly Definition[] => [
  def1('(string? x)', 'Is it a string?', '(string? "a")', (x) => typeof x === 'string'),
  def1('(string-length text)', 'How many characters it has.', '(string-length "abc")', (text, ctx) => {
    const t = str('string-length', text)
    ctx.charge(t.length >> 6)
    return BigInt(lengthOf(t))
  }),
  def2('(string-ref text k)', 'The character at k, counted from 0.', '(string-ref "abc" 1)', (text, k, ctx) => {
    const t = str('string-ref', text)
    ctx.charge(t.length >> 6)
    ctx.alloc(1)
    const at = index('string-ref', k, lengthOf(t) - 1)
    return new Char(between(t, at, at + 1).codePointAt(0)!)
  }),
  def(
    '(substring text start [end])',
    'The part from start up to, not including, end.',
    '(substring "hello" 1 3)',
    (args, ctx) => made(slice(str('substring', args[0]), args, 1, 'substring'), ctx),
  ),
  def('(string-copy text [start] [end])', 'The string, or a part of it.', '(string-copy "hello" 1)', (args, ctx) =>
    made(slice(str('string-copy', args[0]), args, 1, 'string-copy'), ctx),
  ),
  def('(string-append text …)', 'The strings one after another.', '(string-append "ab" "c")', (args, ctx) => {
    let total = 0
    for (const arg of args) total += str('string-append', arg).length
    ctx.alloc(1 + (total >> 3))
    return args.join('')
  }),
  def(
    '(string x …)',
    'Characters, or any values as display shows them, in one string.',
    '(string #\\a "bc" 1)',
    (args, ctx) => args.map((arg) => made(display(arg), ctx)).join(''),
  ),
  def('(make-string n [char])', 'A string of n times the same character.', '(make-string 3 #\\x)', (args, ctx) => {
    const n = count('make-string', args[0])
    const c = args[1] === undefined ? ' ' : char('make-string', args[1]).text
    pay(n * c.length, ctx)
    return c.repeat(n)
  }),
  ...ORDERS.flatMap(([suffix, about, holds]) => [
    comparison(`string${suffix}`, `${about}?`, false, holds),
    comparison(`string-ci${suffix}`, `${about}, case apart?`, true, holds),
  ]),
  each('string-upcase', 'In capitals.', '(string-upcase "abc")', (text) => text.toUpperCase()),
  each('string-downcase', 'In small letters.', '(string-downcase "ABC")', (text) => text.toLowerCase()),
  each('string-foldcase', 'As case-insensitive comparison sees it.', '(string-foldcase "ABC")', (text) =>
    text.toLowerCase(),
  ),
  each('string-reverse', 'Back to front.', '(string-reverse "abc")', (text) => {
    const parts: string[] = []
    // by blocks: an array of all characters would take many times what they do
    for (let end = text.length; end > 0; ) {
      let start = Math.max(0, end - 1_000)
      if (start > 0 && (text.charCodeAt(start) & 0xfc00) === 0xdc00) start--
      parts.push([...text.slice(start, end)].reverse().join(''))
      end = start
    }
    return parts.join('')
  }),
  trim('string-trim', 'Without white space at both ends.', (text) => text.trim()),
  alias(
    'string-trim-both',
    trim('string-trim', 'Without white space at both ends.', (text) => text.trim()),
  ),
  trim('string-trim-left', 'Without white space at the start.', (text) => text.trimStart()),
  trim('string-trim-right', 'Without white space at the end.', (text) => text.trimEnd()),
  def2(
    '(string-index text char)',
    'Where the character first occurs, or #f.',
    '(string-index "banana" #\\n)',
    (text, c, ctx) => {
      const t = str('string-index', text)
      ctx.charge(1 + (t.length >> 6))
      return position(t, t.indexOf(piece('string-index', c)))
    },
  ),
  CONTAINS,
  def2(
    '(string-contains-ci? text part)',
    'Does the part occur, case apart?',
    '(string-contains-ci? "README" "read")',
    (text, part, ctx) => {
      const t = str('string-contains-ci?', text)
      ctx.charge(1 + (t.length >> 5))
      return t.toLowerCase().includes(piece('string-contains-ci?', part).toLowerCase())
    },
  ),
  affix('string-prefix?', 'Does the text begin with the part?', '(string-prefix? "src/" "src/a.ts")', (t, p) =>
    t.startsWith(p),
  ),
  affix('string-suffix?', 'Does the text end with the part?', '(string-suffix? ".ts" "src/a.ts")', (t, p) =>
    t.endsWith(p),
  ),
  def(
    '(string-split text [separator])',
    'The parts between separators; without one, the words.',
    '(string-split "a,b,c" ",")',
    (args, ctx) => {
      const t = str('string-split', args[0])
      ctx.charge(t.length)
      const by = args[1] === undefined ? /\s+/ : piece('string-split', args[1])
      // paid before it is split: a list of all characters is what would hurt
      ctx.alloc((typeof by === 'string' ? 2 * countOf(t, by, ctx) : t.length) + (t.length >> 3))
      return list(typeof by === 'string' ? t.split(by) : t.split(by).filter(Boolean))
    },
  ),
  def(
    '(string-join texts [separator])',
    'The strings of a list with the separator (a space) between them.',
    '(string-join \'("a" "b") ", ")',
    (args, ctx) => {
      const texts = items('string-join', args[0], ctx).map((text) => str('string-join', text))
      const separator = args[1] === undefined ? ' ' : piece('string-join', args[1])
      ctx.alloc(1 + (texts.reduce((sum, text) => sum + text.length + separator.length, 0) >> 3))
      return texts.join(separator)
    },
  ),
  def(
    '(string-replace text old new)',
    'Every old part replaced by the new one.',
    '(string-replace "a-b-c" "-" "+")',
    (args, ctx) => {
      const [t, old, by] = args.map((arg) => str('string-replace', arg)) as [string, string, string]
      if (old === '') throw new SchemeError('string-replace: what is replaced must not be empty')
      const times = countOf(t, old, ctx)
      pay(t.length + times * by.length, ctx)
      ctx.alloc(times)
      return t.replaceAll(old, () => by)
    },
  ),
  def(
    '(string-pad-left text n [char])',
    'Padded on the left, or cut there, to n characters.',
    '(string-pad-left "7" 3 #\\0)',
    (args, ctx) => pad(args, ctx, true),
  ),
  def(
    '(string-pad-right text n [char])',
    'Padded on the right, or cut there, to n characters.',
    '(string-pad-right "ab" 4)',
    (args, ctx) => pad(args, ctx, false),
  ),
  def(
    '(string-null? text)',
    'Is it the empty string?',
    '(string-null? "")',
    ([text]) => str('string-null?', text) === '',
  ),
  def('(string->list text [start] [end])', 'Its characters as a list.', '(string->list "abc")', (args, ctx) =>
    list(chars('string->list', args, ctx)),
  ),
  def(
    '(string->vector text [start] [end])',
    'Its characters as a vector.',
    '(string->vector "abc")',
    (args, ctx) => new Vec(chars('string->vector', args, ctx)),
  ),
  def1('(list->string chars)', 'The string of a list of characters.', "(list->string '(#\\a #\\b))", (xs, ctx) =>
    made(
      items('list->string', xs, ctx)
        .map((c) => char('list->string', c).text)
        .join(''),
      ctx,
    ),
  ),
  def1('(string->symbol text)', 'The symbol of that name.', '(string->symbol "abc")', (text, ctx) => {
    ctx.alloc(1)
    return new Sym(str('string->symbol', text))
  }),
  def1('(symbol->string name)', 'The name of a symbol.', "(symbol->string 'abc)", (name) => {
    if (name instanceof Sym) return name.name
    throw notOf('symbol->string', 'a symbol', name)
  }),
  def1(
    '(display->string x)',
    'A value as a reader would want to see it: strings and characters as they are.',
    '(display->string \'(1 "a"))',
    (x, ctx) => made(display(x), ctx),
  ),
  def1('(write->string x)', 'A value as it is written in a program.', '(write->string \'(1 "a"))', (x, ctx) =>
    made(written(x), ctx),
  ),
]

/** How often a part occurs in a text, one after another; an empty one at each character. */
function countOf(text: string, part: string, ctx: CallContext): number {
  ctx.charge(1 + (text.length >> 4))
  if (part === '') return text.length
  let n = 1
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) n++
  return n
}

/** More than this is not turned into a string by a builtin: it would be cut in the output anyway. */
const MAX_WRITTEN = 100_000
const written = (x: Value): string => printLimited(layoutValue(x), MAX_WRITTEN)
const display = (x: Value): string =>
  typeof x === 'string' ? x : x instanceof Char ? x.text : x instanceof Sym ? x.name : written(x)

function chars(name: string, args: readonly Value[], ctx: CallContext): Char[] {
  const text = slice(str(name, args[0]), args, 1, name)
  ctx.charge(text.length)
  ctx.alloc(2 * text.length)
  return [...text].map((c) => new Char(c.codePointAt(0)!))
}

function pad(args: readonly Value[], ctx: CallContext, left: boolean): string {
  const name = left ? 'string-pad-left' : 'string-pad-right'
  const text = str(name, args[0])
  const length = lengthOf(text)
  const width = count(name, args[1])
  const fill = args[2] === undefined ? ' ' : char(name, args[2]).text
  pay(Math.max(text.length, width * fill.length), ctx)
  const kept = left ? between(text, Math.max(0, length - width), length) : between(text, 0, Math.min(width, length))
  const padding = fill.repeat(Math.max(0, width - length))
  return left ? padding + kept : kept + padding
}

export const characters = (): readonly Definition[] => [
  def1('(char? x)', 'Is it a character?', '(char? #\\a)', (x) => x instanceof Char),
  ...ORDERS.flatMap(([suffix, about, holds]) => [
    charComparison(`char${suffix}`, `${about}?`, (c) => c.code, holds),
    charComparison(`char-ci${suffix}`, `${about}, case apart?`, (c) => c.text.toLowerCase().codePointAt(0)!, holds),
  ]),
  test('char-alphabetic?', 'Is it a letter?', '(char-alphabetic? #\\a)', /^\p{Alphabetic}$/u),
  test('char-numeric?', 'Is it a digit?', '(char-numeric? #\\1)', /^\p{Nd}$/u),
  test('char-whitespace?', 'Is it white space?', '(char-whitespace? #\\space)', /^\s$/u),
  test('char-upper-case?', 'Is it a capital?', '(char-upper-case? #\\A)', /^\p{Uppercase}$/u),
  test('char-lower-case?', 'Is it a small letter?', '(char-lower-case? #\\a)', /^\p{Lowercase}$/u),
  mapped('char-upcase', 'Its capital.', '(char-upcase #\\a)', (text) => text.toUpperCase()),
  mapped('char-downcase', 'Its small letter.', '(char-downcase #\\A)', (text) => text.toLowerCase()),
  mapped('char-foldcase', 'As case-insensitive comparison sees it.', '(char-foldcase #\\A)', (text) =>
    text.toLowerCase(),
  ),
  def1('(char->integer c)', 'Its code point.', '(char->integer #\\A)', (c) => BigInt(char('char->integer', c).code)),
  def1('(integer->char n)', 'The character of a code point.', '(integer->char 955)', (n, ctx) => {
    ctx.alloc(1)
    const code = index('integer->char', n, 0x10ffff)
    if (code >= 0xd800 && code < 0xe000) throw new SchemeError(`integer->char: ${brief(n)} is no character`)
    return new Char(code)
  }),
  def1('(digit-value c)', 'The number a digit stands for, or #f.', '(digit-value #\\7)', (c) => {
    const { text } = char('digit-value', c)
    return /^\d$/.test(text) ? BigInt(text) : false
  }),
]

function charComparison(
  name: string,
  about: string,
  key: (c: Char) => number,
  holds: (order: number) => boolean,
): Definition {
  return def(`(${name} a b …)`, about, `(${name} #\\a #\\b)`, (args) => {
    const codes = args.map((arg) => key(char(name, arg)))
    return codes.every((code, i) => i === 0 || holds(codes[i - 1]! - code))
  })
}

function test(name: string, about: string, example: string, pattern: RegExp): Definition {
  return def1(`(${name} c)`, about, example, (c) => pattern.test(char(name, c).text))
}

/** Where a letter's other case is several characters, as with ß, R7RS leaves it as it is. */
function mapped(name: string, about: string, example: string, of: (text: string) => string): Definition {
  return def1(`(${name} c)`, about, example, (c, ctx) => {
    const code = char(name, c)
    ctx.alloc(1)
    const text = of(code.text)
    return [...text].length === 1 ? new Char(text.codePointAt(0)!) : code
  })
}
