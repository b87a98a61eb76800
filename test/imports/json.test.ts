import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Memory } from '../../src/engine/memory.ts'
import type { Json } from '../../src/model/field.ts'
import { exportTool } from '../../src/surfaces/tools/export.ts'
import { json as exporter } from '../../src/travel/formats/export/json.ts'
import type { KnowledgeDocument } from '../../src/travel/formats/import/document.ts'
import { importFrom } from '../../src/travel/formats/import/index.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'
import { runs } from '../runs.ts'

const documentOf = (memory: Memory) => JSON.parse(exporter.write(memory, {})) as KnowledgeDocument

/** Writes the export of one project and imports it into another. */
async function adopt(from: TestMemory, into: TestMemory, format = 'json') {
  const path = join(into.dir, `knowledge.${format}`)
  exportTool.run({ memory: from.memory, project: from.project }, { format, path, force: true })
  return importFrom(into.memory, format, path, { root: into.dir })
}

/** What a document says, by the ids of the project it came from first; who wrote it and when aside. */
function saying(document: KnowledgeDocument): unknown {
  const origin = new Map<string, string>()
  for (const e of document.entities) {
    const mark = (e.fields.attrs as { origin?: string } | undefined)?.origin
    if (mark !== undefined) origin.set(e.id, mark.slice(mark.indexOf('/') + 1))
  }
  const first = (v: Json): Json => {
    if (typeof v === 'string') return origin.get(v) ?? v
    if (Array.isArray(v)) return v.map(first)
    if (v === null || typeof v !== 'object') return v
    return Object.fromEntries(Object.entries(v).map(([k, x]) => [k, first(x)]))
  }
  const entities = document.entities.map(({ id, kind, fields, retired }) => {
    const { origin: _, ...attrs } = (fields.attrs ?? {}) as { [key: string]: Json }
    const rest = Object.fromEntries(Object.entries(fields).filter(([f]) => f !== 'attrs'))
    return {
      id: first(id),
      kind,
      retired,
      fields: first({ ...rest, ...(Object.keys(attrs).length > 0 ? { attrs } : {}) }),
    }
  })
  const links = document.links.map((l) => ({
    from: first(l.from),
    to: first(l.to),
    type: l.type,
    fields: l.fields,
    retired: l.retired,
  }))
  const sorted = (list: unknown[]) => list.map((x) => JSON.stringify(x)).sort()
  return { entities: sorted(entities), links: sorted(links) }
}

test('an export is sorted, holds what was said and nothing else, and is the same twice', () => {
  const t = openTestMemory()
  t.act([
    [
      'define-kind',
      { name: 'endpoint', fields: { name: 'text', method: { type: 'choice', choices: ['GET', 'POST'] } } },
    ],
    ['define-relation', { name: 'owned-by' }],
    ['record-endpoint', { name: 'login', method: 'POST' }],
    ['record-decision', { name: 'use-sqlite', impact: 8 }],
    ['record-person', { name: 'Ana' }],
    ['link-entities', { from: 'login', to: 'person:ana', type: 'owned-by' }],
  ])
  const document = documentOf(t.memory)
  expect(document).toMatchObject({ tidemark: 1, project: t.project.id })
  expect(document.entities.map((e) => e.id)).toEqual([
    'project-kind:endpoint',
    'project-relation:owned-by',
    'decision:use-sqlite',
    'endpoint:login',
    'person:ana',
  ])
  expect(document.entities[2]).toEqual({
    id: 'decision:use-sqlite',
    kind: 'decision',
    fields: { name: 'use-sqlite', impact: 8 },
    created: '2026-11-21T09:00:00.000Z',
    updated: '2026-11-21T09:00:00.000Z',
    provenance: [expect.objectContaining({ session: 'test', user: 'tester' })],
  })
  expect(document.links).toMatchObject([{ from: 'endpoint:login', to: 'person:ana', type: 'owned-by', fields: {} }])
  expect(exporter.write(t.memory, {})).toBe(exporter.write(t.memory, {}))
})

