/** What stands for a secret in examples and templates. */
const PLACEHOLDER =
  /example|placeholder|change[-_ ]?me|replace|redacted|insert[-_ ]|dummy|your[-_ ]|yourstrong|[-_]your|goes[-_ ]here|<|&lt;|\.\.\.|…|x{5}|\*{3}/i
/** Words that are no secret on their own, also with a few figures behind; what images of databases are started with. */
const PLAIN =
  /^(?:pass(?:word|wd)?|pwd|pw|secret|token|key|api[-_ ]?key|user(?:name)?|guest|test(?:ing)?|tests|foo|bar|baz|foobar|demo|fake|mock|sample|todo|tbd|fixme|none|null|nil|undefined|true|false|string|required|optional|hidden|masked|unset|empty|default|invalid|missing|anonymous|bearer|basic|postgres(?:ql)?|mysql|mariadb|mongo(?:db)?|redis|minio(?:admin)?|rabbitmq|elastic|keycloak)[-_]?\d{0,4}!?$/i
/** Names of algorithms and the like have figures in them, and stand in prose. */
const TERMS =
  /(?:base|utf|sha|md|aes|rs|hs|es|ps|ed|x|argon|bcrypt|oauth|oauth2|http|pbkdf|ipv|k|v|rfc|iso|p|s|i|l|log|win|arm|amd|int|uint|float|mp|web|node|es)[-_]?\d{1,5}(?![0-9])(?:id|ns|s)?/gi

export const isPlaceholder = (value: string): boolean => PLACEHOLDER.test(value) || new Set(value).size < 4

/** In bits per character. */
function entropy(value: string): number {
  const counts: Record<string, number> = {}
  for (const c of value) counts[c] = (counts[c] ?? 0) + 1
  let bits = 0
  for (const n of Object.values(counts)) bits -= (n / value.length) * Math.log2(n / value.length)
  return bits
}

/** Letters and figures in one run of at least so many, as chance makes them and names do not. */
export function isRandom(value: string, run: number): boolean {
  if (entropy(value) < 2.5) return false
  for (const part of value.split(/[^A-Za-z0-9+/]+/)) {
    if (part.length < run) continue
    const figures = part.replace(/[^0-9]/g, '').length
    const turns = part.match(/[a-z][A-Z]|[a-z]\d|\d[A-Za-z]|[A-Z]\d/g)?.length ?? 0 // fileName2 has one or two
    if ((figures > 0 && figures < part.length && turns >= 2) || turns > part.length / 5) return true
  }
  return false
}

/** Base64 of `name:password`. */
export const isPair = (value: string): boolean =>
  value.length >= 8 &&
  /^[A-Za-z0-9+/_-]+={0,2}$/.test(value) &&
  /^[\x20-\x7e]{1,200}:[\x20-\x7e]{3,200}$/.test(Buffer.from(value, 'base64').toString('latin1'))

export type Called = 'password' | 'token' | 'key' | 'signature' | 'header' | 'cookie'
/** How the value is given: `A=x`, `A = x`, `a: x`, `--a x`, `a is x`, `a("x")`. */
export type Given = 'tight' | 'equals' | 'colon' | 'option' | 'prose' | 'beside'

const list = (words: string): readonly string[] => words.split(' ')
/** Behind what a name means: `DB_PASSWORD_PROD`, `secret_key_base`. */
const AFTERTHOUGHT = new Set(
  list(
    'prod production dev staging stage live test base b value data hex old new raw primary secondary plain plaintext main',
  ),
)
const PASSWORDS = list(
  'password passwd passphrase passcode pwd storepass keypass userpass dbpass psk passwort kennwort senha contrasena wachtwoord passe',
)
const TOKENS = list('secret token credential credentials sessid sessionid')
/** A key with one of these before it opens something; another may be a place in a cache or a table. */
const OPENS = list(
  'api access secret private auth account shared encrypt encryption sign signing signature master license licence service admin app jwt client deploy crypto cipher hmac aes webhook function functions ingest vault token',
)
const FINDS = list('pub public primary foreign sort cache partition object idempotency')

/** What a name promises of its value; nothing for `token_url`, `cacheKey`, `password_hash`. */
export function called(name: string): Called | undefined {
  const words = (name.replaceAll('ñ', 'n').match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+/g) ?? []).map((w) => w.toLowerCase())
  while (words.length > 1 && (AFTERTHOUGHT.has(words.at(-1)!) || /\d/.test(words.at(-1)!))) words.pop()
  const last = words.at(-1) ?? ''
  const ends = (known: readonly string[]) => known.some((word) => last.endsWith(word))
  if (ends(PASSWORDS) || last === 'pass' || last === 'pw') return 'password'
  if (ends(TOKENS) || last === 'auth' || last === 'cred' || last === 'creds') return 'token'
  if (last === 'authorization') return words.length === 1 || words[0] === 'proxy' ? 'header' : undefined
  if (last === 'cookie') return words.length === 1 || words[0] === 'set' ? 'cookie' : undefined
  if (last === 'sig' || last === 'signature') return 'signature'
  if (!last.endsWith('key') && !last.endsWith('keys')) return undefined
  const before = words.join('').replace(/keys?$/, '')
  if (OPENS.some((word) => before.endsWith(word) || before.endsWith(`${word}access`))) return 'token'
  return FINDS.some((word) => before.startsWith(word)) ? undefined : 'key'
}

