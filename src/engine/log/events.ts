import { canonical } from '../../model/canonical.ts'
import type { Json } from '../../model/field.ts'
import type { Cell, Cells, Saw, Stamp, StampRef, StateValue } from './cells.ts'
import { cellKey, compareStamps, isPrefix, listPart, pathPart, STATE, setPart } from './cells.ts'

/** What happened to one field of one entity (K11): it writes at most one cell, and removes those named in `over`. */
export interface Event extends Omit<Cell, 'part'> {
  readonly entity: string
  /** set: register · clear: register without a value · add, remove: item of a set or list · put, drop: path of a map. */
  readonly op: 'set' | 'clear' | 'add' | 'remove' | 'put' | 'drop'
  readonly list?: boolean
  /** Stamps of the cells it overwrote; those of another field are not touched. */
  readonly over: readonly StampRef[]
  /** Its content was erased by a purge, or it erases. */
  readonly purged?: boolean
  /** Somebody took its content out, of a line of this replica: it counts once a mark says that it was erased. */
  readonly erased?: string
}

export function cellOf(e: Event): Cell | undefined {
  if (e.purged) return undefined
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
const goneKey = (field: string, ref: string) => `${field}\0${ref}`

export function overwritten(cells: Cells, e: Event): string[] {
  if (e.over.length === 0) return []
  const gone = new Set(e.over.map(([replica, ctr]) => refKey(replica, ctr)))
  const keys: string[] = []
  for (const [key, cell] of cells) if (cell.field === e.field && gone.has(refOf(cell.stamp))) keys.push(key)
  return keys
}

/** An event with some writes of a replica under another name: its own write, and those that it refers to. */
export function renamed(e: Event, from: string, to: string, counters: readonly (readonly [number, number])[]): Event {
  const of = (replica: string, ctr: number) =>
    replica === from && counters.some(([first, last]) => first <= ctr && ctr <= last) ? to : replica
  const { replica, ctr } = e.stamp
  const saw = e.field === STATE ? (e.value as (StateValue & { saw?: Saw }) | undefined)?.saw : undefined
  const seen = saw?.[from]?.map((x): [number, number] => (typeof x === 'number' ? [x, x] : x))
  const [kept, moved] = [[] as [number, number][], [] as [number, number][]]
  for (const [a, b] of seen ?? []) {
    let next = a
    for (const [first, last] of counters) {
      if (last < next || first > b) continue
      if (first > next) kept.push([next, first - 1])
      moved.push([Math.max(first, next), Math.min(last, b)])
      next = Math.min(last, b) + 1
    }
    if (next <= b) kept.push([next, b])
  }
  const value =
    moved.length === 0 ? e.value : ({ ...(e.value as object), saw: { ...saw, [from]: kept, [to]: moved } } as Json)
  return {
    ...e,
    ...(value === undefined ? {} : { value }),
    stamp: { ...e.stamp, replica: of(replica, ctr) },
    over: e.over.map(([r, c]) => [of(r, c), c] as const),
  }
}

/** Applies an event that is newer than all that the cells are made of: nothing has named its stamp yet. */
export function applyToCells(cells: Cells, e: Event): void {
  for (const key of overwritten(cells, e)) cells.delete(key)
  const cell = cellOf(e)
  if (cell) cells.set(cellKey(cell), cell)
}

/** The events that still leave a cell, or that name a write which has not come; the latter without their content. */
export function surviving(events: readonly Event[]): Map<Event, Event> {
  const there = new Set(events.map((e) => refOf(e.stamp)))
  const gone = new Set(events.flatMap((e) => e.over.map(([replica, ctr]) => goneKey(e.field, refKey(replica, ctr)))))
  return new Map(
    events.flatMap((e): [Event, Event][] => {
      const over = e.over.filter(([replica, ctr]) => !there.has(refKey(replica, ctr)))
      if (cellOf(e) && !gone.has(goneKey(e.field, refOf(e.stamp)))) return [[e, { ...e, over }]]
      const { entity, field, op, stamp } = e
      return over.length === 0 ? [] : [[e, { entity, field, op, stamp, over, purged: true }]]
    }),
  )
}

export function overwritesOthers(events: readonly Event[]): boolean {
  if (events.every((e) => e.over.length === 0)) return false
  const there = new Set(events.map((e) => refOf(e.stamp)))
  return events.some((e) => e.over.some(([replica, ctr]) => !there.has(refKey(replica, ctr))))
}

export function valueBefore(e: Event, events: readonly Event[]): Json | undefined {
  if (e.over.length === 0) return undefined
  const gone = new Set(e.over.map(([replica, ctr]) => refKey(replica, ctr)))
  let before: Event | undefined
  for (const o of events) {
    if (o.field !== e.field || !gone.has(refOf(o.stamp)) || !samePath(o.path, e.path)) continue
    if (!before || compareStamps(before.stamp, o.stamp) < 0) before = o
  }
  return before?.value
}

const samePath = (a: readonly string[] | undefined, b: readonly string[] | undefined): boolean =>
  a === b || (a?.length === b?.length && a?.every((key, i) => key === b![i]) === true)

/** Whether the event, where it knew of a cell, took its place. */
function takesPlaceOf(e: Event, cell: Cell): boolean {
  if (e.field !== cell.field) return false
  switch (e.op) {
    case 'set':
    case 'clear':
      return true
    case 'add':
    case 'remove':
      // without a value it takes away all of the field
      if (e.op === 'remove' && e.value === undefined && !e.purged && e.erased === undefined) return true
      return cell.part === setPart(e.value ?? null) || cell.part === listPart(e.value ?? null)
    case 'put':
    case 'drop':
      return !!cell.path && (isPrefix(e.path ?? [], cell.path) || (e.op === 'put' && isPrefix(cell.path, e.path ?? [])))
  }
}

/** The cells that events leave, in any order (K10'). `others` leave none, but whoever overwrote one of them knew what it overwrote. */
export function cellsOf(events: readonly Event[], others: readonly Event[] = []): Cells {
  const written: Cell[] = []
  const gone = new Set<string>()
  for (const e of events) {
    const cell = cellOf(e)
    if (cell) written.push(cell)
    for (const [replica, ctr] of e.over) gone.add(goneKey(e.field, refKey(replica, ctr)))
  }
  if (others.length > 0) {
    for (const e of events) {
      const known = knownThrough(e, others)
      for (const cell of written)
        if (known.has(refOf(cell.stamp)) && takesPlaceOf(e, cell)) gone.add(goneKey(cell.field, refOf(cell.stamp)))
    }
  }
  const cells: Cells = new Map()
  for (const cell of written) {
    if (gone.size > 0 && gone.has(goneKey(cell.field, refOf(cell.stamp)))) continue
    const key = cellKey(cell)
    const there = cells.get(key)
    if (!there || said(cell) > said(there)) cells.set(key, cell)
  }
  return cells
}

/** Of two cells under one name, which no Tidemark writes, the same one counts everywhere. */
const said = ({ stamp, value, pos, path }: Cell): string =>
  canonical([stamp.ms, value ?? null, pos ?? null, [...(path ?? [])]])

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
