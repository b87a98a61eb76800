import { rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  dump,
  exchange,
  folded,
  join1,
  linesOf,
  type Replica as R,
  Replica,
  read,
  START,
  send,
  tempDir,
  withReplicas,
} from './harness.ts'

const HOUR = 3_600_000

/** Some history of everything: a churning register, tags that come and go, a deleted one, links. */
function live(a: R, b: R): void {
  for (let i = 0; i < 12; i++) {
    const r = i % 2 ? b : a
    a.now = b.now = START + i * HOUR
    r.act([
      [
        'record-decision',
        { name: 'd', confidence: i / 20, tags: [`t${i % 3}`], evidence: [`e${i}`], attrs: { k: { n: i } } },
      ],
      ['record-fact', { fact: `fact ${i}` }],
    ])
    if (i % 4 === 3) r.act([['record-decision', { name: 'd', tags: { remove: ['t0'] }, attrs: { k: null } }]])
    if (i === 5)
      r.act([
        ['record-decision', { name: 'e' }],
        ['link-entities', { from: 'decision:d', to: 'decision:e', type: 'supports' }],
      ])
    if (i === 7) r.act([['delete-decision', { name: 'e' }]])
    exchange(a, b)
  }
}

const answers = (r: R, at: number) => {
  const past = r.memory.asOf(at)
  return {
    now: read(r.memory),
    past: ['decision', 'fact'].map((k) => past.list(k).map((e) => ({ ...e, version: 0 }))),
    links: past.links('from', 'decision:d').map((l) => l.id),
    found: r.memory.reader.search('fact decision e5', 20).map((e) => e.id),
    conflicts: r.memory.reader.conflicts().map((e) => e.id),
  }
}

const size = (r: R) =>
  r.memory.db.get<{ n: number }>(
    'SELECT (SELECT sum(length(line)) FROM log) + (SELECT sum(length(body)) FROM events) AS n',
  )!.n

function sound(...replicas: R[]) {
  const first = dump(replicas[0]!.memory)
  for (const r of replicas) {
    expect(dump(r.memory)).toEqual(first)
    expect(folded(r.memory)).toEqual(read(r.memory))
    r.memory.rebuild()
    expect(dump(r.memory)).toEqual(first)
    expect(folded(r.memory)).toEqual(read(r.memory))
  }
}