test('another project adopts it: names and ids stay, references follow, the provenance says from where', async () => {
  const a = openTestMemory()
  a.act([
    ['record-goal', { originalAsk: 'Sell tea' }],
    ['record-decision', { name: 'json-files', rationale: 'simple' }],
    ['record-decision', { name: 'sqlite', relatedDecisions: ['json-files'] }],
    ['supersede', { old: 'json-files', new: 'sqlite', reason: 'lost writes' }],
    ['record-insight', { summary: 'one' }],
    ['record-insight', { summary: 'one' }],
    ['record-fact', { fact: 'Use pnpm', standing: 'proposed' }],
    ['record-learning', { title: 'Old', body: 'x' }],
    ['retire', { ref: 'Old', reason: 'gone' }],
    ['rename', { ref: 'sqlite', name: 'sqlite-wal' }],
  ])
  const { results } = a.act([['record-activity', { description: 'checkout', goal: 'goal:sell-tea' }]])
  const task = a.act([['record-task', { description: 'pay', activity: results[0]!.id }]]).results[0]!.id
  a.act([
    ['link-entities', { from: task, to: 'sqlite-wal', type: 'uses', confidence: 0.5 }],
    ['record-task', { ref: task, state: 'complete' }],
    ['propose', { action: ['record-decision', { ref: 'decision:sqlite', impact: 3 }], evidence: 'asked' }],
  ])
  const b = openTestMemory({ seed: 2 })
  const report = await adopt(a, b)
  expect(report.unplaced).toEqual([])
  // one comes with the decision that names it
  expect(report.kinds.link).toEqual({ created: report.read.links! - 1, updated: 0, unchanged: 1 })
  expect(saying(documentOf(b.memory))).toEqual(saying(documentOf(a.memory)))
  expect(b.get('decision:sqlite')?.name).toBe('sqlite-wal')
  expect(b.get('decision:json-files')?.fields.status).toBe('superseded')
  expect(b.memory.reader.list('insight')).toHaveLength(2)
  const adopted = b.memory.reader.list('task')[0]!
  expect(adopted.fields).toMatchObject({ state: 'complete', attrs: { origin: `${a.project.id}/${task}` } })
  expect(b.get(String(adopted.fields.activity))?.name).toBe('checkout')
  expect(b.get('decision:sqlite')?.fields.provenance).toEqual([
    expect.objectContaining({ source: `import json ${a.project.id}` }),
  ])

  const cursor = b.memory.cursor
  expect(await adopt(a, b)).toMatchObject({ created: 0, updated: 0, batches: [] })
  expect(b.memory.cursor).toBe(cursor)

  // a changed source updates; what was decided here stays
  b.act([
    ['record-decision', { name: 'postgres' }],
    ['supersede', { old: 'sqlite-wal', new: 'postgres' }],
  ])
  a.act([
    ['record-decision', { name: 'sqlite-wal', impact: 9 }],
    ['record-task', { ref: task, result: 'works' }],
  ])
  await adopt(a, b)
  expect(b.get('decision:sqlite')?.fields).toMatchObject({ impact: 9, status: 'superseded' })
  expect(b.memory.reader.list('task')[0]!.fields.result).toBe('works')

  // and back again: what came from here is found again by what it is here
  await adopt(b, a)
  expect(a.memory.reader.list('task')).toHaveLength(1)
  expect(a.get(task)?.fields.attrs).toBeUndefined()
  expect(a.get('decision:sqlite')?.fields.status).toBe('superseded')

  // a third project that hears of it from both sides has it once
  const c = openTestMemory({ seed: 3 })
  await adopt(b, c)
  await adopt(a, c)
  expect(c.memory.reader.list('task')).toHaveLength(1)
  expect(c.memory.reader.list('insight')).toHaveLength(2)
})

