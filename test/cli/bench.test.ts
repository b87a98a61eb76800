import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { testUnless } from '../needs.ts'
import { BIN, files, scratch, tidemark } from './run.ts'

const SMALL = join(import.meta.dirname, '../fixtures/recall-small.json')
const SHARED = join(import.meta.dirname, '../../../shared/data/recall')
const MEASURES = ['R@1', 'R@5', 'R@10', 'any@5', 'MRR', 'nDCG@10', 'p50_ms', 'p95_ms']

/** A place whose temporary files can be counted. */
function place() {
  const at = scratch()
  files(at.dir, { 'tmp/.keep': '' })
  return { ...at, env: { ...at.env, TMPDIR: join(at.dir, 'tmp') } }
}

const left = (at: { dir: string }) => readdirSync(join(at.dir, 'tmp')).filter((f) => f.startsWith('tidemark'))

test('bench recall: loads, asks and judges; --json has the shape that scripts rely on, and nothing stays behind', async () => {
  const at = place()
  const { code, out, err } = await tidemark(at, ['bench', 'recall', SMALL, '--embedder', 'none', '--json'])
  expect(code, err).toBe(0)
  const { datasets } = JSON.parse(out) as { datasets: Record<string, unknown>[] }
  expect(datasets).toHaveLength(1)
  const [set] = datasets as [{ overall: Record<string, number>; categories: Record<string, Record<string, number>> }]
  expect(set).toMatchObject({ name: 'small', embedder: 'none', queries: 8 })
  expect(Object.keys(set)).toEqual(['name', 'embedder', 'queries', 'overall', 'categories'])
  expect(Object.keys(set.categories).sort()).toEqual(['several', 'single'])
  for (const summary of [set.overall, ...Object.values(set.categories)]) {
    expect(Object.keys(summary)).toEqual(MEASURES)
    for (const m of MEASURES.slice(0, 6)) expect(summary[m]).toSatisfy((v: number) => v >= 0 && v <= 1)
    expect(summary.p50_ms).toBeGreaterThan(0)
    expect(summary.p95_ms).toBeGreaterThanOrEqual(summary.p50_ms!)
  }
  expect(set.overall['R@10']).toBeGreaterThan(0.8)
  expect(err).toContain('1 of 6 queries name no answer')
  expect(left(at)).toEqual([])
})

test('several files, gzip too, sessions as the unit: one table each; a store named in the environment stays as it is', async () => {
  const at = place()
  const said = (id: string, session: string, text: string) => ({ id, session, text })
  const docs = [
    said('1', 'a', 'The parrot eats walnuts.'),
    said('2', 'a', 'And it sleeps at noon.'),
    said('3', 'b', 'The cat has walnuts for toys.'),
  ]
  const queries = [{ text: 'what does the parrot eat', gold: ['a'], category: 'pets' }]
  const set = { name: 'pets', unit: 'session', groups: [{ id: 7, docs, queries }] }
  files(at.dir, { 'pets.json.gz': gzipSync(JSON.stringify(set)) })
  const env = { ...at.env, TIDEMARK_STORE: join(at.dir, 'kept') }
  const { code, out, err } = await tidemark({ ...at, env }, [
    'bench',
    'recall',
    'pets.json.gz',
    SMALL,
    '--embedder=none',
  ])
  expect(code, err).toBe(0)
  expect(out).toMatch(/^pets: 1 queries, embedder none\n.*R@1.*p95 ms\n {2}all +100\.0/)
  expect(out).toMatch(/\n {2}pets +100\.0/)
  expect(out).toContain('\nsmall: 8 queries')
  expect(existsSync(env.TIDEMARK_STORE)).toBe(false)
  expect(left(at)).toEqual([])
})

test('what no ranking can survive is in one data set: empty, huge, secret, private, doubled, broken, other scripts', {
  tags: ['long'],
}, async () => {
  const at = place()
  const docs = [
    { id: 'empty', text: '' },
    { id: 'huge', text: Array.from({ length: 9000 }, (_, i) => `Line ${i} of the survey of birds.\n`).join('') },
    { id: 'secret', text: `token ghp_${'a1B2'.repeat(9)} for the lighthouse` },
    { id: 'private', text: '<private>all of it</private>' },
    { id: 'twice-1', text: 'Noted.' },
    { id: 'twice-2', text: 'Noted.' },
    { id: 'broken', text: 'half \ud83d an albatross \0\u001b[2J' },
    { id: 'chinese', text: '灯塔在港口的北边', speaker: '王', date: '2024-03-01' },
    { id: 'null', text: 'a label that is null', session: null, speaker: null, date: null },
  ]
  const ask = (text: string, gold: string) => ({ text, gold: [gold], category: '__proto__' })
  const queries = [
    ask('albatross', 'broken'),
    ask('lighthouse token', 'secret'),
    ask('line 8765 survey', 'huge'),
    ask('', 'empty'),
    ask('"*():^ OR NEAR', 'null'),
    ask('x'.repeat(100_000), 'null'),
  ]
  files(at.dir, { 'odd.json': JSON.stringify({ name: 'odd', unit: 'doc', groups: [{ id: 'g', docs, queries }] }) })
  const { code, out, err } = await tidemark(at, ['bench', 'recall', 'odd.json', '--embedder', 'none', '--json'])
  expect(code, err).toBe(0)
  const [set] = JSON.parse(out).datasets
  expect(set.queries).toBe(6)
  expect(set.overall['R@10']).toBeGreaterThanOrEqual(0.5)
  expect(err).toContain('1 texts that look like secrets are redacted')
  expect(err).toContain('2 documents hold nothing that may be kept')
})

