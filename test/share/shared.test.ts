import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonical, normalizeJson } from '../../src/model/canonical.ts'
import { roundedIn } from '../../src/model/exact-json.ts'
import type { Json } from '../../src/model/field.ts'
import { dump, exchange, folded, type Replica, read, send, withReplicas } from '../convergence/harness.ts'
import { openTestMemory } from '../helpers.ts'
import { runs } from '../runs.ts'

const RUNS = runs(15, 60)

const shareOf = (r: Replica, key = 'k'): unknown =>
  r.memory.reader.byName(key).find((e) => e.kind === 'context' && e.live)?.fields.value

const same = (...replicas: Replica[]) => {
  const [first, ...others] = replicas.map((r) => dump(r.memory))
  for (const o of others) expect(o).toEqual(first)
  for (const r of replicas) expect(folded(r.memory)).toEqual(read(r.memory))
}

/** Keys that read like the marks of the encoding, and like what objects have by themselves. */
const key = fc.oneof(
  fc.constantFrom('a', 'b', '', '=', '[]', '{}', '\\[]', 'constructor', 'toString', '0'),
  fc.string(),
)
const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom<Json>(null, true, false, 0, 1, '', 'x', [], {}, [[]], [{}], [null], { a: {} }, [1, 1]),
    fc.double({ noNaN: true, noDefaultInfinity: true }) as fc.Arbitrary<Json>,
    fc.string() as fc.Arbitrary<Json>,
    fc.array(tie('value'), { maxLength: 4 }) as fc.Arbitrary<Json>,
    fc.dictionary(key, tie('value'), { maxKeys: 4 }) as fc.Arbitrary<Json>,
  ),
})).value

/** As the gate lets it in. */
const storable = (v: Json): boolean => !/\\u0000|__proto__/.test(JSON.stringify(v)) && roundedIn(v).length === 0
const stored = (v: Json) => canonical(normalizeJson(v, []))

