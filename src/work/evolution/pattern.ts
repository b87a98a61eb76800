import { keptIn } from '../../base/lookup.ts'
import { staticEmbedder } from '../../find/recall/embedders/static.ts'
import { wordSet } from '../../find/recall/word-overlap.ts'
import type { Entity } from '../../model/entity.ts'
import { AGENT_RETRO } from '../../model/kinds/observation.ts'
import { foldText } from '../../model/names.ts'
import { observedAt, operationOf, RUN } from '../handoff/views/observations.ts'

/** So many alike are a pattern (P2). */
export const ENOUGH = 3
/** So alike are two that tell of the same trouble; set on bench/observations/tuned.txt, docs/evolution.md has the figures. */
const ALIKE = 0.35
/** Of an operation the newest are compared. */
const MOST = 150

/** An observation as it is compared. */
export interface Seen {
  readonly entity: Entity
  readonly operation: string
  readonly what: string
  readonly words: ReadonlySet<string>
  readonly at: number
  /** It went well: something was saved, or the operation did what it was to do. */
  readonly good: boolean
  /** Somebody has said that it did not; a reviewer's line always does. */
  readonly bad: boolean
}

export function seen(entity: Entity): Seen {
  const { operation, what, cost, succeeded, tags } = entity.fields
  const name = operationOf(operation)
  const own = wordSet(name)
  const isSaving = typeof cost === 'string' && /^(?:saved|benefit|gain)/i.test(cost)
  const text = String(what ?? '')
  const has = (tag: string) => Array.isArray(tags) && tags.includes(tag)
  return {
    entity,
    operation: name,
    what: text,
    words: new Set([...wordSet(text)].filter((word) => !own.has(word))),
    at: observedAt(entity),
    good: succeeded === true || (succeeded === undefined && (isSaving || has(RUN))),
    bad: succeeded === false || has(AGENT_RETRO) || (cost !== undefined && !isSaving),
  }
}

/** Similarity of observations, 0 to 1: the mean of weighted shared words and embedding. Linked ones are the same. */
export class Likeness {
  readonly #embed = staticEmbedder()
  readonly #troubles = new Map<string, string>()
  readonly #vectors = new Map<Seen, Float32Array>()
  readonly #in = new Map<string, number>()
  readonly #of: number

  /** `same`: ids of two observations each. */
  constructor(all: readonly Seen[], same: readonly (readonly [string, string])[] = []) {
    this.#of = all.length
    for (const [a, b] of same) this.#troubles.set(this.troubleOf(a), this.troubleOf(b))
    for (const { words } of all) for (const word of words) this.#in.set(word, (this.#in.get(word) ?? 0) + 1)
  }

  #weight = (word: string): number => Math.log(1 + this.#of / (this.#in.get(word) ?? 1))

  #sum = (words: Iterable<string>): number => [...words].reduce((sum, word) => sum + this.#weight(word) ** 2, 0)

  #vector(s: Seen): Float32Array {
    return keptIn(this.#vectors, s, () => this.#embed.embedNow!([s.what])[0]!)
  }

  /** One id for all that are said to be the same trouble. */
  troubleOf(id: string): string {
    let of = id
    for (let next = this.#troubles.get(of); next !== undefined && next !== of; next = this.#troubles.get(of)) of = next
    return of
  }

  #isSame = (a: Seen, b: Seen): boolean => this.troubleOf(a.entity.id) === this.troubleOf(b.entity.id)

  of(a: Seen, b: Seen): number {
    if (this.#isSame(a, b) || foldText(a.what) === foldText(b.what)) return 1
    const both = [...a.words].filter((word) => b.words.has(word))
    // without a word on how it went, "the smoke test passed" would be like "… was skipped"
    if (!(a.bad && b.bad) && both.length < Math.max(1, Math.min(a.words.size, b.words.size))) return 0
    const words = this.#sum(both) / (Math.sqrt(this.#sum(a.words) * this.#sum(b.words)) || 1)
    const [x, y] = [this.#vector(a), this.#vector(b)]
    return (words + x.reduce((sum, v, i) => sum + v * y[i]!, 0)) / 2
  }

  /** Whether it tells of the trouble that others tell of. */
  recurs(one: Seen, of: readonly Seen[]): boolean {
    if (one.good || of.length === 0 || of[0]!.operation !== one.operation) return false
    return (
      of.some((other) => this.#isSame(one, other)) ||
      of.reduce((sum, other) => sum + this.of(one, other), 0) / of.length >= ALIKE
    )
  }
}

/** What recurs, by operation: groups in which every two are alike, the likest put together first. */
export const patternsIn = (all: readonly Seen[], likeness: Likeness): Seen[][] =>
  troublesIn(all, likeness).filter((g) => g.length >= ENOUGH)

/** The same, with what was told once or twice. */
export function troublesIn(all: readonly Seen[], likeness: Likeness): Seen[][] {
  const bad = all.filter((s) => !s.good).toSorted((a, b) => a.at - b.at || (a.entity.id < b.entity.id ? -1 : 1))
  return [...Map.groupBy(bad, (s) => s.operation).values()].flatMap((own) => groupsOf(own.slice(-MOST), likeness))
}

function groupsOf(own: readonly Seen[], likeness: Likeness): Seen[][] {
  const groups = [...Map.groupBy(own, (s) => likeness.troubleOf(s.entity.id)).values()]
  const nearest = (a: readonly Seen[], b: readonly Seen[]) =>
    Math.max(...a.flatMap((x) => b.map((y) => likeness.of(x, y))))
  const alike = groups.map((a, i) => groups.map((b, j) => (i < j ? nearest(a, b) : 0)))
  const between = (i: number, j: number): number => alike[Math.min(i, j)]![Math.max(i, j)]!
  for (;;) {
    let [best, from, to] = [ALIKE, -1, -1]
    for (const [i, row] of alike.entries())
      for (let j = i + 1; j < row.length; j++)
        if (row[j]! >= best && (row[j]! > best || from < 0)) [best, from, to] = [row[j]!, i, j]
    if (from < 0) return groups.filter((g) => g.length > 0)
    groups[from]!.push(...groups[to]!)
    groups[to] = []
    for (let k = 0; k < groups.length; k++) {
      if (k !== from && k !== to)
        alike[Math.min(from, k)]![Math.max(from, k)] = Math.min(between(from, k), between(to, k))
      alike[Math.min(to, k)]![Math.max(to, k)] = 0
    }
  }
}
