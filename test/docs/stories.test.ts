// @module-tag long
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type ClientName, whyNot } from '../e2e/machine.ts'
import { matches } from './compare.ts'
import { type Lines, type Step, sectionsOf } from './page.ts'
import { world } from './world.ts'

// `STORIES=write npx vitest run test/docs/stories.test.ts` puts what was read into the pages wherever it differs
const read = (page: string): string => readFileSync(join(import.meta.dirname, '../..', page), 'utf8')
const stories = sectionsOf(read('docs/stories.md')).map((story) => ({ ...story, page: 'docs/stories.md' }))
const isChat = ({ steps }: { steps: readonly Step[] }) => steps.some((step) => step.is === 'chatted')
/** These tell one story each on the command line, and one more for each section with a session in a client. */
const whole = [
  'README.md',
  'docs/get-started.md',
  'docs/sharing.md',
  'docs/hub.md',
  'docs/moving.md',
  'docs/time.md',
].flatMap((page) => {
  const sections = sectionsOf(read(page)).map((section) => ({ ...section, page }))
  const typed = sections.filter((section) => !isChat(section)).flatMap(({ steps }) => steps)
  return [{ page, title: page, steps: typed }, ...sections.filter(isChat)]
})

const expectedOf = (step: Step): { lines: Lines; within: boolean }[] =>
  step.is !== 'chatted'
    ? [{ lines: step.expected, within: false }]
    : step.turns.flatMap((turn) => [
        ...turn.seen.map((lines) => ({ lines, within: true })),
        ...turn.steps.flatMap((s) =>
          'read' in s ? [{ lines: s.read, within: true }] : 'call' in s ? [{ lines: s.result, within: true }] : [],
        ),
      ])

/** What the page says was done before each story. */
const set = (clients: readonly string[], steps: readonly Step[]): Step => ({
  is: 'typed',
  machine: '',
  ago: Math.max(...steps.map((s) => (s.is === 'called' ? 0 : s.ago))),
  command: `tidemark init --yes --client ${clients.join(',') || 'none'}`,
  expected: { lines: [], at: 0 },
})

const named = (step: Step): string =>
  step.is === 'typed'
    ? `$ ${step.command}`
    : step.is === 'called'
      ? `${step.agent}> ${step.tool}`
      : `a session in ${step.client}`

/** Of everything that a client put before its model, what comes of us. */
const tidemarks = (text: string): string => text.slice(Math.max(0, text.indexOf('idemark') - 200)).slice(0, 5_000)

test('there are eleven stories of one person and ten of a team', () => {
  expect(stories.filter((s) => s.title.startsWith('Solo')).length).toBe(11)
  expect(stories.filter((s) => s.title.startsWith('Team')).length).toBe(10)
})

const wrong: { page: string; at: number; count: number; actual: string[]; within: boolean }[] = []
afterAll(() => {
  for (const { page, at, count, actual, within } of wrong.reverse())
    if (within) console.log(`${page} line ${at + 1}:\n${tidemarks(actual.join('\n'))}`)
    else {
      const lines = read(page).split('\n')
      lines.splice(at, count, ...actual.filter((line) => line.trim() !== ''))
      writeFileSync(join(import.meta.dirname, '../..', page), lines.join('\n'))
    }
})

for (const { page, title, steps } of [...stories, ...whole]) {
  const clients = [...new Set(steps.flatMap((s) => (s.is === 'chatted' ? [s.client as ClientName] : [])))]
  const why = whyNot(clients)
  const body = async () => {
    const machines = [...new Set(steps.flatMap((s) => (s.is === 'called' || s.machine === '' ? [] : [s.machine])))]
    const here = world(machines.length > 0 ? machines : ['ana'], clients)
    const inits = (s: Step) =>
      s.is === 'typed' && s.command.startsWith('tidemark init') && s.machine === (machines[0] ?? '')
    if (!steps.some(inits)) await here.happen(set(clients, steps))
    const before = wrong.length
    for (const step of steps) {
      const actual = await here.happen(step)
      for (const [i, { lines, within }] of expectedOf(step).entries()) {
        if (matches(lines.lines, actual[i]!, within)) continue
        if (process.env.STORIES !== 'write')
          expect(actual[i]!.join('\n'), `${page} line ${lines.at + 1}: ${named(step)}`).toBe(lines.lines.join('\n'))
        wrong.push({ page, at: lines.at, count: lines.lines.length, actual: actual[i]!, within })
      }
    }
    expect(wrong.length - before, 'answers that the page prints otherwise').toBe(0)
  }
  if (why) test.skip(`${title} (skipped: ${why})`, body)
  else test(title, { timeout: 180_000 }, body)
}
