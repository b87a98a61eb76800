import { expect, test } from 'vitest'
import { importTool } from '../../src/surfaces/tools/import.ts'
import { printReport } from '../../src/travel/formats/import/report.ts'
import { runImport } from '../../src/travel/formats/import/run.ts'
import type { Item, Reading } from '../../src/travel/formats/import/types.ts'
import { openTestMemory } from '../helpers.ts'
import { lay, take } from './helpers.ts'

const reading = (items: Item[], more: Partial<Reading> = {}): Reading => ({ items, unplaced: [], counts: {}, ...more })
const fact = (text: string, more: object = {}): Item => ({
  verb: 'record-fact',
  args: { fact: text, ...more },
  where: 'f:1',
})

test('any number of items goes in, in batches of at most 50, with progress', () => {
  const t = openTestMemory()
  const items = Array.from({ length: 1234 }, (_, i) => fact(`rule ${i}`))
  const progress: string[] = []
  const report = runImport(t.memory, reading(items), { source: 'many', progress: (l) => void progress.push(l) })
  expect(report).toMatchObject({ created: 1234, updated: 0, unchanged: 0 })
  expect(report.batches).toHaveLength(25)
  expect(progress).toEqual(['many: 250 of 1234', 'many: 500 of 1234', 'many: 750 of 1234', 'many: 1000 of 1234'])
  expect(runImport(t.memory, reading(items), { source: 'many' })).toMatchObject({ unchanged: 1234, batches: [] })
})

test('what is new can be imported as proposed; what is confirmed or rejected here keeps its standing', () => {
  const t = openTestMemory()
  t.act([['record-fact', { fact: 'two' }]])
  const items = [fact('one'), fact('two'), fact('three')]
  runImport(t.memory, reading(items), { source: 's', standing: 'proposed' })
  expect(['one', 'two', 'three'].map((n) => t.get(`fact:${n}`)?.fields.standing)).toEqual([
    'proposed',
    undefined,
    'proposed',
  ])
  t.act([
    ['confirm', { ref: 'fact:one' }],
    ['reject', { ref: 'fact:three', reason: 'no' }],
  ])
  expect(runImport(t.memory, reading(items), { source: 's', standing: 'proposed' }).batches).toEqual([])
})

test('a set item and a list item that are there are not added again; new ones are, and removed ones stay away', () => {
  const t = openTestMemory()
  const item = (topics: string[], locations: string[]) => [fact('rule', { topics, locations })]
  runImport(t.memory, reading(item(['a', 'b'], ['x:1'])), { source: 's' })
  t.act([['record-fact', { fact: 'rule', topics: { remove: ['a'], add: ['mine'] } }]])
  expect(runImport(t.memory, reading(item(['a', 'b'], ['x:1'])), { source: 's' }).batches).toEqual([])
  runImport(t.memory, reading(item(['a', 'b', 'c'], ['x:1', 'y:2'])), { source: 's' })
  expect(t.get('fact:rule')?.fields).toMatchObject({ topics: ['b', 'c', 'mine'], locations: ['x:1', 'y:2'] })
})

test('[A7] secrets are stored as their category and told without the secret; <private> parts are left out', () => {
  const t = openTestMemory()
  const token = `ghp_${'z'.repeat(36)}`
  const items = [
    fact(`Log in with ${token}`),
    fact('Call <private>Bob</private> first'),
    fact('<private>all of it</private>'),
  ]
  const report = runImport(t.memory, reading(items), { source: 's' })
  expect(
    t.memory.reader
      .list('fact')
      .map((e) => e.name)
      .sort(),
  ).toEqual(['Call  first', 'Log in with [redacted: GitHub token]'])
  expect(report).toMatchObject({
    redacted: [{ where: 'f:1', category: 'GitHub token' }],
    privateLeftOut: 2,
    unplaced: [{ what: 'fact', why: 'nothing stands in fact' }],
  })
  expect(JSON.stringify(report) + printReport(report)).not.toMatch(/z{36}|Bob/)
  for (const secret of [token, 'Bob']) expect(t.memory.occurrences(secret).filter((o) => o.count > 0)).toEqual([])
  expect(runImport(t.memory, reading(items), { source: 's' }).batches).toEqual([])
})

test('a name longer than a field, a deep value and a NUL refuse nothing else', () => {
  const t = openTestMemory()
  const long = 'rule '.repeat(5000)
  let deep: { [k: string]: never } | string = 'x'
  for (let i = 0; i < 50; i++) deep = { d: deep } as never
  const items = [fact(long), fact('deep', { attrs: deep }), fact('nul\0here'), fact('half \ud800 a pair'), fact('fine')]
  const report = runImport(t.memory, reading(items), { source: 's' })
  expect(
    t.memory.reader
      .list('fact')
      .map((e) => e.name.slice(0, 10))
      .sort(),
  ).toEqual(['fine', 'half � a p', 'nulhere', 'rule rule '])
  const chunks = t.memory.reader.list('chunk').sort((a, b) => Number(a.fields.position) - Number(b.fields.position))
  expect(chunks.map((c) => c.fields.content).join('')).toBe(long)
  expect(report.unplaced).toEqual([{ where: 'f:1', what: 'fact deep', why: expect.stringContaining('nested deeper') }])
  expect(runImport(t.memory, reading(items), { source: 's' }).batches).toEqual([])
})

test('what was purged can come again from its source, once', () => {
  const t = openTestMemory()
  runImport(t.memory, reading([fact('rule')]), { source: 's' })
  t.act([['purge', { ref: 'fact:rule', reason: 'by mistake' }]])
  runImport(t.memory, reading([fact('rule')]), { source: 's' })
  expect(t.memory.reader.list('fact').map((e) => e.name)).toEqual(['rule'])
  expect(runImport(t.memory, reading([fact('rule')]), { source: 's' }).batches).toEqual([])
})

test('the report counts by kind and says what could not be placed as file:line', () => {
  const t = openTestMemory()
  const items: Item[] = [
    fact('a'),
    fact('b'),
    { verb: 'link-entities', args: { from: 'fact:a', to: 'fact:zz', type: 'uses' }, where: 'f:7' },
  ]
  const report = runImport(t.memory, reading(items, { counts: { rules: 2, files: 1 } }), { source: 'import x y' })
  expect(printReport(report)).toBe(`import x y: 2 new, 0 updated, 0 there already (1 batch)
read: 2 rules, 1 file
  fact  2 new
not placed:
  f:7  uses: fact:a → fact:zz — "fact:zz" is not there`)
  expect(printReport(runImport(t.memory, reading([fact('a')]), { source: 's' }))).toBe(
    's: nothing to write, 1 there already\n  fact  1 there already',
  )
})

test('the tool says who imported, and from where', async () => {
  const t = openTestMemory()
  lay(t.dir, { 'CLAUDE.md': '- Never panic\n' })
  const out = await importTool.run(
    { ...t, session: 's-1', agent: 'cli' },
    { format: 'claude-md', path: `${t.dir}/CLAUDE.md` },
  )
  expect(out.json).toMatchObject({ created: 1, source: 'import claude-md CLAUDE.md' })
  expect(t.get('fact:never-panic')?.fields.provenance).toEqual([
    expect.objectContaining({ session: 's-1', agent: 'cli', source: 'import claude-md CLAUDE.md' }),
  ])
  expect((await take(t, 'claude-md', 'CLAUDE.md')).batches).toEqual([])
})
