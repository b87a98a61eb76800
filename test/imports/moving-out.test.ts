import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { mintReplica } from '../../src/engine/store/replica.ts'
import { openProject } from '../../src/project/open.ts'
import { exportTool } from '../../src/surfaces/tools/export.ts'
import { unverifiedRules } from '../../src/surfaces/tools/review-queue.ts'
import type { Output } from '../../src/surfaces/tools/tool.ts'
import { importFrom } from '../../src/travel/formats/import/index.ts'
import { printReport } from '../../src/travel/formats/import/report.ts'
import { onMachine, openTestMemory, rowsOf, type TestMemory } from '../helpers.ts'

const run = (t: TestMemory, format: string, path: string, more: object = {}) =>
  exportTool.run(t, { format, path, ...more }) as Output

function known(): TestMemory {
  const t = openTestMemory()
  t.act([
    ['record-decision', { name: 'floats', description: 'Money in floats' }],
    [
      'record-decision',
      { name: 'cents', description: 'Money in cents <!-- no comment --> -- really', topics: ['money'] },
    ],
    ['supersede', { old: 'floats', new: 'cents' }],
    ['record-concept', { name: 'ledger', definition: 'What is owed' }],
    ['link-entities', { from: 'cents', to: 'ledger', type: 'informs' }],
  ])
  return t
}

test('[S1] pages that an earlier version exported are read', async () => {
  const t = known()
  const { project, entities, links } = JSON.parse(run(t, 'json', '-').text)
  const dir = join(t.dir, 'kb')
  mkdirSync(dir)
  for (const [i, entity] of entities.entries()) {
    const data = { tidemark: 1, project, entity, links: i === 0 ? links : [] }
    const block = JSON.stringify(data, null, 1).replaceAll('--', '-\\u002d')
    writeFileSync(join(dir, `${i}.md`), `# a page\n\n<!-- tidemark page\n${block}\n-->\n`)
  }
  const into = openTestMemory({ seed: 2 })
  await importFrom(into.memory, 'pages', dir, { root: t.dir })
  expect(into.get('decision:cents')?.fields.description).toBe('Money in cents <!-- no comment --> -- really')
  expect(into.get('decision:floats')?.fields.status).toBe('superseded')
  expect(into.memory.reader.list('relationship')).toHaveLength(2)
})

test('[S1] one Yjs document holds every entity and link; the same knowledge gives the same bytes', () => {
  const t = known()
  const path = join(t.dir, 'kb.yjs')
  run(t, 'yjs', path)
  const bytes = readFileSync(path)
  const doc = new Y.Doc()
  Y.applyUpdate(doc, bytes)
  const cents = doc.getMap('entities').get('decision:cents') as Y.Map<Y.Map<string>>
  expect(cents.get('fields')!.get('name')).toBe('cents')
  expect(doc.getMap('links').size).toBe(2)
  run(t, 'yjs', path)
  expect(readFileSync(path).equals(bytes)).toBe(true)
  writeFileSync(path, 'mine')
  expect(() => run(t, 'yjs', path)).toThrow('no earlier export')
})

test('[C4] JSON with history makes a replica of the same project that is the same, with authors and times; nothing of it binds', async () => {
  const t = openTestMemory()
  t.act([['record-fact', { fact: 'Always use pnpm', category: 'tool' }]], { user: 'ana' })
  t.clock.days(3)
  t.act([['record-concept', { name: 'ledger', definition: 'one' }]])
  t.clock.days(1)
  t.act([['record-concept', { name: 'ledger', definition: 'two' }]])
  const path = join(t.dir, 'all.json')
  run(t, 'json', path, { history: true })

  const storePath = join(t.dir, 'other', 'store.db')
  const open = () => openProject({ ...t.project, storePath }, { env: t.memory.env, isOurs: true, unlisted: true })
  const fresh = onMachine(join(t.dir, 'other-state'), () => {
    const made = open()
    made.db.write(() => mintReplica(made.db, t.memory.env))
    return made
  })
  try {
    const report = await importFrom(fresh, 'json', path, { root: t.dir, by: 'agent' })
    expect(report).toMatchObject({ created: 0, updated: 0, batches: [], history: 3 })
    expect(printReport(report)).toContain('3 batches of history new; unverified until confirmed here')
    expect(fresh.history('concept:ledger').map((e) => e.event.value)).toEqual(t.memory.history('concept:ledger').map((e) => e.event.value)) // biome-ignore format: one thought
    expect(fresh.asOf(t.clock.now - 86_400_000).entity('concept:ledger')!.fields.definition).toBe('one')
    expect(unverifiedRules(fresh).map((e) => e.name)).toEqual(['Always use pnpm'])
    expect(rowsOf(fresh, ['entities'])).toBe(rowsOf(t.memory, ['entities']))
    expect(printReport(await importFrom(fresh, 'json', path, { root: t.dir }))).toContain('nothing to write')
  } finally {
    fresh.close()
  }
})
