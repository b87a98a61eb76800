import { encodeDoc, openDoc } from '../log/document.ts'
import { projectState } from '../materialize/apply.ts'
import { KIND_KIND, kindOf, RELATION_KIND } from '../model/entity.ts'
import type { Registry } from '../model/registry.ts'
import type { Db } from '../store/db.ts'
import * as log from '../store/log.ts'
import { baseOf, clearIndexes, countOf, dropEntityIndexes, entitiesInBase, saveDoc } from '../store/rows.ts'

/** Called with how far it is, for a terminal. */
export type Progress = (done: number, total: number) => void

interface Gathered {
  updates: Uint8Array[]
  updated: number
  version: number
}

function gather(db: Db, wanted?: ReadonlySet<string>): Map<string, Gathered> {
  const all = new Map<string, Gathered>()
  const of = (id: string): Gathered => {
    let g = all.get(id)
    if (!g) {
      const base = baseOf(db, id)
      all.set(id, (g = { updates: base ? [base.state] : [], updated: base?.updated ?? 0, version: countOf(base) }))
    }
    return g
  }
  for (const id of entitiesInBase(db)) if (!wanted || wanted.has(id)) of(id)
  if (wanted) for (const id of wanted) of(id)
  for (const line of log.linesAfter(db, 0)) {
    for (const [id, update] of line.updates) {
      if (wanted && !wanted.has(id)) continue
      const g = of(id)
      g.updates.push(update)
      const own = line.events.filter((e) => e.entity === id)
      if (own.length > 0) g.version++
      for (const e of own) g.updated = Math.max(g.updated, e.stamp.ms)
    }
  }
  return all
}

/** Makes documents, rows and index entries of some entities again from the log. */
export function rebuildEntities(db: Db, registry: Registry, ids: ReadonlySet<string>): void {
  for (const [id, g] of gather(db, ids)) {
    dropEntityIndexes(db, id)
    if (g.updates.length === 0) continue
    const doc = openDoc(g.updates)
    saveDoc(db, id, encodeDoc(doc))
    projectState(db, registry, id, doc, g.updated, g.version)
  }
}

/**
 * Drops every index and makes it again from the log: documents, rows, links, events, text index. The result is the
 * same, byte for byte (C5). The caller holds the write lock. Returns how many entities and lines there were.
 */
export function rebuildAll(
  db: Db,
  registry: () => Registry,
  progress: Progress = () => {},
): { entities: number; lines: number } {
  clearIndexes(db)
  const lines = log.linesAfter(db, 0)
  for (const line of lines) log.indexEvents(db, line)
  const all = gather(db)
  const kindsFirst = [...all.keys()].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
  let done = 0
  for (const id of kindsFirst) {
    const g = all.get(id)!
    const doc = openDoc(g.updates)
    saveDoc(db, id, encodeDoc(doc))
    projectState(db, registry(), id, doc, g.updated, g.version)
    progress(++done, all.size)
  }
  return { entities: all.size, lines: lines.length }
}

/** What the project itself declares comes first: the rows of its kinds depend on it. */
const rank = (id: string): number => (kindOf(id) === KIND_KIND || kindOf(id) === RELATION_KIND ? 0 : 1)
