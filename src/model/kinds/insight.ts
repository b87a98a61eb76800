import { list, text } from '../field.ts'
import { defineKind } from '../kind.ts'

export const insight = defineKind({
  name: 'insight',
  about: 'something understood that changes how to look at the work',
  identity: 'event',
  key: ['summary'],
  fields: {
    summary: text('the insight in one sentence', { weight: 1.5, also: ['insight', 'text', 'description'] }),
    category: text('what sort of insight', { weight: 0.8 }),
    detail: text('the long form', { weight: 1 }),
    implications: list('what follows from it', { weight: 0.8 }),
  },
  halfLifeDays: 180,
  example: { summary: 'Opening the store is what every short-lived writer pays for', category: 'performance' },
})
