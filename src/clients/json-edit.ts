import { UserError } from '../errors.ts'
import type { Undo } from './types.ts'

/**
 * Edits of JSON text that touch nothing but the entry they are about: white space, key order, line ends, escapes and a
 * byte order mark stay as the user wrote them. Reading is strict (`JSON.parse`), so the scanner may trust what it scans.
 */

type Node =
  | { kind: 'object'; start: number; end: number; parts: Member[] }
  | { kind: 'array'; start: number; end: number; parts: Item[] }
  | { kind: 'scalar'; start: number; end: number }
interface Item {
  /** Where the part begins: a member's key, an item's value. */
  start: number
  value: Node
}
interface Member extends Item {
  key: string
  keyEnd: number
}
type Container = Exclude<Node, { kind: 'scalar' }>

/** Where an entry goes: a key of an object, or an item at the end of an array. */
export type Leaf = { key: string; value: unknown } | { item: unknown }
export type JsonEdit = { text: string; undo: Undo }

const BOM = '\uFEFF'
const bare = (text: string) => (text.startsWith(BOM) ? text.slice(1) : text)
const blank = (text: string) => bare(text).trim() === ''

const hollow = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.values(value).every(hollow)

/** Whether a text holds no settings: nothing at all, or only empty objects and lists. */
export const isEmptyJson = (text: string): boolean => blank(text) || hollow(JSON.parse(bare(text)))

/**
 * The root object of a settings file.
 * @throws UserError `bad-json` when it is none.
 */
export function readJson(text: string, file: string): Record<string, unknown> {
  if (blank(text)) return {}
  let value: unknown
  try {
    value = JSON.parse(bare(text))
  } catch (error) {
    throw new UserError(
      'bad-json',
      `${file} is not valid JSON: ${(error as Error).message}`,
      'mend it (comments and trailing commas are not JSON) and run this again; nothing was changed',
      { file },
    )
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UserError('bad-json', `${file} holds no JSON object`, 'its outermost value must be {…}', { file })
  return value as Record<string, unknown>
}

/** The value at a path of keys, or undefined. */
export function at(value: unknown, ...path: string[]): unknown {
  for (const key of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, key))
      return undefined
    value = (value as Record<string, unknown>)[key]
  }
  return value
}

function scan(text: string): Node {
  let i = text.startsWith(BOM) ? 1 : 0
  const space = () => {
    while (i < text.length && ' \t\r\n'.includes(text[i]!)) i++
  }
  const string = () => {
    const from = i++
    while (text[i] !== '"') i += text[i] === '\\' ? 2 : 1
    return JSON.parse(text.slice(from, ++i)) as string
  }
  const value = (): Node => {
    space()
    const start = i
    const open = text[i]
    if (open === '{' || open === '[') {
      const parts: Item[] = []
      i++
      for (space(); text[i] !== '}' && text[i] !== ']'; space()) {
        if (text[i] === ',') i++
        space()
        const from = i
        if (open === '[') {
          parts.push({ start: from, value: value() })
          continue
        }
        const key = string()
        const keyEnd = i
        space()
        i++ // the colon
        parts.push({ start: from, key, keyEnd, value: value() } as Member)
      }
      i++
      return open === '{'
        ? { kind: 'object', start, end: i, parts: parts as Member[] }
        : { kind: 'array', start, end: i, parts }
    }
    if (open === '"') string()
    else while (i < text.length && !',]} \t\r\n'.includes(text[i]!)) i++
    return { kind: 'scalar', start, end: i }
  }
  return value()
}

// of two equal keys JSON.parse takes the last
const member = (node: Node, key: string) =>
  node.kind === 'object' ? node.parts.findLast((m) => m.key === key) : undefined

/** The containers on a path that are there: the root first. */
function chain(root: Node, path: readonly string[]): Node[] {
  const found = [root]
  for (const key of path) {
    const next = member(found.at(-1)!, key)
    if (!next) break
    found.push(next.value)
  }
  return found
}

const lineIndent = (text: string, at: number) => /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', at - 1) + 1, at))![0]
const holdsNewline = (text: string) => text.includes('\n')

interface Style {
  newline: string
  unit: string
  spaced: boolean
}

function styleOf(text: string, root: Node): Style {
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const first = root.kind === 'object' ? root.parts[0] : undefined
  const own = first && holdsNewline(text.slice(root.start, first.start)) ? lineIndent(text, first.start) : ''
  const spaced = !first || first.value.start > first.keyEnd + 1 || holdsNewline(bare(text).trim())
  return { newline, unit: own || '  ', spaced }
}

