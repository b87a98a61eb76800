import { expect, test } from 'vitest'
import { NO_TERMINAL, testUnless } from '../needs.ts'
import { asPerson, inProcess, onTerminal, pressing, project, ruled } from './run.ts'

const onTerminals = testUnless(NO_TERMINAL)
const agentOf = (at: Awaited<ReturnType<typeof project>>['at']) => ({ ...at, env: { ...at.env, CLAUDECODE: '1' } })
const propose = (fact: string) => JSON.stringify([['propose', { action: ['record-fact', { fact }] }]])

test('[H6] [G3] two rules that contradict each other never bind in silence: remember, the briefing, review and act say so', async () => {
  const { at, run } = await project()
  ruled(at, 'always npm', 'always pnpm')
  const brief = await run('brief')
  expect(brief).toContain('- always pnpm [contradicts "always npm", which binds too: ask the user which holds]')
  expect(await run('review')).toContain('"always pnpm" contradicts the rule "always npm"')

  const agent = await inProcess(agentOf(at), ['act', '-'], JSON.stringify([['record-fact', { fact: 'Use yarn' }]]))
  expect(agent.out).toMatch(
    /note: "Use yarn" contradicts the rule "always \w+" \(fact:always-\w+\), which binds: ask the user which holds; if it takes its place: \["supersede", /,
  )
  // it is not decided for them: both are there
  expect(await run('list', 'fact')).toMatch(/always pnpm.*always npm/s)

  asPerson(at, ['supersede', { old: 'fact:always-npm', new: 'fact:always-pnpm' }])
  const after = await run('brief')
  expect(after).toContain('- always pnpm\n')
  expect(after).not.toContain('always npm')
  expect(await run('review')).not.toContain('always npm')
})

test('[G6] act names the open question that a rule or a decision may answer, and the rule that a decision contradicts', async () => {
  const { at, run } = await project()
  ruled(at, 'Use jest for tests')
  await run('act', JSON.stringify([['record-question', { question: 'Does the worker need Redis?' }]]))
  const done = await run('act', JSON.stringify([
    ['record-decision', { name: 'vitest', description: 'Use vitest for tests' }],
    ['record-fact', { fact: 'The worker does not need Redis' }],
  ])) // biome-ignore format: one batch
  expect(done).toContain(
    'note: "vitest" contradicts the rule "Use jest for tests" (fact:use-jest-for-tests), which binds',
  )
  expect(done).toContain('an open question on the same subject: "Does the worker need Redis?"')
})

test('[G5] what is offered for a broken rule changes the decision or makes an exception, and never replaces the rule', async () => {
  const { at, run } = await project()
  ruled(at, 'Use jest for tests')
  const decision = [['record-decision', { name: 'vitest', description: 'Use vitest for tests' }]]
  const agents = await inProcess(agentOf(at), ['act', '-'], JSON.stringify(decision))
  const persons = await run('act', JSON.stringify(decision))
  for (const told of [agents.out, persons, await run('signals')]) {
    expect(told).toMatch(/retire|edit/)
    expect(told).not.toContain('supersede')
  }
  expect(await run('signals')).toContain('   tidemark edit decision:vitest')
  const exception = /exception: (\[[^\]]*\])/.exec(persons)![1]!
  await run('act', `[${exception.replace('…', 'the browser tests need it')}]`)
  expect(await run('signals')).not.toContain('vitest')
})

const NEWER = JSON.stringify([['record-decision', { name: 'to-pnpm', description: 'Use pnpm for installs' }]])

test('[H6] a decision that contradicts a rule is told with it, and review offers to retire an outdated rule last', async () => {
  const { at, run } = await project()
  ruled(at, 'Use npm for installs')
  await inProcess(agentOf(at), ['act', '-'], NEWER)
  expect(await run('brief')).toMatch(
    /- decision:to-pnpm: Use pnpm for installs .*\[contradicts the rule "Use npm for installs": ask the user which holds\]/,
  )
  expect(await run('review')).toMatch(
    /if the user says that the rule is outdated: \["retire", \{"ref": "fact:use-npm-for-installs"\}\]$/m,
  )
})

onTerminals(
  '[H6] a person at a terminal settles a decision and the rule that it contradicts with one key',
  async () => {
    const { at, run } = await project()
    ruled(at, 'Use npm for installs')
    await inProcess(agentOf(at), ['act', '-'], NEWER)
    const { out } = await pressing(at, ['review'], 'd')
    expect(out).toContain('d the decision holds: retire the rule, r the rule holds: retire the decision')
    expect(out).toContain('1 contradiction settled')
    const brief = await run('brief')
    expect(brief).not.toContain('Use npm for installs')
    expect(brief).toMatch(/Use pnpm for installs \([^)]*\)$/m)
  },
)

