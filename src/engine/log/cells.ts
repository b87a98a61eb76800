/**
 * log: how knowledge is written down so that replicas merge it. The cells of an entity, the events that write them, the
 * hybrid clock, and `fold.ts`, which says what the cells mean. Pure: no database.
 */

import { keptUpTo } from '../../base/lookup.ts'
import { canonical } from '../../model/canonical.ts'
import { sha256 } from '../../model/digest.ts'
import type { Json } from '../../model/field.ts'

/** The name of one write: its replica and that replica's counter (K13). `ms` orders concurrent writes (K3). */
export type Stamp = Readonly<{ ms: number; ctr: number; replica: string }>

export type StampRef = readonly [replica: string, ctr: number]

export function compareStamps(a: Stamp, b: Stamp): number {
  if (a.ms !== b.ms) return a.ms - b.ms
  if (a.ctr !== b.ctr) return a.ctr - b.ctr
  return a.replica < b.replica ? -1 : a.replica > b.replica ? 1 : 0
}

/** What one write left, until a later event names its stamp (K10'). `part`: `''` register, `s…` set, `l…` list, `p…` path of a map. */
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

/** Oldest first; whatever was written, never in the order of arrival. */
export const compareCells = (a: Cell, b: Cell): number =>
  compareStamps(a.stamp, b.stamp) || (a.part < b.part ? -1 : a.part > b.part ? 1 : 0)

/** The field that holds whether the entity exists (K6). */
export const STATE = '$'

/** Value of the `$` register. `at` is when the entity came to be; `seen` is what a delete had seen, by replica. */
export type StateValue =
  | { s: 'created' | 'restored'; at: number }
  | { s: 'deleted'; at: number; saw?: Saw; seen?: Seen; reason?: string; purged?: true }

/** The reason of a delete by which a record was taken back. */
export const UNDONE = 'undone'

/** The stamps of the cells that a delete removes, by replica: counters, and ranges of them that follow each other. */
export type Saw = { [replica: string]: (number | [from: number, to: number])[] }
/** What a delete of 0.1.0 had seen: of each replica everything up to a counter. */
export type Seen = { [replica: string]: number }

/** These stamps, as a delete lists them. */
export function sawOf(stamps: Iterable<Pick<Stamp, 'replica' | 'ctr'>>): Saw {
  const counters = Map.groupBy(stamps, (s) => s.replica)
  const saw: Saw = {}
  for (const [replica, all] of [...counters].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const runs: [number, number][] = []
    for (const ctr of [...new Set(all.map((s) => s.ctr))].sort((a, b) => a - b)) {
      const last = runs.at(-1)
      if (last?.[1] === ctr - 1) last[1] = ctr
      else runs.push([ctr, ctr])
    }
    saw[replica] = runs.map(([from, to]) => (from === to ? from : [from, to]))
  }
  return saw
}

export function hasSeen({ saw, seen }: { saw?: Saw; seen?: Seen }, { replica, ctr }: Stamp): boolean {
  if (seen && (seen[replica] ?? -1) >= ctr) return true
  return (saw?.[replica] ?? []).some((x) => (typeof x === 'number' ? x === ctr : x[0] <= ctr && ctr <= x[1]))
}

/** One write asks for the part of the same item several times. */
const known = new Map<string, string>()
const digest = (text: string): string =>
  keptUpTo(500, known, text, () => Buffer.from(sha256(text), 'hex').toString('base64url').slice(0, 16))

/** Texts of items never stand in keys: a purge could not reach them there (K15). */
export const setPart = (item: Json) => `s${digest(canonical(item))}`
export const listPart = (item: Json) => `l${digest(canonical(item))}`
export const pathPart = (path: readonly string[]) => `p${digest(JSON.stringify(path))}`

/** The name of a cell. Two cells of one name are written by no Tidemark; `cellsOf` keeps the same one everywhere. */
export const cellKey = ({ field, part, stamp }: Cell) => `${field}\0${part}\0${stamp.replica}\0${stamp.ctr}`

export type Cells = Map<string, Cell>

export const isPrefix = (a: readonly string[], b: readonly string[]) =>
  a.length <= b.length && a.every((key, i) => key === b[i])

export const seen = (cells: Cells, field: string, part?: string): Cell[] =>
  [...cells.values()].filter((cell) => cell.field === field && (part === undefined || cell.part === part))

/** The cells of a map that a write at `path` takes the place of: the path itself, what is under it, and leaves above it. */
export const seenAt = (cells: Cells, field: string, path: readonly string[], above: boolean): Cell[] =>
  seen(cells, field).filter((c) => c.path && (isPrefix(path, c.path) || (above && isPrefix(c.path, path))))
