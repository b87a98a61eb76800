import { UserError } from '../../errors.ts'
import { BOM, bare, blank, isEmptyJson, readJson, withoutComments } from './json-read.ts'
import type { Undo } from './types.ts'

/**
 * Edits of JSON text that touch nothing but the entry they are about: white space, key order, line ends, escapes, a byte
 * order mark, and comments where the client reads them, stay as the user wrote them. What is read is checked first
 * (`readJson`), so the scanner may trust what it scans.
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
/** A way to an entry: keys of objects, places in arrays. */
export type JsonPath = readonly (string | number)[]
export type JsonEdit = { text: string; undo: Undo }

function scan(written: string): Node {
  const text = withoutComments(written)
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

/** Where in a container a key or place is, or -1; of two equal keys `JSON.parse` takes the last. */
function indexIn(node: Node, key: string | number): number {
  if (typeof key === 'number') return node.kind === 'array' && key < node.parts.length ? key : -1
  return node.kind === 'object' ? node.parts.findLastIndex((m) => m.key === key) : -1
}

/** The containers on a path that are there: the root first. */
function chain(root: Node, path: JsonPath): Node[] {
  const found = [root]
  for (const key of path) {
    const node = found.at(-1)!
    const index = indexIn(node, key)
    if (index < 0) break
    found.push((node as Container).parts[index]!.value)
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
export function insertJson(
  text: string,
  path: readonly string[],
  leaf: Leaf,
  file: string,
  comments = false,
): JsonEdit {
  if (blank(text)) {
    const whole = insertJson('{}', path, leaf, file)
    return { text: `${text.startsWith(BOM) ? BOM : ''}${whole.text}\n`, undo: { kept: -1, interior: bare(text) } }
  }
  readJson(text, file, comments)
  if (blank(withoutComments(text)))
    throw new UserError('bad-json', `${file} holds comments alone`, 'write {} into it; nothing was changed', { file })
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
    // a remark on the last line stays on it
    const remark =
      indent === null
        ? null
        : /^[ \t]*(?:(,)[ \t]*)?(?:\/\/[^\r\n]*|\/\*[^\r\n]*\*\/[ \t]*(?=\r?\n))/.exec(text.slice(end))
    const next = end + (remark?.[0].length ?? 0)
    const line = text.slice(end, next)
    return {
      text: remark?.[1]
        ? `${text.slice(0, next)}${gap}${print(indent)},${text.slice(next)}`
        : `${text.slice(0, end)},${line}${gap}${print(indent)}${text.slice(next)}`,
      undo: { kept, interior: null },
    }
  }
  const interior = text.slice(container.start + 1, container.end - 1)
  const compact = container !== root && !holdsNewline(bare(text).trim())
  const base = lineIndent(text, container.start)
  const indent = base + style.unit
  if (interior.trim() !== '') {
    // comments stand in it: they stay, in front
    const inset = style.newline + indent + print(indent)
    const body = interior.trimEnd()
    return {
      text: text.slice(0, container.start + 1) + body + inset + style.newline + base + text.slice(container.end - 1),
      undo: { kept, interior },
    }
  }
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
  path: JsonPath,
  leaf: { key: string } | { item: unknown } | { index: number },
  undo: Undo = { kept: 0, interior: null },
): string {
  if (blank(withoutComments(text))) return text
  const root = scan(text)
  const there = chain(root, path)
  if (there.length <= path.length) return text
  for (let depth = path.length; ; depth--) {
    const node = there[depth]!
    if (node.kind === 'scalar') return text
    const index =
      depth < path.length
        ? indexIn(node, path[depth]!)
        : 'item' in leaf
          ? node.kind === 'array'
            ? node.parts.findIndex((p) => text.slice(p.value.start, p.value.end) === JSON.stringify(leaf.item))
            : -1
          : indexIn(node, 'index' in leaf ? leaf.index : leaf.key)
    if (index < 0) return text
    const alone = node.parts.length === 1 && !remarksIn(text, node)
    if (alone && depth > Math.max(undo.kept, 0)) continue
    const left = cut(text, node, index, depth === undo.kept ? (undo.interior ?? '') : '')
    // the file held nothing but white space before
    return undo.kept < 0 && isEmptyJson(left) ? (text.startsWith(BOM) ? BOM : '') + (undo.interior ?? '') : left
  }
}

/** Whether comments stand in a container, around its parts. */
function remarksIn(text: string, node: Container): boolean {
  const gaps = [node.start + 1, ...node.parts.flatMap((p) => [p.start, p.value.end]), node.end - 1]
  for (let n = 0; n < gaps.length; n += 2) if (/\S/.test(text.slice(gaps[n], gaps[n + 1]).replace(',', ''))) return true
  return false
}

function cut(text: string, node: Container, index: number, interior: string): string {
  const { parts } = node
  const part = parts[index]!
  if (parts.length === 1 && !remarksIn(text, node))
    return text.slice(0, node.start + 1) + interior + text.slice(node.end - 1)
  const plain = withoutComments(text)
  let from = part.start
  while (/\s/.test(text[from - 1]!)) from--
  const next = parts[index + 1]
  if (next) {
    const gap = text.slice(part.value.end, next.start)
    if (gap.replace(',', '').trim() === '') return text.slice(0, part.start) + text.slice(next.start)
    return text.slice(0, from) + text.slice(plain.indexOf(',', part.value.end) + 1)
  }
  const previous = parts[index - 1]
  if (!previous) return text.slice(0, from) + text.slice(part.value.end)
  // where commas end every line, ours goes with ours
  const trailing = /^\s*,/.exec(text.slice(part.value.end))
  if (trailing) return text.slice(0, from) + text.slice(part.value.end + trailing[0].length)
  const comma = plain.indexOf(',', previous.value.end)
  return text.slice(0, comma) + text.slice(comma + 1, Math.max(comma + 1, from)) + text.slice(part.value.end)
}
