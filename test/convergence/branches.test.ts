import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { restoreStore } from '../../src/engine/replication/restore.ts'
import { snapshotNow } from '../../src/engine/store/backup.ts'
import { lineFaults } from '../../src/engine/store/compare.ts'
import { type Line, parseLine, printLine, standIn, tombstoneOf } from '../../src/engine/store/line.ts'
import * as log from '../../src/engine/store/log.ts'
import { ownLines } from '../../src/engine/store/own-lines.ts'
import { publish } from '../../src/travel/sync/publish.ts'
import { lostBatches, receive } from '../../src/travel/sync/receive.ts'
import { writeSegment } from '../../src/travel/sync/segments.ts'
import { hashOf, type Key, newKey, printed } from './forger.ts'
import { copy, dump, exchange, folded, inDir, join1, linesOf, open, PROJECT, Replica, read, send } from './harness.ts'

// biome-ignore lint/suspicious/noExplicitAny: JSON of any shape
type Raw = any
const HEADER = JSON.stringify({ tidemark: 1, project: PROJECT })

const texts = (r: Replica) => ((r.fields('principle:p').evidence ?? []) as string[]).toSorted()
const say = (r: Replica, ...all: string[]) => {
  for (const text of all) {
    r.now += 1000
    r.act([['record-principle', { name: 'p', evidence: [text] }]])
  }
}
const give = (r: Replica, ...lines: string[]) => r.memory.applyUpdates(join1(HEADER, lines))
const raws = (r: Replica) => linesOf(r).lines.map((l) => JSON.parse(l) as Raw)
const branched = (r: Replica) => raws(r).filter((l) => l.o)
const nameOf = (l: Raw) => ({ r: l.r, n: l.n, h: l.h ?? hashOf(l) })
const names = (r: Replica) => branched(r).map((l) => `${l.r}:${l.n}`).toSorted() // biome-ignore format: a row
const prev = (l: Raw) => nameOf(l).h.slice(0, 22)

/** Two copies that both wrote, and have met. */
function forked(dir: string) {
  const a = new Replica(dir, 'a', 11)
  say(a, '0')
  const b = copy(a, dir, 'b', true)
  say(a, 'a1', 'a2')
  say(b, 'b1', 'b2')
  return { a, b }
}
function met(dir: string) {
  const { a, b } = forked(dir)
  exchange(a, b)
  const second = branched(a).find((l) => l.n === 2)!
  const next = { v: 2, r: second.r, n: 3, p: prev(second), c: 500, at: a.now, by: {}, e: [] }
  return { a, b, second, next, whole: { ...nameOf(raws(a).find((l) => !l.o && l.n === 1)!), e: tombstoneOf('principle:p') } } // biome-ignore format: a row
}
/** Three copies, of which two share a line. */
function three(dir: string) {
  const a = new Replica(dir, 'a', 11)
  say(a, '0')
  const b = copy(a, dir, 'b', true)
  say(a, 'a1')
  const c = copy(a, dir, 'c', true)
  say(b, 'b1')
  say(a, 'a2')
  say(c, 'c1')
  return { a, b, c }
}
const EVIL = ['principle:p', { f: 'evidence', o: 'add', v: 'evil', l: 1, p: 9 }]
const ALL = ['0', 'a1', 'a2', 'b1', 'b2']