test('told to stop, it leaves nothing behind', { tags: ['long'] }, async () => {
  const at = place()
  const docs = Array.from({ length: 20_000 }, (_, i) => ({
    id: `d${i}`,
    text: `Remark ${i} on the weather of the day.`,
  }))
  const set = { name: 'long', unit: 'doc', groups: [{ id: 'g', docs, queries: [] }] }
  files(at.dir, { 'long.json': JSON.stringify(set) })
  const child = spawn(process.execPath, [BIN, 'bench', 'recall', 'long.json'], { cwd: at.dir, env: at.env })
  const ended = once(child, 'close')
  await expect.poll(() => left(at).length, { timeout: 20_000, interval: 20 }).toBe(1)
  child.kill('SIGINT')
  expect(await ended).toEqual([130, null])
  expect(left(at)).toEqual([])
})

test.each([
  ['no file', 'absent.json', /absent\.json cannot be read: there is no such file/],
  ['a directory', '.', /\. cannot be read: it is a directory/],
  ['no JSON', 'text.json', /text\.json is not JSON/],
  ['half a gzip', 'half.gz', /half\.gz cannot be unpacked/],
  ['no unit', 'unit.json', /unit\.json: unit is missing; it is "doc" or "session"/],
  ['no groups', 'groups.json', /groups\.json: groups is missing/],
  ['a text that is none', 'doc.json', /doc\.json: groups\[0\]\.docs\[1\]\.text is not text/],
  ['no gold', 'gold.json', /gold\.json: groups\[0\]\.queries\[0\]\.gold is missing/],
  ['no session', 'session.json', /session\.json: groups\[0\]\.docs\[0\]\.session is missing/],
])('a malformed data set (%s) is refused with the file, the place and the form', async (_, file, message) => {
  const at = place()
  const set = (docs: unknown[], queries: unknown[], unit = 'doc') =>
    JSON.stringify({ name: 'n', unit, groups: [{ id: 'g', docs, queries }] })
  const doc = { id: 'a', text: 'words' }
  files(at.dir, {
    'text.json': 'once upon a time',
    'half.gz': gzipSync(set([doc], [])).subarray(0, 30),
    'unit.json': '{"name":"n","groups":[]}',
    'groups.json': '{"name":"n","unit":"doc"}',
    'doc.json': set([doc, { id: 'b', text: 7 }], []),
    'gold.json': set([doc], [{ text: 'q' }]),
    'session.json': set([doc], [], 'session'),
  })
  const plain = await tidemark(at, ['bench', 'recall', SMALL, file])
  expect([plain.code, plain.out]).toEqual([1, '']) // nothing is run before all are read
  expect(plain.err).toMatch(message)
  expect(plain.err).toContain('→')
  const json = await tidemark(at, ['bench', 'recall', file, '--json'])
  expect(json.code).toBe(1)
  expect(JSON.parse(json.out).error).toMatchObject({
    message: expect.stringMatching(message),
    hint: expect.any(String),
  })
  expect(left(at)).toEqual([])
})

test.each([
  [['bench'], /say what to measure/],
  [['bench', 'speed'], /there is no bench "speed"/],
  [['bench', 'recall'], /FILE is missing/],
  [['bench', 'recall', SMALL, '--embedder', 'statik'], /no embedder "statik"; did you mean static\?/],
])('wrong use (%j) is told, exit 2', async (args, message) => {
  const { code, out, err } = await tidemark(place(), [...args, '--json'])
  expect(code).toBe(2)
  expect(err).toMatch(message)
  expect(JSON.parse(out).error.code).toBe('usage')
})

const shared = existsSync(SHARED) ? readdirSync(SHARED).filter((f) => f.startsWith('devmem')) : []
testUnless(shared.length === 0 && `no development set in ${SHARED}`)(
  'a development set of the workplace',
  { tags: ['long'] },
  async () => {
    const { code, out, err } = await tidemark(place(), ['bench', 'recall', join(SHARED, shared[0]!), '--json'])
    expect(code, err).toBe(0)
    expect(JSON.parse(out).datasets[0].overall['R@10']).toBeGreaterThan(0.9)
  },
)
