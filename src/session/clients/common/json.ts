import { createScanner, getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { attempt, UserError } from '../../../base/errors.ts'
import { isObject, jsonIn } from '../../../model/object.ts'
import type { Undo } from './types.ts'

/** Edits of JSON that leave white space, order, escapes and comments around our entry as they are. */

export type Leaf = { key: string; value: unknown } | { item: unknown }
type Path = readonly (string | number)[]

const BOM = '\uFEFF'
const bare = (text: string) => (text.startsWith(BOM) ? text.slice(1) : text)
const blank = (text: string) => bare(text).trim() === ''

/** The tree of a text with comments; undefined if there are only those. Offsets are those of the text. */
const treeOf = (text: string, errors: ParseError[] = []): Node | undefined =>
  parseTree(text.replace(BOM, ' '), errors, { allowTrailingComma: true, allowEmptyContent: true })

function withComments(text: string): unknown {
  const errors: ParseError[] = []
  const root = treeOf(text, errors)
  const [error] = errors
  if (error)
    throw new SyntaxError(
      `${printParseErrorCode(error.error)} in line ${text.slice(0, error.offset).split('\n').length}`,
    )
  return root ? JSON.parse(JSON.stringify(getNodeValue(root))) : {} // its objects have no prototype
}

const hollow = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.values(value).every(hollow)

/** Whether a text holds no settings and no comments: nothing, or empty objects and lists, and `head`, which a client writes by itself. */
export function isEmptyJson(text: string, head?: string): boolean {
  if (blank(text)) return true
  const value = jsonIn(bare(text)) // nothing where it has comments
  return hollow(value) || (head !== undefined && isObject(value) && hollow({ ...value, [head]: {} }))
}

/** The root object of a settings file. @throws UserError `bad-json` where it is none. */
export function readJson(text: string, file: string, comments = false): Record<string, unknown> {
  if (blank(text)) return {}
  const bad = (what: string, hint: string): never => {
    throw new UserError('bad-json', `${file} ${what}`, hint, { file })
  }
  const hint = `mend it${comments ? '' : ' (comments and trailing commas are not JSON)'} and run this again; nothing was changed`
  const value: unknown = attempt(
    () => (comments ? withComments(text) : JSON.parse(bare(text))),
    ({ message }) => bad(`is not valid JSON: ${message}`, hint),
  )
  return isObject(value) ? value : bad('holds no JSON object', 'its outermost value must be {…}')
}

export function at(value: unknown, ...path: Path): unknown {
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    if (Array.isArray(value) !== (typeof key === 'number')) return undefined
    value = (value as Record<string | number, unknown>)[key]
  }
  return value
}

const endOf = (node: Node) => node.offset + node.length
const partsIn = (node: Node): readonly Node[] => (node.type === 'object' || node.type === 'array' ? node.children! : [])
const valueIn = (part: Node): Node => (part.type === 'property' ? part.children![1]! : part)

/** Where in a container a key or place is, or -1; of two equal keys `JSON.parse` takes the last. */
function indexIn(node: Node, key: string | number): number {
  if (typeof key === 'number') return node.type === 'array' && key < node.children!.length ? key : -1
  return node.type === 'object' ? node.children!.findLastIndex((m) => m.children![0]!.value === key) : -1
}

function chain(root: Node, path: Path): Node[] {
  const found = [root]
  for (const key of path) {
    const index = indexIn(found.at(-1)!, key)
    if (index < 0) break
    found.push(valueIn(partsIn(found.at(-1)!)[index]!))
  }
  return found
}

const lineIndent = (text: string, at: number) => /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', at - 1) + 1, at))![0]
const holdsNewline = (text: string) => text.includes('\n')

function styleOf(text: string, root: Node) {
  const first = root.type === 'object' ? root.children![0] : undefined
  const own = first && holdsNewline(text.slice(root.offset, first.offset)) ? lineIndent(text, first.offset) : ''
  const spaced = !first || valueIn(first).offset > endOf(first.children![0]!) + 1 || holdsNewline(bare(text).trim())
  return { newline: text.includes('\r\n') ? '\r\n' : '\n', unit: own || '  ', spaced }
}

function oneLine(value: unknown, spaced: boolean): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const [comma, colon] = spaced ? [', ', ': '] : [',', ':']
  if (Array.isArray(value)) return `[${value.map((v) => oneLine(v, spaced)).join(comma)}]`
  return `{${Object.entries(value)
    .map(([k, v]) => `${JSON.stringify(k)}${colon}${oneLine(v, spaced)}`)
    .join(comma)}}`
}

