import { createHash } from 'node:crypto'
import { UserError } from '../../base/errors.ts'
import { runGit } from '../../base/run-git.ts'
import { linesOf, type Part, symbolOf } from '../../engine/claims/part.ts'
import { carried, difference, rowsOf, type Span } from '../../model/lines.ts'
import { CodeTree } from './code-files.ts'
import type { CodeSymbol } from './parse.ts'

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

export const NO_FILE: Version = { id: '', text: '', rows: [''] }

/** Of an object of git: an id, or `HEAD:./path`. Undefined where git does not answer, or has no such id. */
export async function versionAt(root: string, object: string): Promise<Version | undefined> {
  const [tree = '', path] = object.split(/:(.*)/s)
  const found = await runGit(root, 'cat-file', 'blob', '--end-of-options', object).then(versionOf, () => undefined)
  if (found || path === undefined) return found
  const listed = await runGit(root, 'ls-tree', '-z', '--end-of-options', tree, path).catch(() => undefined)
  return listed === '' ? NO_FILE : undefined
}

export function versionHere(root: string, path: string): Version | undefined {
  const content = new CodeTree(root).read(path)
  return content && versionOf(content.text)
}

const contentOf = ({ text }: Version) => ({ text, hash: createHash('sha256').update(text).digest('hex') })

export type Symbols = readonly CodeSymbol[]

export const symbolsOf = async (root: string, path: string, version: Version): Promise<Symbols> =>
  (await new CodeTree(root).parsed(path, contentOf(version))).symbols

/** The same as far as they are known without parsing. */
export const symbolsKnown = (root: string, path: string, version: Version): Symbols =>
  new CodeTree(root).known(path, contentOf(version).hash)?.symbols ?? []

/** What holds others: an edit in one is not an edit of all that it holds. */
const CONTAINERS = new Set(['class', 'trait', 'module', 'namespace'])
const CONTEXT = 3

/** The innermost symbol that has all of the lines. */
export const around = (symbols: readonly CodeSymbol[], [from, to]: Span): CodeSymbol | undefined =>
  symbols.findLast(({ start, end }) => (from === to ? start - 1 < from && from < end : start - 1 <= from && to <= end))

/** What a change of these lines holds: the function that they stand in and the lines next to them, else those around them. */
export function heldBy(symbols: readonly CodeSymbol[], span: Span): Span {
  const s = around(symbols, span)
  const inside = s && !CONTAINERS.has(s.kind) ? s : undefined
  const by = inside ? 1 : CONTEXT
  const [from, to] = [Math.max(0, span[0] - by), span[1] + by]
  return inside ? [Math.min(from, inside.start - 1), Math.max(to, inside.end)] : [from, to]
}

/** A place in a file for a reader: `in total(), lines 12–20`, or `at line 7`. */
export function placeIn(symbols: readonly CodeSymbol[], span: Span, [from, to]: Span = span): string {
  const name = named(around(symbols, span))
  return `${name === '' ? 'at ' : `in ${name}, `}${to - from > 1 ? `lines ${from + 1}–${to}` : `line ${from + 1}`}`
}

const named = (s: CodeSymbol | undefined): string =>
  s === undefined ? '' : ['function', 'method'].includes(s.kind) ? `${s.name}()` : s.name

/** A part that somebody names, as lines of the version that git has. @throws UserError for a symbol or line that is not there. */
export async function partIn(root: string, on: string, part: string): Promise<Part | undefined> {
  const now = versionHere(root, on)
  if (!now) return undefined
  const symbols = part.startsWith('#') ? await symbolsOf(root, on, now) : []
  const lines = linesOf({ part })
  const last = now.rows.length - Number(now.rows.at(-1) === '')
  if (lines && lines[0] >= last)
    throw new UserError('not-found', `${on} has no line ${lines[0] + 1}`, `it has ${last} lines`)
  const span = lines ?? symbolIn(symbols, symbolOf({ part })!)
  if (!span && symbols.length > 0) {
    const names = symbols.map((s) => s.name)
    throw new UserError('not-found', `${on} has no ${part.slice(1)}`, `it has ${names.slice(0, 20).join(', ')}`)
  }
  const head = span && (await versionAt(root, `HEAD:./${on}`))
  if (!span || !head?.id) return span && { lines: [span] }
  return { base: head.id, lines: [carried(difference(head.rows, now.rows), span, true)] }
}

export function symbolIn(symbols: readonly CodeSymbol[], name: string): Span | undefined {
  const s = symbols.find((s) => s.name === name) ?? symbols.find((s) => s.name.endsWith(`.${name}`))
  return s && [s.start - 1, s.end]
}
