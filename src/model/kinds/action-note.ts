import { text } from '../field.ts'
import { defineKind } from '../kind.ts'

export const actionNote = defineKind({
  name: 'action-note',
  about: 'something that was done',
  identity: 'event',
  key: ['text'],
  fields: { text: text('what was done', { weight: 1 }) },
  halfLifeDays: 60,
  example: { text: 'Implemented the JWT middleware' },
})
