import type { Memory } from '../../engine/memory.ts'
import type { Reader } from '../../engine/read/reader.ts'
import type { Place } from '../../engine/read/work-tree.ts'
import { isStopWord, questionTerms } from '../../engine/store/terms.ts'
import { type Entity, isPage, saidAt, standingOf } from '../../model/entity.ts'
import { DAY_MS } from '../../model/times.ts'
import { firstPiece, formsOf, sayingOf } from './card.ts'
import type { RecallConfig } from './config.ts'
import { foldSimilar } from './duplicates.ts'
import { importanceOf } from './importance.ts'
import type { Asked } from './options.ts'
import { packLonger } from './pack.ts'
import { type Ranked, type RankOptions, rank } from './rank.ts'
import { halfLifeOf, recencyOf } from './recency.ts'
import { makeProximity, type Proximity } from './scope.ts'
import { estimateTokens } from './token-estimate.ts'
import { dayOf, holdsOf } from './told.ts'
import type { Recalled, RecallResult } from './types.ts'
import { UNVERIFIED, unverifiedAmong, upheld, upheldLinks } from './unverified.ts'
import { type State, statesOf } from './validity.ts'

/** Judges this many times `limit` results, so that folded duplicates can be replaced. */
const SPARE = 2

/** From then on it is told how old it is. */
const OLD_MS = 180 * DAY_MS

/** How far below what took its place something is at least. */
const BELOW = 0.999

export interface Grounds extends Pick<RankOptions, 'reader' | 'corpus' | 'vectors'> {
  readonly memory: Memory
  /** The work tree, whose code says what is stale. */
  readonly root: string | undefined
  readonly config: RecallConfig
  readonly place: Place
  readonly notes: string[]
}

interface Scored extends Ranked {
  readonly near: Proximity
  readonly parts: Recalled['parts']
  readonly score: number
}

