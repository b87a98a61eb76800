import type { Memory } from '../../engine/memory.ts'
import { vouchedFor } from '../../engine/replication/vouched.ts'
import { canonical } from '../../model/canonical.ts'
import { type Entity, standingOf } from '../../model/entity.ts'
import { isObject } from '../../model/object.ts'
import { contraryPairs, ruleIn, type Vocabulary } from './contradictions.ts'
import { stateOf } from './validity.ts'

export type WideStatement = { readonly entity: Entity; readonly isOwnWord: boolean }

export type Statement = Pick<Entity, 'id' | 'name' | 'fields'>

/** What is said, without who said it and where it came from. */
function saidOf({ fields }: Statement): string {
  const { provenance: _p, attrs, standing: _s, locations: _l, ...said } = fields
  const { origin: _o, ...more } = isObject(attrs) ? attrs : {}
  return canonical({ ...said, attrs: more })
}

/** How much what the library says counts beside the project; less where the project says otherwise. */
export const libraryWeight = (isOverridden: boolean): number => (isOverridden ? 0.24 : 0.8)

/**
 * Which statements of the library the project repeats, overrides or contradicts: `same` where it says just that, else the
 * id of what overrides it, if anything does. Proposals override nothing.
 */
export function besideNearer(
  memory: Memory,
  wide: readonly Statement[],
  nearer: readonly Statement[],
  vocabulary: Vocabulary,
): ({ same: true } | { by?: string })[] {
  const { reader, env } = memory
  const contrary = new Map<number, Statement>()
  for (const [a, b] of contraryPairs([...nearer, ...wide].map(ruleIn), vocabulary, nearer.length))
    if (a < nearer.length) contrary.set(b - nearer.length, nearer[a]!)
  return wide.map((w, n) => {
    const here = reader.entity(w.id)
    const isOurs = here && standingOf(here.fields) !== 'proposed' && vouchedFor(memory, [here.id]).has(here.id)
    if (isOurs && stateOf(here, reader, env.now()) !== undefined) return { by: here.id }
    const namesake = isOurs ? here : nearer.find((s) => s.id === w.id)
    if (namesake) return saidOf(namesake) === saidOf(w) ? { same: true } : { by: namesake.id }
    const other = contrary.get(n)
    return other ? { by: other.id } : {}
  })
}