describe('[X8] a shared value is kept as it was given', () => {
  test('any JSON value, set once or in the place of another', { tags: ['property'] }, () => {
    const t = openTestMemory()
    fc.assert(
      fc.property(json.filter(storable), json.filter(storable), (first, second) => {
        for (const value of [first, second]) {
          t.act([['share-set', { key: 'k', value: value as never }]])
          expect(canonical(t.get('context:k')!.fields.value!)).toBe(stored(value))
        }
      }),
      { numRuns: RUNS * 5, ignoreEqualValues: true },
    )
    expect(folded(t.memory)).toEqual(read(t.memory))
  })

  test('set keeps [1, 1]; only append folds equal values', () => {
    const t = openTestMemory()
    const now = () => t.get('context:k')!.fields.value
    t.act([['share-set', { key: 'k', value: [1, 1] }]])
    expect(now()).toEqual([1, 1])
    t.act([['share-append', { key: 'k', value: [1, 2, 2, { b: 1, a: 2 }] }]])
    expect(now()).toEqual([1, 1, 2, { a: 2, b: 1 }])
    expect(t.act([['share-append', { key: 'k', value: [{ a: 2, b: 1 }] }]]).batch).toBeNull()
    t.act([['share-append', { key: 'k', value: [[1]] }]])
    expect(now()).toEqual([1, 1, 2, { a: 2, b: 1 }, [1]])
    t.act([['share-delete', { key: 'k', item: 1 }]])
    expect(now()).toEqual([2, { a: 2, b: 1 }, [1]])
    t.act([['share-set', { key: 'k', value: [[1], 2] }]])
    expect(now()).toEqual([[1], 2])
    t.act([['share-append', { key: 'fresh', value: 'x' }]])
    expect(t.get('context:fresh')!.fields.value).toEqual(['x'])
  })

  test('merge goes to any depth, and delete takes keys and items out again', () => {
    const t = openTestMemory()
    const now = () => t.get('context:k')!.fields.value
    t.act([['share-merge', { key: 'k', value: { auth: { a: 1, files: ['x'] } } }]])
    t.act([['share-merge', { key: 'k', value: { auth: { b: null, files: ['y', 'x', { f: 1 }] }, db: [] } }]])
    expect(now()).toEqual({ auth: { a: 1, b: null, files: ['x', 'y', { f: 1 }] }, db: [] })
    t.act([['share-merge', { key: 'k', value: { auth: { a: { deep: true } }, db: 'done' } }]])
    expect(now()).toEqual({ auth: { a: { deep: true }, b: null, files: ['x', 'y', { f: 1 }] }, db: 'done' })
    t.act([['share-delete', { key: 'k', path: ['auth', 'files'], item: { f: 1 } }]])
    t.act([['share-delete', { key: 'k', path: ['auth', 'a', 'deep'] }]])
    t.act([['share-delete', { key: 'k', path: 'db' }]])
    expect(now()).toEqual({ auth: { a: {}, b: null, files: ['x', 'y'] } })
    t.act([['share-delete', { key: 'k' }]])
    expect(t.get('context:k')!.live).toBe(false)
    t.act([['share-merge', { key: 'k', value: { fresh: 1 } }]])
    expect(now()).toEqual({ fresh: 1 })
    expect(t.get('context:k')!.live).toBe(true)
  })

  test('keys are told apart as they are written, and record-context speaks of the same ones', () => {
    const t = openTestMemory()
    t.act([
      ['share-set', { key: 'Phase', value: 1 }],
      ['share-set', { key: 'phase', value: 2 }],
      ['share-set', { key: 'the phase', value: 3 }],
      ['share-set', { key: 'the-phase', value: 4 }],
      ['record-context', { key: 'old', value: { a: { b: 1 }, l: [1] } }],
    ])
    expect(t.memory.reader.list('context').map((e) => [e.name, e.fields.value])).toEqual(
      expect.arrayContaining([
        ['Phase', 1],
        ['phase', 2],
        ['the phase', 3],
        ['the-phase', 4],
      ]),
    )
    t.act([['share-merge', { key: 'old', value: { a: { c: 2 }, l: [2] } }]])
    expect(t.get('context:old')!.fields.value).toEqual({ a: { b: 1, c: 2 }, l: [1, 2] })
    t.act([['record-context', { key: 'old', value: { more: true } }]])
    expect(t.get('context:old')!.fields.value).toEqual({ a: { b: 1, c: 2 }, l: [1, 2], more: true })
    t.act([
      ['rename', { ref: 'context:old', name: 'older' }],
      ['share-set', { key: 'old', value: 'new' }],
      ['record-context', { key: 'Folded', value: { x: 1 } }],
      ['share-set', { key: 'folded', value: 'y' }],
    ])
    const of = (key: string) => t.library.share.get(key)?.value
    expect([of('old'), of('Folded'), of('folded')]).toEqual(['new', { x: 1 }, 'y'])
    expect(of('older')).toEqual({ a: { b: 1, c: 2 }, l: [1, 2], more: true })
    t.act([['share-set', { key: 'old', value: 'plain' }]])
    expect(of('old')).toBe('plain')
  })

  test('what is wrong is refused, with what would be right', () => {
    const t = openTestMemory()
    t.act([
      ['share-set', { key: 'phase', value: 'review' }],
      ['share-set', { key: 'notes', value: { auth: 1 } }],
    ])
    const problems = t.refused([
      ['share-append', { key: 'phase', value: 1 }],
      ['share-delete', { key: 'fase' }],
      ['share-delete', { key: 'notes', path: ['auht'] }],
      ['share-delete', { key: 'phase', item: 'x' }],
      ['share-set', { key: 'x' }],
      ['share-set', { key: '', value: 1 }],
      ['share-set', { key: 'big', value: Array.from({ length: 3000 }, (_, i) => i) }],
    ])
    expect(problems.map((p) => [p.index, p.field])).toEqual([
      [0, 'key'],
      [1, 'key'],
      [2, 'path'],
      [3, 'item'],
      [4, 'value'],
      [5, 'key'],
      [6, 'value'],
    ])
    expect(problems[1]!.accepted).toContain('"phase"')
    expect(problems[2]!.accepted).toContain('auth')
  })

  test('[A6] expectedVersion: whoever is late gets the value and the version of now', () => {
    const t = openTestMemory()
    const version = () => t.get('context:k')!.version
    t.act([['share-set', { key: 'k', value: { n: 1 }, expectedVersion: 0 }]])
    const seen = version()
    t.act([['share-merge', { key: 'k', value: { n: 2 }, expectedVersion: seen }]])
    for (const verb of ['share-set', 'share-merge', 'share-append'] as const) {
      const [problem] = t.refused([[verb, { key: 'k', value: { n: 9 }, expectedVersion: seen }]])
      expect(problem).toMatchObject({ field: 'expectedVersion', accepted: String(version()), hint: 'now: {"n":2}' })
    }
    t.refused([['share-delete', { key: 'k', expectedVersion: seen }]])
    t.act([['share-delete', { key: 'k', expectedVersion: version() }]])
    t.refused([['share-set', { key: 'k', value: 1, expectedVersion: seen }]])
    t.act([['share-set', { key: 'k', value: 1, expectedVersion: 0 }]])
  })

  test('[A10] undo gives the value back', () => {
    const t = openTestMemory()
    const value = { a: [1, 1, { x: null }], b: { c: 'd' } }
    t.act([['share-set', { key: 'k', value }]])
    for (const action of [
      ['share-set', { key: 'k', value: 'other' }],
      ['share-merge', { key: 'k', value: { a: [2], b: { c: 1 } } }],
      ['share-delete', { key: 'k', path: ['b', 'c'] }],
      ['share-delete', { key: 'k' }],
    ]) {
      const { batch } = t.act([action])
      t.act([['undo', { batch }]])
      expect(t.get('context:k')!.fields.value).toEqual(value)
    }
  })

  test('[A7] a secret is not shared, and purge takes it out of values', () => {
    const t = openTestMemory()
    expect(t.refused([['share-set', { key: 'k', value: { a: [`ghp_${'a1B2'.repeat(9)}`] } }]])[0]!.message).toContain(
      'secret',
    )
    t.act([['share-set', { key: 'k', value: { a: ['the tulip plan'], tulip: { b: 1 } } }]])
    t.act([['purge', { secret: 'tulip', reason: 'private' }]])
    expect(t.rows()).not.toContain('tulip')
    expect(t.get('context:k')!.fields.value).toEqual({ a: [] })
  })
})

