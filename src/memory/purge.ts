import { applyUpdate, encodeDoc } from '../crdt/doc.ts'
import type { Event } from '../crdt/events.ts'
import type { Registry } from '../schema/registry.ts'
import type { Db } from '../store/db.ts'
import type { Line } from '../store/line.ts'
import * as log from '../store/log.ts'
import { Docs, saveAndProject } from './apply.ts'
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

/**
 * The line that takes the place of one whose content for some entities is erased (K15). Their updates become the
 * state of the documents after the erasure: it covers the same clocks, as garbage without content, so later lines
 * still apply. The hash stays the erased line's: the chain holds.
 */
export function substituteFor(docs: Docs, line: Line, entities: readonly string[]): Line {
  const gone = new Set(entities)
  const updates = new Map(line.updates)
  for (const id of entities) {
    const update = updates.get(id)
    if (!update) continue
    const doc = docs.get(id)
    applyUpdate(doc, update) // in memory; what the purge deleted is collected as it comes in
    updates.set(id, encodeDoc(doc))
  }
  const { intent: _intent, ...author } = line.author
  return {
    ...line,
    author,
    summary: ERASED,
    updates,
    events: line.events.map((e) => (gone.has(e.entity) ? emptied(e) : e)),
    substitute: true,
  }
}

/** Replaces erased lines by their substitutes, and makes what was derived from them again. */
export function applyPurges(db: Db, registry: Registry, purges: readonly Purge[]): void {
  const docs = new Docs(db)
  for (const p of purges) log.markPurged(db, p)
  for (const [batch, group] of Map.groupBy(purges, (p) => `${p.replica}:${p.seq}`)) {
    const { replica, seq } = group[0]!
    const line = log.lineOf(db, replica, seq)
    log.emptyEvents(db, replica, seq, new Set(group.map((p) => p.entity)), emptied)
    if (!line) continue // folded away by a compaction, or not here yet: refused or replaced when it comes
    if (line.hash !== group[0]!.hash)
      log.finding(db, `purge:${batch}`, Date.now(), `${batch} was to be erased but holds another line here`)
    const entities = log.purgedEntities(db, replica, seq)
    log.replaceLine(db, substituteFor(docs, line, entities))
  }
  for (const id of new Set(purges.map((p) => p.entity))) {
    log.eraseBase(db, id, encodeDoc(docs.get(id)))
    saveAndProject(db, registry, id, docs.get(id))
  }
  log.dropParkedOf(db, purges)
}
