import { findSecrets } from '../../base/secrets/find.ts'
import type { AnchorRow } from '../../engine/store/code-anchors.ts'
import { similarity, wordSet } from '../recall/word-overlap.ts'
import { type CodeSymbol, linesOf, PARSER, type Parsed, shortHash } from './parse.ts'

// An anchor's hash says what it is of: a symbol, a line with its neighbours, a paragraph, or the whole file.
const SYMBOL = `s${PARSER}:`
const LINE = 'l:'
const PARAGRAPH = 'p:'
const wholeFile = ({ language, hash }: Parsed) => `f${language === 'text' ? 0 : PARSER}:${hash}`

/** So few tokens are alike by chance: only their name tells that they were moved. */
const TELLING = 8
/** Characters of code that stand beside an entry. */
const MOST_SHOWN = 80

export const lastName = (name: string): string => name.slice(name.lastIndexOf('.') + 1)

/** The symbol that is called so, else the innermost one that holds the line. */
export const symbolAt = (
  symbols: readonly CodeSymbol[],
  { symbol, line }: { readonly symbol?: string | undefined; readonly line?: number | undefined },
): CodeSymbol | undefined =>
  (symbol
    ? (symbols.find((s) => s.name === symbol) ?? symbols.find((s) => s.name.endsWith(`.${symbol}`)))
    : undefined) ?? (line ? symbols.findLast((s) => s.start <= line && line <= s.end) : undefined)

/** A line with those above and below it. */
const around = (lines: readonly string[], line: number): string =>
  `${LINE}${shortHash([line - 2, line - 1, line].map((i) => lines[i]?.trim() ?? '').join('\n'))}`

