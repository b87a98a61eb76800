import { dirname } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { nameKey } from '../../src/model/entity.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'
import { lay, take } from './helpers.ts'

const chunksOf = (t: TestMemory) =>
  t.memory.reader.list('chunk').sort((a, b) => Number(a.fields.position) - Number(b.fields.position))

test('a document is cut by section, code and all; the same again writes nothing; what is gone is retired', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'docs/guide.md': '---\ntitle: x\n---\n# Guide\n\nStart here.\n\n## Install\n\n```sh\n# no heading\nnpm i\n```\n',
    'docs/deep/notes.txt': 'Plain words.\n',
    'docs/.hidden/x.md': 'not read',
    'docs/image.png': 'not read',
  })
  const report = await take(t, 'docs', 'docs')
  expect(report.read).toEqual({ documents: 2, chunks: 3, terms: 0 })
  expect(t.memory.reader.list('chunk').map((c) => [c.fields.sourceFile, c.fields.section, c.fields.content])).toEqual(
    expect.arrayContaining([
      ['docs/guide.md', 'Guide', 'Start here.'],
      ['docs/guide.md', 'Guide › Install', '```sh\n# no heading\nnpm i\n```'],
      ['docs/deep/notes.txt', undefined, 'Plain words.'],
    ]),
  )
  const [first] = chunksOf(t)
  expect(t.memory.reader.links('from', first!.id).map((l) => l.type)).toEqual(['from-source'])
  expect((await take(t, 'docs', 'docs')).batches).toEqual([])

  lay(t.dir, { 'docs/deep/notes.txt': 'Other words.\n' })
  await take(t, 'docs', 'docs')
  expect(t.memory.reader.list('chunk').map((c) => c.fields.content)).not.toContain('Plain words.')
  expect(t.memory.reader.list('chunk', { all: true }).map((c) => c.fields.content)).toContain('Plain words.')
})

test('a long section is cut before an item of its list, and leaves no crumb behind', async () => {
  const t = openTestMemory()
  const item = (n: number) => `- item ${n} says what it says,\n  and goes on in a second line of about the same length`
  lay(t.dir, { 'list.md': `# List\n\n${Array.from({ length: 20 }, (_, n) => item(n)).join('\n')}\n` })
  await take(t, 'docs', 'list.md')
  const pieces = chunksOf(t).map((c) => String(c.fields.content))
  expect(pieces).toHaveLength(2)
  for (const piece of pieces) {
    expect(piece).toMatch(/^- item/)
    expect(piece.length).toBeGreaterThan(500)
  }
})

test('pieces of a document that say the same are no more work than others', async () => {
  const parsed = vi.spyOn(JSON, 'parse')
  onTestFinished(() => parsed.mockRestore())
  const read = async (line: string) => {
    const t = openTestMemory()
    lay(t.dir, { 'a.txt': line })
    parsed.mockClear()
    expect((await take(t, 'docs', 'a.txt')).read).toMatchObject({ chunks: 300 })
    return parsed.mock.calls.length
  }
  const distinct = Array.from({ length: 300 * 16 }, (_, i) => String(i).padStart(100, '-')).join('')
  expect(await read('x'.repeat(300 * 1_600))).toBeLessThan(2 * (await read(distinct)))
})

test('a document outside the project is taken in whole, and is no file of it', async () => {
  const t = openTestMemory()
  lay(dirname(t.dir), { 'elsewhere/book.md': '# Book\n\nWords.\n' })
  const report = await take(t, 'docs', '../elsewhere/book.md')
  expect(report.unplaced).toEqual([])
  expect(t.memory.reader.list('chunk').map((c) => c.fields.sourceFile)).toEqual(['../elsewhere/book.md'])
  expect(t.memory.reader.list('file')).toEqual([])
})

test('secrets and private parts of a document stay out', async () => {
  const t = openTestMemory()
  lay(t.dir, { 'a.md': 'Key: ghp_abcdefghijklmnopqrstuvwxyz0123456789\n\n<private>mine</private>\n' })
  const report = await take(t, 'docs', 'a.md')
  expect(report.redacted).toHaveLength(1)
  expect(JSON.stringify(t.memory.reader.list('chunk'))).not.toMatch(/ghp_|mine/)
})

