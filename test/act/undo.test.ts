import { describe, expect, test } from 'vitest'
import { nameOf } from '../../src/engine/read/called.ts'
import { shortBatch } from '../../src/engine/store/keys.ts'
import type { Verb } from '../../src/engine/write/verb.ts'
import { text } from '../../src/model/field.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'

const principle = (name: string, more: object = {}) => ['record-principle', { name, ...more }]
const undo = (m: TestMemory, args: object = {}) => m.act([['undo', args]])

/** What readers see, without when, by whom and in which version. */
function seen(m: TestMemory): unknown {
  const { reader } = m.memory
  return reader
    .registry()
    .kinds()
    .flatMap((k) => reader.list(k.name, { all: true }))
    .map((e) => {
      const { provenance: _provenance, ...fields } = e.fields
      return { id: e.id, name: e.name, fields, links: reader.links('from', e.id).map((l) => l.id) }
    })
}

const EVERYTHING = {
  description: 'a text',
  impact: 7,
  status: 'deprecated',
  tags: ['a', 'b'],
  evidence: ['one', 'two', 'three'],
  validFrom: '2026-01-01',
  attrs: { a: { b: 1, c: [1, 2] }, d: true },
}

describe('[A10] undo', () => {
  test.each([
    ['nothing was there', {}, EVERYTHING],
    [
      'every field is written over',
      EVERYTHING,
      {
        description: 'other',
        impact: 1,
        status: 'active',
        tags: ['c'],
        evidence: { set: ['x', 'one'] },
        validFrom: '2027-05-05',
        attrs: { a: { b: 2 }, d: null, e: 'new' },
      },
    ],
    [
      'every field is cleared',
      EVERYTHING,
      { description: null, impact: null, status: null, tags: null, evidence: null, validFrom: null, attrs: null },
    ],
    [
      'items are removed and added',
      EVERYTHING,
      { tags: { remove: ['a'], add: ['z'] }, evidence: { remove: ['two'], add: ['four'] } },
    ],
    ['what is there is said again', EVERYTHING, EVERYTHING],
    ['an object takes the place of a value', EVERYTHING, { attrs: { d: { deep: 1 }, a: 'flat' } }],
  ])('[A10] restores every type of field: %s', (_what, before, after) => {
    const m = openTestMemory()
    m.act([['record-decision', { name: 'd', ...before }]])
    const was = seen(m)
    m.clock.days(1)
    const { batch } = m.act([['record-decision', { name: 'd', rationale: 'changed', ...after }]])
    const changed = seen(m)
    m.clock.days(1)
    const cursor = m.memory.cursor
    const undone = undo(m, { batch })
    expect(seen(m)).toEqual(was)
    expect(m.memory.cursor).toBe(cursor + 1)
    m.clock.days(1)
    undo(m, { batch: undone.batch })
    expect(seen(m)).toEqual(changed)
    m.clock.days(1)
    undo(m)
    expect(seen(m)).toEqual(was)
  })

  test.each([
    ['a record', [principle('new')]],
    ['a delete', [['delete-principle', { name: 'a', reason: 'x' }]]],
    ['a link', [['link-entities', { from: 'b', to: 'c', type: 'supports' }]]],
    ['a changed link', [['link-entities', { from: 'a', to: 'b', type: 'supports', description: 'y' }]]],
    ['an unlink', [['unlink-entities', { from: 'a', to: 'b', type: 'supports' }]]],
    ['a supersession', [['supersede', { old: 'd', new: 'e' }]]],
    ['a rename', [['rename', { ref: 'a', name: 'z' }]]],
    ['a retirement', [['retire', { ref: 'a', reason: 'x' }]]],
    ['a confidence', [['update-confidence', { ref: 'a', confidence: 0.1 }]]],
    ['evidence', [['add-evidence', { ref: 'a', evidence: 'e' }]]],
    ['a recording anew', [['delete-principle', { name: 'a' }], principle('a', { anew: true, confidence: 0.9 })]],
    [
      'a kind',
      [
        ['define-kind', { name: 'endpoint', fields: { name: 'text' } }],
        ['record-endpoint', { name: '/x' }],
      ],
    ],
    [
      'a relation',
      [
        ['define-relation', { name: 'owned-by' }],
        ['link-entities', { from: 'a', to: 'c', type: 'owned-by' }],
      ],
    ],
    ['a proposal', [['propose', { action: principle('p') }]]],
    [
      'many at once',
      [
        principle('a', { tags: ['n'] }),
        principle('n'),
        ['link-entities', { from: 'n', to: 'a', type: 'extends' }],
        ['delete-principle', { name: 'c' }],
      ],
    ],
  ])('[A10] takes back %s, and redo brings it again', (_what, batch) => {
    const m = openTestMemory()
    m.act([
      principle('a', { description: 'one', tags: ['t'] }), principle('b'), principle('c'), ['record-decision', { name: 'd' }], ['record-decision', { name: 'e' }],
      ['link-entities', { from: 'a', to: 'b', type: 'supports', description: 'x' }],
    ]) // biome-ignore format: short
    const was = seen(m)
    m.act(batch)
    const changed = seen(m)
    expect(changed).not.toEqual(was)
    undo(m)
    expect(seen(m)).toEqual(was)
    m.act([['redo', {}]])
    expect(seen(m)).toEqual(changed)
  })

  test('[A10] undoing a confirmed proposal makes it wait again', () => {
    const m = openTestMemory()
    m.act([['record-decision', { name: 'd', impact: 1 }]])
    const { id } = m.act([['propose', { action: ['record-decision', { name: 'd', impact: 9 }] }]]).results[0]!
    const was = seen(m)
    m.act([['confirm', { ref: id }]])
    undo(m)
    expect(seen(m)).toEqual(was)
    m.act([['confirm', { ref: id }]])
    expect(m.get('d')!.fields.impact).toBe(9)
  })

  test('[A10] refuses where later batches depend on it, naming them, unless forced', () => {
    const m = openTestMemory()
    const first = m.act([principle('a', { confidence: 0.1 }), principle('b')])
    const second = m.act([principle('a', { confidence: 0.2 })])
    const third = m.act([['link-entities', { from: 'b', to: 'a', type: 'supports' }]])
    const [p] = m.refused([['undo', { batch: first.batch }]])
    expect(p).toMatchObject({
      field: 'batch',
      message: `later batches build on it: ${shortBatch(second.batch!)} (changed "a" (confidence)), ${shortBatch(third.batch!)} (linked "b" supports "a")`,
    })
    undo(m, { batch: first.batch, force: true })
    expect(m.discover('(get-principles)')).toEqual(['()'])
    expect(m.refused([['undo', { batch: first.batch, force: 'yes' }]])).toMatchObject([{ field: 'force' }])
  })

  test('[A10] an earlier batch is taken back where the later ones touched other fields', () => {
    const m = openTestMemory()
    m.act([principle('a', { description: 'x' })])
    const second = m.act([principle('a', { confidence: 0.2 })])
    m.act([principle('a', { tags: ['t'] })])
    undo(m, { batch: second.batch })
    expect(m.get('a')!.fields).toMatchObject({ description: 'x', tags: ['t'] })
    expect(m.get('a')!.fields).not.toHaveProperty('confidence')
    expect(m.act([['undo', { batch: second.batch }]]).notes.join()).toContain('nothing changed')
  })

  test('[A10] takes back everything a session wrote, and nothing of others', () => {
    const m = openTestMemory()
    m.act([principle('a', { confidence: 0.1 })], { session: 'one' })
    m.act([principle('b')], { session: 'two' })
    m.act([principle('a', { confidence: 0.5 }), principle('c')], { session: 'two' })
    m.act([principle('b', { tags: ['x'] })], { session: 'two' })
    const { results } = m.act([['undo', { allOf: 'two' }]], { session: 'three' })
    expect(results[0]).toMatchObject({ batches: 3 })
    expect(m.discover('(map :name (get-principles)) (map :confidence (get-principles))')).toEqual(['("a")', '(0.1)'])
    expect(m.refused([['undo', { allOf: 'nobody' }]])).toMatchObject([{ field: 'allOf' }])
    m.act([['redo', {}]], { session: 'three' })
    expect(m.discover('(sort (map :name (get-principles)) string<?)')).toEqual(['("a" "b" "c")'])
  })

  test('[A10] of all that a session wrote, what was changed or linked since is left, and named', () => {
    const m = openTestMemory()
    const names = () => m.discover('(sort (map :name (get-principles)) string<?)')
    m.act([principle('a'), principle('b'), principle('c')], { session: 'two' })
    m.act([principle('d')], { session: 'two' })
    m.act([['retire', { ref: 'a', reason: 'wrong' }], principle('mine')])
    const last = m.act([['link-entities', { from: 'mine', to: 'b', type: 'supports' }]])
    const done = m.act([['undo', { allOf: 'two' }]])
    expect(names()).toEqual(['("b" "mine")'])
    expect(done.notes).toEqual([
      'principle:a, principle:b: changed or linked since, and left as they are; with force they go as well',
    ])
    m.act([['redo', {}]])
    expect(names()).toEqual(['("b" "c" "d" "mine")'])
    m.act([['undo', { batch: last.batch }]])
    m.act([['undo', { allOf: 'two' }]])
    expect(names()).toEqual(['("mine")'])
    m.act([['undo', { allOf: 'two', force: true }]])
    expect([m.get('a')!.live, m.get('b')!.live]).toEqual([false, false])
  })

  test('[A10] [T5] an agent takes back all of its own session and its subagents; of another one it proposes that', () => {
    const m = openTestMemory()
    const names = () => m.discover('(sort (map :name (get-principles)) string<?)')[0]
    m.library.sessions.start({ id: 'one/sub', parent: 'one' })
    for (const session of ['one', 'one/sub', 'two', "two'; x"]) m.act([principle(session)], { session, agent: 'codex' })
    const undoAll = (allOf: string) => [['undo', { allOf }]]
    for (const session of ['one', 'two/sub', ''])
      expect(m.act(undoAll('two'), { agent: 'codex', session }).notes.join()).toContain('once a person says yes')
    expect(names()).toBe(`("one" "one/sub" "two" "two'; x")`)
    m.act(undoAll('one'), { agent: 'codex', session: 'one' })
    m.act(undoAll('one/sub'), { agent: 'codex', session: 'one' })
    expect(names()).toBe(`("two" "two'; x")`)
    m.act(undoAll('two'))
    expect(names()).toBe(`("two'; x")`)
  })

  test('[A10] [T1] the last batch is that of the acting session: what others wrote since stays', () => {
    const m = openTestMemory()
    const names = () => m.discover('(sort (map :name (get-principles)) string<?)')[0]
    m.act([principle('mine')], { session: 'one' })
    m.act([principle('theirs')], { session: 'two' })
    m.memory.act([principle('by-hand')], { session: '' })
    m.act([['undo', {}]], { session: 'one' })
    expect(names()).toBe('("by-hand" "theirs")')
    expect(m.refused([['undo', { session: 'two' }]])[0]).toMatchObject({ field: 'session' })
    expect(m.refused([['undo', {}]], { session: 'three' })).toMatchObject([{ message: 'there is nothing to undo' }])
    expect(m.refused([['undo', { batch: 'last', allOf: 'two' }]])).toMatchObject([{ field: 'allOf' }])
    expect(names()).toBe('("by-hand" "theirs")')
  })

  test('[A10] what a redo brought back is what the next undo takes back, whoever wrote it and however long ago', () => {
    const m = openTestMemory()
    const person = { session: '', by: 'person' } as const
    const names = () => m.discover('(sort (map :name (get-principles)) string<?)')[0]
    const { batch } = m.act([principle('theirs')], { session: 's1', agent: 'codex' })
    m.act([principle('mine')], person)
    for (let n = 0; n < 3; n++) {
      m.act([['undo', n === 0 ? { batch } : {}]], person)
      expect(names()).toBe('("mine")')
      expect(m.act([['redo', {}]], person).results[0]!.undone).toBe('redid: recorded principle "theirs"')
      expect(names()).toBe('("mine" "theirs")')
    }
    m.act([['undo', {}]], person)
    m.act([['undo', {}]], person)
    expect(names()).toBe('()')
    m.act([['redo', {}]], person)
    m.act([['redo', {}]], person)
    expect(names()).toBe('("mine" "theirs")')
    m.act([['undo', { allOf: 's1' }]], person)
    m.act([['redo', {}]], person)
    m.act([['link-entities', { from: 'mine', to: 'theirs', type: 'supports' }]], { session: 's2' })
    expect(m.refused([['undo', {}]], person)[0]!.message).toContain('later batches build on it')
  })

  test('[A10] of all that a session wrote, only what this undo took back is said, and what its redo brought back', () => {
    const m = openTestMemory()
    const z1 = { session: 'z1' }
    for (const confidence of [0.1, 0.2]) m.act([principle('z', { confidence })], z1)
    const { batch } = m.act([principle('z', { description: 'x' })], z1)
    m.act([['undo', { batch }]])
    m.act([principle('kept')], z1)
    m.act([principle('kept', { confidence: 0.3 })])
    m.act([principle('zz')], z1)
    m.act([['undo', {}]], z1)
    const says = (verb: string, args: object, text: string) => {
      expect(m.act([[verb, args]], z1).results[0]!.undone).toBe(text)
      expect(m.memory.newsSince(m.memory.cursor - 1)[0]!.summary).toBe(text)
    }
    const what = 'changed "z" (confidence); recorded principle "z"'
    says('undo', { allOf: 'z1' }, `took back: ${what}`)
    says('redo', {}, `redid: ${what}`)
    says('undo', {}, `took back: ${what}`)
    expect(m.get('kept')!.live).toBe(true)
    m.act([['undo', { allOf: 'z1', force: true }]], z1)
    expect(m.get('kept')!.live).toBe(false)
    expect(m.act([['undo', { allOf: 'z1' }]], z1).batch).toBe(null)
  })

  test('[A10] [A7] what was erased, or undone by others, is passed over by the plain undo, which says so', () => {
    const m = openTestMemory()
    m.act([principle('a')])
    const { batch } = m.act([principle('x')])
    const erasure = m.act([['purge', { ref: 'x', reason: 'x' }]]).batch!
    const [problem] = m.refused([['undo', { batch }]])
    expect(problem).toMatchObject({ message: 'its content was erased' })
    expect(problem!.hint).toBe('what was erased does not come back')
    const stays = [erasure, batch!].map((b) => `${shortBatch(b)} stays: what was erased does not come back`)
    expect(undo(m).notes).toEqual(stays)
    expect(m.get('a')!.live).toBe(false)
    expect(m.refused([['undo', {}]])[0]!.hint).toContain(stays.join('; '))
    m.act([['redo', {}]])
    expect(undo(m, { allOf: 'test' }).notes).toEqual(stays)
    m.act([principle('b')])
    const last = m.act([principle('c')]).batch!
    m.act([['undo', { batch: last }]], { session: 'other' })
    expect(undo(m).results[0]!.undone).toBe('took back: recorded principle "b"')
  })

  test('[A10] the last batch is none that init wrote; that one is taken back by its id', () => {
    const m = openTestMemory()
    m.act([principle('a')])
    const { batch } = m.act([principle('b')], { agent: 'init', by: 'person' })
    undo(m)
    expect([m.get('a')!.live, m.get('b')!.live]).toEqual([false, true])
    undo(m, { batch })
    expect(m.get('b')!.live).toBe(false)
    const fresh = openTestMemory()
    fresh.act([principle('b')], { agent: 'init', by: 'person' })
    expect(fresh.refused([['undo', {}]])).toMatchObject([{ message: 'there is nothing to undo' }])
  })

  test.each(['a1', ''])('[A10] a confirmed undo of session "%s" is the last thing that the person did', (session) => {
    const m = openTestMemory()
    const person = { session: '', by: 'person' } as const
    const live = () => ['use-pdfkit', 'alpha'].map((name) => m.get(`decision:${name}`)!.live)
    const undone = (verb: string) => m.act([[verb, {}]], person).results[0]!.undone
    const told = () => m.memory.newsSince(m.memory.cursor - 1)[0]!.summary
    m.act([['record-decision', { name: 'use-pdfkit' }]], person)
    m.act([['delete-decision', { name: 'use-pdfkit', reason: 'typo' }]], person)
    const { batch } = m.act([['record-decision', { name: 'alpha' }]], session ? { session, agent: 'codex' } : person)
    const { id } = m.act([['undo', { batch }]], { session: 'a2', agent: 'codex' }).results[0]!
    m.act([['confirm', { ref: id }]], person)
    expect(live()).toEqual([false, false])
    expect(m.refused([['redo', {}]], person)).toMatchObject([{ message: 'there is nothing to redo' }])
    const yes = 'deleted decision "alpha"; confirmed the proposal to take back: recorded decision "alpha"'
    expect(undone('undo')).toBe(`took back: ${yes}`)
    expect(told()).toBe(`took back: ${yes}`)
    expect(live()).toEqual([false, true])
    expect(m.get(id)!.fields.standing).toBe('proposed')
    expect(undone('redo')).toBe(`redid: ${yes}`)
    expect(told()).toBe(`redid: ${yes}`)
    expect([live(), m.get(id)!.fields.standing]).toEqual([[false, false], 'confirmed'])
    expect(undone('undo')).toBe(`took back: ${yes}`)
    m.act([['undo', {}]], person)
    expect(live()).toEqual(session ? [true, true] : [false, false])
  })

  test('[A10] [T5] an undo of an agent that waits for a yes is not taken back by the next plain one', () => {
    const m = openTestMemory()
    const codex = { session: 's', agent: 'codex' }
    for (const name of ['a', 'b']) m.act([principle(name)], { session: 's', by: 'person' })
    const { id, created } = m.act([['undo', {}]], codex).results[0]!
    expect(created).toBe(true)
    for (let n = 0; n < 2; n++) {
      const again = m.act([['undo', {}]], codex)
      expect(again.results[0]).toMatchObject({ id, created: false, name: 'take back: recorded principle "b"' })
      expect(again.batch).toBe(null)
    }
    expect(m.get(id)!.fields.standing).toBe('proposed')
    m.act([['undo', {}]], { session: 's', by: 'person' })
    expect([m.get('a')!.live, m.get('b')!.live]).toEqual([true, false])
  })

  test('[A10] [T5] a proposed undo of a whole session is that of what the session had written', () => {
    const m = openTestMemory()
    const person = { session: '', by: 'person' } as const
    const a1 = { session: 'a1', agent: 'codex' }
    const names = () => m.discover('(sort (map :name (get-principles)) string<?)')[0]
    m.act([principle('one')], a1)
    const { id } = m.act([['undo', { allOf: 'a1' }]], { session: 'a2', agent: 'codex' }).results[0]!
    m.clock.now += 1000
    for (const name of ['two', 'three']) m.act([principle(name)], a1)
    expect(nameOf(m.get(id)!, m.memory)).toBe('take back: recorded principle "one"')
    m.act([['confirm', { ref: id }]], person)
    expect(names()).toBe('("three" "two")')
    m.act([['undo', {}]], person)
    expect(names()).toBe('("one" "three" "two")')
    const several = m.memory.newsSince(0).filter((n) => n.author.session === 'a1')
    const put = m.act([['undo', { batches: several.map((n) => n.batch) }]], { session: 'a2', agent: 'codex' })
    m.act([['confirm', { ref: put.results[0]!.id }]], person)
    expect(names()).toBe('()')
  })

  test('[A10] a proposal of before to undo a whole session ends at the moment of it', () => {
    const m = openTestMemory()
    const before: Verb = {
      ...{ name: 'propose-as-before', about: '', args: { action: text('the action') }, example: {} },
      plan(p, { action }: { action: string }) {
        p.create('proposal:before')
        p.apply('proposal:before', [
          { field: 'action', op: 'set', value: action },
          { field: 'standing', op: 'set', value: 'proposed' },
        ])
        return { id: 'proposal:before' }
      },
    }
    ;(m.memory.verbs as Map<string, Verb>).set(before.name, before)
    m.act([principle('one')], { session: 'a1' })
    m.clock.now += 1000
    const action = '["undo",{"allOf":"a1"}]'
    const { id } = m.act([['propose-as-before', { action }]]).results[0]!
    m.clock.now += 1000
    m.act([principle('two')], { session: 'a1' })
    m.act([['confirm', { ref: id }]], { session: '', by: 'person' })
    expect(m.discover('(map :name (get-principles))')).toEqual(['("two")'])
  })

  test.each([
    ['fact', { fact: 'Never log names', category: 'constraint' }],
    ['decision', { name: 'use-pdfkit', rationale: 'small', tags: ['a', 'b'], attrs: { x: { y: 1 } } }],
    ['learning', { title: 'scales drift', body: 'Scales drift when it is cold' }],
  ])('[A10] restore brings back what was taken back, whole: a %s', (kind, fields) => {
    const m = openTestMemory()
    const person = { session: '', by: 'person' } as const
    const { id } = m.act([[`record-${kind}`, fields]], person).results[0]!
    const was = seen(m)
    for (const again of [{}, { ref: id }, {}]) {
      m.act([['undo', {}]], person)
      expect(m.get(id)!.live).toBe(false)
      m.act([['restore', { ref: id, ...again }]], person)
      expect(seen(m)).toEqual(was)
      m.act([['undo', {}]], person)
      m.act([['redo', {}]], person)
      expect(seen(m)).toEqual(was)
    }
    m.act([[`delete-${kind}`, { ref: id }]], person)
    m.act([['restore', { ref: id }]], person)
    expect(seen(m)).toEqual(was)
  })

  test('[A10] [M6] an agent that restores a rule that a person took back proposes that', () => {
    const m = openTestMemory()
    const person = { session: '', by: 'person' } as const
    const { id } = m.act([['record-fact', { fact: 'Never log names' }]], person).results[0]!
    m.act([['undo', {}]], person)
    const done = m.act([['restore', { ref: id }]], { agent: 'codex' })
    expect(done.results[0]!.standing).toBe('proposed')
    expect(m.get(id)!.live).toBe(false)
  })

  test('[A10] what was taken back can be recorded again', () => {
    const m = openTestMemory()
    m.act([principle('a', { description: 'x' })])
    undo(m)
    m.act([principle('a', { confidence: 1 })])
    expect(m.discover('(get-principles)')).toEqual(['((principle "a" :confidence 1))'])
  })

  test('[A10] a batch that is not there is refused with those that are', () => {
    const m = openTestMemory()
    expect(m.refused([['undo', {}]])).toMatchObject([{ field: 'batch', message: 'there is nothing to undo' }])
    const { batch } = m.act([principle('a')])
    expect(m.refused([['undo', { batch: 'zzz:9' }]])[0]!.accepted).toContain(batch)
    expect(m.refused([['undo', { batch: 7 }]])).toMatchObject([{ field: 'batch', message: 'not text' }])
  })

  test('[A10] the summary of an unlink names both ends, also in what is sent as JSON', () => {
    const m = openTestMemory()
    m.act([principle('a'), principle('b')])
    m.act([['link-entities', { from: 'a', to: 'b', type: 'supports' }]])
    m.act([['unlink-entities', { from: 'a', to: 'b', type: 'supports' }]])
    const news = m.memory.newsSince(0).at(-1)!
    for (const told of [news, m.memory.lastBatch!, JSON.parse(JSON.stringify(news))])
      expect(told.summary).toBe('unlinked "a" supports "b"')
  })

  test('[A10] undo in the middle of a batch sees what was there before it', () => {
    const m = openTestMemory()
    m.act([principle('a', { confidence: 0.1 })])
    m.act([principle('a', { confidence: 0.2 })])
    m.act([['undo', {}], principle('a', { tags: ['x'] })])
    expect(m.get('a')!.fields).toMatchObject({ confidence: 0.1, tags: ['x'] })
  })

  test('[A10] a delete is redone also of what was undone and redone before it', () => {
    const m = openTestMemory()
    m.act([principle('a')])
    m.act([['undo', {}]])
    m.act([['redo', {}]])
    m.act([['delete-principle', { ref: 'a' }]])
    m.act([['undo', {}]])
    expect(m.get('a')!.live).toBe(true)
    m.act([['redo', {}]])
    expect(m.get('a')!.live).toBe(false)
  })

  test('[A10] a link that was undone and redone keeps no delete before it from being redone', () => {
    const m = openTestMemory()
    m.act([principle('a'), principle('b')])
    m.act([['link-entities', { from: 'a', to: 'b', type: 'supports' }]])
    m.act([['delete-principle', { ref: 'b' }]])
    for (const verb of ['undo', 'undo', 'redo', 'redo']) m.act([[verb, {}]])
    expect(m.get('b')!.live).toBe(false)
  })

  test('[A10] what was said twice is taken back in one step', () => {
    const m = openTestMemory()
    m.act([principle('a')])
    const before = seen(m)
    m.act([principle('a', { tags: ['x'] })])
    const after = seen(m)
    m.act([principle('a', { tags: ['x'] })])
    m.act([['undo', {}]])
    expect(seen(m)).toEqual(before)
    m.act([['redo', {}]])
    expect(seen(m)).toEqual(after)
    for (const _ of [1, 2]) m.act([['undo', {}]])
    expect(m.get('a')!.live).toBe(false)
  })
})
