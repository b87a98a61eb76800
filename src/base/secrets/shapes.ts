import { called, isDrawn, isPlaceholder, isPlain, isSecretValue, isWord, type Span } from './is-secret.ts'
import { lockCodes } from './near.ts'

type Shape = (text: string, found: Span[]) => void

function* places(text: string, keyword: string): Generator<number> {
  for (let at = text.indexOf(keyword); at >= 0; at = text.indexOf(keyword, at + keyword.length)) yield at
}

/** Lines of a key: so long at least, or the last of them. */
const KEY_LINE = /^[\s+>|#*"'`-]*[A-Za-z0-9/=][A-Za-z0-9+/=]{15,}[\s"'`,\\]*$/
const KEY_HEAD = /^[\s+>|#*]*(?:$|(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset):)/

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

const BODY_MAX = 40_000

const LABEL = /^-----(?:BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/
const labelAt = (text: string, at: number) => LABEL.exec(text.slice(at, at + 90))?.[0].length

function keyEnd(text: string, from: number, close: number): number | undefined {
  const next = text.indexOf('-----BEGIN ', from)
  if (close >= 0 && close - from < BODY_MAX && (next < 0 || next > close)) {
    if (!/[A-Za-z0-9+/=]{12}/.test(text.slice(from, close))) return undefined
    return close + (/^-----END [A-Z0-9 ]{0,50}-----/.exec(text.slice(close, close + 70))?.[0].length ?? 0)
  }
  const run = /^[\\rn\s+>|"']*[A-Za-z0-9+/=\\]{16,}/.exec(text.slice(from, from + 5_000))
  const end = Math.max(bodyEnd(text, text[from] === '\n' ? from + 1 : from), from + (run?.[0].length ?? 0))
  return end - from < 12 ? undefined : end
}

/** Whether a line may be a key's: as one, blank right before the end, or the short last one. */
const isOfKey = (line: string, isLast: boolean): boolean =>
  KEY_LINE.test(line) || (isLast && line.trim() === '') || /^\s*[A-Za-z0-9+/=]+\s*$/.test(line)

/** The beginning of a key of which the end is there. */
function keyStart(text: string, at: number): number {
  let start = at
  while (start > 0) {
    const before = text.lastIndexOf('\n', start - 2)
    if (!isOfKey(text.slice(Math.max(before + 1, start - 200), start), start === at)) break
    start = before + 1
  }
  return start
}

/** PEM and PGP keys, and PuTTY's; one whose end or beginning was cut off goes as far as it looks like a key. */
const privateKeys: Shape = (text, found) => {
  const add = (start: number, end: number) => found.push({ category: 'private key', start, end })
  let done = 0
  let close = 0
  for (const at of places(text, '-----BEGIN ')) {
    const label = at < done ? undefined : labelAt(text, at)
    if (label === undefined) continue
    const from = at + label
    if (close >= 0 && close < from) close = text.indexOf('-----END ', from)
    const end = keyEnd(text, from, close)
    if (end !== undefined) add(at, (done = end))
  }
  for (const at of places(text, '-----END ')) {
    const label = labelAt(text, at)
    const start = label === undefined ? at : keyStart(text, at)
    if (label !== undefined && at - start >= 16) add(start, at + label)
  }
  for (const at of places(text, 'Private-Lines:')) {
    const from = text.indexOf('\n', at) + 1
    const end = from === 0 ? from : bodyEnd(text, from)
    if (end > from) add(at, end)
  }
}

/** The secret half of an AWS key has no mark of its own: it stands near the other half. */
const awsSecrets: Shape = (text, found) => {
  for (const keyword of ['AKIA', 'ASIA'])
    for (const at of places(text, keyword)) {
      if (!/^[A-Z0-9]{16}/.test(text.slice(at + 4, at + 20))) continue
      const from = Math.max(0, at - 200)
      for (const s of text.slice(from, at + 220).matchAll(/(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])/g))
        if (/[A-Z]/.test(s[0]) && /[a-z]/.test(s[0]) && /\d/.test(s[0]) && !isPlaceholder(s[0]))
          found.push({ category: 'AWS secret key', start: from + s.index, end: from + s.index + 40 })
    }
}

/** The values below or behind their names: of a row of cells the one whose name is a password's. */
function inRows(names: readonly string[], values: readonly RegExpExecArray[], base: number, found: Span[]): void {
  values.forEach(({ 1: value = '', index, 0: whole }, i) => {
    const as = called(names[i % names.length]!)
    if (!(as === 'password' || as === 'token') || !(isSecretValue(value, as, 'tight', true) || isWord(value))) return
    const start = base + index + whole.indexOf(value)
    found.push({ category: 'password', start, end: start + value.length })
  })
}

const INSERT = /\binsert\s{1,9}into\s{1,9}[\w."`[\]]{1,90}\s{0,9}\(([^()]{1,600})\)\s{0,9}values\s{0,9}/gi
const inserts: Shape = (text, found) => {
  for (const m of text.matchAll(INSERT)) {
    const from = m.index + m[0].length
    const row = /^[^;]{0,4000}/.exec(text.slice(from, from + 4_000))![0]
    inRows(m[1]!.split(','), [...row.matchAll(/\(?\s?(?:N?'([^'\n]{0,200})'|([^\s,()']{1,200}))\s?\)?/g)], from, found)
  }
}