describe('[C6] compaction', () => {
  test('shrinks the log, and every answer from its horizon on stays', () => {
    withReplicas(['a', 'b'], (a, b) => {
      live(a, b)
      const horizon = START + 8 * HOUR
      const moments = [horizon, horizon + 1, START + 9.5 * HOUR, START + 100 * HOUR]
      const before = moments.map((m) => answers(a, m))
      const rows = dump(a.memory)
      const bytes = size(a)
      const done = a.memory.compact(horizon)
      expect(done.lines).toBeGreaterThan(5)
      expect(size(a)).toBeLessThan(bytes * 0.7)
      expect(dump(a.memory)).toEqual(rows)
      expect(moments.map((m) => answers(a, m))).toEqual(before)
      expect(() => a.memory.asOf(horizon - 1)).toThrow(/compacted away/)
      sound(a, b)
      expect(moments.map((m) => answers(a, m))).toEqual(before)
      // again, and further
      a.memory.compact(START + 10 * HOUR)
      a.memory.compact(START + 10 * HOUR)
      expect(answers(a, START + 100 * HOUR)).toEqual(before[3])
      sound(a, b)
    })
  })

  test('the status of before comes back when nothing supersedes it any more, here and where the folded state came', () => {
    withReplicas(['a', 'b', 'c'], (a, b, c) => {
      a.act([['record-decision', { name: 'old', status: 'deprecated' }], ['record-decision', { name: 'new' }]]) // biome-ignore format: one batch
      a.now += HOUR
      a.act([['supersede', { old: 'old', new: 'new' }]])
      exchange(a, c)
      for (let i = 0; i < 2; i++) a.memory.compact((a.now += HOUR))
      exchange(a, b, c)
      sound(a, b, c)
      for (const r of [a, b]) {
        expect(r.fields('decision:old').status).toBe('superseded')
        r.act([['unlink-entities', { from: 'new', to: 'old', type: 'supersedes' }]])
        expect(r.fields('decision:old').status).toBe('deprecated')
      }
      a.now = b.now += HOUR
      exchange(a, b, c)
      for (const r of [a, b]) r.memory.compact(r.now + HOUR)
      exchange(a, b, c)
      expect(c.fields('decision:old').status).toBe('deprecated')
      sound(a, b, c)
    })
  })

  test('late old lines change nothing, whoever sends them', () => {
    withReplicas(['a', 'b'], (a, b) => {
      live(a, b)
      const { header, lines } = linesOf(b)
      a.memory.compact(START + 8 * HOUR)
      const rows = dump(a.memory)
      for (const l of [...lines].reverse()) a.memory.applyUpdates(join1(header, [l]))
      expect(dump(a.memory)).toEqual(rows)
      sound(a, b)
    })
  })

  test('an old line that was never heard before still counts', () => {
    withReplicas(['a', 'b', 'c'], (a, b, c) => {
      a.act([['record-decision', { name: 'd', tags: ['x'] }]])
      send(a, c)
      c.act([['record-decision', { name: 'd', tags: ['x', 'late'], description: 'late' }]])
      live(a, b)
      a.act([['record-decision', { name: 'd', tags: { remove: ['x'] } }]])
      a.now += HOUR
      a.memory.compact(START + 100 * HOUR)
      send(c, a)
      expect(a.fields('decision:d')).toMatchObject({ description: 'late' })
      expect(a.fields('decision:d').tags).toContain('late')
      expect(a.fields('decision:d').tags).toContain('x')
      exchange(a, b, c)
      sound(a, b, c)
    })
  })

  test('a replica that is behind gets the state at the compaction: one that is new, and one that knows a part', () => {
    withReplicas(['a', 'b', 'new', 'part'], (a, b, fresh, part) => {
      a.act([['record-decision', { name: 'd', tags: ['t9'] }]])
      send(a, part)
      part.act([['record-decision', { name: 'd', tags: ['own'], confidence: 0.99 }]])
      live(a, b)
      a.memory.compact(START + 8 * HOUR)
      for (const r of [b, fresh, part]) r.now = a.now
      send(a, fresh)
      sound(a, fresh)
      expect(() => fresh.memory.asOf(START)).toThrow(/compacted away/)
      send(a, part)
      part.act([['record-decision', { name: 'd', attrs: { more: 1 } }]])
      send(part, fresh)
      exchange(a, b, fresh, part)
      sound(a, b, fresh, part)
      expect(answers(fresh, START + 9 * HOUR).past).toEqual(answers(a, START + 9 * HOUR).past)
    })
  })

  test('compacted on both sides, at different moments, with writes between', () => {
    withReplicas(['a', 'b', 'c'], (a, b, c) => {
      live(a, b)
      a.memory.compact(START + 4 * HOUR)
      b.memory.compact(START + 9 * HOUR)
      a.act([['record-decision', { name: 'd', confidence: 0.2 }]])
      b.act([['record-decision', { name: 'd', confidence: 0.3, tags: ['t1'] }]])
      exchange(a, b, c)
      sound(a, b, c)
      c.memory.compact(START + 11 * HOUR)
      c.act([['delete-decision', { name: 'd' }]])
      exchange(c, b, a)
      sound(a, b, c)
    })
  })

  test('who was up to date when it was compacted is not sent everything again', () => {
    withReplicas(['a', 'b'], (a, b) => {
      live(a, b)
      const { cursor } = a.memory.updatesSince()
      a.memory.compact(START + 8 * HOUR)
      const { bytes } = a.memory.updatesSince(cursor)
      expect(new TextDecoder().decode(bytes).split('\n').length).toBe(2)
      a.memory.compact(START + 1000 * HOUR)
      a.act([['record-fact', { fact: 'after all was folded away' }]])
      b.memory.applyUpdates(a.memory.updatesSince(cursor).bytes)
      sound(a, b)
    })
  })

  test('killed in the middle, it has not happened', () => {
    const dir = tempDir()
    try {
      const a = new Replica(dir, 'a')
      const b = new Replica(dir, 'b', 2)
      live(a, b)
      const rows = dump(a.memory)
      const lines = linesOf(a).lines
      const { db } = a.memory
      const run = db.run.bind(db)
      let left = 20
      db.run = (...args: Parameters<typeof run>) => {
        if (--left === 0) throw new Error('the process dies here')
        run(...args)
      }
      expect(() => a.memory.compact(START + 8 * HOUR)).toThrow('dies here')
      db.run = run
      a.crash()
      expect(dump(a.memory)).toEqual(rows)
      expect(linesOf(a).lines).toEqual(lines)
      sound(a, b)
      a.memory.close()
      b.memory.close()
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })
})

test('[C6] [A10] of what was taken back and folded away since, restore makes nothing empty', () => {
  withReplicas(['a'], (a) => {
    a.act([['record-decision', { name: 'gone', rationale: 'because' }]])
    a.act([['undo', {}]])
    a.now += HOUR
    for (let i = 0; i < 2; i++) a.memory.compact((a.now += HOUR))
    expect(() => a.act([['restore', { ref: 'decision:gone' }]])).toThrow(
      /nothing is left of what decision:gone said.*record it again/s,
    )
  })
})
