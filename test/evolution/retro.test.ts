import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { undoLine } from '../../src/surfaces/tools/format.ts'
import { retro } from '../../src/surfaces/tools/retro.ts'
import { run as runTool } from '../../src/surfaces/tools/run.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { outcomeOf } from '../../src/work/evolution/outcome.ts'
import { observationsOf, synthesize } from '../../src/work/evolution/synthesis.ts'
import { agreeing, files, git, project } from '../cli/run.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'

interface Looked {
  since: string | null
  period: { sessions: number; confirmed: number; recorded: { kind: string; n: number }[]; claims: number }
  operations: { operation: string; observations: number }[]
  due: string[]
  archived: { ids: string[]; pages: string[]; undo: string[] }
  report: string | null
}

/** Runs it as every surface does. */
async function look({ memory, project }: TestMemory, args: object = {}): Promise<Looked & { text: string }> {
  const { text, json } = await runTool(retro, { memory, project }, { ...args })
  return { ...(json as unknown as Looked), text }
}

const observe = (t: TestMemory, operation: string, what: string, cost = 'cost: 1 h') =>
  String(t.act([['record-observation', { operation, what, cost }]]).results[0]!.id)

const page = (t: TestMemory, path: string) => readFileSync(join(t.dir, path), 'utf8')
const standing = (t: TestMemory) => t.memory.reader.list('observation').map((e) => e.fields.what).sort() // biome-ignore format: one thought

test('[P2] a retro of an empty project says so in two lines, and leaves nothing behind', async () => {
  const { at, run } = await project()
  const said = await run('retro')
  expect(said).toMatch(/^Retro of \d{4}-\d\d-\d\d\n\nThe period:\n {2}nothing happened: .*\n {2}tidemark observe .*\n$/)
  expect(existsSync(join(at.dir, '.tidemark/retro'))).toBe(false)
  expect(await run('list', 'retro-score', '--json')).toBe('[]\n')
})

