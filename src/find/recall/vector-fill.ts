import { textOf } from '../../engine/materialize/apply.ts'
import { entityOf } from '../../engine/read/reader.ts'
import type { Db } from '../../engine/store/db.ts'
import { getRow } from '../../engine/store/rows.ts'
import { neighboursOf } from '../../engine/store/text-index.ts'
import * as store from '../../engine/store/vectors.ts'
import type { Registry } from '../../model/registry.ts'
import type { Embedder } from './embedders/embedder.ts'
import { aroundScale, TUNING } from './relevance.ts'
import { packVector, signsOfPacked, unpackVector } from './vector-bytes.ts'

/** How many texts are embedded at a time, and stored in one transaction: the lock is free again within some milliseconds. */
const BATCH = 64
const SLICE = 16
/** What weighs less says where a text is from, not what it is about. */
const MIN_WEIGHT = 0.6

/** What of an entity a model reads: its name and what its fields say; of an answer on a page the question, which is nearest to others. */
function readable(db: Db, id: string, registry: Registry): string {
  const row = getRow(db, id)
  const kind = registry.kind(row?.kind ?? '')
  if (!row || !kind) return ''
  const e = entityOf(row)
  const { title, parts } = textOf(e.name, e, kind)
  if (e.fields.section !== undefined && title.text.endsWith('?')) return title.text
  return [title.text, ...parts.filter((p) => p.weight >= MIN_WEIGHT).map((p) => p.text)].join('\n')
}

/** What this model's vectors are called in the store: made or mixed in another way they are of no use. */
export const modelOf = (embedder: Embedder): string =>
  `${embedder.id} of questions mixed ${[...TUNING.around, TUNING.short].join(' ')}`

interface Wanted {
  readonly due: readonly { readonly rowid: number; readonly id: string; readonly version: number }[]
  /** Those that have a vector, which is only mixed anew. */
  readonly made: readonly number[]
}

/** What to do next; 'later': the vectors of another model are still being taken out, 'busy': another process writes. */
function next(db: Db, embedder: Embedder): Wanted | 'later' | 'busy' | undefined {
  if (store.vectorModel(db) !== modelOf(embedder)) {
    // a store that is written to just now has somebody else to do it
    const used = db.tryWrite(() => store.useModel(db, modelOf(embedder)))
    if (!used) return used === undefined ? 'busy' : 'later'
  }
  const all = store.due(db, BATCH)
  if (all.length === 0) return undefined
  return { due: all.filter((d) => !d.made), made: all.flatMap((d) => (d.made ? [d.rowid] : [])) }
}

/** Stores what was made, mixed with what stands beside it; false where another process holds the lock. */
function keep(db: Db, model: string, { due, made }: Wanted, vectors: readonly Float32Array[]): boolean {
  const fresh = due.map((d, i) => ({ ...d, data: packVector(vectors[i]!) }))
  for (let at = 0; at < Math.max(fresh.length, made.length); at += SLICE) {
    const isStored = db.tryWrite(() => {
      if (store.vectorModel(db) !== model) return true
      const wanted = fresh.slice(at, at + SLICE).filter((d) => store.isDue(db, d.rowid, d.version))
      storeMixed(db, new Map(wanted.map((d) => [d.rowid, d.data])), made.slice(at, at + SLICE))
      return true
    })
    if (!isStored) return false
  }
  return true
}

/** Stores new vectors by their rows, and mixes anew those beside them and the `others`. The caller holds the write lock. */
export function storeMixed(db: Db, fresh: ReadonlyMap<number, Uint8Array>, others: readonly number[] = []): void {
  const touched = new Set([...fresh.keys(), ...others])
  for (const { before, after } of neighboursOf(db, [...touched]).values())
    for (const other of [...before, ...after]) touched.add(other)
  const around = neighboursOf(db, [...touched])
  const wanted = new Set([...touched, ...[...around.values()].flatMap(({ before, after }) => [...before, ...after])])
  const data = new Map([...store.plainVectors(db, [...wanted]), ...fresh])
  const units = new Map([...data].map(([rowid, bytes]) => [rowid, unpackVector(bytes)]))
  store.putVectors(
    db,
    [...touched].flatMap((rowid) => {
      const own = data.get(rowid)
      if (!own) return []
      const beside = around.get(rowid)
      const mixed = beside ? packVector(mix(rowid, beside, units)) : null
      return [{ rowid, data: own, mixed, signs: signsOfPacked(mixed ?? own) }]
    }),
  )
}

type Beside = { readonly words: number; readonly before: readonly number[]; readonly after: readonly number[] }

/** A vector with those of the texts around it, in an order that is the same everywhere: a sum depends on it in the last digit. */
function mix(rowid: number, { words, before, after }: Beside, units: ReadonlyMap<number, Float32Array>): Float32Array {
  const mixed = Float32Array.from(units.get(rowid)!)
  const scale = aroundScale(words)
  for (const [d, factor] of TUNING.around.entries())
    for (const other of [before[d], after[d]]) {
      const theirs = other === undefined ? undefined : units.get(other)
      if (theirs) for (let i = 0; i < mixed.length; i++) mixed[i]! += theirs[i]! * factor * scale
    }
  return mixed
}

export const lacksVectors = (db: Db, embedder: Embedder): boolean =>
  store.vectorModel(db) !== modelOf(embedder) || store.someDue(db)

/** Makes vectors that are missing until `until` (ms of `performance.now()`), at least one batch. True when none is left. */
export function fillNow(db: Db, embedder: Embedder, registry: Registry, until: number): boolean {
  do {
    const wanted = next(db, embedder)
    if (wanted === undefined) return true
    if (wanted === 'busy') return false
    if (wanted === 'later') continue
    const vectors = embedder.embedNow!(wanted.due.map((d) => readable(db, d.id, registry)))
    if (!keep(db, modelOf(embedder), wanted, vectors)) return false
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
    const wanted = next(db, embedder)
    if (wanted === undefined) return true
    if (wanted === 'busy') return false
    if (wanted === 'later') continue
    const texts = wanted.due.map((d) => readable(db, d.id, registry()))
    if (!keep(db, modelOf(embedder), wanted, texts.length === 0 ? [] : await embedder.embed(texts))) return false
    progress?.(store.countDue(db))
  } while (performance.now() < until)
  return !lacksVectors(db, embedder)
}
