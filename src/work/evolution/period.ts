import { HAND } from '../../engine/claims/lease.ts'
import type { Memory } from '../../engine/memory.ts'
import { arrivedBy } from '../../engine/store/own-lines.ts'
import { toldSince } from '../../engine/store/presence.ts'
import type { Entity } from '../../model/entity.ts'
import { DAY_MS } from '../../model/times.ts'
import { sessionsOf } from '../coordination/sessions.ts'
import { type Amounts, addAmounts, noAmounts } from './amounts.ts'
import { patternsIn, type Seen } from './pattern.ts'
import { likenessOf, observationsOf } from './synthesis.ts'

/** A learning that is so old, and that nothing refers to, is looked at again. */
const DUE_MS = 90 * DAY_MS
/** Of younger ones the number is told. */
const QUIET_MS = 30 * DAY_MS

/** Told in sections of their own, or written by the machinery. */
const APART: ReadonlySet<string> = new Set(['observation', 'mutation', 'retro-score', 'handoff', 'context', 'mark'])

export type Operation = Readonly<{ operation: string; observations: number; cost: Amounts; saved: Amounts }>

/** What happened between two retros, in numbers. */
export interface Period {
  readonly sessions: number
  /** Of these, subagents. */
  readonly agents: number
  readonly recorded: readonly { kind: string; n: number }[]
  /** Rules that somebody agreed to. */
  readonly confirmed: number
  readonly claims: number
  /** Claims that ran out, or whose session was gone. */
  readonly lapsed: number
  /** Entities in which values stand against each other now. */
  readonly conflicts: number
  readonly operations: readonly Operation[]
  /** Groups of observations of the period that are alike, the largest first. */
  readonly recurred: readonly (readonly Seen[])[]
}

const sum = (some: readonly Seen[], good: boolean): Amounts =>
  some.filter((s) => s.good === good).reduce((n, s) => addAmounts(n, String(s.entity.fields.cost ?? '')), noAmounts())

export const costOf = (some: readonly Seen[]): Amounts => sum(some, false)

/** Counts what happened since a moment. Sessions and claims are known for 30 days. */
export function periodSince(memory: Memory, since: number): Period {
  const { reader, db } = memory
  const news = memory.newsSince(arrivedBy(db, since)).filter((n) => n.received >= since)
  const known = sessionsOf(memory)
  const ids = news.flatMap(({ author: { session } }) =>
    session === undefined || session.startsWith(HAND) ? [] : [session],
  )
  const sessions = new Set(ids.map((id) => known.resolve(id)))
  const presence = news.flatMap((n) => n.presence?.type ?? [])
  const events = news.flatMap((n) => n.events.map(({ event }) => event))
  const agreed = events.filter((e) => e.entity.startsWith('fact:') && e.field === 'standing' && e.value === 'confirmed')
  const all = observationsOf(memory, { archived: true, most: Number.MAX_SAFE_INTEGER })
  const own = all.filter((s) => s.at >= since)
  const operations = [...Map.groupBy(own, (s) => s.operation || '-')].map(([operation, some]) => ({
    operation,
    observations: some.length,
    cost: costOf(some),
    saved: sum(some, true),
  }))
  return {
    sessions: sessions.size,
    agents: [...sessions].filter((id) => known.get(id)?.parent !== undefined).length,
    recorded: reader
      .registry()
      .visibleKinds()
      .filter((k) => !APART.has(k.name))
      .map((k) => ({ kind: k.name, n: reader.ids(k.name, { since }).length }))
      .filter((k) => k.n > 0)
      .sort((a, b) => b.n - a.n || (a.kind < b.kind ? -1 : 1)),
    confirmed: new Set(agreed.map((e) => e.entity)).size,
    claims: presence.filter((type) => type === 'claimed').length,
    lapsed: presence.filter((type) => type === 'lapsed').length,
    conflicts: reader.conflicts().filter((e) => e.live).length,
    operations: operations.sort((a, b) => b.observations - a.observations || (a.operation < b.operation ? -1 : 1)),
    recurred: patternsIn(
      own.filter((s) => s.operation !== ''),
      likenessOf(memory, all),
    ).sort((a, b) => b.length - a.length),
  }
}

/** Learnings without a reference for 90 days, and the number without one for 30 (P7). Critical ones never count. */
export function learningsDue({ reader, db, env }: Memory): { due: Entity[]; quiet: number } {
  const [quiet, due] = [env.now() - QUIET_MS, env.now() - DUE_MS]
  const told = new Set(toldSince(db, due))
  const old = reader
    .list('learning')
    .filter((e) => e.fields.severity !== 'critical' && e.updated < quiet && !told.has(e.id))
  const referred = (e: Entity): number =>
    Math.max(e.updated, ...[...reader.links('to', e.id), ...reader.links('from', e.id)].map((l) => l.entity.created))
  const left = old
    .map((e) => ({ e, at: referred(e) }))
    .filter(({ at }) => at < quiet)
    .sort((a, b) => a.at - b.at || (a.e.id < b.e.id ? -1 : 1))
  const flagged = left.filter(({ at }) => at < due).map(({ e }) => e)
  return { due: flagged, quiet: left.length - flagged.length }
}
