import * as Y from 'yjs'
import type { Json } from '../schema/field.ts'
import { type Cells, cellKey, decodeCell, encodeCell } from './cells.ts'
import { cellOf, type Event, overwritten } from './events.ts'

/** The one root type of an entity's document. */
const ROOT = 'c'

/** Replica tags are Yjs client ids in base 36: both are minted together (K12). */
export const clientOf = (replica: string) => Number.parseInt(replica, 36)
export const replicaOf = (client: number) => client.toString(36)

/** Opens an entity's document from its stored states and updates. */
export function openDoc(updates: Iterable<Uint8Array>): Y.Doc {
  // without a guid Yjs makes a random one for each document, a fifth of the time of a write; no update carries it
  const doc = new Y.Doc({ gc: true, guid: '' })
  for (const update of updates) Y.applyUpdate(doc, update)
  return doc
}

export function readCells(doc: Y.Doc): Cells {
  const cells: Cells = new Map()
  for (const [key, raw] of doc.getMap<Json[]>(ROOT).entries()) cells.set(key, decodeCell(key, raw))
  return cells
}

/**
 * Writes events into the document as `replica` and returns the update that did it. Cannot fail: all judgement was
 * made in the plan. The client id is set here, after every `applyUpdate`, because Yjs picks a new one by itself
 * when an update carries its own; the caller holds the write lock (K12).
 */
export function writeEvents(doc: Y.Doc, events: readonly Event[], replica: string): Uint8Array {
  const updates: Uint8Array[] = []
  const keep = (update: Uint8Array) => updates.push(update)
  doc.clientID = clientOf(replica)
  doc.on('update', keep)
  try {
    doc.transact(() => {
      const root = doc.getMap<Json[]>(ROOT)
      const cells = readCells(doc)
      for (const e of events) {
        const cell = cellOf(e)
        const own = cell && cellKey(cell.field, cell.part, cell.stamp.replica)
        for (const key of overwritten(cells, e)) {
          cells.delete(key)
          if (key !== own) root.delete(key)
        }
        if (!cell || own === undefined) continue
        cells.set(own, cell)
        root.set(own, encodeCell(cell))
      }
    })
  } finally {
    doc.off('update', keep)
  }
  return updates[0] ?? new Uint8Array([0, 0])
}

export const applyUpdate = (doc: Y.Doc, update: Uint8Array) => Y.applyUpdate(doc, update)
export const encodeDoc = (doc: Y.Doc): Uint8Array => Y.encodeStateAsUpdate(doc)
/** True while an update is missing: the entity would read as empty, or in part (K10). */
export const isPending = (doc: Y.Doc): boolean => doc.store.pendingStructs !== null || doc.store.pendingDs !== null