describe('[C6] [K12] [Y1] nobody else speaks or erases in a branch', () => {
  test('by a line without a signature under its name', () =>
    inDir((dir) => {
      const { a, next, whole } = met(dir)
      expect(give(a, printed({ ...next, e: [EVIL] })).refused).toHaveLength(1)
      expect(give(a, printed({ ...next, x: [whole] })).refused).toHaveLength(1)
      expect(texts(a)).toEqual(ALL)
      const root = join(dir, 'tree')
      mkdirSync(root)
      writeSegment(root, next.r, 3, 3, [printed({ ...next, e: [EVIL] })])
      receive(a.memory, root)
      expect(texts(a)).toEqual(ALL)
    }))

  test('by one that was there before the fork was known', () =>
    inDir((dir) => {
      const { a, b } = forked(dir)
      const [d, knowing] = [new Replica(dir, 'd', 5), new Replica(dir, 'k', 6)]
      send(a, d)
      for (const r of [a, b]) send(r, knowing)
      const { r } = branched(knowing)[0]!
      give(d, printed({ v: 2, r, n: 7, p: 'x'.repeat(22), c: 500, at: a.now, by: {}, e: [EVIL] }))
      exchange(a, b, d)
      expect(texts(d)).toEqual(ALL)
    }))

  test('by a line of one’s own forked identity that follows one of theirs', () =>
    inDir((dir) => {
      const { a, second, whole } = met(dir)
      const eve = newKey('eve0')
      const one = { v: 2, r: eve.tag, n: 1, c: 1, at: a.now, by: {}, e: [], k: [[eve.tag, 1]] }
      const two = { ...one, n: 2, k: undefined, p: second.o.h.slice(0, 22), c: 2, x: [whole] }
      for (const raw of [one, JSON.parse(JSON.stringify(two))]) give(a, printed(raw, eve))
      expect(texts(a)).toEqual(ALL)
      expect(branched(a).filter((l) => l.o.r === eve.tag && l.r === second.r)).toEqual([])
    }))

  test('by saying that the branch has forked', () =>
    inDir((dir) => {
      const { a, b, c } = three(dir)
      exchange(a, b)
      const eve = newKey('eve0')
      for (const [i, { r }] of branched(a).entries())
        give(a, printed({ v: 2, r: eve.tag, n: i + 1, c: i + 1, at: a.now, by: {}, e: [], k: [[r, 1]] }, eve))
      exchange(a, b, c)
      for (const r of [a, b, c]) expect(texts(r)).toEqual(['0', 'a1', 'a2', 'b1', 'c1'])
    }))

  test('by a folded state that says the identity of somebody else has forked', () =>
    inDir((dir) => {
      const a = new Replica(dir, 'a', 11)
      say(a, '0', 'a1')
      a.now += 100_000
      a.memory.compact(a.now)
      say(a, 'a2')
      const { tag } = a
      const eve = newKey('eve0')
      const covered = [{ replica: eve.tag, first: 1, last: 1, hash: 'x', digest: 'y', from: 1, to: 1 }]
      const forked = [{ replica: tag, from: 1 }]
      const snapshot = { v: 2, covered, horizon: 1, entities: [], events: [], purged: [], forked }
      give(a, JSON.stringify({ snapshot, by: { key: eve.key, sig: eve.sign(JSON.stringify(snapshot)) } }))
      expect(texts(a)).toEqual(['0', 'a1', 'a2'])
      expect(a.tag).toBe(tag)
    }))

  test('by a folded state that says a branch has forked', () =>
    inDir((dir) => {
      const { a, b } = met(dir)
      const eve = newKey('eve0')
      const covered = [{ replica: eve.tag, first: 1, last: 1, hash: 'x', digest: 'y', from: 1, to: 1 }]
      const forked = branched(a).map((l) => ({ replica: l.r, from: 1 }))
      const snapshot = { v: 2, covered, horizon: 1, entities: [], events: [], purged: [], forked }
      give(a, JSON.stringify({ snapshot, by: { key: eve.key, sig: eve.sign(JSON.stringify(snapshot)) } }))
      expect(texts(a)).toEqual(ALL)
      exchange(a, b)
      expect(texts(a)).toEqual(ALL)
    }))

  test('by words in a part that the signature does not cover', () =>
    inDir((dir) => {
      const a = new Replica(dir, 'a', 11)
      say(a, '0')
      const { s, key, ...rest } = raws(a)[0]!
      expect(() => give(new Replica(dir, 'v', 12), JSON.stringify({ ...rest, b: [[1, 'evil']], s, key }))).toThrow()
    }))
})

