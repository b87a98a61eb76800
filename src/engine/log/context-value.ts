import { canonical } from '../../model/canonical.ts'
import { sha256 } from '../../model/digest.ts'
import { kindOf } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { isObject, type JsonObject } from '../../model/object.ts'
import type { Cells } from './cells.ts'
import type { Event } from './events.ts'
import { type Folded, fold } from './fold.ts'

/** JSON as paths of a map field, so that concurrent edits merge. Marks: `=` the root, `{}` a map, `[] ""` a list, `[] hash~nth` an item. */
export const SHARED_KIND = 'context'
export const SHARED_FIELD = 'value'

const ROOT = '='
const LIST = '[]'
const MAP = '{}'
const MARK = ''

/** Paths to write and paths to take away, as `Planning.apply` takes them. */
export type Edit = { put: [path: string[], value: Json][]; drop: string[][] }

export const ROOT_PATH: readonly string[] = [ROOT]

/** A key of the caller's that reads like a mark is told from it by a backslash. */
const escaped = (key: string) => (/^\\*(\[\]|\{\})$/.test(key) ? `\\${key}` : key)
const unescaped = (key: string) => (/^\\+(\[\]|\{\})$/.test(key) ? key.slice(1) : key)
const digest = (item: Json) => sha256(canonical(item)).slice(0, 16)

/** Where a key of the value lies among the paths. */
export const pathOf = (keys: readonly string[]): string[] => [ROOT, ...keys.map(escaped)]

function encode(value: Json, path: readonly string[], at: number): Edit['put'] {
  if (Array.isArray(value)) {
    const times = new Map<string, number>()
    const items = value.map((item, place): [string[], Json] => {
      const hash = digest(item)
      const n = times.get(hash) ?? 0
      times.set(hash, n + 1)
      return [
        [...path, LIST, `${hash}~${n}`],
        [place, item],
      ]
    })
    return [[[...path, LIST, MARK], at], ...items]
  }
  if (isObject(value))
    return [
      [[...path, MAP], at],
      ...Object.entries(value).flatMap(([key, v]) => encode(v, [...path, escaped(key)], at)),
    ]
  return [[[...path], value]]
}

const itemsOf = (node: JsonObject): { key: string; place: number; item: Json }[] =>
  Object.entries(isObject(node[LIST]) ? node[LIST] : {})
    .flatMap(([key, v]) => (key !== MARK && Array.isArray(v) ? [{ key, place: Number(v[0]), item: v[1] ?? null }] : []))
    .sort((a, b) => a.place - b.place || (a.key < b.key ? -1 : 1))

function shapeOf(node: Json | undefined): 'map' | 'list' | 'leaf' | undefined {
  if (node === undefined) return undefined
  if (!isObject(node)) return 'leaf'
  const list = isObject(node[LIST]) ? node[LIST] : undefined
  if (!list) return 'map'
  if (!Object.keys(node).some((key) => key !== LIST)) return 'list'
  const mark = (v: Json | undefined) => (typeof v === 'number' ? v : -1)
  return mark(node[MAP]) > mark(list[MARK]) ? 'map' : 'list'
}

function decodeNode(node: Json): Json {
  if (!isObject(node)) return node
  if (shapeOf(node) === 'list') return itemsOf(node).map((x) => x.item)
  return Object.fromEntries(
    Object.keys(node)
      .filter((key) => key !== LIST && key !== MAP)
      .map((key) => [unescaped(key), decodeNode(node[key]!)]),
  )
}

/** The value that a folded field says. What was written by `record-context`, without marks, is a map as it stands. */
export function decode(field: Json): Json {
  if (!isObject(field) || !Object.hasOwn(field, ROOT)) return field
  const { [ROOT]: root, ...plain } = field
  const value = decodeNode(root!)
  return isObject(value) && Object.keys(plain).length > 0 ? { ...plain, ...value } : value
}

/** An entity as its cells say it is, a shared value as it was given. */
export function foldOf(id: string, cells: Cells): Folded {
  const folded = fold(cells)
  const value = folded.fields[SHARED_FIELD]
  if (value === undefined || kindOf(id) !== SHARED_KIND) return folded
  return { ...folded, fields: { ...folded.fields, [SHARED_FIELD]: decode(value) } }
}

