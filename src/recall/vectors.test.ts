import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openTestMemory, type TestMemory } from '../../test/helpers.ts'
import { asProjectMemory } from '../library.ts'
import {
  beginSave,
  clearPages,
  countDue,
  countVectors,
  endSave,
  putVectors,
  savePage,
  useModel,
  vectorModel,
} from '../store/vectors.ts'
import type { Embedder } from './embedders/embedder.ts'
import { Recaller } from './recall.ts'
import { fill, fillNow, lacksVectors } from './vector-fill.ts'
import { packVector, unitOf, VectorIndex } from './vector-index.ts'

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
        const back = unitOf(packVector(v))
        for (const [i, x] of v.entries()) expect(Math.abs((length > 0 ? x / length : 0) - back[i]!)).toBeLessThan(0.01)
      }),
      { seed },
    )
  })

  test('what is taken in step by step is what is read at once, whatever the order of writing', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 5 }), (steps) => {
        const t = openTestMemory()
        const model = letters()
        const growing = new VectorIndex(t.memory.db, model.id, DIMENSIONS)
        let n = 0
        for (const step of steps) {
          t.act(chunks(step, n))
          n += step
          settle(t, model)
          growing.refresh()
        }
        const whole = new VectorIndex(t.memory.db, model.id, DIMENSIONS)
        whole.refresh()
        expect(growing.size).toBe(n)
        const [q] = model.embedNow!(['what says fghij'])
        expect(growing.nearest(q!, n)).toEqual(whole.nearest(q!, n))
        expect(growing.spread(q!, model)).toEqual(whole.spread(q!, model))
        t.close()
      }),
      { seed, numRuns: 25 },
    )
  })

  test('what one process leaves the next one reads, and takes in what came since; another model finds nothing', () => {
    const t = openTestMemory()
    const model = letters()
    for (let b = 0; b < 26; b++) t.act(chunks(45, b * 45))
    settle(t, model)
    const open = () => {
      const index = new VectorIndex(t.memory.db, model.id, DIMENSIONS)
      index.refresh()
      return index
    }
    const pages = () => t.memory.db.all('SELECT part FROM vector_pages').length
    open().save()
    expect(pages()).toBe(1)
    const [q] = model.embedNow!(['what says fghij'])
    const answers = (index: VectorIndex) => [index.size, index.nearest(q!, 2_000), index.spread(q!, model)]
    const left = answers(open())
    t.memory.db.run('DELETE FROM vector_pages')
    expect(answers(open())).toEqual(left)
    open().save()
    const saved = t.memory.db.get("SELECT value FROM meta WHERE key='vector_pages'")
    t.act(chunks(3, 26 * 45))
    settle(t, model)
    open().save() // too little is new
    expect(t.memory.db.get("SELECT value FROM meta WHERE key='vector_pages'")).toEqual(saved)
    t.memory.db.write(() => useModel(t.memory.db, 'another'))
    expect(t.memory.db.get("SELECT 1 FROM meta WHERE key='vector_pages'")).toBeUndefined()
  })

  test('a save that does not come to its end leaves the pages before it; the next one takes its parts away', () => {
    const t = openTestMemory()
    const { db } = t.memory
    const model = letters()
    for (let b = 0; b < 60; b++) t.act(chunks(45, b * 45))
    settle(t, model)
    const open = () => {
      const index = new VectorIndex(db, model.id, DIMENSIONS)
      index.refresh()
      return index
    }
    const parts = () => db.all<{ part: number }>('SELECT part FROM vector_pages ORDER BY part').map((r) => r.part)
    const about = () => db.get("SELECT value FROM meta WHERE key='vector_pages'")
    open().save()
    const [before, first] = [about(), parts()]
    expect(first).toHaveLength(2)
    const [q] = model.embedNow!(['what says fghij'])
    const near = open().nearest(q!, 3_000)
    const broken = db.write(() => beginSave(db))
    expect(db.write(() => savePage(db, broken, 0, new Uint8Array(8)))).toBe(true)
    expect([about(), parts().length]).toEqual([before, 3])
    expect(open().nearest(q!, 3_000)).toEqual(near)
    for (let b = 60; b < 90; b++) t.act(chunks(45, b * 45))
    settle(t, model)
    open().save()
    expect(about()).not.toEqual(before)
    expect(parts()).toHaveLength(2)
    expect(parts().some((p) => first.includes(p))).toBe(false)
    // the broken one cannot go on
    expect(db.write(() => savePage(db, broken, 1, new Uint8Array(8)))).toBe(false)
    const other = db.write(() => beginSave(db))
    db.write(() => clearPages(db)) // an erasure
    expect(db.write(() => savePage(db, other, 0, new Uint8Array(8)))).toBe(false)
    expect(db.write(() => endSave(db, other, '{}'))).toBe(false)
    expect([about(), parts()]).toEqual([undefined, []])
  })

  test('pages take in what came since they were left, and what is gone', () => {
    const t = openTestMemory()
    const model = letters()
    const ids: string[] = []
    for (let b = 0; b < 26; b++) ids.push(...t.act(chunks(45, b * 45)).results.map((r) => r.id!))
    settle(t, model)
    const open = (kept = true) => {
      if (!kept) t.memory.db.run('DELETE FROM vector_pages')
      const index = new VectorIndex(t.memory.db, model.id, DIMENSIONS)
      index.refresh()
      return index
    }
    open().save()
    t.act(chunks(20, 26 * 45))
    settle(t, model)
    const [q] = model.embedNow!(['what says fghij'])
    const grown = open().nearest(q!, 2_000)
    t.act([['delete-chunk', { ref: ids[100]! }]])
    const fewer = open().nearest(q!, 2_000)
    expect(fewer).toEqual(open(false).nearest(q!, 2_000))
    expect([grown.length, fewer.length]).toEqual([1_190, 1_189])
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
      for (const [i, v] of vectors.entries()) {
        db.run("INSERT INTO texts (rowid, words, terms) VALUES (?, 1, x'00000000')", i + 1)
        db.run('INSERT INTO vectors (rowid, change, data) VALUES (?,?,?)', i + 1, i + 1, packVector(v))
      }
    })
    const index = new VectorIndex(db, 'random', dimensions)
    index.refresh()
    const norms = vectors.map((v) => Math.hypot(...v))
    let found = 0
    for (let k = 0; k < 20; k++) {
      const q = Float32Array.from({ length: dimensions }, random)
      const cosines = vectors.map((v, at) => {
        let dot = 0
        for (let i = 0; i < dimensions; i++) dot += v[i]! * q[i]!
        return dot / norms[at]!
      })
      const exact = [...vectors.keys()].sort((a, b) => cosines[b]! - cosines[a]!).slice(0, 10)
      const near = new Set(index.nearest(q, 100).map((x) => x.rowid))
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
    expect([vectorModel(db), countVectors(db)]).toEqual(['letters-2', 10])
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

  test('vectors of a model that is no longer used are not stored', () => {
    const t = openTestMemory()
    const { db } = t.memory
    t.act(chunks(1))
    db.write(() => useModel(db, 'new'))
    const data = packVector(new Float32Array(DIMENSIONS))
    expect(db.write(() => putVectors(db, 'old', [{ rowid: 1, version: 1, data }]))).toBe(0)
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
    t.memory.db.run('DELETE FROM vector_pages')
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
