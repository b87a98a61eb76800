import { choice, text } from '../field.ts'
import { defineKind } from '../kind.ts'

export const measurement = defineKind({
  name: 'measurement',
  about: 'something that was measured',
  identity: 'event',
  key: ['content'],
  positional: ['type', 'content'],
  fields: {
    type: text('what was measured', { weight: 1 }),
    content: text('the figure, with its unit', { weight: 1 }),
    severity: choice(['low', 'medium', 'high', 'critical'], 'how bad it is'),
  },
  halfLifeDays: 90,
  example: { type: 'cold start', content: '26 ms median of 30 runs', source: 'npm run bench' },
})
