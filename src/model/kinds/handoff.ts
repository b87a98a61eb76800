import { list, text, time } from '../field.ts'
import { defineKind } from '../kind.ts'

export const handoff = defineKind({
  name: 'handoff',
  about: 'the state of the work as one session leaves it to the next; replaced each time',
  identity: 'name',
  key: ['title'],
  positional: ['title'],
  fields: {
    title: text('whose or which task the handoff is', { weight: 1 }),
    written: time('when it was written'),
    contextUsed: text('how full the context was', { weight: 0 }),
    inProgress: list('what is under way', { weight: 1 }),
    decisionsMade: list('what was decided', { weight: 1 }),
    blockers: list('what is in the way', { weight: 1 }),
    nextSteps: list('what to do next', { weight: 1 }),
    body: text('the handoff as written', { weight: 1 }),
    task: text('the task it is of', { refs: true, weight: 0 }),
    session: text('the session that wrote it', { weight: 0 }),
    composed: list('what of it Tidemark put together from what the session did', { weight: 0, inner: true }),
  },
  halfLifeDays: 14,
  // where the work of these sessions stands, and whose they are, is of this machine
  travels: 'machine',
  example: { title: 'current', nextSteps: ['Fix the JWKS cache'] },
})
