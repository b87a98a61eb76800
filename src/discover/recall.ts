import { UserError } from '../errors.ts'
import type { Entity as Known } from '../model/entity.ts'
import type { Recaller } from '../recall/recall.ts'
import type { RecallOptions } from '../recall/types.ts'
import type { HostFunction } from '../scheme/interpreter.ts'
import { Entity, isTrue, list, SchemeError, Sym, type Value } from '../scheme/values.ts'
import { options, type Source, textOf } from './knowledge.ts'
import { toScheme } from './values.ts'

const TAKES = ['scope', 'preset', 'limit', 'kind', 'task', 'goal', 'since', 'valid-at', 'all'] as const

/** Looks at the clock at once: it costs as much as thousands of steps. */
const STEPS = 5_000
const CELLS_PER_ENTITY = 16

/** `(recall "question" …)`: what answers it, best first; each entity also answers `:score`, `:why` and the parts. */
export function recallFunction(source: Source, recaller: Recaller, session: string | undefined): HostFunction {
  return {
    name: 'recall',
    min: 1,
    max: Number.POSITIVE_INFINITY,
    about: `what answers a question, best first, each with :score and :why; options ${TAKES.map((t) => `:${t}`).join(' ')}`,
    example: '(map :why (recall "which store do we use" :limit 3))',
    run(args, ctx) {
      ctx.charge(STEPS)
      const { plain, given } = options('recall', args, TAKES)
      const several = (v: Value | undefined) => (v === undefined ? undefined : [textOf('recall', v)])
      const text = (name: (typeof TAKES)[number]) => {
        const v = given.get(name)
        return v === undefined ? undefined : v instanceof Sym ? v.name : textOf('recall', v)
      }
      const limit = given.get('limit')
      const said = {
        scope: text('scope'),
        preset: text('preset'),
        kinds: several(given.get('kind')),
        goals: several(given.get('goal')),
        task: text('task'),
        since: text('since'),
        validAt: text('valid-at'),
        session,
        asOf: source.at,
        limit: limit === undefined ? undefined : Number(limit),
        all: given.has('all') ? isTrue(given.get('all')!) : undefined,
      }
      const asked = Object.fromEntries(Object.entries(said).filter(([, v]) => v !== undefined)) as RecallOptions
      try {
        const { results } = recaller.askNow(textOf('recall', plain[0]), asked)
        ctx.alloc(results.length * CELLS_PER_ENTITY)
        const registry = source.reader.registry()
        return list(
          results.flatMap((r) => {
            const e: Known | undefined = source.reader.entity(r.id)
            if (!e) return []
            const { fields, hidden, kind } = toScheme(e, registry)
            const parts = Object.entries(r.parts) as [string, Value][]
            return [new Entity(kind, fields, new Map([...hidden, ...parts, ['score', r.score], ['why', r.why]]))]
          }),
        )
      } catch (error) {
        if (error instanceof UserError)
          throw new SchemeError(
            error.message.startsWith('recall') ? error.message : `recall: ${error.message}`,
            error.hint,
          )
        throw error
      }
    },
  }
}
