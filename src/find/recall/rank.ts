import type { Reader } from '../../engine/read/reader.ts'
import {
  hashOf,
  isCode,
  isStopWord,
  questionTerms,
  type Term,
  termsOf,
  tokensIn,
  writtenAsOne,
} from '../../engine/store/terms.ts'
import type { Neighbours, TextRow } from '../../engine/store/text-index.ts'
import type { Entity } from '../../model/entity.ts'
import { standingOf } from '../../model/entity.ts'
import type { Corpus } from './corpus.ts'
import {
  fuse,
  type InRow,
  type Legs,
  type Lexical,
  lexicalOf,
  relevances,
  type Seen,
  type Spread,
  seenOf,
  spreadOf,
  TUNING,
  weigh,
} from './relevance.ts'

/** What the vectors of a store say of one question. */
export interface VectorLeg {
  nearest(limit: number): readonly { readonly rowid: number; readonly cosine: number }[]
  /** By key; those that have a vector. */
  cosines(keys: readonly number[]): ReadonlyMap<number, number>
  readonly spread: Spread
  readonly floor: number
  readonly ceiling: number
}

export interface Ranked {
  readonly entity: Entity
  readonly key: number
  readonly relevance: number
  readonly lexical: Lexical
  readonly cosine: number | undefined
  /** The question calls it by its name, id or path. */
  readonly named: boolean
  /** The name of the result it is linked to, where it is here for that alone. */
  readonly linkedTo: string | undefined
}

export interface RankOptions {
  readonly corpus: Corpus
  readonly reader: Reader
  readonly vectors: VectorLeg | undefined
  readonly kinds: readonly string[] | undefined
  readonly all: boolean
  /** For a hook, which has little time: fewer candidates, and none for links or the name that the whole question is. */
  readonly isQuick?: boolean
  /** Those that may be told at all: their state, the scope, the time they are from. */
  admitted(found: readonly Entity[]): readonly Entity[]
}

/** A longer question is a document; only its beginning is searched for. */
const MAX_QUESTION = 16_384
/** Candidates by words, by vectors, and of these the ones whose neighbours come along. */
const BY_WORDS = 150
const BY_VECTOR = 80
const WITH_NEIGHBOURS = 40
/** How many candidates are compared together with their neighbours. */
const CLOSE = 100
const STEP = 50
/** Candidates by words, and of these compared, where there is little time. */
const QUICK = 40
const WITH_LINKS = 6
const MAX_LINKS = 24
/** How many texts the searched terms may match together; the same again for pairs of common terms. */
const POSTINGS = 3_000
/** How many pairs of common terms are searched for, and how many times a text holds one of them: all those are read. */
const PAIRS = 12
const READ = 300_000
/** If a narrow filter leaves fewer candidates than `ENOUGH`, this many are searched for. */
const DEEP = 4_000
const ENOUGH = 30

/** What a result lends to what is linked to it. */
const LINKED = 0.4
/** For a path or name that the question holds. */
const NAMED = 2

/**
 * The terms that candidates are searched by: all, or the rarest within `POSTINGS`. Frequent terms come in pairs, one of them
 * left out: a text with both may be the answer, however many texts have one.
 */
function searchTerms(
  terms: readonly Term[],
  counts: readonly number[],
  size: number,
): { alone: Term[][]; pairs: Term[][] } {
  const order = [...terms.keys()].sort((a, b) => counts[a]! - counts[b]! || a - b)
  let postings = 0
  const first = order.findIndex((i) => {
    // one that no text holds is looked for as well: the index may stem it in another way
    const isMore = postings > 0 && postings + counts[i]! > POSTINGS
    postings += counts[i]!
    return isMore
  })
  const alone = first < 0 ? order : order.slice(0, first)
  postings = 0
  let read = 0
  const pairs = order
    .slice(alone.length)
    .flatMap((i, at) =>
      order
        .slice(0, alone.length + at)
        .filter((j) => counts[j]! > BY_WORDS)
        .map((j) => ({ i, j, texts: (counts[i]! * counts[j]!) / size })),
    )
    .filter(({ texts }) => texts > 0)
    .sort((a, b) => a.texts - b.texts || a.i - b.i || a.j - b.j)
    .filter(({ texts }, at) => (at === 0 && alone.length === 1) || (at < PAIRS && (postings += texts) <= POSTINGS))
    .filter(({ i, j }) => (read += counts[i]! + counts[j]!) <= READ)
  return { alone: alone.map((i) => [terms[i]!]), pairs: pairs.map(({ i, j }) => [terms[i]!, terms[j]!]) }
}

