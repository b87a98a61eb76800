import { choice, list, text } from '../field.ts'
import { defineKind } from '../kind.ts'

export const mutation = defineKind({
  name: 'mutation',
  plural: 'mutations',
  about: 'a proposed change to how work is done, approved by a human',
  identity: 'content',
  key: ['change'],
  positional: ['change', 'trigger'],
  fields: {
    change: text('what the skill would do differently', { weight: 1.5 }),
    trigger: text('what was observed', { weight: 1 }),
    skill: text('the skill it changes', { weight: 0.8 }),
    evidence: list('the observations behind it', { weight: 0.5 }),
    status: choice(['proposed', 'approved', 'applied', 'rejected', 'reverted'], 'where it stands', {
      default: 'proposed',
    }),
    outcome: text('what was observed after it', { weight: 0.8 }),
  },
  halfLifeDays: 365,
  example: { change: 'deploy runs the smoke test first', trigger: '3 of 5 deploys skipped it', skill: 'deploy' },
})
