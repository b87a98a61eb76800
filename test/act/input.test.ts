import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { UserError } from '../../src/base/errors.ts'
import { openTestMemory, rowsOf, userError } from '../helpers.ts'
import { runs } from '../runs.ts'

const deep = (n: number): unknown => (n === 0 ? 'leaf' : { k: deep(n - 1) })

describe('[A1] bad input', () => {
  test.each([
    ['a NUL', { description: 'a\0b' }, 'description', 'NUL'],
    ['half a surrogate pair', { description: 'a\ud800b' }, 'description', 'surrogate'],
    ['half a surrogate pair in a key', { attrs: { 'a\ud800': 1 } }, 'attrs', 'surrogate'],
    ['a NUL in a tag', { tags: ['a\0'] }, 'tags.0', 'NUL'],
    [
      'a text that is too long',
      { evidence: ['x'.repeat(16_385)] },
      'evidence.0',
      '16385 characters; the limit is 16384',
    ],
    ['a key that is too long', { attrs: { ['k'.repeat(16_385)]: 1 } }, 'attrs', 'the limit is 16384'],
    ['a __proto__ key', { attrs: JSON.parse('{"__proto__": {"polluted": 1}}') }, 'attrs', '__proto__'],
    ['a deep __proto__ key', { attrs: { a: JSON.parse('{"__proto__": 1}') } }, 'attrs.a', '__proto__'],
    ['NaN', { confidence: Number.NaN }, 'confidence', 'not a finite number'],
    ['Infinity', { attrs: { n: Number.POSITIVE_INFINITY } }, 'attrs.n', 'not a finite number'],
    ['40 levels', { attrs: deep(40) }, 'attrs', 'nested deeper than 32'],
    ['a date object', { validFrom: new Date(0) }, 'validFrom', 'not a JSON value'],
    ['a function', { attrs: { f: () => 1 } }, 'attrs.f', 'not a JSON value'],
    ['a big integer', { attrs: { n: 1n } }, 'attrs.n', 'not a JSON value'],
    ['a number where text is wanted', { description: 5 }, 'description', 'not text'],
    ['a list where text is wanted', { description: ['x'] }, 'description', 'not text'],
    ['an object where text is wanted', { description: { x: 1 } }, 'description', 'not text'],
    ['a time that is none', { validFrom: '2026-02-30' }, 'validFrom', 'not a time'],
    ['an end before the start', { validFrom: '2026-05-02', validTo: '2026-05-01' }, 'validTo', 'before validFrom'],
    ['what Tidemark itself writes', { retired: 'x' }, 'retired', 'written by Tidemark itself'],
    ['a moment on a day that is none', { validFrom: '2026-02-30T10:00:00Z' }, 'validFrom', 'not a time'],
    ['provenance', { provenance: [] }, 'provenance', 'written by Tidemark itself'],
    ['a kind', { kind: 'decision' }, 'kind', 'no field'],
    ['anew that is no flag', { anew: 'yes' }, 'anew', 'not true or false'],
  ])('[A1] %s is refused where it stands', (_what, given, field, message) => {
    const m = openTestMemory()
    const problems = m.refused([['record-principle', { name: 'p', ...given }]])
    expect(problems).toHaveLength(1)
    expect(problems[0]!.field.startsWith(field)).toBe(true)
    expect(problems[0]!.message).toContain(message)
    expect(JSON.stringify(problems).isWellFormed()).toBe(true)
  })

  test('[A1] an unknown field is named with the nearest, or with all there are', () => {
    const m = openTestMemory()
    expect(m.refused([['record-principle', { name: 'p', confidnce: 1 }]])).toEqual([
      {
        index: 0,
        verb: 'record-principle',
        field: 'confidnce',
        message: 'principle has no field "confidnce"',
        received: 1,
        accepted: 'did you mean confidence?',
        hint: 'structure of your own goes into attrs: {…}',
      },
    ])
    for (const [field, type] of [
      ['supersedes', 'supersedes'],
      ['dependsOn', 'depends-on'],
      ['depends_on', 'depends-on'],
    ] as const)
      expect(m.refused([['record-decision', { name: 'd', [field]: 'p' }]])[0]!.hint).toBe(
        `that is a link: ["link-entities", {"from": "…", "type": "${type}", "to": "…"}]`,
      )
    expect(m.refused([['record-principle', { name: 'p', zzzzzz: 1 }]])[0]!.accepted).toContain(
      'name, description, confidence',
    )
  })

  test('[A1] keys of arguments that come from objects are fields like others', () => {
    const m = openTestMemory()
    const names = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__']
    for (const name of names) {
      expect(m.refused([['record-principle', { name: 'p', [name]: 1 }]])).toHaveLength(1)
      expect(m.refused([[name, {}]])).toHaveLength(1)
      expect(m.refused([['retire', { ref: name, reason: 'x', [name]: 1 }]])).toHaveLength(2)
      expect(m.refused([['link-entities', { from: name, to: name, type: name }]])).toHaveLength(3)
      m.act([['record-principle', { name, attrs: { [name]: { [name]: 1 } }, tags: [name] }]])
      expect(m.get(`principle:${name}`)!.fields).toMatchObject({ attrs: { [name]: { [name]: 1 } }, tags: [name] })
    }
    expect(m.refused([JSON.parse('["record-principle", {"name": "p", "__proto__": {"x": 1}}]')])).toHaveLength(1)
    m.act([['record-principle', { name: 'p', attrs: { constructor: { prototype: { polluted: 1 } } } }]])
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  test('[A1] -0 is 0, a day stays a day, a moment becomes UTC, white space stays', () => {
    const m = openTestMemory()
    m.act([
      [
        'record-principle',
        {
          name: 'p',
          confidence: -0,
          description: ' x\n',
          validFrom: '2026-05-01',
          validTo: '2026-05-01T02:00:00+02:00',
          attrs: { n: -0, e: {}, l: [] },
        },
      ],
    ])
    expect(m.get('p')!.fields).toMatchObject({
      confidence: 0,
      description: ' x\n',
      validFrom: '2026-05-01',
      validTo: '2026-05-01T00:00:00.000Z',
      attrs: { n: 0, e: {}, l: [] },
    })
    expect(Object.is(m.get('p')!.fields.confidence, -0)).toBe(false)
  })

  const junk = [null, true, 7, -1.5, '', 'x', 'p', [], ['x'], [1], {}, { a: 1 }, { add: ['x'] }, undefined]

  test('[A1] every argument of every verb given every type: refused by name, or done; never an accident', {
    tags: ['long'],
  }, () => {
    const { memory } = openTestMemory()
    const verbs: [string, Record<string, unknown>][] = [
      ...memory
        .registry()
        .kinds()
        .filter((k) => !k.internal)
        .flatMap((k): [string, Record<string, unknown>][] => [
          [`record-${k.name}`, { ...k.example, ref: undefined }],
          [`delete-${k.name}`, { ref: 'p', reason: 'r' }],
        ]),
      ...[...memory.verbs.values()].map((v): [string, Record<string, unknown>] => [
        v.name,
        Object.fromEntries(Object.keys(v.args).map((a) => [a, v.example[a]])),
      ]),
    ]
    for (const [verb, args] of verbs) {
      // a store for each verb: all that is in one is compared some hundred times
      const m = openTestMemory()
      m.act([
        ['record-principle', { name: 'p' }],
        ['record-principle', { name: 'plan-then-apply' }],
        ['record-decision', { name: 'use-sqlite' }],
      ])
      let before = rowsOf(m.memory)
      for (const name of Object.keys(args)) {
        for (const value of junk) {
          try {
            m.act([[verb, { ...args, [name]: value }]])
            before = rowsOf(m.memory)
          } catch (error) {
            expect(error, `${verb} ${name} ${JSON.stringify(value)}`).toBeInstanceOf(UserError)
            expect(rowsOf(m.memory) === before, `${verb} ${name} left a trace`).toBe(true)
          }
        }
      }
      for (const bad of [
        [verb, null],
        [verb, 7],
        [verb, []],
      ])
        expect(m.refused([bad])).toHaveLength(1)
      m.close()
    }
    expect(verbs.length).toBeGreaterThan(50)
  }) // some eight thousand batches
})

describe('[A2] property', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'A ', 'd e', 'principle:a', 'decision:b', 'nobody', '', 'x\ud800')
  const text = fc.oneof(
    fc.constantFrom('one', 'two', '', 'x\0', 'secret=abcdefgh1'),
    fc.string({ unit: 'binary', maxLength: 8 }),
  )
  const any = fc.oneof(
    { weight: 4, arbitrary: text },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<unknown> },
  )
  const number = fc.oneof(fc.double({ min: 0, max: 1 }), fc.constantFrom(-1, 2, Number.NaN, '1', null))
  const edit = fc.oneof(
    fc.array(text, { maxLength: 3 }),
    fc.record({ add: fc.array(text, { maxLength: 2 }), remove: fc.array(text, { maxLength: 2 }) }),
    fc.constantFrom(null, { set: ['x'] }, { set: [] }),
  )
  const some = <T extends Record<string, fc.Arbitrary<unknown>>>(model: T, required: (keyof T)[] = []) =>
    fc.record(model, { requiredKeys: required as never[] })
  const verb = (v: string, args: fc.Arbitrary<unknown>) => args.map((a) => [v, a])
  const action = fc.oneof(
    { weight: 4, arbitrary: verb('record-principle', some({ name, description: any, confidence: number, tags: edit, evidence: edit, attrs: fc.dictionary(text, any, { maxKeys: 3 }), ref: name, anew: fc.boolean(), expectedVersion: fc.nat(3), nope: any })) },
    { weight: 3, arbitrary: verb('record-decision', some({ name, status: any, impact: number, topics: edit, validFrom: any }, ['name'])) },
    { weight: 1, arbitrary: verb('record-fact', some({ fact: text, category: fc.constantFrom('tool', 'x') })) },
    { weight: 1, arbitrary: verb('record-observation', some({ what: text, operation: text })) },
    { weight: 2, arbitrary: verb('link-entities', some({ from: name, to: name, type: fc.constantFrom('supports', 'depends-on', 'similar-to', 'supersedes', 'suports'), confidence: number })) },
    { weight: 1, arbitrary: verb('unlink-entities', some({ from: name, to: name, type: fc.constantFrom('supports', 'similar-to', 'supersedes') })) },
    { weight: 1, arbitrary: verb('supersede', some({ old: name, new: name, reason: text })) },
    { weight: 2, arbitrary: fc.constantFrom('delete-principle', 'delete-decision', 'restore', 'retire', 'curate', 'confirm', 'reject').chain((v) => verb(v, some({ ref: name, reason: text }, ['ref']))) },
    { weight: 1, arbitrary: verb('rename', some({ ref: name, name })) },
    { weight: 1, arbitrary: verb('update-confidence', some({ ref: name, confidence: number })) },
    { weight: 1, arbitrary: verb('add-evidence', some({ ref: name, evidence: text })) },
    { weight: 1, arbitrary: verb('propose', some({ action: fc.constantFrom(['record-principle', { name: 'p' }], ['retire', { ref: 'a', reason: 'x' }], ['link-entities', { from: 'a', to: 'b', type: 'uses' }], 'x'), evidence: text })) },
    { weight: 1, arbitrary: verb('undo', some({ force: fc.constantFrom(true, false, 1), session: fc.constantFrom('one', 'two') })) },
    { weight: 1, arbitrary: verb('purge', some({ ref: name, secret: fc.constantFrom('one-of-these', 'x'), reason: text })) },
    { weight: 1, arbitrary: verb('define-kind', some({ name: fc.constantFrom('thing', 'verb', 'decision', 'A'), fields: fc.constantFrom({ name: 'text' }, { n: 'number' }, { x: 'nope' }, []), identity: fc.constantFrom('name', 'event', 'x') })) },
    { weight: 1, arbitrary: verb('record-thing', some({ name, n: number })) },
    { weight: 1, arbitrary: fc.tuple(text, any) },
  ) // biome-ignore format: one kind of action per line
  const batch = fc.array(action, { minLength: 1, maxLength: 5 })

  test('[A1] [A2] any batch is refused without a trace, or is exactly one line of the log', {
    tags: ['property'],
  }, () => {
    let refused = 0
    let done = 0
    fc.assert(
      fc.property(
        fc.array(fc.tuple(batch, fc.constantFrom('one', 'two')), { minLength: 1, maxLength: 8 }),
        (batches) => {
          const m = openTestMemory({ seed: 5 })
          try {
            for (const [actions, session] of batches) {
              const before = m.rows()
              const cursor = m.memory.cursor
              m.clock.now += 1000
              try {
                const result = m.act(actions, { session })
                const news = m.memory.newsSince(cursor)
                expect(news.map((n) => n.batch)).toEqual(result.batch === null ? [] : [result.batch])
                expect(result.results).toHaveLength(actions.length)
                done++
              } catch (error) {
                if (!(error instanceof UserError)) throw error
                expect(m.rows() === before).toBe(true)
                refused++
              }
            }
          } finally {
            m.close()
          }
        },
      ),
      {
        numRuns: runs(150, 300),
        ...(process.env.TIDEMARK_SEED ? { seed: Number(process.env.TIDEMARK_SEED) } : {}),
      },
    )
    expect(refused).toBeGreaterThan(0)
    expect(done).toBeGreaterThan(0)
  })
})

test('[D9] a moment that is none is refused, not answered with an empty memory', () => {
  const m = openTestMemory()
  m.act([['record-decision', { name: 'd', rationale: 'r' }]])
  for (const moment of [new Date('x'), Number.NaN, '2026-02-30T10:00:00Z', 'yesterday-ish'])
    expect(userError(() => m.memory.asOf(moment)).code).toBe('bad-time')
})
