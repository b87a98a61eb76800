import { readFileSync, writeFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs, SEED } from '../runs.ts'
import { copy, dump, exchange, folded, inDir, join1, linesOf, open, Replica, read, seeded, send } from './harness.ts'

const findings = (r: Replica) => r.memory.db.all<{ key: string }>('SELECT key FROM findings').map((f) => f.key)

const texts = (r: Replica) => (r.fields('principle:p').evidence as string[]).toSorted()

function agree(...replicas: Replica[]) {
  const [first, ...others] = replicas.map((r) => dump(r.memory))
  for (const o of others) expect(o).toEqual(first)
  for (const r of replicas) {
    expect(folded(r.memory)).toEqual(read(r.memory))
    r.memory.rebuild()
    expect(dump(r.memory)).toEqual(first)
  }
}

describe('[C6] two stores under one identity (K12)', () => {
  test('a copy takes an identity of its own before its first write', () =>
    inDir((dir) => {
      const a = new Replica(dir, 'a')
      a.act([['record-principle', { name: 'p', evidence: ['0'] }]])
      const b = copy(a, dir, 'b')
      a.act([['record-principle', { name: 'p', evidence: ['a'] }]])
      b.act([['record-principle', { name: 'p', evidence: ['b'] }]])
      expect(b.tag).not.toBe(a.tag)
      exchange(a, b)
      agree(a, b)
      expect(texts(a)).toEqual(['0', 'a', 'b'])
    }))

  // who hears of the other first; whether deliveries cross; a third replica that heard one side before
  const orders = ['a first', 'b first', 'crossing', 'third hears a', 'third hears b', 'third between'] as const
  test.each(orders.flatMap((order) => [1, 2, 3].map((salt) => [order, salt] as const)))(
    'copies that cannot tell: both write, exchange (%s, %i) and lose nothing',
    (order, salt) =>
      inDir((dir) => {
        const a = new Replica(dir, 'a', salt)
        const c = new Replica(dir, 'c', 5)
        a.act([['record-principle', { name: 'p', evidence: ['0'], confidence: 0.1 }]])
        send(a, c)
        const b = copy(a, dir, 'b', true)
        for (const [i, r] of [a, b].entries()) {
          r.now += 1000 * (i + 1)
          r.act([['record-principle', { name: 'p', evidence: [`${r.name}1-${salt}`], confidence: (i + 2) / 10 }]])
          r.act([['record-principle', { name: 'p', evidence: [`${r.name}2`], tags: [`t${r.name}`] }]])
          r.act([['record-fact', { fact: `only ${r.name} knows` }]])
          r.act([['record-principle', { name: 'gone', tags: [r.name] }]])
          r.act([['delete-principle', { name: 'gone' }]])
        }
        expect(b.tag).toBe(a.tag)
        if (order === 'a first') send(a, b)
        if (order === 'b first') send(b, a)
        if (order === 'third hears a') send(a, c)
        if (order === 'third hears b') send(b, c)
        if (order === 'third between') {
          send(a, c)
          send(c, b)
        }
        const crossing = [linesOf(a), linesOf(b)] as const
        if (order === 'crossing') {
          b.memory.applyUpdates(join1(crossing[0].header, crossing[0].lines))
          a.memory.applyUpdates(join1(crossing[1].header, crossing[1].lines))
        }
        exchange(a, b, c)
        a.act([['record-principle', { name: 'p', evidence: ['later a'] }]])
        b.act([['record-principle', { name: 'p', evidence: ['later b'] }]])
        exchange(c, b, a)
        agree(a, b, c)
        expect(texts(a)).toEqual(['0', `a1-${salt}`, 'a2', `b1-${salt}`, 'b2', 'later a', 'later b'].toSorted())
        expect(a.fields('principle:p').tags).toEqual(['ta', 'tb'])
        expect(a.memory.reader.list('fact').length).toBe(2)
        expect(a.memory.reader.conflicts().map((e) => e.id)).toEqual(['principle:p'])
        expect(new Set([a.tag, b.tag, c.tag]).size).toBe(3)
        expect([...findings(a), ...findings(b)].some((f) => f.startsWith('forked:'))).toBe(true)
      }),
  )

  test.each([false, true])('a store rolled back in place (its old lines come %s)', (singly) =>
    inDir((dir) => {
      const a = new Replica(dir, 'a')
      const b = new Replica(dir, 'b', 2)
      a.act([['record-principle', { name: 'p', evidence: ['0'] }]])
      a.memory.close()
      const old = readFileSync(a.path)
      a.memory = open(a.path, a.env)
      a.act([['record-principle', { name: 'p', evidence: ['1'] }]])
      a.act([['record-principle', { name: 'p', evidence: ['2'], confidence: 0.5 }]])
      send(a, b)
      a.memory.close()
      writeFileSync(a.path, old) // the same inode: nothing but the published lines can tell
      a.memory = open(a.path, { ...a.env, random: seeded(77) })
      a.act([['record-principle', { name: 'p', evidence: ['3'], confidence: 0.7 }]])
      const { header, lines } = linesOf(b)
      for (const part of singly ? lines.map((l) => [l]) : [lines]) a.memory.applyUpdates(join1(header, part))
      a.act([['record-principle', { name: 'p', evidence: ['4'] }]])
      exchange(a, b)
      agree(a, b)
      expect(texts(a)).toEqual(['0', '1', '2', '3', '4'])
    }),
  )
})

