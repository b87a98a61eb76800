import { expect, test } from 'vitest'
import { openTestMemory, type TestMemory } from '../helpers.ts'
import { lay, take, unplaced } from './helpers.ts'

const lines = (...records: unknown[]) => records.map((r) => (typeof r === 'string' ? r : JSON.stringify(r))).join('\n')
const entity = (name: string, entityType: string, ...observations: unknown[]) => ({
  type: 'entity',
  name,
  entityType,
  observations,
})
const relation = (from: string, relationType: string, to: string) => ({ type: 'relation', from, to, relationType })
const links = (t: TestMemory) =>
  t.memory.reader
    .list('relationship')
    .map((e) =>
      [e.fields.from, e.fields.type, e.fields.to, ...(e.fields.description ? [e.fields.description] : [])].join(' '),
    )
    .sort()

test('entities become concepts, relations the links that say the same', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'm.jsonl': lines(
      relation('api', 'dependsOn', 'db'), // before its ends
      entity('Ana', 'person', 'drinks tea', 'on call', 'drinks tea'),
      entity('api', 'service', 'in Go'),
      entity('db', 'service'),
      relation('db', 'used by', 'api'),
      relation('api', 'requires', 'db'),
      relation('Ana', 'works_at', 'api'),
      relation('Ana', 'Works At', 'db'),
      relation('Ana', '好き', 'api'),
    ),
  })
  const report = await take(t, 'mcp-memory', 'm.jsonl')
  expect(t.get('concept:ana')?.fields).toMatchObject({
    name: 'Ana',
    type: 'person',
    observations: ['drinks tea', 'on call'],
  })
  expect(links(t)).toEqual([
    'concept:ana relates-to concept:api 好き',
    'concept:ana works-at concept:api',
    'concept:ana works-at concept:db',
    'concept:api depends-on concept:db requires',
    'concept:api uses concept:db used by',
  ])
  expect(t.memory.registry().relation('works-at')).toBeDefined()
  expect(report.read).toEqual({ entities: 3, relations: 6 })
  expect(report.unplaced.map((u) => [u.where, u.why])).toEqual([])
  const before = t.memory.cursor
  expect((await take(t, 'mcp-memory', 'm.jsonl')).batches).toEqual([])
  expect(t.memory.cursor).toBe(before)
})

test('malformed lines are told with their number, and the rest is imported', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'm.jsonl': lines(
      entity('a', 'x', 'fine', 7, ''),
      '{"type":"entity","name":',
      '',
      '[1]',
      { type: 'entity', observations: [] },
      { type: 'note', text: 'hm' },
      { type: 'relation', from: 'a', to: 'b' },
      relation('a', 'uses', 'nobody'),
      relation('a', 'uses', 'a'),
    ),
  })
  const report = await take(t, 'mcp-memory', 'm.jsonl')
  expect(t.get('concept:a')?.fields.observations).toEqual(['fine'])
  expect(unplaced(report).map((l) => l.replace(/\{.*\}|\[.*\]/, '…'))).toEqual([
    'm.jsonl:2 {"type":"entity","name": — not JSON',
    'm.jsonl:4 … — not an object',
    'm.jsonl:1 observation 2 of "a": 7 — not text',
    'm.jsonl:1 observation 3 of "a": "" — not text',
    'm.jsonl:5 … — an entity without a name',
    'm.jsonl:6 … — neither an entity nor a relation',
    'm.jsonl:7 … — a relation needs from, to and relationType',
    'm.jsonl:8 a uses nobody — there is no entity "nobody"',
    'm.jsonl:9 a uses a — an entity is not linked to itself',
  ])
})

test('[A3] entities whose names differ by case alone stay two, each with its own relations', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'm.jsonl': lines(
      entity('Checkout', 'service', 'in Go'),
      entity('checkout', 'page', 'is blue'),
      relation('checkout', 'uses', 'Checkout'),
      relation('CHECKOUT', 'part_of', 'checkout'),
    ),
  })
  const report = await take(t, 'mcp-memory', 'm.jsonl')
  expect(t.get('concept:Checkout')!.fields).toMatchObject({ type: 'service', observations: ['in Go'] })
  expect(t.get('concept:checkout (page)')!.fields).toMatchObject({ type: 'page', observations: ['is blue'] })
  expect(unplaced(report)).toEqual([])
  expect(links(t).map((l) => l.split(' ')[1])).toEqual(['part-of', 'uses'])
  const before = t.rows()
  expect((await take(t, 'mcp-memory', 'm.jsonl')).batches).toEqual([])
  expect(t.rows()).toBe(before)
})

