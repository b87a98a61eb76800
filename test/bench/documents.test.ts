import { expect, test } from 'vitest'
import { readDocuments } from '../../bench/evaluate/documents.ts'
import { MAX_STRING } from '../../src/model/canonical.ts'
import { runImport } from '../../src/travel/formats/import/run.ts'
import { openTestMemory } from '../helpers.ts'

const turn = (id: string, text: string, more: object = {}) => ({ id, text, session: '1', ...more })

test('turns become chunks with session, speaker, day and the words of the day', () => {
  const t = openTestMemory()
  const { reading, owners } = readDocuments('talk', [
    turn('a', 'We ship on Friday.', { speaker: 'Ana', date: '1:56 pm on 8 May, 2023', project: 'shop' }),
    turn('b', 'Fine.', { speaker: 'Ben', date: '2025-01-15' }),
    turn('c', 'Later.', { date: 'the week after the fair' }),
  ])
  expect(owners.map((o) => o.id)).toEqual(['a', 'b', 'c'])
  const report = runImport(t.memory, reading, { source: 'import talk' })
  expect(report.created).toBe(3)
  const said = (speaker?: string) => t.memory.reader.list('chunk').find((e) => e.fields.speaker === speaker)!.fields
  const [a, b, c] = [said('Ana'), said('Ben'), said()]
  expect(a).toMatchObject({
    content: 'We ship on Friday.',
    sourceFile: 'talk',
    section: '1',
    position: 0,
    speaker: 'Ana',
    date: '2023-05-08',
    when: '1:56 pm on 8 May, 2023',
    topics: ['shop'],
  })
  expect([b.date, b.when]).toEqual(['2025-01-15', undefined])
  expect([c.date, c.when]).toEqual([undefined, 'the week after the fair'])
})

test.each([
  ['March-15-2024', '2024-03-15'],
  ['2023/05/20 (Sat) 02:21', '2023-05-20'],
  ['Monday, the 3rd of July 2023 at 18:05', '2023-07-03'],
  ['2025-01-15T09:30:00Z', '2025-01-15T09:30:00.000Z'],
  ['yesterday', undefined],
  ['May 2023', undefined],
  ['some time after 8 May 2023', undefined],
  ['31 February, 2023', undefined],
])('the day of "%s" is %s', (date, day) => {
  const [item] = readDocuments('talk', [turn('a', 'Hello.', { date })]).reading.items
  expect((item!.args as { date?: string }).date).toBe(day)
})

test('the same words said twice are two chunks, and sessions that alternate are kept together', () => {
  const t = openTestMemory()
  const docs = [
    { id: '1', text: 'Hello!', session: 'x' },
    { id: '2', text: 'Hello!', session: 'y' },
    { id: '3', text: 'Hello!', session: 'x' },
    { id: '4', text: 'Hello!' },
  ]
  const { reading, owners } = readDocuments('talk', docs)
  runImport(t.memory, reading, { source: 'import talk' })
  expect(t.memory.reader.list('chunk')).toHaveLength(4)
  expect(owners.map((o) => o.id)).toEqual(['1', '3', '2', '4'])
})

test('nothing is refused: long texts are cut at paragraphs, broken characters mended, secrets and private parts gone', () => {
  const t = openTestMemory()
  const key = `sk-${'a1b2c3d4'.repeat(4)}`
  const paragraph = (i: number) => `${`Sentence ${i} of the report. `.repeat(50).trim()}\n\n`
  const long = Array.from({ length: 1500 }, (_, i) => paragraph(i)).join('') // 2 MB
  const unbroken = `${'語'.repeat(9000)}😀${'x'.repeat(9000)}`
  const docs = [
    turn('long', long),
    turn('unbroken', unbroken),
    turn('odd', 'half \ud800 of it, a NUL \0, a bell \u0007 and an escape \u001b[31m'),
    turn('secret', `The key is ${key}, keep it.`, { speaker: `bot ${key}` }),
    turn('private', 'Before <private>the diagnosis\n\nis this</private> and after.'),
    turn('wholly private', '<private>nothing else</private>'),
    turn('empty', '  \n '),
    turn('labels', 'said by somebody', { speaker: 's'.repeat(20_000), date: 'd\ud800'.repeat(9000) }),
  ]
  const { reading, owners } = readDocuments('talk', docs)
  const report = runImport(t.memory, reading, { source: 'import talk' })
  expect(report.unplaced.map((u) => u.where)).toEqual(['talk#wholly private', 'talk#empty'])
  const chunks = t.memory.reader.list('chunk', { limit: 10_000 }).map((e) => e.fields)
  expect(chunks).toHaveLength(owners.length)
  const of = (id: string) =>
    chunks
      .filter((c) => owners[c.position as number]!.id === id)
      .sort((x, y) => (x.position as number) - (y.position as number))
      .map((c) => c.content as string)
  expect(of('long').join('')).toBe(long)
  expect(of('long').every((c) => c.endsWith('\n\n') && c.length < MAX_STRING / 2)).toBe(true)
  expect(of('unbroken').join('')).toBe(unbroken)
  expect(of('unbroken').every((c) => c.isWellFormed())).toBe(true)
  expect(of('odd')[0]).toContain('half \ufffd of it, a NUL , a bell')
  expect(of('secret')).toEqual(['The key is [redacted: API key], keep it.'])
  expect(of('private')).toHaveLength(1)
  expect(of('private')[0]).toMatch(/^Before\s+and after\.$/)
  expect(of('labels')).toEqual(['said by somebody'])
  expect(t.rows()).not.toContain(key)
  expect(t.rows()).not.toContain('diagnosis')
})

test('a second run of the same documents writes nothing', () => {
  const t = openTestMemory()
  const docs = [turn('a', 'One.'), turn('b', 'One.'), turn('c', 'x '.repeat(6000))]
  const run = () => runImport(t.memory, readDocuments('talk', docs).reading, { source: 'import talk' })
  expect(run().created).toBe(5)
  expect(run()).toMatchObject({ created: 0, updated: 0, unchanged: 5, batches: [] })
})
