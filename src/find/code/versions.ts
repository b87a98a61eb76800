import { createHash } from 'node:crypto'
import { UserError } from '../../base/errors.ts'
import { linesOf, type Part, symbolOf } from '../../engine/claims/part.ts'
import { carried, difference, rowsOf, type Span } from '../../model/lines.ts'
import type { CodeSymbol } from './parse.ts'
import { runGit } from './run-git.ts'
import { CodeTree } from './tree.ts'

/** A file as it is, or as a commit has it. */
export interface Version {
  /** Its id in git. */
  readonly id: string
  readonly text: string
  readonly rows: readonly string[]
}

export function versionOf(text: string): Version {
  const bytes = Buffer.from(text)
  const id = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
  return { id, text, rows: rowsOf(text) }
}

/** An object of git as text; undefined where there is none, or no git. */
const textOf = (root: string, object: string): Promise<string | undefined> =>
  runGit(root, 'cat-file', 'blob', object).catch(() => undefined)

export async function versionAt(root: string, commit: string, path: string): Promise<Version | undefined> {
  const text = await textOf(root, `${commit}:./${path}`)
  return text === undefined ? undefined : versionOf(text)
}

export async function versionById(root: string, id: string): Promise<Version | undefined> {
  const text = /^[0-9a-f]{40,64}$/.test(id) ? await textOf(root, id) : undefined
  return text === undefined ? undefined : versionOf(text)
}

export function versionHere(root: string, path: string): Version | undefined {
  const content = new CodeTree(root).read(path)
  return content && versionOf(content.text)
}

/** The file where two commits parted; `none` where they have nothing in common. */
export async function versionBetween(
  root: string,
  one: string,
  other: string,
  path: string,
): Promise<Version | undefined> {
  const base = await runGit(root, 'merge-base', one, other).catch(() => '')
  return base === '' ? undefined : versionAt(root, base.trim(), path)
}

/** Symbols of a version as far as they are known already; `parse`: found where they are not. */
export async function symbolsOf(
  root: string,
  path: string,
  { text }: Version,
  parse = false,
): Promise<readonly CodeSymbol[]> {
  const tree = new CodeTree(root)
  const content = { text, hash: createHash('sha256').update(text).digest('hex') }
  const found = parse ? await tree.parsed(path, content) : tree.known(path, content.hash)
  return found?.symbols ?? []
}

/** What holds others: an edit in one is not an edit of all that it holds. */
const CONTAINERS = new Set(['class', 'trait', 'module', 'namespace'])
const CONTEXT = 3

/** The innermost symbol that has all of the lines. */
export const around = (symbols: readonly CodeSymbol[], [from, to]: Span): CodeSymbol | undefined =>
  symbols.findLast(({ start, end }) => (from === to ? start - 1 < from && from < end : start - 1 <= from && to <= end))

/** What a change of these lines holds: the function that they stand in, else the lines with those around them. */
export function heldBy(symbols: readonly CodeSymbol[], span: Span): Span {
  const s = around(symbols, span)
  return s && !CONTAINERS.has(s.kind) ? [s.start - 1, s.end] : [Math.max(0, span[0] - CONTEXT), span[1] + CONTEXT]
}

/** A place in a file for a reader: `in total(), lines 12–20`. */
export function placeIn(symbols: readonly CodeSymbol[], span: Span, [from, to]: Span = span): string {
  const name = named(around(symbols, span))
  return `${name && `in ${name}, `}${to - from > 1 ? `lines ${from + 1}–${to}` : `line ${from + 1}`}`
}

const named = (s: CodeSymbol | undefined): string =>
  s === undefined ? '' : ['function', 'method'].includes(s.kind) ? `${s.name}()` : s.name

/** Sorted, and each line once. */
export function united(spans: readonly Span[]): Span[] {
  const out: Span[] = []
  for (const s of spans.toSorted((a, b) => a[0] - b[0])) {
    const last = out.at(-1)
    if (last && s[0] <= last[1]) out.splice(-1, 1, [last[0], Math.max(last[1], s[1])])
    else out.push(s)
  }
  return out
}

/** A part that somebody names, as lines of the version that git has. @throws UserError for a symbol that is not there. */
export async function partIn(root: string, on: string, part: string): Promise<Part | undefined> {
  const now = versionHere(root, on)
  if (!now) return undefined
  const symbols = part.startsWith('#') ? await symbolsOf(root, on, now, true) : []
  const span = linesOf({ part }) ?? symbolIn(symbols, symbolOf({ part })!)
  if (!span && symbols.length > 0) {
    const names = symbols.map((s) => s.name)
    throw new UserError('not-found', `${on} has no ${part.slice(1)}`, `it has ${names.slice(0, 20).join(', ')}`)
  }
  const head = span && (await versionAt(root, 'HEAD', on))
  if (!span || !head) return span && { lines: [span] }
  return { base: head.id, lines: [carried(difference(head.rows, now.rows), span, true)] }
}

export function symbolIn(symbols: readonly CodeSymbol[], name: string): Span | undefined {
  const s = symbols.find((s) => s.name === name) ?? symbols.find((s) => s.name.endsWith(`.${name}`))
  return s && [s.start - 1, s.end]
}
