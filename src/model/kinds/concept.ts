import { list, text } from '../field.ts'
import { defineKind } from '../kind.ts'

export const concept = defineKind({
  name: 'concept',
  about: 'a term of the domain and what it means',
  identity: 'name',
  key: ['name'],
  positional: ['name', 'definition'],
  fields: {
    name: text('the term', { weight: 3 }),
    definition: text('what it means', { weight: 1.5, also: ['description', 'meaning', 'text'] }),
    domain: text('the field it belongs to', { weight: 0.8 }),
    type: text('what sort of thing it is', { weight: 0.6 }),
    observations: list('single statements about it', { weight: 1 }),
  },
  halfLifeDays: 730,
  example: { name: 'fencing number', definition: 'A growing number that makes a late holder of a lease harmless' },
})
