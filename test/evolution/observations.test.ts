import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shown } from '../../src/scheme/invisible.ts'
import { addAmounts, amountsText, noAmounts } from '../../src/work/evolution/amounts.ts'
import { mutationsView } from '../../src/work/handoff/views/mutations.ts'
import { observationLine, observationsView, readObservationLine } from '../../src/work/handoff/views/observations.ts'
import { readEdits, refreshViews } from '../../src/work/handoff/views/refresh.ts'
import { inProcess, project } from '../cli/run.ts'
import { openTestMemory } from '../helpers.ts'
import { lay, take } from '../imports/helpers.ts'

/** The examples of concept paper 2. */
const OBSERVATIONS = `# Process Observations

2026-02-14 10:30 | deploy | deployed cache code without production verification | cost: 2hr debugging
2026-02-14 16:00 | verify | caught type error pre-push via gate 2 | saved: ~30min
2026-02-15 09:00 | deploy | triggered 7 builds with known synthesis bug | cost: $147 API + 3hr
2026-02-15 14:00 | handoff | new session missing context, spent 15min re-reading code | cost: 15min
2026-02-16 10:00 | tdd-cycle | [agent-retro] implementer skipped error handling on API calls | cost: reviewer rework
`
const MUTATIONS = `# Process Mutations

## M-001 (2026-02-16, approved)
**Trigger:** 3/5 deploys skipped verification (observations 2026-02-14, 2026-02-15)
**Change:** \`/add:deploy\` SKILL.md step 3 now requires smoke test pass before downstream operations
**Status:** Applied
**Outcome:** Next 2 deploys verified successfully (observed 2026-02-17, 2026-02-18)
`

test('[P1] the lines and the mutation of the concept paper come out again byte for byte', async () => {
  const t = openTestMemory()
  lay(t.dir, { '.add/observations.md': OBSERVATIONS, '.add/mutations.md': MUTATIONS })
  await take(t, 'add', '.')
  expect(observationsView.render(t, '')).toBe(OBSERVATIONS)
  expect(mutationsView.render(t, '')).toBe(MUTATIONS)
  expect(t.memory.reader.list('observation').filter((e) => e.fields.tags !== undefined)).toHaveLength(1)
})

test('[P1] an observation is one line, whatever it is told with', async () => {
  const { at, run } = await project()
  const line = await run('observe', 'deploy', 'pipe | and\nbreak \\', '--cost', '2 h | $3', '--agent-retro')
  expect(line).toMatch(
    /^\d{4}-\d\d-\d\d \d\d:\d\d \| deploy \| \[agent-retro\] pipe \\\| and break \\ \| cost: 2 h \\\| \$3\n$/,
  )
  for (const [flag, said] of [
    ['--cost', 'cost: 2 h'],
    ['--benefit', 'saved: 2 h'],
  ] as const)
    expect(await run('observe', 'deploy', 'labelled', flag, said)).toContain(` | labelled | ${said}\n`)
  expect(await run('observe', 'verify', 'all gates passed', '--ok')).toMatch(/ \| verify \| all gates passed \| -\n$/)
  const both = await inProcess(at, ['observe', 'verify', 'x', '--cost', '1 h', '--benefit', '2 h'])
  expect([both.code, both.err]).toEqual([2, expect.stringContaining('exclude each other')])
})

test('[P1] the mark of a proposal is no part of what happened', () => {
  const line = '2026-11-20 08:00 | deploy | [agent-retro] [synthesized M-001] no smoke test | -'
  expect(readObservationLine(line)).toMatchObject({ what: 'no smoke test', tags: ['agent-retro'] })
  expect(readObservationLine(line.replace('[agent-retro] ', ''))?.what).toBe('no smoke test')
})

test('[P1] any text on one line is read back as it was', () => {
  const m = openTestMemory()
  const text = fc.string({ maxLength: 30, unit: fc.constantFrom('a', '|', '\\', ' ', 'é', '-', '[', '"') })
  fc.assert(
    fc.property(text, text, text, (operation, what, cost) => {
      const said = { operation: `o${operation}`, what: `w${what}`, cost: `c${cost}` }
      const id = m.act([['record-observation', said]]).results[0]!.id
      const read = readObservationLine(observationLine(m.memory.reader.entity(id)!))
      const asShown = Object.fromEntries(
        Object.entries(said).map(([k, v]) => [k, shown(v).replace(/\s+/g, ' ').trim()]),
      )
      expect(read).toMatchObject(asShown)
    }),
    { numRuns: 200 },
  )
})

test('[P1] a line that is added by hand is recorded; one that was changed is put aside', () => {
  const m = openTestMemory()
  m.act([['record-observation', { operation: 'deploy', what: 'no smoke test', cost: 'cost: 2 h' }]])
  refreshViews(m.memory, m.project)
  const file = join(m.dir, '.tidemark/observations.md')
  const text = readFileSync(file, 'utf8')
  expect(text).toBe('# Process Observations\n\n2026-11-21 09:00 | deploy | no smoke test | cost: 2 h\n')
  writeFileSync(file, `${text}2026-11-20 08:00 | verify | tests were flaky | cost: 10 min\n`)
  expect(readEdits(m.memory, m.project)[0]).toContain('observation "tests were flaky"')
  refreshViews(m.memory, m.project)
  const now = readFileSync(file, 'utf8')
  expect(now).toContain('\n2026-11-20 08:00 | verify | tests were flaky | cost: 10 min\n2026-11-21')
  writeFileSync(file, now.replace('no smoke test', 'a smoke test'))
  expect(readEdits(m.memory, m.project).join()).toContain('1 line is gone or changed')
})

test('[P1] costs are summed where they are numbers', () => {
  const sum = (...texts: string[]) => amountsText(texts.reduce(addAmounts, noAmounts()))
  expect(sum('cost: 2hr debugging', 'cost: $147 API + 3hr', 'saved: ~30min')).toBe('5.5 h, $147')
  expect(sum('cost: reviewer rework', 'cost: v2 of 3 files')).toBe('')
  expect(sum('40k tokens', '1,500 tokens', '€2.50', '90 s')).toBe('1.5 min, €2.5, 41500 tokens')
})
