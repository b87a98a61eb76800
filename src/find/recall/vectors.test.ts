import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openTestMemory, type TestMemory } from '../../../test/helpers.ts'
import { countDue, countVectors, useModel, vectorModel, vectorsOf } from '../../engine/store/vectors.ts'
import { asProjectMemory } from '../../surfaces/library.ts'
import type { Embedder } from './embedders/embedder.ts'
import { Recaller } from './recall.ts'
import { cosineTo, packVector, unpackVector } from './vector-bytes.ts'
import { fill, fillNow, lacksVectors, modelOf, storeMixed } from './vector-fill.ts'
import { VectorIndex } from './vector-index.ts'

const seed = Number(process.env.TIDEMARK_SEED ?? 20261122)
const DIMENSIONS = 32

/** A model of the tests: counts letters. */
function letters(id = 'letters-1', delay?: () => Promise<void>): Embedder {
  const one = (text: string): Float32Array => {
    const v = new Float32Array(DIMENSIONS)
    for (const c of text.toLowerCase()) v[c.charCodeAt(0) % DIMENSIONS]! += 1
    const norm = Math.hypot(...v) || 1
    return v.map((x) => x / norm)
  }
  return {
    ...{ id, dimensions: DIMENSIONS, floor: 0.2, ceiling: 0.9 },
    async embed(texts) {
      await delay?.()
      return texts.map(one)
    },
    embedNow: (texts) => texts.map(one),
  }
}

const chunks = (n: number, from = 0) =>
  Array.from({ length: n }, (_, i) => [
    'record-chunk',
    {
      content: `turn ${from + i} says ${'abcdefghijklmnopqrstuvwxyz'.slice((from + i) % 20, ((from + i) % 20) + 5)}`,
      ...{ sourceFile: 'talk', section: String(Math.floor((from + i) / 7)), position: from + i },
    },
  ])

const settle = (t: TestMemory, model = letters()) =>
  expect(fillNow(t.memory.db, model, t.memory.registry(), Number.POSITIVE_INFINITY)).toBe(true)

describe('the index in memory', () => {
  test('a vector as bytes points where it did, to a hundredth in each direction', () => {
    fc.assert(
      fc.property(fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: 8, maxLength: 64 }), (values) => {
        const v = Float32Array.from(values)
        const length = Math.hypot(...v)
        const back = unpackVector(packVector(v))
        for (const [i, x] of v.entries()) expect(Math.abs((length > 0 ? x / length : 0) - back[i]!)).toBeLessThan(0.01)
      }),
      { seed },
    )
  })

  const open = (t: TestMemory, model = letters()) => {
    const index = new VectorIndex(t.memory.db, modelOf(model), DIMENSIONS)
    index.refresh()
    return index
  }
  const [q] = letters().embedNow!(['what says fghij'])
  const answers = (index: VectorIndex) => [index.size, index.near(q!, 2_000), index.spread(q!, letters())]
  const everything = (t: TestMemory) => {
    const all = (sql: string) => t.memory.db.all(sql)
    return [all('SELECT * FROM vectors ORDER BY rowid'), all('SELECT block, data FROM vector_signs ORDER BY block')]
  }

  test('vectors that come and go step by step are mixed as all at once, and a process that follows answers alike', () => {
    const step = fc.record({ add: fc.integer({ min: 0, max: 9 }), drop: fc.nat(30), ask: fc.boolean() })
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        const t = openTestMemory()
        const following = new VectorIndex(t.memory.db, modelOf(letters()), DIMENSIONS)
        const there: string[] = []
        for (const [i, { add, drop, ask }] of steps.entries()) {
          // later ones stand before those that are there
          if (add > 0) there.push(...t.act(chunks(add, 60 - 10 * i)).results.map((r) => r.id!))
          if (ask) settle(t)
          const [gone] = there.splice(drop, 1)
          if (gone !== undefined) t.act([['delete-chunk', { ref: gone }]])
          following.refresh()
        }
        settle(t)
        following.refresh()
        const { db } = t.memory
        const made = [everything(t), answers(following), answers(open(t))]
        expect(made[2]).toEqual(made[1])
        expect(following.size).toBe(there.length)
        // made anew in one go
        db.write(() => {
          db.exec('DELETE FROM vectors; INSERT OR IGNORE INTO vectors_due SELECT rowid FROM texts')
        })
        settle(t)
        expect([everything(t), answers(open(t)), answers(open(t))]).toEqual(made)
        t.close()
      }),
      { seed, numRuns: 40 },
    )
  })

  test('an erased text is in nothing that stood beside it, before anybody asks again', () => {
    const t = openTestMemory()
    const ids = t.act(chunks(5)).results.map((r) => r.id!)
    settle(t)
    const { db } = t.memory
    const rowid = (id: string) => db.get<{ rowid: number }>('SELECT rowid FROM entities WHERE id=?', id)!.rowid
    const beside = rowid(ids[1]!)
    const plain = () => db.get<{ data: Uint8Array }>('SELECT data FROM vectors WHERE rowid=?', beside)!.data
    const mixed = () => vectorsOf(db, [beside])[0]!.data
    expect(mixed()).not.toEqual(plain())
    t.act([['purge', { ref: ids[2]!, reason: 'asked to' }]])
    expect(mixed()).toEqual(plain())
    expect(open(t).near(q!, 9)).toEqual([])
    settle(t)
    expect(mixed()).not.toEqual(plain())
    expect(open(t).size).toBe(4)
  })

  test('signs first, then a closer look: of 9,000 the nearest ten are nearly all found', () => {
    const t = openTestMemory()
    const { db } = t.memory
    let state = seed
    const random = () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return state / 2 ** 32 - 0.5
    }
    const dimensions = 384
    const vectors = Array.from({ length: 9_000 }, () => Float32Array.from({ length: dimensions }, random))
    db.write(() => {
      useModel(db, 'random')
      storeMixed(db, new Map(vectors.map((v, i) => [i + 1, packVector(v)])))
    })
    const index = new VectorIndex(db, 'random', dimensions)
    index.refresh()
    let found = 0
    for (let k = 0; k < 20; k++) {
      const q = Float32Array.from({ length: dimensions }, random)
      const cosines = vectors.map((v) => cosineTo(packVector(v), q))
      const exact = [...vectors.keys()].sort((a, b) => cosines[b]! - cosines[a]!).slice(0, 10)
      const near = new Set(
        index
          .near(q, 100)
          .slice(0, 100)
          .map((x) => x.rowid),
      )
      found += exact.filter((i) => near.has(i + 1)).length
    }
    // random directions are the worst case: real texts lie in fewer
    expect(found / 200).toBeGreaterThan(0.9)
  })
})

