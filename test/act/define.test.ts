import { describe, expect, test } from 'vitest'
import { INTROSPECTION } from '../../src/model/names.ts'
import { openTestMemory } from '../helpers.ts'

const endpoint = {
  name: 'endpoint',
  about: 'an HTTP endpoint',
  plural: 'endpoints',
  positional: ['name', 'method'],
  fields: {
    name: 'text',
    notes: 'list',
    method: { type: 'choice', choices: ['GET', 'POST'] },
    cost: { type: 'number', min: 0, max: 10, integer: true },
    open: 'flag',
    since: 'time',
    users: 'set',
    meta: 'map',
  },
}

describe('[A3] define-kind', () => {
  test('[A3] a kind defined at run time is usable in the same batch, and prints by its declaration', () => {
    const m = openTestMemory()
    m.act([
      ['define-kind', endpoint],
      [
        'record-endpoint',
        {
          name: '/login',
          method: 'POST',
          cost: 3,
          open: true,
          since: '2026-01-01',
          users: ['web'],
          notes: ['slow'],
          meta: { a: { b: 1 } },
        },
      ],
      ['record-endpoint', { name: '/Login', users: ['app'] }],
      ['record-principle', { name: 'p' }],
      ['link-entities', { from: 'endpoint:/login', to: 'p', type: 'uses' }],
    ])
    expect(m.discover('(get-endpoints) (get-endpoint "/login") (@ (get "/LOGIN") :cost)')).toEqual([
      '((endpoint "/login" "POST" :notes [slow] :cost 3 :open #t :since "2026-01-01" :users [app web] :meta {:a {:b 1}}))',
      '(endpoint "/login" "POST" :notes [slow] :cost 3 :open #t :since "2026-01-01" :users [app web] :meta {:a {:b 1}})',
      '3',
    ])
    m.act([
      ['record-endpoint', { name: '/a', method: 'GET', cost: 1, open: true }],
      ['record-endpoint', { name: '/b', method: 'GET', cost: 2, open: false }],
    ])
    expect(m.discover('(get-endpoints)')[0]).toMatch(/^\(endpoints \[:name :method/)
    expect(m.discover('(search-knowledge "slow")')[0]).toContain('/login')
    expect(
      m.refused([['record-endpoint', { name: '/x', method: 'PUT', cost: 1.5, nope: 1 }]]).map((p) => p.field),
    ).toEqual(['method', 'cost', 'nope'])
    m.act([['delete-endpoint', { name: '/a' }]])
    expect(m.discover('(length (get-endpoints))')).toEqual(['2'])
  })

  test('[A3] what a kind says of itself runs: describe, help and its example', () => {
    const m = openTestMemory()
    m.act([
      [
        'define-kind',
        {
          name: 'reading',
          key: ['at', 'value'],
          identity: 'content',
          fields: { at: 'time', value: { type: 'number', min: 3 } },
        },
      ],
    ])
    const [shown] = m.discover('(@ (describe "reading") :example)')
    m.act([JSON.parse(JSON.parse(shown!))])
    expect(m.discover('(length (get-readings)) (@ (help "record-reading") :required)')[0]).toBe('1')
    expect(m.discover('(get-reading "2026-11-21")')[0]).toContain('(reading')
  })

  test('[A3] it is extended later, and cannot change what ids and types rest on', () => {
    const m = openTestMemory()
    m.act([
      ['define-kind', endpoint],
      ['record-endpoint', { name: '/a' }],
    ])
    m.act([
      [
        'define-kind',
        {
          name: 'endpoint',
          about: 'better said',
          fields: { owner: 'text', method: { type: 'choice', choices: ['GET', 'POST', 'PUT'] } },
        },
      ],
    ])
    m.act([['record-endpoint', { name: '/a', owner: 'Ana', method: 'PUT' }]])
    expect(m.discover('(get-endpoint "/a") (@ (describe "endpoint") :about)')).toEqual([
      '(endpoint "/a" "PUT" :owner "Ana")',
      '"better said"',
    ])
    expect(m.refused([['define-kind', { name: 'endpoint', identity: 'event' }]])).toMatchObject([
      { field: 'identity', accepted: 'name' },
    ])
    expect(m.refused([['define-kind', { name: 'endpoint', fields: { cost: 'text' } }]])).toMatchObject([
      { field: 'fields.cost', message: 'cannot change its type' },
    ])
    expect(m.refused([['define-kind', { name: 'endpoint', key: ['method'] }]])).toMatchObject([{ field: 'key' }])
  })

  test.each([
    ['a core kind', { name: 'decision', fields: { x: 'text' } }, 'name'],
    ['an internal kind', { name: 'relationship', fields: { x: 'text' } }, 'name'],
    ['a plural of another kind', { name: 'decisions', fields: { x: 'text' } }, 'name'],
    ['the plural it would get', { name: 'people', plural: 'persons', fields: { x: 'text' } }, 'name'],
    ['a plural that is taken', { name: 'x', plural: 'people', fields: { x: 'text' } }, 'plural'],
    ['a function that is taken', { name: 'x', plural: 'persons', fields: { x: 'text' } }, 'plural'],
    ['an error', { name: 'error', fields: { x: 'text' } }, 'name'],
    ['a verb of a core kind', { name: 'file-understanding', fields: { x: 'text' } }, 'name'],
    ['related files', { name: 'related-file', fields: { x: 'text' } }, 'plural'],
    ['no word', { name: 'My Kind', fields: { x: 'text' } }, 'name'],
    ['a prototype', { name: 'constructor', fields: { x: 'text' } }, 'name'],
    ['its own name as plural', { name: 'sheep', plural: 'sheep', fields: { x: 'text' } }, 'plural'],
    ['a field every kind has', { name: 'x', fields: { tags: 'set' } }, 'fields.tags'],
    ['a field that is no name', { name: 'x', fields: { 'a-b': 'text' } }, 'fields.a-b'],
    ['a field of a prototype', { name: 'x', fields: { constructor: 'text' } }, 'fields.constructor'],
    ['an unknown type', { name: 'x', fields: { a: 'string' } }, 'fields.a'],
    ['a choice without choices', { name: 'x', fields: { a: { type: 'choice' } } }, 'fields.a'],
    ['an unknown part of a field', { name: 'x', fields: { a: { type: 'text', required: true } } }, 'fields.a.required'],
    ['no fields', { name: 'x' }, 'fields'],
    ['fields that are a list', { name: 'x', fields: ['a'] }, 'fields'],
    ['an unknown identity', { name: 'x', identity: 'uuid', fields: { a: 'text' } }, 'identity'],
    ['a key that is no field', { name: 'x', key: ['b'], fields: { a: 'text' } }, 'key'],
  ])('[A3] %s is refused', (_what, args, field) => {
    const m = openTestMemory()
    const problems = m.refused([['define-kind', args]])
    expect(problems.map((p) => p.field)).toContain(field)
    for (const p of problems) expect(p.accepted).toBeTruthy()
  })

  test('[A3] what introspection prints is no name for a kind', () => {
    const m = openTestMemory()
    for (const [kind, plural] of Object.entries(INTROSPECTION)) {
      expect(m.refused([['define-kind', { name: kind, plural: 'xs', fields: { name: 'text' } }]])).toMatchObject([
        { field: 'name' },
      ])
      expect(m.refused([['define-kind', { name: 'x', plural, fields: { name: 'text' } }]])).toMatchObject([
        { field: 'plural' },
      ])
    }
  })
})

describe('[A3] define-relation', () => {
  test('[A3] a relation defined at run time links in the same batch, with its properties', () => {
    const m = openTestMemory()
    const p = (name: string) => ['record-principle', { name }]
    m.act([
      p('a'), p('b'), p('c'),
      ['define-relation', { name: 'owned-by', about: 'who is responsible', inverse: 'owns', acyclic: true, impact: 'backward' }],
      ['define-relation', { name: 'rivals', symmetric: true }],
      ['link-entities', { from: 'a', to: 'b', type: 'owned-by' }],
      ['link-entities', { from: 'c', to: 'a', type: 'Rivals' }],
    ]) // biome-ignore format: short
    expect(m.discover('(get-relationships-from "a") (describe "owned-by")')).toEqual([
      '((relationship :from a :to b :type owned-by) (relationship :from a :to c :type rivals))',
      '(relation "owned-by" "who is responsible" :inverse owns :symmetric #f :acyclic #t :impact backward :strength 0.5 :example "[\\"link-entities\\",{\\"from\\":\\"plan-then-apply\\",\\"to\\":\\"use-sqlite\\",\\"type\\":\\"owned-by\\"}]")',
    ])
    expect(m.refused([['link-entities', { from: 'b', to: 'a', type: 'owned-by' }]])).toHaveLength(1)
    for (const bad of [
      { name: 'supports' },
      { name: 'A b' },
      { name: 'x', inverse: 'A b' },
      { name: 'x', impact: 'up' },
      { name: 'x', symmetric: 'yes' },
      {},
    ])
      expect(m.refused([['define-relation', bad]])).toHaveLength(1)
  })
})

test('[A8] a key or an order of no field is refused', () => {
  const m = openTestMemory()
  for (const list of ['key', 'positional'])
    expect(m.refused([['define-kind', { name: 'endpoint', fields: { name: 'text' }, [list]: [] }]])).toMatchObject([
      { field: list },
    ])
})
