/**
 * Which parts of a sentence state something that lasts: a logistic regression over hashed words and pairs of words, in
 * the manner of Vowpal Wabbit (Weinberger et al., "Feature Hashing for Large Scale Multitask Learning", 2009). The
 * weights are made by `scripts/train-capture.ts` from the labelled prompts of `bench/capture/`.
 */
import { readFileSync } from 'node:fs'
import { packageFile } from '../../files.ts'
import { withoutLead } from './leads.ts'

export const BITS = 16
export const WEIGHTS = 'assets/capture-weights.bin'

/** FNV-1a, mixed, as a place among the weights. */
function place(text: string): number {
  let h = 0x811c9dc5
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  h ^= h >>> 15
  h = Math.imul(h, 0x2c1b3c6d)
  h ^= h >>> 12
  return h & ((1 << BITS) - 1)
}

const TOKEN = /\p{Script=Han}|`[^`]{0,100}`|[\p{L}\p{N}_]+(?:['./-][\p{L}\p{N}_]+)*|[^\s\p{L}\p{N}_]/gu

/** Words in small letters; numbers and names of code become one word each. */
function tokensOf(text: string): string[] {
  return (text.replaceAll('’', "'").match(TOKEN) ?? []).map((token) => {
    if (/^\d+(?:\.\d+)*$/.test(token)) return '<number>'
    if (token.startsWith('`') || /[\d_./]|\p{Ll}\p{Lu}/u.test(token)) return '<code>'
    return token.toLowerCase()
  })
}

/** The ending of an English word, which stands for its part of speech. */
const ending = (word: string): string =>
  word.length > 4 && /^[a-z]+$/.test(word) ? `-${/(?:ing|ed|ly|tion|ment|ers?|able|s)$/.exec(word)?.[0] ?? ''}` : word