describe('[X2] what two write at the same moment', () => {
  const both = (first: unknown[], a: unknown[], b: unknown[]) =>
    withReplicas(['a', 'b'], (ra, rb) => {
      if (first.length > 0) ra.act(first)
      send(ra, rb)
      ra.now += 1000
      rb.now += 2000
      ra.act(a)
      rb.act(b)
      exchange(ra, rb)
      same(ra, rb)
      expect(shareOf(rb)).toEqual(shareOf(ra))
      return { value: shareOf(ra), events: ra.memory.newsSince(0).flatMap((n) => n.events.map((e) => e.event)) }
    })
  const set = (value: unknown) => ['share-set', { key: 'k', value }]
  const append = (value: unknown) => ['share-append', { key: 'k', value }]
  const merge = (value: unknown) => ['share-merge', { key: 'k', value }]

  test('a scalar has one winner, the later one, and the loser is in the events', () => {
    const { value, events } = both([set('start')], [set('auth')], [set('database')])
    expect(value).toBe('database')
    expect(events.map((e) => e.value)).toEqual(expect.arrayContaining(['auth', 'database']))
  })
  test('maps merge deeply, lists of objects too', () => {
    expect(both([], [merge({ auth: { a: 1 } })], [merge({ auth: { b: 2 } })]).value).toEqual({ auth: { a: 1, b: 2 } })
    expect(
      both([set({ l: [{ id: 0 }] })], [merge({ l: [{ id: 1, t: ['x'] }] })], [merge({ l: [{ id: 2 }], m: { n: 1 } })])
        .value,
    ).toMatchObject({ l: expect.arrayContaining([{ id: 0 }, { id: 1, t: ['x'] }, { id: 2 }]), m: { n: 1 } })
  })
  test('appends are all kept, also where the list began on both sides', () => {
    expect(new Set(both([], [append(['auth.py', 'both'])], [append(['db.py', 'both'])]).value as string[])).toEqual(
      new Set(['auth.py', 'both', 'db.py']),
    )
    expect(both([set([])], [set([])], [append('x')]).value).toEqual(['x'])
    expect(both([], [set({})], [merge({ a: 1 })]).value).toEqual({ a: 1 })
  })
  test('deleting an item survives a concurrent append', () => {
    const gone = ['share-delete', { key: 'k', item: 'x' }]
    expect(both([set(['x', 'y'])], [gone], [append('z')]).value).toEqual(['y', 'z'])
    expect(both([set(['x', 'y'])], [append('z')], [gone]).value).toEqual(['y', 'z'])
  })
  test('deleting a key of a map leaves what the other wrote beside it', () => {
    const gone = ['share-delete', { key: 'k', path: ['a'] }]
    expect(both([set({ a: { x: 1 } })], [gone], [merge({ a: { y: 2 }, b: 1 })]).value).toEqual({ a: { y: 2 }, b: 1 })
  })
  test('a list against a map: the later one is what it is', () => {
    expect(both([set('s')], [set([1])], [set({ a: 1 })]).value).toEqual({ a: 1 })
    expect(both([set('s')], [set({ a: 1 })], [set([1])]).value).toEqual([1])
  })
})