/** A table of HTML with a row of names at its head. */
const htmlTables: Shape = (text, found) => {
  let done = 0
  for (const { index: at } of text.matchAll(/<table\b/gi)) {
    if (at < done) continue
    done = at + BELOW_MAX
    const table = text.slice(at, at + BELOW_MAX).split(/<\/table/i, 1)[0]!
    const names = [...table.matchAll(/<th\b[^<>]{0,80}>([^<>]{0,80})</gi)].map((m) => m[1]!.trim())
    const values = [...table.matchAll(/<td\b[^<>]{0,80}>(?:\s|<(?:code|b|tt|strong|p)>){0,9}([^<>\s]{0,200})/gi)]
    if (names.length > 1 && values.length % names.length === 0) inRows(names, values, at, found)
  }
}

/** Five groups of five, as makers of programs have them. */
const PRODUCT = /^(?=.*\d.*\d.*\d)(?=.*[A-Z].*[A-Z].*[A-Z])[A-Z\d]{5}(?:-[A-Z\d]{5}){4}$/
const LONG = /[\w+/.~-]{20,}={0,2}/g
const OPENS =
  /(?:^|\s)[^\s/]{0,60}(?:token|secret|bearer|cookie|\bjwt\b|credential|passw|passphrase|\b(?:login|auth)\b|key(?:s|pair)?\b)[^\s/]{0,40}(?:\s|$)/i
