import { char, index, items, notOf, range, str, WrongArgument } from '../argument-types.ts'
import { printLimited } from '../layout.ts'
import { type CallContext, Char, list, type Run, Sym, type Value } from '../values.ts'
import { layoutValue } from '../write.ts'

/** Pays for a new string: an eighth of a cell a character. */
function pay(length: number, ctx: CallContext): void {
  ctx.alloc(1 + (length >> 3))
  ctx.charge(length >> 6)
}

/** Pays for a string that takes no more than what it is made of. */
function made(text: string, ctx: CallContext): string {
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

const substring: Run = ([text, start, end], ctx) =>
  made(between(str(text), ...range(start, end, lengthOf(text as string))), ctx)

/** Where the first of something is in a text, in characters. */
const place: Run = ([text, part], ctx) => {
  ctx.charge(1 + (str(text).length >> 6))
  const at = (text as string).indexOf(piece(part))
  return at < 0 ? false : BigInt(lengthOf((text as string).slice(0, at)))
}

const order = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)

const comparison =
  (holds: (order: number) => boolean, isFolded: boolean): Run =>
  (args, ctx) => {
    for (const arg of args) isFolded ? pay(str(arg).length, ctx) : ctx.charge(str(arg).length >> 4)
    const texts = args.map((arg) => (isFolded ? lower(arg as string) : (arg as string)))
    return texts.every((text, i) => i === 0 || holds(order(texts[i - 1]!, text)))
  }
const lower = (text: string): string => text.toLowerCase()

const ORDERS: [string, string, (order: number) => boolean][] = [
  ['=?', 'Are they equal', (n) => n === 0],
  ['<?', 'Does each come after the one before', (n) => n < 0],
  ['>?', 'Does each come before the one before', (n) => n > 0],
  ['<=?', 'Does none come before the one before', (n) => n <= 0],
  ['>=?', 'Does none come after the one before', (n) => n >= 0],
]

const each =
  (of: (text: string) => string): Run =>
  ([text], ctx) => {
    pay(str(text).length, ctx)
    return of(text as string)
  }

/** What separates or is looked for may be a string or a character. */
const piece = (v: Value): string => (v instanceof Char ? v.text : str(v))

const affix =
  (has: (text: string, part: string) => boolean): Run =>
  ([part, text]) =>
    piece(part).length <= str(text).length && has(text as string, piece(part))

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

const characters: Run = ([text, start, end], ctx) => {
  const part = between(str(text), ...range(start, end, lengthOf(text as string)))
  ctx.charge(part.length)
  ctx.alloc(2 * part.length)
  return list([...part].map((c) => new Char(c.codePointAt(0)!)))
}

const charTest =
  (pattern: RegExp): Run =>
  ([c]) =>
    pattern.test(char(c).text)

/** Where a letter's other case is several characters, as with ß, R7RS leaves it as it is. */
const charOf =
  (of: (text: string) => string): Run =>
  ([c], ctx) => {
    ctx.alloc(1)
    const text = of(char(c).text)
    return [...text].length === 1 ? new Char(text.codePointAt(0)!) : c
  }

