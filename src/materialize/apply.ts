/**
 * materialize: from documents to rows. Applies updates to documents and computes from them the rows, links and texts
 * that readers query. All of it can be dropped and made again.
 */

import type * as Y from 'yjs'
import type { Cells } from '../log/cells.ts'
import { foldOf, SHARED_KIND } from '../log/context-value.ts'
import { applyUpdate, encodeDoc, openDoc, readCells, writeEvents } from '../log/document.ts'
import type { Event } from '../log/events.ts'
import { firstState } from '../log/first-state.ts'
import type { Folded } from '../log/fold.ts'
import { displayName, KIND_KIND, kindOf, LINK_KIND, nameKey, standingOf } from '../model/entity.ts'
import type { Json } from '../model/field.ts'
import { fieldsOf, type Kind } from '../model/kind.ts'
import type { Registry } from '../model/registry.ts'
import { isWork } from '../model/work-kinds.ts'
import { type Db, stored } from '../store/db.ts'
import type { Line } from '../store/line.ts'
import { append, indexEvents } from '../store/log.ts'
import {
  allRows,
  dropLink,
  type EntityRow,
  getRow,
  idsOfKind,
  loadDoc,
  placeOf,
  putLink,
  putRow,
  rowId,
  saveDoc,
} from '../store/rows.ts'
import { dayWords } from '../store/terms.ts'
import { clearWords, type EntityText, indexText, queueAll, type WeightedText } from '../store/text-index.ts'

/** Documents opened under one write lock, so that planning and writing load each once. */
export class Docs {
  readonly #db: Db
  readonly #open = new Map<string, Y.Doc>()

  constructor(db: Db) {
    this.#db = db
  }