describe('[C6] [K12] what stood here counts on under the name of a branch', () => {
  const observed = (r: Replica) => r.memory.db.column<string>("SELECT id FROM entities WHERE kind='observation'")[0]!

  test('lines that stay on this machine, and overwrite each other', () =>
    inDir((dir) => {
      const a = new Replica(dir, 'a', 11)
      say(a, '0')
      const b = copy(a, dir, 'b', true)
      a.act([['record-observation', { what: 'stays here' }]])
      a.act([['record-observation', { ref: observed(a), what: 'stays there' }]])
      say(a, 'a1')
      say(b, 'b1')
      send(b, a)
      expect(a.fields(observed(a)).what).toBe('stays there')
      expect(a.memory.reader.conflicts().filter((e) => e.id === observed(a))).toEqual([])
    }))

  test('what a person does not want to count counts no more', () =>
    inDir((dir) => {
      const { a, b, c } = three(dir)
      const d = new Replica(dir, 'd', 13)
      exchange(a, b)
      send(a, d)
      const { r, n } = branched(a).find((l) => l.o.n === 3)!
      d.memory.decline([`${r}:${n}`])
      expect(texts(d)).toEqual(['0', 'a1', 'b1'])
      exchange(b, c)
      send(c, d) // its branch has another name now
      expect(texts(d)).toEqual(['0', 'a1', 'b1', 'c1'])
    }))

  test('what others ask to have erased is asked on', () =>
    inDir((dir) => {
      const { a, b, c } = three(dir)
      exchange(a, b)
      const eve = newKey('eve0')
      const { o } = branched(a).find((l) => l.o.n === 3)!
      const x = [{ r: o.r, n: o.n, h: o.h, e: 'principle:p', c: [o.c] }]
      give(a, printed({ v: 2, r: eve.tag, n: 1, c: 1, at: a.now, by: {}, e: [], x }, eve))
      const sql = 'SELECT count(*) FROM asked a JOIN log l ON l.replica=a.replica AND l.seq=a.seq'
      expect(a.memory.db.value(sql)).toBe(1)
      send(c, a)
      expect(a.memory.db.value(sql)).toBe(1)
    }))

  test('lines that were folded before the fork was known, and those behind them', () =>
    inDir((dir) => {
      const a = new Replica(dir, 'a', 11)
      say(a, '0')
      const b = copy(a, dir, 'b', true)
      say(a, 'a1')
      const c = new Replica(dir, 'c', 12)
      send(a, c)
      say(a, 'a2')
      a.now += 100_000
      a.memory.compact(a.now)
      say(a, 'a3')
      say(b, 'b1')
      send(b, c)
      send(c, a)
      exchange(a, b, c)
      for (const r of [a, c]) expect(texts(r)).toEqual(['0', 'a1', 'a2', 'a3', 'b1'])
    }))

  test('lines that were folded, overwritten and erased: they come back under no name', () =>
    inDir((dir) => {
      const a = new Replica(dir, 'a', 11)
      say(a, '0')
      const b = copy(a, dir, 'b', true)
      say(a, 'a1')
      const secret = 'the secret text'
      a.act([['record-principle', { name: 'p', evidence: [secret], description: 'wrong' }]])
      const c = new Replica(dir, 'c', 12)
      send(a, c)
      a.now += 1_000
      a.act([['record-principle', { name: 'p', description: 'right' }]])
      a.now += 100_000
      a.memory.compact(a.now)
      a.act([['purge', { secret, reason: 'had to go' }]])
      say(b, 'b1')
      send(b, c)
      send(c, a)
      exchange(a, b, c)
      for (const r of [a, b, c]) {
        expect(texts(r)).toEqual(['0', 'a1', 'b1'])
        expect(r.fields('principle:p').description).toBe('right')
        expect(r.memory.reader.conflicts()).toEqual([])
      }
    }))

  test('and a restore finds it there: it comes to an end, and says of nothing that it is lost', () =>
    inDir((dir) => {
      const { a, b, c } = three(dir)
      a.act([['record-observation', { what: 'stays here' }]])
      exchange(a, b)
      snapshotNow(a.memory.db.raw, a.path, a.now, true)
      exchange(a, b, c)
      say(a, 'later')
      const restored = () => {
        a.memory.close()
        const done = restoreStore(a.path, a.env, (path) => open(path, a.env, false))
        a.memory = open(a.path, a.env)
        return done
      }
      expect(restored().missing).toEqual([])
      expect(restored().unchanged).toBe(true)
      expect(texts(a)).toEqual(['0', 'a1', 'a2', 'b1', 'c1', 'later'])
    }))

  test('as the words of its store alone, also beside lines that stay there', () =>
    inDir((dir) => {
      const a = new Replica(dir, 'a', 11)
      say(a, '0')
      const b = copy(a, dir, 'b', true)
      say(a, 'a1')
      a.act([['record-observation', { what: 'stays here' }]])
      const c = copy(a, dir, 'c', true)
      say(c, 'c1')
      say(b, 'b1')
      exchange(a, b, c)
      const isOwn = ownLines(a.memory.db)
      const lines = log.linesAfter(a.memory.db, 0)
      const own = lines.filter((l) => isOwn(l.replica, l.seq)).map((l) => l.events.find((e) => e.field === 'evidence' || e.field === 'what')?.value) // biome-ignore format: a row
      expect(own.filter(Boolean).toSorted()).toEqual(['0', 'a1', 'stays here'])
    }))

  test.each([2, 3, 4])('line %i that something stands in for, and those behind it', (n) =>
    inDir((dir) => {
      const a = new Replica(dir, 'a', 11)
      say(a, '0')
      const b = copy(a, dir, 'b', true)
      say(a, 'a1', 'a2')
      a.act([['record-observation', { what: 'stays here' }]])
      say(a, 'a3')
      say(b, 'b1')
      const { db } = a.memory
      db.write(() => {
        const { replica, seq, at, events, ctr, local, hash } = log.lineOf(db, a.tag, n)!
        const place = { replica, seq, prev: '', at, author: {}, events, ctr }
        log.replaceLine(db, standIn({ ...place, ...(local ? { local } : {}) }, hash))
      })
      send(b, a)
      expect(texts(a)).toEqual(['0', 'a1', 'a2', 'a3', 'b1'])
      expect(a.memory.reader.list('observation')).toHaveLength(1)
    }),
  )

  test.each([1, 2, 3, 4, 5, 6])('own lines that come back in any order (seed %i)', (seed) =>
    inDir((dir) => {
      const a = new Replica(dir, 'a', 11)
      say(a, '0')
      const b = copy(a, dir, 'b', true)
      a.act([['record-observation', { what: 'stays here' }]])
      say(a, 'a1')
      const c = copy(a, dir, 'c', true)
      say(a, 'a2')
      say(b, 'b1')
      say(c, 'c1', 'c2')
      for (const r of [b, c]) send(r, a)
      const all = log.linesAfter(a.memory.db, 0)
      const turned = all.map((l, i): [number, Line] => [(i * 7919 * seed) % 13, l]).sort(([x], [y]) => x - y)
      const d = new Replica(dir, 'd', 99)
      d.now = a.now
      d.memory.applyUpdates(join1(HEADER, turned.map(([, l]) => printLine(l))), { own: true }) // biome-ignore format: a row
      expect(dump(d.memory).entities).toEqual(dump(a.memory).entities)
      expect(folded(d.memory)).toEqual(read(d.memory))
      expect(send(a, d).applied).toBe(0)
    }),
  )

  test('lines of branches that an earlier build kept waiting as they came', () =>
    inDir((dir) => {
      const { a } = met(dir)
      const d = new Replica(dir, 'd', 13)
      const [waiting, notices] = [linesOf(a).lines.filter((l) => JSON.parse(l).o), linesOf(a).lines.filter((l) => JSON.parse(l).k)] // biome-ignore format: a row
      give(d, ...linesOf(a).lines.filter((l) => !waiting.includes(l) && !notices.includes(l)))
      d.memory.db.write(() => {
        for (const l of waiting) log.park(d.memory.db, parseLine(l), d.now)
      })
      give(d, ...notices)
      expect(texts(d)).toEqual(ALL)
    }))
})

