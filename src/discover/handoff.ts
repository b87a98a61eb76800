import { currentEntities } from '../handoff/current.ts'
import type { HostFunction } from '../scheme/interpreter.ts'
import { list } from '../scheme/values.ts'
import type { Source } from './knowledge.ts'
import { toScheme } from './values.ts'

/** Cells that a handoff costs when it is made for a program. */
const CELLS_PER_HANDOFF = 80

export const handoffFunction = (source: Source): HostFunction => ({
  name: 'handoff',
  min: 0,
  max: 0,
  about: 'where the work stands as sessions have left it, newest first: one per task, else per session',
  example: '(handoff)',
  run(_args, ctx) {
    const current = currentEntities(source.reader)
    ctx.charge(current.length)
    ctx.alloc(current.length * CELLS_PER_HANDOFF)
    return list(current.map((e) => toScheme(e, source.reader.registry())))
  },
})