  get(id: string): Y.Doc {
    let doc = this.#open.get(id)
    if (!doc) {
      const state = loadDoc(this.#db, id)
      this.#open.set(id, (doc = openDoc(state ? [state] : [])))
    }
    return doc
  }

  /** The document of one entity goes on under another id. */
  move(from: string, to: string): void {
    this.#open.set(to, this.get(from))
    this.#open.delete(from)
  }

  cells(id: string): Cells {
    return readCells(this.get(id))
  }
}

/** Writes planned events into the documents; returns each entity's update. Cannot fail. */
export function writeToDocs(docs: Docs, events: readonly Event[], replica: string): Map<string, Uint8Array> {
  const byEntity = Map.groupBy(events, (e) => e.entity)
  return new Map([...byEntity].map(([id, own]) => [id, writeEvents(docs.get(id), own, replica)]))
}

/** Applies a line's updates, own or remote, and brings rows and indexes up to date. */
export function applyLine(
  db: Db,
  docs: Docs,
  registry: Registry,
  line: Line,
  received: number,
  alreadyInDocs = false,
): void {
  for (const [id, update] of line.updates) {
    const before = placeOf(db, id)
    // what is new here is read off its update: a document takes four times as long
    let { cells, state } = (before === undefined && !alreadyInDocs && firstState(update)) || {}
    if (!cells || !state) {
      const doc = docs.get(id)
      if (!alreadyInDocs) applyUpdate(doc, update)
      cells = readCells(doc)
      state = encodeDoc(doc)
    }
    saveDoc(db, id, state)
    // the row is computed from the document, not from what was said (K7)
    const own = line.events.filter((e) => e.entity === id)
    const updated = own.reduce((max, e) => Math.max(max, e.stamp.ms), before?.updated ?? 0)
    project(db, registry, id, cells, updated, (before?.version ?? 0) + (own.length > 0 ? 1 : 0), before?.rowid)
  }
  append(db, line, received)
  indexEvents(db, line)
}

export function projectState(
  db: Db,
  registry: Registry,
  id: string,
  doc: Y.Doc,
  updated: number,
  version: number,
  sameText = false,
): void {
  project(db, registry, id, readCells(doc), updated, version, rowId(db, id), sameText)
}

/** Computes the row of an entity, and what it is found by. `at`: where its row stands, if there is one. */
function project(
  db: Db,
  registry: Registry,
  id: string,
  cells: Cells,
  updated: number,
  version: number,
  at: number | undefined,
  sameText = false,
): void {
  const folded = foldOf(id, cells)
  const kind = registry.kind(kindOf(id))
  const row = rowOf(id, folded, updated, version, registry)
  const rowid = putRow(db, row, at)
  const f = folded.fields
  if (row.kind === LINK_KIND) {
    const complete = folded.live && typeof f.from === 'string' && typeof f.to === 'string' && typeof f.type === 'string'
    if (complete) putLink(db, { id, src: f.from as string, rel: f.type as string, dst: f.to as string })
    else dropLink(db, id)
  }
  const text = folded.live && kind && !kind.internal ? textOf(row.name, folded, kind) : undefined
  indexText(db, rowid, text, sameText ? 'same' : at === undefined ? 'none' : 'other')
}

export function rowOf(id: string, folded: Folded, updated: number, version: number, registry: Registry): EntityRow {
  const name = displayName(registry.kind(kindOf(id)), folded.fields)
  return {
    id,
    kind: kindOf(id),
    name,
    name_key: nameKey(name),
    live: folded.live ? 1 : 0,
    standing: standingOf(folded.fields),
    retired: folded.fields.retired === undefined ? 0 : 1,
    created: folded.created,
    updated,
    version,
    body: JSON.stringify(folded.fields),
    conflicts: folded.conflicts.length > 0 ? JSON.stringify(folded.conflicts) : null,
  }
}

/** Days are found by their words, which say little of what a text is about. */
const DAY_WEIGHT = 0.3

/** A shared value is found by its beginning: a list that grows would be taken apart anew with every item. */
const MAX_SHARED_TEXT = 2_000

/** How much a field counts in a text; 0: not at all. */
export function weightOf(field: string, kind: Kind): number {
  if (field === 'provenance' || field === 'standing' || field === 'retired') return 0
  const spec = fieldsOf(kind)[field]
  if (spec?.type !== 'time') return spec?.weight ?? 0.6
  // when it was recorded, and until when it holds, is no word of its text
  return field === 'date' ? (spec.weight ?? DAY_WEIGHT) : 0
}

/** The fields that say what an entity stands in a row with. */
export const ROW_FIELDS = ['sourceFile', 'section', 'position']

/** What an entity is found by: its fields by the weights that its kind declares, and what it stands in a row with. */
export function textOf(name: string, folded: Pick<Folded, 'fields' | 'created'>, kind: Kind): EntityText {
  const { fields } = folded
  const specs = fieldsOf(kind)
  const { row, place, inRow } = rowIn(kind, fields, folded.created)
  const parts: WeightedText[] = []
  for (const [field, value] of Object.entries(fields)) {
    const weight = field === kind.key[0] ? 0 : weightOf(field, kind)
    if (weight === 0 || inRow.includes(field)) continue
    if (specs[field]?.type === 'time') parts.push({ text: dayWords(String(value)), weight })
    else {
      const text = words(value)
      parts.push({ text: kind.name === SHARED_KIND ? text.slice(0, MAX_SHARED_TEXT) : text, weight })
    }
  }
  // of a document that is kept whole the first line says what it is about, unless the sentence goes on below
  const whole = name.trim()
  const end = whole.indexOf('\n')
  const below = whole.slice(end).trimStart()
  const isTitled = end > 0 && !/^\p{Ll}/u.test(below)
  const weight = specs[kind.key[0]]?.weight ?? 1
  return {
    title: { text: isTitled ? whole.slice(0, end) : name, weight },
    parts: [{ text: isTitled ? below : '', weight }, ...parts].filter((p) => p.text !== ''),
    ...(row === undefined ? {} : { source: row, place }),
    ...(typeof fields.speaker === 'string' ? { speaker: fields.speaker } : {}),
  }
}

/**
 * Pieces of one document stand in a row by their position; what was recorded in one task, by the time. A goal, activity or
 * task stands in none: it belongs where the work tree has it.
 */
function rowIn(
  kind: Kind,
  fields: Folded['fields'],
  created: number,
): { row?: string; place: number; inRow: readonly string[] } {
  const { sourceFile, section = '', position, provenance } = fields
  if (typeof sourceFile === 'string' && typeof position === 'number')
    return { row: JSON.stringify(['document', sourceFile, section]), place: position, inRow: ['sourceFile', 'section'] }
  const task = (provenance as { [key: string]: Json }[] | undefined)?.[0]?.task
  return typeof task === 'string' && !isWork(kind.name)
    ? { row: JSON.stringify(['task', task]), place: created, inRow: [] }
    : { place: 0, inRow: [] }
}

export function words(value: Json): string {
  if (value === null || typeof value === 'boolean') return ''
  if (typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return value.map(words).join('\n')
  return Object.entries(value)
    .map(([k, v]) => `${k} ${words(v)}`)
    .join('\n')
}

/** Projects again every entity of a kind that a project defined or changed: what it is called may have changed. */
export function reprojectKinds(db: Db, registry: Registry, touched: Iterable<string>): void {
  for (const id of touched) {
    if (kindOf(id) !== KIND_KIND) continue
    const name = stored<{ name?: string }>(getRow(db, id)?.body ?? '{}').name
    if (!name) continue
    for (const entity of idsOfKind(db, name)) {
      const row = getRow(db, entity)!
      projectState(db, registry, entity, openDoc([loadDoc(db, entity)!]), row.updated, row.version)
    }
  }
}

/** Computes every row and the index of words again from the documents; vectors stay where they are. */
export function projectAll(db: Db, registry: Registry): void {
  clearWords(db)
  for (const row of allRows(db))
    projectState(db, registry, row.id, openDoc([loadDoc(db, row.id)!]), row.updated, row.version, true)
  queueAll(db)
}
