/**
 * The state of an entity as 0.1.0 kept it: one Yjs document with a flat map of cells, which lines were applied to in the order of
 * their replica. Kept as an oracle: on honest lines without gaps it says what the events say.
 */

import * as Y from 'yjs'
import type { Cell } from '../../src/engine/log/cells.ts'
import { cellOf, type Event } from '../../src/engine/log/events.ts'
import type { Json } from '../../src/model/field.ts'

const ROOT = 'c'
const keyOf = ({ field, part, stamp }: Cell) => [field, part, stamp.replica].join('\0')

/** The cells of a document: `[ms, ctr, value?]`, lists `[ms, ctr, item, pos]`, maps `[ms, ctr, value, path]`. */
export function oldCells(doc: Y.Doc): Cell[] {
  return [...doc.getMap<Json[]>(ROOT)].map(([key, raw]) => {
    const [field = '', part = '', replica = ''] = key.split('\0')
    const [ms, ctr, value, extra] = raw
    return {
      field,
      part,
      stamp: { ms: ms as number, ctr: ctr as number, replica },
      ...(value !== undefined ? { value } : {}),
      ...(part.startsWith('l') ? { pos: extra as number } : {}),
      ...(part.startsWith('p') ? { path: extra as string[] } : {}),
    }
  })
}

/** Writes events into a document as 0.1.0 did, and returns the update. */
export function writeOld(doc: Y.Doc, events: readonly Event[], replica: string): Uint8Array {
  const updates: Uint8Array[] = []
  const keep = (update: Uint8Array) => updates.push(update)
  doc.clientID = Number.parseInt(replica.slice(0, 7), 36) % 2 ** 32
  doc.on('update', keep)
  doc.transact(() => {
    const root = doc.getMap<Json[]>(ROOT)
    for (const e of events) {
      const gone = new Set(e.over.map(([r, c]) => `${r}:${c}`))
      const cell = cellOf(e)
      const own = cell && keyOf(cell)
      for (const c of oldCells(doc))
        if (c.field === e.field && gone.has(`${c.stamp.replica}:${c.stamp.ctr}`) && keyOf(c) !== own)
          root.delete(keyOf(c))
      if (!cell || own === undefined) continue
      const { ms, ctr } = cell.stamp
      const value: Json[] = [ms, ctr]
      if (cell.value !== undefined) value.push(cell.value)
      if (cell.pos !== undefined) value.push(cell.pos)
      if (cell.path !== undefined) value.push([...cell.path])
      root.set(own, value)
    }
  })
  doc.off('update', keep)
  return updates[0] ?? new Uint8Array([0, 0])
}

export const oldDoc = (updates: Iterable<Uint8Array> = []): Y.Doc => {
  const doc = new Y.Doc({ gc: true, guid: '' })
  for (const update of updates) Y.applyUpdate(doc, update)
  return doc
}
