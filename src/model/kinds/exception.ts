import { text } from '../field.ts'
import { defineKind } from '../kind.ts'

export const exception = defineKind({
  name: 'exception',
  about: 'a rule that does not apply here, and why',
  identity: 'content',
  key: ['ruleBroken', 'justification', 'scope'],
  positional: ['ruleBroken', 'justification'],
  fields: {
    ruleBroken: text('the rule', { weight: 1.5 }),
    justification: text('why it does not apply', { weight: 1.2 }),
    scope: text('where it does not apply', { weight: 0.8 }),
  },
  halfLifeDays: 180,
  example: { ruleBroken: 'every change has a test', justification: 'generated code', scope: 'src/generated' },
})
