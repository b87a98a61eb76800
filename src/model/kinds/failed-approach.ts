import { list, text } from '../field.ts'
import { defineKind } from '../kind.ts'

export const failedApproach = defineKind({
  name: 'failed-approach',
  plural: 'failed-approaches',
  about: 'something that was tried and did not work',
  identity: 'content',
  key: ['approach'],
  positional: ['approach', 'outcome'],
  fields: {
    approach: text('what was tried', { weight: 1.5, also: ['tried', 'text', 'description'] }),
    outcome: text('what happened', { weight: 1, also: ['result', 'why', 'reason'] }),
    locations: list('where it was tried, as path or path:line', { paths: true, also: ['files'], weight: 0.3 }),
    lesson: text('what to do instead', { weight: 1.2, also: ['instead', 'learning'] }),
  },
  halfLifeDays: 180,
  example: {
    approach: 'watching the WAL file',
    outcome: 'missed commits',
    lesson: 'ring a doorbell file after the commit',
  },
})
