import { expect, test } from 'vitest'
import { diff } from '../../src/surfaces/tools/diff.ts'
import { openTestMemory } from '../helpers.ts'

test('[D9] diff tells what was added, changed, superseded and retracted between two moments, each with its reason', async () => {
  const m = openTestMemory()
  const context = { memory: m.memory, project: m.project }
  const told = async (args: object) => (await diff.run(context, args as never)).text.split('\n').slice(1).join('\n')
  m.act([
    ['record-decision', { name: 'use-jwt', rationale: 'stateless' }],
    ['record-decision', { name: 'one-table' }],
    ['record-learning', { title: 'gone soon' }],
    ['record-question', { question: 'Who?' }],
  ])
  m.act([['record-mark', { name: 'first' }]])
  m.clock.days(40)
  m.act([
    ['record-decision', { name: 'use-sessions', rationale: 'can be revoked' }],
    ['supersede', { old: 'use-jwt', new: 'use-sessions', reason: 'tokens stay' }],
    ['retire', { ref: 'one-table', reason: 'too wide' }],
    ['answer-question', { ref: 'Who?', answer: 'the server' }],
    ['delete-learning', { ref: 'gone soon', reason: 'was wrong' }],
  ])
  const changes = [
    '',
    'added (1)',
    '  decision  use-sessions  because: can be revoked',
    '',
    'changed (1)',
    '  question  Who?  answer nothing → the server',
    '',
    'superseded (1)',
    '  decision  use-jwt  by use-sessions  because: tokens stay',
    '',
    'retracted (2)',
    '  decision  one-table  because: too wide',
    '  learning  gone soon  because: was wrong',
  ].join('\n')
  for (const from of ['first', '2 weeks ago']) expect(await told({ from })).toBe(changes)
  m.clock.days(10)
  expect(await told({ from: '2 days ago' })).toBe('nothing that is known changed')
  m.act([['record-decision', { name: 'later' }]])
  // what came after the second moment is no part of it, nor what was given back
  expect(await told({ from: 'first', to: 'yesterday' })).toBe(changes)
  // a day that is not over is what it has brought so far
  expect(await told({ from: 'today' })).toContain('  decision  later')
  await expect(told({ from: 'yesterday', to: 'first' })).rejects.toThrow(/lies before/)
})
