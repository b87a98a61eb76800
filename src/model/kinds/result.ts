import { text } from '../field.ts'
import { defineKind } from '../kind.ts'

export const result = defineKind({
  name: 'result',
  about: 'what came of something',
  identity: 'event',
  key: ['text'],
  fields: {
    text: text('what came of it', { weight: 1, also: ['content'] }),
    outcome: text('succeeded, failed, mixed, or in words of your own', { weight: 0.5 }),
  },
  halfLifeDays: 90,
  example: { text: 'Validation works with refresh tokens', outcome: 'succeeded' },
})
