import { number, text, time } from '../field.ts'
import { defineKind } from '../kind.ts'

export const turn = defineKind({
  name: 'turn',
  about: 'something said in a session of a client; it stays on this machine',
  identity: 'content',
  key: ['content', 'sourceFile', 'position', 'speaker', 'date'],
  positional: ['content'],
  fields: {
    content: text('the text', { weight: 1 }),
    sourceFile: text('the client and its session', { weight: 0.3 }),
    position: number('its place in the session', { integer: true, min: 0 }),
    speaker: text('who said it', { weight: 0.5 }),
    date: time('when it was said'),
  },
  halfLifeDays: 365,
  travels: 'machine',
  example: { content: 'Why does the cart round twice?', sourceFile: 'claude/3f2a', position: 3, speaker: 'user' },
})
