import { describe, expect, test } from 'vitest'
import { openTestMemory } from '../helpers.ts'

const principle = (name: string, more: object = {}) => ['record-principle', { name, ...more }]
const decision = (name: string, more: object = {}) => ['record-decision', { name, ...more }]
const link = (from: string, to: string, type: string, more: object = {}) => [
  'link-entities',
  { from, to, type, ...more },
]

describe('[A3] recording', () => {
  test('[A3] recording again keeps what is not mentioned, and null clears', () => {
    const m = openTestMemory()
    m.act([decision('d', { description: 'one', impact: 8, topics: ['a'] })])
    m.act([decision('d', { rationale: 'why' })])
    expect(m.get('d')!.fields).toMatchObject({ description: 'one', impact: 8, rationale: 'why', topics: ['a'] })
    m.act([decision('d', { impact: null, topics: null })])
    expect(m.get('d')!.fields).not.toHaveProperty('impact')
    expect(m.get('d')!.fields).not.toHaveProperty('topics')
    expect(m.refused([decision('d', { name: null })])).toMatchObject([{ field: 'name' }])
    expect(m.refused([['record-decision', { ref: 'd', name: null }]])).toMatchObject([{ field: 'name' }])
  })

  test('[A3] only what identifies it is required; a default is filled in when reading and never stored', () => {
    const m = openTestMemory()
    m.act([principle('p', { confidence: 0.8 }), decision('d')])
    expect(m.refused([['record-principle', { confidence: 0.8 }]])).toMatchObject([
      { field: 'name', message: 'missing; it is what identifies it' },
    ])
    expect(m.refused([principle('  ')])).toHaveLength(1)
    expect(m.get('d')!.fields).not.toHaveProperty('status')
    expect(m.discover('(@ (get-decision "d") :status)')).toEqual(['"active"'])
  })

  test('[A3] sets are unioned; add, remove and set edit them; lists keep their order', () => {
    const m = openTestMemory()
    const tags = (v: unknown) => m.act([principle('p', { tags: v })])
    tags(['b', 'a'])
    tags(['c'])
    expect(m.get('p')!.fields.tags).toEqual(['a', 'b', 'c'])
    tags({ add: ['d'], remove: ['a'] })
    expect(m.get('p')!.fields.tags).toEqual(['b', 'c', 'd'])
    tags({ set: ['x', 'y'], add: ['z'], remove: ['y'] })
    expect(m.get('p')!.fields.tags).toEqual(['x', 'y', 'z'])
    const lines = (v: unknown) => m.act([principle('p', { evidence: v })])
    lines(['second', 'first'])
    lines(['first', 'third'])
    expect(m.get('p')!.fields.evidence).toEqual(['second', 'first', 'third'])
    lines({ set: ['third', 'second'] })
    expect(m.get('p')!.fields.evidence).toEqual(['third', 'second'])
    lines({ remove: ['third', 'never there'] })
    expect(m.get('p')!.fields.evidence).toEqual(['second'])
    tags([])
    expect(m.get('p')!.fields.tags).toEqual(['x', 'y', 'z'])
    tags({ set: [] })
    expect(m.get('p')!.fields.tags ?? []).toEqual([])
    for (const bad of ['x', 1, [1], [''], { plus: ['x'] }, { add: 'x' }, [['x']]])
      expect(m.refused([principle('p', { tags: bad })])).toMatchObject([{ field: 'tags' }])
  })

  test('[A3] attrs are merged deep, null deletes a key, and a list inside is one value', () => {
    const m = openTestMemory()
    const attrs = (v: unknown) => m.act([principle('p', { attrs: v })])
    attrs({ owner: { name: 'Ana', team: 'core' }, list: [1, 2], gone: true })
    attrs({ owner: { team: 'web' }, list: [3], gone: null })
    expect(m.get('p')!.fields.attrs).toEqual({ owner: { name: 'Ana', team: 'web' }, list: [3] })
    attrs({ owner: null })
    expect(m.get('p')!.fields.attrs).toEqual({ list: [3] })
    attrs({ owner: 'a text where an object was' })
    attrs({ owner: { again: 'an object' } })
    expect(m.get('p')!.fields.attrs).toEqual({ list: [3], owner: { again: 'an object' } })
    attrs(null)
    expect(m.get('p')!.fields).not.toHaveProperty('attrs')
    expect(m.refused([principle('p', { attrs: ['x'] })])).toMatchObject([{ field: 'attrs', message: 'not an object' }])
  })

  test('[A3] superseded is written by supersede alone', () => {
    const m = openTestMemory()
    expect(m.refused([decision('d', { status: 'superseded' })])).toMatchObject([{ field: 'status' }])
  })
})

