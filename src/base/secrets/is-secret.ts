import { isAscii } from './plain.ts'

/** What stands for a secret in examples and templates. */
const PLACEHOLDER =
  /example|placeholder|change[-_ ]?me|replace|redacted|insert[-_ ]|dummy|your[-_ ]|yourstrong|[-_]your|goes[-_ ]here|<|&lt;|\.\.\.|…|x{5}|\*{3}|^%\w+%$|^(?:ctrl|cmd|alt)\+/i
/** Words that are no secret on their own, also with a few figures behind; what images of databases are started with. */
const PLAIN =
  /^(?:(?:secure|strong|my|new|old|wrong)[-_]?password|pass(?:word|wd)?|pwd|pw|secret|token|key|api[-_ ]?key|user(?:name)?|guest|test(?:ing)?|tests|foo|bar|baz|foobar|demo|fake|mock|sample|todo|tbd|fixme|none|null|nil|changeit|undefined|true|false|string|required|optional|hidden|masked|unset|empty|default|invalid|missing|anonymous|bearer|basic|postgres(?:ql)?|mysql|mariadb|mongo(?:db)?|redis|minio(?:admin)?|rabbitmq|elastic|keycloak)[-_]?\d{0,6}!?$/i
/** Names of algorithms and the like have figures in them, and stand in prose. */
const TERMS =
  /(?<![A-Za-z])(?:base|utf|sha|md|aes|rs|hs|es|ps|ed|x|argon|bcrypt|oauth|oauth2|http|pbkdf|ipv|k|v|rfc|iso|p|s|i|l|log|win|arm|amd|int|uint|float|mp|web|node|es)[-_]?\d{1,5}(?:id|ns|s|url|sum|mb4|crypt)?(?![A-Za-z0-9])/gi

/** Keys that their issuers mean to be shown in every page. */
const PUBLIC = /^(?:pk_(?:live|test)_|pk\.eyJ|phc_|sb_publishable_)/

export const isPlaceholder = (value: string): boolean =>
  PLACEHOLDER.test(value) || PUBLIC.test(value) || new Set(value).size < 4

export const isPlain = (value: string): boolean => isPlaceholder(value) || PLAIN.test(value)

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

const NO_WORD =
  /^(?!sha\d|AAAA|MII|6L|iVBOR|pk_|phc_|0x)(?=.*[A-Z].*[A-Z])(?=.*[a-z].*[a-z])(?=.*\d.*\d)(?!.*(?:[a-z]{8}|[A-Z][a-z]{4,}[A-Z][a-z]{4}|\/\/|[a-z-]{4}\/|\.[a-z]{2,4}$))/
/** Of all kinds of letters, as chance draws them. */
export const isDrawn = (value: string): boolean => NO_WORD.test(value) && isRandom(value.replace(/[-_]/g, ''), 20)

/** Base64 of `name:password`. */
export const isPair = (value: string): boolean =>
  value.length >= 8 &&
  /^[A-Za-z0-9+/_-]+={0,2}$/.test(value) &&
  /^[\x20-\x7e]{1,200}:[\x20-\x7e]{3,200}$/.test(Buffer.from(value, 'base64').toString('latin1'))

export type Span = { category: string; start: number; end: number }

export type Called = 'password' | 'token' | 'key' | 'signature' | 'header' | 'cookie' | 'session'
/** How the value is given: `A=x`, `A = x`, `a: x`, `--a x`, `a is x`, `user u, a x`, `a("x")`, `user=u;a=x;`, `user: u⏎a: x`. */
export type Given = 'tight' | 'equals' | 'colon' | 'option' | 'prose' | 'said' | 'beside' | 'record' | 'paired'

