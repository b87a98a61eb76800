import { kindOf } from '../../model/entity.ts'
import type { Report } from '../../model/validate.ts'
import { STATE } from '../log/cells.ts'
import type { Planning } from './plan.ts'

/**
 * The key of an option that only code of Tidemark can give: a person has just said yes on a terminal, or it was measured.
 * No batch, no argument and no request can say it.
 */
export const SETTLES = Symbol('settles')

const KIND = 'mutation'
/** What may be added to one that stands in the queue. */
const OPEN = new Set(['provenance', 'tags', 'topics', 'evidence'])
/** What a person may do to any knowledge: take it out of lists, delete it. */
const PERSONS = new Set([STATE, 'retired', 'standing'])

/**
 * Refuses whatever would change what was proposed or decided, whichever verb does it: a mutation with a number is
 * changed by `tidemark mutation` alone. `from`: the first event of the action.
 */
export function refuseSettled(p: Planning, from: number, report: Report): void {
  if (p.ctx.settles) return
  for (const { entity, field, purged } of p.draft.events.slice(from)) {
    const id = p.draft.moves.get(entity) ?? entity // what is erased whole goes under another id
    if (kindOf(id) !== KIND || OPEN.has(field)) continue
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
