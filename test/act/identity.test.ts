import { describe, expect, test } from 'vitest'
import { openTestMemory } from '../helpers.ts'

describe('[A3] identity (design §3.2)', () => {
  test('[A3] names that differ are different entities: C, C++, C#, 中文, 日本語, …', () => {
    const m = openTestMemory()
    const names = [
      'C',
      'C++',
      'C#',
      'C--',
      '中文',
      '日本語',
      '日本',
      '!',
      '?',
      'a b',
      'a_b',
      'a/b',
      'a.b',
      'á',
      'a',
      `${'x'.repeat(70)}1`,
      `${'x'.repeat(70)}2`,
    ]
    m.act(names.map((name) => ['record-concept', { name }]))
    expect(m.memory.reader.list('concept')).toHaveLength(names.length)
    for (const name of names) expect(m.get(`concept:${name}`)!.name).toBe(name)
    for (const e of m.memory.reader.list('concept')) expect(e.id).toMatch(/^concept:[a-z0-9-]+$/)
  })

  test('[A3] case, spaces and hyphens do not make another name', () => {
    const m = openTestMemory()
    for (const name of ['Use JWT', 'use-jwt', 'USE  jwt ', 'use jwt'])
      expect(m.act([['record-decision', { name }]]).results[0]!.id).toBe('decision:use-jwt')
    expect(m.get('use-jwt')!.name).toBe('Use JWT')
    expect(m.act([['record-decision', { name: 'Use JWT', impact: 1 }]]).notes).toEqual([])
    expect(m.act([['record-decision', { name: 'use-jwt', impact: 2 }]]).notes.join()).toContain(
      'the one called "Use JWT"',
    )
  })

  test('[A3] é composed and decomposed are one name', () => {
    const m = openTestMemory()
    const composed = 'caf\u00e9'
    const decomposed = 'cafe\u0301'
    m.act([
      ['record-concept', { name: composed }],
      ['record-concept', { name: decomposed, tags: [decomposed, composed], attrs: { [decomposed]: 1 } }],
    ])
    expect(m.memory.reader.list('concept')).toHaveLength(1)
    expect(m.get(decomposed)!.fields).toMatchObject({ name: composed, tags: [composed], attrs: { [composed]: 1 } })
    expect(m.discover(`(length (search-knowledge "${decomposed}"))`)).toEqual(['1'])
    m.act([
      [
        'link-entities',
        { from: decomposed, to: m.act([['record-concept', { name: 'x' }]]).results[0]!.id, type: 'about' },
      ],
    ])
    m.act([
      ['record-file', { path: `src/${decomposed}.ts` }],
      ['record-file', { path: `src/${composed}.ts` }],
    ])
    expect(m.memory.reader.list('file')).toHaveLength(1)
  })

  test('[A3] three equal observations count three', () => {
    const m = openTestMemory()
    const o = ['record-observation', { operation: 'deploy', what: 'skipped the smoke test' }]
    m.act([o, o])
    m.act([o])
    expect(m.discover('(length (get-observations))')).toEqual(['3'])
    const ids = m.memory.reader.list('observation').map((e) => e.id)
    expect(new Set(ids).size).toBe(3)
    expect(m.refused([['retire', { ref: 'skipped the smoke test', reason: 'x' }]])[0]!.accepted).toBe(
      [...ids].sort().join(' or '),
    )
  })

  test('[A3] the same fact told twice is one, with provenance added', () => {
    const m = openTestMemory()
    const fact = (text: string) => ['record-fact', { fact: text }]
    m.act([fact('Always run the tests')], { session: 'one' })
    m.clock.days(1)
    m.act([fact('always  run the tests.')], { session: 'two' })
    m.act([fact('Always run the tests!')], { session: 'one' })
    expect(m.discover('(get-facts) (map :session (@ (get-fact "Always run the tests") :provenance))')).toEqual([
      '((fact "Always run the tests"))',
      '("one" "two")',
    ])
    m.act([fact('Always run the tests?')])
    expect(m.memory.reader.list('fact')).toHaveLength(2)
  })

  test('[A3] what is identified by several fields is another where one of them differs', () => {
    const m = openTestMemory()
    const exception = (justification: string, scope?: string) => [
      'record-exception',
      { ruleBroken: 'tests first', justification, ...(scope ? { scope } : {}) },
    ]
    m.act([exception('generated'), exception('generated', 'src/gen'), exception('spike'), exception('Generated.')])
    expect(m.memory.reader.list('exception')).toHaveLength(3)
    const printed = m.discover('(get-exceptions)')[0]!
    for (const e of m.memory.reader.list('exception')) expect(printed).toContain(e.id)
  })

  test('[A3] paths: ./ and doubled slashes do not count, case does', () => {
    const m = openTestMemory()
    for (const path of ['src/a.ts', './src/a.ts', 'src//a.ts', 'src/./a.ts', 'src\\a.ts', 'src/x/../a.ts'])
      m.act([['record-file-understanding', { path, tags: [path] }]])
    expect(m.memory.reader.list('file')).toHaveLength(1)
    m.act([['record-file', { path: 'src/A.ts', summary: 'another' }]])
    expect(m.memory.reader.list('file')).toHaveLength(2)
    expect(
      m.discover(
        '(@ (get-file-understanding "src/A.ts") :summary) (:summary (get-file-understanding "./src/a.ts")) (@ (get "src/A.ts") :path)',
      ),
    ).toEqual(['"another"', 'nil', '"src/A.ts"'])
    m.act([['rename', { ref: 'src/A.ts', name: './src/B.ts' }]])
    expect(m.discover('(@ (get-file-understanding "src/B.ts") :summary)')).toEqual(['"another"'])
  })
})

