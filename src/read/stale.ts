import type { AnchorRow } from '../store/code.ts'
import * as code from '../store/code.ts'
import type { Db } from '../store/db.ts'
import type { Reader } from './reader.ts'

/** Why what an entity says of the code may no longer hold. */
export interface Stale {
  readonly id: string
  /** As a sentence without its end: `open in src/a.ts changed`. */
  readonly why: string
  readonly since: number
  /** The stale entity that it rests on, where its own places are as they were. */
  readonly restsOn?: string
  readonly anchors: readonly AnchorRow[]
}

/** What is stale in a work tree. Cheap where nothing is. */
export class Staleness {
  readonly #reader: Reader
  readonly #own: ReadonlyMap<string, AnchorRow[]>

  constructor(db: Db, root: string, reader: Reader) {
    this.#reader = reader
    this.#own = Map.groupBy(code.staleAnchors(db, root), (a) => a.entity)
  }

  get any(): boolean {
    return this.#own.size > 0
  }

  /** Of an entity, by its own places or by one that it rests on. */
  of(id: string): Stale | undefined {
    if (!this.any) return undefined
    const own = this.#own.get(id)
    if (own) return ownStale(id, own)
    for (const link of this.#reader.links('from', id)) {
      if (this.#reader.registry().relation(link.type)?.impact !== 'backward') continue
      const basis = this.#own.get(link.to)
      if (basis)
        return { ...ownStale(id, basis), why: `rests on ${link.to}, which is stale`, restsOn: link.to, anchors: [] }
    }
    return undefined
  }

  /** Everything that is stale, the latest first, each followed by what rests on it. */
  all(): Stale[] {
    const found = new Map<string, Stale>()
    const add = (id: string) => {
      const stale = this.#reader.entity(id)?.live ? this.of(id) : undefined
      if (stale) found.set(id, stale)
    }
    for (const id of this.#own.keys()) {
      add(id)
      for (const link of this.#reader.links('to', id)) if (!found.has(link.from)) add(link.from)
    }
    return [...found.values()]
  }
}

const ownStale = (id: string, anchors: readonly AnchorRow[]): Stale => ({
  id,
  why: [...new Set(anchors.map((a) => a.stale))].join('; '),
  since: Math.min(...anchors.map((a) => a.since ?? 0)),
  anchors,
})

/** SHA-256 of what a file holds now, as far as it was seen. */
export const currentHash = (db: Db, root: string, { anchors }: Stale): string | undefined =>
  anchors[0] && code.fileSeen(db, root, anchors[0].path)?.hash

/** As it stands beside an entity. */
export const markOf = ({ why, since, restsOn }: Stale): string =>
  restsOn === undefined ? `stale: ${why} since ${new Date(since).toISOString().slice(0, 10)}` : why
