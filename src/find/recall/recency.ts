import { type Entity, saidAt } from '../../model/entity.ts'
import type { Registry } from '../../model/registry.ts'
import type { RecallConfig } from './config.ts'

const DAY_MS = 86_400_000

/** For kinds that declare none, such as a project's own. */
export const HALF_LIFE_DAYS = 180

/** Days after which half of the freshness of a kind is gone. */
export const halfLifeOf = (kind: string, registry: Registry, config: RecallConfig): number =>
  (Object.hasOwn(config.halfLifeDays, kind) ? config.halfLifeDays[kind] : undefined) ??
  registry.kind(kind)?.halfLifeDays ??
  HALF_LIFE_DAYS

/**
 * How much an item's age leaves of it: 1 when it was just said, towards the floor as half-lives go by, never below.
 * The age counts from the last time anybody touched it: recording it again, adding evidence or curating it says that
 * it still holds. What an import brought is as old as it says itself. Another date that it carries (`date`, `at`) says what it is about, not how old it is.
 */
export function recencyOf(e: Entity, now: number, registry: Registry, config: RecallConfig): number {
  const { recencyFloor: floor } = config
  const age = Math.max(0, now - saidAt(e)) / DAY_MS
  return floor + (1 - floor) * 2 ** (-age / halfLifeOf(e.kind, registry, config))
}
