import { number, text, time } from '../field.ts'
import { defineKind } from '../kind.ts'

export const retroScore = defineKind({
  name: 'retro-score',
  about: 'how a retrospective scored the work',
  identity: 'content',
  key: ['date', 'file'],
  positional: ['date'],
  fields: {
    date: time('day of the retrospective'),
    collab: number('collaboration, 0 to 10', { min: 0, max: 10 }),
    effectiveness: number('effectiveness of the process, 0 to 10', { min: 0, max: 10 }),
    swarm: number('effectiveness of parallel agents, 0 to 10', { min: 0, max: 10 }),
    file: text('the retrospective itself', { weight: 0.3 }),
    context: text('who took part', { weight: 0.3 }),
  },
  halfLifeDays: 365,
  example: { date: '2026-04-22', collab: 7.5, effectiveness: 8.5, swarm: 9 },
})