/** Questions about what was, or whether to do it: what was replaced or retired since may be the answer. */
const OF_PAST =
  /\bwhy (?:not|(?:do|does|did|are|is|was|were)(?:n['’]t (?:we|you|they|it)| (?:we|you|they|it) not))\b|\b(?:should|may|could|can) (?:we|i)\b|\b(?:ever|formerly|previously|(?:did|have|had) (?:we|you|they)|(?:was|were) there|(?:came|became|become) of|happened (?:to|with)|(?:we|they|it|there) used to)\b/i

/** Words of asking, and how little of a question the first result holds where it is only near. */
export const ASKING =
  /^(?:ever|try|tried|came|come|become|take|make|get|go|have|happen(?:ed)?|answer|known?|may|might|work|use[ds]?|adopt|support|offer|provide|allow|need|want|like)$/
const NEAR_SHARE = 0.35
/** So many of its words, or this share of them, stand in no text. */
const LEAST_UNKNOWN = 2
const UNKNOWN_SHARE = 1 / 3
const MOST_UNKNOWN = 6

export function answer(question: string, asked: Asked, g: Grounds): RecallResult {
  const { reader, config } = g
  const now = asked.asOf ?? g.memory.env.now()
  const registry = reader.registry()
  const proximity = makeProximity(reader, g.place, asked, config)
  const near = new Map<string, Proximity>()
  const isOfPast = asked.asOf !== undefined || OF_PAST.test(question)
  const admits = (e: Entity, state: State | undefined): boolean => {
    if (registry.kind(e.kind)?.internal || (isPage(e) && asked.kinds === undefined)) return false
    if (asked.since !== undefined && e.updated < asked.since) return false
    const p = proximity(e)
    if (p.excluded || state === 'deleted' || state === 'rejected') return false
    if (state !== undefined && !asked.all && !(isOfPast && standingOf(e.fields) !== 'proposed')) return false
    near.set(e.id, p)
    return true
  }
  const ranked = rank(question, {
    corpus: g.corpus,
    reader,
    vectors: g.vectors,
    kinds: asked.kinds,
    all: asked.all || isOfPast,
    admitted: (found) =>
      [...statesOf(found, reader, asked.validAt)].flatMap(([e, state]) => (admits(e, state) ? [e] : [])),
  })
  const entities = ranked.map((r) => r.entity)
  const unverified = unverifiedAmong(g.memory, entities)
  const scored = ranked.map((r): Scored => {
    const p = near.get(r.entity.id)!
    const parts = {
      relevance: r.relevance,
      proximity: r.named ? 1 : p.proximity, // wherever it was recorded, it is asked for
      recency: recencyOf(r.entity, now, registry, config),
      importance: importanceOf(r.entity.fields, config.importance),
      ...(unverified.has(r.entity.id) ? { standing: UNVERIFIED } : {}),
    }
    return { ...r, near: p, parts, score: product(parts) }
  })
  if (asked.all || isOfPast) belowSuccessors(scored, reader)
  scored.sort(bestFirst)
  sectionsOnce(scored)

  const saying = (s: Scored) => sayingOf(s.entity, registry.kind(s.entity.kind))
  const judged = upheld(scored, unverified, saying, asked.limit * SPARE)
  const folded = foldSimilar(
    judged.map(({ item, otherwise }) => {
      return { id: item.entity.id, kind: item.entity.kind, text: saying(item), scored: item, otherwise }
    }),
  )
  const shown = folded.slice(0, asked.limit)
  const marks = contradictionsAmong(new Set(shown.map(({ item }) => item.id)), upheldLinks(g.memory, reader))
  const told = shown.map(({ item }) => item.scored.entity)
  const past = asked.asOf ?? (g.root === undefined ? 'nowhere' : undefined)
  const holds = holdsOf(g.memory, g.root ?? '', told, { reader, now: asked.validAt, past })
  const results = shown.map(({ item: { scored: s, otherwise }, similar }) => {
    const { id, kind, name, fields } = s.entity
    const printable = {
      ...{ id, kind, name, fields, similar: [...similar], contradicts: marks.get(id) ?? [] },
      ...(otherwise.length > 0 && { otherwise: [...otherwise] }),
      ...holds.get(id),
      ...(now - saidAt(s.entity) > OLD_MS && { since: dayOf(s.entity, holds.get(id)) }),
    }
    const { words } = s.lexical
    const forms = formsOf(printable, registry, words)
    return { ...printable, words, score: s.score, parts: s.parts, why: whyOf(s, g, now), text: forms.card, forms }
  })

  const found = scored.length - (judged.length - folded.length) - judged.reduce((n, j) => n + j.otherwise.length, 0)
  const cardOf = ({ forms: { card, line }, ...r }: (typeof results)[number]) => {
    const remark = asked.explain ? explanation(r) : ''
    return { card: card + remark, line: line + remark }
  }
  const [best] = results
  const longer = best && { ...best, forms: formsOf(best, registry, best.words, firstPiece(asked.budget)) }
  const [first] = shown
  const isNear = first && !first.item.scored.named && first.item.scored.lexical.share < NEAR_SHARE
  const asking = isNear ? questionTerms(question).filter((t) => !isStopWord(t.word) && !ASKING.test(t.word)) : []
  const telling = asking.filter(({ word }) => !asking.some((other) => other.word !== word && other.word.includes(word)))
  const missing = telling.flatMap((t) => (g.corpus.count(t) === 0 ? [t.word] : []))
  const isTold = missing.length >= LEAST_UNKNOWN || missing.length >= UNKNOWN_SHARE * telling.length
  const unknown = isTold ? missing.slice(0, MOST_UNKNOWN) : []
  const limits = { budget: asked.budget, found }
  const packed = packLonger(results.map(cardOf), longer && cardOf(longer), limits, estimateTokens)
  return {
    results: packed.shown.map(({ index, form }) => {
      const { forms, ...result } = index === 0 && packed.isLonger ? longer! : results[index]!
      return { ...result, text: forms[form] }
    }),
    omitted: packed.omitted,
    notes: g.notes,
    unknown,
    text: packed.text,
  }
}

const bestFirst = (a: Scored, b: Scored): number =>
  b.score - a.score || b.entity.updated - a.entity.updated || (a.entity.id < b.entity.id ? -1 : 1)

/** What the second piece of a section counts, the third half of that: whoever opens the page at the first sees them too. */
const AGAIN = 0.5

/** Of the pieces of one section of a document, in order, the best counts whole. */
function sectionsOnce(scored: Scored[]): void {
  const seen = new Map<string, number>()
  for (const [i, { parts, score, ...rest }] of scored.entries()) {
    const { kind, fields } = rest.entity
    if (kind !== 'chunk' || typeof fields.section !== 'string') continue
    const section = `${fields.sourceFile}\n${fields.section}`
    const n = seen.get(section) ?? 0
    seen.set(section, n + 1)
    if (n === 0) continue
    const relevance = parts.relevance * AGAIN ** n
    scored[i] = { ...rest, score: product({ ...parts, relevance }), parts: { ...parts, relevance } }
  }
  scored.sort(bestFirst)
}

const product = ({ relevance, proximity, recency, importance, standing = 1 }: Recalled['parts']): number =>
  relevance * proximity * recency * importance * standing

/** What took something's place is told before it, however well the words of the old one fit. */
function belowSuccessors(scored: Scored[], reader: Reader): void {
  const places = new Map(scored.map((s, i) => [s.entity.id, i]))
  const successors = Map.groupBy(reader.edges('to', [...places.keys()], ['supersedes']), (l) => l.to)
  const lowered = new Set<number>()
  const lower = (i: number): void => {
    if (lowered.has(i)) return
    lowered.add(i) // also ends a circle
    for (const { from } of successors.get(scored[i]!.entity.id) ?? []) {
      const at = places.get(from)
      if (at === undefined) continue
      lower(at)
      const { parts, score, ...rest } = scored[i]!
      if (score < scored[at]!.score) continue
      const relevance = parts.relevance * (scored[at]!.score / score) * BELOW
      scored[i] = { ...rest, score: product({ ...parts, relevance }), parts: { ...parts, relevance } }
    }
  }
  for (const i of scored.keys()) lower(i)
}

/** Links by which somebody said that two cannot hold together. */
const AGAINST = ['contradicts', 'conflicts-with']

/** For each result the others that contradict it, by links: words alone say too little. */
function contradictionsAmong(ids: ReadonlySet<string>, links: Pick<Reader, 'edges'>): Map<string, string[]> {
  const of = (end: 'from' | 'to', other: 'from' | 'to') =>
    links.edges(end, [...ids], AGAINST).map((l) => ({ id: l[end], other: l[other] }))
  const said = [...of('from', 'to'), ...of('to', 'from')].filter((l) => l.id !== l.other && ids.has(l.other))
  return new Map([...Map.groupBy(said, (l) => l.id)].map(([id, all]) => [id, [...new Set(all.map((l) => l.other))]]))
}

/** The score as the product of what is printed here, so that the line adds up. */
export function explanation({ parts, why }: Pick<Recalled, 'parts' | 'why'>): string {
  const factors = Object.entries(parts).map(([name, x]) => [name, x.toPrecision(3)] as const)
  const score = factors.reduce((product, [, x]) => product * Number(x), 1).toPrecision(3)
  const sum = `${score} = ${factors.map(([name, x]) => `${name} ${x}`).join(' × ')}`
  return `\n  #| ${sum}; ${why.replaceAll('|#', '| #').replaceAll('#|', '# |')} |#`
}

const WHERE: { readonly [W in Proximity['where']]: string } = {
  task: 'recorded in the current task',
  sibling: 'recorded in another task of the same activity',
  activity: 'of the current activity',
  goal: 'of the current goal',
  elsewhere: 'recorded elsewhere',
}

function whyOf(s: Scored, g: Grounds, now: number): string {
  const said: string[] = []
  const { words, borrowed } = s.lexical
  if (s.named) said.push('it is what the question names')
  if (words.length > 0) said.push(`holds ${words.slice(0, 6).join(', ')}`)
  if (borrowed.length > 0) said.push(`its neighbours hold ${borrowed.slice(0, 6).join(', ')}`)
  if (s.linkedTo !== undefined) said.push(`linked to ${s.linkedTo.slice(0, 60)}`)
  if (s.cosine !== undefined && g.vectors && s.cosine > g.vectors.floor)
    said.push(`near in meaning (${s.cosine.toFixed(2)})`)
  if (s.onTopic) said.push('speaks of the topic that is asked for')
  if (said.length === 0) said.push('holds the words of the question, which say little')
  if (g.place.task !== undefined && !s.named) said.push(WHERE[s.near.where])
  const days = Math.max(0, Math.round((now - s.entity.updated) / DAY_MS))
  const half = halfLifeOf(s.entity.kind, g.reader.registry(), g.config)
  said.push(days === 0 ? 'touched today' : `touched ${days} day${days === 1 ? '' : 's'} ago (half-life ${half})`)
  const { importance } = s.parts
  if (importance !== 1) said.push(importance > 1 ? 'says it matters' : 'says it matters less')
  return said.join('; ')
}
