import { describe, expect, test } from 'vitest'
import { UserError } from '../../src/base/errors.ts'
import { KINDS } from '../../src/model/kinds/index.ts'
import { INTROSPECTION } from '../../src/model/names.ts'
import { discover } from '../../src/project/discover/discover.ts'
import { verbHelp } from '../../src/project/discover/introspection.ts'
import { shapesOf } from '../../src/project/discover/values.ts'
import type { DataEntity } from '../../src/scheme/data.ts'
import { parseData } from '../../src/scheme/data.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { openTestMemory } from '../helpers.ts'
import { recordOneOfEach } from './fixture.ts'

/** Examples that show an error on purpose. */
const SHOWS_AN_ERROR = /^\((error|raise|assert)|error/

describe('[D10] introspection', () => {
  test('[D10] verbs, kinds, relations, schema-candidates answer in the notation, and parse', () => {
    const m = openTestMemory()
    recordOneOfEach(m)
    const shapes = shapesOf(m.memory.registry())
    const [verbs, kinds, relations, decision, supports] = m
      .discover('(verbs) (kinds) (relations) (describe "decision") (describe "supports")', {
        budget: { outputChars: 400_000 },
      })
      .map((printed) => parseData(printed, shapes)) as [
      DataEntity[],
      DataEntity[],
      DataEntity[],
      DataEntity,
      DataEntity,
    ]
    expect(verbs.map((v) => v.fields.get('name'))).toEqual(
      expect.arrayContaining(['record-decision', 'delete-task', 'link-entities', 'undo', 'record-file-understanding']),
    )
    expect(kinds.map((k) => k.fields.get('name'))).toEqual(KINDS.filter((k) => !('internal' in k)).map((k) => k.name))
    expect(relations.length).toBeGreaterThan(30)
    expect(decision.kind).toBe('kind')
    expect((decision.fields.get('fields') as DataEntity[]).map((f) => f.fields.get('name'))).toEqual(
      expect.arrayContaining(['name', 'rationale', 'topics', 'attrs']),
    )
    expect(supports.fields.get('inverse')).toBe('supported-by')
  })

  test('[D10] every one of them fits into a reply uncut', () => {
    const m = openTestMemory()
    recordOneOfEach(m)
    for (const program of [
      '(verbs)',
      '(kinds)',
      '(relations)',
      '(help)',
      ...KINDS.map((k) => `(describe "${k.name}")`),
    ]) {
      const [printed] = m.discover(program)
      expect(printed, program).not.toContain('#|')
      expect(printed, program).not.toMatch(/^\(error/)
    }
  })

  test('[D10] every name of (help) explains itself, with an example that runs', () => {
    const m = openTestMemory()
    recordOneOfEach(m)
    const names = parseData(m.discover('(help)')[0]!) as string[]
    expect(names.length).toBeGreaterThan(200)
    const failed: string[] = []
    for (const name of names) {
      const [shown] = m.discover(`(help ${JSON.stringify(name)})`)
      if (!/^\((help|verb) /.test(shown!)) failed.push(`${name}: ${shown}`)
      const [about, example] = m
        .discover(`(@ (help ${JSON.stringify(name)}) :about) (@ (help ${JSON.stringify(name)}) :example)`)
        .map((v) => JSON.parse(v) as string)
      if (!about || !example) failed.push(`${name}: without about or example`)
      const printed = discover(m.memory, example ?? '')
      for (const value of printed)
        if (/^\(error/.test(value) && !SHOWS_AN_ERROR.test(example ?? '')) failed.push(`${name}: ${example} → ${value}`)
    }
    expect(failed).toEqual([])
  })

  test('[D10] what reads knowledge gives a result in its example, not nothing', () => {
    const m = openTestMemory()
    recordOneOfEach(m)
    const empty: string[] = []
    for (const name of parseData(m.discover('(help)')[0]!) as string[]) {
      if (!name.startsWith('get') && name !== 'search-knowledge') continue
      const example = JSON.parse(m.discover(`(@ (help "${name}") :example)`)[0]!) as string
      const [value] = m.discover(example)
      if (value === '()' || value === 'nil') empty.push(example)
    }
    expect(empty).toEqual(['(get-related-files "src/auth.ts")'])
  })

  test('[D10] the example of every verb runs against a prepared memory', () => {
    const { memory } = openTestMemory()
    const refused: string[] = []
    for (const v of verbHelp(memory.registry(), memory.verbs.values())) {
      const m = openTestMemory()
      recordOneOfEach(m)
      if (v.name === 'restore') m.act([['delete-decision', { name: 'use-json-files' }]])
      if (v.name === 'redo') m.act([['undo', {}]])
      if (v.name === 'release' || v.name === 'hand-over') m.act([['claim', { paths: ['src/auth/**'] }]])
      if (v.name === 'hand-over' || v.name === 'assign-task') sessionsOf(m.memory).start({ id: 'b7' })
      if (v.name === 'delete-mutation') expect(v.required).toContain('ref')
      try {
        m.act([JSON.parse(v.example)])
      } catch (error) {
        if (!(error instanceof UserError)) throw error
        refused.push(`${v.name}: ${error.message}`)
      }
      m.close()
    }
    expect(refused).toEqual([])
  })

  test('[D10] (help "verb") gives the arguments of verbs, of project kinds too', () => {
    const m = openTestMemory()
    m.act([
      [
        'define-kind',
        {
          name: 'endpoint',
          about: 'an HTTP endpoint',
          fields: { name: 'text', cost: { type: 'number', min: 2, max: 5 } },
        },
      ],
    ])
    expect(m.discover('(help "update-confidence") (help "record-endpoint") (map :name (kinds))')).toEqual([
      '(verb "update-confidence" "says how sure one is of something" :required [ref confidence] :optional [] :takes {:ref "reference: what it is about" :confidence "a number from 0 to 1: how sure"} :example "[\\"update-confidence\\",{\\"ref\\":\\"plan-then-apply\\",\\"confidence\\":0.95}]")',
      expect.stringContaining(
        '(verb "record-endpoint" "records an HTTP endpoint" :required [name] :optional [cost topics tags',
      ),
      expect.stringContaining('"endpoint"'),
    ])
    expect(m.discover('(describe "endpoint")')[0]).toContain('(field "cost" "number" :min 2 :max 5)')
  })

  test('[D10] help answers for builtins, special forms and knowledge functions, and says what is not offered', () => {
    const m = openTestMemory()
    expect(m.discover('(help "filter") (help \'let) (help "get-principles") (help "call/cc")')).toEqual([
      '(help "filter" "The elements for which keep? is true; keep? may be a keyword." :signature "(filter keep? xs)" :example "(filter odd? \'(1 2 3))")',
      expect.stringMatching(/^\(help "let" "Local names;.* :signature "\(let \(\(name value\) …\) body …\)"/),
      expect.stringMatching(/^\(help "get-principles" "every principle, newest first/),
      '(error "call/cc is not offered: use a named let, find, or any")',
    ])
  })

  test('[D10] what is unknown is an error with the nearest names', () => {
    const m = openTestMemory()
    expect(m.discover('(describe "decison") (help "fliter") (help "zzzzzzzzzz")')).toEqual([
      '(error "no kind or relation \\"decison\\"" :hint "did you mean decision?")',
      expect.stringMatching(/^\(error "nothing is called \\"fliter\\"" :hint "did you mean .*filter/),
      '(error "nothing is called \\"zzzzzzzzzz\\"" :hint "(help) lists every name")',
    ])
  })

  test('[D10] schema-candidates lists what recurs in attrs, with an example that runs', () => {
    const m = openTestMemory()
    m.act(
      [1, 2, 3].map((i) => ['record-decision', { name: `d${i}`, attrs: { owner: 'Ana', cost: i, [`only-${i}`]: 1 } }]),
    )
    m.act([['record-decision', { name: 'd4', attrs: { owner: 'Ben' } }]])
    const [all, example] = m.discover('(schema-candidates) (@ (car (schema-candidates)) :example)')
    expect(all).toContain('(candidate "decision" "owner" :type text :entities 4')
    expect(all).toContain('(candidate "decision" "cost" :type number :entities 3')
    expect(all).not.toContain('only-')
    expect(m.discover(JSON.parse(example!))).toEqual(['("Ben" "Ana" "Ana" "Ana")'])
  })

  test('[D10] the heads that introspection prints have a shape each', () => {
    const { memory } = openTestMemory()
    const shapes = shapesOf(memory.registry())
    for (const [kind, plural] of Object.entries(INTROSPECTION)) {
      expect(shapes.byKind(kind)?.plural).toBe(plural)
      expect(shapes.byPlural(plural)?.kind).toBe(kind)
    }
  })
})
