import type { Entity } from '../memory/entity.ts'
import { standingOf } from '../memory/entity.ts'
import type { Reader } from '../memory/read.ts'
import { questionTerms, type Term } from '../store/words.ts'
import type { Corpus } from './corpus.ts'
import { covers, datesIn } from './dates.ts'
import {
  fuse,
  type InRow,
  type Legs,
  type Lexical,
  lexicalOf,
  passagesOf,
  relevances,
  type Spread,
  spreadOf,
  weigh,
} from './relevance.ts'

/** What the vectors of a store say of one question. */
export interface VectorLeg {
  nearest(limit: number): readonly { readonly rowid: number; readonly cosine: number }[]
  cosine(key: number): number | undefined
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
  readonly spoken: boolean
  /** Days that the question asks about and it lies in. */
  readonly day: string | undefined
  /** It is what the question names. */
  readonly exact: boolean
  /** The name of the result it is linked to, where it is here for that alone. */
  readonly linkedTo: string | undefined
}

export interface RankOptions {
  readonly corpus: Corpus
  readonly reader: Reader
  readonly vectors: VectorLeg | undefined
  readonly kinds: readonly string[] | undefined
  readonly all: boolean
  readonly now: number
  /** Whether it may be told at all: its state, the scope, the time it is from. */
  admits(e: Entity): boolean
}

/** Candidates by words, by vectors, and of these the ones whose neighbours come along. */
const BY_WORDS = 200
const BY_VECTOR = 100
const WITH_NEIGHBOURS = 40
const WITH_LINKS = 6
const MAX_LINKS = 24
/** So many texts may hold the words by which candidates are looked for: common ones are left out while there are rarer. */
const POSTINGS = 15_000
/** A narrow filter may leave few of the candidates: then so many are looked at. */
const DEEP = 4_000
const ENOUGH = 30

/** What a result lends to what is linked to it. */
const LINKED = 0.4
/** For a path or name that the question holds. */
const NAMED = 1.5

const FIRST_PERSON = /\b(i|my|me|mine|i'm|i've|i’m|i’ve)\b/i
/** Roles are no names. */
const ROLES = new Set(['user', 'assistant', 'system', 'tool', 'model', 'human', 'ai'])

/** The terms by which candidates are looked for: all, or the rarest that hold no more texts than are worth scoring. */
function telling(terms: readonly Term[], counts: readonly number[]): Term[] {
  const order = [...terms.keys()].sort((a, b) => counts[a]! - counts[b]! || a - b)
  const chosen: Term[] = []
  let postings = 0
  for (const i of order) {
    if (counts[i] === 0) {
      chosen.push(terms[i]!) // the index may stem it in another way
      continue
    }
    if (postings > 0 && postings + counts[i]! > POSTINGS) break
    postings += counts[i]!
    chosen.push(terms[i]!)
  }
  return chosen
}

/** Paths and identifiers in a question that may be what something is called. */
const REFERENCE = /[\p{L}\p{N}_$@][\p{L}\p{N}_$@./:-]*[\p{L}\p{N}_$]/gu

function named(question: string, reader: Reader): { whole: Set<string>; within: Set<string> } {
  const asked = question.trim()
  const whole = new Set(asked.length <= 200 ? reader.find(asked).map((e) => e.id) : [])
  const within = new Set<string>()
  const words = (question.slice(0, 2_000).match(REFERENCE) ?? []).filter((w) => /[./:_-]|\p{Ll}\p{Lu}/u.test(w))
  for (const word of words.slice(0, 8)) for (const e of reader.find(word)) within.add(e.id)
  return { whole, within }
}

