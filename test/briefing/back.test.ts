import { expect, test } from 'vitest'
import { back } from '../../src/session/briefing/back.ts'
import { brief, wasBriefed } from '../../src/session/briefing/brief.ts'
import { costsOf } from '../../src/session/briefing/costs.ts'
import { back as backTool } from '../../src/surfaces/tools/back.ts'
import { brief as briefTool } from '../../src/surfaces/tools/brief.ts'
import { review } from '../../src/surfaces/tools/review.ts'
import { status } from '../../src/surfaces/tools/status.ts'
import { Connection } from '../../src/work/coordination/connection.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { openTestMemory, replicaOf, sync } from './helpers.ts'

test('[P4] who comes back is told the handoff, the swarm, decisions since, and what else happened; what is missing is named', async () => {
  const t = openTestMemory()
  const empty = back(t.memory, t.project, {})
  expect(empty.text).toBe('Nothing is recorded yet: no handoff, no decision.')

  const sessions = sessionsOf(t.memory)
  sessions.start({ id: 'mine', user: 'tester' })
  t.act([['record-decision', { name: 'before', description: 'was there' }]], { session: 'mine' })
  t.act([['write-handoff', { nextSteps: ['fix the JWKS cache'] }]], { session: 'mine' })
  sessions.end('mine')
  t.clock.now += 3_600_000
  sessions.start({ id: 'theirs', user: 'ana' })
  t.act([['claim', { paths: ['src/hub/**'], role: 'backend' }], ['record-decision', { name: 'meanwhile', description: 'use RS256' }], ['record-learning', { title: 'JWKS are cached' }]], { session: 'theirs', user: 'ana' }) // biome-ignore format: one thought
  const { text, json } = back(t.memory, t.project, { session: 'me', user: 'tester' })
  expect(text).toContain('Next Steps: fix the JWKS cache')
  expect(text).toMatch(/- backend \(theirs\): active; src\/hub/)
  expect(text).toContain('- decision:meanwhile: use RS256 (ana, 2026-11-21)')
  expect(text).not.toContain('decision:before')
  expect(text).toContain('JWKS are cached')
  expect((await backTool.run({ memory: t.memory, project: t.project }, {})).text).toContain('## Decided since')
  expect(json).toMatchObject({ since: '2026-11-21T09:00:00.000Z', decisions: ['decision:meanwhile'] })
})

test('[P4] of the decisions that an import took in who comes back is told how many, and of what', () => {
  const t = openTestMemory()
  for (let i = 0; i < 5; i++) t.act([['record-decision', { name: `adr-${i}` }]], { source: 'import adr docs/adr' })
  t.act([['record-decision', { name: 'ours', description: 'use RS256' }]])
  const { text, json } = back(t.memory, t.project, {})
  expect(text).toContain('- decision:ours: use RS256')
  expect(text).toContain('- 5 decisions of docs/adr: recall finds each')
  expect(text).not.toContain('decision:adr-')
  expect(json).toMatchObject({ decisions: expect.arrayContaining(['decision:adr-0']) })
})

test('[P4] who was told all at the first start hears that nothing came since, not that nothing is known', () => {
  const t = openTestMemory()
  t.act([['record-decision', { name: 'before', description: 'was there' }]])
  sessionsOf(t.memory).start({ id: 'me', user: 'tester' })
  const options = { session: 'me', user: 'tester' }
  wasBriefed(t.memory, options, brief(t.memory, t.project, options), 'start', t.memory.cursor)
  expect(back(t.memory, t.project, options).text).toBe('Nothing is recorded since the last start here.')
})

test('[P4] [T61] who comes back reads that something was erased, without its tombstone', () => {
  const t = openTestMemory()
  sessionsOf(t.memory).start({ id: 'mine', user: 'tester' })
  sessionsOf(t.memory).end('mine')
  t.clock.now += 3_600_000
  t.act([['record-fact', { fact: 'The box in the cellar' }]], { user: 'ana' })
  t.act([['purge', { ref: 'fact:the-box-in-the-cellar', reason: 'private' }]], { user: 'ana' })
  const { text } = back(t.memory, t.project, { user: 'tester' })
  expect(text).toContain('- erased: something of kind fact (ana, 2026-11-21)')
  expect(text).not.toContain('purged-')
})

