/** The words both notations share: how strings, keys and comments are written so that they read back the same. */

import { FENCE_MARK, hides, late, UNSEEN, unfenced, unhidden } from './invisible.ts'
import { Char } from './values.ts'

const BARE = /^[a-z][a-z0-9]*(?:[-._/][a-z0-9]+)*$/
const PLAIN_KEY = /^[A-Za-z0-9_][A-Za-z0-9_\-./?!*+<>=&%$^~]*$/
const PLAIN_SYMBOL = /^[^\s()[\]{}"';`,|#:\\\x00-\x1f\x7f][^\s()[\]{}"';`,|\\\x00-\x1f\x7f]*$/

/** `nil` is a value; `true` and `false` are read as values by whoever knows JSON. */
const TAKEN = new Set(['nil', 'true', 'false'])

/** May this string stand without quotes inside an entity or a table? */
export const isBare = (text: string): boolean => BARE.test(text) && !TAKEN.has(text)

export const isPlainSymbol = (text: string): boolean => PLAIN_SYMBOL.test(text) && !hides(text)

const NAMED: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\t': '\\t', '\r': '\\r' }
const escapeChar = (c: string): string => NAMED[c] ?? `\\x${c.codePointAt(0)!.toString(16)};`

/** What is never printed as it is: what would not read back, what goes unseen, what would end a fence around it. */
const ODD = `\\\\|\\p{Surrogate}|${UNSEEN}|${FENCE_MARK}`
const inString = late(`"|${ODD}`, 'gi')
const inBarred = late(`[\\|]|${ODD}`, 'gi')
const EVEN = /^[\x20\x21\x23-\x3b\x3d-\x5b\x5d-\x7b\x7d-\x7e]*$/

/** A string in quotes: `\" \\ \n \t \r \xHH;`, everything that can be seen as it is. */
export const quote = (text: string): string =>
  EVEN.test(text) ? `"${text}"` : `"${text.replace(inString(), (c) => (c === '"' ? '\\"' : escapeChar(c)))}"`

/** A name between bars, for keys and symbols that would read as something else. */
export const inBars = (text: string): string =>
  EVEN.test(text) ? `|${text}|` : `|${text.replace(inBarred(), (c) => (c === '|' ? '\\|' : escapeChar(c)))}|`

/** `:name` or `:|odd name|`. */
export const keyText = (key: string): string => ':' + (PLAIN_KEY.test(key) && !hides(key) ? key : inBars(key))

/** A comment that says what was left out; nothing in it can end it early or nest. */
export const remark = (text: string): string =>
  `#| ${unfenced(unhidden(text.replace(/\s+/g, ' '))).replace(/[|#]/g, (c) => (c === '|' ? '¦' : '♯'))} |#`

/** Reads the inside of `"…"` or `|…|`; `at` is just after the opening mark. Returns the text and where it ended, or what is wrong. */
export function readQuoted(source: string, at: number, mark: '"' | '|'): { text: string; end: number } | string {
  let text = ''
  let from = at
  for (let i = at; i < source.length; i++) {
    const c = source[i]!
    if (c === mark) return { text: text + source.slice(from, i), end: i + 1 }
    if (c !== '\\') continue
    text += source.slice(from, i)
    const escaped = readEscape(source, i + 1)
    if (typeof escaped === 'string') return escaped
    text += escaped.text
    i = escaped.end - 1
    from = escaped.end
  }
  return mark === '"' ? 'a string is not closed: " is missing' : 'a name is not closed: | is missing'
}

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', '"': '"', '\\': '\\', '|': '|' } // biome-ignore format: a table

function readEscape(source: string, at: number): { text: string; end: number } | string {
  const c = source[at] ?? ''
  if (c === 'x') {
    const hex = /^([\da-fA-F]{1,6});/.exec(source.slice(at + 1, at + 8))
    const code = hex ? Number.parseInt(hex[1]!, 16) : -1
    if (!hex || code > 0x10ffff) return 'a \\x escape is \\xHH; with a code point in hexadecimal'
    return { text: String.fromCodePoint(code), end: at + 1 + hex[0].length }
  }
  const gap = /^[ \t]*\r?\n[ \t]*/.exec(source.slice(at, at + 200))
  if (gap) return { text: '', end: at + gap[0].length }
  const text = Object.hasOwn(ESCAPES, c) ? ESCAPES[c] : undefined
  return text === undefined ? `no such escape in a string: \\${c}` : { text, end: at + 1 }
}

const CHARS: Record<string, number> = { space: 32, newline: 10, tab: 9, return: 13, null: 0, alarm: 7, backspace: 8, delete: 127, escape: 27 } // biome-ignore format: a table
const CHAR_NAMES = new Map(Object.entries(CHARS).map(([name, code]) => [code, name]))

/** What follows `#\`: one character, a name, or `x` and hexadecimal digits. */
export function parseChar(text: string): Char | undefined {
  const code = text.codePointAt(0)!
  if (text.length === (code > 0xffff ? 2 : 1)) return new Char(code)
  if (Object.hasOwn(CHARS, text)) return new Char(CHARS[text]!)
  const hex = /^x([\da-f]{1,6})$/i.exec(text)
  const value = hex ? Number.parseInt(hex[1]!, 16) : -1
  return value >= 0 && value <= 0x10ffff ? new Char(value) : undefined
}

export const printChar = ({ code, text }: Char): string =>
  `#\\${CHAR_NAMES.get(code) ?? ((code >= 0xd800 && code < 0xe000) || hides(text) ? 'x' + code.toString(16) : text)}`
