import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { UserError } from '../../src/base/errors.ts'
import { runs, SEED } from '../runs.ts'
import { dump, exchange, folded, join1, linesOf, type Replica, read, send, withReplicas } from './harness.ts'

const SECRET = 'swordfish-of-the-seven-seas'

/** How often the secret stands in any file of the store, sealed base64 of documents included. */
function bytesHold(r: Replica, secret = SECRET): string[] {
  const dir = dirname(r.path)
  const own = readdirSync(dir).filter((f) => f.startsWith(`${r.name}.db`))
  const backups = join(dir, 'backups')
  const files = [
    ...own.map((f) => join(dir, f)),
    ...(existsSync(backups) ? readdirSync(backups).map((f) => join(backups, f)) : []),
  ]
  const needles = [0, 1, 2].map((shift) => {
    // the text in base64, at each of the three places it can have in a document
    const text = Buffer.from('x'.repeat(shift) + secret).toString('base64')
    return text.slice(shift === 0 ? 0 : 4, -4)
  })
  return files.filter((f) => {
    const bytes = readFileSync(f)
    return [secret, ...needles].some((n) => bytes.includes(n))
  })
}

function agree(...replicas: Replica[]) {
  const first = dump(replicas[0]!.memory)
  for (const r of replicas) {
    expect(dump(r.memory)).toEqual(first)
    expect(folded(r.memory)).toEqual(read(r.memory))
    r.memory.rebuild()
    expect(dump(r.memory)).toEqual(first)
    expect(r.memory.rebuild().entities).toBe(first.entities.length)
    expect(bytesHold(r)).toEqual([])
    for (const line of linesOf(r).lines) expect(line).not.toContain(SECRET)
  }
}

const ways = {
  'the whole entity': { ref: 'decision:d', reason: 'customer' },
  'the text alone': { secret: SECRET, reason: 'a password' },
} as const

