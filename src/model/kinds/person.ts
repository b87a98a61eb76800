import { text } from '../field.ts'
import { defineKind } from '../kind.ts'

export const person = defineKind({
  name: 'person',
  plural: 'people',
  about: 'somebody the work has to do with',
  identity: 'name',
  key: ['name'],
  positional: ['name', 'role'],
  fields: {
    name: text('the name', { weight: 3 }),
    role: text('what they do', { weight: 1 }),
    contact: text('how to reach them', { weight: 0.3 }),
  },
  halfLifeDays: 730,
  example: { name: 'Ana Ruiz', role: 'release manager' },
})