/** What stands at a path of the folded field, undecoded. */
function nodeAt(field: Json | undefined, path: readonly string[]): Json | undefined {
  let node = field
  for (const key of path) node = isObject(node) && Object.hasOwn(node, key) ? node[key] : undefined
  return node
}

export function valueAt(field: Json | undefined, path: readonly string[]): Json | undefined {
  const node = nodeAt(field, path)
  return node === undefined ? undefined : decodeNode(node)
}

/** Whether share verbs can edit the field in place: anything that `record-context` wrote is taken over first. */
export const isEncoded = (field: Json | undefined): boolean =>
  field === undefined || (isObject(field) && Object.keys(field).every((key) => key === ROOT))

const isMarkPath = (path: readonly string[]): boolean =>
  path.at(-1) === MAP || (path.at(-1) === MARK && path.at(-2) === LIST)
const isRootMark = (path: readonly string[]): boolean =>
  (path.length === 2 && path[1] === MAP) || (path.length === 3 && path[1] === LIST && path[2] === MARK)

export const isOfWhole = ({ op, path = [] }: Event): boolean => op === 'drop' || path.length === 1 || isRootMark(path)

/** Makes the value exactly this; `there` are the paths of every cell of the field, hidden ones too. */
export function setEdit(field: Json | undefined, there: Iterable<readonly string[]>, value: Json, at: number): Edit {
  const put = encode(value, ROOT_PATH, at).map(([path, v]): [string[], Json] => {
    const before = isMarkPath(path) ? nodeAt(field, path) : undefined
    return [path, typeof before === 'number' ? before : v]
  })
  const text = (path: readonly string[]) => JSON.stringify(path)
  const whole = new Set(put.map(([path]) => text(path)))
  const above = new Set(put.flatMap(([path]) => path.map((_key, i) => text(path.slice(0, i)))))
  const drop: string[][] = []
  for (const path of there) {
    if (whole.has(text(path)) || above.has(text(path))) continue // a put takes the place of what is there and above
    if (path.some((_key, i) => whole.has(text(path.slice(0, i))))) continue // … and of what is below
    drop.push([...path])
  }
  const isOther = drop.length > 0 || put.some(([path, v]) => canonical(nodeAt(field, path) ?? null) !== canonical(v))
  // the mark of the whole value is made anew: by it a value that was set is told from one that something was merged into
  return { put: isOther ? put.map(([path, v]) => [path, isRootMark(path) ? at : v]) : put, drop }
}

/** Adds items to the list at a path; those that are there already, and null for what is no list, add nothing. */
export function appendEdit(
  field: Json | undefined,
  path: readonly string[],
  items: readonly Json[],
  at: number,
): Edit | null {
  const node = nodeAt(field, path)
  if (node === undefined) return { put: encode(unique(items), path, at), drop: [] }
  if (shapeOf(node) !== 'list') return null
  const there = itemsOf(node as JsonObject)
  const known = new Set(there.map((x) => x.key.split('~')[0]))
  let place = Math.max(-1, ...there.map((x) => x.place))
  const put: Edit['put'] = []
  if (nodeAt(node, [LIST, MARK]) === undefined) put.push([[...path, LIST, MARK], at])
  for (const item of items) {
    const hash = digest(item)
    if (known.has(hash)) continue
    known.add(hash)
    put.push([
      [...path, LIST, `${hash}~0`],
      [++place, item],
    ])
  }
  return { put, drop: [] }
}

const unique = (items: readonly Json[]): Json[] => [...new Map(items.map((item) => [canonical(item), item])).values()]

