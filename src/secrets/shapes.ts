import { isPlaceholder, isRandom, isSecretValue } from './judge.ts'
import type { Span } from './key-values.ts'

/** Finds one kind of secret that is more than a token: a block, a URL, a line of a file, an option. */
type Shape = (text: string, found: Span[]) => void

/** Lines of a key: so long at least, or the last of them. */
const KEY_LINE = /^[\s+>|#*"'`-]*[A-Za-z0-9/=][A-Za-z0-9+/=]{15,}[\s"'`,\\]*$/
const KEY_HEAD = /^[\s+>|#*]*(?:$|(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset):)/

/** The end of what looks like the body of a key, from a line's beginning on. */
function bodyEnd(text: string, from: number): number {
  let end = from
  for (let at = from; at < text.length; ) {
    const next = text.indexOf('\n', at)
    const stop = next < 0 ? text.length : next
    const line = text.slice(at, Math.min(stop, at + 5_000))
    if (KEY_LINE.test(line)) end = stop
    else if (!KEY_HEAD.test(line) || line.length > 200) {
      if (/^[\s+>|]*[A-Za-z0-9/=][A-Za-z0-9+/=]*\s*$/.test(line) && end > from) end = stop // the last line is short
      break
    }
    at = stop + 1
  }
  return end
}

/** No private key is longer. */
const BODY_MAX = 40_000

/** PEM and PGP keys; one whose end or beginning was cut off goes as far as it looks like a key. */
const privateKeys: Shape = (text, found) => {
  let end = 0
  let close = 0
  for (let at = text.indexOf('-----BEGIN '); at >= 0; at = text.indexOf('-----BEGIN ', Math.max(at + 11, end))) {
    const label = /^-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/.exec(text.slice(at, at + 90))?.[0]
    if (label === undefined) continue
    const from = at + label.length
    if (close >= 0 && close < from) close = text.indexOf('-----END ', from)
    const next = text.indexOf('-----BEGIN ', from)
    if (close >= 0 && close - from < BODY_MAX && (next < 0 || next > close)) {
      if (!/[A-Za-z0-9+/=]{12}/.test(text.slice(from, close))) continue
      const tail = /^-----END [A-Z0-9 ]{0,50}-----/.exec(text.slice(close, close + 70))?.[0].length ?? 0
      end = close + tail
    } else {
      const run = /^[\\rn\s+>|"']*[A-Za-z0-9+/=\\]{16,}/.exec(text.slice(from, from + 5_000))
      end = Math.max(bodyEnd(text, text[from] === '\n' ? from + 1 : from), run ? from + run[0].length : from)
      if (end - from < 12) continue
    }
    found.push({ category: 'private key', start: at, end })
  }
  for (let at = text.indexOf('-----END '); at >= 0; at = text.indexOf('-----END ', at + 9)) {
    const label = /^-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/.exec(text.slice(at, at + 90))?.[0]
    if (label === undefined) continue
    let start = at
    for (;;) {
      const before = text.lastIndexOf('\n', start - 2)
      const line = text.slice(Math.max(before + 1, start - 200), start)
      if (
        start <= 0 ||
        !(
          KEY_LINE.test(line) ||
          (start === at && line.trim() === '') ||
          (line.trim().length > 0 && /^[A-Za-z0-9+/=\s]+$/.test(line) && !line.trim().includes(' '))
        )
      )
        break
      start = before + 1
      if (before < 0) break
    }
    if (at - start >= 16) found.push({ category: 'private key', start, end: at + label.length })
  }
  for (let at = text.indexOf('Private-Lines:'); at >= 0; at = text.indexOf('Private-Lines:', at + 14)) {
    const from = text.indexOf('\n', at) + 1
    const end = from === 0 ? from : bodyEnd(text, from)
    if (end > from) found.push({ category: 'private key', start: at, end })
  }
  // the same in base64, as kubeconfig and the variables of CI have it
  for (let at = text.indexOf('LS0tLS1CRUdJTi'); at >= 0; at = text.indexOf('LS0tLS1CRUdJTi', at)) {
    const run = /^[A-Za-z0-9+/=]*/.exec(text.slice(at))![0]
    if (run.length > 40 && Buffer.from(run.slice(0, 80), 'base64').toString('latin1').includes('PRIVATE KEY'))
      found.push({ category: 'private key', start: at, end: at + run.length })
    at += run.length
  }
}

const LOCAL = /^(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0|host\.docker\.internal)\b/
/** What a password in a URL is called in examples. */
const EXAMPLE_PASS = /^(?:pass(?:word|wd)?|pwd?|secret|token|user|foobar|redis|xx+|\*+)$/i

/** `scheme://user:password@host`, and a token in the user's place. */
const urls: Shape = (text, found) => {
  const userinfo = /([^\s:/@"'`<>?#]{0,200})(?::([^\s/@"'`<>]{4,300}))?@/y
  for (let at = text.indexOf('://'); at >= 0; at = text.indexOf('://', at + 3)) {
    userinfo.lastIndex = at + 3
    const m = userinfo.exec(text)
    if (!m) continue
    const [, user = '', pass] = m
    const start = at + 3
    const host = text.slice(start + m[0].length, start + m[0].length + 40)
    const kind = /https?$/i.test(text.slice(Math.max(0, at - 8), at)) ? 'credentials in a URL' : 'connection string'
    if (pass === undefined) {
      if (user.length >= 16 && isRandom(user, 12) && !isPlaceholder(user))
        found.push({ category: kind, start, end: start + user.length })
    } else if (
      !isPlaceholder(pass.length < 6 ? `${pass}-1a2b3c` : pass) &&
      !EXAMPLE_PASS.test(pass) &&
      !/^[$%{[]/.test(pass) &&
      !(user === pass && LOCAL.test(host))
    )
      found.push({ category: kind, start, end: start + m[0].length - 1 })
  }
}

/** Calls back for each place where a sticky pattern matches behind a keyword. */
function behind(text: string, keyword: string, pattern: RegExp, each: (m: RegExpExecArray, at: number) => void): void {
  for (let at = text.indexOf(keyword); at >= 0; at = text.indexOf(keyword, at + keyword.length)) {
    pattern.lastIndex = at + keyword.length
    const m = pattern.exec(text)
    if (m) each(m, at + keyword.length)
  }
}

/** The secret half of an AWS key has no mark of its own: it stands near the other half. */
const awsSecrets: Shape = (text, found) => {
  for (const keyword of ['AKIA', 'ASIA'])
    behind(text, keyword, /[A-Z0-9]{16}/y, (m, at) => {
      const from = Math.max(0, at - 204)
      const near = text.slice(from, at + m[0].length + 200)
      for (const s of near.matchAll(/(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])/g))
        if (/[A-Z]/.test(s[0]) && /[a-z]/.test(s[0]) && /\d/.test(s[0]) && !isPlaceholder(s[0]))
          found.push({ category: 'AWS secret key', start: from + s.index, end: from + s.index + 40 })
    })
}

/** `Bearer …` and `Basic …` wherever they stand. */
const schemes: Shape = (text, found) => {
  for (const keyword of ['Bearer ', 'bearer ', 'BEARER ', 'Basic ', 'basic ', 'BASIC '])
    behind(text, keyword, /[ \t"']{0,4}([A-Za-z0-9_.~+/-]{8,2000}={0,2})/y, (m, at) => {
      const value = m[1]!
      const basic = keyword.toLowerCase() === 'basic '
      if (basic ? isBasic(value) : value.length >= 20 && isRandom(value, 8) && !isPlaceholder(value)) {
        const end = at + m[0].length
        found.push({ category: basic ? 'basic authorization' : 'bearer token', start: end - value.length, end })
      }
    })
}

const isBasic = (value: string): boolean =>
  /^[\x20-\x7e]{1,200}:[\x20-\x7e]{3,200}$/.test(Buffer.from(value, 'base64').toString('latin1'))

/** Tokens that are figures of a digest's length, and what makes them more than that before or behind. */
const hexTokens: Shape = (text, found) => {
  for (const { 0: hex, index } of text.matchAll(/(?<![0-9A-Za-z])[0-9a-f]{32}(?:[0-9a-f]{32})?(?![0-9A-Za-z])/g)) {
    const end = index + hex.length
    const before = text.slice(Math.max(0, index - 40), index)
    const behind = /^-(?:us\d{1,2}|[0-9a-f]{8}-[0-9a-f]{8})(?![0-9A-Za-z-])/.exec(text.slice(end, end + 24))?.[0]
    const head = (hex.length === 64 ? /\bpat[A-Za-z0-9]{14}\.$/ : /\b[012]\/\d{15,17}(?:\/\d{15,17})?:$/).exec(
      before,
    )?.[0]
    if (behind !== undefined) found.push({ category: 'mail service key', start: index, end: end + behind.length })
    else if (head !== undefined) found.push({ category: 'access token', start: index - head.length, end })
  }
}

/** `.pgpass`: host:port:database:user:password. */
const pgpass: Shape = (text, found) => {
  for (const keyword of [':5432:', ':5433:', ':6432:', ':*:'])
    behind(text, keyword, /[\w*-]{1,64}:[\w-]{1,64}:(?=[^\s:])/y, (m, at) => {
      const value = /^[^\s"'`]{6,200}/.exec(text.slice(at + m[0].length, at + m[0].length + 200))?.[0]
      if (value && isSecretValue(value, 'password', 'tight', false))
        found.push({ category: 'password', start: at + m[0].length, end: at + m[0].length + value.length })
    })
}

/** Options that mean a password with one command only. */
const COMMANDS: readonly (readonly [command: string, option: RegExp])[] = [
  ['curl', /\s(?:-u|--user)[ =]?["']?[^\s:"']{1,100}:(?=([^\s"']{3,200}))/g],
  ['sshpass', /\s-p\s{0,3}["']?(?=([^\s"']{3,200}))/g],
  ['mysql', /\s-p(?=([^\s"']{3,200}))/g],
  ['mariadb', /\s-p(?=([^\s"']{3,200}))/g],
  ['docker login', /\s-p\s{0,3}["']?(?=([^\s"']{3,200}))/g],
  ['podman login', /\s-p\s{0,3}["']?(?=([^\s"']{3,200}))/g],
  ['registry login', /\s-p\s{0,3}["']?(?=([^\s"']{3,200}))/g],
  ['zip', /\s-P\s{0,3}["']?(?=([^\s"']{3,200}))/g],
  ['IDENTIFIED', /\sBY\s{1,3}(?:PASSWORD\s{1,3})?["'](?=([^\s"']{4,200}))/g],
  ['redis-cli', /\s-a\s{1,3}["']?(?=([^\s"']{3,200}))/g],
]

const options: Shape = (text, found) => {
  for (const [command, option] of COMMANDS) {
    for (let at = text.indexOf(command); at >= 0; ) {
      const next = text.indexOf(command, at + command.length)
      // from the last time that the command is named, to the end of it
      const to = Math.min(next < 0 ? text.length : next, at + 1_000)
      const line = /^[^\n|;&]*/.exec(text.slice(at, to))![0]
      for (const m of line.matchAll(option)) {
        const value = m[1]!
        if (/^[$<{[%*]/.test(value) || isPlaceholder(value)) continue
        const start = at + m.index + m[0].length
        found.push({ category: 'password', start, end: start + value.length })
      }
      at = next
    }
  }
}

export const SHAPES: readonly Shape[] = [privateKeys, urls, awsSecrets, schemes, hexTokens, pgpass, options]