onTerminals(
  '[H6] a person at a terminal is asked whether the new rule takes the place of the old, and a no is kept',
  async () => {
    const { at, run } = await project()
    ruled(at, 'Use npm for installs')
    await inProcess(agentOf(at), ['act', '-'], propose('Use pnpm for installs'))
    expect(await run('confirm')).toContain('note: "Use pnpm for installs" contradicts the rule "Use npm for installs"')
    const asked = await onTerminal(at, ['confirm', 'Use pnpm for installs'], 'y', 'y')
    expect(asked.out).toContain('Should it take the place of that rule? [y/N] ')
    expect(asked.out).toContain('"Use pnpm for installs" takes the place of "Use npm for installs"')
    expect(await run('brief')).not.toContain('npm for installs [')
    const both = await onTerminal(at, ['remember', 'Use yarn for installs'], 'n')
    expect(both.out).toContain('both stand')
    expect(await run('brief')).not.toContain('contradicts')
    expect(await run('review')).toBe('nothing is proposed\n')
  },
)

onTerminals('[H6] review shows what a proposal contradicts, and puts two binding rules before the person', async () => {
  const { at, run } = await project()
  ruled(at, 'Use tabs')
  await inProcess(agentOf(at), ['act', '-'], propose('Use spaces'))
  const first = await pressing(at, ['review'], 'y')
  expect(first.out).toContain(
    '"Use spaces" contradicts the rule "Use tabs" (fact:use-tabs), which binds\ny yes, in its place, b both stand, n no',
  )
  expect(await run('brief')).not.toContain('Use tabs')
  ruled(at, 'Never push to main')
  ruled(at, 'Push directly to main')
  const second = await pressing(at, ['review'], '2')
  expect(second.out).toContain('  1 "Push directly to main" (fact:push-directly-to-main)\n  2 "Never push to main"')
  expect(second.out).toContain('1 contradiction settled')
  const brief = await run('brief')
  expect(brief).toContain('Never push to main')
  expect(brief).not.toContain('Push directly')
})

test('[T40] an agent does not settle a contradiction: what it supersedes waits for the person', async () => {
  const { at, run } = await project()
  ruled(at, 'Use tabs')
  ruled(at, 'Use spaces')
  const agent = await inProcess(
    agentOf(at),
    ['act', '-'],
    JSON.stringify([['supersede', { old: 'Use tabs', new: 'Use spaces' }]]),
  )
  expect(agent.out).toContain('binds')
  expect(await run('brief')).toMatch(/- Use spaces \[contradicts.*- Use tabs/s)
})

test('[G3] what was superseded, retired or forgotten is marked or absent wherever it is listed', async () => {
  const { at, run } = await project()
  ruled(at, 'Use npm for installs')
  ruled(at, 'Use pnpm for installs')
  ruled(at, 'Never use moment')
  ruled(at, 'Never use lodash')
  asPerson(
    at,
    ['supersede', { old: 'fact:use-npm-for-installs', new: 'fact:use-pnpm-for-installs' }],
    ['retire', { ref: 'fact:never-use-moment', reason: 'no longer holds' }],
    ['delete-fact', { ref: 'fact:never-use-lodash' }],
  )
  const gone = /Use npm|use moment|use lodash/i
  for (const args of [['list'], ['list', 'fact'], ['brief'], ['recall', 'installs moment lodash'], ['discover', '(get-facts)'], ['discover', '(search-knowledge "npm moment lodash")'], ['export', 'markdown', '-']]) // biome-ignore format: one row
    expect(await run(...args), args.join(' ')).not.toMatch(gone)
  const all = await run('list', 'fact', '--all')
  expect(all).toMatch(/Use npm for installs[^\n]*superseded/)
  expect(all).toMatch(/Never use moment[^\n]*retired/)
  expect(await run('show', 'Use npm for installs')).toContain('superseded')
  expect(await run('discover', '(map :fact (get-facts :all #t))')).toContain('Use npm')
})

test('[G3] list leaves out a superseded decision; history tells what took its place, and whose place it took', async () => {
  const { run } = await project()
  for (const name of ['use-json', 'use-sqlite']) await run('act', JSON.stringify([['record-decision', { name }]]))
  await run('supersede', 'use-json', 'use-sqlite')
  for (const args of [['list'], ['list', 'decision', '--limit', '1']])
    expect(await run(...args), args.join(' ')).toMatch(/^(?!.*use-json).*use-sqlite/s)
  expect(await run('list', '--all')).toMatch(/use-json[^\n]*superseded/)
  expect(await run('history', 'use-json')).toMatch(/recorded[\s\S]*\n {2}superseded by use-sqlite\b/)
  expect(await run('history', 'use-sqlite')).toMatch(/recorded[\s\S]*\n {2}supersedes use-json\b/)
})
