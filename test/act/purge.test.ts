import { describe, expect, test } from 'vitest'
import { openTestMemory, type TestMemory } from '../helpers.ts'

const SECRET = 'quetzalcoatl-7731'

/** How often a text stands in the files of the store. */
const found = (m: TestMemory, text: string) => m.memory.occurrences(text).reduce((sum, f) => sum + f.count, 0)

const said = (m: TestMemory) =>
  m.memory.db.all(
    'SELECT id, kind, name, live, standing, retired, created, updated, version, body FROM entities ORDER BY id',
  )

describe('[A7] purge', () => {
  test.each([
    ['a field', ['record-principle', { name: 'p', description: `before ${SECRET} after`, confidence: 0.5 }]],
    ['a list item', ['record-principle', { name: 'p', evidence: ['kept', `x ${SECRET}`] }]],
    ['a set item', ['record-principle', { name: 'p', tags: ['kept', SECRET] }]],
    ['a value in attrs', ['record-principle', { name: 'p', attrs: { kept: 1, a: { b: [SECRET] } } }]],
    ['a key of attrs', ['record-principle', { name: 'p', attrs: { kept: 1, [SECRET]: { b: 1 } } }]],
    ['the reason of a retirement', ['retire', { ref: 'p', reason: SECRET }]],
    ['the reason of a delete', ['delete-principle', { name: 'p', reason: SECRET }]],
    ['a link', ['link-entities', { from: 'p', to: 'q', type: 'supports', description: SECRET }]],
    ['a proposal', ['propose', { action: ['record-principle', { name: 'p', description: SECRET }] }]],
    ['a source', ['record-principle', { name: 'p', source: `notes/${SECRET}.md` }]],
    ['a name', ['record-concept', { name: `the ${SECRET}` }]],
    ['a content', ['record-fact', { fact: `Never say ${SECRET}` }]],
    ['an event', ['record-observation', { operation: 'x', what: `saw ${SECRET}` }]],
    ['a kind', ['define-kind', { name: 'thing', about: SECRET, fields: { name: 'text' } }]],
  ])('[A7] a secret in %s is erased from every byte, and the rest stays', (_what, action) => {
    const m = openTestMemory()
    m.act([
      ['record-principle', { name: 'p', tags: ['first'] }],
      ['record-principle', { name: 'q' }],
    ])
    m.act([action])
    m.act([['record-principle', { name: 'q', confidence: 1 }]])
    expect(found(m, SECRET)).toBeGreaterThan(0)
    const done = m.act([['purge', { secret: SECRET, reason: 'leaked' }]])
    expect(done.notes.join()).toContain('if it was a secret, change it')
    expect(found(m, SECRET)).toBe(0)
    expect(m.memory.reader.search(SECRET, 5)).toEqual([])
    expect(m.get('q')!.fields.confidence).toBe(1)
    expect(m.refused([['purge', { secret: SECRET, reason: 'again' }]])).toMatchObject([{ field: 'secret' }])
    const before = said(m)
    m.memory.rebuild()
    expect(said(m)).toEqual(before)
  })

  test.each(['intent', 'task', 'agent'])('[A7] a secret in the %s of a batch is erased', (field) => {
    const m = openTestMemory()
    const principle = ['record-principle', { name: 'p', description: 'stays' }]
    if (field === 'intent') m.act({ intent: `because ${SECRET}`, actions: [principle] })
    else m.act([principle], { [field]: SECRET })
    m.act([['record-principle', { name: 'p', confidence: 1 }]])
    m.act([['purge', { secret: SECRET, reason: 'leaked' }]])
    expect(found(m, SECRET)).toBe(0)
    expect(m.get('p')!.fields).toMatchObject({ description: 'stays', confidence: 1 })
  })

  test('[A7] several secrets of one batch are erased one after the other', () => {
    const m = openTestMemory()
    m.act([['record-principle', { name: 'p', description: SECRET, evidence: ['other-secret-1', 'kept'] }]])
    m.act([['purge', { secret: SECRET, reason: 'leaked' }]])
    m.act([['purge', { secret: 'other-secret-1', reason: 'leaked' }]])
    expect(found(m, SECRET) + found(m, 'other-secret-1')).toBe(0)
    expect(m.get('p')!.fields.evidence).toEqual(['kept'])
  })

  test('[A7] an entity is erased whole: its words, its name, its id and its links', () => {
    const m = openTestMemory()
    m.act([
      ['record-principle', { name: 'Ocelotl Project', description: 'xochitl' }],
      ['record-principle', { name: 'q', description: 'stays' }],
    ])
    m.act([['link-entities', { from: 'Ocelotl Project', to: 'q', type: 'supports', description: 'tonatiuh' }]])
    m.act([
      ['record-principle', { name: 'ocelotl-project', tags: ['t'] }],
      ['record-principle', { name: 'q', tags: ['u'] }],
    ])
    m.act([['rename', { ref: 'Ocelotl Project', name: 'coyotl' }]])
    m.act([['add-evidence', { ref: 'coyotl', evidence: 'tlaloc' }]])
    m.act([
      ['record-principle', { name: 'Ocelotl Project', confidence: 1 }],
      ['record-principle', { name: 'r' }],
    ])
    m.discover('(define kept (get-principles))', { session: 's' })
    const words = ['Ocelotl', 'ocelotl', 'xochitl', 'tonatiuh', 'coyotl', 'tlaloc']
    for (const word of words) expect(found(m, word)).toBeGreaterThan(0)
    m.act([['purge', { ref: 'coyotl', reason: 'held a customer name' }]])
    for (const word of words) expect(`${word}: ${found(m, word)}`).toBe(`${word}: 0`)
    expect(
      m.discover(
        '(sort (map :name (get-principles)) string<?) (get-relationships-to "q") (search-knowledge "xochitl")',
      ),
    ).toEqual(['("q" "r")', '()', '()'])
    expect(
      m.discover(`(sort (map :name (as-of "${new Date(m.clock.now + 9e9).toISOString()}" (get-principles))) string<?)`),
    ).toEqual(['("q" "r")'])
    expect(m.get('q')!.fields).toMatchObject({ description: 'stays', tags: ['u'] })
  })

  test('[A7] what was erased can be recorded again, and has nothing of before', () => {
    const m = openTestMemory()
    m.act([['record-principle', { name: 'p', description: 'old words', tags: ['old'] }]])
    m.act([['purge', { ref: 'p', reason: 'x' }]])
    expect(m.refused([['restore', { ref: 'p' }]])).toHaveLength(1)
    for (let i = 0; i < 3; i++) {
      const { results } = m.act([['record-principle', { name: 'p', confidence: i / 4 }]])
      expect(results[0]).toMatchObject({ created: true })
      expect(m.discover('(get-principles)')).toEqual([`((principle "p" :confidence ${i / 4 === 0 ? 0 : i / 4}))`])
      expect(m.act([['record-principle', { name: 'P', tags: ['again'] }]]).results[0]).toMatchObject({
        id: results[0]!.id,
        created: false,
      })
      m.act([['purge', { ref: 'p', reason: 'x' }]])
    }
    expect(m.discover('(get-principles)')).toEqual(['()'])
  })

  test('[A7] what is recorded again in the batch that erases it goes under another id, as later', () => {
    const m = openTestMemory()
    m.act([['record-principle', { name: 'p', description: 'old words' }]])
    const again = ['record-principle', { name: 'p', confidence: 1 }]
    const { results } = m.act([['purge', { ref: 'p', reason: 'x' }], again])
    expect(results[1]).toMatchObject({ id: 'principle:p~1', created: true, version: 1 })
    expect(m.act([again]).results[0]).toMatchObject({ id: 'principle:p~1', created: false })
  })

  test('[A7] a kind or a relation that was erased is not defined again: nobody else would get it', () => {
    const m = openTestMemory()
    const kind = ['define-kind', { name: 'recipe', fields: { title: 'text' }, key: ['title'] }]
    const relation = ['define-relation', { name: 'owned-by', about: 'who is responsible' }]
    for (const [define, ref] of [
      [kind, 'project-kind:recipe'],
      [relation, 'project-relation:owned-by'],
    ]) {
      m.act([define])
      expect(m.refused([['purge', { ref, reason: 'x' }], define])).toMatchObject([{ field: 'name' }])
      m.act([['purge', { ref, reason: 'x' }]])
      expect(m.refused([define])).toMatchObject([{ field: 'name', message: 'was erased, and does not come back' }])
    }
  })

  test('[A7] a deleted entity can be erased; a batch that was erased is not undone', () => {
    const m = openTestMemory()
    const { batch } = m.act([['record-principle', { name: 'p', description: SECRET }]])
    m.act([['delete-principle', { name: 'p' }]])
    m.act([['purge', { ref: 'p', reason: 'x' }]])
    expect(found(m, SECRET)).toBe(0)
    expect(m.refused([['undo', { batch, force: true }]])).toMatchObject([{ message: 'its content was erased' }])
  })

  test('[A7] purge is refused without a reason, without a target, for too little, and for what is nowhere', () => {
    const m = openTestMemory()
    m.act([['record-principle', { name: 'p' }]])
    expect(m.refused([['purge', { ref: 'p' }]])).toMatchObject([{ field: 'reason' }])
    expect(m.refused([['purge', { reason: 'x' }]])).toMatchObject([{ field: 'ref' }])
    expect(m.refused([['purge', { secret: 'abc', reason: 'x' }]])).toMatchObject([{ field: 'secret' }])
    expect(m.refused([['purge', { secret: 'nowhere at all', reason: 'x' }]])).toMatchObject([{ field: 'secret' }])
    const [p] = m.refused([['purge', { secret: SECRET, reason: `it said ${SECRET}` }]])
    expect(p).toMatchObject({ field: 'reason' })
    expect(JSON.stringify(p)).not.toContain(SECRET)
  })

  test('[A7] a purge that says the secret itself is refused', () => {
    const m = openTestMemory()
    m.act([['record-principle', { name: 'p', description: SECRET }]])
    const erase = ['purge', { secret: SECRET, reason: 'leaked' }]
    expect(m.refused({ intent: `erase ${SECRET}`, actions: [erase] })).toMatchObject([{ field: 'secret' }])
    expect(m.refused([['record-principle', { name: 'q', description: SECRET }], erase])).toMatchObject([{ index: 1 }])
  })

  test('[A7] purging among other actions of a batch leaves nothing either', () => {
    const m = openTestMemory()
    m.act([['record-principle', { name: 'p', description: SECRET }]])
    m.act([
      ['record-principle', { name: 'q' }],
      ['purge', { secret: SECRET, reason: 'leaked' }],
      ['record-principle', { name: 'p', confidence: 0.5 }],
    ])
    expect(found(m, SECRET)).toBe(0)
    expect(m.discover('(get-principle "p")')).toEqual(['(principle "p" :confidence 0.5)'])
  })
})
