import { confidence, list, set, text } from '../field.ts'
import { defineKind } from '../kind.ts'

export const principle = defineKind({
  name: 'principle',
  about: 'an architectural principle that holds in this code base',
  identity: 'name',
  key: ['name'],
  positional: ['name', 'description'],
  fields: {
    name: text('short name', { weight: 3 }),
    description: text('what it says and why', { weight: 1.5, also: ['principle', 'text'] }),
    confidence: confidence(),
    locations: list('where it shows, as path or path:line', { paths: true, also: ['files'], weight: 0.5 }),
    evidence: list('what speaks for it', { weight: 0.7 }),
    relatedPrinciples: set('names of principles it goes with', { refs: true, weight: 0.3 }),
  },
  halfLifeDays: 365,
  example: {
    name: 'plan-then-apply',
    description: 'All judgement happens before the first write',
    confidence: 0.9,
    evidence: ['a throwing transaction left half a write'],
  },
})