describe('making vectors', () => {
  test('a changed text is made anew, a deleted one is gone, another model makes all of them anew', () => {
    const t = openTestMemory()
    const { db } = t.memory
    t.act(chunks(10))
    t.act([['record-decision', { name: 'x', description: 'first' }]])
    expect(countDue(db)).toBe(11)
    settle(t)
    expect([countDue(db), countVectors(db)]).toEqual([0, 11])
    t.act([['record-decision', { name: 'x', description: 'second' }]])
    expect([countDue(db), countVectors(db)]).toEqual([1, 10])
    settle(t)
    t.act([['delete-decision', { name: 'x' }]])
    expect([countDue(db), countVectors(db)]).toEqual([0, 10])
    expect(lacksVectors(db, letters('letters-2'))).toBe(true)
    settle(t, letters('letters-2'))
    expect([vectorModel(db), countVectors(db)]).toEqual([modelOf(letters('letters-2')), 10])
  })

  test('another model takes out the vectors of the one before slice by slice; meanwhile nothing is compared with them', () => {
    const t = openTestMemory()
    const { db } = t.memory
    for (let b = 0; b < 26; b++) t.act(chunks(45, b * 45))
    settle(t)
    const index = new VectorIndex(db, modelOf(letters()), DIMENSIONS)
    index.refresh()
    expect(index.size).toBe(1_170)
    let steps = 0
    while (!db.write(() => useModel(db, 'another'))) {
      steps++
      index.refresh()
      expect([index.size, vectorModel(db), lacksVectors(db, letters())]).toEqual([0, undefined, true])
      expect(countVectors(db) + countDue(db)).toBe(1_170)
    }
    expect(steps).toBeGreaterThan(1)
    expect([countVectors(db), countDue(db), vectorModel(db)]).toEqual([0, 1_170, 'another'])
  })

  test('a text that changed while its vector was made keeps its place in the queue', async () => {
    const t = openTestMemory()
    const { db } = t.memory
    t.act([['record-decision', { name: 'x', description: 'first' }]])
    let changed = false
    const slow = letters('slow', async () => {
      if (changed) return
      changed = true
      t.act([['record-decision', { name: 'x', description: 'second' }]])
    })
    expect(await fill(db, slow, () => t.memory.registry(), 0)).toBe(false)
    expect([countDue(db), countVectors(db)]).toEqual([1, 0])
    expect(await fill(db, slow, () => t.memory.registry(), Number.POSITIVE_INFINITY)).toBe(true)
    expect([countDue(db), countVectors(db)]).toEqual([0, 1])
  })

  test('vectors of a model that is no longer used are not stored', async () => {
    const t = openTestMemory()
    const { db } = t.memory
    t.act(chunks(1))
    const slow = letters('old', async () => void db.write(() => useModel(db, 'new')))
    expect(await fill(db, slow, () => t.memory.registry(), 0)).toBe(false)
    expect([countVectors(db), countDue(db)]).toEqual([0, 1])
  })

  test('where another process holds the lock nothing waits: recall answers without them', async () => {
    const t = openTestMemory()
    t.act([['record-decision', { name: 'use-sqlite', description: 'one file' }]])
    const { DatabaseSync } = await import('node:sqlite')
    const other = new DatabaseSync(t.memory.path)
    other.exec('BEGIN IMMEDIATE')
    try {
      const start = performance.now()
      const { results, notes } = await t.library.recall('sqlite')
      expect(results.map((r) => r.id)).toEqual(['decision:use-sqlite'])
      expect(notes.join()).toContain('1 of 1 texts have no vector yet')
      expect(performance.now() - start).toBeLessThan(5_000)
    } finally {
      other.exec('ROLLBACK')
      other.close()
    }
    const { notes } = await t.library.recall('sqlite')
    expect(notes).toEqual([])
  })

  test('on a full disk recall answers with the vectors that are there, and says what it could not keep', async () => {
    const t = openTestMemory()
    const { raw } = t.memory.db
    const full = (is: boolean) =>
      raw.exec(`PRAGMA max_page_count=${is ? (raw.prepare('PRAGMA page_count').get()!.page_count as number) : 1e9}`)
    for (let b = 0; b < 26; b++) t.act(chunks(45, b * 45))
    full(true)
    const none = await t.library.recall('what says turn 7')
    expect(none.results.length).toBeGreaterThan(0)
    expect(none.notes.join()).toContain('no space left')
    expect(t.library.discover('(length (recall "turn 7" :limit 3))')).toEqual(['3'])
    full(false)
    await t.library.index()
    full(true)
    const fresh = asProjectMemory(t.memory, t.project)
    const there = await fresh.recall('what says turn 7')
    expect(there.results[0]!.why).toContain('near in meaning')
    full(false)
    expect((await fresh.recall('what says turn 7')).notes).toEqual([])
  })

  test('recall works while the index is partial, and says so', () => {
    const t = openTestMemory()
    const { db } = t.memory
    for (let b = 0; b < 6; b++) t.act(chunks(40, b * 40))
    fillNow(db, letters(), t.memory.registry(), 0)
    const left = countDue(db)
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThan(240)
    const { results } = new Recaller(t.memory, t.project, { embedder: { use: 'none' } }).askNow('what says turn 7')
    expect(results.length).toBeGreaterThan(0)
  })

  test('[A7] an erased text leaves neither terms nor vector behind', async () => {
    const t = openTestMemory()
    t.act([['record-decision', { name: 'keep', description: 'this stays' }]])
    t.act([['record-decision', { name: 'gone', description: 'zymurgical marmalade' }]])
    await t.library.index()
    t.act([['purge', { ref: 'gone', reason: 'asked to' }]])
    const { db } = t.memory
    expect(db.all('SELECT rowid FROM texts')).toHaveLength(1)
    // the vectors of others need not be made again
    expect(db.all('SELECT rowid FROM vectors')).toHaveLength(1)
    expect(countDue(db)).toBe(0)
    await t.library.index()
    expect((await t.library.recall('zymurgical marmalade')).results).toEqual([])
    expect(t.memory.occurrences('zymurgical').every((o) => o.count === 0)).toBe(true)
  })

  test('[C5] indexes made again from the log answer alike', async () => {
    const t = openTestMemory()
    t.act(chunks(40))
    t.act([['record-decision', { name: 'use-sqlite', description: 'one file' }]])
    const before = await t.library.recall('turn 12 says', { explain: true })
    t.memory.rebuild()
    await t.library.index()
    expect(await t.library.recall('turn 12 says', { explain: true })).toEqual(before)
  })

  test('[C5] with more texts than are sampled, an open process, a fresh one and one after rebuilding answer alike', async () => {
    const t = openTestMemory()
    const title = (i: number) => `lesson ${i} on ${['caches', 'queues', 'locks', 'schemas'][i % 4]} of part ${i % 37}`
    const ids: string[] = []
    for (let b = 0; b < 16; b++) {
      const batch = Array.from({ length: 45 }, (_, i) => ['record-learning', { title: title(b * 45 + i) }])
      ids.push(...t.act(batch).results.map((r) => r.id!))
      await t.library.recall('warm', { limit: 1 })
    }
    t.act([['delete-learning', { ref: ids[7]! }]])
    const ask = (library: typeof t.library) => library.recall('which lesson is on locks of part 7', { limit: 40 })
    const open = await ask(t.library)
    await t.library.index()
    expect((await ask(asProjectMemory(t.memory, t.project))).results).toEqual(open.results)
    t.memory.rebuild()
    await t.library.index()
    expect((await ask(t.library)).results).toEqual(open.results)
  })

  test('an embedder that cannot be had: recall goes on by words, and says what to do', async () => {
    const t = openTestMemory()
    t.act([['record-decision', { name: 'use-sqlite', description: 'one file' }]])
    const library = asProjectMemory(t.memory, t.project, {
      recall: { embedder: { use: 'http', url: 'http://127.0.0.1:9/v1', model: 'none' } },
    })
    const { results, notes } = await library.recall('sqlite')
    expect(results.map((r) => r.id)).toEqual(['decision:use-sqlite'])
    expect(notes.join()).toContain('by words alone')
  })
})
