import type { Reader } from '../../engine/read/reader.ts'
import { hashOf, isCode, isStopWord, questionTerms, type Term, termsOf, tokensIn } from '../../engine/store/terms.ts'
import type { Neighbours, TextRow } from '../../engine/store/text-index.ts'
import { type Entity, standingOf } from '../../model/entity.ts'
import type { Corpus } from './corpus.ts'
import type { InRow, Legs, Lexical, Seen, Spread } from './relevance.ts'
import { fuse, lexicalOf, relevances, seenOf, spreadOf, TUNING, weigh } from './relevance.ts'
import { shippedWords } from './topic-vocabulary.ts'

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
  /** It speaks of a topic that the question calls by its name. */
  readonly onTopic: boolean
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

/** A question of more words is no question that a page would quote. */
const MAX_ASKED = 40

/** What a result lends to what is linked to it. */
const LINKED = 0.4
/** For a word that speaks of a topic which the question names: SQLite of "which database". */
const ON_TOPIC = 0.4
/** For a path or name that the question holds. */
const NAMED = 2

/** The rarest terms within `POSTINGS`; frequent ones in pairs. */
function searchTerms(terms: readonly Term[], counts: readonly number[], size: number) {
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
function named(question: string, reader: Reader, isQuick: boolean) {
  const asked = question.trim()
  const whole = new Set(asked.length <= 200 && !isQuick ? reader.find(asked).map((e) => e.id) : [])
  const within = new Set<string>()
  const tokens = tokensIn(question.slice(0, 2_000))
  const references = tokens.filter((w) => /[./:_-]|\p{Ll}\p{Lu}/u.test(w)).map((w) => w.replace(/(?::\d+){1,2}$/, ''))
  for (const word of references.slice(0, 8)) for (const e of reader.find(word)) within.add(e.id)
  const words = tokens.map((token) => termsOf(token)[0]).filter((t) => t !== undefined)
  return { whole, within, ...(words.length === 1 ? { only: words[0]!.word } : {}) }
}

/** A question taken apart. */
interface Question {
  readonly terms: readonly Term[]
  /** In how many texts each term stands. */
  readonly counts: readonly number[]
  /** The stems of its first line. */
  readonly firstLine: ReadonlySet<string>
  readonly vectors: VectorLeg | undefined
  readonly spread: Spread | undefined
  readonly references: ReturnType<typeof named>
  /** What speaks of the topics that it names. */
  readonly topical: readonly Term[]
  /** Its words in their order, as hashes, where it is put as a question. */
  readonly asked: readonly number[]
}

function takeApart(question: string, { corpus, reader, vectors: all, isQuick = false }: RankOptions): Question {
  const terms = questionTerms(question).filter((t) => !isCode(t.word) || corpus.count(t) > 0)
  // a question of nothing but stop-words points nowhere
  const vectors = terms.some((t) => !isStopWord(t.word)) ? all : undefined
  return {
    terms,
    counts: terms.map((t) => corpus.count(t)),
    firstLine: new Set(questionTerms(question.trimStart().split('\n', 1)[0]!).map((t) => t.stem)),
    vectors,
    spread: vectors && {
      ...vectors.spread,
      weight: vectors.spread.weight * Math.min(1, TUNING.telling / terms.length),
    },
    references: named(question, reader, isQuick),
    // a word that nobody wrote is understood by what speaks of its topic
    topical: terms.flatMap((t) => (isQuick || corpus.count(t) > 0 ? [] : shippedWords().wordsOn(t.word))),
    asked: question.trimEnd().endsWith('?') ? termsOf(question, MAX_ASKED).map((t) => hashOf(t.stem)) : [],
  }
}

/** A page that quotes the question says nothing of its answer by that: what it says besides counts, and its headings. */
function withoutQuotes(text: TextRow, asked: readonly number[]): TextRow {
  if (asked.length < 2 || asked.length >= MAX_ASKED) return text
  const runs = text.runs.map((run) => {
    const quotes =
      run.weight < 1 || run.terms.length < 2 * asked.length
        ? []
        : [...run.terms.keys()].filter((at) => asked.every((hash, n) => run.terms[at + n] === hash))
    if (quotes.length === 0) return run
    return { ...run, terms: run.terms.filter((_, i) => !quotes.some((at) => i >= at && i < at + asked.length)) }
  })
  return { ...text, runs }
}

/** The texts that may answer a question. */
class Candidates {
  readonly #o: RankOptions
  readonly #q: Question
  readonly entities = new Map<number, Entity>()
  /** What the index gave a text that it found by words. */
  readonly scores = new Map<number, number>()
  readonly #texts = new Map<number, TextRow>()
  readonly #judged = new Set<number>()
  readonly #around = new Map<number, Neighbours>()

  constructor(q: Question, o: RankOptions) {
    this.#q = q
    this.#o = o
  }

  /** By words and vectors, then what the question names, then the neighbours of the best. */
  find(): void {
    const { corpus, isQuick = false } = this.#o
    const { whole, within } = this.#q.references
    if (this.#gather(isQuick ? QUICK : BY_WORDS, BY_VECTOR) && this.entities.size < ENOUGH && !isQuick)
      this.#gather(DEEP, DEEP)
    const found = [...this.entities.keys()]
    const topical = this.#q.topical.map((t) => [t])
    this.admit(corpus.withTerms(topical, QUICK, this.#o).map((hit) => hit.key))
    this.admit([...whole, ...within].map((id) => corpus.keyOf(id)))
    for (const [key, of] of corpus.around(found)) this.#around.set(key, of)
    this.admit(
      found.slice(0, WITH_NEIGHBOURS).flatMap((key) => {
        const { before, after } = this.#beside(key)
        return [before[0], after[0]]
      }),
    )
    for (const [key, of] of corpus.around([...this.entities.keys()])) this.#around.set(key, of)
    this.#load([...this.#around.values()].flatMap(({ before, after }) => [...before, ...after]))
  }

  /** Adds those that may be told. */
  admit(wanted: readonly (number | undefined)[]): void {
    const { corpus, kinds, admitted } = this.#o
    const fresh = [...new Set(wanted)].filter((key): key is number => key !== undefined && !this.#judged.has(key))
    for (const key of fresh) this.#judged.add(key)
    const there = [...corpus.entities(fresh)].filter(([, e]) => !kinds || kinds.includes(e.kind))
    const allowed = new Set(admitted(there.map(([, e]) => e)))
    for (const [key, e] of there) if (allowed.has(e)) this.entities.set(key, e)
    this.#load(fresh.filter((key) => this.entities.has(key)))
  }

  isNamed(key: number): boolean {
    const { id } = this.entities.get(key)!
    return this.#q.references.whole.has(id) || this.#q.references.within.has(id)
  }

  textOf(key: number): TextRow {
    return this.#texts.get(key) ?? { rowid: key, source: null, place: null, words: 0, runs: [] }
  }

  rowOf(key: number): InRow {
    const textsOf = (keys: readonly number[]) => keys.flatMap((k) => this.#texts.get(k) ?? [])
    const { before, after } = this.#beside(key)
    return { text: this.textOf(key), before: textsOf(before), after: textsOf(after) }
  }

  #beside(key: number): Neighbours {
    return this.#around.get(key) ?? { before: [], after: [] }
  }

  #load(keys: readonly number[]): void {
    for (const [key, text] of this.#o.corpus.texts(keys.filter((k) => !this.#texts.has(k))))
      this.#texts.set(key, withoutQuotes(text, this.#q.asked))
  }

  /** Admits the best of so many; whether there may be more. */
  #gather(byWords: number, byVector: number): boolean {
    const { corpus, all, kinds, isQuick = false } = this.#o
    const { alone, pairs } = searchTerms(this.#q.terms, this.#q.counts, corpus.size)
    const hits = [alone, isQuick ? [] : pairs].flatMap((groups) => corpus.withTerms(groups, byWords, { all, kinds }))
    const near = this.#q.vectors?.nearest(byVector) ?? []
    for (const { key, score } of hits) this.scores.set(key, score)
    const keys = [...new Set([...hits.map((h) => h.key), ...near.map((n) => n.rowid)])]
    this.#load(keys)
    const order = this.#roughly(keys.filter((key) => this.#texts.has(key)))
    const close = isQuick ? QUICK : CLOSE
    for (let at = 0; at < order.length && this.entities.size < close; at += STEP)
      this.admit(order.slice(at, at + Math.min(STEP, close - this.entities.size)))
    return hits.length >= byWords || near.length === byVector
  }

  /** Best first by a first look, without what stands around them. */
  #roughly(keys: readonly number[]): number[] {
    const { terms, counts, firstLine, vectors, spread } = this.#q
    const weighted = weigh(terms, counts, this.#o.corpus.size, 1, firstLine)
    const seen = keys.map((key) => seenOf({ text: this.textOf(key), before: [], after: [] }, weighted))
    const average = averageOf(seen.flatMap((t) => t.passages))
    const cosines = vectors?.cosines(keys)
    const legs = seen.map((p, i): Legs => {
      // of one source all: it says nothing yet
      return { lexical: lexicalOf(p, weighted, average), cosine: cosines?.get(keys[i]!), source: '' }
    })
    return bestFirst(keys, fuse(legs, spread)).map((i) => keys[i]!)
  }
}

const bestFirst = (keys: readonly number[], scores: readonly number[]): number[] =>
  [...keys.keys()].sort((a, b) => scores[b]! - scores[a]! || keys[a]! - keys[b]!)

/** Says what words, vectors and source say of a candidate, neighbours included. */
function judgeOf(candidates: Candidates, keys: readonly number[], q: Question, size: number): (key: number) => Legs {
  const { terms, counts, firstLine, vectors } = q
  const weighted = weigh(terms, counts, size, spreadOf(keys.map((key) => candidates.rowOf(key))), firstLine)
  const seen = new Map(keys.map((key): [number, Seen] => [key, seenOf(candidates.rowOf(key), weighted)]))
  const average = averageOf([...seen.values()].flatMap((t) => t.passages))
  vectors?.cosines(keys) // all at once
  return (key) => {
    const lexical = lexicalOf(seen.get(key) ?? seenOf(candidates.rowOf(key), weighted), weighted, average)
    return {
      // a question of nothing but stop-words is answered by what the index found
      lexical: lexical.score > 0 ? lexical : { ...lexical, score: candidates.scores.has(key) ? 1e-3 : 0 },
      cosine: vectors?.cosines([key]).get(key),
      source: candidates.textOf(key).source,
    }
  }
}

/** What answers a question, best first, each once. Deterministic for equal input. */
export function rank(whole: string, o: RankOptions): Ranked[] {
  const q = takeApart(whole.slice(0, MAX_QUESTION), o)
  const candidates = new Candidates(q, o)
  candidates.find()
  const { entities } = candidates
  if (entities.size === 0) return []

  // in an order that depends neither on the way by which each was found nor on when it was stored: sums are the same to
  // the last digit in every replica
  const keys = [...entities].sort(([, a], [, b]) => (a.id < b.id ? -1 : 1)).map(([key]) => key)
  const legsOf = judgeOf(candidates, keys, q, o.corpus.size)
  const legs = keys.map(legsOf)
  const fused = fuse(legs, q.spread)
  for (const [i, key] of keys.entries()) if (candidates.isNamed(key)) fused[i]! += NAMED
  const topical = new Set(q.topical.map((t) => hashOf(t.stem)))
  const onTopic = (key: number) =>
    candidates.textOf(key).runs.some((run) => run.terms.some((term) => topical.has(term)))
  if (topical.size > 0) for (const [i, key] of keys.entries()) if (onTopic(key)) fused[i]! += ON_TOPIC
  if (TUNING.referred > 0) for (const [i, more] of referred(keys, fused, candidates)) fused[i]! += more
  const linkedTo = o.isQuick ? new Map<number, string>() : addLinked(keys, fused, candidates, o)
  for (const key of keys.slice(legs.length)) legs.push(legsOf(key))

  const { references } = q
  const meant = keys.map((key, i) => {
    if (references.whole.has(entities.get(key)!.id)) return 2
    return references.only !== undefined && legs[i]!.lexical.words.includes(references.only) ? 1 : 0
  })
  const relevance = relevances(fused, legs, meant, q.vectors)
  return keys.flatMap((key, i): Ranked[] => {
    const { lexical, cosine } = legs[i]!
    const isNamed = candidates.isNamed(key)
    const isOnTopic = topical.size > 0 && onTopic(key)
    const fits =
      lexical.score > 0 || isNamed || isOnTopic || linkedTo.has(key) || (cosine ?? -1) > (q.vectors?.floor ?? 1)
    if (!fits) return []
    const about = { lexical, cosine, named: isNamed, linkedTo: linkedTo.get(key), onTopic: isOnTopic }
    return [{ entity: entities.get(key)!, key, relevance: relevance[i]!, ...about }]
  })
}

/** Adds what is linked to the best ones to `keys` and `fused`, and lends to what is there; by key, to which it is linked. */
function addLinked(keys: number[], fused: number[], candidates: Candidates, { corpus, reader }: RankOptions) {
  const { entities } = candidates
  const linkedTo = new Map<number, string>()
  for (const i of bestFirst(keys, fused).slice(0, WITH_LINKS)) {
    const from = entities.get(keys[i]!)!
    const lent = LINKED * fused[i]!
    for (const link of [...reader.links('from', from.id), ...reader.links('to', from.id)].slice(0, MAX_LINKS)) {
      if (standingOf(link.entity.fields) !== 'confirmed') continue
      const key = corpus.keyOf(link.from === from.id ? link.to : link.from)
      const there = key === undefined ? -1 : keys.indexOf(key)
      if (key === undefined || lent <= (there < 0 ? 0 : fused[there]!)) continue
      if (there < 0) {
        candidates.admit([key])
        if (!entities.has(key)) continue
        keys.push(key)
        fused.push(lent)
      } else fused[there] = lent
      linkedTo.set(key, from.name)
    }
  }
  return linkedTo
}

/** What a title begins with that is the number of something: `ADR-7`, `PEP 8`, `CVE-2024-1234`. */
const LABEL = /^\s*(\p{Lu}{2,8}[- ]\d[\d-]{0,15})(?![\p{L}\p{N}])/u
/** How many of the best are read for what they refer to. */
const REFERRING = 20

/** What the best texts refer to by its label answers more often: by index, what that adds. The better they are, the more. */
function referred(keys: readonly number[], fused: readonly number[], candidates: Candidates): Map<number, number> {
  const byFirst = new Map<number, { i: number; label: readonly number[] }[]>()
  for (const [i, key] of keys.entries()) {
    const label = LABEL.exec(candidates.entities.get(key)!.name)?.[1]
    if (label === undefined) continue
    const hashes = termsOf(label).map((t) => hashOf(t.stem))
    byFirst.set(hashes[0]!, [...(byFirst.get(hashes[0]!) ?? []), { i, label: hashes }])
  }
  const sums = new Map<number, number>()
  if (byFirst.size === 0) return sums
  const best = bestFirst(keys, fused).slice(0, REFERRING)
  const most = fused[best[0]!]!
  for (const from of best) {
    if (fused[from]! <= 0) break
    const to = new Set<number>()
    for (const { terms } of candidates.textOf(keys[from]!).runs)
      for (const [at, term] of terms.entries())
        for (const { i, label } of byFirst.get(term) ?? [])
          if (i !== from && label.every((hash, n) => terms[at + n] === hash)) to.add(i)
    for (const i of to) sums.set(i, (sums.get(i) ?? 0) + (fused[from]! / most) ** 2)
  }
  return new Map([...sums].map(([i, sum]) => [i, TUNING.referred * Math.log1p(sum)]))
}

const averageOf = (pieces: readonly { readonly length: number }[]): number =>
  pieces.reduce((sum, p) => sum + p.length, 0) / Math.max(1, pieces.length) || 1
