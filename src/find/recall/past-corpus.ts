import { keptIn } from '../../base/lookup.ts'
import { ROW_FIELDS, textOf, weightOf, words } from '../../engine/materialize/apply.ts'
import type { Change, Variant } from '../../engine/read/past.ts'
import { entityOf } from '../../engine/read/reader.ts'
import type { Db } from '../../engine/store/db.ts'
import { writtenWith } from '../../engine/store/log.ts'
import { cameBy, rowId, rowsAt } from '../../engine/store/rows.ts'
import { dayWords, questionTerms, type Term, termsOf } from '../../engine/store/terms.ts'
import * as textIndex from '../../engine/store/text-index.ts'
import { type Entity, kindOf } from '../../model/entity.ts'
import { fieldsOf, type Kind } from '../../model/kind.ts'
import type { Corpus } from './corpus.ts'
import { TUNING } from './relevance.ts'

const REACH = TUNING.around.length

/** The texts of a moment, or without some lines: today's index, with changed texts read as they were. */
export function pastCorpus(db: Db, past: Variant, question: string): Corpus {
  const { at } = past
  const registry = past.registry()
  const kinds = registry.visibleKinds().map((k) => k.name)
  const { n, last, later } =
    at === undefined ? { n: textIndex.countTexts(db), last: Number.MAX_SAFE_INTEGER, later: [] } : cameBy(db, kinds, at)
  const isLater = new Set(later)
  const terms = questionTerms(question)

  /** What was touched since by its row, and of that what today's index says nothing of. */
  const touched = new Map<number, Change>()
  const anew: Change[] = []
  const perhaps = new Map<string, { change: Change; fields: ReadonlySet<string> }>()
  for (const change of past.changes().values()) {
    const kind = registry.kind(kindOf(change.id))
    if (!kind || kind.internal) continue
    touched.set(change.rowid, change)
    const { fields } = change
    if (change.live === 0 || fields.has('$') || ROW_FIELDS.some((f) => fields.has(f))) anew.push(change)
    else {
      const asked = new Set([...fields].filter((f) => isText(f, kind) && mayHold(f, kind, terms)))
      if (asked.size > 0) perhaps.set(change.id, { change, fields: asked })
    }
  }
  for (const id of holding(db, perhaps, terms)) anew.push(perhaps.get(id)!.change)
  // texts as they were, taken apart here: the index knows the present ones, or none
  const then = new Map<number, { entity: Entity; row: textIndex.TextRow; stems: ReadonlySet<string> }>()
  const keyOf = new Map(anew.map((c) => [c.id, c.rowid]))
  for (const entity of past.entities([...keyOf.keys()]))
    if (entity.live) {
      const rowid = keyOf.get(entity.id)!
      const text = textOf(entity.name, entity, registry.kind(entity.kind)!)
      then.set(rowid, { entity, row: textRowOf(rowid, text), stems: stemsIn(text) })
    }
  const isAnew = new Set(anew.map((c) => c.rowid))
  const counted = anew.filter((c) => c.live === 1 && (at === undefined || c.created <= at)).length
  const stands = (rowid: number) => rowid <= last && !isLater.has(rowid) && !isAnew.has(rowid)

  /** Whether today's text is the one of the moment. */
  const isSame = (row: textIndex.TextRow) => {
    const change = touched.get(row.rowid)
    if (!change) return true
    const kind = registry.kind(kindOf(change.id))!
    return !(change.fields.has('provenance') && row.place !== null) && ![...change.fields].some((f) => isText(f, kind))
  }
  const texts = (keys: readonly number[]): Map<number, textIndex.TextRow> => {
    const found = new Map(textIndex.textRows(db, keys.filter(stands)).map((t) => [t.rowid, t]))
    const others = [...found.values()].flatMap((t) => (isSame(t) ? [] : [touched.get(t.rowid)!]))
    past.entities(others.map((c) => c.id)) // all at once
    for (const { id, rowid } of others) {
      const e = past.entity(id)!
      found.set(rowid, textRowOf(rowid, textOf(e.name, e, registry.kind(e.kind)!)))
    }
    for (const key of keys) if (then.has(key)) found.set(key, then.get(key)!.row)
    return found
  }
  const counts = new Map<string, number>()
  const holds = (key: number, term: Term) => then.get(key)!.stems.has(term.stem)

  return {
    size: n - counted + then.size,
    count: (term) =>
      keptIn(counts, term.stem, () => {
        const now =
          textIndex.textsWith(db, term.stem) === 0 ? [] : textIndex.rowidsWith(db, term.word, last).filter(stands)
        return now.length + [...then.keys()].filter((key) => holds(key, term)).length
      }),
    withTerms(groups, limit, { kinds: only }) {
      const words = groups.map((group) => group.map((t) => t.word))
      const found = textIndex.bestAmong(db, words, limit, last, stands, only)
      const others = [...then].flatMap(([key, { entity }]) =>
        (!only || only.includes(entity.kind)) && groups.some((group) => group.every((t) => holds(key, t)))
          ? [{ key, score: 0 }]
          : [],
      )
      return [...found.map((r) => ({ key: r.rowid, score: r.score })), ...others]
    },
    texts,
    entities(keys) {
      const rows = rowsAt(db, keys)
      const isOther = (r: { id: string; updated: number }) =>
        at === undefined ? past.changes().has(r.id) : r.updated > at
      const was = new Map(past.entities(rows.flatMap((r) => (isOther(r) ? [r.id] : []))).map((e) => [e.id, e]))
      return new Map(
        rows.flatMap((r): [number, Entity][] => {
          const e = isOther(r) ? was.get(r.id) : entityOf(r)
          return e ? [[r.rowid, e]] : []
        }),
      )
    },
    around(keys) {
      const own = texts(keys)
      const sources = new Set([...own.values()].flatMap((t) => t.source ?? []))
      const rows = [...textIndex.textsInRows(db, [...sources], last)]
      const order = new Map(rows.map(([source, row]) => [source, row.filter((r) => stands(r.rowid))]))
      for (const { row } of then.values())
        if (row.source !== null && sources.has(row.source))
          order.set(row.source, [...(order.get(row.source) ?? []), { rowid: row.rowid, place: row.place! }])
      for (const row of order.values()) row.sort((a, b) => a.place - b.place || a.rowid - b.rowid)
      const beside = (key: number, source: string) => {
        const row = order.get(source)!.map((r) => r.rowid)
        const i = row.indexOf(key)
        return { before: row.slice(Math.max(0, i - REACH), i).reverse(), after: row.slice(i + 1, i + 1 + REACH) }
      }
      return new Map([...own].flatMap(([key, { source }]) => (source === null ? [] : [[key, beside(key, source)]])))
    },
    keyOf: (id) => rowId(db, id),
  }
}

