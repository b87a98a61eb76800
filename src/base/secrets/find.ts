import { keptIn } from '../lookup.ts'
import { isPlaceholder, isRandom, type Span } from './is-secret.ts'
import { namedSecrets } from './key-values.ts'
import { plainOf } from './plain.ts'
import { CHECKS, RULES, type Rule, SAID, SHORT, TOKENS } from './rules.ts'
import { isShown, looseTokens, option, SHAPES } from './shapes.ts'

/** No shorter text holds a name and a value, or a token. */
const SHORTEST = 8

/** Where tokens are looked for: most texts have few of these. */
const RUN = /[^\s"'`<>(){}[\],;|]{20,}/g

/** The gate looks at a text by itself, then with its name, then to redact it. */
let last: { readonly text: string; readonly found: readonly Readonly<Span>[] } = { text: '', found: [] }

/** Where a text holds what looks like a secret, of which category: in order, none within or beside another. */
export function findSecrets(text: string): readonly Readonly<Span>[] {
  if (text.length < SHORTEST) return []
  if (text !== last.text) last = { text, found: lookFor(text) }
  return last.found
}

function lookFor(given: string): Span[] {
  const { text, at } = plainOf(given)
  const found: Span[] = []
  const mayHold = pairsOf(text)
  const runs = text.match(RUN)
  if (runs) look(TOKENS, text, runs.join(' '), mayHold, found)
  if (runs?.some((run) => /\d.*\d/.test(run))) looseTokens(text, found)
  look(RULES, text, text, mayHold, found)
  const passwords: number[] = []
  for (const span of namedSecrets(text, passwords)) found.push(span)
  for (const rule of SAID)
    if (text.includes(rule.part ?? '')) for (const at of passwords) endAt(text, rule, '', at, found)
  return merged(
    found
      .filter((f) => !isShown(text, f))
      .map(({ category, start, end }) => ({ category, start: at(start), end: at(end) })),
  )
}

/** Without iterators, which a hook runs before they are compiled; a call for each keyword would cost more than most searches. */
function look(rules: readonly Rule[], text: string, where: string, mayHold: MayHold, found: Span[]): void {
  for (let n = 0; n < rules.length; n++) {
    const { keywords, part } = rules[n]!
    if (part !== undefined && !text.includes(part)) continue
    for (let i = 0; i < keywords.length; i++) {
      const keyword = keywords[i]!
      if (mayHold?.(keyword) !== false && where.includes(keyword)) apply(rules[n]!, keyword, text, found)
    }
  }
}

function apply(rule: Rule, keyword: string, text: string, found: Span[]): void {
  if (rule.shape) SHAPES[rule.shape](text, found)
  else if (rule.option) option(text, keyword, pattern(rule.option, 'g'), found)
  else
    for (let at = text.indexOf(keyword); at >= 0; )
      at = text.indexOf(keyword, Math.max(endAt(text, rule, keyword, at, found), at + keyword.length))
}

type MayHold = ((keyword: string) => boolean) | undefined

/** Which characters stand beside each other: nearly every keyword has a pair that the text has not, and is not looked for. */
const pairs = new Uint8Array(1 << 16)

/** In a shorter text a search for each keyword is faster than this loop, which a hook runs before it is compiled. */
const LONG = 16_000

function pairsOf(text: string): MayHold {
  if (text.length < LONG) return undefined
  pairs.fill(0)
  for (let at = 1, pair = text.charCodeAt(0); at < text.length; at++)
    pairs[(pair = ((pair << 8) | (text.charCodeAt(at) & 255)) & 0xffff)] = 1
  return (keyword) => {
    for (let at = 1, pair = keyword.charCodeAt(0); at < keyword.length; at++)
      if (pairs[(pair = ((pair << 8) | (keyword.charCodeAt(at) & 255)) & 0xffff)] === 0) return false
    return true
  }
}

/** Overlapping and touching ones are one secret: what is left out between two is a part of neither. */
function merged(found: Span[]): Span[] {
  const out: Span[] = []
  for (const f of found.sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = out.at(-1)
    if (last && f.start <= last.end) last.end = Math.max(last.end, f.end)
    else out.push({ ...f })
  }
  return out
}

/** After so many rounds nothing was ever left. */
const ROUNDS = 8

/** The text with every secret replaced by its category: looked at again until none is found. */
export function redact(
  text: string,
  instead: (found: Span, secret: string, text: string) => string = ({ category }) => `[redacted: ${category}]`,
): string {
  let left = text
  for (let round = 0; round < ROUNDS; round++) {
    const found = findSecrets(left)
    if (found.length === 0) break
    let out = ''
    let at = 0
    for (const f of found) {
      out += left.slice(at, f.start) + instead(f, left.slice(f.start, f.end), left)
      at = f.end
    }
    left = out + left.slice(at)
  }
  return left
}

const compiled = new Map<string, RegExp>()
const pattern = (source: string, flags = 'y'): RegExp =>
  keptIn(compiled, source, () => {
    const whole = source.replace(/%([A-Z]+)/g, (_, name) => SHORT[name]!)
    return new RegExp(whole, flags)
  })

/** So much of what stands before a keyword is looked at, and behind a secret. */
const BEFORE_MAX = 80
const BEHIND_MAX = 40

/** Names of files and classes, where a token was looked for. */
const WORDY = /^(?:[a-z]*[_.-][a-z_.-]*|[A-Z]*[_.-][A-Z_.-]*)$/
const REST = /[A-Za-z0-9_-]*/y

/** Notes the token at a keyword, and says up to where the text is settled: what looks like one and is none is passed over. */
function endAt(text: string, rule: Rule, keyword: string, at: number, found: Span[]): number {
  if (keyword !== '' && rule.before === undefined && rule.within !== true && !begins(text, at)) return at
  const after = pattern(rule.after ?? '')
  after.lastIndex = at + keyword.length
  const m = after.exec(text)
  if (!m) return at
  const end = after.lastIndex
  let start = at
  if (rule.before !== undefined) {
    const before = pattern(`(?<![A-Za-z0-9])(?:${rule.before})$`, '').exec(text.slice(Math.max(0, at - BEFORE_MAX), at))
    if (!before) return at
    start = at - before[0].length
    if (before[1] !== undefined && rule.is) {
      start += before[0].lastIndexOf(before[1])
      if (CHECKS[rule.is](before[1], '')) found.push({ category: rule.category, start, end: start + before[1].length })
      return end
    }
  }
  if (rule.is) {
    const secret = m[1] ?? text.slice(start, end)
    if (CHECKS[rule.is](secret, text.slice(end, end + BEHIND_MAX)))
      found.push({ category: rule.category, start: end - secret.length, end })
    return end
  }
  const body = text.slice(at + keyword.length, end)
  if (isPlaceholder(text.slice(start, Math.min(end, start + 300)))) return end
  if (rule.random ? !isRandom(body, 12) : rule.before === undefined && WORDY.test(body)) return end
  REST.lastIndex = end // a longer one than documented goes as a whole
  found.push({ category: rule.category, start, end: end + REST.exec(text)![0].length })
  return end
}

/** Whether a token may begin here: not within a word, but behind an escape, as `\n` in JSON or `%3D` in a URL. */
function begins(text: string, at: number): boolean {
  const c = text[at - 1]
  if (c === undefined || !/[A-Za-z0-9]/.test(c)) return true
  return (text[at - 2] === '\\' && 'nrtbf'.includes(c)) || /%[0-9A-Fa-f]{2}$/.test(text.slice(Math.max(0, at - 3), at))
}