/** Merges a value into what stands at a path: maps key by key, lists as unions, anything else takes its place. */
export function mergeEdit(field: Json | undefined, path: readonly string[], value: Json, at: number): Edit {
  const node = nodeAt(field, path)
  const shape = shapeOf(node)
  if (isObject(value) && shape === 'map') {
    const out: Edit = { put: [], drop: [] }
    if (nodeAt(node, [MAP]) === undefined) out.put.push([[...path, MAP], at])
    for (const [key, v] of Object.entries(value)) {
      const below = mergeEdit(field, [...path, escaped(key)], v, at)
      out.put.push(...below.put)
      out.drop.push(...below.drop)
    }
    return out
  }
  if (Array.isArray(value) && shape === 'list') return appendEdit(field, path, value, at)!
  const leaves = shape === undefined || (shape === 'leaf' && (value === null || typeof value !== 'object'))
  return { put: encode(value, path, at), drop: leaves ? [] : [[...path]] }
}

export function removeItemEdit(field: Json | undefined, path: readonly string[], item: Json): Edit | null {
  const node = nodeAt(field, path)
  if (shapeOf(node) !== 'list') return null
  const hash = digest(item)
  const drop = itemsOf(node as JsonObject)
    .filter((x) => x.key.split('~')[0] === hash)
    .map((x) => [...path, LIST, x.key])
  return drop.length > 0 ? { put: [], drop } : null
}

export const weightOf = (value: Json): number => encode(value, [], 0).length

export function standsAt(field: Json | undefined, path: readonly string[], written: Json): boolean {
  const node = nodeAt(field, path)
  return node !== undefined && (isMarkPath(path) || canonical(node) === canonical(written))
}

/** Greatest place in a list of a folded field that grows by `extend`. */
const lastPlaces = new WeakMap<JsonObject, number>()

/** Applies events that only append to lists, and returns what they add. Otherwise returns nothing and changes nothing. */
export function extend(field: Json | undefined, events: readonly Event[]): Json | undefined {
  const ends = new Map<JsonObject, number>()
  const puts: { list: JsonObject; path: readonly string[]; item: [place: number, item: Json] }[] = []
  for (const { op, path = [], value, over } of events) {
    const key = path.at(-1)
    if (op !== 'put' || over.length > 0 || path.at(-2) !== LIST || key === MARK || !Array.isArray(value))
      return undefined
    const node = nodeAt(field, path.slice(0, -2))
    if (shapeOf(node) !== 'list') return undefined
    const list = (node as JsonObject)[LIST] as JsonObject
    const last =
      ends.get(list) ?? lastPlaces.get(list) ?? Math.max(-1, ...itemsOf(node as JsonObject).map((x) => x.place))
    const place = Number(value[0])
    if (!(place > last) || Object.hasOwn(list, key!)) return undefined
    ends.set(list, place)
    puts.push({ list, path, item: [place, value[1] ?? null] })
  }
  const added: JsonObject = Object.create(null) as JsonObject
  for (const { list, path, item } of puts) {
    list[path.at(-1)!] = item
    let node = added
    for (const key of path.slice(0, -1)) node = (node[key] ??= Object.create(null)) as JsonObject
    node[path.at(-1)!] = item
  }
  for (const [list, place] of ends) lastPlaces.set(list, place)
  return puts.length > 0 ? decodeNode(added[ROOT]!) : undefined
}

/** A value with what an event adds to its lists. */
export function withAdded(before: Json | undefined, added: Json): Json {
  if (Array.isArray(before) && Array.isArray(added)) return [...before, ...added]
  if (!isObject(before) || !isObject(added)) return added
  return { ...before, ...Object.fromEntries(Object.entries(added).map(([k, v]) => [k, withAdded(before[k], v)])) }
}

export const isMark = ({ entity, path }: Event): boolean =>
  kindOf(entity) === SHARED_KIND && path?.[0] === ROOT && path.length > 1 && isMarkPath(path)

/** What an event of a shared value says, as its author put it: the keys to it, and the item without its place. */
export function saidIn({ entity, path, value }: Event): { path?: string[]; value?: Json } {
  if (kindOf(entity) !== SHARED_KIND || path?.[0] !== ROOT) return {}
  const isItem = path.at(-2) === LIST
  const keys = path.slice(1, isItem ? -2 : undefined).map(unescaped)
  return { path: keys, ...(isItem && Array.isArray(value) ? { value: value[1] ?? null } : {}) }
}
