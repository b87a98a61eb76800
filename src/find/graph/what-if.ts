import type { Memory } from '../../engine/memory.ts'
import type { Reader } from '../../engine/read/reader.ts'
import { type Entity, madeAt, standingOf } from '../../model/entity.ts'
import type { Registry } from '../../model/registry.ts'
import { saying } from '../recall/card.ts'
import { Recaller } from '../recall/recall.ts'
import { CAME_OF, isFailure, isMixed, isSuccess } from '../recall/told.ts'
import { linkedWith, unverifiedAmong } from '../recall/unverified.ts'
import { type State, stateOf } from '../recall/validity.ts'
import { similarity, wordSet } from '../recall/word-overlap.ts'
import { precedents } from './precedents.ts'
import { evolution } from './trace.ts'
import { neighbours, type Step, stepsFrom, target, type Ways } from './walk.ts'

/** So many entities are reached at most, and so many precedents told. */
const TOUCHED_LIMIT = 200
const PRECEDENTS = 10
/** What rests on something for so long says that it holds. */
const HELD_MS = 14 * 86_400_000
/** Of fewer precedents nothing is said about the likely outcome. */
export const LEAST_PRECEDENTS = 3
/** A precedent that is not linked shares this part of the words of the shorter of the two, and at least two words. */
const SHARED = 0.4
const LEAST_WORDS = 2
const CANDIDATES = 30

/** Something that a change reaches, by the strongest path. */
export interface Touched {
  readonly entity: Entity
  /** The product over the links of the path: declared confidence (1 unless said) × strength of the relation. */
  readonly strength: number
  /** What comes before it on the path, and the link from there; the start has neither. */
  readonly from?: Touched
  readonly step?: Step
}

export type Outcome = 'failed' | 'mixed' | 'corrected' | 'superseded' | 'retired' | 'exception' | 'stands' | 'unknown'

/** Something like it from before, and how it turned out. */
export interface Precedent {
  readonly entity: Entity
  readonly linked: boolean
  /** Nobody here stands by it: it is told, and counts for nothing. */
  readonly isUnverified: boolean
  readonly outcome: Outcome
  /** What says so. */
  readonly because: readonly Entity[]
  /** What else it led to; what it failed with as well. */
  readonly ledTo: readonly Entity[]
}

export type CameOf = Pick<Precedent, 'outcome' | 'because' | 'ledTo'>

export interface WhatIf {
  /** What is asked about; a plan in words is in no store. */
  readonly entity: Entity
  /** What came of itself. */
  readonly own: CameOf
  readonly touched: readonly Touched[]
  readonly cut: boolean
  /** Those that somebody here stands by first, of these the linked ones. */
  readonly precedents: readonly Precedent[]
  /** How often each outcome is known, the most frequent first. */
  readonly outcomes: readonly (readonly [Outcome, number])[]
  /** What came of itself, else the most frequent one; nothing if too few are known, or two outcomes are as frequent. */
  readonly likely: Outcome | undefined
}

/** Along which links a change goes on. */
function impactWays(registry: Registry): Ways {
  const [out, back] = (['forward', 'backward'] as const).map((way) =>
    registry.relations().flatMap((r) => (r.impact === way || r.impact === 'both' ? [r.name] : [])),
  )
  return { out: out!, in: back! }
}

/** What no longer holds is not broken by a change, and hands none on. */
const GONE: ReadonlySet<State | undefined> = new Set(['deleted', 'rejected', 'proposed', 'retired', 'superseded', 'no longer valid']) // biome-ignore format: a list

