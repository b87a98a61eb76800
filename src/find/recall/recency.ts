import { type Entity, saidAt } from '../../model/entity.ts'
import type { Registry } from '../../model/registry.ts'
import { DAY_MS } from '../../model/times.ts'
import type { RecallConfig } from './config.ts'

/** For kinds that declare none, such as a project's own. */
export const HALF_LIFE_DAYS = 180

/** Days after which half of the freshness of a kind is gone. */
export const halfLifeOf = (kind: string, registry: Registry, config: RecallConfig): number =>
  (Object.hasOwn(config.halfLifeDays, kind) ? config.halfLifeDays[kind] : undefined) ??
  registry.kind(kind)?.halfLifeDays ??
  HALF_LIFE_DAYS

/** From 1 for what was just touched down to the floor. What an import brought is as old as it says itself; no other date is its age. */
export function recencyOf(e: Entity, now: number, registry: Registry, config: RecallConfig): number {
  const { recencyFloor: floor } = config
  const age = Math.max(0, now - saidAt(e)) / DAY_MS
  return floor + (1 - floor) * 2 ** (-age / halfLifeOf(e.kind, registry, config))
}
