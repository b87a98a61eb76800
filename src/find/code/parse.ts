/**
 * code: what the project's code says of the knowledge about it. `parse.ts` finds the symbols of a file, `cache.ts` keeps
 * them by content, `scan.ts` finds what changed, `anchors.ts` tells which knowledge that makes stale, `watch.ts` does so at once.
 */

import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import type { Language as Grammar, Node, Parser, Query } from 'web-tree-sitter'
import { whenCode } from '../../base/errors.ts'
import { firstWhere, keptIn } from '../../base/lookup.ts'
import { type Language, languageOf } from './languages.ts'

/** A named piece of a file. Lines count from 1. */
export interface CodeSymbol {
  /** With what it stands in: `Model.open`. */
  readonly name: string
  readonly kind: string
  readonly start: number
  readonly end: number
  /** Of its tokens: layout, comments and its own name do not count. */
  readonly hash: string
  /** How many tokens it has. */
  readonly size: number
}

export interface Call {
  /** The symbol that calls; empty where none does. */
  readonly from: string
  readonly to: string
}

/** What is known of a content. */
export interface Parsed {
  /** `text` where no grammar reads it. */
  readonly language: string
  /** Of all its tokens; of plain text all of its lines, without blanks at their ends. */
  readonly hash: string
  readonly symbols: readonly CodeSymbol[]
  readonly calls: readonly Call[]
}

/** Part of every cached answer: another number makes all of them anew. */
export const PARSER = 1

/** Longer files are generated; they are plain text. */
const LONGEST = 1_000_000
/** Deeper brackets are no code that somebody wrote; the parser takes time by the square of the depth. */
const DEEPEST = 1_000

function isDeep(text: string): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]
    if (sign === '(' || sign === '[' || sign === '{') depth++
    else if (sign === ')' || sign === ']' || sign === '}') depth = Math.max(0, depth - 1)
    if (depth > DEEPEST) return true
  }
  return false
}

type Ready = { readonly parser: Parser; readonly query: Query }

const packages = createRequire(import.meta.url)
let engine: Promise<typeof import('web-tree-sitter') | undefined> | undefined
const grammars = new Map<string, Promise<Ready | undefined>>()

async function loadEngine(): Promise<typeof import('web-tree-sitter')> {
  const loaded = packages('web-tree-sitter') as typeof import('web-tree-sitter')
  await loaded.Parser.init()
  return loaded
}

async function loadGrammar(language: Language): Promise<Ready | undefined> {
  const loaded = await (engine ??= loadEngine().catch(() => undefined)) // the parser is optional to install
  if (!loaded) return undefined
  const path = packages.resolve(`@vscode/tree-sitter-wasm/wasm/${language.grammar}.wasm`)
  const grammar: Grammar = await loaded.Language.load(path)
  const parser = new loaded.Parser()
  parser.setLanguage(grammar)
  return { parser, query: new loaded.Query(grammar, language.query) }
}

const readyFor = (language: Language): Promise<Ready | undefined> =>
  keptIn(grammars, language.name, () => loadGrammar(language).catch(whenCode(['MODULE_NOT_FOUND'])))

/** Whether symbols of a file can be found here, as far as its name says. */
export const canParse = async (path: string): Promise<boolean> => {
  const language = languageOf(path)
  return language !== undefined && (await readyFor(language)) !== undefined
}

export const shortHash = (text: string | Uint8Array): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 20)

/** The symbols and calls of a file. The same content under a name of the same language always gives the same. */
export async function parse(path: string, text: string): Promise<Parsed> {
  const language = languageOf(path)
  const ready = language && text.length <= LONGEST && !isDeep(text) ? await readyFor(language) : undefined
  const tree = ready?.parser.parse(text)
  if (!language || !ready || !tree) return plainText(text)
  try {
    return read(text, language, ready.query, tree.rootNode)
  } finally {
    tree.delete()
  }
}