const isText = (field: string, kind: Kind): boolean => kind.key.includes(field) || weightOf(field, kind) > 0

/** Whether a field may hold one of the terms, whatever it says. */
function mayHold(field: string, kind: Kind, terms: readonly Term[]): boolean {
  const spec = fieldsOf(kind)[field]
  if (spec?.type === 'flag') return false
  if (spec?.type === 'number') return terms.some((t) => /^-?[\d.]+(?:e.*)?$/.test(t.word))
  if (spec?.type !== 'choice') return true
  const stems = new Set(spec.choices!.flatMap((choice) => termsOf(choice, undefined, true).map((t) => t.stem)))
  return terms.some((t) => stems.has(t.stem))
}

/** Those where one of their fields has held one of the terms, at whatever time. */
function holding(
  db: Db,
  entities: ReadonlyMap<string, { readonly fields: ReadonlySet<string> }>,
  terms: readonly Term[],
): Set<string> {
  const asked = new Set(terms.map((t) => t.stem))
  const isOf = (id: string, field: string) => entities.get(id)!.fields.has(field)
  const may = mayTell(terms)
  const found = new Set<string>()
  for (const event of writtenWith(db, [...entities.keys()], (id, f, json) => isOf(id, f) && may(f, json))) {
    const { entity, field, value, path = [] } = event
    if (found.has(entity) || value === undefined || !isOf(entity, field)) continue
    const text = [field === 'date' ? dayWords(String(value)) : words(value), ...path].join('\n')
    if (termsOf(text, undefined, true).some((t) => asked.has(t.stem))) found.add(entity)
  }
  return found
}

/** A cheap first test whether the JSON of an event may hold one of the terms; false positives are fine. */
function mayTell(terms: readonly Term[]): (field: string, json: string) => boolean {
  const beginnings = terms.map(({ stem, word }) =>
    /^[a-z]+$/.test(word) ? stem.replace(/(?:[ie]|(?<=b)l)$/, '') : word.toLowerCase(),
  )
  return (field, json) => {
    if (field === 'date' || /[^\x00-\x7f]/.test(json)) return true
    const plain = json.toLowerCase().replace(/[_$']/g, '')
    return beginnings.some((b) => plain.includes(b))
  }
}

function textRowOf(rowid: number, text: textIndex.EntityText): textIndex.TextRow {
  const { source = null, place = null } = text
  const { terms, words } = textIndex.packRuns([text.title, ...text.parts])
  return { rowid, source, place, words, runs: textIndex.unpackRuns(terms) }
}

const stemsIn = ({ title, parts }: textIndex.EntityText): Set<string> =>
  new Set([title, ...parts].flatMap((p) => termsOf(p.text, undefined, true).map((t) => t.stem)))