/** Everything that a change of an entity reaches, each by its strongest path. */
export function touchedBy(reader: Reader, start: Entity, now: number, limit = TOUCHED_LIMIT) {
  const registry = reader.registry()
  const ways = impactWays(registry)
  const best = new Map<string, Touched>([[start.id, { entity: start, strength: 1 }]])
  const gone = new Set<string>()
  const known = new Map<string, Step[]>()
  let cut = false
  // each round passes on what got stronger in the last one; links of an entity are read once
  for (let ring = [...best.values()]; ring.length > 0; ) {
    const unread = ring.flatMap((t) => (known.has(t.entity.id) ? [] : [t.entity.id]))
    for (const [id, steps] of stepsFrom(reader, unread, ways)) known.set(id, steps)
    const better = new Map<string, Omit<Touched, 'entity'>>()
    for (const from of ring)
      for (const step of known.get(from.entity.id) ?? []) {
        const id = target(step)
        const strength =
          from.strength * (step.edge.confidence ?? 1) * (registry.relation(step.edge.type)?.strength ?? 0)
        if (gone.has(id) || strength <= (better.get(id)?.strength ?? best.get(id)?.strength ?? -1)) continue
        if (!best.has(id) && !better.has(id) && best.size + better.size > limit) cut = true
        else better.set(id, { from, step, strength })
      }
    const fresh = [...better.keys()].filter((id) => !best.has(id))
    const entities = new Map(reader.entities(fresh).map((e) => [e.id, e]))
    const replaced = reader.replaced(fresh)
    ring = []
    for (const [id, t] of better) {
      const entity = best.get(id)?.entity ?? entities.get(id)
      if (!entity || (!best.has(id) && GONE.has(stateOf(entity, reader, now, (e) => replaced.has(e))))) gone.add(id)
      else ring.push({ entity, ...t })
    }
    for (const t of ring) best.set(t.entity.id, t)
  }
  const [, ...touched] = best.values()
  return { touched: touched.sort((a, b) => b.strength - a.strength || (a.entity.id < b.entity.id ? -1 : 1)), cut }
}

/** The path of something that is touched, from the start on, both included. */
export const pathTo = (t: Touched): Touched[] => (t.from ? [...pathTo(t.from), t] : [t])

const USED: string[] = ['depends-on', 'based-on', 'implements', 'extends', 'uses']

/**
 * How something turned out at a moment, and what says so. Age alone is no success: it stands where a result says that it did, or
 * where something came to rest on it and it has held for two weeks since. Where some say so and others do not, it is mixed.
 */
export function outcomeOf(memory: Memory, reader: Reader, e: Entity, now: number): CameOf {
  const at = (end: 'from' | 'to', types: string[]) =>
    linkedWith(memory, reader, end, [e.id], types).map((s) => s.entity)
  const ledTo = [...new Set(at('from', CAME_OF))]
  const [failures, successes, mixed] = [ledTo.filter(isFailure), ledTo.filter(isSuccess), ledTo.filter(isMixed)]
  const corrections = at('to', ['corrects'])
  const newer = reader.entities(reader.edges('to', [e.id], ['supersedes']).map((l) => l.from))
  const users = at('to', USED).filter((o) => madeAt(o) <= now - HELD_MS)
  const found = (outcome: Outcome, because: readonly Entity[] = []) => ({
    outcome,
    because,
    ledTo: ledTo.filter((r) => !because.includes(r)),
  })
  const isBoth = successes.length > 0 && failures.length > 0
  if (mixed.length > 0 || isBoth) return found('mixed', [...failures, ...corrections, ...mixed, ...successes])
  if (e.kind === 'failed-approach' || failures.length > 0)
    return { outcome: 'failed', because: [], ledTo: [...failures, ...ledTo.filter((r) => !failures.includes(r))] }
  const proofs = [...successes, ...users]
  if (corrections.length > 0 && newer.length === 0 && proofs.length > 0)
    return found('mixed', [...corrections, ...proofs])
  if (corrections.length > 0) return found('corrected', corrections)
  if (newer.length > 0) return found('superseded', newer)
  if (e.fields.retired !== undefined) return found('retired')
  if (e.kind === 'exception') return found('exception')
  return proofs.length > 0 ? found('stands', proofs) : found('unknown')
}

export const PRECEDENT_KINDS = ['decision', 'failed-approach', 'exception']

