import { text, time } from '../field.ts'
import { defineKind } from '../kind.ts'

export const eventNote = defineKind({
  name: 'event-note',
  about: 'something that happened at a certain time',
  identity: 'event',
  key: ['title'],
  positional: ['title', 'detail'],
  fields: {
    title: text('what happened', { weight: 1.5 }),
    at: time('when it happened'),
    detail: text('more about it', { weight: 1 }),
  },
  halfLifeDays: 90,
  example: { title: 'Release 0.1', at: '2026-11-21', detail: 'first public version' },
})