/** JSON on one line, the way a person writes it or the way a program does. */
function oneLine(value: unknown, spaced: boolean): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const [comma, colon] = spaced ? [', ', ': '] : [',', ':']
  if (Array.isArray(value)) return `[${value.map((v) => oneLine(v, spaced)).join(comma)}]`
  return `{${Object.entries(value)
    .map(([k, v]) => `${JSON.stringify(k)}${colon}${oneLine(v, spaced)}`)
    .join(comma)}}`
}

const manyLines = (value: unknown, style: Style, indent: string) =>
  JSON.stringify(value, null, style.unit).replaceAll('\n', style.newline + indent)

/**
 * Puts an entry into the container at `path`, which is made if need be, behind what is there.
 * @throws UserError `bad-json` when something on the way is not a container.
 */
export function insertJson(text: string, path: readonly string[], leaf: Leaf, file: string): JsonEdit {
  if (blank(text)) {
    const whole = insertJson('{}', path, leaf, file)
    return { text: `${text.startsWith(BOM) ? BOM : ''}${whole.text}\n`, undo: { kept: -1, interior: bare(text) } }
  }
  readJson(text, file)
  const root = scan(text)
  const there = chain(root, path)
  const kept = there.length - 1
  const host = there[kept]!
  const missing = path.slice(kept)
  const wanted = missing.length === 0 && 'item' in leaf ? 'array' : 'object'
  if (host.kind !== wanted)
    throw new UserError(
      'bad-json',
      `${file}: ${path.slice(0, kept).join('.') || 'the whole'} is not an ${wanted}`,
      'mend it and run this again; nothing was changed',
      { file },
    )

  const style = styleOf(text, root)
  const inner = 'item' in leaf ? [leaf.item] : { [leaf.key]: leaf.value }
  const nested = missing.reduceRight<unknown>((value, key) => ({ [key]: value }), inner)
  const print = (indent: string | null) => {
    const show = (v: unknown) => (indent === null ? oneLine(v, style.spaced) : manyLines(v, style, indent))
    if (Array.isArray(nested)) return show(nested[0])
    const [[key, value]] = Object.entries(nested as object) as [[string, unknown]]
    return `${JSON.stringify(key)}:${style.spaced || indent !== null ? ' ' : ''}${show(value)}`
  }

  const container = host as Container
  const last = container.parts.at(-1)
  if (last) {
    const before = container.parts.at(-2)?.value.end ?? container.start
    const indent = holdsNewline(text.slice(before, last.start)) ? lineIndent(text, last.start) : null
    const gap = indent === null ? (style.spaced ? ' ' : '') : style.newline + indent
    const end = last.value.end
    return { text: `${text.slice(0, end)},${gap}${print(indent)}${text.slice(end)}`, undo: { kept, interior: null } }
  }
  const interior = text.slice(container.start + 1, container.end - 1)
  const compact = container !== root && !holdsNewline(bare(text).trim())
  const base = lineIndent(text, container.start)
  const indent = base + style.unit
  const fill = compact ? print(null) : style.newline + indent + print(indent) + style.newline + base
  return {
    text: text.slice(0, container.start + 1) + fill + text.slice(container.end - 1),
    undo: { kept, interior },
  }
}

/**
 * Takes an entry out, and the containers that only it kept alive. With `undo` it knows which of those were the user's
 * own and stay; without it, it takes every one it leaves empty.
 */
export function removeJson(
  text: string,
  path: readonly string[],
  leaf: { key: string } | { item: unknown },
  undo: Undo = { kept: 0, interior: null },
): string {
  if (blank(text)) return text
  const root = scan(text)
  const there = chain(root, path)
  if (there.length <= path.length) return text
  for (let depth = path.length; ; depth--) {
    const node = there[depth]!
    if (node.kind === 'scalar') return text
    const index =
      depth < path.length
        ? node.parts.findLastIndex((p) => (p as Member).key === path[depth])
        : 'item' in leaf
          ? node.kind === 'array'
            ? node.parts.findIndex((p) => text.slice(p.value.start, p.value.end) === JSON.stringify(leaf.item))
            : -1
          : node.parts.findLastIndex((p) => (p as Member).key === leaf.key)
    if (index < 0) return text
    if (node.parts.length === 1 && depth > Math.max(undo.kept, 0)) continue
    const left = cut(text, node, index, depth === undo.kept ? (undo.interior ?? '') : '')
    // the file held nothing but white space before
    return undo.kept < 0 && isEmptyJson(left) ? (text.startsWith(BOM) ? BOM : '') + (undo.interior ?? '') : left
  }
}

function cut(text: string, node: Container, index: number, interior: string): string {
  const { parts } = node
  if (parts.length === 1) return text.slice(0, node.start + 1) + interior + text.slice(node.end - 1)
  if (index === parts.length - 1)
    return text.slice(0, parts[index - 1]!.value.end) + text.slice(parts[index]!.value.end)
  return text.slice(0, parts[index]!.start) + text.slice(parts[index + 1]!.start)
}