test('[P2] the report tells the numbers of the period, what recurred and what waits, and says the same in its file', async () => {
  const t = openTestMemory()
  t.act([['record-decision', { name: 'use-jwt', rationale: 'stateless' }], ['record-fact', { fact: 'always use tabs' }]], { session: 'a' }) // biome-ignore format: one line
  t.act([['claim', { paths: ['src/a.ts'] }]], { session: 'b' })
  const rule = t.act([['propose', { action: ['record-fact', { fact: 'never use npm' }] }]], { agent: 'x' }).results[0]
  t.act([['confirm', { ref: rule!.id }]])
  for (let i = 0; i < 3; i++) observe(t, 'deploy', 'skipped the smoke test')
  observe(t, 'verify', 'caught a type error', 'saved: 30 min')
  const { text, period, operations, report } = await look(t)
  expect(period).toMatchObject({ sessions: 3, claims: 1 })
  expect(operations.map((o) => [o.operation, o.observations])).toEqual([['deploy', 3], ['verify', 1]]) // biome-ignore format: a list
  expect(text).toContain('  deploy: 3, cost 3 h\n')
  expect(text).toContain('  verify: 1, saved 30 min\n')
  expect(text).toContain('  deploy: "skipped the smoke test" 3 times, cost 3 h, M-001 (proposed)\n')
  expect(text).toContain('  M-001 (new) Proposed: deploy now requires the smoke test before it ends. Evidence: ')
  expect(report).toBe('.tidemark/retro/2026-11-21.md')
  const lines = page(t, report!).split('\n')
  expect(lines[0]).toBe('# Retro of 2026-11-21')
  const bare = (line: string) => line.replace(/^[-# ]+/, '').replace(/:$/, '')
  const shown = text.split('\n').map(bare).filter((l) => !l.startsWith('the report is')) // biome-ignore format: one thought
  expect(lines.map(bare).filter(Boolean)).toEqual(shown.filter(Boolean))
  const [kept] = t.memory.reader.list('retro-score')
  expect(kept!.fields).toMatchObject({ date: '2026-11-21', file: report })
})

test('[P2] a period begins at the last retro, and one of the same day is made anew', async () => {
  const t = openTestMemory()
  observe(t, 'deploy', 'the image was large')
  expect((await look(t)).since).toBeNull()
  t.clock.now += 3_600_000
  observe(t, 'verify', 'tests were slow')
  t.clock.now += 1
  expect((await look(t)).operations).toHaveLength(2)
  expect(readdirSync(join(t.dir, '.tidemark/retro'))).toEqual(['2026-11-21.md'])
  t.clock.days(7)
  t.clock.now += 1
  observe(t, 'review', 'the diff was large')
  const next = await look(t)
  expect(next.since).toBe('2026-11-21T10:00:00.001Z')
  expect(next.operations.map((o) => o.operation)).toEqual(['review'])
  const other = await look(t, { since: '2 weeks ago' })
  expect(other.operations).toHaveLength(3)
  expect(other.report).toBeNull()
})

test('[P2] what a person wrote into a report stays: the next one of the day has a name of its own', async () => {
  const { at, run } = await project()
  await run('observe', 'deploy', 'the image was large', '--cost', '1 h')
  const [, file] = /the report is (\S+)/.exec(await run('retro'))!
  appendFileSync(join(at.dir, file!), '\nWe talked about it on Monday.\n')
  expect(await run('retro')).toContain(`the report is ${file!.replace('.md', '-2.md')}`)
  expect(readFileSync(join(at.dir, file!), 'utf8')).toContain('on Monday')
})

test('[P7] observations older than 30 days that led to nothing are archived by month, and undo brings them back for good', async () => {
  const t = openTestMemory()
  const linked = observe(t, 'build', 'the cache was cold')
  const about = t.act([['record-insight', { summary: 'caches' }]]).results[0]!.id
  t.act([['link-entities', { from: about, to: linked, type: 'based-on' }]])
  for (let i = 0; i < 3; i++) observe(t, 'deploy', 'skipped the smoke test')
  const old = observe(t, 'review', 'the diff | was large')
  t.act([['record-learning', { title: 'Never migrate on Fridays', severity: 'critical' }]])
  t.clock.days(2)
  observe(t, 'verify', 'tests were slow')
  expect((await look(t)).archived.ids).toEqual([])
  t.clock.days(29)
  const { archived, text } = await look(t)
  expect(archived.ids).toEqual([old])
  expect(archived.pages).toEqual(['.tidemark/archive/observations-2026-11.md'])
  expect(page(t, archived.pages[0]!)).toBe(
    '# Archived Observations\n\n2026-11-21 09:00 | review | the diff \\| was large | cost: 1 h\n',
  )
  expect(text).toContain(`${undoLine(archived.undo[0]!, 'brings it back')}`)
  expect(standing(t)).toEqual(['skipped the smoke test', 'skipped the smoke test', 'skipped the smoke test', 'tests were slow', 'the cache was cold']) // biome-ignore format: a list
  expect(page(t, '.tidemark/observations.md')).not.toContain('the diff')
  expect(t.memory.history(old).length).toBeGreaterThan(0)
  // the report of the day tells of it again
  expect((await look(t)).archived).toEqual(archived)
  t.act([['undo', { batch: archived.undo[0] }]])
  expect(standing(t)).toContain('the diff | was large')
  expect((await look(t)).archived.ids).toEqual([])
  expect(standing(t)).toContain('the diff | was large')
  expect(existsSync(join(t.dir, archived.pages[0]!))).toBe(false)
  t.clock.days(170)
  await look(t)
  expect(t.get('Never migrate on Fridays')!.fields.retired).toBeUndefined()
})

test('[P7] what a person added to a page of the archive stays, and a page that is gone is written again', async () => {
  const t = openTestMemory()
  observe(t, 'review', 'the diff was large')
  t.clock.days(31)
  const { archived } = await look(t)
  appendFileSync(join(t.dir, archived.pages[0]!), '2026-11-02 10:00 | build | an older one | -\n')
  observe(t, 'review', 'another one')
  await look(t)
  expect(page(t, archived.pages[0]!).split('\n').slice(2)).toEqual([
    '2026-11-02 10:00 | build | an older one | -',
    '2026-11-21 09:00 | review | the diff was large | cost: 1 h',
    '',
  ])
  rmSync(join(t.dir, archived.pages[0]!))
  await look(t)
  expect(page(t, archived.pages[0]!)).toContain('the diff was large')
})

test('[P3] what was archived still counts when rates are compared', async () => {
  const t = openTestMemory()
  observe(t, 'deploy', 'rollout was smooth', 'saved: 1 h')
  observe(t, 'deploy', 'rollout was quick', 'saved: 1 h')
  for (let i = 0; i < 3; i++) observe(t, 'deploy', 'skipped the smoke test')
  const [made] = synthesize(t.memory, t.project)
  t.clock.days(31)
  expect((await look(t)).archived.ids).toHaveLength(2)
  const applied = { ...made!, fields: { ...made!.fields, applied: new Date(t.clock.now).toISOString() } }
  observe(t, 'deploy', 'the smoke test passed', 'saved: 1 h')
  expect(outcomeOf(t.memory, applied, observationsOf(t.memory, { archived: true }))).toMatchObject({ before: [3, 5], after: [0, 1] }) // biome-ignore format: one line
})

test('[P7] learnings that nothing referred to for 90 days are flagged, until they are linked, changed or told; a critical one never', async () => {
  const t = openTestMemory()
  const learn = (title: string, more: object = {}) => String(t.act([['record-learning', { title, ...more }]]).results[0]!.id) // biome-ignore format: one line
  const [left, linked, changed, told] = ['left alone', 'linked', 'changed', 'told'].map((title) => learn(title))
  learn('never write to the primary', { severity: 'critical' })
  const decision = t.act([['record-decision', { name: 'use-x', rationale: 'y' }]]).results[0]!.id
  const link = (to: string | undefined) => t.act([['link-entities', { from: decision, to, type: 'based-on' }]])
  link(left)
  t.clock.days(60)
  learn('younger')
  link(linked)
  expect((await look(t)).due).toEqual([])
  t.act([['record-learning', { ref: changed, body: 'still so' }]])
  t.clock.days(31)
  sessionsOf(t.memory).told('s', { door: 'brief', ids: [told!], tokens: 1, chars: 1 })
  const { due, text } = await look(t)
  expect(due).toEqual([left])
  expect(text).toContain(`left alone (2026-11-21): ${left}`)
  expect(text).toContain('3 more for 30 days')
})

test('[P2] [P7] --dry-run and --since keep no report and archive nothing', async () => {
  const t = openTestMemory()
  observe(t, 'verify', 'the linter was slow')
  t.clock.days(31)
  for (const args of [{ 'dry-run': true }, { since: '2026-11-01' }]) {
    const { text, report } = await look(t, args)
    expect(text).toContain('1 observation older than 30 days led to nothing, and would be archived')
    expect(report).toBeNull()
  }
  expect(standing(t)).toEqual(['the linter was slow'])
  expect(['retro', 'archive'].map((dir) => existsSync(join(t.dir, '.tidemark', dir)))).toEqual([false, false])
})

test('[P7] a retro names what is stale and what stands twice', async () => {
  const { at, run } = await project()
  git(at.dir, 'init', '-q')
  files(at.dir, { 'src/a.ts': 'export function open() { return 1 }\n', 'CLAUDE.md': '# Rules\n- Use pnpm, never npm\n', 'AGENTS.md': '# Rules\n- Use pnpm, never npm\n' }) // biome-ignore format: one line
  await run('act', '[["record-decision",{"name":"open-returns","rationale":"one","locations":["src/a.ts:1"]}]]')
  await run('scan')
  files(at.dir, { 'src/a.ts': 'export function open() { return 2 + 3 }\n' })
  await run('scan')
  const said = await run('retro')
  expect(said).toMatch(/Stale, because the code has changed:\n {2}decision:open-returns \(stale: /)
  expect(said).toContain('Said twice, or in the wrong place:\n  1 statement stands in the files of several clients')
})

test('[A7] a purge takes a text out of reports, and leaves what else stands there; uninstall leaves them', async () => {
  const { at, run } = await project()
  for (let i = 0; i < 3; i++) await run('observe', 'deploy', 'the word hunter2 was printed', '--cost', '1 h')
  const [, file] = /the report is (\S+)/.exec(await run('retro'))!
  appendFileSync(join(at.dir, file!), 'We talked about it.\n')
  await agreeing(at, 'act', '[["purge",{"secret":"hunter2","reason":"it leaked"}]]')
  const left = readFileSync(join(at.dir, file!), 'utf8')
  expect(left).not.toContain('hunter2')
  expect(left).toMatch(/deploy: 3, cost 3 h\n[\s\S]*We talked about it[.]\n$/)
  expect(await run('uninstall')).toContain(`leave   ${file}: a report of a retro, and yours to keep`)
  expect(existsSync(join(at.dir, file!))).toBe(true)
})
