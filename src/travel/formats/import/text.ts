import { findSecrets, redact } from '../../../base/secrets/find.ts'
import { namedSecret } from '../../../base/secrets/key-values.ts'
import { withoutPrivate } from '../../../base/secrets/screen.ts'
import { MAX_STRING } from '../../../model/canonical.ts'
import type { Json } from '../../../model/field.ts'
import { mapStrings } from './json-values.ts'

/** How long the pieces of a document are: what recall can show whole, far below what a field holds. */
const PIECE = 4_000

const breaks = (textValue: string) => textValue.replace(/[^\n]/g, '').length

/** A whole document, since these may span lines, without secrets and private regions; line numbers stay. */
export function scrub(
  textValue: string,
  file: string,
): { text: string; redacted: { where: string; category: string }[] } {
  const open = withoutPrivate(textValue, (region) => '\n'.repeat(breaks(region)))
  const redacted: { where: string; category: string }[] = []
  const text = redact(open, ({ category, start }, secret, whole) => {
    redacted.push({ where: `${file}:${breaks(whole.slice(0, start)) + 1}`, category })
    return `[redacted: ${category}]${'\n'.repeat(breaks(secret))}`
  })
  return { text, redacted }
}

/** Structure whose values under telling keys (`password`, `api_key`) are replaced by what they are. */
export const scrubPairs = (value: Json, onSecret: (category: string) => void): Json =>
  mapStrings(value, (text, path) => {
    const key = path.at(-1)
    const category = typeof key === 'string' && findSecrets(text).length === 0 ? namedSecret(key, text) : undefined
    if (category === undefined) return text
    onSecret(category)
    return `[redacted: ${category}]`
  })

/** Where to cut the first piece off: after a paragraph, else before an item or row, a line, a sentence, a word; never inside a character. */
function cutAt(textValue: string, limit: number): number {
  const head = textValue.slice(0, limit)
  for (const mark of [/\n\n/g, /\n(?=[ \t]*(?:[-*+|>#]|\d{1,3}\.) ?)/g, /\n/g, /\. /g, / /g]) {
    const last = [...head.matchAll(mark)].at(-1)
    if (last && last.index > limit / 2) return last.index + last[0].length
  }
  const last = head.charCodeAt(limit - 1)
  return last >= 0xd800 && last < 0xdc00 ? limit - 1 : limit
}

/** A text in pieces no longer than the limit, about as long as each other; joined they are the text. */
export function pieces(textValue: string, limit = PIECE): string[] {
  const out: string[] = []
  let rest = textValue
  while (rest.length > limit) {
    const even = rest.length / Math.ceil(rest.length / limit)
    const at = cutAt(rest, Math.min(limit, Math.ceil(even * 1.25)))
    out.push(rest.slice(0, at))
    rest = rest.slice(at)
  }
  if (rest !== '') out.push(rest)
  return out
}

export const isTooLong = (textValue: string) => textValue.length > MAX_STRING

export function firstSentence(textValue: string, limit = 200): string {
  const line = textValue.trim().replace(/\s+/g, ' ')
  const sentence = /^.*?[.!?](?=\s|$)/.exec(line)?.[0] ?? line
  return sentence.length <= limit ? sentence : `${sentence.slice(0, cutAt(sentence, limit)).trimEnd()}…`
}

/** A value as text that a gate lets through: no NUL, no half characters. */
export function wellFormed<T extends Json>(value: T): T {
  if (typeof value === 'string') return value.replaceAll('\0', '').toWellFormed() as T
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((v) => wellFormed(v)) as T
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [wellFormed(k), wellFormed(v)])) as T
}
