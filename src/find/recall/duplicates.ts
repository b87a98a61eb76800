import { keptIn } from '../../base/lookup.ts'
import { isTelling, tokensOf } from './word-overlap.ts'

export interface Comparable {
  readonly id: string
  readonly kind: string
  readonly text: string
  /** What it holds for, where that is not all: texts for one thing are compared with each other alone. */
  readonly scope?: string
}

/** This share of the words of two texts together must stand in both. */
const SHARED = 0.8
/** This share of the shorter one's words must come in the same order: who calls whom is said by order alone. */
const IN_ORDER = 0.75
/** Of a long text the beginning is compared. */
const MAX_WORDS = 400

/** Kinds that do not state: a question is no duplicate of the decision that answers it, nor a task of its result. */
const OWN = new Set(['question', 'hypothesis', 'goal', 'activity', 'task', 'file', 'person', 'proposal', 'mutation'])

interface Bag {
  /** Every word as it stands, stop-words too. */
  readonly spoken: readonly string[]
  readonly words: readonly string[]
  readonly set: ReadonlySet<string>
  readonly group: string
}

/** Folds near duplicates into the best-ranked (`similar`); another object, number, negation or limit keeps apart. */
export function foldSimilar<T extends Comparable>(ranked: readonly T[]): { item: T; similar: string[] }[] {
  const bags = ranked.map(bagOf)
  const spread = new Map<string, number>()
  for (const { set } of bags) for (const word of set) spread.set(word, (spread.get(word) ?? 0) + 1)
  const kept: { item: T; bag: Bag; similar: string[] }[] = []
  /** By group and word: those that may be like something with this word among its rarest. */
  const byWord = new Map<string, number[]>()
  for (const [i, bag] of bags.entries()) {
    const keys = rarest(bag, spread).map((word) => `${bag.group} ${word}`)
    const near = [...new Set(keys.flatMap((key) => byWord.get(key) ?? []))].sort((a, b) => a - b)
    const best = near.find((k) => isSimilar(kept[k]!.bag, bag))
    if (best !== undefined) {
      kept[best]!.similar.push(ranked[i]!.id)
      continue
    }
    for (const key of keys) keptIn(byWord, key, () => []).push(kept.length)
    kept.push({ item: ranked[i]!, bag, similar: [] })
  }
  return kept.map(({ item, similar }) => ({ item, similar }))
}

function bagOf({ kind, text, scope = '' }: Comparable): Bag {
  const words: string[] = []
  let negations = 0
  for (const { stem, type } of tokensOf(text).slice(0, 2 * MAX_WORDS)) {
    if (type === 'negation') negations++
    else if (type === 'word' || type === 'number') words.push(stem)
    if (words.length === MAX_WORDS) break
  }
  // without a word to compare, only the very same text is the same
  if (words.length === 0) words.push(text.trim())
  const negated = negations % 2 === 1
  const spoken =
    text
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu)
      ?.slice(0, MAX_WORDS) ?? []
  return { spoken, words, set: new Set(words), group: `${OWN.has(kind) ? kind : ''}${negated ? '-' : '+'}${scope}` }
}

/** Two sets that share enough of their words share one of these: the rarest, as many as may be missing and one more. */
function rarest({ set }: Bag, spread: ReadonlyMap<string, number>): string[] {
  const may = set.size - Math.ceil(SHARED * set.size) + 1
  return [...set].sort((a, b) => spread.get(a)! - spread.get(b)! || (a < b ? -1 : 1)).slice(0, may)
}

/** The same words in another order: "A blocks B" and "B blocks A". */
const isPermuted = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.some((word, i) => word !== b[i]) && [...a].sort().join(' ') === [...b].sort().join(' ')

function isSimilar(a: Bag, b: Bag): boolean {
  const [small, large] = a.set.size <= b.set.size ? [a, b] : [b, a]
  if (small.set.size < SHARED * large.set.size) return false
  for (const word of small.set) if (!large.set.has(word)) return false
  for (const word of large.set) if (!small.set.has(word) && isTelling(word)) return false
  if (isPermuted(a.spoken, b.spoken)) return false
  return inOrder(small.words, large.words) >= IN_ORDER * Math.min(small.words.length, large.words.length)
}

function inOrder(a: readonly string[], b: readonly string[]): number {
  if (a.length === b.length && a.every((word, i) => word === b[i])) return a.length
  let before = new Uint16Array(b.length + 1)
  for (const word of a) {
    const row = new Uint16Array(b.length + 1)
    for (let j = 1; j <= b.length; j++)
      row[j] = word === b[j - 1] ? before[j - 1]! + 1 : Math.max(before[j]!, row[j - 1]!)
    before = row
  }
  return before[b.length]!
}
