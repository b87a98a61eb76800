import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openAt } from '../../src/project/open.ts'
import { recall as recallTool } from '../../src/surfaces/tools/recall.ts'
import { importFrom } from '../../src/travel/formats/import/index.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'
import { project } from './run.ts'

const ask = async (m: TestMemory, text: string, more: object = {}) =>
  recallTool.run({ memory: m.memory, project: m.project }, { text, ...more })
const names = async (m: TestMemory, text: string) =>
  ((await ask(m, text)).json as { results: { name: string }[] }).results.map((r) => r.name)

test('[H1] "which database" finds the decision for SQLite in a tiny memory', async () => {
  const m = openTestMemory()
  m.act([
    ['record-decision', { name: 'storage', description: 'We decided to use SQLite for everything that is kept' }],
    ['record-decision', { name: 'colours', description: 'Buttons are blue' }],
  ])
  expect(await names(m, 'which database')).toEqual(['storage'])
})

test('[H1] [H5] a question about the past is answered as of its mark', async () => {
  const m = openTestMemory({ now: Date.UTC(2026, 0, 5) })
  m.act([['record-decision', { name: 'use-mysql', description: 'Everything is kept in MySQL' }]])
  m.act([['record-mark', { name: 'v1.0' }]])
  m.clock.days(30)
  m.act([
    ['record-decision', { name: 'use-sqlite', description: 'Everything is kept in SQLite' }],
    ['supersede', { old: 'use-mysql', new: 'use-sqlite' }],
  ])
  expect((await names(m, 'which database'))[0]).toBe('use-sqlite')
  const { text, json } = await ask(m, 'which database at v1.0?')
  expect((json as { results: { name: string }[] }).results[0]!.name).toBe('use-mysql')
  expect(text).toContain('as it was at v1.0')
  expect((await ask(m, 'which database at port 8080')).text).not.toContain('as it was')
})

test('[H1] a page that quotes a question does not outrank its answer', async () => {
  const m = openTestMemory()
  const question = 'Where does the importer keep its cursor?'
  const page = `A session of an evening. Somebody typed: ${question} Then they read for a while, and went on with something else entirely.`
  m.act([
    ['record-chunk', { content: page, sourceFile: 'docs/story.md', section: 'Evening', position: 1 }],
    ['record-chunk', { content: 'The cursor of each import lies in the table meta, a row for each source that was read.', sourceFile: 'docs/store.md', section: 'Imports', position: 1 }],
    ['record-chunk', { content: 'Colours come from the theme.', sourceFile: 'docs/ui.md', section: 'Theme', position: 1 }],
  ]) // biome-ignore format: pages
  expect((await names(m, question))[0]).toMatch(/^The cursor of each import/)
})

test('[H1] a question in the words of a heading finds what stands below it, and reads most of it', async () => {
  const m = openTestMemory()
  const section = 'Questions › What happens when a process is killed, the power fails or the database is damaged?'
  const repair =
    'Daily snapshots are kept. Nothing else is needed for that, whatever the machine did at the time, or what became of its processes and its disk while somebody was away. Then `doctor --restore` repairs it.'
  const more = Array.from({ length: 40 }, (_, i) => `Paragraph ${i} tells how copies are made on other days.`)
  m.act([
    ['record-chunk', { content: [repair, ...more].join('\n\n'), sourceFile: 'docs/questions.md', section, position: 1 }],
    ['record-chunk', { content: 'A vector database finds what means nearly the same, in one more service.', sourceFile: 'docs/why.md', section: 'Why no vector database', position: 1 }],
    ['record-chunk', { content: 'The database of the hub is copied by its own tools.', sourceFile: 'docs/hub.md', section: 'Backup', position: 1 }],
  ]) // biome-ignore format: pages
  const { text } = await ask(m, 'What do I do when the database is damaged?', { budget: 300 })
  expect(text).toMatch(/^\(chunk "Daily snapshots .*`doctor --restore` repairs it/)
})

test.each([
  ['Run the second command; it asks before it goes on.'],
  ['Run the second command, which asks before it goes on, and answer it:\n`yes` goes on.'],
  ['Run the second command:\n\n```sh\nroll --all\n```'],
])('[H1] a piece of a page is found by its headings, also where its text has several lines: %j', async (content) => {
  const m = openTestMemory()
  m.act([
    ['record-chunk', { content, sourceFile: 'docs/a.md', section: 'Operations › Rotating the keys', position: 1 }],
    ['record-chunk', { content: 'The command prints a list.', sourceFile: 'docs/b.md', section: 'Operations › Listing', position: 1 }],
  ]) // biome-ignore format: pages
  expect((await names(m, 'rotating keys'))[0]).toMatch(/^Run the second command/)
})

test('[H1] [W3] after a large import the agent reads that vectors are missing, whatever the budget', async () => {
  const { at, run } = await project()
  const pages = Array.from(
    { length: 6000 },
    (_, n) => `## Part ${n}\n\nThe ${n}th ship in the harbour carries grain, wine and oil to the north.\n`,
  )
  writeFileSync(join(at.dir, 'ships.md'), `# Ships\n\n${pages.join('\n')}`)
  // the command makes vectors for some seconds; a killed one, or a larger import, leaves them missing
  const { memory, project: found } = openAt({ projectPath: at.dir })
  importFrom(memory, 'docs', join(at.dir, 'ships.md'), { root: found.root })
  memory.close()
  expect(await run('recall', 'grain in the harbour', '--budget', '300')).toMatch(/\d+ of \d+ texts have no vector yet/)
})
