import { canonical } from '../model/canonical.ts'
import { sha256 } from '../model/digest.ts'
import type { Json } from '../model/field.ts'

/**
 * One write, named by its replica and that replica's event counter, which only grows (K13). `ms` is the hybrid
 * clock: it orders concurrent writes; who overwrote whom is said by the events themselves (K3).
 */
export interface Stamp {
  readonly ms: number
  readonly ctr: number
  readonly replica: string
}

/** What a write refers to when it overwrites another. */
export type StampRef = readonly [replica: string, ctr: number]

export function compareStamps(a: Stamp, b: Stamp): number {
  if (a.ms !== b.ms) return a.ms - b.ms
  if (a.ctr !== b.ctr) return a.ctr - b.ctr
  return a.replica < b.replica ? -1 : a.replica > b.replica ? 1 : 0
}

/**
 * A cell of an entity's document. `part` says what it is: `''` a register, `s…` an item of a set, `l…` an item of a
 * list, `p…` a path of a map. Its key in the document is `field␀part␀replica`: only that replica ever writes it (K1).
 */
export interface Cell {
  readonly field: string
  readonly part: string
  readonly stamp: Stamp
  /** Register: the value, absent when cleared (K2). Item: the item. Path: the value at it. */
  readonly value?: Json
  /** Place in a list: one more than the greatest seen. */
  readonly pos?: number
  readonly path?: readonly string[]
}

/** The field that holds whether the entity exists (K6). */
export const STATE = '$'

/** Value of the `$` register. `at` is when the entity came to be; `seen` is what a delete had seen, by replica. */
export type StateValue =
  | { s: 'created' | 'restored'; at: number }
  | { s: 'deleted'; at: number; seen: { [replica: string]: number }; reason?: string; purged?: true }

/** One write asks for the part of the same item several times. */
const known = new Map<string, string>()
const MAX_KNOWN = 500

function digest(text: string): string {
  let found = known.get(text)
  if (found === undefined) {
    if (known.size >= MAX_KNOWN) known.clear()
    known.set(text, (found = Buffer.from(sha256(text), 'hex').toString('base64url').slice(0, 16)))
  }
  return found
}

/** Texts of items never stand in keys: a purge could not reach them there (K15). */
export const setPart = (item: Json) => `s${digest(canonical(item))}`
export const listPart = (item: Json) => `l${digest(canonical(item))}`
export const pathPart = (path: readonly string[]) => `p${digest(JSON.stringify(path))}`

/** The one root type of an entity's document. */
export const DOCUMENT_ROOT = 'c'
const KEY_SEPARATOR = '\0'

export const cellKey = (field: string, part: string, replica: string) => [field, part, replica].join(KEY_SEPARATOR)

/** The cells of one entity, by key. */
export type Cells = Map<string, Cell>

/** What a cell holds in the document: `[ms, ctr, value?]`, lists `[ms, ctr, item, pos]`, maps `[ms, ctr, value, path]`. */
export function encodeCell(cell: Cell): Json[] {
  const out: Json[] = [cell.stamp.ms, cell.stamp.ctr]
  if (cell.value !== undefined) out.push(cell.value)
  if (cell.pos !== undefined) out.push(cell.pos)
  if (cell.path !== undefined) out.push([...cell.path])
  return out
}

export function decodeCell(key: string, raw: Json[]): Cell {
  const [field = '', part = '', replica = ''] = key.split(KEY_SEPARATOR)
  const [ms, ctr, value, extra] = raw
  return {
    field,
    part,
    stamp: { ms: ms as number, ctr: ctr as number, replica },
    ...(value !== undefined ? { value } : {}),
    ...(part.startsWith('l') ? { pos: extra as number } : {}),
    ...(part.startsWith('p') ? { path: extra as string[] } : {}),
  }
}

export const isPrefix = (a: readonly string[], b: readonly string[]) =>
  a.length <= b.length && a.every((key, i) => key === b[i])

/** The cells of one field, optionally of one part. */
export function seen(cells: Cells, field: string, part?: string): Cell[] {
  const out: Cell[] = []
  for (const cell of cells.values())
    if (cell.field === field && (part === undefined || cell.part === part)) out.push(cell)
  return out
}

/** The cells of a map that a write at `path` takes the place of: the path itself, what is under it, and leaves above it. */
export function seenAt(cells: Cells, field: string, path: readonly string[], above: boolean): Cell[] {
  return seen(cells, field).filter((c) => c.path && (isPrefix(path, c.path) || (above && isPrefix(c.path, path))))
}