const VARIABLE = /(?:^|[\n\s"'])(?:export |set |ENV |- )?[A-Z][A-Z0-9_]{2,60}["']?[ ]?[=:][ ]?["']?$/
/** What says that it tells one thing from another, or may be shown. */
const SHOWN =
  /hash|(?:\b|_)(?:sha\d*|rev(?:ision)?|sig|tx|ref)\b|md5|digest|checksum|integrity|commit|fingerprint|pub(?:lic|lishable)?(?:\b|_|key)|\bids?\b|_ids?\b|[a-z]Ids?\b|uuid|guid|etag|trace|span|cache|verif|challenge|nonce|csrf|xsrf|signature|site.?key|cursor|page|next_?token|address|block|image|layer|version|build|branch|object|blob|slug|base64,|ssh-|dkim|domainkey|kid|kty|recipient|\biv\b|\btag\b|ENC\[/i
const INTRODUCED =
  /(?:[:=]|\bis|->|→|\b(?:use|using|with|key|token)|\b(?:my|our|here(?:'s| is)) [^,\n]{0,30}(?:token|key|secret)(?: (?:for|of|to|from) [^,\n]{1,40})?,)[ ]?["'`(]{0,2}$/
/** What keys of wallets stand behind, one or a list. */
const WALLET =
  /(?:accounts|private ?keys?|wallet(?:provider)?|toaccount|\bpk(?=["']?\s?[:=]|\sis))["']?(?:\s?[:=(]|\sis)?(?:\s?\{\s{1,9}\w{1,20}:)?[\s=[(]{0,60}(?:(?:\(\d\)\s)?["']?(?:0x)?[0-9a-f]{64}["']?,?\s{0,9}){0,9}(?:\(\d\)\s)?["']?$/i
export function looseTokens(text: string, found: Span[]): void {
  for (const { 0: token, index } of text.matchAll(LONG)) {
    if (
      (token.length === 64 || token.length === 66) &&
      /^(?:0x)?[0-9a-f]{64}$/.test(token) &&
      WALLET.test(text.slice(Math.max(0, index - 700), index))
    )
      found.push({ category: 'private key', start: index, end: index + token.length })
    if (PRODUCT.test(token) && !isPlaceholder(token))
      found.push({ category: 'product key', start: index, end: index + token.length })
    const isHex = /^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})$/.test(token)
    const isPart = text[index - 1] === '@' || '@('.includes(text[index + token.length] ?? ' ') || token.length > 400
    if (isPart || (!isHex && !isDrawn(token)) || isPlaceholder(token)) continue
    const before = text.slice(Math.max(0, index - 100), index).replace(/^.*\n/s, '')
    const behind = /^[^\n]*/.exec(text.slice(index + token.length, index + token.length + 50))![0]
    if (SHOWN.test(before) || SHOWN.test(behind)) continue
    const opens = OPENS.test(before) || /^["'`)]?,? (?:is|as) .{0,30}(?:token|secret|key\b)/.test(behind)
    const isTold = opens && token.length >= 32 && (!isHex || INTRODUCED.test(before))
    if (isTold || VARIABLE.test(before)) found.push({ category: 'credential', start: index, end: index + token.length })
  }
}

const WEB_KEY =
  /(?:(?:PUBLIC|VITE|APP|GATSBY)_(\w{0,20}FIREBASE\w{0,12}KEY)|(?:firebase_?|(?<![\w-]))api_?key)["']?\s{0,3}[:=]\s{0,3}["'`]?$/i
/** What the page of an app of Firebase has beside its key. */
const WEB_APP = /auth_?domain|messaging_?sender_?id|project_?id.{1,300}app_?id|app_?id.{1,300}project_?id/is
/** What is said of a key that everybody may have, beside it or in the line above. */
const PUBLISHED =
  /docsearch\(|search[- ]only|safe to (?:expose|publish|commit|share|be public)|public by design|key is public|meant to be public|(?:may|can) be (?:public|committed|published)/i
/** Whose issue it is, as in `acme/shop#1234`; but `admin/maple#1234` and "log in as ana/maple#1234" are logins. */
const OF_ISSUE =
  /(?<![\w./@-]|(?:\b(?:as|with|is|are|called|using|user|username|creds|credentials|account|login|als|mit|ist|avec|est|con|es)|[:=])\s{0,3}["'`(]?)(?!(?:admin|root|sa|postgres|qa|dev|test|user|guest|demo|deploy|ubuntu|pi)\d{0,3}\/)[a-z\d][\w.-]{0,38}\/$/i
const ISSUE = /^[a-z][a-z\d._-]{0,60}#\d{1,7}\]?$/
/** Whether it may be seen, by what stands beside it: an issue, the key of a web app of Firebase, what is encrypted for a cluster. */
export function isShown(text: string, { category, start, end }: Span): boolean {
  const before = text.slice(Math.max(0, start - 4_000), start)
  if (category === 'password' && ISSUE.test(text.slice(start, end))) return OF_ISSUE.test(before.slice(-80))
  if (category === 'credential' || category === 'token') {
    const beside = `${before.slice(-300).split('\n').slice(-2).join(' ')} ${text.slice(end, end + 120).split('\n', 1)[0]}`
    if (PUBLISHED.test(beside) && !/not (?:safe|public|be)|n't/i.test(beside)) return true
  }
  if (text.startsWith('Ag', start) && end - start > 90) return /encryptedData["']?:/.test(before)
  const name = text.startsWith('AIza', start) ? WEB_KEY.exec(before.slice(-80)) : null
  return name !== null && (name[1] !== undefined || WEB_APP.test(before.slice(-300) + text.slice(end, end + 400)))
}

export const SHAPES = { privateKeys, awsSecrets, inserts, htmlTables, lockCodes }

/** A password by the option of the command that takes it. The group of the pattern is the password, and ends it. */
export function option(text: string, command: string, pattern: RegExp, found: Span[]): void {
  for (let at = text.indexOf(command), next = at; at >= 0; at = next) {
    next = text.indexOf(command, at + command.length)
    // from the last time that the command is named, to the end of it
    const to = Math.min(next < 0 ? text.length : next, at + 1_000)
    const line = /^[^\n|;&]*/.exec(text.slice(at, to))![0]
    for (const { 0: whole, 1: value = '', index } of line.matchAll(pattern)) {
      if (/^[$<{[%*]|]$/.test(value) || isPlain(value)) continue
      const end = at + index + whole.length
      found.push({ category: 'password', start: end - value.length, end })
    }
  }
}

/** What stands between the cells of a row. */
const BETWEEN = [/\|{1,2}/, /;/, /\t/, /,/, / {2,40}/]
/** A line of names, with one of what a login belongs to. */
const NAMES =
  /^(?=.*(?:user|login|name|mail|host|url|server|account|system|benutzer|konto|usu|utilis|пользов))[^,;\t=<>{}[\]]+$/i
const BELOW_MAX = 10_000

/** Where the cells of a row begin, and what they hold without its marks. */
function cells(row: string, between: RegExp): [at: number, value: string][] {
  let at = 0
  return row.split(between).map((cell) => {
    at = row.indexOf(cell, at) + cell.length
    const shown = cell.replace(/^[\s"'`*]{1,40}/, '')
    return [at - shown.length, shown.replace(/[\s"'`*]{1,40}$/, '')]
  })
}

const isHead = (cell: string): boolean =>
  cell.length < 30 && !/[^\w\s\u00c0-\uffef-]/.test(cell) && /^(?:password|token)$/.test(called(cell) ?? '')

/** The passwords below a name, where that is the head of a column: in Markdown, a wiki, or values with commas between. */
export function column(text: string, name: number, found: Span[]): void {
  const from = Math.max(0, name - 300)
  const start = from + text.slice(from, name).lastIndexOf('\n') + 1
  const line = text.slice(start, name + 300).split('\n', 1)[0]!
  const end = start + line.length
  const between = BETWEEN.find((b) => b.test(line))
  if (between === undefined || line.includes('***') || !NAMES.test(line.replace(/[;\t,]/g, '|')) || /[,;] /.test(line))
    return
  const heads = cells(line, between)
  const place = heads.findIndex(([, cell]) => isHead(cell))
  if (place < 0 || (heads.at(-1)![1] === '' && line[0] !== '|')) return
  let at = end + 1
  for (const written of text.slice(at, end + BELOW_MAX).split('\n')) {
    const row = cells(written, between)
    const [from, value] = row[place] ?? [0, '']
    if (Math.abs(row.length - heads.length) > (line[0] === '|' ? 2 : 0) || isHead(value)) return
    const as = called(heads[place]![1])!
    if (isSecretValue(value, as, 'said', false) || (as === 'password' && isWord(value)))
      found.push({ category: 'password', start: at + from, end: at + from + value.length })
    at += written.length + 1
  }
}
