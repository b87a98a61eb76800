import { choice, confidence, list, number, set, text } from '../field.ts'
import { defineKind } from '../kind.ts'

export const decision = defineKind({
  name: 'decision',
  about: 'a choice that was made, and why',
  identity: 'name',
  key: ['name'],
  positional: ['name', 'description'],
  fields: {
    name: text('short name', { weight: 3, also: ['title'] }),
    description: text('what was decided', { weight: 1.5, also: ['decision', 'text'] }),
    rationale: text('why', { weight: 1, also: ['reason', 'why', 'reasoning'] }),
    optionsConsidered: list('what else was on the table', { weight: 0.6, also: ['alternatives', 'options'] }),
    revisitTrigger: text('what would reopen it', { weight: 0.5 }),
    status: choice(
      ['active', 'deprecated', 'superseded'],
      'where it stands; superseded is written by supersede alone',
      { default: 'active' },
    ),
    visibility: choice(['developmental', 'curated'], 'whether somebody has curated it', { default: 'developmental' }),
    impact: number('how much hangs on it, 0 to 10', { min: 0, max: 10 }),
    confidence: confidence(),
    locations: list('where it shows, as path or path:line', { paths: true, also: ['files'], weight: 0.5 }),
    evidence: list('what speaks for it', { weight: 0.7 }),
    relatedDecisions: set('names of decisions it goes with', { refs: true, weight: 0.3 }),
  },
  halfLifeDays: 180,
  example: {
    name: 'use-sqlite',
    description: 'Store everything in one SQLite file',
    rationale: 'no daemon',
    impact: 8,
  },
})
