import { type Called, called, type Given, isRandom, isSecretValue } from './judge.ts'

export interface Span {
  category: string
  start: number
  end: number
}

/** What the names of secrets have in them. */
const STEM = /pass|pwd|pw\b|psk|kennwort|senha|contrase|wachtwoord|secret|token|key|auth|cred|cookie|sess|sig/gi
const NAME = /[A-Za-z0-9_.ñ-]/
const NAME_MAX = 64
/** Where the quotation mark that ends a value is looked for. */
const QUOTED_MAX = 4_000

const CATEGORY: Readonly<Record<Called, string>> = {
  password: 'password',
  token: 'credential',
  key: 'credential',
  signature: 'credential',
  header: 'credential',
  cookie: 'session cookie',
}

/** Whether a value is a secret because of what it is called: `{"password": "…"}`. */
export function namedSecret(name: string, value: string): string | undefined {
  const as = called(name)
  if (as === undefined) return undefined
  const found =
    as === 'header' || as === 'cookie'
      ? inHeader(value, 0, value.length, as).length > 0
      : isSecretValue(value, as, 'tight', true)
  return found ? CATEGORY[as] : undefined
}

/** Secrets that are known by their name beside them: assigned, in a header, after an option, told. */
export function namedSecrets(text: string): Span[] {
  const found: Span[] = []
  STEM.lastIndex = 0
  for (let m = STEM.exec(text); m; m = STEM.exec(text)) {
    let start = m.index
    for (const least = Math.max(0, start - NAME_MAX); start > least && NAME.test(text[start - 1]!); ) start--
    if (text[start - 1] === '\\' && 'nrt'.includes(text[start]!)) start++ // the end of a line in JSON, not a letter
    let end = m.index + m[0].length
    for (const most = Math.min(text.length, end + NAME_MAX); end < most && NAME.test(text[end]!); ) end++
    STEM.lastIndex = end
    const as = called(text.slice(start, end))
    if (as === undefined) continue
    const at = valueAfter(text, start, end)
    if (at === undefined) continue
    if (as === 'header' || as === 'cookie') {
      if (at.given === 'beside' || at.given === 'prose') continue
      const to = at.start + (HEADER.exec(text.slice(at.start, at.start + HEADER_MAX))?.[0].length ?? 0)
      found.push(...inHeader(text, at.start, to, as))
      STEM.lastIndex = Math.max(end, to)
      continue
    }
    if (isSecretValue(text.slice(at.start, at.end), as, at.given, at.quoted))
      found.push({ category: CATEGORY[as], start: at.start, end: at.end + more(text, at.end) })
    // what the value is, if not a secret, may be the name of one: `--secret API_TOKEN=x`
    else STEM.lastIndex = Math.min(end + 1, text.length)
  }
  return found
}

