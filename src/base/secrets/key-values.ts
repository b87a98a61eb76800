import { type Called, called, type Given, isRandom, isSecretValue, isWord, type Span } from './is-secret.ts'
import { near } from './near.ts'
import { isAscii } from './plain.ts'
import { givenBeside, holds, isPaired, isRecord, told, toldBefore } from './sentences.ts'
import { column } from './shapes.ts'

const STEM =
  /(?:log|sign)[ -]?in|unlock|encrypted|decrypt|anmeld|zugang|acced|zalog|logow|requirepass|pass|pwd|pw\b|pswd|mdp|psk|secret|token|jeton|_salt|key|auth|cred|cookie|sess|sig|kennwort|senha|contrase|wachtwoord|parola|clave|chave|chiave|haslo|hesl[oa]|losenord|adgangskode|salasana|jelsz|sifre/gi
/** Of these a login, a key or a file is told, and the value has no name; they begin a name, which ends soon. */
const LETS_IN =
  ' login log-in log in signin sign-in sign in requirepass unlock encrypted decrypt secret cred anmeld zugang acced zalog logow логин войти 登录 登入 ログイン 로그인 verschlüsselt geschützt chiffré '
/** Such a name: no credit, and no name of a program. */
const GOES_ON = /^(?!it|u|ence)[a-zà-ž]{0,7}$/
/** Behind "pass", where a test does not say it of itself. */
const NO_VERB = /^ (?:is|was|for|to)\b/
/** And in texts of other letters. */
let wide: RegExp | undefined
const madeWide = (): RegExp =>
  new RegExp(
    `${STEM.source}|hasło|lösenord|schlüssel|şifre|\\bclé|парол|логин|войти|登录|登入|ログイン|로그인|verschlüsselt|geschützt|chiffré|пасс|токен|ключ|密[码碼钥鑰]|口令|令牌|パスワード|トークン|シークレット|キー|키|비밀번호|비번|암호|토큰`,
    'gi',
  )
const isOfName = (c: number): boolean =>
  (c >= 97 && c <= 122) ||
  (c >= 65 && c <= 90) ||
  (c >= 45 && c <= 57 && c !== 47) ||
  c === 95 ||
  (c >= 0xc0 && c <= 0x17e) ||
  (c >= 0x410 && c <= 0x44f)
/** From here on no blanks stand between words: a name is what the stem says. */
const UNSPACED = '\u2e80'
const NAME_MAX = 64
/** Where the quotation mark that ends a value is looked for. */
const QUOTED_MAX = 4_000