describe('[A3] evidence and confidence', () => {
  test('[A3] the same evidence twice is kept once', () => {
    const m = openTestMemory()
    m.act([principle('p')])
    for (const evidence of ['seen', 'seen', 'seen again']) m.act([['add-evidence', { ref: 'p', evidence }]])
    expect(m.get('p')!.fields.evidence).toEqual(['seen', 'seen again'])
    expect(m.refused([['add-evidence', { ref: 'p' }]])).toMatchObject([{ field: 'evidence', message: 'missing' }])
    m.act([['record-fact', { fact: 'Use pnpm' }]])
    expect(m.refused([['add-evidence', { ref: 'Use pnpm', evidence: 'x' }]])).toMatchObject([
      { field: 'ref', message: 'a fact has no evidence' },
    ])
  })

  test.each([1.2, -0.1, '0.5', null, undefined, Number.NaN, true])(
    '[A3] update-confidence %s is refused',
    (confidence) => {
      const m = openTestMemory()
      m.act([principle('p')])
      expect(m.refused([['update-confidence', { ref: 'p', confidence }]])).toMatchObject([
        { field: 'confidence', accepted: 'a number from 0 to 1' },
      ])
    },
  )
})

describe('[A3] deleting, retiring, restoring', () => {
  test('[A3] deleting what is not there names near matches', () => {
    const m = openTestMemory()
    m.act([principle('plan-then-apply'), decision('plan-b')])
    const [p] = m.refused([['delete-principle', { name: 'plan-then-aply' }]])
    expect(p).toMatchObject({ field: 'name', message: 'nothing is called "plan-then-aply"' })
    expect(p!.accepted).toContain('"plan-then-apply" (principle:plan-then-apply)')
    expect(m.refused([['delete-decision', { name: 'plan-then-apply' }]])).toHaveLength(1)
    expect(m.refused([['delete-principle', {}]])).toMatchObject([{ field: 'name', message: 'missing' }])
    expect(m.refused([['delete-principle', { nme: 'x' }]])[0]).toMatchObject({ field: 'nme' })
  })

  test('[A3] a deleted entity leaves every list, search and link, and comes back whole', () => {
    const m = openTestMemory()
    m.act([principle('p', { description: 'quokka', tags: ['t'] }), principle('q'), link('p', 'q', 'supports')])
    m.act([['delete-principle', { name: 'p', reason: 'wrong' }]])
    expect(
      m.discover(
        '(get-principle "p") (length (get-principles)) (search-knowledge "quokka") (get-relationships-to "q")',
      ),
    ).toEqual([
      'nil',
      '1',
      '()',
      '()', // biome-ignore format: read across
    ])
    const [again] = m.refused([principle('p')])
    expect(again!.hint).toContain('["restore", {"ref": "principle:p"}]')
    expect(m.refused([['delete-principle', { name: 'p' }]])).toMatchObject([{ message: '"p" is deleted' }])
    m.act([['restore', { ref: 'p', reason: 'right after all' }]])
    expect(m.get('p')!.fields).toMatchObject({ description: 'quokka', tags: ['t'] })
    expect(m.memory.reader.links('to', 'principle:q')).toHaveLength(1)
    m.act([['delete-principle', { name: 'p' }]])
    m.act([principle('p', { anew: true, confidence: 1 })])
    expect(m.get('p')!.fields).not.toHaveProperty('description')
    expect(m.get('p')!.fields).not.toHaveProperty('tags')
  })

  test('[A3] a name that another kind has too does not hide what is deleted', () => {
    const m = openTestMemory()
    m.act([principle('same'), decision('same')])
    m.act([['delete-principle', { name: 'same' }]])
    expect(m.refused([['delete-principle', { name: 'same' }]])).toMatchObject([{ message: '"same" is deleted' }])
    m.act([['delete-decision', { name: 'same' }]])
    expect(m.refused([['restore', { ref: 'same', reason: 'x' }]])[0]!.accepted).toBe('principle:same or decision:same')
  })

  test('[A3] retire takes out of lists and search, says why, and restore brings back', () => {
    const m = openTestMemory()
    m.act([principle('p')])
    expect(m.refused([['retire', { ref: 'p' }]])).toMatchObject([{ field: 'reason' }])
    m.act([['retire', { ref: 'p', reason: 'no longer so' }]])
    expect(m.discover('(get-principles) (map :retired (get-principles :all #t)) (search-knowledge "p")')).toEqual([
      '()',
      '("no longer so")',
      '()',
    ])
    m.act([['restore', { ref: 'p', reason: 'still so' }]])
    expect(m.discover('(map :name (get-principles))')).toEqual(['("p")'])
    expect(m.act([['restore', { ref: 'p', reason: 'again' }]]).notes.join()).toContain('neither deleted nor retired')
  })
})