/** Where a rule may begin or end within a sentence. */
const JOINT =
  /(?<=[,:;)，：；])\s*(?=\S)|\s(?=[-–—(])|\s(?=(?:and|but|so|because|since|cause|und|aber|also|weil|y|pero|así|porque|et|mais|donc|car|instead|rather|which|please|then|can|could)\s)/iu
const MOST_PIECES = 10
const LONGEST_SPAN = 5

/** A run of pieces of a sentence. */
export interface Span {
  readonly text: string
  readonly from: number
  readonly to: number
  readonly features: readonly number[]
}

const tidy = (text: string): string =>
  withoutLead(text.replace(/^[-–—(,，:：\s]+/, ''))
    .replace(/(?<![\s,;:，；：–—-])[\s,;:，；：–—-]+$/, '')
    .replace(/(?<![.!。！])[.!。！]+$/, '')
    .replace(/^([^()]*)\)$/, '$1')

/** Words and pairs of them. */
function words(into: Set<number>, prefix: string, tokens: readonly string[]): void {
  for (const [i, token] of tokens.entries()) {
    into.add(place(`${prefix}1${token}`))
    if (i > 0) into.add(place(`${prefix}2${tokens[i - 1]} ${token}`))
  }
}

/** The spans of a sentence that may be a rule, with what tells them apart; the sentences around it count too. */
export function spansOf(sentence: string, before = '', after = ''): Span[] {
  const pieces = sentence
    .split(JOINT)
    .filter((piece) => piece.trim() !== '')
    .slice(0, MOST_PIECES)
  const tokens = pieces.map(tokensOf)
  const shared = new Set<number>()
  words(shared, 'w', ['^', ...tokens.flat(), '$'])
  words(shared, 'p', tokensOf(before).slice(0, 4))
  words(shared, 'n', tokensOf(after).slice(0, 5))
  shared.add(place(`around ${before !== ''} ${after !== ''}`))
  const spans: Span[] = []
  let at = 0
  const starts = pieces.map((piece) => {
    const start = sentence.indexOf(piece, at)
    at = start + piece.length
    return start
  })
  for (let from = 0; from < pieces.length; from++)
    for (let to = from; to < Math.min(pieces.length, from + LONGEST_SPAN); to++) {
      const inside = tokens.slice(from, to + 1).flat()
      if (inside.length < 3) continue
      const features = new Set(shared)
      words(features, 's', ['^', ...inside, '$'])
      words(features, 'e', inside.map(ending))
      for (const [i, token] of inside.slice(0, 5).entries()) features.add(place(`b${i}${token}`))
      for (const token of inside.slice(0, 5)) features.add(place(`b${token}`))
      const last = tokens[from - 1]?.at(-1) ?? '^'
      const next = tokens[to + 1]?.[0] ?? '$'
      for (const joint of [`<${last}`, `<${last} ${inside[0]}`, `>${next}`, `>${inside.at(-1)} ${next}`])
        features.add(place(joint))
      features.add(place(`pieces ${to - from}`))
      features.add(place(`ends ${from === 0} ${to === pieces.length - 1}`))
      features.add(place(`length ${Math.min(8, inside.length >> 1)}`))
      const text = tidy(sentence.slice(starts[from], starts[to]! + pieces[to]!.length).trim())
      spans.push({ text, from, to, features: [...features] })
    }
  return spans
}

/** What a rule is: how it will be kept, and a fact's category. */
export const SORTS = ['constraint', 'convention', 'workflow', 'tool', 'pattern', 'decision', 'correction'] as const
export type Sort = (typeof SORTS)[number]
/** Sorts are told apart by fewer weights: so many places for each. */
export const SORT_BITS = 13

interface Weights {
  readonly bias: number
  /** What a step of a weight's byte counts. */
  readonly step: number
  readonly bytes: Int8Array
  /** Of each sort, one after another. */
  readonly sorts: Int8Array
}

let loaded: Weights | undefined
function weights(): Weights {
  if (loaded) return loaded
  const file = readFileSync(packageFile(WEIGHTS))
  const head = file.indexOf(10)
  const { bias, step } = JSON.parse(file.toString('utf8', 0, head))
  const at = file.byteOffset + head + 1
  loaded = {
    bias,
    step,
    bytes: new Int8Array(file.buffer, at, 1 << BITS),
    sorts: new Int8Array(file.buffer, at + (1 << BITS), SORTS.length << SORT_BITS),
  }
  return loaded
}

/** The mean of the features' weights counts so many times: a short sentence weighs as much as a long one. */
export const SCALE = 100

/** How surely a span states something lasting. */
export function logOdds(features: readonly number[], weights: ArrayLike<number>, bias: number, step = 1): number {
  let sum = 0
  for (const at of features) sum += weights[at]!
  return bias + (step * SCALE * sum) / features.length
}

/** The best spans that do not overlap, best first. */
export function best<S extends Pick<Span, 'from' | 'to'>>(spans: readonly S[], score: (span: S) => number) {
  const taken: { span: S; score: number }[] = []
  for (const one of spans.map((span) => ({ span, score: score(span) })).sort((a, b) => b.score - a.score))
    if (taken.every(({ span }) => one.span.to < span.from || one.span.from > span.to)) taken.push(one)
  return taken
}

/** How much each sort speaks for a span. */
export const sortOdds = (features: readonly number[], weights: ArrayLike<number>): number[] =>
  SORTS.map((_, sort) => {
    let sum = 0
    for (const at of features) sum += weights[(sort << SORT_BITS) | (at & ((1 << SORT_BITS) - 1))]!
    return sum / features.length
  })

export interface Lasting {
  readonly text: string
  /** Log odds. */
  readonly score: number
  readonly sort: Sort
}

/** The parts of a sentence that state something lasting, best first. */
export function lastingIn(sentence: string, before?: string, after?: string): Lasting[] {
  const { bias, step, bytes, sorts } = weights()
  return best(spansOf(sentence, before, after), ({ features }) => logOdds(features, bytes, bias, step)).map(
    ({ span, score }) => {
      const odds = sortOdds(span.features, sorts)
      return { text: span.text, score, sort: SORTS[odds.indexOf(Math.max(...odds))]! }
    },
  )
}
