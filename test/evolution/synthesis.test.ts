import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { judge } from '../../bench/observations.ts'
import { brief } from '../../src/session/briefing/brief.ts'
import { compare } from '../../src/work/evolution/outcome.ts'
import { remedyFor } from '../../src/work/evolution/remedy.ts'
import { synthesize } from '../../src/work/evolution/synthesis.ts'
import { files, project } from '../cli/run.ts'
import { openTestMemory } from '../helpers.ts'

const skipped = (n: number) => ['record-observation', { operation: 'deploy', what: 'skipped the smoke test', cost: `cost: ${n} h` }] // biome-ignore format: one line

test('[P2] two alike propose nothing, three do, and nothing is proposed twice', () => {
  const m = openTestMemory()
  m.act([skipped(1), skipped(2), ['record-observation', { operation: 'verify', what: 'skipped the smoke test', cost: 'cost: 1 h' }]]) // biome-ignore format: one line
  expect(synthesize(m.memory, m.project)).toEqual([])
  m.act([skipped(3)])
  const [made, ...more] = synthesize(m.memory, m.project)
  expect(more).toEqual([])
  expect(made!.fields).toMatchObject({
    number: 'M-001',
    change: 'deploy now requires the smoke test before it ends',
    trigger: expect.stringMatching(/^3 of 3 deploy observations, cost 6 h: 2026-11-21 "skipped the smoke test", /),
    step: 'Required: the smoke test. Go on only when it has passed.',
  })
  const tagged = m.memory.reader.list('observation').filter((e) => e.fields.synthesized === 'M-001')
  expect(tagged.map((e) => e.fields.operation)).toEqual(['deploy', 'deploy', 'deploy'])
  m.act([skipped(4), skipped(5), skipped(6)])
  expect(synthesize(m.memory, m.project)).toEqual([])
})

test('[P2] the tenth observation proposes, whoever writes it, and changes no file', async () => {
  const { at, run } = await project()
  const skill = '.claude/commands/deploy.md'
  files(at.dir, { [skill]: '1. Build\n2. Push\n' })
  for (const what of ['build was slow', 'smoke test skipped', 'log was unreadable', 'typo in the notes', 'the smoke test was skipped', 'wrong tag', 'disk was full', 'proxy timed out', 'skipped the smoke test again']) // biome-ignore format: a list
    expect(await run('observe', 'deploy', what, '--cost', '5 min')).not.toContain('Proposed')
  const batch = [['record-observation', { operation: 'deploy', what: 'certificate was renewed by hand' }]]
  expect(await run('act', JSON.stringify(batch))).toContain('Proposed: deploy now')
  expect(readFileSync(join(at.dir, skill), 'utf8')).toBe('1. Build\n2. Push\n')
  expect(await run('review')).toContain('tidemark mutation approve M-001')
  expect(await run('brief')).toMatch(/## Needs review\n(?:.*\n)*?- M-001 would change how deploy is done/)
  expect(JSON.parse(await run('mutation', 'list', '--json'))).toMatchObject([{ id: 'M-001', status: 'proposed' }])
})

test('[P2] a briefing tells of one proposal at a time', () => {
  const m = openTestMemory()
  for (const operation of ['deploy', 'verify'])
    for (let i = 0; i < 3; i++) m.act([['record-observation', { operation, what: 'forgot to read the log', cost: 'cost: 1 h' }]]) // biome-ignore format: one line
  expect(synthesize(m.memory, m.project)).toHaveLength(2)
  const { text } = brief(m.memory, m.project)
  expect(text.match(/would change how/g)).toHaveLength(1)
})

test('[P2] what went well is no trouble, and the remedy is said in the words of the observation', () => {
  const m = openTestMemory()
  const say = (operation: string, what: string, more: object) =>
    m.act(Array.from({ length: 3 }, () => ['record-observation', { operation, what, ...more }]))
  say('verify', 'caught a type error before the push', { cost: 'saved: 30 min' })
  say('release', 'the version was raised in time', { succeeded: true })
  expect(synthesize(m.memory, m.project)).toEqual([])
  say('release', 'forgot to raise the version', { succeeded: false })
  say('/add:Deploy', 'staging settings reached production', { cost: 'cost: 1 h' })
  expect(synthesize(m.memory, m.project).map((e) => e.fields.change).sort()).toEqual([
    'deploy now checks that this does not happen: "staging settings reached production" before it ends',
    'release now makes sure to raise the version before it ends',
  ]) // biome-ignore format: a list
})

test('[P2] of the labelled troubles at least four of five are proposed, and nine of ten proposals are one trouble', () => {
  const { precision, recall, wrong } = judge('held')
  expect(wrong).toEqual([])
  expect(precision).toBeGreaterThanOrEqual(0.9)
  expect(recall).toBeGreaterThanOrEqual(0.8)
})

test('[P3] an outcome is told once it is unlikely to be chance, with its counts', () => {
  const verdict = (...counts: number[]) => compare([counts[0]!, counts[1]!], [counts[2]!, counts[3]!]).verdict
  expect(verdict(3, 5, 0, 0)).toBe('too few to say')
  expect(verdict(3, 5, 0, 1)).toBe('too few to say')
  expect(verdict(3, 5, 0, 2)).toBe('improved')
  expect(verdict(3, 10, 0, 2)).toBe('too few to say')
  expect(verdict(3, 10, 3, 10)).toBe('unchanged')
  expect(verdict(3, 10, 4, 5)).toBe('worse')
  expect(verdict(3, 3, 5, 5)).toBe('unchanged')
})

test('[P2] a proposal says what to do where an observation says what was left out, and else what is not to happen', () => {
  const table: readonly (readonly [does: string, ...what: string[]])[] = [
    ['requires tests', 'tests skipped before push, broken release 1'],
    ['requires verification before push', 'skipped verification before push, broken release 2'],
    ['requires the smoke test', 'the smoke test was skipped again'],
    ['requires the smoke test', 'went live without the smoke test; rolled back', 'deployed on a Friday and without the smoke test at all'],
    ['requires branch name', 'branch name was missing, new session searched for it'],
    ['requires error handling in the loader', 'missing error handling in the loader'],
    ['requires a test run since the last edit', 'went out without a test run since the last edit'],
    ['requires what was found in files that were read twice', 'lacked what was found in files that were read twice (src/a.ts, src/b.ts)'],
    ['requires rollback plan', 'no rollback plan'],
    ['makes sure to raise the version', 'forgot to raise the version again'],
    ['makes sure to run the migration', 'did not run the migration'],
    ['makes sure that migration is run', 'migration was not run, so the orders page failed'],
    ['makes sure that npm run lint passes', 'left npm run lint failing after 2 runs'],
    ['runs npm test after each change', 'npm test failed 3 times, then passed'],
    ['requires the smoke test', 'smoke test?', 'skipped the smoke test'],
    ['checks that this does not happen: "broken release 1"', 'broken release 1'],
    ['checks that this does not happen: "skipped"', 'skipped'],
    ['checks that this does not happen: "the next session did not know the branch"', 'the next session did not know the branch'],
  ] // biome-ignore format: a table
  for (const [does, ...what] of table) expect(remedyFor(what).does, what[0]).toBe(does)
  for (const [, ...what] of table)
    expect(remedyFor(what).step).toMatch(/^(?:Required: |Make sure |Run |Check that )\S.*[.]$/)
})