describe('[A3] links', () => {
  test('[A3] linking something that is missing is refused with near matches', () => {
    const m = openTestMemory()
    m.act([principle('plan-then-apply')])
    const problems = m.refused([link('plan-then-apply', 'plan-then-appy', 'suports')])
    expect(problems.map((p) => p.field)).toEqual(['type', 'to'])
    expect(problems[0]!.accepted).toContain('supports')
    expect(problems[1]!.accepted).toContain('plan-then-apply')
    expect(m.refused([link('plan-then-apply', 'plan-then-apply', 'supports')])).toMatchObject([{ field: 'to' }])
  })

  test('[A3] the same link twice is one link, updated', () => {
    const m = openTestMemory()
    m.act([principle('a'), principle('b'), link('a', 'b', 'supports', { description: 'first' })])
    const { results } = m.act([link('principle:a', 'b', 'Supports', { confidence: 0.5 })])
    expect(results[0]).toMatchObject({ created: false })
    expect(m.discover('(get-relationships-from "a")')).toEqual([
      '((relationship :from a :to b :type supports :description first :confidence 0.5))',
    ])
    m.act([link('a', 'b', 'extends')])
    expect(m.memory.reader.links('from', 'principle:a')).toHaveLength(2)
  })

  test('[A3] a symmetric link is the same from either end', () => {
    const m = openTestMemory()
    m.act([principle('a'), principle('b'), link('b', 'a', 'similar-to'), link('a', 'b', 'similar-to')])
    for (const end of ['a', 'b'])
      expect(m.discover(`(length (get-relationships-from "${end}")) (length (get-relationships-to "${end}"))`)).toEqual(
        ['1', '1'],
      )
    expect(m.memory.reader.links('from', 'principle:a')).toMatchObject([{ from: 'principle:a', to: 'principle:b' }])
    expect(m.memory.reader.links('from', 'principle:b')).toEqual([])
    m.act([['unlink-entities', { from: 'b', to: 'a', type: 'similar-to' }]])
    expect(m.memory.reader.links('from', 'principle:a')).toEqual([])
  })

  test('[A3] a cycle of an acyclic relation is refused with the path, within one batch too', () => {
    const m = openTestMemory()
    m.act([principle('a'), principle('b'), principle('c'), link('a', 'b', 'depends-on')])
    const [p] = m.refused([link('b', 'c', 'depends-on'), link('c', 'a', 'depends-on')])
    expect(p).toMatchObject({ index: 1, field: 'type', message: 'closes a cycle of depends-on' })
    expect(p!.hint).toBe('there is principle:a → principle:b → principle:c')
    m.act([link('b', 'c', 'supports'), link('c', 'b', 'supports')])
  })

  test('[A3] unlinking takes the link away; one that is not there is refused with those that are', () => {
    const m = openTestMemory()
    m.act([principle('a'), principle('b'), link('a', 'b', 'supports', { description: 'x' })])
    expect(m.refused([['unlink-entities', { from: 'a', to: 'b', type: 'extends' }]])[0]!.accepted).toBe(
      'principle:a supports principle:b',
    )
    m.act([['unlink-entities', { from: 'a', to: 'b', type: 'supports' }]])
    expect(m.memory.reader.links('from', 'principle:a')).toEqual([])
    m.act([link('a', 'b', 'supports')])
    expect(m.memory.reader.links('from', 'principle:a')[0]!.entity.fields).not.toHaveProperty('description')
  })
})