/** Decisions, failed approaches and exceptions like an entity: linked with it, or in much the same words. */
function precedentsOf(memory: Memory, reader: Reader, start: Entity, asOf: number | undefined, now: number) {
  const linked = [
    ...precedents(reader, start.id).map((r) => r.id),
    ...evolution(reader, start.id).map((e) => e.id),
    ...neighbours(reader, start.id, { out: ['similar-to', 'informs'], in: ['similar-to', 'informs'] }).map((r) => r.id),
  ]
  const own = wordSet(saying(start, reader))
  const isSimilar = (e: Entity): boolean => {
    const { words, share } = similarity(own, wordSet(saying(e, reader)))
    // of a plan more than half: with another verb or object it is another plan
    return words >= LEAST_WORDS && (start.id === '' ? words > own.size / 2 : share >= SHARED)
  }
  const { results } = new Recaller(memory, undefined, { embedder: { use: 'none' } }).askNow(saying(start, reader), {
    ...{ kinds: PRECEDENT_KINDS, scope: 'macro', all: true, limit: CANDIDATES },
    ...(asOf !== undefined && { asOf }),
  })
  // what says the same is folded for a reader, and is a precedent all the same
  const found = results.flatMap((r) => [r.id, ...r.similar])
  const isKnown = (e: Entity) => e.id !== start.id && e.live && standingOf(e.fields) === 'confirmed'
  const all = reader.entities([...new Set([...linked, ...found])]).filter(isKnown)
  const byId = new Map(all.flatMap((e) => (PRECEDENT_KINDS.includes(e.kind) ? [[e.id, e]] : [])))
  const unverified = unverifiedAmong(memory, all)
  const told = [...new Set([...linked, ...found])].flatMap((id): Precedent | [] => {
    const entity = byId.get(id)
    if (!entity || !(linked.includes(id) || isSimilar(entity))) return []
    const isUnverified = unverified.has(id)
    return { entity, linked: linked.includes(id), isUnverified, ...outcomeOf(memory, reader, entity, now) }
  })
  // a failed approach that one of them led to is the same attempt
  const failed = told.filter((p) => p.outcome === 'failed' && !p.isUnverified)
  const named = new Set(failed.flatMap((p) => p.ledTo.map((e) => e.id)))
  const left = told.filter((p) => !named.has(p.entity.id))
  return left.sort((a, b) => Number(a.isUnverified) - Number(b.isUnverified)).slice(0, PRECEDENTS)
}

/** A plan in words, which nobody recorded. */
export const planOf = (text: string): Entity => ({
  ...{ id: '', kind: 'decision', name: text, fields: {}, live: true },
  ...{ created: 0, updated: 0, version: 0, conflicts: [] },
})

/** How a plan to end something begins. */
const ENDS = /^(?:stop|remove|drop|avoid|replace|do not|don['’]t|no longer|get rid of|instead of)(?![-\w])/i

/** What breaks if something changes, what came of it and of things like it, and what is likely. As of a moment with `asOf`. */
export function whatIf(memory: Memory, reader: Reader, start: Entity, asOf?: number): WhatIf {
  const now = asOf ?? memory.env.now()
  const own = outcomeOf(memory, reader, start, now)
  // a failed approach that it led to is the same attempt
  const same = new Set([...own.because, ...own.ledTo].filter(isFailure).map((e) => e.id))
  const found = precedentsOf(memory, reader, start, asOf, now).filter((p) => !same.has(p.entity.id))
  // what it took the place of speaks neither for nor against it, and what a plan would end is no attempt at that plan
  const isReplaced = (p: Precedent) => p.outcome === 'superseded' && p.because.some((e) => e.id === start.id)
  const ends = start.id === '' ? ENDS.exec(start.name)?.[0] : undefined
  const [ending = ''] = wordSet(ends ?? '')
  const isSameKind = (p: Precedent) => ends === undefined || wordSet(saying(p.entity, reader)).has(ending)
  const counted = found.filter((p) => !isReplaced(p) && isSameKind(p))
  const known = counted.filter((p) => p.outcome !== 'unknown' && !p.isUnverified)
  const counts = [...Map.groupBy(known, (p) => p.outcome)].map(([o, all]) => [o, all.length] as const)
  const outcomes = counts.sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
  const isClear = known.length >= LEAST_PRECEDENTS && outcomes[0]?.[1] !== outcomes[1]?.[1]
  const { touched, cut } = touchedBy(reader, start, now)
  return {
    entity: start,
    own,
    // its own results are told as what came of it
    touched: touched.filter((t) => t.from?.entity.id !== start.id || !CAME_OF.includes(t.step!.edge.type)),
    cut,
    precedents: found,
    outcomes,
    likely: own.outcome !== 'unknown' ? own.outcome : isClear ? outcomes[0]?.[0] : undefined,
  }
}