test('a document of a newer Tidemark: fields and kinds that are not known here are kept or told', async () => {
  const t = openTestMemory()
  const entity = (id: string, fields: object) => ({
    id,
    kind: id.split(':')[0],
    fields,
    created: '2026-01-01T00:00:00Z',
    updated: '2026-01-01T00:00:00Z',
  })
  const path = join(t.dir, 'k.json')
  writeFileSync(
    path,
    JSON.stringify({
      tidemark: 1,
      project: 'other-1',
      entities: [entity('decision:a', { name: 'a', mood: 'fine', impact: 99 }), entity('gizmo:b', { name: 'b' }), 7],
      links: [{ from: 'decision:a', to: 'decision:zz', type: 'uses' }],
    }),
  )
  const report = await importFrom(t.memory, 'json', path, { root: t.dir })
  expect(t.get('decision:a')?.fields.attrs).toEqual({ mood: 'fine', impact: 99 })
  expect(report.unplaced.map((u) => `${u.where} ${u.what} — ${u.why}`)).toEqual([
    'k.json#entities[2] 7 — not an entity with id, kind and fields',
    expect.stringMatching(/^k\.json#decision:a mood = "fine" — decision has no field "mood".*kept in attrs$/),
    'k.json#decision:a impact = 99 — out of range (a number from 0 to 10); kept in attrs',
    'k.json#gizmo:b record-gizmo — this project knows no kind gizmo',
    'k.json#links[0] uses: decision:a → decision:zz — "decision:zz" is not there',
  ])
  expect((await importFrom(t.memory, 'json', path, { root: t.dir })).batches).toEqual([])
})

const NAMES = [
  'a',
  'B',
  'b c',
  'b-c',
  'C++',
  '中文',
  'use sqlite.',
  'x/y.ts',
  'ḿ',
  'Long name with many words in it that goes on',
]
const name = fc.constantFrom(...NAMES)
const words = fc
  .string({ maxLength: 20, unit: 'grapheme' })
  .filter((s) => s.trim() !== '' && s.isWellFormed() && !s.includes('\0'))
const some = fc.uniqueArray(words, { maxLength: 3, selector: (s) => s.normalize('NFC') })
const attrs = fc.dictionary(
  fc.constantFrom('k', 'l', 'deep'),
  fc.oneof(words, fc.integer(), fc.boolean(), fc.constant({ m: [1, 'x'] })),
  { maxKeys: 2 },
)
const REFS = ['decision', 'concept', 'fact', 'learning', 'file'] as const
const ref = fc.tuple(fc.constantFrom(...REFS), name).map(([k, n]) => `${k}:${n}`)

const action = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .record(
        {
          name,
          description: words,
          impact: fc.integer({ min: 0, max: 10 }),
          optionsConsidered: some,
          topics: some,
          attrs,
          status: fc.constantFrom('active', 'deprecated'),
        },
        { requiredKeys: ['name'] },
      )
      .map((r) => ['record-decision', r] as const),
  },
  {
    weight: 2,
    arbitrary: fc
      .record(
        {
          name,
          definition: words,
          observations: some,
          tags: some,
          validFrom: fc.constantFrom('2026-01-01', '2026-02-03T04:05:06Z'),
        },
        { requiredKeys: ['name'] },
      )
      .map((r) => ['record-concept', r] as const),
  },
  {
    weight: 2,
    arbitrary: fc
      .record(
        {
          fact: name,
          category: fc.constantFrom('tool', 'workflow'),
          standing: fc.constantFrom('proposed', 'rejected', 'confirmed'),
          locations: some,
        },
        { requiredKeys: ['fact'] },
      )
      .map((r) => ['record-fact', r] as const),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({ path: name, summary: words, relatedFiles: some }, { requiredKeys: ['path'] })
      .map((r) => ['record-file', r] as const),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({ title: name, body: words, stack: some, attrs }, { requiredKeys: ['title'] })
      .map((r) => ['record-learning', r] as const),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({ content: words, position: fc.nat(9), section: words }, { requiredKeys: ['content'] })
      .map((r) => ['record-chunk', r] as const),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({ summary: words, implications: some, attrs }, { requiredKeys: ['summary'] })
      .map((r) => ['record-insight', r] as const),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({ name, level: fc.constantFrom('hi', 'lo'), tags: some }, { requiredKeys: ['name'] })
      .map((r) => ['record-gadget', r] as const),
  },
  {
    weight: 3,
    arbitrary: fc
      .record(
        {
          from: ref,
          to: ref,
          type: fc.constantFrom('uses', 'depends-on', 'similar-to', 'near'),
          description: words,
          confidence: fc.constantFrom(0, 0.5, 1),
        },
        { requiredKeys: ['from', 'to', 'type'] },
      )
      .map((r) => ['link-entities', r] as const),
  },
  { weight: 1, arbitrary: fc.record({ old: ref, new: ref }).map((r) => ['supersede', r] as const) },
  { weight: 1, arbitrary: fc.record({ ref, name: words }).map((r) => ['rename', r] as const) },
  { weight: 1, arbitrary: fc.record({ ref, reason: words }).map((r) => ['retire', r] as const) },
  { weight: 1, arbitrary: ref.map((r) => [`delete-${r.split(':')[0]}`, { ref: r }] as const) },
  { weight: 1, arbitrary: ref.map((r) => ['restore', { ref: r }] as const) },
)

