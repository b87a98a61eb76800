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
import { displayName, KIND_KIND, kindOf, LINK_KIND, nameKey, RELATION_KIND, standingOf } from '../model/entity.ts'
import type { Json } from '../model/field.ts'
import { fieldsOf, type Kind } from '../model/kind.ts'
import { KINDS } from '../model/kinds/index.ts'
import type { Registry } from '../model/registry.ts'
import { isWork } from '../model/work-kinds.ts'
import { type Db, stored } from '../store/db.ts'
import type { Line } from '../store/line.ts'
import { append, type EventRun, indexEvents, runsOf } from '../store/log.ts'
import {
  allRows,
  dropLink,
  type EntityRow,
  getRow,
  idsOfKind,
  type LinkRow,
  loadDoc,
  placeOf,
  putLink,
  putRow,
  type RowPlace,
  rowId,
  saveDoc,
} from '../store/rows.ts'
import { dayWords } from '../store/terms.ts'
import {
  clearWords,
  type EntityText,
  type IndexedText,
  indexedText,
  indexText,
  queueAll,
  type WeightedText,
} from '../store/text-index.ts'

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

/** The row of an entity and what it is found by, computed from its document, not from what was said (K7). */
export interface Projection {
  readonly row: EntityRow
  readonly link?: LinkRow
  readonly text?: IndexedText
}

/** A new entity, made from its first update. */
type First = Projection & { readonly state: Uint8Array }

/** What a line writes if all its entities are new; computed without the store. */
export interface Prepared {
  readonly entities: readonly First[]
  readonly runs: readonly EventRun[]
}

const coreKinds = new Map<string, Kind>(KINDS.map((k) => [k.name, k]))
const prepared = new WeakMap<Line, Prepared>()
/** Keeps what was prepared for a line, with core kinds; `applyLine` uses it if it holds for the store. */
export const keepPrepared = (line: Line, what: Prepared): void => void prepared.set(line, what)

/** Whether a line changes nothing but entities whose kinds are known. */
export function isPlain(line: Line): boolean {
  if (prepared.has(line)) return true
  if (line.purges.length > 0 || line.forks?.length) return false
  for (const id of line.updates.keys()) if (kindOf(id) === KIND_KIND || kindOf(id) === RELATION_KIND) return false
  return true
}

/** Undefined if reading an update takes Yjs, or if the line is not plain. */
export function prepare(registry: Registry, line: Line): Prepared | undefined {
  if (!isPlain(line)) return undefined
  const entities: First[] = []
  for (const [id, update] of line.updates) {
    const first = firstOf(registry, line, id, update)
    if (!first) return undefined
    entities.push(first)
  }
  return { entities, runs: runsOf(line) }
}

/** A new entity is read off its update: through a document it takes four times as long. */
function firstOf(registry: Registry, line: Line, id: string, update: Uint8Array): First | undefined {
  const first = firstState(update)
  return first && { state: first.state, ...projectionOf(registry, id, first.cells, ...touch(line, id, undefined)) }
}

/** When the entity was last touched and how often, this line included. */
function touch(line: Line, id: string, before: RowPlace | undefined): [updated: number, version: number] {
  const own = line.events.filter((e) => e.entity === id)
  const updated = own.reduce((max, e) => Math.max(max, e.stamp.ms), before?.updated ?? 0)
  return [updated, (before?.version ?? 0) + (own.length > 0 ? 1 : 0)]
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
  const ready = prepared.get(line)
  const isNew = ({ row: { id, kind } }: First) =>
    registry.kind(kind) === coreKinds.get(kind) && placeOf(db, id) === undefined
  if (ready?.entities.every(isNew)) for (const first of ready.entities) putFirst(db, first)
  else
    for (const [id, update] of line.updates) {
      const before = placeOf(db, id)
      const first = before === undefined && !alreadyInDocs && firstOf(registry, line, id, update)
      if (first) putFirst(db, first)
      else {
        const doc = docs.get(id)
        if (!alreadyInDocs) applyUpdate(doc, update)
        saveDoc(db, id, encodeDoc(doc))
        const projection = projectionOf(registry, id, readCells(doc), ...touch(line, id, before))
        putProjection(db, projection, before?.rowid)
      }
    }
  append(db, line, received)
  indexEvents(db, line, ready?.runs)
}

function putFirst(db: Db, first: First): void {
  saveDoc(db, first.row.id, first.state)
  putProjection(db, first, undefined)
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
  putProjection(db, projectionOf(registry, id, readCells(doc), updated, version), rowId(db, id), sameText)
}

function projectionOf(registry: Registry, id: string, cells: Cells, updated: number, version: number): Projection {
  const folded = foldOf(id, cells)
  const kind = registry.kind(kindOf(id))
  const row = rowOf(id, folded, updated, version, registry)
  const { from, to, type } = folded.fields
  const isLink = row.kind === LINK_KIND && folded.live
  return {
    row,
    ...(isLink && typeof from === 'string' && typeof to === 'string' && typeof type === 'string'
      ? { link: { id, src: from, rel: type, dst: to } }
      : {}),
    ...(folded.live && kind && !kind.internal ? { text: indexedText(textOf(row.name, folded, kind)) } : {}),
  }
}

/** `at`: where the row of the entity stands, if there is one. */
function putProjection(db: Db, { row, link, text }: Projection, at: number | undefined, sameText = false): void {
  const rowid = putRow(db, row, at)
  if (link) putLink(db, link)
  else if (row.kind === LINK_KIND) dropLink(db, row.id)
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