const list = (words: string): readonly string[] => words.split(' ')
/** Behind what a name means: `DB_PASSWORD_PROD`, `secret_key_base`. */
const AFTERTHOUGHT = list(
  'prod production dev staging stage live test base b value data hex old new raw primary secondary plain plaintext main',
)
const PASSWORDS = list(
  'password passwd passphrase passcode pwd pswd mdp keymaterial пасс storepass keypass userpass dbpass sshpass smtppass mailpass ftppass rootpass adminpass psk passwort kennwort senha contrasena wachtwoord passe passord losenord losenordet adgangskode adgangskoden passordet lozinka salasana jelszo пароль пароля паролю паролем пароле',
)
/** These end other words too: "enclave". */
const WHOLE_PASSWORDS = list('pass pw clave parola haslo hasla heslo hesla sifre sifresi')
const TOKENS = list('secret token jeton credential credentials sessid токен токена')
/** Written without blanks around them. */
const UNSPACED = /^(?:密[码碼]|口令|パスワード|비밀번호|비번|암호)$/
const UNSPACED_KEYS = /^(?:密[钥鑰]|令牌|トークン|シークレット|キー|키|토큰)$/
/** A key with one of these before it opens something; another may be a place in a cache or a table. */
const OPENS = list(
  'api access secret private auth account shared encrypt encryption sign signing signature master license licence service admin app jwt client deploy crypto cipher hmac aes webhook function functions ingest vault unseal subscription activation registration serial token application product deepgram mistral cohere datadog algolia wallet',
)
const FINDS = list(
  'pub primary foreign sort cache partition object idempotency hash row redis etag map commit storage index ssh gpg',
)
const FOREIGN_KEYS = list('cle chave chiave ключ ключа')
const SHOWN = list('public publishable site')
const SALTED = /^(?:auth|secure|logged|nonce|encrypt(?:ion)?|cookie|session|password|app|api|jwt|hashids?)$/

const bare = (word: string): string =>
  word
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .replaceAll('ł', 'l')

/** What a name promises of its value; nothing for `token_url`, `cacheKey`, `password_hash`. */
export function called(name: string): Called | undefined {
  const isPlain = isAscii(name)
  if (!isPlain && UNSPACED.test(name)) return 'password'
  if (!isPlain && UNSPACED_KEYS.test(name)) return 'token'
  const words = ((isPlain ? name : bare(name)).match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[а-яА-Я]+/g) ?? []).map((w) =>
    w.toLowerCase(),
  )
  while (words.length > 1 && (AFTERTHOUGHT.includes(words.at(-1)!) || /\d/.test(words.at(-1)!))) words.pop()
  const last = words.at(-1) ?? ''
  const ends = (known: readonly string[]) => known.some((word) => last.endsWith(word))
  if (ends(PASSWORDS) || WHOLE_PASSWORDS.includes(last)) return 'password'
  if (last === 'token' && words.at(-2) === 'key' && words.includes('public')) return undefined // an assembly of .NET
  if (last.endsWith('token') && /^csrf|xsrf|page|next|cursor|sync/.test(words.join())) return undefined // shown
  if (last === 'salt' && SALTED.test(words[0]!)) return 'token'
  if (ends(TOKENS) || last === 'auth' || last === 'cred' || last === 'creds') return 'token'
  if (last === 'authorization') return words.length === 1 || words[0] === 'proxy' ? 'header' : undefined
  if (last === 'cookie') return words.length === 1 || words[0] === 'set' ? 'cookie' : undefined
  if (last === 'session' || last === 'aspxauth' || words.at(-1) === 'sessionid') return 'session'
  if (last === 'sig' || last === 'signature') return 'signature'
  if (last === 'schlussel' && words.length > 1) return 'password'
  if (last.endsWith('schlussel')) return last === 'schlussel' ? 'key' : 'token'
  if (FOREIGN_KEYS.includes(last)) return 'key'
  if (!last.endsWith('key') && !last.endsWith('keys')) return undefined
  if (/^(?:wifi|wlan|wpa2?)$/.test(words.at(-2) ?? '')) return 'password'
  const before = words.join('').replace(/keys?$/, '')
  if (before === 'usersigning') return undefined // git names the key that it signs with
  if (SHOWN.some((word) => words.includes(word) || before.endsWith(word))) return undefined
  if (OPENS.some((word) => before.endsWith(word) || before.endsWith(`${word}access`))) return 'token'
  return FINDS.some((word) => before.startsWith(word)) ? undefined : 'key'
}

