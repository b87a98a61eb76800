import { text, time } from '../field.ts'
import { defineKind } from '../kind.ts'

export const mark = defineKind({
  name: 'mark',
  about: 'a moment with a name, which --as-of understands',
  identity: 'name',
  key: ['name'],
  positional: ['name', 'note'],
  fields: {
    name: text('what it is called', { weight: 0.5 }),
    at: time('the moment, if that is not when it was recorded'),
    note: text('what happened then', { weight: 0.5 }),
  },
  halfLifeDays: 365,
  example: { name: 'release-1', note: 'the first release' },
})
