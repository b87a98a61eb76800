import { map, text } from '../field.ts'
import { defineKind } from '../kind.ts'

export const context = defineKind({
  name: 'context',
  about: 'a key of the shared context of live sessions',
  identity: 'name',
  key: ['key'],
  positional: ['key'],
  fields: { key: text('the key', { weight: 1 }), value: map('what is shared under it, deep', { weight: 0.3 }) },
  halfLifeDays: 7,
  travels: 'machine',
  example: { key: 'current-phase', value: { phase: 'review' } },
})
