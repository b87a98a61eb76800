import { number, text, time } from '../field.ts'
import { defineKind } from '../kind.ts'

export const chunk = defineKind({
  name: 'chunk',
  about: 'a piece of a document or a conversation, kept as it was',
  identity: 'content',
  key: ['content', 'sourceFile', 'section', 'position', 'speaker', 'date'],
  positional: ['content'],
  fields: {
    content: text('the text', { weight: 1 }),
    sourceFile: text('the document it is from', { weight: 0.3 }),
    section: text('the part of the document', { weight: 0.5 }),
    position: number('its place in the document', { integer: true, min: 0 }),
    speaker: text('who said it', { weight: 0.5 }),
    date: time('when it was said'),
    when: text('when it was said, in the words of the source', { weight: 0.3 }),
  },
  halfLifeDays: 365,
  example: { content: 'We agreed to ship on Friday.', sourceFile: 'notes/monday.md', position: 3, speaker: 'Ana' },
})
