import { text } from '../field.ts'
import { defineKind } from '../kind.ts'

export const actionNote = defineKind({
  name: 'action-note',
  about: 'something that was done',
  identity: 'event',
  key: ['text'],
  aliases: ['record-action'],
  fields: { text: text('what was done', { weight: 1, also: ['content'] }) },
  halfLifeDays: 60,
  example: { text: 'Implemented the JWT middleware' },
})