// biome-ignore format: a table, one entry a line where it can be
export const strings: Record<string, Run | string> = {
  '(string? x) | Is it a string? | (string? "a")': ([x]) => typeof x === 'string',
  '(string-length text) | How many characters it has. | (string-length "abc")': ([text], ctx) => {
    ctx.charge(str(text).length >> 6)
    return BigInt(lengthOf(text as string))
  },
  '(string-ref text k) | The character at k, counted from 0. | (string-ref "abc" 1)': ([text, k], ctx) => {
    ctx.charge(str(text).length >> 6)
    ctx.alloc(1)
    const at = index(k, lengthOf(text as string) - 1)
    return new Char(between(text as string, at, at + 1).codePointAt(0)!)
  },
  '(substring text start [end]) | The part from start up to, not including, end. | (substring "hello" 1 3)': substring,
  '(string-copy text [start] [end]) | The string, or a part of it. | (string-copy "hello" 1)': substring,
  '(string-append text …) | The strings one after another. | (string-append "ab" "c")': (args, ctx) => {
    ctx.alloc(1 + (args.reduce<number>((total, arg) => total + str(arg).length, 0) >> 3))
    return args.join('')
  },
  '(string x …) | Characters, or any values as display shows them, in one string. | (string #\\a "bc" 1)': (args, ctx) => args.map((arg) => made(display(arg), ctx)).join(''),
  '(make-string n [char]) | A string of n times the same character. | (make-string 3 #\\x)': ([n, fill], ctx) => {
    const mark = fill === undefined ? ' ' : char(fill).text
    pay(index(n) * mark.length, ctx)
    return mark.repeat(index(n))
  },
  ...Object.fromEntries(
    ORDERS.flatMap(([suffix, about, holds]): [string, Run][] => [
      [`(string${suffix} a b …) | ${about}? | (string${suffix} "a" "b")`, comparison(holds, false)],
      [`(string-ci${suffix} a b …) | ${about}, case apart? | (string-ci${suffix} "a" "B")`, comparison(holds, true)],
      [`(char${suffix} a b …) | ${about}? | (char${suffix} #\\a #\\b)`, (args) => {
        const codes = args.map((arg) => char(arg).code)
        return codes.every((code, i) => i === 0 || holds(codes[i - 1]! - code))
      }],
    ]),
  ),
  '(string-upcase text) | In capitals. | (string-upcase "abc")': each((text) => text.toUpperCase()),
  '(string-downcase text) | In small letters. | (string-downcase "ABC")': each(lower),
  '(string-foldcase text) | As case-insensitive comparison sees it. | (string-foldcase "ABC")': each(lower),
  '(string-trim text) | Without white space at both ends. | (string-trim "  a  ")': each((text) => text.trim()),
  '(string-index text char) | Where the character first occurs, or #f. | (string-index "banana" #\\n)': place,
  '(string-contains text part) | Where the part first occurs, or #f. | (string-contains "banana" "nan")': place,
  '(string-prefix? part text) | Does the text begin with the part? | (string-prefix? "src/" "src/a.ts")': affix((t, p) => t.startsWith(p)),
  '(string-suffix? part text) | Does the text end with the part? | (string-suffix? ".ts" "src/a.ts")': affix((t, p) =>
    t.endsWith(p),
  ),
  '(string-split text [separator]) | The parts between separators; without one, the words. | (string-split "a,b,c" ",")': ([text, separator], ctx) => {
    const t = str(text)
    const by = separator === undefined ? /\s+/ : piece(separator)
    ctx.charge(t.length)
    // paid before it is split: a list of all characters is what would hurt
    ctx.alloc((typeof by === 'string' ? 2 * countOf(t, by, ctx) : t.length) + (t.length >> 3))
    return list(typeof by === 'string' ? t.split(by) : t.split(by).filter(Boolean))
  },
  '(string-join texts [separator]) | The strings of a list with the separator (a space) between them. | (string-join \'("a" "b") ", ")': ([texts, separator], ctx) => {
    const by = separator === undefined ? ' ' : piece(separator)
    const all = items(texts, ctx).map(str)
    ctx.alloc(1 + (all.reduce((sum, text) => sum + text.length + by.length, 0) >> 3))
    return all.join(by)
  },
  '(string-replace text old new) | Every old part replaced by the new one. | (string-replace "a-b-c" "-" "+")': ([text, old, by], ctx) => {
    if (str(old) === '') throw new WrongArgument('what is replaced must not be empty')
    const times = countOf(str(text), str(old), ctx)
    pay(str(text).length + times * str(by).length, ctx)
    ctx.alloc(times)
    return str(text).replaceAll(str(old), () => str(by))
  },
  '(string-null? text) | Is it the empty string? | (string-null? "")': ([text]) => str(text) === '',
  '(string->list text [start] [end]) | Its characters as a list. | (string->list "abc")': characters,
  "(list->string chars) | The string of a list of characters. | (list->string '(#\\a #\\b))": ([chars], ctx) =>
    made(
      items(chars, ctx)
        .map((c) => char(c).text)
        .join(''),
      ctx,
    ),
  '(string-reverse text) | Back to front. | (string-reverse "abc")': '(lambda (text) (list->string (reverse (string->list text))))',
  '(string-map f text …) | The string of the characters that f returns. | (string-map char-upcase "abc")': '(lambda (f . texts) (list->string (apply map f (map string->list texts))))',
  '(string-for-each f text …) | Calls f for each character. | (string-for-each char-upcase "abc")': '(lambda (f . texts) (apply for-each f (map string->list texts)))',
  '(string->symbol text) | The symbol of that name. | (string->symbol "abc")': ([text], ctx) => {
    ctx.alloc(1)
    return new Sym(str(text))
  },
  "(symbol->string name) | The name of a symbol. | (symbol->string 'abc)": ([name]) => {
    if (name instanceof Sym) return name.name
    throw notOf('a symbol', name)
  },
  '(display->string x) | A value as a reader would want to see it: strings and characters as they are. | (display->string \'(1 "a"))': ([x], ctx) => made(display(x), ctx),
  '(write->string x) | A value as it is written in a program. | (write->string \'(1 "a"))': ([x], ctx) => made(written(x), ctx),
  '(char? x) | Is it a character? | (char? #\\a)': ([x]) => x instanceof Char,
  '(char-alphabetic? c) | Is it a letter? | (char-alphabetic? #\\a)': charTest(/^\p{Alphabetic}$/u),
  '(char-numeric? c) | Is it a digit? | (char-numeric? #\\1)': charTest(/^\p{Nd}$/u),
  '(char-whitespace? c) | Is it white space? | (char-whitespace? #\\space)': charTest(/^\s$/u),
  '(char-upper-case? c) | Is it a capital? | (char-upper-case? #\\A)': charTest(/^\p{Uppercase}$/u),
  '(char-lower-case? c) | Is it a small letter? | (char-lower-case? #\\a)': charTest(/^\p{Lowercase}$/u),
  '(char-upcase c) | Its capital. | (char-upcase #\\a)': charOf((text) => text.toUpperCase()),
  '(char-downcase c) | Its small letter. | (char-downcase #\\A)': charOf(lower),
  '(char->integer c) | Its code point. | (char->integer #\\A)': ([c]) => BigInt(char(c).code),
  '(integer->char n) | The character of a code point. | (integer->char 955)': ([n], ctx) => {
    ctx.alloc(1)
    const code = index(n, 0x10ffff)
    if (code >= 0xd800 && code < 0xe000) throw new WrongArgument(`${code} is no character`)
    return new Char(code)
  },
}