test('[C6] [K12] a text that was changed on the disk within a line of a branch is found', () =>
  inDir((dir) => {
    const { a } = met(dir)
    const { db } = a.memory
    expect(lineFaults(db)).toEqual([])
    for (const column of ['a1', 'b2'])
      db.run(
        `UPDATE log SET line=replace(line, '"${column}"', '"XX"') WHERE typeof(line)='text' AND instr(line, '"o":')>0`,
      )
    expect(lineFaults(db)).not.toEqual([])
  }))

test('[C6] [Y4] nothing is said to be missing where lines stand under other names', () =>
  inDir((dir) => {
    const { a, b, c } = three(dir)
    const [d, e] = [new Replica(dir, 'd', 13), copy(a, dir, 'e', true)]
    const root = join(dir, 'tree')
    mkdirSync(root)
    exchange(a, b)
    publish(a.memory, root)
    d.now = a.now + 60_000
    receive(d.memory, root)
    exchange(a, b, c, e)
    publish(a.memory, root)
    receive(d.memory, root)
    expect(receive(d.memory, root).applied).toBe(0)
    expect(lostBatches(d.memory, root)).toEqual([]) // it has not heard of the fork yet
    for (const r of [b, c]) publish(r.memory, root)
    receive(d.memory, root)
    expect(receive(d.memory, root).applied).toBe(0)
    expect(lostBatches(d.memory, root)).toEqual([])
    expect(texts(d)).toEqual(['0', 'a1', 'a2', 'b1', 'c1'])
    expect(names(d)).toEqual(names(a))
    for (const r of [a, b, c, d, e]) {
      expect(lineFaults(r.memory.db)).toEqual([])
      expect(log.gaps(r.memory.db)).toEqual([])
    }
  }))

