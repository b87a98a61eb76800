import { choice, list, text, time } from '../field.ts'
import { defineKind } from '../kind.ts'

const PERSON = 'a person decides with `tidemark mutation`'

export const mutation = defineKind({
  name: 'mutation',
  about: 'a proposed change to how work is done, approved by a human',
  identity: 'content',
  key: ['change'],
  positional: ['change', 'trigger'],
  fields: {
    change: text('what the skill would do differently', { weight: 1.5 }),
    trigger: text('what was observed', { weight: 1 }),
    skill: text('the skill it changes', { weight: 0.8 }),
    step: text('the step to add to it, in one line', { weight: 0.8 }),
    before: text('the step that it goes before; the last one unless given', { weight: 0.3 }),
    target: text('the file of the skill: a path in the project', { weight: 0.3 }),
    evidence: list('the observations behind it', { weight: 0.5 }),
    outcome: text('what was observed after it', { weight: 0.8 }),
    status: choice(
      ['proposed', 'approved', 'rejected', 'applied', 'improved', 'unchanged', 'worse', 'kept', 'reverted'],
      `where it stands: ${PERSON}`,
      { default: 'proposed', system: true },
    ),
    number: text('M-001, …', { system: true }),
    approver: text('who agreed to it, or turned it down', { system: true }),
    decided: time('when', { system: true }),
    applied: time('since when the skill has the step', { system: true }),
    base: text('the hash of the file that it was proposed for', { system: true, weight: 0 }),
    result: text('the hash of the file with the step', { system: true, weight: 0 }),
    diff: text('what was changed in the file', { system: true, weight: 0 }),
  },
  halfLifeDays: 365,
  example: { change: 'deploy runs the smoke test first', trigger: '3 of 5 deploys skipped it', skill: 'deploy' },
})