const small = fc.constantFrom<Json>(
  null,
  1,
  2,
  'x',
  [],
  {},
  [1],
  [1, 1],
  { a: 1 },
  { a: [1] },
  { a: { b: 2 }, l: [{ i: 1 }] },
)
const step = fc.record({
  by: fc.nat({ max: 2 }),
  wait: fc.constantFrom(0, 1, 60_000),
  action: fc.oneof(
    fc
      .tuple(fc.constantFrom('share-set', 'share-append', 'share-merge'), small)
      .map(([v, value]) => [v, { key: 'k', value }]),
    fc.constantFrom(['share-delete', { key: 'k' }], ['share-delete', { key: 'k', path: 'a' }]),
    fc.constantFrom<Json>(1, 'x', { i: 1 }).map((item) => ['share-delete', { key: 'k', item }]),
    fc.constant(['record-context', { key: 'k', value: { p: { q: 1 } } }]),
    fc.constant(null),
  ),
  to: fc.nat({ max: 2 }),
})

test('[X2] [C4] any interleaving on three replicas ends in the same value on all', { tags: ['property'] }, () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 2, maxLength: 25 }), (steps) => {
      withReplicas(['a', 'b', 'c'], (...replicas) => {
        for (const { by, wait, action, to } of steps) {
          const r = replicas[by]!
          r.now += wait
          if (action === null) {
            if (by !== to) send(r, replicas[to]!)
            continue
          }
          const before = shareOf(r)
          try {
            r.act([action])
          } catch (error) {
            if (!(error as { code?: string }).code) throw error
            continue
          }
          const [verb, args] = action as [string, { value?: Json }]
          if (verb === 'share-set') expect(shareOf(r)).toEqual(args.value)
          if (verb === 'share-append' && Array.isArray(before))
            expect((shareOf(r) as Json[]).slice(0, before.length)).toEqual(before)
        }
        exchange(...replicas)
        same(...replicas)
        for (const r of replicas) expect(shareOf(r)).toEqual(shareOf(replicas[0]!))
      })
    }),
    { numRuns: RUNS },
  )
})

test('[X8] a number that was rounded on its way here is refused over any surface', () => {
  const t = openTestMemory()
  const rounded = JSON.parse('{"ids": [12345678901234567890]}')
  for (const verb of ['share-set', 'share-append', 'share-merge']) {
    const [problem] = t.refused([[verb, { key: 'k', value: rounded }]])
    expect(problem).toMatchObject({ field: 'value.ids.0', received: '12345678901234567000' })
    expect(problem!.message).toContain('2^53')
    expect(problem!.accepted).toContain('text')
  }
  for (const value of [2 ** 53 - 1, -(2 ** 53 - 1), 1e20, 1.5e300, '12345678901234567890']) {
    t.act([['share-set', { key: 'k', value }]])
    expect(t.library.share.get('k')!.value).toBe(value)
  }
})

test('recall finds a long shared list by its beginning, whatever is added at its end', () => {
  const t = openTestMemory()
  const items = Array.from({ length: 200 }, (_, i) => `item number ${i}`)
  t.library.share.set('animals', ['quokka', ...items, 'axolotl'])
  expect(t.discover('(search-knowledge "quokka")')[0]).toContain('animals')
  expect(t.discover('(search-knowledge "axolotl")')[0]).not.toContain('animals')
  expect(t.library.share.get('animals')!.value).toContain('axolotl')
})

test('[S2] share-delete: an empty path is refused and takes nothing out; a key that is empty can be named', () => {
  const t = openTestMemory()
  t.act([['share-set', { key: 'k', value: { '': 1, a: { '': 2, b: 3 } } }]])
  expect(t.refused([['share-delete', { key: 'k', path: [] }]])).toMatchObject([
    { field: 'path', message: 'not a path' },
  ])
  t.act([['share-delete', { key: 'k', path: '' }]])
  t.act([['share-delete', { key: 'k', path: ['a', ''] }]])
  expect(t.get('context:k')!.fields.value).toEqual({ a: { b: 3 } })
})
