import { newestFirst } from '../../engine/read/reader.ts'
import type { Stale } from '../../engine/read/stale.ts'
import { saying } from '../../find/recall/card.ts'
import { stalenessOf } from '../../find/recall/told.ts'
import { unverifiedAmong } from '../../find/recall/unverified.ts'
import { type Entity, provenanceOf, standingOf } from '../../model/entity.ts'
import { notAskedYet, stillWaiting } from '../../session/briefing/sections/unconfirmed.ts'
import type { ToolContext } from './tool.ts'

/** Rules that came by sync: they bind nobody here until somebody here agrees. */
export function unverifiedRules(memory: ToolContext['memory']): Entity[] {
  const facts = memory.reader.list('fact').filter((e) => standingOf(e.fields) === 'confirmed')
  const unverified = unverifiedAmong(memory, facts)
  return facts.filter((e) => unverified.has(e.id)).sort(newestFirst)
}

/** What a person said weighs more than what nobody did, and what was said again more than what was said once. */
const weightOf = (e: Entity): number => {
  const all = provenanceOf(e)
  return all.length + (all.some((p) => p.said !== undefined) ? 1 : 0)
}

/** Proposals that wait, and how many wait no more. */
export function proposedIn(memory: ToolContext['memory']): { waiting: Entity[]; old: number } {
  const { reader } = memory
  const kinds = reader.registry().kinds()
  const all = kinds.flatMap((k) => reader.list(k.name, { standing: 'proposed' })).sort(newestFirst)
  const waiting = stillWaiting(all, { reader, moment: memory.env.now() })
  // without those that wait for nothing here, however new
  return { waiting, old: stillWaiting(all, { reader, moment: 0 }).length - waiting.length }
}

/** Of what binds, so much is held against each that waits. */
const LOOKED_AT = 10

/** What waits for a yes, weightiest first: proposals, and rules of others; nothing twice in nearly the same words. */
export function waitingIn(memory: ToolContext['memory'], others = unverifiedRules(memory)): Entity[] {
  const { reader } = memory
  const waiting = proposedIn(memory)
    .waiting.concat(others)
    .sort((a, b) => weightOf(b) - weightOf(a) || newestFirst(a, b))
  if (waiting.length === 0) return waiting
  const fromOthers = new Set(others.map((e) => e.id))
  const isBinding = (e: Entity) => standingOf(e.fields) === 'confirmed' && !fromOthers.has(e.id)
  const binding = waiting.flatMap((e) => reader.search(saying(e, reader), LOOKED_AT, ['fact']).filter(isBinding))
  return notAskedYet(waiting, binding, reader)
}

/** What the code has left behind, with places of its own: what rests on those is settled with them. */
export const staleHere = ({ memory, project }: ToolContext): Stale[] =>
  stalenessOf(memory, project.root, memory.reader)
    .all()
    .filter((s) => s.restsOn === undefined)