/** `laravel_session=…`, "the laravel_session cookie is …" */
const SESSION = /(?:[ \t]cookie)?(?:[ \t]is[ \t]|["']?[:=][ \t]?)["']?([A-Za-z0-9%._~+/|:!-]{20,4000}={0,2})/y

const CATEGORY: Readonly<Record<Called, string>> = {
  password: 'password',
  token: 'credential',
  key: 'credential',
  signature: 'credential',
  header: 'credential',
  cookie: 'session cookie',
  session: 'session cookie',
}

export function namedSecret(name: string, value: string): string | undefined {
  const as = called(name)
  if (as === undefined || as === 'session') return undefined // the name of a session, in a record
  const found =
    as === 'header' || as === 'cookie'
      ? inHeader(value, 0, value.length, as).length > 0
      : isSecretValue(value, as, 'tight', true)
  return found ? CATEGORY[as] : undefined
}

/** Secrets that are known by their name beside them: assigned, in a header, after an option, told. Notes where a password is named. */
export function namedSecrets(text: string, passwords: number[]): Span[] {
  const found: Span[] = []
  const stem = isAscii(text) ? STEM : (wide ??= madeWide())
  stem.lastIndex = 0
  for (let m = stem.exec(text); m; m = stem.exec(text)) {
    let start = m.index
    let end = m.index + m[0].length
    if (m[0] < UNSPACED) {
      for (const least = Math.max(0, start - NAME_MAX); start > least && isOfName(text.charCodeAt(start - 1)); ) start--
      if (text[start - 1] === '\\' && 'nrt'.includes(text[start]!)) start++ // the end of a line in JSON, not a letter
      for (const most = Math.min(text.length, end + NAME_MAX); end < most && isOfName(text.charCodeAt(end)); ) end++
      while (text[end - 1] === '.') end-- // of the sentence
    }
    stem.lastIndex = end
    const name = nameOf(text, start, end)
    const as = called(name)
    if (start === m.index && LETS_IN.includes(` ${m[0].toLowerCase()} `) && GOES_ON.test(name.slice(m[0].length)))
      near(text, start, end, false, found)
    if (as === undefined) continue
    if (as === 'session') {
      // nothing so long stands behind most: the pattern is compiled when it is first used
      const isLong = !text.slice(end + 12, end + 20).includes(' ')
      const mayBe = isLong && ('=:"\''.includes(text[end] ?? '.') || text.startsWith(' cookie', end))
      const value = mayBe ? stick(SESSION, text, end)?.[1] : undefined
      // in a record it is the name of a session, and opens nothing
      const isName =
        value !== undefined &&
        (/^(?:ses_|[0-9a-f]{8}-[0-9a-f]{4}-)/i.test(value) ||
          (name === 'session' && /^["']?[ ]?:/.test(text.slice(end, end + 3))))
      if (value && !isName && isRandom(value.replace(/%[0-9A-F]{2}/g, '.'), 12))
        found.push({ category: CATEGORY.cookie, start: SESSION.lastIndex - value.length, end: SESSION.lastIndex })
      continue
    }
    const before = as === 'password' ? toldBefore(text, start, end) : undefined
    if (before && isTogether(text, ...before)) found.push({ category: CATEGORY[as], start: before[0], end: before[1] })
    if (as === 'password' && name.toLowerCase() !== 'pass') passwords.push(end)
    if ((as === 'password' || as === 'token') && /^(?:["`* ]{0,4}[|,;\t\r\n]| {2}|$)/.test(text.slice(end, end + 5)))
      column(text, start, found)
    const at = valueAfter(text, start, end, as)
    if (as === 'password' && (name.toLowerCase() !== 'pass' || NO_VERB.test(text.slice(end, end + 5))))
      near(text, start, end, true, found)
    if (at === undefined) continue
    if (as === 'header' || as === 'cookie') {
      if (at.given === 'beside' || at.given === 'prose') continue
      const to = at.start + (HEADER.exec(text.slice(at.start, at.start + HEADER_MAX))?.[0].length ?? 0)
      found.push(...inHeader(text, at.start, to, as))
      stem.lastIndex = Math.max(end, to)
      continue
    }
    const value = text.slice(at.start, at.end)
    if (name.endsWith(value) || (name === 'PASS' && at.given === 'colon')) continue // a class; what a test says of itself
    const isKey = ENV_KEY.test(name) ? HEX.test(value) : '?&'.includes(text[start - 1] ?? ' ') && isRandom(value, 16)
    if (isSecretValue(value, as, at.given, at.quoted) || (as === 'key' && isKey))
      found.push({ category: CATEGORY[as], start: at.start, end: at.end + more(text, at.end) })
    // what the value is, if not a secret, may be the name of one: `--secret API_TOKEN=x`
    else stem.lastIndex = Math.min(end + 1, text.length)
  }
  return found
}

const LOGIN = /(?<=\b(?:admin|root|[\w.+-]{1,40}@[\w.-]{3,40}) (?:and|und|et|y|e|i|и|with|mit|avec|con|com) ["'`]?)/y
function isTogether(text: string, start: number, end: number): boolean {
  const value = text.slice(start, end)
  return isSecretValue(value, 'password', 'prose', false) || (isWord(value) && holds(LOGIN, text, start))
}

/** What a file of variables calls a key; a digest is one there. */
const ENV_KEY = /^[A-Z\d]{3,}_(?:[A-Z\d]+_)*KEY$/
const HEX = /^[0-9a-f]{32,64}$/i
/** A variable in YAML: no program puts a name behind it. */
const VARIABLE = /^[A-Z\d]+(?:_[A-Z\d]+)+$/

/** "API key": a key is called by the word before it. */
function nameOf(text: string, start: number, end: number): string {
  const name = text.slice(start, end)
  const word =
    name.length < 7 && /^(?:key|token)s?$/i.test(name)
      ? /([A-Za-z]{2,12})[ -]$/.exec(text.slice(Math.max(0, start - 13), start))
      : null
  return word ? `${word[1]}_${name}` : name
}

/** A header, up to the end of the line or of the text it is quoted in. */
const HEADER = /^["']?[^"'\n]*/
const HEADER_MAX = 4_000

type At = { start: number; end: number; given: Given; quoted: boolean }

const CLOSING = /(?:\\{0,2}["'`]\]?){0,2}/y
const BLANK = /[ \t]{0,40}/y
/** `: string =`, `: &str =`: a type stands before the value. */
const TYPED = /:[ \t]{0,4}[&\w<>'?.|[\]]{1,40}[ \t]{0,4}=[ \t]{0,4}(?=["'`])/y
/** The next cell of a row. */
const CELL = /[*`_]{0,3}[ \t]{0,20}(?:\|[ \t]{0,20}|<\/t[dh]>\s{0,20}<td\b[^<>]{0,40}>)[*`_]{0,3}/y
/** What takes a quoted value behind it: `define('DB_PASSWORD', …`, in Gradle `storePassword …`. */
const DEFINES = /(?<=\bdefine\([ ]?["'])/y
/** A colon with a dash is a shell's: `${NAME:-value}`. */
const OPERATOR = /(?::=|=>|=(?!=)|:-?(?![:/=]))/y
/** In YAML the value may stand on the next line. */
const BLOCK = /[|>][+-]?[ \t]{0,4}\n[ \t]{1,40}/y
/** "the password is:" and below it the password. */
const BELOW = /\r?\n(?:[ \t]{0,8}\r?\n)?(?:```\w{0,10}\r?\n)?[ \t]{0,8}(?=[^\s`])/y
/** `gh secret set NAME --body …` */
const SET = /--(?:body|value|data|secret-string)[ =]{1,3}/y
/** `name: X` and beside or below it `value: …`. */
const SPLIT = /(?:["'`],?|[,\s])\s{0,40}["']?(?:value|Value)["']?[ \t]{0,4}[=:][ \t]{0,4}/y
/** `"name": { "sensitive": true, "value": …`, `variable "name" { default = …` */
const INSIDE =
  /["']?[ \t]{0,4}(?:[:=][ \t]{0,4}\{[^{}]{0,120}?["']?value|\{[^{}]{0,200}?\bdefault)["']?[ \t]{0,4}[:=][ \t]{0,4}/y
/** `<property name="password">…` */
const ELEMENT = /(?<=<(?:property|entry|param|string|setting|variable)\b[^<>]{0,80})/iy
const CLOSED = />(?:\s{0,20}<value>)?/y
const OPEN = /(?:\b[fbru]{1,2})?(\\{0,2}(?:"""|["'`]))/y

const stick = (pattern: RegExp, text: string, at: number): RegExpExecArray | null => {
  pattern.lastIndex = at
  return pattern.exec(text)
}

function valueAfter(text: string, start: number, end: number, as: Called): At | undefined {
  if (text.startsWith("'s ", end)) return valueAt(text, end + 3, 'prose', false)
  const closed = stick(CLOSING, text, end)![0].length
  let at = end + closed
  const gap = stick(BLANK, text, at)![0].length
  const next = at + gap
  const typed = closed === 0 && text[next] === ':' ? stick(TYPED, text, next) : null
  if (typed) return valueAt(text, next + typed[0].length, 'equals', false)
  // a pattern is compiled when it is first used: these two seldom are
  const inside = text.slice(end, end + 12).includes('{') ? stick(INSIDE, text, end) : null
  if (inside) return valueAt(text, end + inside[0].length, 'equals', false)
  if (text[end] === '>' && text[start - 1] === '<') return valueAt(text, end + 1, 'tight', false)
  const operator = stick(OPERATOR, text, next)?.[0]
  if (operator !== undefined) {
    // a file, with its first line; of a program of Windows an option
    if (text[start - 1] === '/' && operator === ':')
      return /\s/.test(text[start - 2] ?? '') ? valueAt(text, next + 1, 'tight', false) : undefined
    at = next + operator.length
    if (text.startsWith('** ', at)) at += 2 // **Password:** X
    const space = stick(BLANK, text, at)![0].length
    const tight = operator === '=' && gap + space + closed === 0
    const whole =
      tight && /(?:^|[\n"'])[+ \t-]{0,8}(?:export |set |-e |ENV )?$/.test(text.slice(Math.max(0, start - 20), start))
    const isPair = operator === '=' && as === 'password' && isRecord(text, start, at + space)
    const block = operator === ':' ? stick(BLOCK, text, at + space) : null
    if (block) return valueAt(text, at + space + block[0].length, 'tight', false)
    const below = operator === ':' ? stick(BELOW, text, at + space) : null
    if (below) return valueAt(text, at + space + below[0].length, 'prose', false)
    const isQuery = tight && /[?&]/.test(text[start - 1] ?? '') && as === 'password'
    const given =
      isPair || isQuery ? 'record' : tight ? 'tight' : operator[0] === ':' && operator !== ':=' ? 'colon' : 'equals'
    const value = valueAt(text, at + space, given, whole && !isPair)
    if (value && !value.quoted && operator === '=>') value.given = 'prose'
    else if (value && given === 'colon' && as === 'password' && VARIABLE.test(text.slice(start, end)))
      value.given = 'paired'
    else if (value && !value.quoted && !tight && !isPair && as === 'password' && isPaired(text, start, given))
      value.given = 'paired'
    return value
  }
  if (closed > 0 && text[next] === '>' && holds(ELEMENT, text, start))
    return valueAt(text, next + stick(CLOSED, text, next)![0].length, 'tight', false)
  const split = text.slice(end, end + 50).includes('alue') ? stick(SPLIT, text, end) : null
  if (split) return valueAt(text, end + split[0].length, 'equals', false)
  if (closed > 0 && text[next] === ',') {
    const value = valueAt(text, next + 1 + stick(BLANK, text, next + 1)![0].length, 'beside', false)
    if (value && holds(DEFINES, text, start)) value.given = 'tight'
    return value?.quoted ? value : undefined
  }
  const cell = as === 'password' ? stick(CELL, text, end) : null
  if (cell) {
    const value = valueAt(text, end + cell[0].length, 'prose', false)
    return value && { ...value, quoted: false }
  }
  if (text[end] === '(') {
    const value = valueAt(text, end + 1, 'beside', false)
    return value?.quoted ? value : undefined
  }
  const set = text[next] === '-' ? stick(SET, text, next) : null
  if (set) return valueAt(text, next + set[0].length, 'option', false)
  const between = text[start] === '-' ? undefined : told(text, start, end + closed)
  if (between !== undefined) {
    const isBelow = /:\s{0,9}\n\s{0,9}$/.test(text.slice(end, end + closed + between))
    const value = valueAt(text, end + closed + between, 'prose', isBelow)
    // "password of the admin account: …", and nothing behind it
    const isAlone = value && as === 'password' && /^[.!]?[ \t]*(?:\n|$)/.test(text.slice(value.end, value.end + 8))
    if (isAlone && !value.quoted && (isBelow || endsNamed(text.slice(end, value.start)))) value.given = 'paired'
    return value
  }
  const under = gap === 0 && as !== 'key' && holds(LABEL, text, start) ? stick(UNDER, text, end) : null
  if (under) return valueAt(text, end + under[0].length, 'prose', false)
  if (gap === 0) return text[start]! < UNSPACED ? undefined : valueAt(text, end, 'said', false)
  if (text[start] === '-' && text[next] === '-') return undefined
  if (text[start] === '-') {
    const value = valueAt(text, next, 'option', false)
    if (value && (isPaired(text, start, 'option') || ENDS.test(text.slice(value.end, value.end + 4))))
      value.given = 'paired'
    return value
  }
  if (text[start - 1] === '$') return undefined
  const given = givenBeside(text, start)
  const name = text.slice(start, end)
  const isVerb = given === 'beside' && /pass$/i.test(name)
  if (isVerb && !/[,;(|][ \t]?$/.test(text.slice(Math.max(0, start - 2), start))) return undefined
  const value = valueAt(text, next, given === 'beside' && OWN_WORD.test(name) ? 'said' : given, given === 'tight')
  if (given === 'beside' && value && /^\w+=/.test(text.slice(value.start, value.end))) return undefined
  if (value && isVerb && !NO_NAME.test(text.slice(value.start, value.end))) return undefined
  if (value?.quoted && given === 'beside' && as === 'password' && holds(WITH, text, start)) value.given = 'prose'
  return value
}

/** A name alone in a line, and a value alone in the next. */
const LABEL = /(?<=(?:^|\n)[ \t>*#-]{0,6}(?:[A-Za-z]{2,12} ){0,3})/y
const UNDER = /:?\r?\n[ \t]{0,8}(?=[^\s<>(){}]{8,100}[ \t]{0,4}(?:\r?\n|$))/y
/** The end of a command, or its next option: no sentence goes on so. */
const ENDS = /^["']?(?:[ \t]*(?:$|[\n\\|&;`])|[ \t]+--?\w)/
/** Nothing but a password is called so, and no verb. */
const OWN_WORD = /^(?:pwd?|mdp|senha|kennwort|passwort|wachtwoord|[^a-z]{3,}|contrase.*)$/i
/** Behind ", pass", which may be a verb. */
const NO_NAME = /^(?:[^-].{0,99}[^\w.]|(?=.{0,99}\d).{0,99}[A-Z])/
const WITH = /(?<=\b(?:using|with|mit|avec|con|com) )/iy

/** Whether two words and a colon stand at the end. */
function endsNamed(text: string): boolean {
  const [named = '', rest] = text.split(':').slice(-2)
  return rest?.trim() === '' && /\w[ \t]+\w/.test(named)
}

/** So much of a value is read before it is known to be a secret. */
const WHOLE = /[^\s"'`<>]{1,100}/y
const BARE = /[^\s"'`<>,;&|(){}[\]\\\u2e80-\uffef]{1,100}/y
const REST = /[^\s"'`<>,;&|(){}[\]\\\u2e80-\uffef]*/y

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
  const shown = bare.replace(/[.:!?),;]{1,4}$/, (marks) => (marks.startsWith('!') ? marks : ''))
  return { start: from, end: from + shown.length, given, quoted: false }
}

const SCHEME =
  /["'`\\]{0,2}(?:[fb]["'])?(?:(?!aws4|digest|negotiate|signature|hawk)[a-z][\w-]{1,20}[ \t]{1,4})?(?:token=)?["']?/iy
const CREDENTIAL = /[^\s"'`\\,;<>]{6,2000}/y
const PAIR = /[\w.%-]{1,80}=([^;\s"']{12,2000})/g

function inHeader(text: string, from: number, to: number, as: 'header' | 'cookie'): Span[] {
  if (as === 'cookie') {
    return [...text.slice(from, to).matchAll(PAIR)].flatMap((m) => {
      const end = from + m.index + m[0].length
      return isRandom(m[1]!.replace(/%[0-9A-F]{2}/g, '.'), 12) && !m[1]!.startsWith('$')
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