test('terms of a glossary are proposed as concepts with where they come from; bold words elsewhere are not', async () => {
  const t = openTestMemory()
  lay(t.dir, {
    'g.md':
      '# Notes\n\n- **Note**: this is bold and defines nothing at all.\n\n## Glossary\n\n- **Lease**: a claim that ends by itself when its holder dies.\n',
  })
  await take(t, 'docs', 'g.md')
  const concepts = t.memory.reader.list('concept', { standing: 'proposed' })
  expect(concepts.map((c) => c.name)).toEqual(['Lease'])
  expect(t.memory.reader.links('from', concepts[0]!.id).map((l) => l.type)).toEqual(['sourced-from'])
})

/** One story per domain of concept paper 4: a document, a concept, and what was lived. */
const DOMAINS = {
  software: {
    page: '# Reliability\n\nA circuit breaker stops calls to a service that keeps failing.\n',
    concept: { name: 'circuit breaker', definition: 'a pattern that stops calls to a failing service' },
    lived: ['record-failed-approach', { approach: 'retrying payments without a circuit breaker', outcome: 'outage' }],
    relation: 'may-be-instance-of',
  },
  career: {
    page: '# Choosing\n\nRegret minimization asks what the eighty-year-old self would regret.\n',
    concept: { name: 'regret minimization', type: 'framework' },
    lived: ['record-decision', { name: 'take-the-sabbatical', description: 'Leave in June', rationale: 'By regret minimization: I would regret staying' }], // biome-ignore format: one action
    relation: 'applies-framework',
  },
  health: {
    page: '# Sleep\n\nSleep restriction shortens the time in bed until sleep becomes solid.\n',
    concept: { name: 'sleep restriction', definition: 'spending less time in bed' },
    lived: ['record-measurement', { type: 'sleep', content: '6.5 h on the third night of sleep restriction' }],
    relation: 'may-be-instance-of',
  },
  relationships: {
    page: '# Talking\n\nUse active listening: say back what you heard before you answer.\n',
    concept: { name: 'active listening', definition: 'general advice: say back what you heard' },
    lived: ['record-exception', { ruleBroken: 'active listening in every talk', justification: 'Ana asked for plain solutions' }], // biome-ignore format: one action
    relation: 'contradicts-general-advice',
  },
} as const

test.each(Object.entries(DOMAINS))(
  '%s: a document mentions a concept, and what was lived is proposed as its case',
  async (_, d) => {
    const t = openTestMemory()
    const [{ id: concept }, { id: lived }] = t.memory.act([['record-concept', d.concept], d.lived])
      .results as unknown as [{ id: string }, { id: string }]
    lay(t.dir, { 'page.md': d.page })
    const report = await take(t, 'docs', 'page.md')
    expect(report.named).toEqual({ mentions: 1, proposed: 1 })
    const { reader } = t.memory
    expect(reader.links('to', concept).filter((l) => l.type === 'mentions')).toHaveLength(1)
    const [bridge] = reader.links('from', lived)
    expect(bridge).toMatchObject({ type: d.relation, to: concept })
    expect(bridge!.entity.fields.standing).toBe('proposed')
    expect((await take(t, 'docs', 'page.md')).named).toEqual({ mentions: 0, proposed: 0 })

    t.memory.act([['confirm', { ref: bridge!.id }]])
    const types = reader.links('from', lived).map((l) => l.type)
    expect(types.includes('instance-of')).toBe(d.relation === 'may-be-instance-of')
  },
)

test('a proposed case that was rejected is not proposed again', async () => {
  const t = openTestMemory()
  const { page, concept, lived } = DOMAINS.health
  t.memory.act([['record-concept', concept], lived])
  lay(t.dir, { 'page.md': page })
  await take(t, 'docs', 'page.md')
  const [waiting] = t.memory.reader.list('relationship', { standing: 'proposed' })
  t.memory.act([['reject', { ref: waiting!.id }]])
  expect((await take(t, 'docs', 'page.md')).named).toEqual({ mentions: 0, proposed: 0 })
})

test('[A3] texts that begin alike are looked up each by itself, and an edited one is still found by what it says', () => {
  const t = openTestMemory()
  const head = 'The same long beginning of every piece. '.repeat(8)
  const record = (n: number) => ['record-chunk', { content: `${head}${n}.` }]
  t.act(Array.from({ length: 40 }, (_, n) => record(n)))
  expect(t.memory.reader.byName(nameKey(`${head}7`))).toHaveLength(1)
  const [seven] = t.memory.reader.byName(nameKey(`${head}7.`))
  t.act([['record-chunk', { ref: seven!.id, content: `${head}other.` }]])
  expect(t.act([['record-chunk', { content: `${head}other.` }]]).results[0]!.id).toBe(seven!.id)
})
