import type { Cell } from '../log/cells.ts'
import { cellsOf, type Event } from '../log/events.ts'
import { projectionOf } from '../materialize/apply.ts'
import type { Json } from '../model/field.ts'
import type { Registry } from '../model/registry.ts'
import { keepBaseDigest } from '../store/compare.ts'
import type { Db } from '../store/db.ts'
import { endFirstForm, rewriteEvents, takeDocuments } from '../store/first-form.ts'
import * as log from '../store/log.ts'
import { allRows, getRow } from '../store/rows.ts'
import { type Progress, rebuildEntities } from './rebuild.ts'

/**
 * Goes over from the form of 0.1.0, where a line and what a compaction folded said everything twice: as events, and as updates of
 * Yjs documents. The events count. An entity whose row says something else is made anew and named; so is what a document of a
 * compaction alone holds, which is kept. The caller holds the lock; all of it happens, or nothing.
 */
export function settleFirstForm(db: Db, registry: () => Registry, now: number, progress: Progress = () => {}): void {
  rewriteEvents(db)
  const kept = keepFromDocuments(db)
  const rows = allRows(db)
  const changed = new Set(kept)
  for (const [i, row] of rows.entries()) {
    const cells = cellsOf(log.eventsOf(db, row.id).map((e) => e.event))
    const { row: made } = projectionOf(registry(), row.id, cells, row.updated, row.version)
    const isSame = (Object.keys(made) as (keyof typeof made)[]).every((key) => made[key] === row[key])
    if (!isSame || cells.size === 0) changed.add(row.id)
    progress(i + 1, rows.length)
  }
  const before = new Map([...changed].map((id) => [id, getRow(db, id)?.body]))
  rebuildEntities(db, registry(), changed)
  const others = [...changed].filter((id) => getRow(db, id)?.body !== before.get(id))
  if (others.length > 0)
    log.finding(
      db,
      'first-form',
      now,
      `${others.length} of ${rows.length} entities say something else than before, since what their batches say counts alone now: ${named(others)}`,
    )
  if (kept.size > 0)
    log.finding(
      db,
      'first-form-kept',
      now,
      `what only a compaction had kept, and no batch says, was taken over: ${named([...kept])}`,
    )
  keepBaseDigest(db)
  endFirstForm(db)
}

const NAMED = 20
const named = (ids: readonly string[]): string =>
  ids.slice(0, NAMED).join(', ') + (ids.length > NAMED ? ` and ${ids.length - NAMED} more` : '')

/** Makes events of what a document of a compaction holds and no event says; returns the entities. */
function keepFromDocuments(db: Db): Set<string> {
  const kept = new Set<string>()
  for (const { entity, state } of takeDocuments(db)) {
    const events = log.eventsOf(db, entity).map((e) => e.event)
    const known = new Set(events.map((e) => `${e.stamp.replica}:${e.stamp.ctr}`))
    for (const e of events) for (const [replica, ctr] of e.over) known.add(`${replica}:${ctr}`)
    for (const e of eventsIn(entity, state)) {
      if (known.has(`${e.stamp.replica}:${e.stamp.ctr}`)) continue
      // its line was folded away: it stands where no line's events do
      log.putBaseEvent(db, 0, e.stamp.ctr, e, e.stamp.ms)
      kept.add(entity)
    }
  }
  return kept
}

/** The cells of a Yjs document of 0.1.0, as the events that would write them. */
function eventsIn(entity: string, state: Uint8Array): Event[] {
  const require = process.getBuiltinModule('node:module').createRequire(import.meta.url)
  const Y = require(import.meta.url.endsWith('.ts') ? 'yjs' : './yjs.cjs') as typeof import('yjs')
  const doc = new Y.Doc()
  try {
    Y.applyUpdate(doc, state)
  } catch {
    return [] // damaged: the events are what there is
  }
  return [...doc.getMap<Json[]>('c')].map(([key, [ms, ctr, value, extra]]) => {
    const [field = '', part = '', replica = ''] = key.split('\0')
    const stamp: Cell['stamp'] = { ms: Number(ms), ctr: Number(ctr), replica }
    const base = { entity, field, stamp, over: [], ...(value === undefined ? {} : { value }) }
    if (part.startsWith('l')) return { ...base, op: 'add', list: true, pos: Number(extra) }
    if (part.startsWith('s')) return { ...base, op: 'add' }
    if (part.startsWith('p')) return { ...base, op: 'put', path: extra as string[] }
    return { ...base, op: value === undefined ? 'clear' : 'set' }
  })
}
