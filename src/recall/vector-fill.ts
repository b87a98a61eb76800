import { textOf } from '../materialize/apply.ts'
import type { Registry } from '../model/registry.ts'
import { entityOf } from '../read/reader.ts'
import type { Db } from '../store/db.ts'
import { getRow } from '../store/rows.ts'
import { countDue, due, type NewVector, putVectors, someDue, useModel, vectorModel } from '../store/vectors.ts'
import type { Embedder } from './embedders/embedder.ts'
import { packVector } from './vector-index.ts'

/** How many texts are embedded and stored at a time. */
const BATCH = 64
/** What weighs less says where a text is from, not what it is about. */
const MIN_WEIGHT = 0.6

/** What of an entity a model reads: its name and what its fields say. */
function readable(db: Db, id: string, registry: Registry): string {
  const row = getRow(db, id)
  const kind = registry.kind(row?.kind ?? '')
  if (!row || !kind) return ''
  const e = entityOf(row)
  const { title, parts } = textOf(e.name, e, kind)
  return [title.text, ...parts.filter((p) => p.weight >= MIN_WEIGHT).map((p) => p.text)].join('\n')
}

/** Whether it could be written: not where another process holds the lock. */
const done = (db: Db, body: () => void): boolean =>
  db.tryWrite(() => {
    body()
    return true
  }) === true

interface Wanted {
  readonly due: { readonly rowid: number; readonly version: number }[]
  readonly texts: string[]
}

function next(db: Db, embedder: Embedder, registry: Registry): Wanted | undefined {
  // a store that is written to just now has somebody else to do it
  if (vectorModel(db) !== embedder.id && !done(db, () => useModel(db, embedder.id))) return undefined
  const wanted = due(db, BATCH)
  return wanted.length === 0 ? undefined : { due: wanted, texts: wanted.map((d) => readable(db, d.id, registry)) }
}

/** Stores what was made; false where another process holds the lock. */
function keep(db: Db, embedder: Embedder, wanted: Wanted, vectors: readonly Float32Array[]): boolean {
  const made = wanted.due.map(({ rowid, version }, i): NewVector => ({ rowid, version, data: packVector(vectors[i]!) }))
  return done(db, () => void putVectors(db, embedder.id, made))
}

/** Whether texts lack a vector of this model. */
export const lacksVectors = (db: Db, embedder: Embedder): boolean => vectorModel(db) !== embedder.id || someDue(db)

/** How many texts lack one. */
export const lacking = (db: Db): number => countDue(db)

/** Makes vectors that are missing until `until` (ms of `performance.now()`), at least one batch. True when none is left. */
export function fillNow(db: Db, embedder: Embedder, registry: Registry, until: number): boolean {
  do {
    const wanted = next(db, embedder, registry)
    if (!wanted) return !lacksVectors(db, embedder)
    if (!keep(db, embedder, wanted, embedder.embedNow!(wanted.texts))) return false
  } while (performance.now() < until)
  return !lacksVectors(db, embedder)
}

/** The same with a model that takes its time; the store is free meanwhile. */
export async function fill(
  db: Db,
  embedder: Embedder,
  registry: () => Registry,
  until: number,
  progress?: (left: number) => void,
): Promise<boolean> {
  do {
    const wanted = next(db, embedder, registry())
    if (!wanted) return !lacksVectors(db, embedder)
    if (!keep(db, embedder, wanted, await embedder.embed(wanted.texts))) return false
    progress?.(countDue(db))
  } while (performance.now() < until)
  return !lacksVectors(db, embedder)
}
