import type { Env } from '../../base/env.ts'
import type { Json } from '../../model/field.ts'
import type { Registry } from '../../model/registry.ts'
import type { Cell } from '../log/cells.ts'
import { foldOf } from '../log/context-value.ts'
import { cellsOf, type Event } from '../log/events.ts'
import { rowOf } from '../materialize/apply.ts'
import { keepBaseDigest } from '../store/compare.ts'
import type { Db } from '../store/db.ts'
import { endFirstForm, rewriteEvents, takeDocuments } from '../store/first-form.ts'
import * as log from '../store/log.ts'
import { allIds, type EntityRow, getRow, renameRow } from '../store/rows.ts'
import { kindsFirst, type Progress, rebuildEntities } from './rebuild.ts'
import { documentIn } from './yjs.ts'

/** Migrates from 0.1.0, which kept events and Yjs documents. The events count; what only a document has becomes events. */
export function settleFirstForm(db: Db, registry: () => Registry, env: Env, progress: Progress): void {
  rewriteEvents(db)
  const kept = keepFromDocuments(db)
  const ids = kindsFirst([...new Set([...allIds(db), ...log.entitiesIn(db)])])
  const others: string[] = []
  for (const [i, id] of ids.entries()) {
    const before = getRow(db, id)
    const made = before && !kept.has(id) ? rowMadeOf(before, log.eventsOf(db, id), registry()) : undefined
    if (made && saidBy(made) === saidBy(before)) renameRow(db, made)
    else {
      rebuildEntities(db, registry(), [id])
      if (saidBy(getRow(db, id)) !== saidBy(before)) others.push(id)
    }
    progress(i + 1, ids.length)
  }
  const tell = (key: string, text: string) => {
    log.finding(db, key, env.now(), text)
    env.log(`tidemark: ${text.slice(0, text.indexOf(':'))}; \`tidemark doctor\` names them`)
  }
  const of = `${others.length} of ${ids.length} entities`
  if (others.length > 0)
    tell(
      'first-form',
      `${of} say something else than in version 0.1.0, which did not read what their batches say: ${others.join(', ')}`,
    )
  if (kept.size > 0)
    tell(
      'first-form-kept',
      `what only a compaction of version 0.1.0 had kept, and no batch says, was taken over: ${[...kept].join(', ')}`,
    )
  keepBaseDigest(db)
  endFirstForm(db)
}

/** The row that these events make, as old and as often written as one. */
const rowMadeOf = (row: EntityRow, events: readonly log.LoggedEvent[], registry: Registry): EntityRow | undefined =>
  events.length === 0 ? undefined : rowOf(row.id, foldOf(row.id, cellsOf(events.map((e) => e.event))), row, registry)

/** What a row says, whenever and however often it was written. Its name is in its body. */
const saidBy = (row: EntityRow | undefined): string =>
  JSON.stringify(row && { ...row, name: '', name_key: '', updated: 0, version: 0 })

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

function eventsIn(entity: string, state: Uint8Array): Event[] {
  const doc = documentIn(state)
  if (!doc) return [] // damaged: the events are what there is
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
