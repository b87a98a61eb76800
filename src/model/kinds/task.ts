import { choice, text } from '../field.ts'
import { defineKind } from '../kind.ts'

export const task = defineKind({
  name: 'task',
  about: 'an atomic piece of work',
  identity: 'event',
  key: ['description'],
  positional: ['description', 'result'],
  fields: {
    description: text('what is to be done', { weight: 1.5 }),
    result: text('what came of it', { weight: 1 }),
    activity: text('the activity it belongs to', { refs: true, weight: 0 }),
    goal: text('the goal it belongs to, where it has no activity', { refs: true, weight: 0 }),
    state: choice(['open', 'complete', 'abandoned'], 'where it stands', { default: 'open' }),
    abandonReason: text('why it was abandoned', { weight: 0.5 }),
  },
  halfLifeDays: 90,
  example: { description: 'refresh tokens before they expire' },
})