const SETUP = [
  ['define-kind', { name: 'gadget', fields: { name: 'text', level: { type: 'choice', choices: ['hi', 'lo'] } } }],
  ['define-relation', { name: 'near', symmetric: true }],
]

test.each(['json', 'yjs'])(
  '[S1] export %s → import → export gives the same knowledge, and a second import writes nothing, for whatever was done',
  {
    tags: ['property'],
  },
  async (format) => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 40 }), async (actions) => {
        const a = openTestMemory()
        const b = openTestMemory({ seed: 2 })
        try {
          a.act(SETUP)
          for (const one of actions) {
            try {
              a.act([one])
            } catch {} // what is refused leaves no trace; the rest is the history
          }
          const superseded = a.memory.reader
            .list('decision', { all: true })
            .filter((e) => e.fields.status === 'superseded')
          // a status whose cause was deleted can be read, but nothing could write it anew: told, not restored
          const orphans = superseded.filter(
            (e) => !a.memory.reader.links('to', e.id).some((l) => l.type === 'supersedes'),
          )
          const report = await adopt(a, b, format)
          expect(report.unplaced.map((u) => u.what)).toEqual(orphans.map(() => 'status = superseded'))
          if (orphans.length === 0) expect(saying(documentOf(b.memory))).toEqual(saying(documentOf(a.memory)))
          const cursor = b.memory.cursor
          expect((await adopt(a, b, format)).batches).toEqual([])
          expect(b.memory.cursor).toBe(cursor)
        } finally {
          a.close()
          b.close()
        }
      }),
      { numRuns: runs(15, 60), ...(process.env.TIDEMARK_SEED ? { seed: Number(process.env.TIDEMARK_SEED) } : {}) },
    )
  },
)

test('[X8] a shared value is taken over exactly as it is; one that is shared here already stays', async () => {
  const a = openTestMemory({ seed: 1 })
  const b = openTestMemory({ seed: 2 })
  const values = {
    list: [1, 1, { x: null }],
    text: 'review',
    map: { a: null, b: {}, c: [] },
    nothing: null,
    'Odd key': 1,
  }
  for (const [key, value] of Object.entries(values)) a.library.share.set(key, value)
  a.act([['record-context', { key: 'map', tags: ['of-map'] }]])
  b.library.share.set('text', 'mine')
  const report = await adopt(a, b)
  expect(report.unplaced).toEqual([])
  expect(report.kept.map((k) => k.what)).toEqual(['context text'])
  expect(b.library.share.context().data).toEqual({ ...values, text: 'mine' })
  expect(b.get('context:map')!.fields.tags).toEqual(['of-map'])
  expect((await adopt(a, b)).batches).toEqual([])
})

test('the file is readable text that changes little when one entity does', () => {
  const t = openTestMemory()
  t.act([
    ['record-decision', { name: 'a' }],
    ['record-decision', { name: 'b' }],
  ])
  const before = exporter.write(t.memory, {}).split('\n')
  t.act([['record-decision', { name: 'a', impact: 3 }]])
  const after = exporter.write(t.memory, {}).split('\n')
  const changed = after.filter((l) => !before.includes(l))
  expect(changed.map((l) => l.trim())).toEqual(['"impact": 3,', expect.stringMatching(/^"updated": /)])
})