describe('[A3] references', () => {
  test('[A3] an id, kind:name, a path and a bare name mean the entity', () => {
    const m = openTestMemory()
    m.act([
      ['record-principle', { name: 'Plan then Apply' }],
      ['record-file', { path: 'src/auth.ts' }],
      ['record-task', { description: 'do: it' }],
    ])
    const id = m.memory.reader.list('task')[0]!.id
    for (const ref of [
      'principle:plan-then-apply',
      'principle:Plan then Apply',
      'Plan then Apply',
      'plan-then-apply',
      ' plan then apply ',
    ])
      expect(
        m.act([
          ['retire', { ref, reason: 'x' }],
          ['restore', { ref }],
        ]).results[0]!.id,
      ).toBe('principle:plan-then-apply')
    for (const ref of ['src/auth.ts', './src/auth.ts', 'file:src/auth.ts']) expect(m.get(ref.trim())!.kind).toBe('file')
    for (const ref of [id, 'do: it', 'task:do: it']) expect(m.get(ref)!.id).toBe(id)
  })

  test('[A3] the id of a long name is found without its kind', () => {
    const m = openTestMemory()
    const { id } = m.act([
      ['record-decision', { name: 'A probe that asks a machine on demand is a POST and no GET at all' }],
    ]).results[0]!
    expect(id).toMatch(/-[0-9a-f]{12}$/)
    expect(m.get(String(id).replace('decision:', ''))!.id).toBe(id)
  })

  test('[A3] an ambiguous one is refused with the candidates', () => {
    const m = openTestMemory()
    m.act([
      ['record-principle', { name: 'same' }],
      ['record-pattern', { name: 'Same' }],
    ])
    expect(m.refused([['retire', { ref: 'same', reason: 'x' }]])).toEqual([
      {
        index: 0,
        verb: 'retire',
        field: 'ref',
        message: '"same" means several things',
        received: 'same',
        accepted: 'principle:same or pattern:same',
        hint: 'say which with its id',
      },
    ])
    m.act([['retire', { ref: 'pattern:same', reason: 'x' }]])
    m.act([['delete-principle', { name: 'same' }]])
    expect(m.discover('(get "same")')).toEqual(['(pattern "Same" :retired x)'])
    for (const ref of [7, null, {}, [], '', '  ', true])
      expect(m.refused([['retire', { ref, reason: 'x' }]])).toMatchObject([{ field: 'ref' }])
  })

  test('[A3] every printed entity shows a reference that the verbs accept', () => {
    const m = openTestMemory()
    const examples = m.memory
      .registry()
      .kinds()
      .filter((k) => !k.internal)
      .map((k) => [`record-${k.name}`, k.example])
    m.act(examples)
    m.act(examples)
    for (const kind of m.memory.registry().kinds()) {
      if (kind.internal) continue
      for (const e of m.memory.reader.list(kind.name)) {
        const [shown] = m.discover(`(let ((e (get "${e.id}"))) (or (@ e :id) (@ e :name)))`)
        m.act([['retire', { ref: JSON.parse(shown!), reason: 'x' }]])
        expect(m.get(e.id)!.fields.retired).toBe('x')
      }
    }
  })
})