describe('[A3] supersession', () => {
  const statusOf = (m: ReturnType<typeof openTestMemory>, name: string) =>
    m.discover(`(@ (get-decision "${name}") :status)`)[0]

  test('[A3] supersede marks the old one and links the two; unlinking reverses it', () => {
    const m = openTestMemory()
    m.act([decision('old', { status: 'deprecated' }), decision('new')])
    m.act([['supersede', { old: 'old', new: 'new', reason: 'better' }]])
    expect(statusOf(m, 'old')).toBe('"superseded"')
    expect(m.discover('(get-relationships-to "old")')).toEqual([
      '((relationship :from new :to old :type supersedes :description better))',
    ])
    expect(m.refused([['supersede', { old: 'new', new: 'old' }]])).toMatchObject([
      { message: 'closes a cycle of supersedes' },
    ])
    m.act([['unlink-entities', { from: 'new', to: 'old', type: 'supersedes' }]])
    expect(statusOf(m, 'old')).toBe('"deprecated"')
  })

  test('[A3] while another one supersedes it, it stays superseded', () => {
    const m = openTestMemory()
    m.act([decision('old'), decision('b'), decision('c')])
    m.act([
      ['supersede', { old: 'old', new: 'b' }],
      ['supersede', { old: 'old', new: 'c' }],
    ])
    m.act([['unlink-entities', { from: 'b', to: 'old', type: 'supersedes' }]])
    expect(statusOf(m, 'old')).toBe('"superseded"')
    m.act([['unlink-entities', { from: 'c', to: 'old', type: 'supersedes' }]])
    expect(statusOf(m, 'old')).toBe('"active"')
    expect(m.get('decision:old')!.fields).not.toHaveProperty('status')
  })

  test('[A3] a supersedes link says the same as supersede; a proposed one nothing until it is confirmed', () => {
    const m = openTestMemory()
    m.act([decision('old'), decision('new')])
    const { id } = m.act([['propose', { action: link('new', 'old', 'supersedes') }]]).results[0]!
    expect(statusOf(m, 'old')).toBe('"active"')
    m.act([['confirm', { ref: id }]])
    expect(statusOf(m, 'old')).toBe('"superseded"')
  })

  test('[A3] what has no status is superseded by the link alone', () => {
    const m = openTestMemory()
    m.act([
      ['record-fact', { fact: 'Use npm' }],
      ['record-fact', { fact: 'Use pnpm' }],
    ])
    m.act([['supersede', { old: 'Use npm', new: 'Use pnpm' }]])
    expect(m.get('Use npm')!.fields).not.toHaveProperty('status')
    expect(m.memory.reader.links('to', 'fact:use-npm')).toHaveLength(1)
  })
})

