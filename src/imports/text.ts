import { findSecrets, withoutPrivate } from '../memory/secrets.ts'
import { MAX_STRING } from '../schema/canonical.ts'
import type { Json } from '../schema/field.ts'

/** How long the pieces of a document are: what recall can show whole, far below what a field holds. */
export const PIECE = 4_000

const breaks = (textValue: string) => textValue.replace(/[^\n]/g, '').length

/**
 * A document without what must not be kept, on the same lines as before: it is cut into lines and pieces afterwards,
 * and neither a `<private>` region nor a key of many lines can be seen in one of them alone.
 */
export function scrub(
  textValue: string,
  file: string,
): { text: string; redacted: { where: string; category: string }[] } {
  const open = withoutPrivate(textValue, (region) => '\n'.repeat(breaks(region)))
  const found = findSecrets(open)
  if (found.length === 0) return { text: open, redacted: [] }
  const redacted = found.map((f) => ({ where: `${file}:${breaks(open.slice(0, f.start)) + 1}`, category: f.category }))
  let text = ''
  let at = 0
  for (const f of found.sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (f.start < at) continue // inside one that is gone already
    text += open.slice(at, f.start) + `[redacted: ${f.category}]` + '\n'.repeat(breaks(open.slice(f.start, f.end)))
    at = f.end
  }
  return { text: text + open.slice(at), redacted }
}

/** A key and its value as one text: `password: hunter22` is a secret where the two alone are not. */
const pairSecret = (key: string, value: string) => findSecrets(value).length === 0 && findSecrets(`${key}: ${value}`)[0]

/** Structure whose values under telling keys (`password`, `api_key`) are replaced by what they are. */
export function scrubPairs(value: Json, onSecret: (path: string, category: string) => void, path = ''): Json {
  if (Array.isArray(value)) return value.map((v, i) => scrubPairs(v, onSecret, `${path}[${i}]`))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([key, v]) => {
      const here = path === '' ? key : `${path}.${key}`
      const secret = typeof v === 'string' ? pairSecret(key, v) : undefined
      if (!secret) return [key, scrubPairs(v, onSecret, here)]
      onSecret(here, secret.category)
      return [key, `[redacted: ${secret.category}]`]
    }),
  )
}

/** Where to cut the first piece off: after a paragraph, else a line, a sentence, a word; never inside a character. */
function cutAt(textValue: string, limit: number): number {
  const head = textValue.slice(0, limit)
  for (const [mark, keep] of [
    ['\n\n', 2],
    ['\n', 1],
    ['. ', 2],
    [' ', 1],
  ] as const) {
    const at = head.lastIndexOf(mark)
    if (at > limit / 2) return at + keep
  }
  const last = head.charCodeAt(limit - 1)
  return last >= 0xd800 && last < 0xdc00 ? limit - 1 : limit
}

/** A text in pieces no longer than the limit; joined they are the text. */
export function pieces(textValue: string, limit = PIECE): string[] {
  const out: string[] = []
  let rest = textValue
  while (rest.length > limit) {
    const at = cutAt(rest, limit)
    out.push(rest.slice(0, at))
    rest = rest.slice(at)
  }
  if (rest !== '') out.push(rest)
  return out
}

export const isTooLong = (textValue: string) => textValue.length > MAX_STRING

/** The first sentence, or the first words of it. */
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
