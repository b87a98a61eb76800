import { confidence, list, set, text } from '../field.ts'
import { defineKind } from '../kind.ts'

export const pattern = defineKind({
  name: 'pattern',
  about: 'a way of writing code that recurs',
  identity: 'name',
  key: ['name'],
  positional: ['name', 'description'],
  fields: {
    name: text('short name', { weight: 3 }),
    description: text('what it looks like and when to use it', { weight: 1.5, also: ['pattern', 'text'] }),
    type: text('family of patterns it belongs to', { weight: 1 }),
    confidence: confidence(),
    location: text('one good example, as path:line', { paths: true, weight: 0.5 }),
    evidence: list('what speaks for it', { weight: 0.7 }),
    relatedPatterns: set('names of patterns it goes with', { refs: true, weight: 0.3 }),
  },
  halfLifeDays: 365,
  example: {
    name: 'one-file-per-kind',
    type: 'layout',
    description: 'A kind is one file and one line in a list',
    confidence: 0.8,
  },
})