describe('[A3] rename', () => {
  test('[A3] rename keeps the id, the history and the links, and the old name still finds it', () => {
    const m = openTestMemory()
    m.act([principle('old', { description: 'x' }), principle('other'), link('other', 'old', 'supports')])
    const { results } = m.act([['rename', { ref: 'old', name: 'new' }]])
    expect(results[0]).toMatchObject({ id: 'principle:old', name: 'new', was: 'old' })
    expect(m.get('old')!.name).toBe('new')
    expect(m.discover('(get-relationships-from "other") (search-knowledge "new")')).toEqual([
      '((relationship :from other :to new :type supports))',
      '((principle "new" "x"))',
    ])
    expect(m.act([principle('old', { confidence: 1 })]).notes).toEqual(['"old" is now called "new"'])
    expect(m.get('new')!.fields).toMatchObject({ name: 'new', confidence: 1, description: 'x' })
    expect(m.memory.history('principle:old').filter((e) => e.event.field === 'name')).toHaveLength(2)
  })

  test('[A3] a name that is taken is refused, in the store and in the plan', () => {
    const m = openTestMemory()
    m.act([principle('a'), principle('b'), decision('c')])
    for (const name of ['b', 'B ', ' b'])
      expect(m.refused([['rename', { ref: 'a', name }]])).toMatchObject([
        { field: 'name', message: 'principle:b is called that already' },
      ])
    expect(
      m.refused([
        ['rename', { ref: 'a', name: 'x' }],
        ['rename', { ref: 'b', name: 'x' }],
      ]),
    ).toMatchObject([{ index: 1 }])
    m.act([['rename', { ref: 'a', name: 'c' }]])
    m.act([['rename', { ref: 'b', name: 'a' }], principle('a', { description: 'b, called a' })])
    expect(m.get('principle:b')!.fields).toMatchObject({ name: 'a', description: 'b, called a' })
    expect(m.get('principle:a')!.fields).toEqual(expect.not.objectContaining({ description: 'b, called a' }))
    expect(m.refused([['rename', { ref: 'principle:c', name: ' ' }]])).toMatchObject([{ field: 'name' }])
  })

  test('[A3] an edit by reference that changes the name is a rename: taken names are refused', () => {
    const m = openTestMemory()
    m.act([principle('a'), principle('b'), ['record-fact', { fact: 'one' }], ['record-fact', { fact: 'two' }]])
    expect(m.refused([['record-principle', { ref: 'a', name: 'b' }]])).toMatchObject([{ field: 'name' }])
    expect(m.refused([['record-fact', { ref: 'fact:one', fact: 'Two.' }]])).toMatchObject([{ field: 'fact' }])
    m.act([
      ['record-principle', { ref: 'a', name: 'alpha' }],
      ['record-fact', { ref: 'fact:one', fact: 'first' }],
    ])
    expect(m.get('principle:a')!.name).toBe('alpha')
    expect(m.act([['record-fact', { fact: 'First' }]]).results[0]!.id).toBe('fact:one')
    expect(m.act([['record-fact', { fact: 'one', tags: ['x'] }]]).notes).toEqual(['"one" is now called "first"'])
    expect(m.get('fact:one')!.fields.fact).toBe('first')
  })
})

describe('[A3] curate, answer', () => {
  test('[A3] curate makes a developmental decision a curated one', () => {
    const m = openTestMemory()
    m.act([decision('d'), principle('p')])
    m.act([['curate', { ref: 'd' }]])
    expect(m.get('d')!.fields.visibility).toBe('curated')
    expect(m.refused([['curate', { ref: 'p' }]])).toMatchObject([{ message: 'a principle has no visibility' }])
  })

  test('[A3] answer-question answers a question, and nothing else', () => {
    const m = openTestMemory()
    m.act([['record-question', { question: 'Does it scale?' }], principle('p')])
    m.act([['answer-question', { ref: 'does it scale?', answer: 'Yes' }]])
    expect(m.get('question:does it scale?')!.fields.answer).toBe('Yes')
    expect(m.refused([['answer-question', { ref: 'p', answer: 'Yes' }]])).toMatchObject([
      { message: '"p" is recorded as principle, not as question' },
    ])
    expect(m.refused([['answer-question', { ref: 'Does it scale?', answer: ' ' }]])).toMatchObject([
      { field: 'answer' },
    ])
  })
})

