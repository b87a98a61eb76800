import { kindOf } from '../../model/entity.ts'
import type { Report } from '../../model/validate.ts'
import { STATE } from '../log/cells.ts'
import type { Planning } from './plan.ts'

/** An option that only Tidemark's own code can give: a person said yes on a terminal, or it was measured. */
export const SETTLES = Symbol('settles')

/** What may be added to one that stands in the queue. */
const OPEN = new Set(['provenance', 'tags', 'topics', 'evidence'])
/** What a person may do to any knowledge: take it out of lists, delete it. */
const PERSONS = new Set([STATE, 'retired', 'standing'])

/** Refuses changes to a proposed or decided mutation, whichever verb: only `tidemark mutation` may. `from`: the action's first event. */
export function refuseSettled(p: Planning, from: number, report: Report): void {
  if (p.ctx.settles) return
  for (const { entity, field, purged } of p.draft.events.slice(from)) {
    const id = p.draft.moves.get(entity) ?? entity // what is erased whole goes under another id
    if (kindOf(id) !== 'mutation' || OPEN.has(field)) continue
    if (p.ctx.by === 'person' && (purged || PERSONS.has(field))) continue
    const { number, status = 'proposed' } = p.view.entity(id)?.fields ?? {}
    if (number === undefined && status === 'proposed' && field !== 'status') continue
    report({
      field: 'ref',
      code: 'person',
      message: `only a person decides about ${typeof number === 'string' ? number : id}`,
      received: id,
      accepted: 'the person',
      hint: 'ask the person to run `tidemark mutation` in a terminal of their own',
    })
    return
  }
}
