import { confidence, text } from '../field.ts'
import { defineKind } from '../kind.ts'

export const relationship = defineKind({
  name: 'relationship',
  about: 'a link: a typed edge between two entities',
  identity: 'name',
  key: ['type'],
  positional: [],
  internal: true,
  fields: {
    from: text('the entity it starts at', { refs: true, weight: 0 }),
    to: text('the entity it ends at', { refs: true, weight: 0 }),
    type: text('the relation', { weight: 0 }),
    description: text('how exactly they relate', { weight: 1 }),
    confidence: confidence(),
  },
  example: { from: 'plan-then-apply', to: 'use-sqlite', type: 'supports' },
})
