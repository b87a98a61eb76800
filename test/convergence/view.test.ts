import { rmSync } from 'node:fs'
import * as fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import type { Reader } from '../../src/engine/read/reader.ts'
import type { LineName } from '../../src/engine/read/view.ts'
import { Recaller } from '../../src/find/recall/recall.ts'
import { runs, SEED } from '../runs.ts'
import { dump, join1, linesOf, Replica, tempDir } from './harness.ts'
import { dropTemplate, run, scenario } from './scenario.ts'

const RUNS = runs(60, 300)

afterAll(dropTemplate)

const KINDS = ['decision', 'question', 'relationship']
const WORDS = ['one', 'two', 'a', 'b', 'why', 'how']

/** Everything that a reader says, in an order of its own. */
function said(reader: Reader, ids: readonly string[]): unknown {
  const sorted = <T>(all: readonly T[]) => all.map((x) => JSON.stringify(x)).sort()
  return {
    entities: ids.map((id) => reader.entity(id) ?? null),
    together: sorted(reader.entities(ids)),
    all: [...reader.allIds()].sort(),
    lists: KINDS.flatMap((kind) =>
      [{}, { all: true }, { current: true }, { limit: 1 }, { standing: 'confirmed' }, { session: 'a' }].map((o) => [
        reader.list(kind, o).map((e) => e.id),
        reader.ids(kind, o),
      ]),
    ),
    ids: reader.ids(KINDS, { limit: 3 }),
    page: reader.ids(KINDS, { limit: 2, offset: 1 }),
    names: ['one', 'two', 'a', 'b'].map((name) => reader.byName(name).map((e) => e.id)),
    links: (['from', 'to'] as const).map((end) => ids.map((id) => reader.links(end, id))),
    edges: (['from', 'to'] as const).map((end) => reader.edges(end, ids)),
    some: reader.edges('from', ids, ['supersedes', 'supports']),
    linksOf: reader.linksOf(['supersedes', 'relates-to']),
    conflicts: reader.conflicts(),
    counts: reader.counts(),
    found: WORDS.map((word) => sorted(reader.search(word, 10).map((e) => e.id))),
  }
}

/** A replica that has every line but these. */
function withoutThem(dir: string, from: Replica, lines: ReadonlySet<string>, name: string): Replica {
  const to = new Replica(dir, name, 4711)
  to.now = from.now
  const { header, lines: all } = linesOf(from)
  const kept = all.filter((text) => {
    const { r, n } = JSON.parse(text) as { r: string; n: number }
    return !lines.has(`${r}:${n}`)
  })
  if (kept.length > 0) to.memory.applyUpdates(join1(header, kept))
  return to
}

const chosen = fc.infiniteStream(fc.integer({ min: 0, max: 3 }))

test(`[K10] a view without some lines, and a store that declines them, are as one that never had them (${RUNS} runs)`, {
  tags: ['property'],
  timeout: 60_000 + RUNS * 2_000,
}, () => {
  process.stderr.write(`[K10] ${RUNS} runs, TIDEMARK_SEED=${SEED}\n`)
  fc.assert(
    fc.property(scenario, chosen, (s, stream) => {
      run(s, (_world, replicas) => {
        const dir = tempDir()
        const r = replicas[0]!
        const names = linesOf(r).lines.map((text): LineName => {
          const { r: replica, n: seq } = JSON.parse(text) as { r: string; n: number }
          return { replica, seq }
        })
        const without = names.filter(() => stream.next().value === 0)
        const never = withoutThem(dir, r, new Set(without.map((l) => `${l.replica}:${l.seq}`)), 'never')
        try {
          // when something came is another question, and here another time
          for (const { memory } of [r, never]) memory.db.run("DELETE FROM meta WHERE key='ahead'")
          const ids = r.memory.reader.allIds().slice().sort()
          const before = JSON.stringify(dump(r.memory))
          expect(said(r.memory.view({ without }), ids)).toEqual(said(never.memory.reader, ids))
          const batches = without.map((l) => `${l.replica}:${l.seq}`)
          expect(r.memory.decline(batches)).toBe(batches.length)
          expect(dump(r.memory)).toEqual(dump(never.memory))
          r.memory.rebuild()
          expect(dump(r.memory)).toEqual(dump(never.memory))
          expect(r.memory.decline(batches, { admit: true })).toBe(batches.length)
          expect(JSON.stringify(dump(r.memory))).toBe(before)
        } finally {
          never.memory.close()
          rmSync(dir, { recursive: true, force: true })
        }
      })
    }),
    { numRuns: RUNS, seed: SEED },
  )
})

test('[K10] a view without the lines of a kind of its own, and recall in it', async () => {
  const dir = tempDir()
  const ana = new Replica(dir, 'ana')
  const recaller = new Recaller(ana.memory, undefined)
  try {
    ana.act([['record-decision', { name: 'use pnpm', rationale: 'it is faster than the others' }]])
    const kind = ana.act([['define-kind', { name: 'recipe', key: 'title', fields: { title: 'text' } }]]).batch!
    ana.act([['record-recipe', { title: 'plum cake' }]])
    const yarn = ana.act([['record-decision', { name: 'use yarn', rationale: 'plums are blue' }]]).batch!
    const lineOf = (batch: string): LineName => ({ replica: batch.split(':')[0]!, seq: Number(batch.split(':')[1]) })
    const view = ana.memory.view({ without: [lineOf(kind), lineOf(yarn)] })
    expect(view.registry().kind('recipe')).toBeUndefined()
    expect(ana.memory.registry().kind('recipe')).toBeDefined()
    expect(view.entity('decision:use-yarn')).toBeUndefined()
    const found = async (without: LineName[]) => (await recaller.ask('plums', {}, without)).results.map((r) => r.id)
    expect(await found([])).toContain('decision:use-yarn')
    expect(await found([lineOf(yarn)])).not.toContain('decision:use-yarn')
    expect(await found([lineOf(yarn)])).toContain('recipe:plum-cake')
  } finally {
    recaller.close()
    ana.memory.close()
    rmSync(dir, { recursive: true, force: true })
  }
})
