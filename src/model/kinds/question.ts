import { text } from '../field.ts'
import { defineKind } from '../kind.ts'

export const question = defineKind({
  name: 'question',
  about: 'something nobody knows yet; open until answered',
  identity: 'content',
  key: ['question'],
  fields: {
    question: text('the question', { weight: 1.5, also: ['text', 'title'] }),
    answer: text('the answer, once known', { weight: 1.2 }),
    context: text('why it matters', { weight: 0.8 }),
  },
  halfLifeDays: 90,
  example: { question: 'Does the hub need Redis?', context: 'deployment', topics: ['hub'] },
})
