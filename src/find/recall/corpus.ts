import { keptIn } from '../../base/lookup.ts'
import { entityOf } from '../../engine/read/reader.ts'
import { aheadIds, dated } from '../../engine/store/clock-ahead.ts'
import type { Db } from '../../engine/store/db.ts'
import { rowId, rowsAt } from '../../engine/store/rows.ts'
import type { Term } from '../../engine/store/terms.ts'
import type { Neighbours, TextRow } from '../../engine/store/text-index.ts'
import { countTexts, neighboursOf, rowsWith, textRows, textsWith } from '../../engine/store/text-index.ts'
import type { Entity } from '../../model/entity.ts'

/** What is searched: the store as it is now, or the knowledge as it was. Keys are numbers that mean one text each. */
export interface Corpus {
  readonly size: number
  /** In how many texts a term stands. */
  count(term: Term): number
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

export function storeCorpus(db: Db): Corpus {
  const counts = new Map<string, number>()
  const ahead = aheadIds(db)
  const { here } = db
  return {
    get size() {
      return countTexts(db)
    },
    count: ({ stem }) => keptIn(counts, stem, () => textsWith(db, stem)),
    withTerms(groups, limit, { all, kinds }) {
      const words = groups.map((terms) => terms.map((t) => t.word))
      const rows = rowsWith(here, words, limit, all ? 'live' : 'confirmed', kinds)
      return rows.map((r) => ({ key: r.rowid, score: r.score }))
    },
    texts: (keys) => new Map(textRows(db, keys).map((t) => [t.rowid, t])),
    entities: (keys) => new Map(rowsAt(here, keys).map((r) => [r.rowid, entityOf(dated(db, ahead, r))])),
    around: (keys) => neighboursOf(db, keys),
    keyOf: (id) => rowId(here, id),
  }
}