describe('[Y5] a member who forks its own identity holds nobody up', () => {
  const eve: Key = newKey('eve0')
  const chain = (n: number) => {
    const out: Raw[] = []
    for (let i = 1; i <= n; i++)
      out.push({ v: 2, r: eve.tag, n: i, ...(i > 1 ? { p: prev(out[i - 2]) } : { k: [[eve.tag, 1]] }), c: i, at: 1, by: {}, e: [] }) // biome-ignore format: a row
    return out
  }

  test('5,000 lines, the last one first', () =>
    inDir((dir) => {
      const a = new Replica(dir, 'a', 11)
      say(a, '0')
      give(a, printed({ ...chain(1)[0], at: 2 }, eve))
      give(a, ...chain(5_000).map((raw) => printed(raw, eve)).toReversed()) // biome-ignore format: a row
      expect(log.allParked(a.memory.db)).toEqual([])
      expect(branched(a)).toHaveLength(5_001)
    }), 120_000) // biome-ignore format: the time beside

  test('a chain of 200 with a line beside each: names are not given anew for each', () =>
    inDir((dir) => {
      const a = new Replica(dir, 'a', 11)
      say(a, '0')
      const all = chain(200)
      give(a, ...all.map((raw) => printed(raw, eve)))
      const beside = all.slice(1).map((raw) => printed({ ...raw, c: 9_000 + raw.n }, eve))
      const before = process.cpuUsage().user
      give(a, ...beside.toReversed())
      // each name anew for each line took 36 s
      expect(process.cpuUsage().user - before).toBeLessThan(10_000_000)
      expect(texts(a)).toEqual(['0'])
    }), 120_000) // biome-ignore format: the time beside
})
