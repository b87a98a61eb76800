/**
 * materialize: from events to rows. An entity is what its events say; of that the rows, links and texts are made that readers
 * query. All of it can be dropped and made again.
 */

import { keptIn } from '../../base/lookup.ts'
import { displayName, isDefinition, KIND_KIND, kindOf, LINK_KIND, nameKey, standingOf } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { fieldsOf, type Kind } from '../../model/kind.ts'
import type { Registry } from '../../model/registry.ts'
import { isWork } from '../../model/work-kinds.ts'
import type { Cells } from '../log/cells.ts'
import { foldOf, SHARED_KIND } from '../log/context-value.ts'
import { cellsOf, type Event } from '../log/events.ts'
import type { Folded } from '../log/fold.ts'
import { type Db, stored } from '../store/db.ts'
import type { Line } from '../store/line.ts'
import { append, countedIn, eventsOf, indexEvents, noteGap, survivorsOf } from '../store/log.ts'
import type { Touched } from '../store/rows.ts'
import * as rows from '../store/rows.ts'
import { dayWords } from '../store/terms.ts'
import * as index from '../store/text-index.ts'

export class States {
  readonly #db: Db
  readonly #events = new Map<string, readonly Event[]>()

  constructor(db: Db) {
    this.#db = db
  }

  events(id: string): readonly Event[] {
    return keptIn(this.#events, id, () => survivorsOf(this.#db, id))
  }

  /** A copy, the caller's to change. */
  cells(id: string): Cells {
    return cellsOf(this.events(id))
  }
}

export const entitiesIn = (line: Line): Set<string> => new Set(line.events.map((e) => e.entity))

/** Whether a line changes nothing but entities whose kinds are known. */
export const isPlain = (line: Line): boolean =>
  line.purges.length === 0 && line.forks.length === 0 && !line.events.some((e) => isDefinition(e.entity))

export function applyLine(db: Db, states: States, registry: Registry, line: Line, received: number): void {
  const events = countedIn(db, line)
  for (const [id, own] of Map.groupBy(events, (e) => e.entity)) {
    const before = rows.placeOf(db, id)
    const cells = cellsOf(before === undefined ? own : [...states.events(id), ...own])
    const updated = own.reduce((max, e) => Math.max(max, e.stamp.ms), before?.updated ?? 0)
    putProjection(db, projectionOf(registry, id, cells, updated, (before?.version ?? 0) + 1), before?.rowid)
  }
  append(db, line, received)
  noteGap(db, line)
  indexEvents(db, line, received, events)
}

/** Makes the row of an entity again from what happened to it. */
export function projectEntity(db: Db, registry: Registry, id: string, touched: Touched, sameText = false): void {
  const cells = cellsOf(eventsOf(db, id).map((e) => e.event))
  putProjection(db, projectionOf(registry, id, cells, touched.updated, touched.version), rows.rowId(db, id), sameText)
}

export function projectionOf(registry: Registry, id: string, cells: Cells, updated: number, version: number) {
  const folded = foldOf(id, cells)
  const kind = registry.kind(kindOf(id))
  const row = rowOf(id, folded, { updated, version }, registry)
  const { from, to, type } = folded.fields
  const isLink = row.kind === LINK_KIND && folded.live
  return {
    row,
    ...(isLink && typeof from === 'string' && typeof to === 'string' && typeof type === 'string'
      ? { link: { id, src: from, rel: type, dst: to } }
      : {}),
    ...(folded.live && kind && !kind.internal
      ? { text: index.indexedText(textOf(rows.nameIn(row.name, folded.fields), folded, kind)) }
      : {}),
  }
}

/** `at`: where the row of the entity stands, if there is one. */
function putProjection(
  db: Db,
  { row, link, text }: ReturnType<typeof projectionOf>,
  at: number | undefined,
  sameText = false,
): void {
  const rowid = rows.putRow(db, row, at)
  if (link) rows.putLink(db, link)
  else if (row.kind === LINK_KIND) rows.dropLink(db, row.id)
  index.indexText(db, rowid, text, sameText ? 'same' : at === undefined ? 'none' : 'other')
}

export function rowOf(id: string, folded: Folded, { updated, version }: Touched, registry: Registry): rows.EntityRow {
  const kind = registry.kind(kindOf(id))
  const name = displayName(kind, folded.fields)
  const named = kind?.key.find((field) => folded.fields[field] === name)
  return {
    id,
    kind: kindOf(id),
    name: rows.keptName(name, named),
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

/** A short line that is no sentence, and a blank one below it. */
const TITLE = /^[\p{L}\p{N}#"'[].{0,98}[^.:;,]\r?\n\r?\n/u

/** The fields that say what an entity stands in a row with. */
export const ROW_FIELDS = ['sourceFile', 'section', 'position']

/** What an entity is found by: its fields by the weights that its kind declares, and what it stands in a row with. */
export function textOf(name: string, folded: Pick<Folded, 'fields' | 'created'>, kind: Kind): index.EntityText {
  const { fields } = folded
  const specs = fieldsOf(kind)
  const { row, place, inRow } = rowIn(kind, fields, folded.created)
  const parts: index.WeightedText[] = []
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
  const section = inRow.includes('section') && typeof fields.section === 'string' ? fields.section : ''
  // under a heading, which the id of a session is not, a wrapped line, a row or the fence of a code block is no title
  const isTitled = section.includes(' ') ? TITLE.test(whole) : end > 0 && !/^\p{Ll}/u.test(below)
  const weight = specs[kind.key[0]]?.weight ?? 1
  // a piece of a page that has no title of its own stands under its headings, of which the last is its own
  const heading = isTitled ? '' : section.split(' › ').at(-1)!
  if (heading !== '') parts.push({ text: section.slice(0, -heading.length), weight: weightOf('section', kind) })
  return {
    title: heading
      ? { text: heading, weight: weightOf('section', kind) }
      : { text: isTitled ? whole.slice(0, end) : name, weight },
    parts: [{ text: heading ? whole : isTitled ? below : '', weight }, ...parts].filter((p) => p.text !== ''),
    ...(row === undefined ? {} : { source: row, place }),
  }
}

/** Pieces of one document follow each other by position; what was recorded in one task, by time. */
type Place = { row?: string; place: number; inRow: readonly string[] }
function rowIn(kind: Kind, fields: Folded['fields'], created: number): Place {
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
    const name = stored<{ name?: string }>(rows.getRow(db, id)?.body ?? '{}').name
    if (!name) continue
    for (const entity of rows.idsOfKind(db, name)) projectEntity(db, registry, entity, rows.getRow(db, entity)!)
  }
}

export function projectAll(db: Db, registry: Registry): void {
  index.clearWords(db)
  for (const row of rows.allRows(db)) projectEntity(db, registry, row.id, row, true)
  index.queueAll(db)
}