test('[C6] who overwrote a line of one branch erases nothing of the other (seed 6)', () => {
  inDir((dir) => {
    const a = new Replica(dir, 'a')
    a.act([['record-principle', { name: 'p', evidence: ['0'] }]])
    const [b, c] = [copy(a, dir, 'b', true), copy(a, dir, 'c', true)]
    const say = (r: Replica, n: number) => {
      r.now += 1000
      r.act([['record-principle', { name: 'p', evidence: [`${r.name}${n}`], confidence: n / 10 }]])
    }
    for (const n of [1, 2]) say(c, n)
    for (const n of [1, 2]) say(a, n)
    send(c, b)
    say(a, 3)
    say(b, 1)
    exchange(a, b, c)
    agree(a, b, c)
    expect(texts(a)).toEqual(['0', 'a1', 'a2', 'a3', 'b1', 'c1', 'c2'])
    for (const r of [a, b, c]) r.memory.close()
  })
})

test('[C6] [K15] what is erased in a branch stays erased under each name that it gets, and in a store that joins late', () => {
  inDir((dir) => {
    const a = new Replica(dir, 'a')
    const late = new Replica(dir, 'l', 9)
    a.act([['record-principle', { name: 'p', evidence: ['0'] }]])
    const b = copy(a, dir, 'b', true)
    const secret = 'the secret text'
    a.act([['record-principle', { name: 'p', evidence: [secret] }]])
    a.act([['record-principle', { name: 'p', tags: ['why'] }]], { intent: `because of ${secret}` })
    const c = copy(a, dir, 'c', true)
    for (const r of [a, b, c]) {
      r.now += 1000
      r.act([['record-principle', { name: 'p', tags: [r.name] }]])
    }
    const whole = linesOf(a)
    exchange(a, b) // two branches
    a.act([['purge', { secret, reason: 'had to go' }]])
    const { lines: erased } = linesOf(a)
    exchange(a, b, c) // the branch of a parts: its lines have other names
    exchange(b, late)
    for (const lines of [whole.lines, erased]) late.memory.applyUpdates(join1(whole.header, lines))
    exchange(a, b, c, late)
    for (const r of [a, b, late]) {
      expect(texts(r)).toEqual(['0'])
      expect(r.memory.db.has('SELECT 1 FROM log WHERE instr(line, ?)>0', secret)).toBe(false)
      expect(r.memory.db.has('SELECT 1 FROM events WHERE instr(body, ?)>0', secret)).toBe(false)
    }
    agree(a, b, c, late)
    for (const r of [a, b, c, late]) r.memory.close()
  })
})