describe.each(Object.entries(ways))('[C4] K15: purge of %s', (way, args) => {
  const record = (r: Replica) => {
    r.act([
      ['record-decision', { name: 'd', description: `it is ${SECRET}`, tags: ['keep'], attrs: { a: { b: SECRET } } }],
    ])
    r.act([
      ['record-decision', { name: 'd', evidence: ['e1', SECRET], confidence: 0.5 }],
      ['record-decision', { name: 'other', description: 'stays' }],
      ['link-entities', { from: 'decision:d', to: 'decision:other', type: 'supports', description: 'why' }],
    ])
  }

  test('is taken over by everybody, and the bytes are gone', () => {
    withReplicas(['a', 'b', 'c'], (a, b, c) => {
      record(a)
      exchange(a, b, c)
      expect(bytesHold(b)).not.toEqual([])
      b.act([['purge', args]])
      expect(bytesHold(b)).toEqual([])
      exchange(a, b, c)
      agree(a, b, c)
      expect(a.fields('decision:other').description).toBe('stays')
      if (way === 'the text alone')
        for (const r of [a, b, c]) {
          expect(r.fields('decision:d')).toMatchObject({ name: 'd', confidence: 0.5, tags: ['keep'], evidence: ['e1'] })
          expect(r.fields('decision:d').description).toBeUndefined()
        }
      else for (const r of [a, b, c]) expect(r.memory.reader.entity('decision:d')).toBeUndefined()
    })
  })

  test('the purge is heard of before the lines it erases, and they are sent again', () => {
    withReplicas(['a', 'b', 'c'], (a, b, c) => {
      record(a)
      const old = linesOf(a)
      send(a, b)
      b.act([['purge', args]])
      const purged = linesOf(b)
      const purge = purged.lines.filter((l) => l.includes(`"r":"${b.tag}"`))
      c.memory.applyUpdates(join1(purged.header, purge))
      for (const l of [...old.lines].reverse()) c.memory.applyUpdates(join1(old.header, [l]))
      expect(bytesHold(c)).toEqual([])
      for (const r of [b, c]) for (const l of old.lines) r.memory.applyUpdates(join1(old.header, [l]))
      exchange(b, c)
      agree(b, c)
      exchange(a, b, c)
      agree(a, b, c)
      for (const l of old.lines) a.memory.applyUpdates(join1(old.header, [l]))
      agree(a, b, c)
    })
  })

  test('the purge comes while the lines it erases wait for an earlier one', () => {
    withReplicas(['a', 'b', 'c'], (a, b, c) => {
      a.act([['record-fact', { fact: 'first' }]])
      record(a)
      const old = linesOf(a)
      send(a, b)
      b.act([['purge', args]])
      c.memory.applyUpdates(join1(old.header, old.lines.slice(1)))
      const purged = linesOf(b)
      const purge = purged.lines.filter((l) => l.includes(`"r":"${b.tag}"`))
      c.memory.applyUpdates(join1(purged.header, purge))
      expect(bytesHold(c)).toEqual([])
      exchange(a, b, c)
      agree(a, b, c)
    })
  })

  test('‖ edit of the same entity, both ways round', () => {
    for (const editFirst of [true, false])
      withReplicas(['a', 'b', 'c'], (a, b, c) => {
        record(a)
        exchange(a, b, c)
        c.act([['record-decision', { name: 'd', description: 'edited meanwhile', tags: ['more'] }]])
        c.act([['record-decision', { name: 'd', attrs: { a: { c: 1 } } }]])
        b.act([['purge', args]])
        if (editFirst) {
          send(c, a)
          send(b, a)
        } else {
          send(b, a)
          send(c, a)
        }
        exchange(a, b, c)
        agree(a, b, c)
        if (way === 'the text alone')
          expect(a.fields('decision:d')).toMatchObject({ description: 'edited meanwhile', tags: ['keep', 'more'] })
      })
  })

  test('holds against a compaction before it, a compaction after it, and a replica that starts from a snapshot', () => {
    withReplicas(['a', 'b', 'c', 'd'], (a, b, c, d) => {
      record(a)
      exchange(a, b)
      send(a, d)
      a.now += 3_600_000
      a.memory.compact(a.now)
      send(a, c)
      b.act([['purge', args]])
      exchange(a, b, c)
      agree(a, b, c)
      for (const r of [a, b]) {
        r.now += 3_600_000
        r.memory.compact(r.now)
      }
      expect(bytesHold(a)).toEqual([])
      send(d, c)
      expect(bytesHold(c)).toEqual([])
      exchange(a, b, c, d)
      agree(a, b, c, d)
    })
  })

  test('snapshots hold it no longer', () => {
    withReplicas(['a'], (a) => {
      record(a)
      a.memory.maintain()
      a.now += 86_400_001
      a.act([['record-fact', { fact: 'x' }]])
      a.memory.maintain()
      expect(bytesHold(a).filter((f) => f.includes('backups')).length).toBe(2)
      a.act([['purge', args]])
      expect(bytesHold(a)).toEqual([])
      expect(a.memory.occurrences(SECRET).every((f) => f.count === 0)).toBe(true)
    })
  })
})

test('[C4] K15: what the purger knows no longer, having compacted, is erased where it is still known', () => {
  withReplicas(['a', 'b', 'c'], (a, b, c) => {
    for (let i = 0; i < 3; i++)
      a.act([['record-decision', { name: 'd', tags: ['t', SECRET], description: `${SECRET} ${i}` }]])
    const old = linesOf(a)
    b.memory.applyUpdates(join1(old.header, old.lines))
    a.now += 1000
    a.memory.compact(a.now)
    a.act([['purge', { secret: SECRET, reason: 'r' }]])
    send(a, b)
    expect(bytesHold(b)).toEqual([])
    c.memory.applyUpdates(join1(linesOf(a).header, linesOf(a).lines.slice(1)))
    for (const l of [...old.lines].reverse()) c.memory.applyUpdates(join1(old.header, [l]))
    exchange(a, b, c)
    agree(a, b, c)
    expect(b.fields('decision:d').tags).toEqual(['t'])
  })
})