/** What the question calls by its name, as a whole or within it, and the term that it is made of where it is one word. */
function named(
  question: string,
  reader: Reader,
  isQuick: boolean,
): { whole: Set<string>; within: Set<string>; only?: string } {
  const asked = question.trim()
  const whole = new Set(asked.length <= 200 && !isQuick ? reader.find(asked).map((e) => e.id) : [])
  const within = new Set<string>()
  const tokens = tokensIn(question.slice(0, 2_000))
  const references = tokens.filter((w) => /[./:_-]|\p{Ll}\p{Lu}/u.test(w)).map((w) => w.replace(/(?::\d+){1,2}$/, ''))
  for (const word of references.slice(0, 8)) for (const e of reader.find(word)) within.add(e.id)
  const words = tokens.map((token) => termsOf(token)[0]).filter((t) => t !== undefined)
  return { whole, within, ...(words.length === 1 ? { only: words[0]!.word } : {}) }
}

/** What answers a question, best first, each once. Deterministic for equal input. */
export function rank(whole: string, o: RankOptions): Ranked[] {
  const question = whole.slice(0, MAX_QUESTION)
  const { corpus, reader, isQuick = false } = o
  const close = isQuick ? QUICK : CLOSE
  const terms = questionTerms(question).filter((t) => !isCode(t.word) || corpus.count(t) > 0)
  const asOne = TUNING.asOne > 0 ? writtenAsOne(question).filter(({ term }) => corpus.count(term) > 0) : []
  const stems = new Set(terms.map((t) => t.stem))
  // a verb says something else with its particle, so `timeout` is asked for beside `time`
  const verbs = asOne.filter(({ term, of }) => of.length === 1 && !stems.has(term.stem)).map(({ term }) => term)
  terms.push(...verbs)
  const both = asOne.filter(({ term, of }) => of.length === 2 && !stems.has(term.stem))
  // a question of nothing but stop-words points nowhere
  const vectors = terms.some((t) => !isStopWord(t.word)) ? o.vectors : undefined
  const counts = terms.map((t) => corpus.count(t))
  const size = corpus.size
  const firstLine = question.trimStart().split('\n', 1)[0]!
  const first = new Set(
    [...questionTerms(firstLine), ...writtenAsOne(firstLine).map(({ term }) => term)].map((t) => t.stem),
  )
  const spread = vectors && {
    ...vectors.spread,
    weight: vectors.spread.weight * Math.min(1, TUNING.telling / terms.length),
  }
  const one = both.map(({ term }) => term)
  const lookedFor = searchTerms([...terms, ...one], [...counts, ...one.map((t) => corpus.count(t))], size)
  const references = named(question, reader, isQuick)

  const entities = new Map<number, Entity>()
  const texts = new Map<number, TextRow>()
  const scoresByIndex = new Map<number, number>()
  const load = (keys: readonly number[]): void => {
    for (const [key, text] of corpus.texts(keys.filter((k) => !texts.has(k)))) texts.set(key, text)
  }
  const judged = new Set<number>()
  const admit = (wanted: readonly (number | undefined)[]): void => {
    const fresh = [...new Set(wanted)].filter((key): key is number => key !== undefined && !judged.has(key))
    for (const key of fresh) judged.add(key)
    const there = [...corpus.entities(fresh)].filter(([, e]) => !o.kinds || o.kinds.includes(e.kind))
    const admitted = new Set(o.admitted(there.map(([, e]) => e)))
    for (const [key, e] of there) if (admitted.has(e)) entities.set(key, e)
    load(fresh.filter((key) => entities.has(key)))
  }

  const textOf = (key: number): TextRow =>
    texts.get(key) ?? { rowid: key, source: null, place: null, words: 0, runs: [] }
  const ofQuestion = weigh(terms, counts, size, 1, first, both)
  /** Best first by a first look, without what stands around them. */
  const roughly = (keys: readonly number[]): number[] => {
    const seen = keys.map((key) => seenOf({ text: textOf(key), before: [], after: [] }, ofQuestion))
    const average = averageOf(seen.flatMap((t) => t.passages))
    const cosines = vectors?.cosines(keys)
    const legs = seen.map((p, i): Legs => {
      const cosine = cosines?.get(keys[i]!)
      const lexical = lexicalOf(p, ofQuestion, average)
      return {
        lexical,
        ...(cosine === undefined ? {} : { cosine }),
        source: '', // of one source all: it says nothing yet
      }
    })
    const fused = fuse(legs, spread)
    const order = [...keys.keys()].sort((a, b) => fused[b]! - fused[a]! || keys[a]! - keys[b]!)
    return order.map((i) => keys[i]!)
  }
  /** The best of so many that may be told; whether there may be more. */
  const gather = (byWords: number, byVector: number): boolean => {
    const filter = { all: o.all, kinds: o.kinds }
    const hits = [lookedFor.alone, isQuick ? [] : lookedFor.pairs].flatMap((groups) =>
      corpus.withTerms(groups, byWords, filter),
    )
    const near = vectors?.nearest(byVector) ?? []
    for (const { key, score } of hits) scoresByIndex.set(key, score)
    const keys = [...new Set([...hits.map((h) => h.key), ...near.map((n) => n.rowid)])]
    load(keys)
    const order = roughly(keys.filter((key) => texts.has(key)))
    for (let at = 0; at < order.length && entities.size < close; at += STEP)
      admit(order.slice(at, at + Math.min(STEP, close - entities.size)))
    return hits.length >= byWords || near.length === byVector
  }
  if (gather(isQuick ? QUICK : BY_WORDS, BY_VECTOR) && entities.size < ENOUGH && !isQuick) gather(DEEP, DEEP)
  const found = [...entities.keys()]
  admit([...references.whole, ...references.within].map((id) => corpus.keyOf(id)))
  if (entities.size === 0) return []
  const isNamed = (key: number) => {
    const { id } = entities.get(key)!
    return references.whole.has(id) || references.within.has(id)
  }
  const around = new Map(corpus.around(found))
  const beside = (key: number): Neighbours => around.get(key) ?? { before: [], after: [] }
  admit(found.slice(0, WITH_NEIGHBOURS).flatMap((key) => [beside(key).before[0], beside(key).after[0]]))
  for (const [key, of] of corpus.around([...entities.keys()])) around.set(key, of)
  load([...around.values()].flatMap(({ before, after }) => [...before, ...after]))
  const row = (key: number): InRow => {
    const of = (keys: readonly number[]) => keys.flatMap((k) => texts.get(k) ?? [])
    return { text: textOf(key), before: of(beside(key).before), after: of(beside(key).after) }
  }

  // in an order that depends neither on the way by which each was found nor on when it was stored: sums are the same to
  // the last digit in every replica
  const keys = [...entities].sort(([, a], [, b]) => (a.id < b.id ? -1 : 1)).map(([key]) => key)
  const weighted = weigh(terms, counts, size, spreadOf(keys.map(row)), first, both)
  const seen = new Map(keys.map((key): [number, Seen] => [key, seenOf(row(key), weighted)]))
  const averageLength = averageOf([...seen.values()].flatMap((t) => t.passages))

  const legsOf = (key: number): Legs => {
    const lexical = lexicalOf(seen.get(key) ?? seenOf(row(key), weighted), weighted, averageLength)
    const cosine = vectors?.cosines([key]).get(key)
    return {
      // a question of nothing but stop-words is answered by what the index found
      lexical: lexical.score > 0 ? lexical : { ...lexical, score: scoresByIndex.has(key) ? 1e-3 : 0 },
      ...(cosine === undefined ? {} : { cosine }),
      source: textOf(key).source,
    }
  }
  vectors?.cosines(keys) // all at once
  const legs = keys.map(legsOf)
  const fused = fuse(legs, spread)
  for (const [i, key] of keys.entries()) if (isNamed(key)) fused[i]! += NAMED

  if (TUNING.referred > 0) for (const [i, more] of referred(keys, fused, entities, textOf)) fused[i]! += more

  // what is linked to the best ones comes along
  const linkedTo = new Map<number, string>()
  const best = [...keys.keys()].sort((a, b) => fused[b]! - fused[a]! || keys[a]! - keys[b]!).slice(0, WITH_LINKS)
  for (const i of isQuick ? [] : best) {
    const from = entities.get(keys[i]!)!
    const links = [...reader.links('from', from.id), ...reader.links('to', from.id)].slice(0, MAX_LINKS)
    for (const link of links) {
      if (standingOf(link.entity.fields) !== 'confirmed') continue
      const key = corpus.keyOf(link.from === from.id ? link.to : link.from)
      if (key === undefined) continue
      const lent = LINKED * fused[i]!
      const there = keys.indexOf(key)
      if (there >= 0) {
        if (fused[there]! < lent) {
          fused[there] = lent
          linkedTo.set(key, from.name)
        }
        continue
      }
      if (lent <= 0) continue
      admit([key])
      if (!entities.has(key)) continue
      const own = legsOf(key)
      keys.push(key)
      legs.push(own)
      fused.push(lent)
      linkedTo.set(key, from.name)
    }
  }

  const meant = keys.map((key, i) => {
    if (references.whole.has(entities.get(key)!.id)) return 2
    return references.only !== undefined && legs[i]!.lexical.words.includes(references.only) ? 1 : 0
  })
  const relevance = relevances(fused, legs, meant, vectors)
  const out: Ranked[] = []
  for (const [i, key] of keys.entries()) {
    const entity = entities.get(key)!
    const { lexical, cosine } = legs[i]!
    const fits = lexical.score > 0 || isNamed(key) || linkedTo.has(key) || (cosine ?? -1) > (vectors?.floor ?? 1)
    if (!fits) continue
    out.push({
      entity,
      key,
      relevance: relevance[i]!,
      lexical,
      cosine,
      named: isNamed(key),
      linkedTo: linkedTo.get(key),
    })
  }
  return out
}

