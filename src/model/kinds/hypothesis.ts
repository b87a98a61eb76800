import { choice, confidence, list, text } from '../field.ts'
import { defineKind } from '../kind.ts'

export const hypothesis = defineKind({
  name: 'hypothesis',
  plural: 'hypotheses',
  about: 'a prediction that can be tested',
  identity: 'content',
  key: ['statement'],
  fields: {
    statement: text('what is supposed', { weight: 1.5 }),
    testablePrediction: text('what would show it', { weight: 1 }),
    status: choice(['open', 'supported', 'refuted', 'abandoned'], 'where it stands', { default: 'open' }),
    confidence: confidence(),
    evidence: list('what speaks for or against it', { weight: 0.7 }),
  },
  halfLifeDays: 120,
  example: { statement: 'Most cold-start time is module loading', testablePrediction: 'a bundle halves it' },
})
