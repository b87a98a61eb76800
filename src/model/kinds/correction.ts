import { choice, text } from '../field.ts'
import { defineKind } from '../kind.ts'

export const correction = defineKind({
  name: 'correction',
  about: 'a belief that turned out wrong, and what is right',
  identity: 'event',
  key: ['rightBelief'],
  positional: ['wrongBelief', 'rightBelief'],
  fields: {
    wrongBelief: text('what was believed', { weight: 1.2, also: ['wrong', 'was'] }),
    rightBelief: text('what is true', { weight: 1.5, also: ['right', 'correct', 'correction', 'text'] }),
    severity: choice(['low', 'medium', 'high', 'critical'], 'what believing it would cost'),
  },
  halfLifeDays: 180,
  example: { wrongBelief: 'users live in users.py', rightBelief: 'users live in auth/accounts.py', severity: 'high' },
})