describe('[A3] proposals', () => {
  const fact = ['record-fact', { fact: 'Use pnpm for installs', category: 'tool' }]

  test('[A3] a proposed entity is there, marked, until it is confirmed', () => {
    const m = openTestMemory()
    const { results } = m.act([['propose', { action: fact, evidence: 'the user said so' }]])
    expect(results[0]).toMatchObject({ verb: 'propose', id: 'fact:use-pnpm-for-installs', standing: 'proposed' })
    expect(m.discover('(get-facts) (get-proposals)')).toEqual([
      '((fact "Use pnpm for installs" :category tool :standing proposed :attrs {:evidence "the user said so"}))',
      '((fact "Use pnpm for installs" :category tool :standing proposed :attrs {:evidence "the user said so"}))',
    ])
    m.act([['confirm', { ref: 'Use pnpm for installs' }]])
    expect(m.discover('(get-proposals) (:standing (get-fact "Use pnpm for installs"))')).toEqual(['()', '"confirmed"'])
    expect(m.act([['confirm', { ref: 'Use pnpm for installs' }]]).notes.join()).toContain('stands as confirmed already')
  })

  test('[A3] what was rejected leaves the lists, and is not proposed again', () => {
    const m = openTestMemory()
    const note = ['record-correction', { wrongBelief: 'it is x', rightBelief: 'it is y' }]
    const there = m.act([
      principle('a'),
      principle('b'),
      ['propose', { action: fact }],
      ['propose', { action: note }],
      ['propose', { action: link('a', 'b', 'supports') }],
    ])
    const ids = there.results.slice(2).map((r) => r.id)
    m.act(ids.map((ref) => ['reject', { ref, reason: 'we use npm' }]))
    expect(m.discover('(get-facts) (get-corrections) (get-proposals) (get-relationships-from "a")')).toEqual([
      '()',
      '()',
      '()',
      '()',
    ])
    expect(m.memory.asOf(m.clock.now + 1000).links('from', 'principle:a')).toEqual([])
    expect(m.discover('(@ (@ (get-fact "Use pnpm for installs") :attrs) :rejected-because)')).toEqual(['"we use npm"'])
    for (const action of [fact, ['record-fact', { fact: 'use pnpm for installs.' }], note, link('a', 'b', 'supports')])
      expect(m.refused([['propose', { action }]])).toMatchObject([
        { message: 'the same was proposed and rejected before' },
      ])
    expect(m.act([fact]).notes.join()).toContain('was rejected')
    m.act([['confirm', { ref: ids[0] }]])
    expect(m.discover('(length (get-facts))')).toEqual(['1'])
    expect(m.refused([['reject', { ref: 'a' }]])).toMatchObject([{ message: 'is no proposal' }])
  })

  test('[A3] a proposed edit waits until it is confirmed; one that cannot be carried out is refused at once', () => {
    const m = openTestMemory()
    m.act([decision('d', { impact: 3 })])
    const { results } = m.act([['propose', { action: decision('d', { impact: 9 }), evidence: 'it grew' }]])
    expect(m.get('d')!.fields.impact).toBe(3)
    expect(m.discover('(length (get-decisions)) (length (get-proposals))')).toEqual(['1', '1'])
    m.act([['confirm', { ref: results[0]!.id }]])
    expect(m.get('d')!.fields.impact).toBe(9)
    m.act([['confirm', { ref: results[0]!.id }]])
    const before = m.rows()
    for (const action of [
      decision('d', { impact: 99 }),
      ['retire', { ref: 'nobody', reason: 'x' }],
      ['nope', {}],
      ['propose', {}],
      ['purge', {}],
      'text',
      [],
      ['retire', []],
      { a: 1 },
    ])
      expect(m.refused([['propose', { action }]])).not.toEqual([])
    expect(m.rows()).toBe(before)
    const rejected = m.act([['propose', { action: ['retire', { ref: 'd', reason: 'x' }] }]]).results[0]!
    m.act([['reject', { ref: rejected.id }]])
    expect(m.refused([['propose', { action: ['retire', { reason: 'x', ref: 'd' }] }]])).toHaveLength(1)
    expect(m.get('d')!.fields).not.toHaveProperty('retired')
  })

  test('[A3] a proposal that no longer fits when it is confirmed is refused, and says which part of it', () => {
    const m = openTestMemory()
    m.act([decision('d')])
    const { id } = m.act([['propose', { action: ['curate', { ref: 'd' }] }]]).results[0]!
    m.act([['delete-decision', { name: 'd' }]])
    expect(m.refused([['confirm', { ref: id }]])).toMatchObject([{ field: 'action.ref', message: '"d" is deleted' }])
  })
})

