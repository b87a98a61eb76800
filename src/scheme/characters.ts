import { hides } from './invisible.ts'
import { Char } from './values.ts'

const NAMES = new Map<string, number>([
  ['space', 0x20],
  ['newline', 0x0a],
  ['tab', 0x09],
  ['return', 0x0d],
  ['null', 0],
  ['nul', 0],
  ['alarm', 7],
  ['backspace', 8],
  ['delete', 0x7f],
  ['rubout', 0x7f],
  ['escape', 0x1b],
  ['altmode', 0x1b],
  ['linefeed', 0x0a],
  ['page', 0x0c],
])
const BY_CODE = new Map<number, string>()
for (const [name, code] of NAMES) if (!BY_CODE.has(code)) BY_CODE.set(code, name)

/** What follows `#\`: one character, a name, or `x` and hexadecimal digits. */
export function parseChar(text: string): Char | undefined {
  const code = text.codePointAt(0)
  if (code === undefined) return undefined
  if (text.length === (code > 0xffff ? 2 : 1)) return new Char(code)
  const named = NAMES.get(text.toLowerCase())
  if (named !== undefined) return new Char(named)
  const hex = /^x([\da-f]{1,6})$/i.exec(text)
  const value = hex ? Number.parseInt(hex[1]!, 16) : -1
  return value >= 0 && value <= 0x10ffff ? new Char(value) : undefined
}

export function printChar(c: Char): string {
  const name = BY_CODE.get(c.code)
  if (name) return `#\\${name}`
  const odd = (c.code >= 0xd800 && c.code < 0xe000) || hides(c.text)
  return `#\\${odd ? 'x' + c.code.toString(16) : c.text}`
}
