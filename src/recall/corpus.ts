import { textOf } from '../materialize/apply.ts'
import type { Entity } from '../model/entity.ts'
import type { Registry } from '../model/registry.ts'
import { entityOf, type Reader } from '../read/reader.ts'
import type { Db } from '../store/db.ts'
import { rowId, rowsAt } from '../store/rows.ts'
import { hashOf, type Term } from '../store/terms.ts'
import {
  countTexts,
  type Neighbours,
  neighboursOf,
  packRuns,
  rowsWith,
  type TextRow,
  textRows,
  textsWith,
  unpackRuns,
} from '../store/text-index.ts'
import { TUNING } from './relevance.ts'

/** What is searched: the store as it is now, or the knowledge as it was. Keys are numbers that mean one text each. */
export interface Corpus {
  readonly size: number
  /** In how many texts a stem stands. */
  count(stem: string): number
  /** Texts that hold all terms of any group, best first; `all`: also what is retired or only proposed. */
  withTerms(
    groups: readonly (readonly Term[])[],
    limit: number,
    o: { readonly all: boolean; readonly kinds: readonly string[] | undefined },
  ): { key: number; score: number }[]
  /** By key; those that are there. */
  texts(keys: readonly number[]): Map<number, TextRow>
  entities(keys: readonly number[]): Map<number, Entity>
  /** What stands next to texts in their rows, by key, nearest first. */
  around(keys: readonly number[]): Map<number, Neighbours>
  keyOf(id: string): number | undefined
}

const REACH = TUNING.around.length

/** The store as it is now. */
export function storeCorpus(db: Db): Corpus {
  return {
    get size() {
      return countTexts(db)
    },
    count: (stem) => textsWith(db, stem),
    withTerms: (groups, limit, { all, kinds }) =>
      rowsWith(
        db,
        groups.map((terms) => terms.map((t) => t.word)),
        limit,
        all ? 'live' : 'confirmed',
        kinds,
      ).map((r) => ({ key: r.rowid, score: r.score })),
    texts: (keys) => new Map(textRows(db, keys).map((t) => [t.rowid, t])),
    entities: (keys) => new Map(rowsAt(db, keys).map((r) => [r.rowid, entityOf(r)])),
    around: (keys) => neighboursOf(db, keys),
    keyOf: (id) => rowId(db, id),
  }
}

/** The knowledge as a reader of a moment holds it: taken apart here, since the index knows only the present. */
export function pastCorpus(reader: Reader, registry: Registry): Corpus {
  const entities = registry.kinds().flatMap((kind) => (kind.internal ? [] : reader.list(kind.name, { all: true })))
  const keys = new Map(entities.map((e, i) => [e.id, i]))
  const holding = new Map<number, Set<number>>()
  const texts = entities.map((e, key): TextRow => {
    const { title, parts, source = null, place = null, speaker = null } = textOf(e.name, e, registry.kind(e.kind)!)
    const { terms, words } = packRuns([title, ...parts])
    const runs = unpackRuns(terms)
    for (const run of runs)
      for (const term of run.terms) {
        const there = holding.get(term)
        if (there) there.add(key)
        else holding.set(term, new Set([key]))
      }
    return { rowid: key, source, place, speaker, words, runs }
  })
  const rows = new Map<string, number[]>()
  for (const t of texts) if (t.source !== null) rows.set(t.source, [...(rows.get(t.source) ?? []), t.rowid])
  for (const row of rows.values()) row.sort((a, b) => (texts[a]!.place ?? 0) - (texts[b]!.place ?? 0) || a - b)
  return {
    size: entities.length,
    count: (stem) => holding.get(hashOf(stem))?.size ?? 0,
    withTerms(groups, limit, { kinds }) {
      const scores = new Map<number, number>()
      for (const terms of groups) {
        const [found = new Set<number>(), ...others] = terms.map(
          (t) => holding.get(hashOf(t.stem)) ?? new Set<number>(),
        )
        const score = Math.log(1 + entities.length / Math.max(1, found.size)) * terms.length
        for (const key of found)
          if ((!kinds || kinds.includes(entities[key]!.kind)) && others.every((o) => o.has(key)))
            scores.set(key, (scores.get(key) ?? 0) + score)
      }
      return [...scores]
        .map(([key, score]) => ({ key, score }))
        .sort((a, b) => b.score - a.score || entities[b.key]!.created - entities[a.key]!.created || a.key - b.key)
        .slice(0, limit)
    },
    texts: (wanted) => new Map(wanted.flatMap((key) => (texts[key] ? [[key, texts[key]] as const] : []))),
    entities: (wanted) => new Map(wanted.flatMap((key) => (entities[key] ? [[key, entities[key]] as const] : []))),
    around: (wanted) =>
      new Map(
        wanted.flatMap((key) => {
          const row = rows.get(texts[key]?.source ?? '')
          if (!row) return []
          const at = row.indexOf(key)
          const [before, after] = [row.slice(Math.max(0, at - REACH), at).reverse(), row.slice(at + 1, at + 1 + REACH)]
          return [[key, { before, after }] as const]
        }),
      ),
    keyOf: (id) => keys.get(id),
  }
}