/** What answers a question, best first, each once. Deterministic for equal input. */
export function rank(question: string, o: RankOptions): Ranked[] {
  const { corpus, reader, vectors } = o
  const terms = questionTerms(question)
  const counts = terms.map((t) => corpus.count(t.stem))
  const size = corpus.size
  const lookedFor = telling(terms, counts)
  const references = named(question, reader)

  const entities = new Map<number, Entity>()
  const scoresByIndex = new Map<number, number>()
  const admit = (key: number | undefined): boolean => {
    if (key === undefined) return false
    if (entities.has(key)) return true
    const e = corpus.entity(key)
    if (!e || (o.kinds && !o.kinds.includes(e.kind)) || !o.admits(e)) return false
    entities.set(key, e)
    return true
  }

  const gather = (byWords: number, byVector: number) => {
    const hits = corpus.withTerms(lookedFor, byWords, { all: o.all, kinds: o.kinds })
    for (const { key, score } of hits) if (admit(key)) scoresByIndex.set(key, score)
    const near = vectors?.nearest(byVector) ?? []
    for (const { rowid } of near) admit(rowid)
    return { full: hits.length === byWords || near.length === byVector, hits }
  }
  const first = gather(BY_WORDS, BY_VECTOR)
  if (first.full && entities.size < ENOUGH) gather(DEEP, DEEP)
  for (const id of [...references.whole, ...references.within]) admit(corpus.keyOf(id))

  const rows = new Map<number, InRow>()
  const row = (key: number): InRow => {
    let r = rows.get(key)
    if (!r) {
      const empty = { rowid: key, source: null, place: null, speaker: null, words: 0, runs: [] }
      rows.set(key, (r = corpus.inRow(key) ?? { text: empty, before: [], after: [] }))
    }
    return r
  }
  for (const { key } of first.hits.slice(0, WITH_NEIGHBOURS))
    if (entities.has(key)) for (const side of [row(key).before, row(key).after]) if (side[0]) admit(side[0].rowid)

  // in an order that does not depend on the way by which each was found
  const keys = [...entities.keys()].sort((a, b) => a - b)
  if (keys.length === 0) return []
  const weighted = weigh(terms, counts, size, spreadOf(keys.map(row)))
  const passages = new Map(keys.map((key) => [key, passagesOf(row(key), weighted.index)]))
  const all = [...passages.values()].flat()
  const averageLength = all.reduce((sum, p) => sum + p.length, 0) / Math.max(1, all.length) || 1

  const days = datesIn(question, o.now)
  const asked = new Set(question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
  const firstPerson = FIRST_PERSON.test(question)
  const speakers = new Set(keys.map((k) => row(k).text.speaker?.toLowerCase() ?? ''))
  const namedSpeakers = [...speakers].filter(
    (s) => s !== '' && !ROLES.has(s) && (s.match(/[\p{L}\p{N}]+/gu) ?? []).every((w) => asked.has(w)),
  )
  const legsOf = (key: number): Legs & { day: number; dayText: string | undefined } => {
    const { text } = row(key)
    const lexical = lexicalOf(passages.get(key) ?? passagesOf(row(key), weighted.index), weighted, averageLength)
    const speaker = text.speaker?.toLowerCase()
    const spoken =
      speaker !== undefined &&
      (namedSpeakers.length > 0 ? namedSpeakers.includes(speaker) : speaker === 'user' && firstPerson)
    const fit = days.length === 0 ? [] : days.map((d) => ({ d, fit: coversOf(d, entities.get(key)!) }))
    const best = fit.sort((a, b) => b.fit - a.fit)[0]
    const cosine = vectors?.cosine(key)
    return {
      // a question of nothing but stop-words is answered by what the index found
      lexical: lexical.score > 0 ? lexical : { ...lexical, score: scoresByIndex.has(key) ? 1e-3 : 0 },
      ...(cosine === undefined ? {} : { cosine }),
      source: text.source,
      spoken,
      day: best?.fit ?? 0,
      dayText: best && best.fit > 0 ? best.d.text : undefined,
    }
  }
  const legs = keys.map(legsOf)
  const fused = fuse(legs, vectors?.spread)
  const isNamed = (e: Entity) => references.whole.has(e.id) || references.within.has(e.id)
  for (const [i, key] of keys.entries()) if (isNamed(entities.get(key)!)) fused[i]! += NAMED

  // what is linked to the best ones comes along
  const linkedTo = new Map<number, string>()
  const best = [...keys.keys()].sort((a, b) => fused[b]! - fused[a]! || keys[a]! - keys[b]!).slice(0, WITH_LINKS)
  for (const i of best) {
    const from = entities.get(keys[i]!)!
    const links = [...reader.links('from', from.id), ...reader.links('to', from.id)].slice(0, MAX_LINKS)
    for (const link of links) {
      if (standingOf(link.entity.fields) !== 'confirmed') continue
      const key = corpus.keyOf(link.from === from.id ? link.to : link.from)
      if (key === undefined) continue
      const lent = LINKED * fused[i]!
      const there = keys.indexOf(key)
      if (there >= 0) {
        if (fused[there]! < lent) fused[there] = lent
        continue
      }
      if (lent <= 0 || !admit(key)) continue
      const own = legsOf(key)
      keys.push(key)
      legs.push(own)
      fused.push(lent)
      linkedTo.set(key, from.name)
    }
  }

  const relevance = relevances(fused, legs, vectors)
  const out: Ranked[] = []
  for (const [i, key] of keys.entries()) {
    const entity = entities.get(key)!
    const { lexical, cosine, spoken, dayText } = legs[i]!
    const exact = references.whole.has(entity.id)
    const fits = lexical.score > 0 || isNamed(entity) || linkedTo.has(key) || (cosine ?? -1) > (vectors?.floor ?? 1)
    if (!fits) continue
    out.push({
      entity,
      key,
      relevance: exact ? 1 : relevance[i]!,
      lexical,
      cosine,
      spoken,
      day: dayText,
      exact,
      linkedTo: linkedTo.get(key),
    })
  }
  return out
}

/** How well an item lies in the days that are asked about: the day that it tells of, else when it was recorded. */
function coversOf(d: Parameters<typeof covers>[0], e: Entity): number {
  const told = e.fields.date ?? e.fields.at
  return covers(d, typeof told === 'string' ? told : new Date(e.created).toISOString())
}
