import { placeOf } from '../../engine/claims/part.ts'
import type { Memory } from '../../engine/memory.ts'
import type { Project } from '../../engine/store/project.ts'
import { stalenessOf } from '../../find/recall/told.ts'
import { fromData } from '../../scheme/data.ts'
import { codeReader } from './explain.ts'
import { type Functions, type Source, whatIsCalled } from './knowledge.ts'
import { CELLS_PER_ENTITY, made, takesNone, textOf } from './options.ts'
import { referenceTo } from './values.ts'

const STEPS = 5_000

/** What the code says of the knowledge about it, as the last scan saw it; as-of does not reach it. */
export function codeFunctions(memory: Memory, project: Project, source: Source): Functions {
  const staleness = () => stalenessOf(memory, project.root, source.reader)
  // biome-ignore format: a table, one entry a line where it can be
  return {
    '(explain place) | what is known of a path, path:line, path#symbol or symbol, one record each: symbols, what was recorded of it, its callers and claims | (map :path (explain "src/auth.ts"))': ([place], ctx) => {
      ctx.charge(STEPS)
      const found = codeReader(memory, project)(textOf(place))
      const ref = ({ entity, stale }: { entity: { id: string }; stale?: string }) => ({ ref: referenceTo(source.reader, entity.id), stale })
      return made(found, 10 * CELLS_PER_ENTITY, ctx, ({ path, language, symbol, symbols, understanding, known, callers, claims }) =>
        fromData({
          ...{ path, language, symbol: symbol?.name, symbols: symbols.map((s) => ({ name: s.name, kind: s.kind, start: s.start, end: s.end })) },
          ...{ understanding: understanding && ref(understanding), known: known.map(ref) },
          ...{ callers: callers.map((c) => (c.from === '' ? c.path : `${c.path}#${c.from}`)), claims: claims.map((c) => ({ session: c.session, on: placeOf(c), note: c.note })) },
        }),
      )
    },
    '(stale) | what was recorded of code that has changed since, the latest first, each with why | (map :ref (stale))': (args, ctx) => {
      takesNone(args, '(stale)')
      return made(staleness().all(), CELLS_PER_ENTITY, ctx, ({ id, why, since, restsOn }) =>
        fromData({ ref: referenceTo(source.reader, id), why, since: new Date(since).toISOString(), restsOn }),
      )
    },
    '(stale? ref) | whether the code that something speaks of has changed since it was recorded or last checked | (stale? "use-sqlite")': ([ref]) => {
      const all = staleness()
      return whatIsCalled(source.reader, textOf(ref)).some((e) => all.of(e.id) !== undefined)
    },
  }
}
