import { choice, text } from '../field.ts'
import { defineKind } from '../kind.ts'

export const goal = defineKind({
  name: 'goal',
  about: 'what was asked for; the root of a work tree',
  identity: 'name',
  key: ['originalAsk'],
  positional: ['originalAsk', 'plan'],
  fields: {
    originalAsk: text('the request in the words of whoever asked', { weight: 1.5 }),
    plan: text('how it is to be reached', { weight: 1, also: ['highLevelPlan'] }),
    state: choice(['open', 'complete', 'abandoned'], 'where it stands', { default: 'open' }),
    result: text('what came of it', { weight: 1 }),
    abandonReason: text('why it was abandoned', { weight: 0.5 }),
  },
  halfLifeDays: 180,
  example: { originalAsk: 'Add OAuth login', plan: 'provider, callback, session' },
})
