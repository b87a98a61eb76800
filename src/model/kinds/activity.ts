import { choice, text } from '../field.ts'
import { defineKind } from '../kind.ts'

export const activity = defineKind({
  name: 'activity',
  plural: 'activities',
  about: 'an area of work within a goal',
  identity: 'event',
  key: ['description'],
  fields: {
    description: text('what the area is about', { weight: 1.5 }),
    mode: text('how the work is done: explore, build, review …', { weight: 0.5 }),
    component: text('the part of the system', { weight: 0.8 }),
    goal: text('the goal it belongs to', { refs: true, weight: 0 }),
    state: choice(['open', 'complete', 'abandoned'], 'where it stands', { default: 'open' }),
    result: text('what came of it', { weight: 1 }),
    abandonReason: text('why it was abandoned', { weight: 0.5 }),
  },
  halfLifeDays: 120,
  example: { description: 'token handling', component: 'auth' },
})