test('[A3] what follows rules does not come after them', async () => {
  const t = openTestMemory()
  lay(t.dir, { 'm.jsonl': lines(entity('shop', 'app'), entity('house rules', 'doc'), relation('shop', 'follows', 'house rules')) }) // biome-ignore format: a row
  await take(t, 'mcp-memory', 'm.jsonl')
  expect(links(t)).toEqual(['concept:shop follows concept:house-rules'])
})

test('lines without a type are read by what they hold', async () => {
  const t = openTestMemory()
  const { type: _one, ...till } = entity('Till', 'thing', 'counts')
  const { type: _two, ...holds } = relation('Drawer', 'part_of', 'Till')
  lay(t.dir, { 'm.jsonl': lines(till, { name: 'Drawer', entityType: 'thing', observations: [] }, holds) })
  expect((await take(t, 'mcp-memory', 'm.jsonl')).read).toEqual({ entities: 2, relations: 1 })
})

test('the whole graph as one document is read too', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'm.json': {
      entities: [{ name: 'a', entityType: 'x', observations: ['o'] }, { name: 'b' }],
      relations: [{ from: 'a', to: 'b', relationType: 'extends' }],
    },
  })
  await take(t, 'mcp-memory', 'm.json')
  expect(links(t)).toEqual(['concept:a extends concept:b'])
})

test('an observation longer than a field is kept whole in chunks, linked to its concept', async () => {
  const t = openTestMemory()
  const long = Array.from({ length: 4000 }, (_, i) => `word${i} 🌊`).join(' ')
  lay(t.dir, { 'm.jsonl': lines(entity('a', 'x', 'short', long)) })
  const report = await take(t, 'mcp-memory', 'm.jsonl')
  expect(unplaced(report)).toEqual([])
  const chunks = t.memory.reader.list('chunk').sort((x, y) => Number(x.fields.position) - Number(y.fields.position))
  expect(chunks.map((c) => c.fields.content).join('')).toBe(long)
  expect(t.memory.reader.links('to', 'concept:a').map((l) => l.type)).toEqual(chunks.map(() => 'from-source'))
  expect((await take(t, 'mcp-memory', 'm.jsonl')).batches).toEqual([])
})

test('a relation that would close a cycle is told, and the others of its batch are written', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'm.jsonl': lines(
      entity('a', 'x'),
      entity('b', 'x'),
      relation('a', 'depends_on', 'b'),
      relation('b', 'depends_on', 'a'),
      relation('a', 'uses', 'b'),
    ),
  })
  const report = await take(t, 'mcp-memory', 'm.jsonl')
  expect(links(t)).toEqual(['concept:a depends-on concept:b', 'concept:a uses concept:b'])
  expect(unplaced(report)).toEqual([expect.stringMatching(/^m\.jsonl:4 .*closes a cycle of depends-on/)])
  const before = t.memory.cursor
  await take(t, 'mcp-memory', 'm.jsonl')
  expect(t.memory.cursor).toBe(before)
})

test('[A3] a file of another program, as one object with a name, is no memory', async () => {
  const t = openTestMemory()
  lay(t.dir, { 'memory.json': '{"name":"app","version":1,"items":[1,2]}\n' })
  expect((await take(t, 'mcp-memory', 'memory.json')).read).toEqual({ entities: 0, relations: 0 })
  lay(t.dir, {
    'm.jsonl': lines(
      { name: 'Ana', entityType: 'person' },
      { name: 'till', observations: ['counts'] },
      { name: 'app' },
    ),
  })
  const report = await take(t, 'mcp-memory', 'm.jsonl')
  expect(
    t.memory.reader
      .list('concept')
      .map((e) => e.name)
      .toSorted(),
  ).toEqual(['Ana', 'till'])
  expect(unplaced(report)).toEqual(['m.jsonl:3 {"name":"app"} — neither an entity nor a relation'])
})
