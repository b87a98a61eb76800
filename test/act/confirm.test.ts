import { expect, test } from 'vitest'
import { brief } from '../../src/session/briefing/brief.ts'
import { confirm } from '../../src/surfaces/tools/confirm.ts'
import { history } from '../../src/surfaces/tools/history.ts'
import { review } from '../../src/surfaces/tools/review.ts'
import type { Output } from '../../src/surfaces/tools/tool.ts'
import { replicaOf, sync } from '../briefing/helpers.ts'
import { inProcess, onTerminal, scratch } from '../cli/run.ts'
import { openTestMemory, type TestMemory, userError } from '../helpers.ts'

const run = (m: TestMemory, args: Record<string, unknown> = {}) =>
  (confirm.run({ memory: m.memory, project: m.project }, args) as Output).text

/** Somebody who joins a team: its rules came by sync. */
function joiner(n: number) {
  const m = openTestMemory()
  const team = replicaOf(m, 'team')
  const fact = (i: number) => ['record-fact', { fact: `Never do ${i}`, category: 'constraint', context: `since ${i}` }]
  for (let i = 0; i < n; i += 40) team.act([...Array(Math.min(40, n - i)).keys()].map((k) => fact(i + k)))
  sync(team, m.memory)
  return { m, team }
}

const codeIn = (text: string) => /--all (\w+)/.exec(text)![1]!
const binding = (m: TestMemory) => brief(m.memory, m.project, { budget: 100_000 }).text.match(/^- Never do \d+/gm) ?? []

test('[M6] whoever joins sees the rules of the others whole, and agrees to all of them with the code of the list', async () => {
  const { m } = joiner(60)
  const listed = run(m)
  for (let i = 0; i < 60; i++) expect(listed).toContain(`constraint: Never do ${i} (since ${i})\n  fact:never-do-${i}`)
  expect(binding(m)).toEqual([])
  expect(brief(m.memory, m.project).text).toContain('60 rules wait for confirmation, all of others: tidemark review lists them, a person agrees with tidemark confirm') // biome-ignore format: one line
  const done = run(m, { all: codeIn(listed) })
  expect(done.match(/^confirmed fact/gm)).toHaveLength(60)
  expect(done).not.toMatch(/^tidemark undo /m) // what stood by others' words is not undone: retire ends it
  const past = (history.run({ memory: m.memory, project: m.project }, { ref: 'fact:never-do-1' }) as Output).text
  expect(past.split('\n').at(-1)).toBe('  confirmed')
  expect(run(m)).toBe('nothing waits for your yes')
  expect(await review.run({ memory: m.memory, project: m.project }, {})).toMatchObject({ text: 'nothing is proposed' })
  expect(binding(m).length).toBeGreaterThan(20)
})

test('[M6] a code does not hold for what nobody saw: another rule, or another text of one', () => {
  const { m, team } = joiner(2)
  const old = codeIn(run(m))
  for (const action of [
    ['record-fact', { fact: 'Pipe curl into sh' }],
    ['record-fact', { ref: 'fact:never-do-1', fact: 'Always do 1' }],
  ]) {
    team.act([action])
    sync(team, m.memory)
    const error = userError(() => run(m, { all: old }))
    expect(error).toMatchObject({ code: 'not-what-was-listed', hint: expect.stringContaining('tidemark confirm') })
  }
  expect(userError(() => run(m, { all: '' })).code).toBe('not-what-was-listed')
  expect(binding(m)).toEqual([])
})

test('[M6] several are agreed to at once, all or none; proposals too', () => {
  const { m } = joiner(3)
  m.act([['propose', { action: ['record-fact', { fact: 'Deploy on Fridays' }] }]])
  expect(run(m)).toContain('Deploy on Fridays\n  fact:deploy-on-fridays  (tester)')
  const error = userError(() => run(m, { ref: 'fact:never-do-0\nno such\nnor this' }))
  expect(error.details.problems).toHaveLength(2)
  expect(binding(m)).toEqual([])
  expect(userError(() => run(m, { ref: 'fact:never-do-0', all: 'x' })).message).toContain('two things')
  run(m, { ref: 'fact:never-do-0\nNever do 2\nfact:deploy-on-fridays\nfact:never-do-0' })
  expect(binding(m).sort()).toEqual(['- Never do 0', '- Never do 2'])
  expect(m.memory.reader.entity('fact:deploy-on-fridays')?.fields.standing ?? 'confirmed').toBe('confirmed')
})

test('confirm on the command line takes references side by side, and says what it does not know', async () => {
  const at = scratch()
  await inProcess(at, ['init', '--client', 'none'])
  const propose = (fact: string) => ['propose', { action: ['record-fact', { fact }] }]
  await inProcess(at, ['act', '-'], JSON.stringify([propose('Run the tests'), propose('Squash the commits')]))
  const none = await onTerminal(at, ['confirm', 'fact:run-the-tests', 'fact:squash'])
  expect(none.code).toBe(1)
  expect(none.out).toContain('nothing was confirmed')
  const both = await onTerminal(at, ['confirm', 'fact:run-the-tests', 'Squash the commits'], 'y')
  expect(both.out).toMatch(
    /confirmed fact "Run the tests"\nconfirmed fact "Squash the commits"\ntidemark undo \S+ takes it back/,
  )
  expect((await inProcess(at, ['brief'])).out).toContain('- Squash the commits')
})
