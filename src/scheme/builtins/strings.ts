import { brief } from '../brief.ts'
import { char, count, index, items, notOf, range, str } from '../check.ts'
import { alias, type Definition, def, def1, def2 } from '../define.ts'
import { printLimited } from '../layout.ts'
import { type CallContext, Char, list, SchemeError, Sym, type Value, Vec } from '../values.ts'
import { layoutValue } from '../write.ts'

/** Pays for a new string: an eighth of a cell per character. */
export function made(text: string, ctx: CallContext): string {
  ctx.alloc(1 + (text.length >> 3))
  ctx.charge(text.length >> 6)
  return text
}

const SURROGATE = /[\ud800-\udfff]/
/** Characters are code points; where all are single units, positions in the JS string are the same. */
const points = (text: string): string[] | undefined => (SURROGATE.test(text) ? [...text] : undefined)
const lengthOf = (text: string): number => points(text)?.length ?? text.length

function slice(text: string, args: readonly Value[], at: number, name: string): string {
  if (args[at] === undefined) return text
  const all = points(text)
  const [start, end] = range(name, args, at, all?.length ?? text.length)
  return all ? all.slice(start, end).join('') : text.slice(start, end)
}

/** Where a position in the JS string is, counted in characters. */
const position = (text: string, at: number): Value => (at < 0 ? false : BigInt(lengthOf(text.slice(0, at))))

const comparison = (name: string, about: string, fold: boolean, holds: (order: number) => boolean): Definition =>
  def(`(${name} a b …)`, about, `(${name} "a" "b")`, (args, ctx) => {
    const texts = args.map((arg) => (fold ? str(name, arg).toLowerCase() : str(name, arg)))
    for (const text of texts) ctx.charge(text.length >> 4)
    return texts.every((text, i) => i === 0 || holds(order(texts[i - 1]!, text)))
  })

/** By code points; UTF-16 order differs where surrogates meet the last of the plane. */
function order(a: string, b: string): number {
  if (a === b) return 0
  if (!SURROGATE.test(a) && !SURROGATE.test(b)) return a < b ? -1 : 1
  const [x, y] = [[...a], [...b]]
  for (let i = 0; i < x.length && i < y.length; i++) {
    const difference = x[i]!.codePointAt(0)! - y[i]!.codePointAt(0)!
    if (difference !== 0) return difference
  }
  return x.length - y.length
}

const ORDERS: [string, string, (order: number) => boolean][] = [
  ['=?', 'Are they equal', (n) => n === 0],
  ['<?', 'Does each come after the one before', (n) => n < 0],
  ['>?', 'Does each come before the one before', (n) => n > 0],
  ['<=?', 'Does none come before the one before', (n) => n <= 0],
  ['>=?', 'Does none come after the one before', (n) => n >= 0],
]

const each = (name: string, about: string, example: string, of: (text: string) => string): Definition =>
  def1(`(${name} text)`, about, example, (text, ctx) => made(of(str(name, text)), ctx))

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
    const all = points(t)
    const at = index('string-ref', k, (all?.length ?? t.length) - 1)
    return new Char((all ? all[at]! : t[at]!).codePointAt(0)!)
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
    (args, ctx) => made(args.map((arg) => display(arg)).join(''), ctx),
  ),
  def('(make-string n [char])', 'A string of n times the same character.', '(make-string 3 #\\x)', (args, ctx) => {
    const n = count('make-string', args[0])
    const c = args[1] === undefined ? ' ' : char('make-string', args[1]).text
    ctx.alloc(1 + n / 8)
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
  each('string-reverse', 'Back to front.', '(string-reverse "abc")', (text) => [...text].reverse().join('')),
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
      // Paid before it is split: a list of all characters is what would hurt.
      ctx.alloc(t.length >> 2)
      const parts = args[1] === undefined ? t.split(/\s+/).filter(Boolean) : t.split(piece('string-split', args[1]))
      ctx.alloc(2 * parts.length + (t.length >> 3))
      return list(parts)
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
      ctx.alloc(t.length >> 2)
      const parts = t.split(old)
      ctx.charge(parts.length)
      ctx.alloc(1 + ((t.length + (parts.length - 1) * by.length) >> 3))
      return parts.join(by)
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
  def1(
    '(string->symbol text)',
    'The symbol of that name.',
    '(string->symbol "abc")',
    (text) => new Sym(str('string->symbol', text)),
  ),
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
  const text = [...str(name, args[0])]
  const width = count(name, args[1])
  const fill = args[2] === undefined ? ' ' : char(name, args[2]).text
  ctx.alloc(1 + width / 8)
  const kept = left ? text.slice(Math.max(0, text.length - width)) : text.slice(0, width)
  const padding = fill.repeat(width - kept.length)
  return left ? padding + kept.join('') : kept.join('') + padding
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
  def1('(integer->char n)', 'The character of a code point.', '(integer->char 955)', (n) => {
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
  return def1(`(${name} c)`, about, example, (c) => {
    const code = char(name, c)
    const text = of(code.text)
    return [...text].length === 1 ? new Char(text.codePointAt(0)!) : code
  })
}
