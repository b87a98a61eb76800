import { redact } from '../memory/secrets.ts'

const VALUE = String.raw`(?!\[redacted|["']?[$-])(?:"[^"\n]*"|'[^'\n]*'|[^\s"'|;&]+)`
/** What an option, a variable, a field or a header is called whose value is nobody's business. */
const CALLED = '(?:passw(?:or)?d|passphrase|token|secret|credentials?|(?:api|access|private|secret|auth)[_-]?key)'
const SHORTLY = '(?:pass|pwd|auth|creds?)'

/**
 * What follows an option of a command. It is looked for from the last time that the command is named: from each of them,
 * what a command printed could hold a hook up for seconds.
 */
const within = (command: string, option: string): RegExp =>
  new RegExp(String.raw`(\b(?:${command})\b(?:(?!\b(?:${command})\b)[^|;&\n])*?${option})(?!\[redacted)[^\s"']+`, 'g')

/** Each keeps what stands before the secret. */
const PATTERNS: readonly RegExp[] = [
  // --token X, --client-secret=X, -pass X
  new RegExp(String.raw`((?<![\w-])--?(?:[\w-]*${CALLED}|(?:[\w-]*-)?${SHORTLY})(?:\s*=\s*|\s+))${VALUE}`, 'gi'),
  // DB_PASS=X, TOKEN=X, SIGNING_KEY=X; a path is none
  new RegExp(String.raw`(\b(?:\w*${CALLED}|(?:\w*_)?${SHORTLY})=)(?!["']?[/.~])${VALUE}`, 'gi'),
  new RegExp(String.raw`(\b[A-Z0-9_]+_KEY=)${VALUE}`, 'g'),
  // https://X@host, https://host/?token=X
  /(\b[a-z][a-z0-9+.-]{0,30}:\/\/)(?!\[redacted)[^\s/@"'<>]{8,}(?=@)/gi,
  /([?&][\w-]*(?:token|key|secret|passw(?:or)?d|pwd|sig|signature|auth|credential)=)(?!\[redacted)[^\s&"'#]{6,}/gi,
  // Authorization: Basic X, X-Api-Key: X, Cookie: X
  /(\b(?:proxy-)?authorization\s*:\s*(?:[a-z]+\s+)?)(?!\[redacted)[^\s"'[]{6,}/gi,
  /(\b(?:x-[\w-]{0,60}(?:key|token|secret|auth)[\w-]{0,60}|private-token|(?:set-)?cookie)\s*:\s*)(?!\[redacted)[^\n"']{6,}/gi,
  // {"token": "X"}, also within quotes
  new RegExp(String.raw`(\\?["'][\w-]*${CALLED}\\?["']\s*:\s*\\?["'])(?!\[redacted)[^"'\\\n]{4,}`, 'gi'),
  // options that mean a password with one command only
  within('curl', String.raw`\s(?:-u|--user)[ =]?["']?[^\s:"']+:`),
  within(
    String.raw`sshpass|mysql|mysqldump|mysqladmin|mariadb|(?:docker|podman|registry)\s+login`,
    String.raw`\s-p\s*["']?`,
  ),
  within('redis-cli', String.raw`\s-a\s+["']?`),
]

/**
 * A command, or what it printed, without what looks like a secret by the place where it stands. Such texts are kept
 * unasked, so this takes rather too much; what somebody records goes by `screen` alone, which says what it refuses.
 */
export const redactCommand = (text: string): string =>
  PATTERNS.reduce((left, pattern) => left.replace(pattern, '$1[redacted: credential]'), redact(text))
