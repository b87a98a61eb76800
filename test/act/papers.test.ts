import { expect, test } from 'vitest'
import { openTestMemory } from '../helpers.ts'

test('[A9] update-confidence and add-evidence take the name, and evidence is one text or a list', () => {
  const m = openTestMemory()
  m.act([['record-principle', { name: 'p', confidence: 0.5 }]])
  m.act([
    ['update-confidence', { name: 'p', confidence: 0.95, expectedVersion: 1 }],
    ['add-evidence', { name: 'p', evidence: ['tested-in-production', 'documented', 'documented'] }],
    ['add-evidence', { ref: 'p', evidence: 'seen' }],
  ])
  expect(m.get('p')!.fields).toMatchObject({
    confidence: 0.95,
    evidence: ['tested-in-production', 'documented', 'seen'],
  })
  expect(
    m.refused([
      ['add-evidence', { name: 'p', evidence: ['x', 3] }],
      ['add-evidence', { name: 'p', evidence: [] }],
      ['add-evidence', { name: 'nothing', evidence: 'x' }],
      ['update-confidence', { confidence: 0.5 }],
    ]),
  ).toMatchObject([
    { index: 0, field: 'evidence', message: 'not a list of text' },
    { index: 1, field: 'evidence', message: 'empty' },
    { index: 2, field: 'ref', message: 'nothing is called "nothing"' },
    { index: 3, field: 'ref', message: 'missing' },
  ])
  expect(m.get('p')!.fields.evidence).toHaveLength(3)
})

test('[A3] a file says when it was analyzed, and under a new hash its lists are those of now', () => {
  const m = openTestMemory()
  const file = (args: object) => m.act([['record-file-understanding', { path: 'src/a.ts', ...args }]])
  const fields = () => m.get('src/a.ts')!.fields
  file({ tags: ['x'] })
  expect(fields().lastAnalyzed).toBeUndefined()
  file({ hash: 'h1', summary: 'one', concepts: ['old', 'kept'], importantSymbols: ['f'], relatedFiles: ['src/b.ts'] })
  const first = fields().lastAnalyzed
  expect(Math.abs(Date.parse(String(first)) - m.clock.now)).toBeLessThan(10)
  m.clock.days(1)
  file({ hash: 'h1', concepts: ['more'] })
  expect(fields().concepts).toEqual(['old', 'kept', 'more'])
  expect(String(fields().lastAnalyzed) > String(first)).toBe(true)
  file({ hash: 'h2', concepts: ['kept', 'new'], relatedFiles: ['src/c.ts'], tags: ['y'] })
  expect(fields()).toMatchObject({
    concepts: ['kept', 'new'],
    importantSymbols: ['f'],
    relatedFiles: ['src/c.ts'],
    tags: ['x', 'y'],
  })
  file({ hash: 'h3', importantSymbols: { add: ['g'] }, lastAnalyzed: '2026-01-02' })
  expect(fields()).toMatchObject({ importantSymbols: ['f', 'g'], lastAnalyzed: '2026-01-02' })
  const { notes } = file({ hash: 'h3' })
  expect(notes.join()).toContain('nothing changed')
})

test('[D11] lists can be asked for by the session that recorded them, now and as of a moment', () => {
  const m = openTestMemory()
  m.act([['record-principle', { name: 'of-one' }]], { session: 's1' })
  m.act([['record-principle', { name: 'of-two' }]], { session: 's2' })
  m.act([['record-principle', { name: 'of-both' }]], { session: 's1' })
  m.act([['record-principle', { name: 'of-both', confidence: 0.5 }]], { session: 's2' })
  const names = (form: string) => m.discover(`(sort (map :name ${form}) string<?)`)[0]
  expect(names('(get-principles :session "s1")')).toBe('("of-both" "of-one")')
  expect(names('(get-principles :session "s2")')).toBe('("of-both" "of-two")')
  expect(names('(get-principles :session "s3")')).toBe('()')
  expect(m.discover('(length (get-principles :session "s1" :limit 1))')).toEqual(['1'])
  m.clock.days(1)
  expect(m.discover('(as-of "2026-11-21" (map :name (get-principles :session "s2" :limit 9)))')[0]).toContain('of-two')
})

test('relationships carry description and confidence, and none leads to what is gone', () => {
  const m = openTestMemory()
  m.act([
    ['record-principle', { name: 'a' }],
    ['record-principle', { name: 'b' }],
    ['record-principle', { name: 'c' }],
    ['link-entities', { from: 'a', to: 'b', type: 'supports', description: 'as it says', confidence: 0.7 }],
    ['link-entities', { from: 'a', to: 'c', type: 'supports' }],
  ])
  const { read } = m.library
  expect(read.relationships).toHaveLength(2)
  m.act([['delete-principle', { name: 'c' }]])
  expect(read.relationships).toEqual([
    {
      id: expect.any(String),
      from: 'principle:a',
      to: 'principle:b',
      type: 'supports',
      description: 'as it says',
      confidence: 0.7,
    },
  ])
})