describe('[A9] argument names', () => {
  test('[A9] every verb takes its arguments by the names of the rule, and names the nearest for others', () => {
    const m = openTestMemory()
    m.act([
      principle('a'), principle('b'), decision('old'), decision('new'), ['record-question', { question: 'q' }],
      ['update-confidence', { ref: 'a', confidence: 0.5 }],
      ['add-evidence', { ref: 'a', evidence: 'e' }],
      ['supersede', { old: 'old', new: 'new', reason: 'r' }],
      ['answer-question', { ref: 'q', answer: 'x' }],
      ['retire', { ref: 'b', reason: 'r' }],
      ['restore', { ref: 'b', reason: 'r' }],
      ['link-entities', { from: 'a', to: 'b', type: 'supports', description: 'd', confidence: 1 }],
      ['unlink-entities', { from: 'a', to: 'b', type: 'supports', description: 'd', confidence: 1 }],
    ]) // biome-ignore format: one call per line
    m.act([['purge', { ref: 'b', reason: 'r' }]])
    const [p] = m.refused([['update-confidence', { ref: 'a', confidance: 0.5, confidence: 0.5 }]])
    expect(p).toMatchObject({ field: 'confidance', received: 0.5, accepted: 'did you mean confidence?' })
  })

  const paper = {
    projectId: 'foundation',
    actions: [
      ['record-principle', { name: 'contagious-materialization', description: 'Syncing spreads from root automatically', confidence: 0.95, locations: ['plexus/README.md:28'], evidence: ['tested-in-production', 'documented-extensively'], tags: ['plexus', 'sync'] }],
      ['link-entities', { from: 'contagious-materialization', to: 'world-state-tree', type: 'implements', description: 'Root materialization triggers child sync' }],
      ['record-pattern', { name: 'plexus-model-with-decorators', type: 'plexus-model', description: 'Class extends PlexusModel with @syncing decorators', location: 'plexus/src/PlexusModel.ts:15', confidence: 0.9, tags: ['plexus', 'pattern'] }],
      ['record-file-understanding', { path: 'plexus/src/PlexusModel.ts', hash: 'abc123...', summary: 'Base class for all Plexus entities', concepts: ['decorators', 'CRDT', 'reactivity'], importantSymbols: ['PlexusModel', '@syncing'], relatedFiles: ['plexus/src/Plexus.ts'] }],
      ['record-decision', { name: 'use-stage3-decorators', description: 'Use Stage 3 TC39 decorators for Plexus tracking', rationale: 'Native browser support, type-safe, automatic tracking', status: 'active', impact: 9, locations: ['plexus/README.md:45'] }],
    ],
  } // biome-ignore format: as the paper has it

  test('[A9] the batch of the concept paper runs verbatim in the project that it names, and in no other', () => {
    const m = openTestMemory({ name: 'foundation' })
    m.act([['record-concept', { name: 'world-state-trees-elsewhere' }]])
    const [p] = m.refused(paper)
    expect(p).toMatchObject({ index: 1, field: 'to', message: 'nothing is called "world-state-tree"' })
    expect(p!.accepted).toContain('world-state-trees-elsewhere')
    m.act([['record-concept', { name: 'world-state-tree' }]])
    const done = m.act(paper)
    expect(done.results.map((r) => r.id)).toMatchObject([
      'principle:contagious-materialization', /^relationship:/, 'pattern:plexus-model-with-decorators', /^file:/, 'decision:use-stage3-decorators',
    ].map((id) => (typeof id === 'string' ? id : expect.stringMatching(id)))) // biome-ignore format: in order
    expect(done.notes).toEqual([])
    expect(openTestMemory({ name: 'called-otherwise' }).refused(paper)).toMatchObject([{ index: -1 }])
  })
})