/** What a title begins with that is the number of something: `ADR-7`, `PEP 8`, `CVE-2024-1234`. */
const LABEL = /^\s*(\p{Lu}{2,8}[- ]\d[\d-]{0,15})(?![\p{L}\p{N}])/u
/** How many of the best are read for what they refer to. */
const REFERRING = 20

/** What the best texts refer to by its label answers more often: by index, what that adds. The better they are, the more. */
function referred(
  keys: readonly number[],
  fused: readonly number[],
  entities: ReadonlyMap<number, Entity>,
  textOf: (key: number) => TextRow,
): Map<number, number> {
  const byFirst = new Map<number, { i: number; label: readonly number[] }[]>()
  for (const [i, key] of keys.entries()) {
    const label = LABEL.exec(entities.get(key)!.name)?.[1]
    if (label === undefined) continue
    const hashes = termsOf(label).map((t) => hashOf(t.stem))
    const there = byFirst.get(hashes[0]!)
    if (there) there.push({ i, label: hashes })
    else byFirst.set(hashes[0]!, [{ i, label: hashes }])
  }
  const sums = new Map<number, number>()
  if (byFirst.size === 0) return sums
  const best = [...keys.keys()].sort((a, b) => fused[b]! - fused[a]! || keys[a]! - keys[b]!).slice(0, REFERRING)
  const most = fused[best[0]!]!
  for (const from of best) {
    if (fused[from]! <= 0) break
    const to = new Set<number>()
    for (const { terms } of textOf(keys[from]!).runs)
      for (const [at, term] of terms.entries())
        for (const { i, label } of byFirst.get(term) ?? [])
          if (i !== from && label.every((hash, n) => terms[at + n] === hash)) to.add(i)
    for (const i of to) sums.set(i, (sums.get(i) ?? 0) + (fused[from]! / most) ** 2)
  }
  return new Map([...sums].map(([i, sum]) => [i, TUNING.referred * Math.log1p(sum)]))
}

const averageOf = (pieces: readonly { readonly length: number }[]): number =>
  pieces.reduce((sum, p) => sum + p.length, 0) / Math.max(1, pieces.length) || 1