test.each(['ref', 'secret'])(
  '[C4] K15: a link that was erased by its %s can be made again, and everybody sees it (seed 400)',
  (by) => {
    withReplicas(['a', 'b'], (a, b) => {
      const link = [
        ['record-decision', { name: 'd' }],
        ['record-decision', { name: 'e' }],
        ['link-entities', { from: 'decision:d', to: 'decision:e', type: 'supports', description: SECRET }],
      ]
      const { id } = a.act(link).results[2]!
      send(a, b)
      a.act([['purge', by === 'ref' ? { ref: id, reason: 'r' } : { secret: SECRET, reason: 'r' }]])
      a.act([['link-entities', { from: 'decision:d', to: 'decision:e', type: 'supports', description: 'clean' }]])
      exchange(a, b)
      agree(a, b)
      expect(b.memory.reader.links('from', 'decision:d').map((l) => l.entity.fields.description)).toEqual(['clean'])
      b.act([['unlink-entities', { from: 'decision:d', to: 'decision:e', type: 'supports' }]])
      exchange(a, b)
      agree(a, b)
      expect(a.memory.reader.links('from', 'decision:d')).toEqual([])
    })
  },
)

type Step =
  | { by: number; do: 'record' | 'edit' | 'purge' | 'purge-text' | 'delete' | 'anew' | 'restore' | 'link' | 'compact' }
  | { from: number; to: number; pick: number[] }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    by: fc.nat({ max: 2 }),
    do: fc.constantFrom(
      'record',
      'edit',
      'edit',
      'purge',
      'purge-text',
      'delete',
      'anew',
      'restore',
      'link',
      'compact',
    ),
  }) as fc.Arbitrary<Step>,
  fc.record({
    from: fc.nat({ max: 2 }),
    to: fc.nat({ max: 2 }),
    pick: fc.array(fc.nat({ max: 30 }), { maxLength: 8 }),
  }),
)

const RUNS = Math.ceil(runs(60, 400) / 4)

test(`[C4] K15: whatever happens around a purge, all agree and nobody holds the text (${RUNS} runs)`, {
  tags: ['property'],
  timeout: 60_000 + RUNS * 4_000,
}, () => {
  process.stderr.write(`[K15] ${RUNS} runs, TIDEMARK_SEED=${SEED}\n`)
  const run = (steps: readonly Step[]) =>
    withReplicas(['a', 'b', 'c'], (...replicas) => {
      for (const s of steps) {
        if ('from' in s) {
          if (s.from === s.to) continue
          const { header, lines } = linesOf(replicas[s.from]!)
          const to = replicas[s.to]!.memory
          if (s.pick.length === 0) to.applyUpdates(join1(header, lines))
          for (const n of s.pick) if (lines.length > 0) to.applyUpdates(join1(header, [lines[n % lines.length]!]))
          continue
        }
        const r = replicas[s.by]!
        r.now += 1000
        r.pack()
        try {
          if (s.do === 'compact') r.memory.compact(r.now)
          else
            r.act(
              {
                record: [['record-decision', { name: 'd', description: SECRET, tags: ['t', SECRET] }]],
                edit: [
                  ['record-decision', { name: 'd', description: `by ${r.name}`, attrs: { k: SECRET }, tags: ['t'] }],
                ],
                purge: [['purge', { ref: 'decision:d', reason: 'r' }]],
                'purge-text': [['purge', { secret: SECRET, reason: 'r' }]],
                delete: [['delete-decision', { name: 'd' }]],
                anew: [['record-decision', { name: 'd', anew: true, description: SECRET }]],
                restore: [['restore', { ref: 'decision:d' }]],
                link: [
                  ['record-decision', { name: 'e' }],
                  ['link-entities', { from: 'decision:d', to: 'decision:e', type: 'supports', description: SECRET }],
                ],
              }[s.do],
            )
        } catch (error) {
          if (!(error instanceof UserError)) throw error
        }
      }
      exchange(...replicas)
      // whoever recorded it again after the purge: it is erased once more, now that all have met
      for (let i = 0; i < 2; i++) {
        const [a] = replicas
        if (a!.memory.db.get('SELECT 1 FROM events WHERE instr(body, ?) > 0', SECRET))
          a!.act([['purge', { secret: SECRET, reason: 'r' }]])
        exchange(...replicas)
      }
      agree(...replicas)
    })
  fc.assert(fc.property(fc.array(step, { minLength: 2, maxLength: 20 }), run), { numRuns: RUNS, seed: SEED })
})
