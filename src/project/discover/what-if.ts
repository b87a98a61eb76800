import type { Memory } from '../../engine/memory.ts'
import { momentOf } from '../../engine/read/reader.ts'
import { pathTo, whatIf } from '../../find/graph/what-if.ts'
import type { Entity as Known } from '../../model/entity.ts'
import { fromData } from '../../scheme/data.ts'
import { list, Rec, type Value } from '../../scheme/values.ts'
import { type Functions, type Source, theOne } from './knowledge.ts'
import { CELLS_PER_ENTITY, made, options, textOf } from './options.ts'
import { referenceTo, toSchemeInShort } from './values.ts'

/** Looks at the clock at once: it asks recall. */
const STEPS = 5_000

/** `(what-if ref)`: what a change touches, and what became of things like it. */
export const whatIfFunctions = (memory: Memory, source: Source): Functions => ({
  '(what-if ref) | {:touched :precedents :outcomes :likely}: what a change of it touches, each with :strength and :path, strongest first; what became of things like it; the likely outcome, nil with too few | (@ (what-if "use-sqlite") :touched)':
    (args, ctx) => {
      ctx.charge(STEPS)
      const { reader } = source
      const { plain } = options(args, [])
      const asOf = source.at === undefined ? undefined : momentOf(source.at)
      const found = whatIf(memory, reader, theOne(reader, textOf(plain[0])), asOf)
      const entity = (known: Known, said: readonly [string, Value][]) => toSchemeInShort(known, reader.registry(), said)
      const references = (all: readonly Known[]) => list(all.map((e) => referenceTo(reader, e.id)))
      const touched = made(found.touched, CELLS_PER_ENTITY, ctx, (t) => {
        const path = references(pathTo(t).map((p) => p.entity))
        return entity(t.entity, Object.entries({ strength: Number(t.strength.toFixed(3)), path }))
      })
      const precedents = made(found.precedents, CELLS_PER_ENTITY, ctx, (p) => {
        const said = [...p.because, ...p.ledTo]
        const because = said.length > 0 && { because: references(said) }
        return entity(p.entity, Object.entries({ outcome: p.outcome, ...because }))
      })
      const outcomes = fromData(Object.fromEntries(found.outcomes))
      return new Rec(
        new Map<string, Value>(Object.entries({ touched, precedents, outcomes, likely: found.likely ?? null })),
      )
    },
})
