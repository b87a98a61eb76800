/** What a text calls what must not be told, with whatever is in front of it: `DB_PASSWORD`, `clientSecret`. */
const NAMED = String.raw`(?:password|passwd|passphrase|\bpwd|_token|(?:api|private|client|secret|access|auth|account|shared)[_-]?(?:access[_-]?)?(?:key|token|secret)|secret)\b`
/** `=`, or a colon, that is not followed by an ordinary word: "password: required" is prose. */
const ASSIGNED = String.raw`\s*=(?:\s*(?=["'])|(?=\S)|\s+(?![a-z]+(?:[\s.,;:)]|$)))|\s*:\s*(?![a-z]+(?:[\s.,;:)]|$))`
/** Placeholders, types, and what a program would put there. */
const NOT_A_VALUE = String.raw`(?![\s"'<$({[*])(?!(?:true|false|null|none|undefined|string|(?:process|os|req|this|self|config|env|import)\.[\w$.]+)\b)(?![\w$.]+\()`

/** A category of secret and what it looks like. Sources: the documented prefixes of the issuers. */
const PATTERNS: readonly [category: string, pattern: RegExp][] = [
  [
    'private key',
    /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|$)/g,
  ],
  ['GitHub token', /\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{22,})/g],
  ['GitLab token', /\bglpat-[A-Za-z0-9_-]{16,}/g],
  ['AWS access key', /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b/g],
  ['API key', /\bsk-(?:[a-z]{1,20}-){0,4}[A-Za-z0-9_-]{16,}/g],
  ['Stripe key', /\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}/g],
  ['Slack token', /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g],
  ['Google API key', /\bAIza[A-Za-z0-9_-]{35}/g],
  ['npm token', /\bnpm_[A-Za-z0-9]{36}\b/g],
  ['Hugging Face token', /\bhf_[A-Za-z0-9]{30,}\b/g],
  ['JSON web token', /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g],
  ['connection string', /\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s:/@"'<>]*:[^\s/@"'<>]{3,}@[^\s"'<>]+/gi],
  ['password', new RegExp(`${NAMED}["']?(?:${ASSIGNED})["']?${NOT_A_VALUE}[^\\s"',;]{6,}`, 'gi')],
  ['bearer token', /\b(?:authorization\s*:\s*)?bearer\s+[A-Za-z0-9_.~+/-]{20,}=*/gi],
]

/**
 * The text without what stands between `<private>` and the `</private>` that closes it: marks may stand within marks, and
 * one that is not closed reaches to the end.
 */
export function withoutPrivate(text: string, instead: (region: string) => string = () => ''): string {
  let depth = 0
  let from = 0
  let out = ''
  for (const { 0: mark, index } of text.matchAll(/<\/?private>/gi)) {
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

export interface Found {
  category: string
  start: number
  end: number
}

/** Where a text holds what looks like a secret. */
export function findSecrets(textValue: string): Found[] {
  const found: Found[] = []
  for (const [category, pattern] of PATTERNS) {
    for (const m of textValue.matchAll(pattern)) found.push({ category, start: m.index, end: m.index + m[0].length })
  }
  return found
}

/** The text with every secret replaced by its category. */
export function redact(textValue: string): string {
  let out = textValue
  for (const [category, pattern] of PATTERNS) out = out.replace(pattern, `[redacted: ${category}]`)
  return out
}

export interface Screened {
  value: unknown
  /** Where a secret was, by path, and of which category; the secret itself is in no message. */
  secrets: { path: string; category: string }[]
  /** Something between `<private>` and `</private>` was left out. */
  privateLeftOut: boolean
}

/**
 * The one gate for secrets: every text and key in an action's arguments goes through here before anything is
 * planned. `<private>` text is dropped; secrets are reported, or replaced when the caller asked for that.
 */
export function screen(value: unknown, redacting: boolean): Screened {
  const secrets: Screened['secrets'] = []
  let privateLeftOut = false
  const clean = (textValue: string, path: string): string => {
    let out = textValue
    if (out.includes('<') && /<private>/i.test(out)) {
      out = withoutPrivate(out).trim()
      privateLeftOut = true
    }
    const found = findSecrets(out)
    if (found.length === 0) return out
    for (const category of new Set(found.map((f) => f.category))) secrets.push({ path, category })
    return redacting ? redact(out) : out
  }
  /** `{password: "…"}`, `{name: "password", value: "…"}`, `["--password", "…"]`: one says what the other is. */
  const told = (key: string, item: string, path: string): boolean => {
    if (
      /\s/.test(item) ||
      findSecrets(item).length > 0 ||
      !findSecrets(`${key}="${item}"`).some((f) => f.category === 'password')
    )
      return false
    secrets.push({ path, category: 'password' })
    return true
  }
  const walk = (v: unknown, path: string, depth: number): unknown => {
    if (typeof v === 'string') return clean(v, path)
    if (depth > 40 || v === null || typeof v !== 'object') return v
    if (Array.isArray(v)) {
      const walked = (item: unknown, i: number) => {
        const at = `${path}.${i}`
        const option = typeof v[i - 1] === 'string' && /^--?\w/.test(v[i - 1]) ? v[i - 1] : undefined
        const named = option !== undefined && typeof item === 'string' && item[0] !== '-' && told(option, item, at)
        return named && redacting ? '[redacted: password]' : walk(item, at, depth + 1)
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
      const named = typeof item === 'string' && told(key === 'value' && split !== undefined ? split : key, item, at)
      Object.defineProperty(out, cleanKey, {
        value: named && redacting ? '[redacted: password]' : walk(item, at, depth + 1),
        enumerable: true,
        configurable: true,
        writable: true,
      })
    }
    return out
  }
  return { value: walk(value, '', 0), secrets, privateLeftOut }
}