test('[X5] [W4] a session whose client left in good order has ended, though nobody said so; one that fell silent has crashed', () => {
  const t = openTestMemory()
  const sessions = sessionsOf(t.memory)
  for (const id of ['good', 'gone']) {
    const connection = new Connection()
    expect(connection.acting(t.memory, { named: id }, { client: 'x' }, { begins: true })).toBe(id)
    sessions.edited(id, `src/${id}.ts`)
    if (id === 'good') connection.end()
  }
  t.clock.now += 31 * 60_000
  sessions.sweep()
  expect(['good', 'gone'].map((id) => sessions.get(id)!.state)).toEqual(['ended', 'crashed'])
  expect(back(t.memory, t.project, {}).text).not.toContain('good.ts')
})

test('[P4] [X5] who comes back is told of a session that crashed meanwhile and what it had in hand, and who waits for whom', () => {
  const t = openTestMemory()
  const sessions = sessionsOf(t.memory)
  sessions.start({ id: 'mine', user: 'tester' })
  sessions.end('mine')
  expect(back(t.memory, t.project, { user: 'tester' }).text).not.toContain('## Crashed')
  sessions.start({ id: 'lost', client: 'codex' })
  t.act([['start-task', { description: 'refresh tokens' }], ['claim', { paths: ['src/auth'], role: 'tester' }]], { session: 'lost' }) // biome-ignore format: one thought
  t.clock.now += 3_600_000
  sessions.start({ id: 'next' })
  t.act([['claim', { paths: ['src/db'], role: 'coder', dependsOn: ['tester'] }]], { session: 'next' })
  const { text, json } = back(t.memory, t.project, { user: 'tester' })
  expect(text).toMatch(/## Crashed\n- Session lost \(codex\) crashed, last seen .*\n {2}Task: refresh tokens/)
  expect(text).toContain('  Had claimed: src/auth')
  expect(text).toContain('- coder (next): active; src/db; depends on tester')
  expect(json).toMatchObject({ crashed: ['lost'] })
})

test('[M7] what being told has cost a session is kept and shown', async () => {
  const t = openTestMemory()
  t.act([['record-fact', { fact: 'Run the tests' }]])
  sessionsOf(t.memory).start({ id: 'me' })
  const context = { memory: t.memory, project: t.project, session: 'me' }
  const b = brief(t.memory, t.project, { session: 'me' })
  wasBriefed(t.memory, { session: 'me' }, b, 'claude session-start', t.memory.cursor)
  const { json } = await briefTool.run(context, {})
  const tokens = b.tokens + (json as { tokens: number }).tokens
  expect(costsOf(t.memory, 'me')).toMatchObject({ times: 2, tokens, doors: { brief: { times: 1 } } })
  const { text } = await status.run(context, {})
  expect(text).toContain('1 session live')
  expect(text).toContain(`session me was told 2 times, ${tokens} tokens`)
})

test('[M6] to look at the briefing without being a session tells nobody anything', async () => {
  const t = openTestMemory()
  t.act([['record-fact', { fact: 'Run the tests' }]])
  const before = t.rows()
  const { text } = await briefTool.run({ memory: t.memory, project: t.project }, { budget: 500 })
  expect(text).toContain('Run the tests')
  expect(t.rows()).toBe(before)
})

test('[M6] rules of others that bind nobody here yet are among what is to be reviewed', async () => {
  const t = openTestMemory()
  t.act([['record-fact', { fact: 'Ours' }]])
  const theirs = replicaOf(t)
  theirs.act([['record-fact', { fact: 'Theirs' }]])
  sync(theirs, t.memory)
  const context = { memory: t.memory, project: t.project }
  const { text } = await review.run(context, {})
  expect(text).toMatch(/fact {2}Theirs {2}\(from others, unverified, /)
  expect(text).not.toContain('Ours')
  t.act([['confirm', { ref: 'fact:theirs' }]])
  expect((await review.run(context, {})).text).toBe('nothing is proposed')
})
