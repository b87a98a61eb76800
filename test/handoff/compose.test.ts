import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { composeHandoff, writeAutomatic } from '../../src/work/handoff/compose.ts'
import { currentHandoffs } from '../../src/work/handoff/current.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'

/** A session that has done a bit of everything. */
function worked(m: TestMemory): void {
  const sessions = sessionsOf(m.memory)
  sessions.start({ id: 'a', client: 'claude-code' })
  m.clock.now += 1000
  const by = { session: 'a' }
  m.act([['start-task', { description: 'auth middleware' }]], by)
  m.act([['add-task', { description: 'document it' }]], by)
  m.act([['record-decision', { name: 'use-jwt', rationale: 'stateless' }]], by)
  m.act([['record-decision', { name: 'not-ours', rationale: 'r' }]], { session: 'other' })
  m.act([['claim', { paths: ['src/auth/**'], note: 'tokens' }]], by)
  m.act([['propose', { action: ['record-fact', { fact: 'always lint' }], evidence: 'said so' }]], by)
  for (const file of ['src/a.ts', 'src/b.ts']) sessions.edited('a', file)
  sessions.patch('a', {
    contextUsed: 81,
    failing: {
      x1: { n: 3, command: 'npm test', last: '2 failed', at: 1 },
      x2: { n: 1, command: 'cd app && npm test', last: '2 failed', at: 2 },
    },
  })
}

test('[P4] a handoff is put together from what the session did', () => {
  const m = openTestMemory()
  worked(m)
  expect(composeHandoff(m.memory, 'a')).toEqual({
    inProgress: ['Task: auth middleware', 'Had claimed src/auth/** (tokens)', 'Edited src/b.ts, src/a.ts'],
    decisionsMade: ['use-jwt: stateless'],
    blockers: ['`npm test` failed 3 times: 2 failed'],
    nextSteps: [
      expect.stringMatching(/^Go on with: auth middleware \(task:\w+\)$/),
      expect.stringMatching(/^document it \(task:\w+\)$/),
    ],
    contextUsed: 81,
  })
})

test('[P4] [W4] a session that only asked, or only decided, leaves no work', () => {
  const m = openTestMemory()
  const sessions = sessionsOf(m.memory)
  sessions.start({ id: 'a', client: 'claude-code' })
  sessions.patch('a', { request: 'What is there to do?', said: 'Nothing is open.' })
  m.act([['record-decision', { name: 'use-jwt', rationale: 'stateless' }]], { session: 'a' })
  expect(composeHandoff(m.memory, 'a')).toBeUndefined()
  sessions.edited('a', 'src/a.ts')
  expect(composeHandoff(m.memory, 'a')!.inProgress).toEqual([
    'Asked: "What is there to do?"',
    'Answered: "Nothing is open."',
    'Edited src/a.ts',
  ])
})

test('[P4] it is written by itself, in the words of the agent where it has some, and not again for the same', () => {
  const m = openTestMemory()
  worked(m)
  const first = writeAutomatic(m.memory, m.project, 'a', { why: 'pre-compact', contextUsed: 82 })
  expect(first).toMatchObject({ changed: true })
  expect(writeAutomatic(m.memory, m.project, 'a', { why: 'stop', contextUsed: 83 })).toMatchObject({ changed: false })
  m.act([['write-handoff', { nextSteps: ['fix the JWKS cache'] }]], { session: 'a' })
  sessionsOf(m.memory).patch('a', { failing: null })
  m.clock.now += 1000
  expect(writeAutomatic(m.memory, m.project, 'a', { why: 'stop' })).toMatchObject({ changed: true })
  const [handoff, ...others] = currentHandoffs(m.memory, m.project)
  expect(others).toEqual([])
  expect(handoff).toMatchObject({ session: 'a', stale: false })
  expect(handoff!.entity.fields.nextSteps).toEqual([
    'fix the JWKS cache',
    expect.stringMatching(/^Go on with: auth middleware \(task:/),
    expect.stringMatching(/^document it \(task:/),
  ])
  expect(handoff!.entity.fields.blockers ?? []).toEqual([])
  expect(readFileSync(join(m.dir, '.tidemark/handoff.md'), 'utf8')).toBe(handoff!.markdown)
  expect(m.memory.history(handoff!.entity.id).at(-1)!.author).toMatchObject({ session: 'a', source: 'handoff' })
})

test('[P4] a session that did nothing leaves nothing, and a secret in a command is not kept', () => {
  const m = openTestMemory()
  const sessions = sessionsOf(m.memory)
  sessions.start({ id: 'idle' })
  expect(writeAutomatic(m.memory, m.project, 'idle', { why: 'stop', contextUsed: 90 })).toBeUndefined()
  expect(writeAutomatic(m.memory, m.project, 'unknown', { why: 'stop' })).toBeUndefined()
  expect(m.memory.reader.list('handoff')).toEqual([])
  sessions.patch('idle', { failing: { x: { n: 1, command: 'curl -H "x: ghp_0123456789abcdefghij0123"', at: 1 } } })
  writeAutomatic(m.memory, m.project, 'idle', { why: 'stop' })
  expect(m.get('handoff:session-idle')!.fields.blockers).toEqual([expect.stringMatching(/redacted: GitHub token/)])
})

test('[P4] what subagents did belongs to the session, and after a clear so does what it did before', () => {
  const m = openTestMemory()
  const sessions = sessionsOf(m.memory)
  sessions.start({ id: 'a' })
  sessions.start({ id: 'child', parent: 'a' })
  sessions.edited('child', 'src/of-child.ts')
  sessions.edited('a', 'src/before.ts')
  m.act([['record-decision', { name: 'of-child' }]], { session: 'child' })
  sessions.start({ id: 'a2' })
  sessions.patch('a2', { after: 'a' })
  expect(composeHandoff(m.memory, 'a2')).toMatchObject({
    decisionsMade: ['of-child'],
    inProgress: ['Edited src/of-child.ts, src/before.ts'],
  })
  // each edit stands with the request that it was made for
  sessions.patch('a', { request: 'Write the cart', said: 'Written.' })
  sessions.patch('a2', { request: 'Write the docs' })
  expect(composeHandoff(m.memory, 'a2')!.inProgress).toEqual([
    'Asked: "Write the cart"',
    'Asked: "Write the docs"',
    'Edited src/of-child.ts, src/before.ts',
  ])
})

test('[P4] a handoff that the agent wrote under a title is completed, not hidden behind an automatic one', () => {
  const m = openTestMemory()
  sessionsOf(m.memory).start({ id: 'a', client: 'claude-code' })
  m.act([['record-decision', { name: 'refresh-early', rationale: 'clocks differ' }]], { session: 'a' })
  for (const [title, step] of [
    ['an earlier one', 'nothing'],
    ['token refresh', 'test the retry'],
  ]) {
    m.clock.now += 1000
    m.act([['write-handoff', { title, nextSteps: [step] }]], { session: 'a' })
  }
  writeAutomatic(m.memory, m.project, 'a', { why: 'session-end' })
  const [first, ...rest] = currentHandoffs(m.memory, m.project)
  expect([first!.entity.name, first!.entity.fields.nextSteps]).toEqual(['token refresh', ['test the retry']])
  expect(first!.entity.fields.decisionsMade).toEqual(['refresh-early: clocks differ'])
  expect(rest.map((h) => h.entity.name)).toEqual(['an earlier one'])
})
