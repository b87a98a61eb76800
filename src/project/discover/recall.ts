import type { Recaller } from '../../find/recall/recall.ts'
import type { RecallOptions } from '../../find/recall/types.ts'
import { defined } from '../../model/object.ts'
import { Entity, list, type Value } from '../../scheme/values.ts'
import type { Functions, Source } from './knowledge.ts'
import { CELLS_PER_ENTITY, options, textOf } from './options.ts'
import { toScheme } from './values.ts'

const TAKES = ['scope', 'preset', 'limit', 'kind', 'task', 'goal', 'since', 'valid-at', 'all'] as const

/** Looks at the clock at once: it costs as much as thousands of steps. */
const STEPS = 5_000

/** `(recall "question" …)`: what answers it, best first; each entity also answers `:score`, `:why` and the parts. */
export const recallFunctions = (source: Source, recaller: Recaller, session: string | undefined): Functions => ({
  [`(recall question option …) | what answers a question, best first, each with :score and :why; options ${TAKES.map((t) => `:${t}`).join(' ')} | (map :why (recall "which store do we use" :limit 3))`]:
    (args, ctx) => {
      ctx.charge(STEPS)
      const { plain, text, whole, flag } = options(args, TAKES)
      const several = (name: string) => text(name) && [text(name)]
      const said = {
        ...{ scope: text('scope'), preset: text('preset'), task: text('task'), since: text('since') },
        ...{
          kinds: several('kind'),
          goals: several('goal'),
          validAt: text('valid-at') ?? source.validAt,
          asOf: source.at,
        },
        ...{ limit: whole('limit'), all: flag('all'), session },
      }
      const { results } = recaller.askNow(textOf(plain[0]), defined(said) as RecallOptions)
      ctx.alloc(results.length * CELLS_PER_ENTITY)
      return list(
        results.flatMap((r) => {
          const known = source.reader.entity(r.id)
          if (!known) return []
          const { fields, hidden, kind } = toScheme(known, source.reader.registry())
          const parts = Object.entries(r.parts) as [string, Value][]
          return [new Entity(kind, fields, new Map([...hidden, ...parts, ['score', r.score], ['why', r.why]]))]
        }),
      )
    },
})