const PROSE = /\.(?:md|mdx|mdc|txt)$/i
/** A line with which something new begins. */
const BEGINS = /^(?:$|[-*+]\s|[>#|]|\d{1,3}[.)]\s)/

/** A line of prose with those that go on with it: the next rule of a list is no part of this one. */
function paragraphAt(lines: readonly string[], line: number): string {
  let end = line
  while (end < lines.length && !BEGINS.test(lines[end]!.trim())) end++
  return `${PARAGRAPH}${shortHash(lines.slice(line - 1, end).map((l) => l.trim()).join('\n'))}` // biome-ignore format: a row
}

/** What a location stands for now. */
export function anchored(a: AnchorRow, parsed: Parsed, text: string): AnchorRow {
  const fresh = { ...a, stale: null, since: null }
  const symbol = symbolAt(parsed.symbols, a)
  if (symbol) return { ...fresh, symbol: symbol.name, hash: SYMBOL + symbol.hash }
  const lines = linesOf(text)
  const line = a.line > 0 ? a.line : lineOfName(lines, a.symbol)
  const isThere = line > 0 && line <= lines.length
  const hashAt = PROSE.test(a.path) && lines[line - 1]?.trim() ? paragraphAt : around
  return { ...fresh, symbol: '', line, hash: isThere ? hashAt(lines, line) : wholeFile(parsed) }
}

/** Where no grammar knows a symbol: the first line that gives its name something, or takes something by it; else 0. */
function lineOfName(lines: readonly string[], symbol: string): number {
  const name = lastName(symbol)
  const gives = (line: string) => {
    const at = line.indexOf(name)
    if (at < 0 || /[\w$]/.test(line.charAt(at - 1))) return false
    return /^\s{0,20}(?:[=(]|:(?!:))/.test(line.slice(at + name.length))
  }
  return name === '' ? 0 : lines.findIndex(gives) + 1
}

/** How an anchor stands after its file changed. `gone`: its symbol may be in another file. */
export interface Judged {
  readonly row: AnchorRow
  readonly gone?: boolean
  /** No grammar reads the file here, though one did: whoever has it judges the change. */
  readonly open?: boolean
}

const freshly = (row: AnchorRow): Judged => ({ row: { ...row, stale: null, since: null } })
const stale = (row: AnchorRow, why: string, now: number): Judged => ({
  row: { ...row, stale: why, since: row.stale === null ? now : row.since },
})

/** Judges an anchor of what is `said` by its file. A symbol of the same text that stood there `before` is not a renamed one. */
export function judge(a: AnchorRow, parsed: Parsed, text: string, now: number, said: string, before?: Parsed): Judged {
  const hashAt = a.hash.startsWith(PARAGRAPH) ? paragraphAt : around
  if (hashAt === paragraphAt || a.hash.startsWith(LINE)) {
    const lines = linesOf(text)
    const matches = lines.flatMap((_, i) => (hashAt(lines, i + 1) === a.hash ? [i + 1] : []))
    const nearest = matches.sort((x, y) => Math.abs(x - a.line) - Math.abs(y - a.line))[0]
    if (nearest !== undefined) return freshly({ ...a, line: nearest })
    const here = lines[a.line - 1] ?? ''
    // else its neighbour took its place
    const isIt = hashAt === around || similarity(wordSet(here), wordSet(said)).share >= 0.5
    return !isIt && (here.trim() === '' || a.entity.startsWith('fact:')) // only a rule says what its line says
      ? stale(a, `line ${a.line} is gone from ${a.path}`, now)
      : stale(a, `${a.path} changed around line ${a.line}${isIt ? shown(here) : ''}`, now)
  }
  if (!a.hash.startsWith(SYMBOL)) {
    const whole = wholeFile(parsed)
    // another grammar, or none: what the hash was made of cannot be made now
    if (whole.split(':')[0] !== a.hash.split(':')[0])
      return parsed.language === 'text' ? { row: a, open: true } : { row: anchored(a, parsed, text) }
    return whole === a.hash ? freshly(a) : stale(a, `${a.path} changed`, now)
  }
  if (parsed.language === 'text') return { row: a, open: true }
  const hash = a.hash.slice(SYMBOL.length)
  const own = parsed.symbols.filter((s) => s.name === a.symbol)
  if (own.some((s) => s.hash === hash)) return freshly(a)
  const [same, ...more] = parsed.symbols.filter(
    (s) => isMoved(s, a, hash) && !before?.symbols.some((b) => b.name === s.name),
  )
  if (own.length === 0 && same && more.length === 0) return freshly({ ...a, symbol: same.name })
  return own.length > 0
    ? stale(a, `${a.symbol} in ${a.path} changed${readsNow(own, text)}`, now)
    : { ...stale(a, `${a.symbol} is gone from ${a.path}`, now), gone: true }
}

/** A symbol of one short line is shown as it is now: "7200 became 900" is read off it. No line that holds a secret is. */
const readsNow = ([symbol, ...more]: readonly CodeSymbol[], text: string): string =>
  symbol === undefined || more.length > 0 || symbol.start !== symbol.end ? '' : shown(linesOf(text)[symbol.start - 1])

function shown(code = ''): string {
  const line = code.trim()
  return line === '' || line.length > MOST_SHOWN || findSecrets(line).length > 0 ? '' : ` to \`${line}\``
}

/** Whether a symbol has the anchored text, and is no other one that happens to have it. */
const isMoved = (s: CodeSymbol, a: AnchorRow, hash: string): boolean =>
  s.hash === hash && (s.size >= TELLING || lastName(s.name) === lastName(a.symbol))

/** The symbol of another file that an anchor's symbol was moved to: it has its name and its text. */
export const movedTo = (a: AnchorRow, symbols: readonly CodeSymbol[]): CodeSymbol | undefined =>
  a.hash.startsWith(SYMBOL)
    ? symbols.find((s) => SYMBOL + s.hash === a.hash && lastName(s.name) === lastName(a.symbol))
    : undefined

export const fileGone = (a: AnchorRow, now: number): Judged => ({ ...stale(a, `${a.path} is gone`, now), gone: true })