const plainText = (text: string): Parsed => ({
  language: 'text',
  hash: shortHash(linesOf(text).join('\n').trim()),
  symbols: [],
  calls: [],
})

/** The lines of a text without blanks at their ends. */
export const linesOf = (text: string): string[] => text.split('\n').map((line) => line.trimEnd())

type Range = Readonly<{ start: number; end: number }>

interface Found extends Range {
  readonly simple: string
  readonly kind: string
  readonly rows: readonly [number, number]
  /** The grammar did not understand all of it: it may be longer than it seems. */
  readonly broken: boolean
  /** What its name is qualified with beyond what it lies in. */
  readonly scope?: string | undefined
}

/** Parts of the text that are no code: comments, and what counts as it is written. */
interface Part extends Range {
  readonly verbatim: boolean
}

function read(text: string, language: Language, query: Query, root: Node): Parsed {
  const found = new Map<number, Found>()
  const parts: Part[] = []
  const callees: { at: number; to: string }[] = []
  for (const { captures } of query.matches(root)) {
    const of = (name: string) => captures.find((c) => c.name === name)?.node
    const [first] = captures
    if (first?.name === 'comment' || first?.name === 'verbatim')
      parts.push({ start: first.node.startIndex, end: first.node.endIndex, verbatim: first.name === 'verbatim' })
    else if (first?.name === 'callee') callees.push({ at: first.node.startIndex, to: first.node.text })
    else {
      const named = of('name')
      const symbol =
        captures.find((c) => !['name', 'scope'].includes(c.name)) ?? captures.find((c) => c.name === 'scope')
      // a variable may also be known as the function that it holds
      if (named && symbol && (found.get(symbol.node.startIndex)?.kind ?? 'variable') === 'variable')
        found.set(symbol.node.startIndex, foundOf(named, symbol.node, symbol.name, of('scope')))
    }
  }
  const inOrder = (a: Range, b: Range) => a.start - b.start || b.end - a.end
  const outermost = outer(parts.sort(inOrder))
  const symbols = qualified(mended([...found.values()].sort(inOrder), text))
  const tokens = tokensIn(text, outermost, language)
  const hashed = symbols.flatMap((s) => {
    if (s.kind === 'scope') return []
    const own = tokens.slice(firstAt(tokens, s.start), firstAt(tokens, s.end))
    while (LAYOUT.has(own[0]?.text ?? '')) own.shift() // how deep it lies
    const words = own.map((t) => (t.text === s.simple ? '_' : t.text))
    const [start, end] = s.rows
    return [{ name: s.name, kind: s.kind, start, end, hash: shortHash(words.join('\n')), size: words.length, range: s }]
  })
  const calls = new Map<string, Call>()
  for (const { at, to } of callees) {
    const from = hashed.findLast(({ range }) => range.start <= at && at < range.end)?.name ?? ''
    calls.set(`${from}\n${to}`, { from, to })
  }
  return {
    language: language.name,
    hash: shortHash(tokens.map((t) => t.text).join('\n')),
    symbols: hashed.map(({ range: _, ...s }) => s),
    calls: [...calls.values()],
  }
}

function foundOf(named: Node, node: Node, kind: string, scope: Node | undefined): Found {
  // decorators belong to what they decorate
  const whole = node.parent?.type === 'decorated_definition' ? node.parent : node
  return {
    simple: named.text,
    kind,
    start: whole.startIndex,
    end: whole.endIndex,
    rows: [whole.startPosition.row + 1, whole.endPosition.row + 1],
    broken: whole.hasError,
    scope: kind === 'scope' ? undefined : scope?.text,
  }
}

/** What the grammar did not understand to its end goes on to the next symbol, or a change of the rest would go unseen. */
const mended = (sorted: readonly Found[], text: string): Found[] =>
  sorted.map((s) => {
    if (!s.broken) return s
    const next = sorted.find((o) => o.start >= s.end)
    const last = next ? next.rows[0] - 1 : text.split('\n').length
    return { ...s, end: next?.start ?? text.length, rows: [s.rows[0], Math.max(s.rows[1], last)] }
  })