test('[C6] whichever fork is learnt first, lines stand under the same names', () => {
  inDir((dir) => {
    const a = new Replica(dir, 'a')
    const others = [31, 32].map((seed) => new Replica(dir, `r${seed}`, seed))
    const say = (r: Replica, text: string) => {
      r.now += 1000
      r.act([['record-principle', { name: 'p', evidence: [text] }]])
    }
    say(a, '0')
    const b = copy(a, dir, 'b', true)
    say(a, '1')
    say(a, '2')
    const c = copy(a, dir, 'c', true)
    for (const r of [a, b, c]) say(r, r.name)
    const of = { a: linesOf(a), b: linesOf(b), c: linesOf(c) }
    for (const [i, order] of (['acb', 'bac'] as const).entries())
      for (const name of order) others[i]!.memory.applyUpdates(join1(of.a.header, of[name as 'a'].lines))
    const names = (r: Replica) =>
      r.memory.db.column<string>("SELECT hash || ' ' || replica || seq FROM branched ORDER BY 1")
    expect(names(others[0]!).length).toBe(5)
    expect(names(others[1]!)).toEqual(names(others[0]!))
    exchange(a, b, c, ...others)
    agree(a, b, c, ...others)
    for (const r of [a, b, c, ...others]) r.memory.close()
  })
})

type Step = { by: number } | { copy: number } | { from: number; to: number; pick: number[] }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ by: fc.nat({ max: 6 }) }) as fc.Arbitrary<Step> },
  { weight: 1, arbitrary: fc.record({ copy: fc.nat({ max: 6 }) }) as fc.Arbitrary<Step> },
  {
    weight: 2,
    arbitrary: fc.record({
      from: fc.nat({ max: 6 }),
      to: fc.nat({ max: 6 }),
      pick: fc.array(fc.nat({ max: 20 }), { maxLength: 6 }),
    }),
  },
)

const RUNS = Math.ceil(runs(60, 400) / 4)

test(`[C6] stores that are copied at any time, and copies of them: nothing is lost, all agree (${RUNS} runs)`, {
  tags: ['property'],
  timeout: 60_000 + RUNS * 4_000,
}, () => {
  process.stderr.write(`[K12] ${RUNS} runs, TIDEMARK_SEED=${SEED}\n`)
  const run = (steps: readonly Step[]) =>
    inDir((dir) => {
      const a = new Replica(dir, 'a')
      const d = new Replica(dir, 'd', 5)
      a.act([['record-principle', { name: 'p', evidence: ['0'] }]])
      const all = [a, copy(a, dir, 'b', true), copy(a, dir, 'c', true), d]
      const at = (n: number) => all[n % all.length]!
      const said = new Set(['0'])
      for (const [i, s] of steps.entries()) {
        if ('by' in s) {
          const r = at(s.by)
          r.now += 1000
          r.act([['record-principle', { name: 'p', evidence: [`${r.name}${i}`], confidence: (i % 10) / 10 }]])
          said.add(`${r.name}${i}`)
        } else if ('copy' in s) {
          if (all.length < 7) all.push(copy(at(s.copy), dir, 'efg'[all.length - 4]!, true))
        } else if (at(s.from) !== at(s.to)) {
          const { header, lines } = linesOf(at(s.from))
          const to = at(s.to).memory
          if (s.pick.length === 0) to.applyUpdates(join1(header, lines))
          else for (const n of s.pick) if (lines.length > 0) to.applyUpdates(join1(header, [lines[n % lines.length]!]))
        }
      }
      exchange(...all)
      expect(texts(a)).toEqual([...said].toSorted())
      const first = dump(a.memory)
      for (const r of all) {
        expect(dump(r.memory)).toEqual(first)
        expect(folded(r.memory)).toEqual(read(r.memory))
        r.memory.rebuild()
        expect(dump(r.memory)).toEqual(first)
        r.memory.close()
      }
    })
  fc.assert(fc.property(fc.array(step, { minLength: 2, maxLength: 24 }), run), { numRuns: RUNS, seed: SEED })
})