/** What a program, a template or a shell puts in a value's place; a call, as far as the quotation mark; a path; a reference to where the secret lies. */
const NOT_A_VALUE =
  /^(?:[$<{[(~&*?:]|%[({]|\.{0,2}\/|[A-Za-z]:\\|!+(?:[a-z]|$)|@|[\^~]?\d+\.\d+\.|#\{|(?:op|vault|file|arn|projects|https?|ssm|s3|gs)[:/]|required\|)|\$\{|\{\{|\$\(|::|\(\)|^[\w$.]+\(.*\)[,;]?$|^[a-z_$][\w$.:]*[([][\w$.]*[)\]]?,?$|^(?:read|get|convertto|convertfrom|new|import|request)-[a-z]+$|^(?:\w+\.)+[\w$]+@[0-9a-f]{4,16}$|^[\w.-]+:\/[\w./-]*$|^(?:[\da-f]{2}:){7}|^[a-z]{2,40}_[a-z]{2,40}__\w{5,6}$|^org-\w{20}/i
/** `config.db.password`, `this->token`, `ctx.meta?.token`. */
const IDENTIFIER = /^[A-Za-z_$][\w$]*(?:(?:\?\.|\.|->)[A-Za-z_$][\w$]*)*[!?]?$/
const WORDS = /^[A-Za-zÀ-žЀ-ӿ]+(?:[-_.:/][A-Za-zÀ-žЀ-ӿ]+)*[!?.]?$/
/** A label in a language that has no blanks. */
const LABEL = /[\u2e80-\uffef]/
/** Commits, digests, fingerprints and UUIDs: a name that could mean anything does not make a secret of them. */
const DIGEST = /^(?:[0-9a-f]{7,128}|0x[0-9a-f]{8,40}|[0-9a-f-]{36})$/i
const LICENCE = /^[A-Z\d]{4,6}(?:-[A-Z\d]{4,6}){3,}$/
/** `CRED = 'deployer:…'` */
const LOGIN = /^[A-Za-z][\w.@-]{1,40}:([^\s:/]{6,64})$/
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** Salts of WordPress: letters, figures and marks in turn. */
const SYMBOLS = /^(?=.*\d)(?=.*[A-Za-z])(?=.*[!#%^*@&~=?+|].*[!#%^*@&~=?+|].*[!#%^*@&~=?+|])/
/** A site shows this half of its pair for reCAPTCHA; the other half looks the same and is called a secret. */
const SITE_KEY = /^6L[\w-]{38}$/
/** Of a cache or a log: parts with colons between. */
const COMPOSED = /:/
/** No variable of a program. */
const HAS_FIGURE = /^(?!.*[a-z][A-Z]|(?:self|this|args|opts)\b).*\d/
/** `Books.Of1959`, which no program calls anything. */
const ENDS_IN_YEAR = /^(?!(?:self|this|args|opts|cfg|conf|env|data|params|props|req|ctx|state)\w*\.)\w.*\D\d{2,4}$/
const ABOUT =
  /pass|contrase|kennwort|senha|wachtwoord|парол|secret|token|(?<!mon|tur|don|joc|hoc|whis)key(?!board)|wrong|invalid|policy|reset|field|input|prod|name|service|auth|(?<!p)api|client|server/i

/** So much of a value tells what it is; much text that looks like names and values must not be looked at again and again. */
const JUDGED = 64

export function isSecretValue(whole: string, as: Called, given: Given, quoted: boolean): boolean {
  const value = whole.slice(0, JUDGED)
  if (as === 'password' && quoted && isPassphrase(whole, /option|paired/.test(given) ? 2 : 3)) return true
  if (/^(?:password|token)$/.test(as) && quoted && given !== 'beside' && isWords(whole)) return true
  if (
    value.length < (given === 'record' ? 4 : 6) ||
    /\s/.test(value) ||
    isPlain(value) ||
    NOT_A_VALUE.test(value) ||
    LABEL.test(value)
  )
    return false
  if ((given === 'option' || given === 'paired') && value.startsWith('-')) return false
  if (given === 'record') return !/^[A-Z]+(?:_[A-Z]+)+$/.test(value) // what a template calls it
  const isName = IDENTIFIER.test(value)
  const isPath = isName && value.includes('.') && !(as === 'password' && ENDS_IN_YEAR.test(value) && !ABOUT.test(value))
  if (isPath && !quoted && (given === 'equals' || given === 'colon') && !isRandom(value, 20)) return false
  const isChosen =
    as === 'password' && /^(?:tight|said|prose)$/.test(given) && HAS_FIGURE.test(value) && !ABOUT.test(value)
  if (isPath && !isChosen && !isRandom(value, as === 'password' ? 10 : 16)) return false
  if ((as === 'token' || as === 'key') && LICENCE.test(value)) return true
  if (given === 'prose' || given === 'said') return isTold(value, as, quoted, given === 'said')
  if (given === 'beside')
    return as === 'password'
      ? quoted
        ? /\d/.test(value) && /[A-Za-z]/.test(value) && value.length >= 8
        : !ABOUT.test(value) && isTold(value, as, false)
      : (as === 'token' && UUID.test(value)) ||
          (as === 'token' && quoted && value.length >= 40 && SYMBOLS.test(value) && entropy(value) > 4) ||
          (isRandom(value, 16) && (!DIGEST.test(value) || (as === 'token' && value.length >= 32)))
  if (as === 'password') return isPassword(value, given, quoted, isName)
  if (isPair(value)) return true
  const login = as === 'token' ? LOGIN.exec(value)?.[1] : undefined
  if (login !== undefined && isTold(login, 'password', false)) return true
  if (as === 'signature') return given === 'tight' && isRandom(value.replace(/%[0-9A-F]{2}/gi, ''), 16) // of a URL; a header's opens nothing
  if (as === 'key')
    return (
      (quoted || /\d/.test(value)) &&
      (isRandom(value, 16) || isDrawn(value)) &&
      !DIGEST.test(value) &&
      !SITE_KEY.test(value) &&
      !COMPOSED.test(value)
    )
  if (WORDS.test(value))
    return (
      given !== 'equals' &&
      (quoted || given === 'option') &&
      value.length >= 16 &&
      /-.*-/.test(value) &&
      !ABOUT.test(value)
    )
  if (
    given === 'tight' &&
    /^(?=.{16})(?!.*(?:k8s|i18n|e2e|p2p|b2b|x509)).*[a-z]\d[a-z]/i.test(value) &&
    !ABOUT.test(value)
  )
    return true
  if (/\d/.test(value))
    return (
      value.length >= 8 &&
      !/^[\d.:_-]+$/.test(value) &&
      (isRandom(value, 8) || value.length >= 32 || (value.length >= 12 && value.replace(/\D/g, '').length >= 4))
    )
  if (isName && /(?:key|token|secret|password)s?$/i.test(value)) return false // a type
  return entropy(value) > 3.5 && value.length >= 16 && (quoted || given === 'tight' || !isName)
}

const SENTENCE = /\b(?:a|an|the|is|are|was|be|to|of|for|in|at|your|my|must|not|no|and|or|with|please|enter|least)\b/

/** `Dolphin 2578` */
const WITH_FIGURES = /^(?=.{8,40}$)(?=.*(?:\d\d|\w[!#$%^*@&~]))[A-Za-z][\w!-.@^~]{1,20}(?: [\w!-.@^~]{1,20}){1,2}$/
const OF_RULES = /^m[ai][xn]|char|zeich|letter|digit|caract|long|short|weak|strong|expire|error|code|day|hour/i
const isWords = (value: string): boolean =>
  WITH_FIGURES.test(value) && ![SENTENCE, OF_RULES, ABOUT, PLACEHOLDER].some((no) => no.test(value))

/** Some words with no sentence in them; four letters, four times, as Google makes them. */
const isPassphrase = (value: string, blanks: number): boolean =>
  /^(?=.{16,100}$)[a-z]{3,9}(?: [a-z]{3,9}){2,7}$/.test(value) &&
  value.split(' ').length > blanks &&
  !SENTENCE.test(value)

function isPassword(value: string, given: Given, quoted: boolean, isName: boolean): boolean {
  if (/^\d+$/.test(value)) return quoted || given === 'tight'
  if (!WORDS.test(value)) return given !== 'colon' || quoted || /\d/.test(value) || !isName
  if (isRandom(value, 12)) return true
  if (ABOUT.test(value)) return false
  if (given === 'paired') return !SAID_OF.test(value) && !/[a-z][A-Z]/.test(value)
  if (given === 'tight') return quoted || !/[A-Z]/.test(value.slice(1)) || /(?:[b-df-hj-np-tv-z]{4}.*){2}/i.test(value) // camelCase is what a program calls something
  return value.includes('-') || (quoted && value.length >= 8 && /^[a-z]+$/.test(value))
}

const WHERE =
  /^[\w.+-]+@[\w-]+\.[\w.-]+$|^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z-]+$|\.(?:md|txt|json|ya?ml|toml|env|ini|cfg|conf|log|csv|html?|pdf|kdbx|pem|gpg|sql|sh|py|rs|go|rb|[jt]sx?)\b|^\d+[-+]?(?:char|letter|digit|bit|byte|word|day|hour|min)|\//i
/** `Gr4nite.Heron`, which is no address and no module. */
const LEET = /^(?=.*\b(?=\w{5})[A-Z][a-z]*\d(?!d\b)[a-z]+\b)[A-Z][A-Za-z\d]{3,}(?:\.[A-Z][A-Za-z\d]{3,})+$/
/** `handleSubmit2` */
const CALLED = /^(?:[a-z]{3,}|[a-z][aeiou]|is|on|in|at|by|my|js|db|id|ui)(?:[A-Z][a-z]+)+\d?$/
/** How one is kept: `base64encoded`. */
const ENCODED = /^(?:base|sha|md|aes|utf|pbkdf|rot|rsa|ed|varchar|char)[-_]?\d/i
/** What is said of a password, also in quotation marks. */
const SAID_OF =
  /^(?:too|not|in|un|im)|word|pass|ed$|ing$|able$|^(?:wrong|weak|strong|short|long|correct|same|secret|text|string|plain|clear|admin|root|login|guest|optional|options?|flags?|arguments?|parameters?|instead|fields?|values?|prompts?|mismatch|matches|missing|changes|expires|resets|strength|history|storage|manager|generator|falsch|diferente)$/i

/** How words end that tell of a password, and no name of a thing does. */
const TELLS =
  /(?:ed|ing|able|ible|al|ive|ory|ary|ous|ly|ent|ant|ment|tion|sion|thing|where|text|less|ful|ness|ity|ect|ure|ic|own|self|time|matter|string|inue|area|case|ever|base|ceed|cate|ize|ise|ate|ify|code|quote|file|lich|isch|ung|iert|bar|ings|ions|[oa]ri[ao]|[oa]ire|(?:[ai]d|[cilnrv]at|it)[ao]|ane[ao]|uta|[ae]nte|etta|ecta|ique|rekt|annt|elt)$|^(?:an|auf|aus|ab|be|ein|er|ge|mit|ver|zu)[a-z]{3,8}en$/
/** A word that somebody chose, where a sentence says clearly that it is the value, and ends there. */
export const isWord = (value: string): boolean =>
  /^[A-Z]?[a-z]{7,30}$/.test(value) && ![TELLS, SAID_OF, ABOUT].some((no) => no.test(value)) && !isPlain(value)
/** No phrase of a wallet or of a key has these. */
const IN_SENTENCE =
  /\b(?:the|and|are|is|to|of|for|from|into|not|has|with|or|in|on|it|by|as|be|words?|random|characters?|several|four|five|six|same|\w{1,20}(?:ed|ing))\b/
export const isPhrase = (value: string): boolean => !IN_SENTENCE.test(value)

/** "the password is …": in prose nearly everything that follows is a word, or the name of an algorithm. */
function isTold(value: string, as: Called, quoted: boolean, sure = false): boolean {
  const rest = value.replace(TERMS, '')
  if (as === 'token' && quoted && /^(?=.*\d\d)(?!.*\d\.\d)[\w!-.@^~]{10,}$/.test(rest) && !ABOUT.test(rest)) return true
  if (as !== 'password') return isRandom(rest, 12) && !(as === 'key' && value.length < 32 && DIGEST.test(value))
  if (/^\d{8,63}$/.test(value)) return !/^20\d{6}$/.test(value)
  if (rest.length < 6 || !/[A-Za-zА-я]/.test(rest) || (!sure && CALLED.test(value))) return false
  if (LEET.test(value)) return !ABOUT.test(value)
  if (WHERE.test(value) || ENCODED.test(value)) return false
  if (/[A-Za-z\d][!#$%^*@&+~=][A-Za-z\d]/.test(rest) || (/\d/.test(rest) && /[!#$%^*@&+~=_?]/.test(rest))) return true
  if (/\d/.test(rest) && rest.length >= 8 && /[a-z]/.test(rest) && /[a-z\d-][A-Z]|[-_.][\wà-ü]{0,12}\d/.test(rest))
    return true
  if (/^[A-Z]?[a-z]{5,}\d{1,2}$/.test(rest)) return !ABOUT.test(rest)
  if (/^[A-Za-z]?[a-z]{3,}\d{1,4}[a-z]{3,}$/.test(rest)) return !ABOUT.test(value) && !isNamed(value)
  if (/\d/.test(rest))
    return sure || /\d{3}/.test(rest) || isRandom(rest, 6) || (rest.length >= 8 && /\d.?\d/.test(rest))
  if (/^[A-Za-z]{4,}(?:-[A-Za-z]{4,}){2,}$/.test(rest)) return !ABOUT.test(rest)
  return (quoted && /^[A-Z]?[a-z]{5,}$/.test(rest) && !SAID_OF.test(rest)) || isRandom(rest, 12)
}

/** What stands in sentences and has figures or marks: files, places, versions, tickets, names of a program, digests, dates, numbers with a unit. */
export const isNamed = (value: string): boolean =>
  /^[A-Z][A-Za-z]+@\d$|^[A-Za-z]{1,10}[-#][A-Z]?\d+(?:-\d+)?$|^[CDGTU]0[A-Z\d]{7,10}$|^[A-Z]{1,5}\d{5,}$/.test(value) ||
  /chacha|poly1305|25519|salsa20|blake|argon|pbkdf|pkcs|camellia|(?:^|[-_])(?:aes|sha|gcm|cbc|hmac)(?![a-z])/i.test(
    value,
  ) ||
  /^[A-Za-z_]+[=:]|^[-_.+~]|\.\d$|^\d+_|^[a-z]+_[A-Z\d]+$|-(?:on|of|to|in|for)-|^N\d+r|=$|^[A-Z][a-z]+(?:_[A-Z]+)+_|^\d{1,2}-[A-Z][a-z]{2}-\d|^[a-z]{2}_[A-Z]{2}|^[A-Z]+\.\d|(?:19|20)\d\d-[\dQ]|^[A-Z]?[a-z]{3,}(?:[A-Z][a-z]{2,}|\d[A-Z][a-z]{2,}|V\d[a-z]{3,})+[!?]?$/.test(
    value,
  ) ||
  /^(?:windows|win|android|ios|iphone|ipad|macos|office|chrome|firefox|safari|debian|ubuntu|fedora|openssl|python|java|http|varchar|u?int|fido|yubikey|bootstrap|manylinux|postgres(?:ql)?|server|worker|staging|user|guest|client|app|formular|step|mysql|version|release)[-_]?\d/i.test(
    value,
  ) ||
  /^[a-z]{1,20}(?:[A-Z][a-z]*)+\d*$|^(?:[a-z]+_)+[a-z]+\d*$|^[A-Za-z][a-z]*(?:_[a-z\d]*[a-z])+$|^[A-Z\d]+(?:_[A-Z\d]+)+$|^[A-Z\d]+(?:_[a-z\d]+)+$/.test(
    value,
  ) ||
  /\.[a-z]{1,5}\d?$|\d\.\d|^v?\d+[.:/-]\d|^[\w.+-]+@[\w-]+\.[\w.-]+$|[/]|^AAAA[A-Z]3Nza|^org-|__\w{4,6}$/.test(value) ||
  /^\d+[-+]?[a-zA-Zµ%]{1,8}[*+]?$|^[\d.,:+*#%-]+$/.test(value) ||
  /^0x[0-9a-f]+$|^[0-9a-f]{8,}$|^[0-9a-f-]{36}$/i.test(value) ||
  /^[a-z\d]+(?:-[a-z\d]+)+$/.test(value) ||
  /^[\w.-]{1,40}@[\w.-]{1,60}:\S*[$#%]$/.test(value) // where a shell asks