/** Those that lie in no other; in the order of the text. */
function outer(parts: readonly Part[]): Part[] {
  let end = -1
  return parts.filter((p) => {
    if (p.start < end) return false
    end = p.end
    return true
  })
}

/** With the names of what they lie in; sorted, so that an outer one comes before its inner ones. */
function qualified(sorted: readonly Found[]): (Found & { name: string })[] {
  const open: (Found & { name: string })[] = []
  return sorted.map((s) => {
    while (open.length > 0 && open.at(-1)!.end < s.end) open.pop()
    const around = s.scope ?? open.at(-1)?.name
    const isMember = s.kind === 'function' && ['class', 'scope', 'trait'].includes(open.at(-1)?.kind ?? '')
    const name = around === undefined ? s.simple : `${around}.${s.simple}`
    const named = { ...s, name, kind: isMember ? 'method' : s.kind }
    open.push(named)
    return named
  })
}

type Token = Readonly<{ at: number; text: string }>

/** Where the tokens from a place of the text on begin. */
const firstAt = (tokens: readonly Token[], at: number): number => firstWhere(tokens.length, (i) => tokens[i]!.at >= at)

const [INDENT, DEDENT, BREAK] = ['⇥', '⇤', '⏎'] as const
const LAYOUT: ReadonlySet<string> = new Set([INDENT, DEDENT, BREAK])
const OPEN = new Set(['(', '[', '{'])
const CLOSE = new Set([')', ']', '}'])

/** The tokens of a program that a formatter does not change: without comments, layout and the kind of quotes. */
function tokensIn(text: string, parts: readonly Part[], { indented, quotes }: Language): Token[] {
  const tokens: Token[] = []
  const depths: string[] = []
  const indents = [0]
  /** The width of the line that begins, until its first token says whether it counts. */
  let indent: number | undefined
  const add = (token: Token) => {
    if (indent !== undefined && depths.length === 0) {
      while (indents.length > 1 && indents.at(-1)! > indent) {
        indents.pop()
        tokens.push({ at: token.at, text: DEDENT })
      }
      if (indents.at(-1)! < indent) {
        indents.push(indent)
        tokens.push({ at: token.at, text: INDENT })
      } else tokens.push({ at: token.at, text: BREAK })
    }
    indent = undefined
    tokens.push(token)
  }
  const code = (from: number, to: number) => {
    for (const { 0: word, index } of text.slice(from, to).matchAll(/\n[ \t]*|[\w$\u0080-\uffff]+|[^\s\w$]/g)) {
      const at = from + index
      if (word[0] === '\n') {
        if (indented && tokens.length > 0 && depths.length === 0) indent = word.length - 1
        if (indented && tokens.at(-1)?.text === '\\') tokens.pop()
      } else if (word === ';' && !indented && depths.at(-1) !== '(') continue
      else {
        const before = tokens.at(-1)
        if (CLOSE.has(word)) {
          depths.pop()
          if (before?.text === ',' && text.slice(before.at, at).includes('\n')) tokens.pop()
        } else if (OPEN.has(word)) depths.push(word)
        add({ at, text: word })
      }
    }
  }
  let from = 0
  for (const { start, end, verbatim } of parts) {
    code(from, start)
    if (verbatim) add({ at: start, text: quotes ? unquoted(text.slice(start, end)) : text.slice(start, end) })
    from = end
  }
  code(from, text.length)
  return tokens
}

/** With double quotes, where that changes nothing else. */
function unquoted(literal: string): string {
  const inner = literal.slice(1, -1)
  return literal[0] === "'" && !/["'\\]/.test(inner) ? `"${inner}"` : literal
}