/** Puts an entry last into the container at `path`, which is made if need be. @throws UserError `bad-json`. */
export function insertJson(
  text: string,
  path: readonly string[],
  leaf: Leaf,
  file: string,
  comments = false,
): { text: string; undo: Undo } {
  if (blank(text)) {
    const whole = insertJson('{}', path, leaf, file)
    return { text: `${text.startsWith(BOM) ? BOM : ''}${whole.text}\n`, undo: { kept: -1, interior: bare(text) } }
  }
  readJson(text, file, comments)
  const root = treeOf(text)
  if (!root)
    throw new UserError('bad-json', `${file} holds comments alone`, 'write {} into it; nothing was changed', { file })
  const there = chain(root, path)
  const kept = there.length - 1
  const host = there[kept]!
  const missing = path.slice(kept)
  const wanted = missing.length === 0 && 'item' in leaf ? 'array' : 'object'
  if (host.type !== wanted) {
    const message = `${file}: ${path.slice(0, kept).join('.') || 'the whole'} is not an ${wanted}`
    throw new UserError('bad-json', message, 'mend it and run this again; nothing was changed', { file })
  }

  const style = styleOf(text, root)
  const inner = 'item' in leaf ? [leaf.item] : { [leaf.key]: leaf.value }
  const nested = missing.reduceRight<unknown>((value, key) => ({ [key]: value }), inner)
  const print = (indent: string | null) => {
    const show = (v: unknown) =>
      indent === null
        ? oneLine(v, style.spaced)
        : JSON.stringify(v, null, style.unit).replaceAll('\n', style.newline + indent)
    if (Array.isArray(nested)) return show(nested[0])
    const [[key, value]] = Object.entries(nested as object) as [[string, unknown]]
    return `${JSON.stringify(key)}:${style.spaced || indent !== null ? ' ' : ''}${show(value)}`
  }

  const last = partsIn(host).at(-1)
  if (last) {
    const previous = partsIn(host).at(-2)
    const before = previous ? endOf(valueIn(previous)) : host.offset
    const indent = holdsNewline(text.slice(before, last.offset)) ? lineIndent(text, last.offset) : null
    const gap = indent === null ? (style.spaced ? ' ' : '') : style.newline + indent
    const end = endOf(valueIn(last))
    // a remark on the last line stays on it
    const remark =
      indent === null
        ? null
        : /^[ \t]*(?:(,)[ \t]*)?(?:\/\/[^\r\n]*|\/\*[^\r\n]*\*\/[ \t]*(?=\r?\n))/.exec(text.slice(end))
    const next = end + (remark?.[0].length ?? 0)
    return {
      text: remark?.[1]
        ? `${text.slice(0, next)}${gap}${print(indent)},${text.slice(next)}`
        : `${text.slice(0, end)},${text.slice(end, next)}${gap}${print(indent)}${text.slice(next)}`,
      undo: { kept, interior: null },
    }
  }
  const interior = text.slice(host.offset + 1, endOf(host) - 1)
  const remarks = interior.trimEnd() // they stay, in front
  const base = lineIndent(text, host.offset)
  const indent = base + style.unit
  const compact = remarks === '' && host !== root && !holdsNewline(bare(text).trim())
  const fill = compact ? print(null) : remarks + style.newline + indent + print(indent) + style.newline + base
  return { text: text.slice(0, host.offset + 1) + fill + text.slice(endOf(host) - 1), undo: { kept, interior } }
}

/** Takes an entry out, with the containers that are left empty; those that `undo` knows as the user's stay. */
export function removeJson(
  text: string,
  path: Path,
  leaf: { key: string } | { item: unknown } | { index: number },
  undo: Undo = { kept: 0, interior: null },
): string {
  const root = treeOf(text)
  if (!root) return text
  const there = chain(root, path)
  if (there.length <= path.length) return text
  for (let depth = path.length; ; depth--) {
    const node = there[depth]!
    const index =
      depth === path.length && 'item' in leaf
        ? partsIn(node).findIndex((item) => item.value === leaf.item)
        : indexIn(node, path[depth] ?? ('index' in leaf ? leaf.index : (leaf as { key: string }).key))
    if (index < 0) return text
    if (partsIn(node).length === 1 && !remarksIn(text, node) && depth > Math.max(undo.kept, 0)) continue
    const left = cut(text, node, index, depth === undo.kept ? (undo.interior ?? '') : '')
    // the file held nothing but white space before
    return undo.kept < 0 && isEmptyJson(left) ? (text.startsWith(BOM) ? BOM : '') + (undo.interior ?? '') : left
  }
}

function remarksIn(text: string, node: Node): boolean {
  const gaps = [node.offset + 1, ...partsIn(node).flatMap((p) => [p.offset, endOf(valueIn(p))]), endOf(node) - 1]
  for (let n = 0; n < gaps.length; n += 2) if (/\S/.test(text.slice(gaps[n], gaps[n + 1]).replace(',', ''))) return true
  return false
}

function tokenAfter(text: string, at: number): number {
  const scanner = createScanner(text, true)
  scanner.setPosition(at)
  scanner.scan()
  return scanner.getTokenOffset()
}

function cut(text: string, node: Node, index: number, interior: string): string {
  const parts = partsIn(node)
  const part = parts[index]!
  const end = endOf(valueIn(part))
  if (parts.length === 1 && !remarksIn(text, node))
    return text.slice(0, node.offset + 1) + interior + text.slice(endOf(node) - 1)
  let from = part.offset
  while (/\s/.test(text[from - 1]!)) from--
  const next = parts[index + 1]
  if (next) {
    const gap = text.slice(end, next.offset)
    if (gap.replace(',', '').trim() === '') return text.slice(0, part.offset) + text.slice(next.offset)
    return text.slice(0, from) + text.slice(tokenAfter(text, end) + 1)
  }
  const previous = parts[index - 1]
  if (!previous) return text.slice(0, from) + text.slice(end)
  // where commas end every line, ours goes with ours
  const trailing = /^\s*,/.exec(text.slice(end))
  if (trailing) return text.slice(0, from) + text.slice(end + trailing[0].length)
  const comma = tokenAfter(text, endOf(valueIn(previous)))
  return text.slice(0, comma) + text.slice(comma + 1, Math.max(comma + 1, from)) + text.slice(end)
}
