import type { Json } from '../model/field.ts'
import {
  type Cell,
  type Cells,
  cellKey,
  isPrefix,
  listPart,
  pathPart,
  type Stamp,
  type StampRef,
  setPart,
} from './cells.ts'

/**
 * What happened to one field of one entity, written by its author inside the log line (K11). It writes at most one
 * cell and takes away exactly the cells named in `over`; so the events alone give the entity at any moment, on
 * every replica alike.
 */
export interface Event {
  readonly entity: string
  readonly field: string
  /** set: register · clear: register without a value · add, remove: item of a set or list · put, drop: path of a map. */
  readonly op: 'set' | 'clear' | 'add' | 'remove' | 'put' | 'drop'
  readonly stamp: Stamp
  readonly value?: Json
  /** The register's value before, for the audit trail and undo. */
  readonly was?: Json
  readonly list?: boolean
  readonly pos?: number
  readonly path?: readonly string[]
  /** Stamps of the cells it overwrote. */
  readonly over: readonly StampRef[]
  /** Its content was erased by a purge. */
  readonly purged?: boolean
}

/** The cell the event writes, if it writes one. */
export function cellOf(e: Event): Cell | undefined {
  const base = { field: e.field, stamp: e.stamp }
  switch (e.op) {
    case 'set':
      return { ...base, part: '', value: e.value ?? null }
    case 'clear':
      return { ...base, part: '' }
    case 'add':
      return e.list
        ? { ...base, part: listPart(e.value ?? null), value: e.value ?? null, pos: e.pos ?? 0 }
        : { ...base, part: setPart(e.value ?? null), value: e.value ?? null }
    case 'put':
      return { ...base, part: pathPart(e.path ?? []), value: e.value ?? null, path: e.path ?? [] }
    case 'remove':
    case 'drop':
      return undefined
  }
}

const refKey = (replica: string, ctr: number) => `${replica}:${ctr}`
const refOf = ({ replica, ctr }: Stamp) => refKey(replica, ctr)

/** Keys of the cells that the event takes away, its own cell's key apart. */
export function overwritten(cells: Cells, e: Event): string[] {
  if (e.over.length === 0) return []
  const gone = new Set(e.over.map(([replica, ctr]) => refKey(replica, ctr)))
  const keys: string[] = []
  for (const [key, cell] of cells) {
    if (cell.field === e.field && gone.has(refKey(cell.stamp.replica, cell.stamp.ctr))) keys.push(key)
  }
  return keys
}

/** Applies one event to plain cells; the document is changed in the same way (`document.ts`). */
export function applyToCells(cells: Cells, e: Event): void {
  for (const key of overwritten(cells, e)) cells.delete(key)
  const cell = cellOf(e)
  if (cell) cells.set(cellKey(cell.field, cell.part, cell.stamp.replica), cell)
}

/** Whether one of these events took the place of a write that is not among them. */
export function overwritesOthers(events: readonly Event[]): boolean {
  if (events.every((e) => e.over.length === 0)) return false
  const there = new Set(events.map((e) => refOf(e.stamp)))
  return events.some((e) => e.over.some(([replica, ctr]) => !there.has(refKey(replica, ctr))))
}

/** Whether the event, where it knew of a cell, took its place. */
function takesPlaceOf(e: Event, cell: Cell): boolean {
  if (e.field !== cell.field) return false
  switch (e.op) {
    case 'set':
    case 'clear':
      return true
    case 'add':
    case 'remove':
      return cell.part === setPart(e.value ?? null) || cell.part === listPart(e.value ?? null)
    case 'put':
    case 'drop':
      return !!cell.path && (isPrefix(e.path ?? [], cell.path) || (e.op === 'put' && isPrefix(cell.path, e.path ?? [])))
  }
}

/**
 * The cells that a set of events of one entity leaves, in whatever order they arrive: written and not overwritten.
 * `others` leave nothing themselves. But who overwrote one of them knew of it, of what its author had written before,
 * and of what those had overwritten: it took the place of that too. Clocks that differ by a day make it so.
 */
export function cellsOf(events: readonly Event[], others: readonly Event[] = []): Cells {
  const written: Cell[] = []
  const gone = new Set<string>()
  for (const e of events) {
    const cell = cellOf(e)
    if (cell && !e.purged) written.push(cell)
    for (const [replica, ctr] of e.over) gone.add(refKey(replica, ctr))
  }
  if (others.length > 0) {
    for (const e of events) {
      const known = knownThrough(e, others)
      for (const cell of written) if (known.has(refOf(cell.stamp)) && takesPlaceOf(e, cell)) gone.add(refOf(cell.stamp))
    }
  }
  const cells: Cells = new Map()
  for (const cell of written) {
    if (gone.size > 0 && gone.has(refOf(cell.stamp))) continue
    cells.set(cellKey(cell.field, cell.part, cell.stamp.replica), cell)
  }
  return cells
}

/** What an event overwrote, and what its author knew of by that. */
function knownThrough(e: Event, others: readonly Event[]): Set<string> {
  const known = new Set<string>()
  const refs = [...e.over]
  for (let ref = refs.pop(); ref; ref = refs.pop()) {
    const [replica, ctr] = ref
    if (known.has(refKey(replica, ctr))) continue
    known.add(refKey(replica, ctr))
    for (const o of others) if (o.stamp.replica === replica && o.stamp.ctr <= ctr) refs.push(...o.over)
  }
  return known
}
