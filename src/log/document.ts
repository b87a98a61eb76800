/**
 * log: how knowledge is written down so that replicas merge it. One Yjs document per entity; its cells, the events that
 * change them, the hybrid clock, and `fold.ts`, which says what the cells mean. Pure: no database.
 */

import * as Y from 'yjs'
import { UserError } from '../errors.ts'
import type { Json } from '../model/field.ts'
import { type Cells, cellKey, DOCUMENT_ROOT, decodeCell, encodeCell } from './cells.ts'
import { cellOf, type Event, overwritten } from './events.ts'

/** Replica tags are Yjs client ids in base 36: both are minted together (K12). */
export const clientOf = (replica: string) => Number.parseInt(replica, 36)
export const replicaOf = (client: number) => client.toString(36)

/** Opens an entity's document from its stored states and updates. */
export function openDoc(updates: Iterable<Uint8Array>): Y.Doc {
  // without a guid Yjs makes a random one for each document, a fifth of the time of a write; no update carries it
  const doc = new Y.Doc({ gc: true, guid: '' })
  return read(() => {
    for (const update of updates) Y.applyUpdate(doc, update)
    return doc
  })
}

/** Yjs says in many ways that bytes are no document. */
function read<T>(body: () => T): T {
  try {
    return body()
  } catch (error) {
    throw new UserError(
      'store-damaged',
      `the store is damaged: a document cannot be read (${(error as Error).message})`,
      '`tidemark doctor` says how it is made again; nothing was changed',
    )
  }
}

export function readCells(doc: Y.Doc): Cells {
  return read(() => {
    const cells: Cells = new Map()
    for (const [key, raw] of doc.getMap<Json[]>(DOCUMENT_ROOT).entries()) cells.set(key, decodeCell(key, raw))
    return cells
  })
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
      const root = doc.getMap<Json[]>(DOCUMENT_ROOT)
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

/**
 * The update with the content of some writes taken out, wherever they stand in it: what is left integrates as deleted,
 * under the same clocks and keys, so that later updates find their place. Depends on nothing but the update: every
 * holder gets the same bytes, in whatever order lines and purges arrive (K15).
 */
export function strip(update: Uint8Array, erased: (replica: string, ctr: number) => boolean): Uint8Array {
  const { structs, ds } = Y.decodeUpdate(update)
  for (const s of structs) {
    if (!(s instanceof Y.Item) || !(s.content instanceof Y.ContentAny)) continue
    const [, ctr] = (s.content as Y.ContentAny).arr[0] as Json[]
    if (erased(replicaOf(s.id.client), ctr as number)) s.content = new Y.ContentDeleted(s.length)
  }
  return encode(structs, ds.clients)
}

type Decoded = ReturnType<typeof Y.decodeUpdate>

/** Writes an update as Yjs does; the order of clients and ranges is given by their numbers. */
function encode(structs: Decoded['structs'], deletes: Decoded['ds']['clients']): Uint8Array {
  const encoder = new Y.UpdateEncoderV1()
  const byClient = Map.groupBy(structs, (s) => s.id.client)
  encoder.writeLen(byClient.size)
  for (const [client, own] of [...byClient].sort((a, b) => b[0] - a[0])) {
    encoder.writeLen(own.length)
    encoder.writeClient(client)
    encoder.writeLen(own[0]!.id.clock)
    for (const s of own) s.write(encoder, 0)
  }
  encoder.writeLen(deletes.size)
  for (const [client, ranges] of [...deletes].sort((a, b) => b[0] - a[0])) {
    encoder.resetDsCurVal()
    encoder.writeLen(client)
    encoder.writeLen(ranges.length)
    for (const r of [...ranges].sort((a, b) => a.clock - b.clock)) {
      encoder.writeDsClock(r.clock)
      encoder.writeDsLen(r.len)
    }
  }
  return encoder.toUint8Array()
}

/** How far a replica's own count of operations has come in the updates it made to one document. */
export function clockAfter(updates: Iterable<Uint8Array>, replica: string): number {
  let clock = 0
  for (const update of updates)
    for (const s of Y.decodeUpdate(update).structs)
      if (replicaOf(s.id.client) === replica) clock = Math.max(clock, s.id.clock + s.length)
  return clock
}

/**
 * What a replica wrote, as the update of another: the same events under the other identity, upon that one's own
 * updates, and the deletions of what was there before. Whoever does it with the same lines gets the same bytes (K12).
 */
export function rewriteUpdate(
  update: Uint8Array,
  events: readonly Event[],
  from: { replica: string; clock: number },
  to: { replica: string; updates: readonly Uint8Array[] },
): Uint8Array {
  const written = Y.decodeUpdate(writeEvents(openDoc(to.updates), events, to.replica))
  const deletes: Decoded['ds']['clients'] = new Map(written.ds.clients)
  for (const [client, ranges] of Y.decodeUpdate(update).ds.clients) {
    const before = ranges.filter((r) => replicaOf(client) !== from.replica || r.clock < from.clock)
    if (before.length > 0) deletes.set(client, [...(deletes.get(client) ?? []), ...before])
  }
  return encode(written.structs, deletes)
}
