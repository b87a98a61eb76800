import { flag, text } from '../field.ts'
import { defineKind } from '../kind.ts'

export const projectRelation = defineKind({
  name: 'project-relation',
  about: 'a relation that this project added with define-relation',
  identity: 'name',
  key: ['name'],
  internal: true,
  fields: {
    name: text('the relation', { weight: 0 }),
    about: text('what it says', { weight: 0 }),
    inverse: text('how it reads from the other end', { weight: 0 }),
    symmetric: flag('the same in both directions'),
    acyclic: flag('may not close a cycle'),
    impact: text('forward, backward, both or none', { weight: 0 }),
  },
  example: { name: 'owned-by', about: 'who is responsible' },
})
