import { keptIn } from '../../base/lookup.ts'
import { canonical } from '../../model/canonical.ts'
import type { Conflict } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { type Cell, type Cells, compareCells, compareStamps, hasSeen, STATE, type StateValue } from './cells.ts'

/** An entity as its cells say it is. The same cells give the same bytes on every replica, in whatever order they came. */
export interface Folded {
  live: boolean
  /** When it came to be, ms. */
  created: number
  /** Sorted by field name; defaults are not in here. */
  fields: { [field: string]: Json }
  conflicts: Conflict[]
}

const newestFirst = (a: Cell, b: Cell) => compareCells(b, a)

function register(cells: Cell[]): { value?: Json; conflict?: Conflict } {
  const sorted = [...cells].sort(newestFirst)
  const values = sorted.map((c) => ({
    ...(c.value !== undefined ? { value: c.value } : {}),
    at: c.stamp.ms,
    replica: c.stamp.replica,
  }))
  const different = new Set(values.map((v) => (v.value === undefined ? '' : canonical(v.value)))).size > 1
  return {
    ...(sorted[0]?.value !== undefined ? { value: sorted[0].value } : {}),
    ...(different ? { conflict: { field: cells[0]!.field, values } } : {}),
  }
}

/** Items of a set in canonical order, of a list in the order of their first surviving place; equal ones folded. */
function items(cells: Cell[], list: boolean): Json[] {
  const sorted = list ? [...cells].sort((a, b) => (a.pos ?? 0) - (b.pos ?? 0) || compareCells(a, b)) : cells
  const found = new Map<string, Json>()
  for (const c of sorted) if (c.value !== undefined && !found.has(c.part)) found.set(c.part, c.value)
  return list ? [...found.values()] : [...found.values()].sort((a, b) => (canonical(a) < canonical(b) ? -1 : 1))
}

/** The paths that count, as a tree: `end` where one ends. */
type Taken = { end?: true; below?: Map<string, Taken> }

/** Takes a path in, unless one that is in is the same, above or below it. */
function takeIn(root: Taken, path: readonly string[]): boolean {
  let node: Taken | undefined = root
  for (const key of path) {
    node = node.below?.get(key)
    if (!node) break
    if (node.end) return false
  }
  if (node) return false
  node = root
  for (const key of path) {
    node.below ??= new Map()
    node = keptIn(node.below, key, () => ({}))
  }
  node.end = true
  return true
}

/** A map from its leaves, newest first: a leaf that clashes with a newer one above or below it is hidden (K5). */
function tree(cells: Cell[]): { [key: string]: Json } {
  const taken: Taken = {}
  // without a prototype: `constructor` and `toString` are keys like others, and lead nowhere
  const root = Object.create(null) as { [key: string]: Json }
  for (const c of [...cells].sort(newestFirst)) {
    const path = c.path ?? []
    if (path.length === 0 || !takeIn(taken, path)) continue
    let node = root
    for (const key of path.slice(0, -1)) node = (node[key] ??= Object.create(null)) as { [key: string]: Json }
    node[path.at(-1)!] = c.value ?? null
  }
  return sortKeys(root) as { [key: string]: Json }
}

function sortKeys(value: Json): Json {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((k) => [k, sortKeys(value[k]!)]),
  )
}

/** Whether the entity exists (K6). A creation that had not seen the delete brings it back; an edit does not. */
function state(cells: Cells): Pick<Folded, 'live' | 'created'> & { visible(cell: Cell): boolean; conflict?: Conflict } {
  const all = [...cells.values()]
  const own = all.filter((c) => c.field === STATE).sort(newestFirst)
  const value = (c: Cell) => c.value as unknown as StateValue
  // of what was taken away before it came nothing is left: no moment either
  const times = own.length > 0 ? own.map((c) => value(c).at) : all.map((c) => c.stamp.ms)
  const created = times.length > 0 ? Math.min(...times) : 0
  const deletes = own.filter((c) => value(c).s === 'deleted')
  if (deletes.length === 0) return { live: all.length > 0, created, visible: () => true }

  const unseen = (cell: Cell) =>
    !deletes.some((d) => {
      const v = value(d)
      return v.s === 'deleted' && hasSeen(v, cell.stamp)
    })
  const conflictOf = (): Conflict => ({
    field: STATE,
    values: own.map((c) => ({ value: value(c).s, at: c.stamp.ms, replica: c.stamp.replica })),
  })
  const restored = own.find((c) => value(c).s === 'restored')
  if (restored && compareStamps(restored.stamp, deletes[0]!.stamp) > 0)
    return { live: true, created, visible: () => true, conflict: conflictOf() }
  if (own.some((c) => value(c).s === 'created')) return { live: true, created, visible: unseen, conflict: conflictOf() }
  const edited = all.some((c) => c.field !== STATE && unseen(c))
  return {
    live: false,
    created,
    visible: () => true, // what a restore would bring back, and what history shows
    ...(edited || restored ? { conflict: conflictOf() } : {}),
  }
}

/** Which cells count: what a delete had seen stays hidden where a creation beside it brought the entity back. */
export const visibility = (cells: Cells): ((cell: Cell) => boolean) => state(cells).visible

export function fold(cells: Cells): Folded {
  const { live, created, visible, conflict } = state(cells)
  const counted = cells.values().filter((cell) => cell.field !== STATE && visible(cell))
  const conflicts: Conflict[] = conflict ? [conflict] : []
  const fields: { [field: string]: Json } = {}
  for (const [field, all] of [...Map.groupBy(counted, (cell) => cell.field)].sort(([a], [b]) => (a < b ? -1 : 1))) {
    // of a field that a project declared with two types at once, the form written last counts
    const form = all.reduce((a, b) => (compareCells(a, b) > 0 ? a : b)).part[0]
    const group = all.filter((c) => c.part[0] === form)
    if (form === 's' || form === 'l')
      fields[field] = field === 'provenance' ? provenance(group) : items(group, form === 'l')
    else if (form === 'p') {
      const value = tree(group)
      if (Object.keys(value).length > 0) fields[field] = value
    } else {
      const { value, conflict: c } = register(group)
      if (value !== undefined) fields[field] = value
      if (c) conflicts.push(c)
    }
  }
  return { live, created, fields, conflicts }
}

/** Who recorded it, in the order in which they did, each with the moment. */
function provenance(cells: Cell[]): Json[] {
  const first = new Map<string, Cell>()
  for (const c of [...cells].sort(compareCells)) if (!first.has(c.part)) first.set(c.part, c)
  return [...first.values()].map((c) => ({
    at: new Date(c.stamp.ms).toISOString(),
    ...(c.value as { [key: string]: Json }),
  }))
}
