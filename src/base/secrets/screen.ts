/**
 * secrets: the gate that everything passes before it is stored. `rules.ts` lists what is known by its form,
 * `key-values.ts` finds values by their name, `sentences.ts` those in sentences, `is-secret.ts` tells real values from placeholders, `find.ts` redacts them.
 */

import { findSecrets, redact } from './find.ts'
import { namedSecret } from './key-values.ts'

/**
 * The text without its `<private>` regions. They may be nested, and one that is not closed reaches to the end. A mark that
 * stands alone in a code span, as in this comment, is only spoken of.
 */
export function withoutPrivate(text: string, instead: (region: string) => string = () => ''): string {
  let depth = 0
  let from = 0
  let out = ''
  for (const { 0: mark, index } of text.matchAll(/<\/?private>/gi)) {
    if (isSpokenOf(text, index, mark)) continue
    if (mark[1] !== '/') {
      if (depth++ > 0) continue
      out += text.slice(from, index)
      from = index
    } else if (depth > 0 && --depth === 0) {
      const end = index + mark.length
      out += instead(text.slice(from, end))
      from = end
    }
  }
  const rest = text.slice(from)
  return out + (depth === 0 ? rest : instead(rest))
}

/** How far back on its line a code span is looked for. */
const SPAN = 500

/** Whether a mark is the whole of a code span. */
function isSpokenOf(text: string, at: number, mark: string): boolean {
  if (text[at - 1] !== '`' || text[at + mark.length] !== '`') return false
  const before = text.slice(Math.max(0, at - SPAN), at)
  const line = before.slice(before.lastIndexOf('\n') + 1)
  return (line.length < SPAN || at <= SPAN) && line.split('`').length % 2 === 0
}

/**
 * The gate for secrets. Drops `<private>` text, and reports secrets, or replaces them where the caller asked for that: where each was,
 * by path, and of which category. The secret itself is in no message.
 */
export function screen(value: unknown, redacting: boolean) {
  const secrets: { path: string; category: string }[] = []
  let privateLeftOut = false
  const clean = (textValue: string, path: string): string => {
    let out = textValue
    if (out.includes('<') && /<private>/i.test(out)) {
      const open = withoutPrivate(out)
      if (open !== out) [out, privateLeftOut] = [open.trim(), true]
    }
    const found = findSecrets(out)
    if (found.length === 0) return out
    for (const category of new Set(found.map((f) => f.category))) secrets.push({ path, category })
    return redacting ? redact(out) : out
  }
  /** `{password: "…"}`, `{name: "password", value: "…"}`, `["--password", "…"]`: one says what the other is. */
  const told = (key: string, item: string, path: string): string | undefined => {
    const category = findSecrets(item).length > 0 ? undefined : namedSecret(key, item)
    if (category !== undefined) secrets.push({ path, category })
    return category
  }
  const walk = (v: unknown, path: string, depth: number): unknown => {
    if (typeof v === 'string') return clean(v, path)
    if (depth > 40 || v === null || typeof v !== 'object') return v
    if (Array.isArray(v)) {
      const walked = (item: unknown, i: number) => {
        const at = `${path}.${i}`
        const option = typeof v[i - 1] === 'string' && /^--?\w/.test(v[i - 1]) ? v[i - 1] : undefined
        const named =
          option !== undefined && typeof item === 'string' && item[0] !== '-' ? told(option, item, at) : undefined
        return named !== undefined && redacting ? `[redacted: ${named}]` : walk(item, at, depth + 1)
      }
      const kept = v.map((item, i) => [item, walked(item, i)] as const)
      return kept.filter(([given, left]) => left !== '' || given === '').map(([, left]) => left) // wholly private items go
    }
    const proto = Object.getPrototypeOf(v)
    if (proto !== Object.prototype && proto !== null) return v
    const out: Record<string, unknown> = {}
    const { name, key: called = name, value } = v as Record<string, unknown>
    const split = typeof called === 'string' && typeof value === 'string' ? called : undefined
    for (const [key, item] of Object.entries(v)) {
      const cleanKey = clean(key, path)
      const shownKey = redact(cleanKey) // a message names the place, and the key may be the secret
      const at = path === '' ? shownKey : `${path}.${shownKey}`
      const named =
        typeof item === 'string' ? told(key === 'value' && split !== undefined ? split : key, item, at) : undefined
      Object.defineProperty(out, cleanKey, {
        value: named !== undefined && redacting ? `[redacted: ${named}]` : walk(item, at, depth + 1),
        enumerable: true,
        configurable: true,
        writable: true,
      })
    }
    return out
  }
  return { value: walk(value, '', 0), secrets, privateLeftOut }
}