/** A header, up to the end of the line or of the text it is quoted in. */
const HEADER = /^["']?[^"'\n]*/
const HEADER_MAX = 4_000

interface At {
  start: number
  end: number
  given: Given
  quoted: boolean
}

const CLOSING = /(?:\\{0,2}["'`]\]?){0,2}/y
const BLANK = /[ \t]{0,40}/y
/** `: string =`, `: &str =`: a type stands before the value. */
const TYPED = /:[ \t]{0,4}[&\w<>'?.|[\]]{1,40}[ \t]{0,4}=[ \t]{0,4}(?=["'`])/y
const OPERATOR = /(?::=|=>|=(?!=)|:(?![:/=]))/y
const PROSE = /(?:is|was|are)(?:now )?:?[ \t]{1,4}/y
/** In YAML the value may stand on the next line. */
const BLOCK = /[|>][+-]?[ \t]{0,4}\n[ \t]{1,40}/y
/** `gh secret set NAME --body …` */
const SET = /--(?:body|value|data|secret-string)[ =]{1,3}/y
/** `name: X` and beside or below it `value: …`. */
const SPLIT = /["'`,]{0,2}\s{1,40}["']?(?:value|Value)["']?[ \t]{0,4}[=:][ \t]{0,4}/y
const LOGIN = /\blogin\s{1,20}\S{1,100}\s{1,20}$/
const OPEN = /(?:\b[fbru]{1,2})?(\\{0,2}["'`])/y

const stick = (pattern: RegExp, text: string, at: number): RegExpExecArray | null => {
  pattern.lastIndex = at
  return pattern.exec(text)
}

/** Where the value of a name begins and ends, and how it is given. */
function valueAfter(text: string, start: number, end: number): At | undefined {
  if (text.startsWith("'s ", end)) return valueAt(text, end + 3, 'prose', false)
  const closed = stick(CLOSING, text, end)![0].length
  let at = end + closed
  const gap = stick(BLANK, text, at)![0].length
  const next = at + gap
  const typed = closed === 0 && text[next] === ':' ? stick(TYPED, text, next) : null
  if (typed) return valueAt(text, next + typed[0].length, 'equals', false)
  if (text[end] === '>' && text[start - 1] === '<') return valueAt(text, end + 1, 'tight', false)
  const operator = stick(OPERATOR, text, next)?.[0]
  if (operator !== undefined) {
    at = next + operator.length
    const space = stick(BLANK, text, at)![0].length
    const tight = operator === '=' && gap + space + closed === 0
    const whole =
      tight && /(?:^|[\n"'])[+ \t-]{0,8}(?:export |set |-e |ENV )?$/.test(text.slice(Math.max(0, start - 20), start))
    const block = operator === ':' ? stick(BLOCK, text, at + space) : null
    if (block) return valueAt(text, at + space + block[0].length, 'tight', false)
    const value = valueAt(text, at + space, tight ? 'tight' : operator === ':' ? 'colon' : 'equals', whole)
    return value && operator === '=>' && !value.quoted ? undefined : value
  }
  if (closed > 0 && text[next] === ',') {
    const value = valueAt(text, next + 1 + stick(BLANK, text, next + 1)![0].length, 'beside', false)
    return value?.quoted ? value : undefined
  }
  const split = stick(SPLIT, text, end)
  if (split) return valueAt(text, end + split[0].length, 'equals', false)
  if (text[end] === '(') {
    const value = valueAt(text, end + 1, 'beside', false)
    return value?.quoted ? value : undefined
  }
  if (gap === 0) return undefined
  const set = text[next] === '-' ? stick(SET, text, next) : null
  if (set) return valueAt(text, next + set[0].length, 'option', false)
  if (text[start] === '-') return text[next] === '-' ? undefined : valueAt(text, next, 'option', false)
  const prose = 'iwa'.includes(text[next] ?? '.') ? stick(PROSE, text, next) : null
  if (prose) return valueAt(text, next + prose[0].length, 'prose', false)
  if (LOGIN.test(text.slice(Math.max(0, start - 150), start))) return valueAt(text, next, 'prose', false)
  return valueAt(text, next, 'beside', false)
}

/** So much of a value is read before it is known to be a secret. */
const WHOLE = /[^\s"'`<>]{1,100}/y
const BARE = /[^\s"'`<>,;&|(){}[\]\\]{1,100}/y
const REST = /[^\s"'`<>,;&|(){}[\]\\]*/y

/** How much longer a secret is than what was read of it. */
const more = (text: string, end: number): number => stick(REST, text, end)![0].length

function valueAt(text: string, from: number, given: Given, whole: boolean): At | undefined {
  const open = stick(OPEN, text, from)
  if (open) {
    const start = from + open[0].length
    const seen = text.slice(start, start + QUOTED_MAX)
    const line = seen.indexOf('\n')
    const most = line < 0 ? seen.length : line
    const close = seen.indexOf(open[1]!)
    return { start, end: start + (close < 0 || close > most ? most : close), given, quoted: true }
  }
  const bare = stick(whole ? WHOLE : BARE, text, from)?.[0]
  if (bare === undefined) return undefined
  // a call, an index: what a program would put there
  if (!whole && /[([]/.test(text[from + bare.length] ?? '')) return undefined
  const shown = bare.replace(/[.:!?),;]{1,4}$/, (marks) => (marks.startsWith('!') && given !== 'prose' ? marks : ''))
  return { start: from, end: from + shown.length, given, quoted: false }
}

const SCHEME = /["'`\\]{0,2}(?:[fb]["'])?(?:(?:basic|bearer|token|ssws|apikey|bot|key)[ \t]{1,4})?(?:token=)?["']?/iy
const CREDENTIAL = /[^\s"'`\\,;<>]{6,2000}/y
const PAIR = /[\w.%-]{1,80}=([^;\s"']{12,2000})/g

/** What an `Authorization` or a `Cookie` header carries. */
function inHeader(text: string, from: number, to: number, as: 'header' | 'cookie'): Span[] {
  if (as === 'cookie') {
    const pairs = [...text.slice(from, to).matchAll(PAIR)]
    return pairs.flatMap((m) => {
      const end = from + m.index + m[0].length
      return isRandom(decodeLoosely(m[1]!), 12) && !m[1]!.startsWith('$')
        ? [{ category: CATEGORY.cookie, start: end - m[1]!.length, end }]
        : []
    })
  }
  const start = from + stick(SCHEME, text, from)![0].length
  const value = stick(CREDENTIAL, text, start)?.[0]
  if (value === undefined || start >= to) return []
  return isSecretValue(value, 'token', 'equals', true)
    ? [{ category: CATEGORY.header, start, end: start + value.length }]
    : []
}

const decodeLoosely = (value: string): string => value.replace(/%[0-9A-F]{2}/g, '.')
