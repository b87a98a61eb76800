import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, test } from 'vitest'
import type { Entity } from '../../src/model/entity.ts'
import { shapesOf } from '../../src/project/discover/values.ts'
import type { DataEntity } from '../../src/scheme/data.ts'
import { type Data, parseData } from '../../src/scheme/data.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'
import { ENTITIES } from './entities.ts'
import { recordOneOfEach } from './fixture.ts'

const tokens = (text: string) => encode(text).length
const KINDS = ['decision', 'principle', 'fact', 'learning', 'file', 'question'] as const

function fifty(): TestMemory {
  const m = openTestMemory()
  m.act(ENTITIES)
  return m
}

const all = (m: TestMemory): Entity[] => KINDS.flatMap((k) => m.memory.reader.list(k))
/** What an entity says, as JSON says it. */
const fieldsOf = ({ fields: { provenance: _provenance, ...fields } }: Entity) => fields
const printed = (m: TestMemory, e: Entity) => m.discover(`(get "${e.id}")`)[0]!
const plain = (e: DataEntity): Record<string, Data> => Object.fromEntries(e.fields)

describe('[S2] entities', () => {
  test('[S2] positional fields first, then the others in declared order; what is absent is left out', () => {
    const m = openTestMemory()
    m.act([
      [
        'record-principle',
        {
          tags: ['architecture'],
          locations: ['README.md:12'],
          confidence: 0.95,
          description: 'description',
          name: 'name',
        },
      ],
      ['record-correction', { rightBelief: 'it is so', wrongBelief: 'it was so', severity: 'low' }],
      ['record-correction', { rightBelief: 'alone' }],
      ['record-person', { name: 'Ana', contact: 'ana@example.org' }],
      [
        'record-concept',
        {
          name: 'odd: "name"\n',
          definition: 'nil',
          type: 'true',
          domain: '12',
          attrs: { 'a b': ':k', empty: {}, none: [], deep: { list: [1, -0.5, true, false] } },
        },
      ],
    ])
    expect(m.discover('(get-principle "name") (get-person "Ana") (get-concepts)')).toEqual([
      '(principle "name" "description" :confidence 0.95 :locations ["README.md:12"] :tags [architecture])',
      '(person "Ana" :contact "ana@example.org")',
      String.raw`((concept "odd: \"name\"\n" "nil" :domain "12" :type "true" :attrs {:|a b| ":k" :deep {:list [1 -0.5 #t #f]} :empty {} :none []}))`,
    ])
    const shown = m.discover('(get-corrections)')[0]!
    expect(shown).toMatch(/\(correction "it was so" "it is so" :id "correction:\w+" :severity low\)/)
    expect(shown).toMatch(/\(correction :rightBelief alone :id "correction:\w+"\)/)
  })

  test('[S2] [S4] what is printed of every kind parses to the same fields, alone and in lists', () => {
    const m = fifty()
    recordOneOfEach(m)
    const shapes = shapesOf(m.memory.registry())
    const same = (parsed: DataEntity, e: Entity) => {
      const { id: _id, ...fields } = plain(parsed)
      expect({ kind: parsed.kind, ...fields }).toEqual({ kind: e.kind, ...fieldsOf(e) })
    }
    for (const kind of m.memory.registry().kinds()) {
      if (kind.internal) continue
      const entities = m.memory.reader.list(kind.name)
      for (const e of entities) same(parseData(printed(m, e), shapes) as DataEntity, e)
      const [list] = m.discover(`(get-${kind.plural})`)
      const parsed = parseData(list!, shapes) as DataEntity[]
      expect(parsed).toHaveLength(entities.length)
      parsed.forEach((p, i) => {
        same(p, entities[i]!)
      })
    }
  })
})

describe('[S3] [S4] tokens, counted with o200k', () => {
  test('[S3] an entity costs fewer tokens than minified JSON that names the kind', () => {
    const m = fifty()
    let ours = 0
    let theirs = 0
    for (const e of all(m)) {
      const own = tokens(printed(m, e))
      const json = tokens(JSON.stringify({ kind: e.kind, ...fieldsOf(e) }))
      expect(own, printed(m, e)).toBeLessThan(json)
      ours += own
      theirs += json
    }
    expect(all(m)).toHaveLength(50)
    expect(1 - ours / theirs).toBeGreaterThan(0.03)
  })

  test('[S3] and at least 35 % fewer than indented JSON where its text is short', () => {
    const m = fifty()
    const sum = (text: (e: Entity) => string) => all(m).reduce((n, e) => n + tokens(text(e)), 0)
    const indented = sum((e) => JSON.stringify({ kind: e.kind, ...fieldsOf(e) }, undefined, 2))
    expect(1 - sum((e) => printed(m, e)) / indented).toBeGreaterThanOrEqual(0.35)
  })

  test.each(KINDS)(
    '[S4] three or more %ss print as a table that never costs more than minified JSON by kind',
    (kind) => {
      const m = fifty()
      const { plural } = m.memory.registry().kind(kind)!
      const entities = m.memory.reader.list(kind)
      for (let n = 3; n <= entities.length; n++) {
        const [list] = m.discover(`(get-${plural} :limit ${n})`)
        const json = JSON.stringify({ [plural]: entities.slice(0, n).map(fieldsOf) })
        expect(list).toMatch(new RegExp(`^\\(${plural} \\[:`))
        expect(tokens(list!)).toBeLessThanOrEqual(tokens(json))
      }
    },
  )

  test('[S4] from ten rows of short fields tables cost at least 20 % less than minified JSON by kind', () => {
    const m = fifty()
    const long = KINDS.filter((kind) => m.memory.reader.list(kind).length >= 10)
    expect(long).toHaveLength(3)
    const costs = long.map((kind) => {
      const { plural } = m.memory.registry().kind(kind)!
      const json = JSON.stringify({ [plural]: m.memory.reader.list(kind).map(fieldsOf) })
      return { kind, ours: tokens(m.discover(`(get-${plural})`)[0]!), theirs: tokens(json) }
    })
    const saved = (of: typeof costs) => 1 - of.reduce((n, c) => n + c.ours, 0) / of.reduce((n, c) => n + c.theirs, 0)
    expect(saved(costs)).toBeGreaterThanOrEqual(0.2)
    // one kind alone may miss it by a little where sentences outweigh the names of the fields
    for (const c of costs) expect(saved([c]), c.kind).toBeGreaterThan(0.18)
  })
})
