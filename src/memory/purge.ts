import { applyUpdate, encodeDoc } from '../crdt/doc.ts'
import type { Event } from '../crdt/events.ts'
import { sha256 } from '../schema/names.ts'
import type { Registry } from '../schema/registry.ts'
import type { Db } from '../store/db.ts'
import { eventBody, type Line, unpackEvent } from '../store/line.ts'
import * as log from '../store/log.ts'
import { dropEntityIndexes, idsOfKind, saveDoc } from '../store/rows.ts'
import { Docs, projectState, saveAndProject } from './apply.ts'
import { kindOf } from './entity.ts'
import type { Purge } from './plan.ts'

const ERASED = '(erased)'

/** An event without anything that was said: what it overwrote stays, so that the fold stays the same. */
function emptied(e: Event): Event {
  return {
    entity: e.entity,
    field: e.field,
    op: e.op,
    stamp: e.stamp,
    over: e.over,
    ...(e.list ? { list: true } : {}),
    ...(e.pos !== undefined ? { pos: e.pos } : {}),
    purged: true,
  }
}

/** What stands in an erased entity's place: its id may hold the very name that had to go. */
export const tombstoneOf = (id: string): string => `${kindOf(id)}:purged-${sha256(id).slice(0, 16)}`

const isTombstone = (id: string): boolean => /:purged-[0-9a-f]{16}$/.test(id)

/**
 * The line that takes the place of one whose content is erased (K15). The entity's update becomes the state of its
 * document after the erasure: it covers the same clocks, as garbage without content, so later lines still apply.
 * The hash stays the erased line's: the chain holds.
 */
function substitute(docs: Docs, line: Line, from: string, to: string, only?: readonly number[]): Line {
  const updates = new Map<string, Uint8Array>()
  for (const [id, update] of line.updates) {
    if (id !== from) updates.set(id, update)
    else {
      const doc = docs.get(to)
      applyUpdate(doc, update) // in memory; what the purge deleted is collected as it comes in
      updates.set(to, encodeDoc(doc))
    }
  }
  const purges = line.purges.map((p) => (p.entity === from ? { ...p, entity: to } : p))
  const { intent: _intent, ...author } = line.author
  const events = line.events.map((e, i) =>
    e.entity === from && (!only || only.includes(i)) ? { ...emptied(e), entity: to } : e,
  )
  return { ...line, author, summary: ERASED, updates, events, purges, substitute: true }
}

/** A line as it may be kept here: what it says of entities that were erased is emptied before it touches the disk. */
export function withoutErased(db: Db, docs: Docs, line: Line): Line {
  let out = line
  for (const id of line.updates.keys()) {
    if (!isTombstone(id) && log.isErased(db, tombstoneOf(id))) out = substitute(docs, out, id, tombstoneOf(id))
  }
  if (line.substitute) return out
  for (const p of log.purgesOf(db, line.replica, line.seq, line.hash)) {
    if (out.updates.has(p.entity)) out = substitute(docs, out, p.entity, p.entity, p.events)
  }
  return out
}

/** The id under which an entity goes on here: its own, or its tombstone. */
export const idNow = (db: Db, id: string): string =>
  !isTombstone(id) && log.isErased(db, tombstoneOf(id)) ? tombstoneOf(id) : id

/** An event of a snapshot as it may be kept here. */
export function erasedEvent(db: Db, e: log.BaseEvent): log.BaseEvent {
  const entity = idNow(db, e.entity)
  const erased =
    entity !== e.entity ||
    log.purgesAt(db, e.replica, e.seq).some((p) => p.entity === e.entity && (p.events?.includes(e.i) ?? true))
  if (!erased) return e
  const event = unpackEvent(JSON.parse(e.body), { ms: e.ms, replica: e.replica })
  return { ...e, entity, body: eventBody({ ...emptied(event), entity }) }
}

/** Replaces erased lines by their substitutes, and makes what was derived from them again. */
export function applyPurges(db: Db, registry: Registry, purges: readonly Purge[]): void {
  for (const p of purges) log.markPurged(db, p)
  const docs = new Docs(db)
  const rewrite = (replica: string, seq: number, from: string, to: string, only?: readonly number[]) => {
    log.emptyEvents(db, replica, seq, from, to, only, (e) => ({ ...emptied(e), entity: to }))
    const line = log.lineOf(db, replica, seq) // gone if a compaction folded it away; refused or emptied if it is still to come
    if (line?.updates.has(from)) log.replaceLine(db, substitute(docs, line, from, to, only))
  }
  for (const tombstone of new Set(purges.map((p) => p.entity).filter(isTombstone))) {
    for (const id of idsOfKind(db, kindOf(tombstone))) {
      if (isTombstone(id) || tombstoneOf(id) !== tombstone) continue
      applyUpdate(docs.get(tombstone), encodeDoc(docs.get(id)))
      for (const { replica, seq } of log.batchesOf(db, id)) rewrite(replica, seq, id, tombstone)
      log.renamePurged(db, id, tombstone)
      log.moveBase(db, id, tombstone, encodeDoc(docs.get(tombstone)))
      dropEntityIndexes(db, id)
    }
    const state = encodeDoc(docs.get(tombstone))
    saveDoc(db, tombstone, state)
    projectState(db, registry, tombstone, state, log.lastTouched(db, tombstone), log.versionOf(db, tombstone))
  }
  for (const p of purges) {
    if (isTombstone(p.entity)) continue
    rewrite(p.replica, p.seq, p.entity, p.entity, p.events)
    log.eraseBase(db, p.entity, encodeDoc(docs.get(p.entity)))
    saveAndProject(db, registry, p.entity, docs.get(p.entity))
  }
  log.dropParkedOf(db, purges)
}
