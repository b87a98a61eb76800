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

/**
 * The update with the content of some writes taken out, wherever they stand in it: what is left integrates as deleted,
 * under the same clocks and keys, so that later updates find their place. Depends on nothing but the update: every
 * holder gets the same bytes, in whatever order lines and purges arrive (K15).
 */
export function strip(update: Uint8Array, erased: (replica: string, ctr: number) => boolean): Uint8Array {
  const { structs, ds } = Y.decodeUpdate(update)
  const encoder = new Y.UpdateEncoderV1()
  const byClient = Map.groupBy(structs, (s) => s.id.client)
  encoder.writeLen(byClient.size)
  for (const [client, own] of byClient) {
    encoder.writeLen(own.length)
    encoder.writeClient(client)
    encoder.writeLen(own[0]!.id.clock)
    for (const s of own) {
      if (s instanceof Y.Item && s.content instanceof Y.ContentAny) {
        const [, ctr] = s.content.arr[0] as Json[]
        if (erased(replicaOf(client), ctr as number)) s.content = new Y.ContentDeleted(s.length)
      }
      s.write(encoder, 0)
    }
  }
  encoder.writeLen(ds.clients.size)
  for (const [client, ranges] of [...ds.clients].sort((a, b) => b[0] - a[0])) {
    encoder.resetDsCurVal()
    encoder.writeLen(client)
    encoder.writeLen(ranges.length)
    for (const r of ranges) {
      encoder.writeDsClock(r.clock)
      encoder.writeDsLen(r.len)
    }
  }
  return encoder.toUint8Array()
}