/** What a program, a template or a shell puts in a value's place; a path; a reference to where the secret lies. */
const NOT_A_VALUE =
  /^(?:[$<{[(~&*?:]|%[({]|\.{0,2}\/|[A-Za-z]:\\|!(?:[a-z]|$)|@|#\{|(?:op|vault|file|arn|projects|https?|ssm|s3|gs)[:/])|\$\{|\{\{|\$\(|::|\(\)|^[\w$.]+\(.*\)[,;]?$/i
/** `config.db.password`, `this->token`, `ctx.meta?.token`. */
const IDENTIFIER = /^[A-Za-z_$][\w$]*(?:(?:\?\.|\.|->)[A-Za-z_$][\w$]*)*[!?]?$/
const WORDS = /^[A-Za-z]+(?:[-_.:/][A-Za-z]+)*[!?.]?$/
/** Commits, digests, fingerprints and UUIDs: a name that could mean anything does not make a secret of them. */
const DIGEST = /^(?:[0-9a-f]{7,128}|0x[0-9a-f]{8,40}|[0-9a-f-]{36})$/i
/** What describes a secret rather than being one. */
const ABOUT = /pass|secret|token|key|wrong|invalid|policy|reset|field|input|prod|name|service|auth|api|client|server/i

/** So much of a value tells what it is; much text that looks like names and values must not be looked at again and again. */
const JUDGED = 64

/** Whether a value is a secret, by what it is called and how it is given. */
export function isSecretValue(whole: string, as: Called, given: Given, quoted: boolean): boolean {
  const value = whole.slice(0, JUDGED)
  if (value.length < 6 || /\s/.test(value) || isPlaceholder(value) || PLAIN.test(value) || NOT_A_VALUE.test(value))
    return false
  if (given === 'option' && value.startsWith('-')) return false
  const isName = IDENTIFIER.test(value)
  const isPath = isName && value.includes('.')
  if (isPath && !quoted && (given === 'equals' || given === 'colon')) return false
  if (isPath && !isRandom(value, as === 'password' ? 10 : 16)) return false
  if (given === 'prose') return isTold(value, as)
  if (given === 'beside')
    return as === 'password' && quoted
      ? /\d/.test(value) && /[A-Za-z]/.test(value) && value.length >= 8
      : isRandom(value, 16) && !DIGEST.test(value)
  if (as === 'password') return isPassword(value, given, quoted, isName)
  if (isPair(value)) return true
  if (as === 'signature') return given === 'tight' && isRandom(value, 16) // of a URL; a header's opens nothing
  if (as === 'key') return (quoted || /\d/.test(value)) && isRandom(value, 16) && !DIGEST.test(value)
  if (WORDS.test(value))
    return (
      given !== 'equals' &&
      (quoted || given === 'option') &&
      value.length >= 16 &&
      /-.*-/.test(value) &&
      !ABOUT.test(value)
    )
  if (/\d/.test(value))
    return (
      value.length >= 8 &&
      !/^[\d.:_-]+$/.test(value) &&
      (isRandom(value, 8) || value.length >= 32 || (value.length >= 12 && value.replace(/\D/g, '').length >= 4))
    )
  if (isName && /(?:key|token|secret|password)s?$/i.test(value)) return false // a type
  return entropy(value) > 3.5 && value.length >= 16 && (quoted || given === 'tight' || !isName)
}

/** People choose words: where a program would not put one, a word is a password. */
function isPassword(value: string, given: Given, quoted: boolean, isName: boolean): boolean {
  if (/^\d+$/.test(value)) return quoted || given === 'tight'
  if (!WORDS.test(value)) return given !== 'colon' || quoted || /\d/.test(value) || !isName
  if (ABOUT.test(value)) return false
  if (given === 'tight') return quoted || !/[A-Z]/.test(value.slice(1)) // camelCase is what a program calls something
  return value.includes('-') || (quoted && value.length >= 8 && /^[a-z]+$/.test(value))
}

/** "the password is …": in prose nearly everything that follows is a word, or the name of an algorithm. */
function isTold(value: string, as: Called): boolean {
  const rest = value.replace(TERMS, '')
  if (as !== 'password') return isRandom(rest, 12) && !DIGEST.test(value)
  return (
    rest.length >= 6 && /[A-Za-z]/.test(rest) && /\d/.test(rest) && (/\d{3}|[!#$%^*@]/.test(rest) || isRandom(rest, 6))
  )
}
