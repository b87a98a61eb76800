import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonical } from '../../model/canonical.ts'
import { sha256 } from '../../model/digest.ts'
import type { Json } from '../../model/field.ts'
import type { Event } from '../log/events.ts'
import { type Line, merged, parseLine, printLine, redacted, seal, tombstoneOf, type Unsealed } from './line.ts'
import { signedFirst } from './line-v1.ts'

const REPLICA = 'k3j9abcdefghijkl'
const AT = 1e12
// what the gate lets in (K7): no -0, no NUL, no half of a character
const json = fc
  .jsonValue({ maxDepth: 3 })
  .map((v) => JSON.parse(JSON.stringify(v)) as Json)
  .filter((v) => !/\\u(?:0000|d)/.test(JSON.stringify(v)))
const text = fc.string({ unit: 'binary' }).filter((t) => t.isWellFormed() && !t.includes('\0'))
const said: fc.Arbitrary<Partial<Event>> = fc.oneof(
  fc.record({ op: fc.constant('set' as const), value: json }),
  fc.record({ op: fc.constant('clear' as const) }),
  fc.record({ op: fc.constant('add' as const), value: json }),
  fc.record({ op: fc.constant('add' as const), value: json, list: fc.constant(true), pos: fc.nat() }),
  fc.record({ op: fc.constant('put' as const), value: json, path: fc.array(text, { minLength: 1 }) }),
  fc.record({ op: fc.constant('remove' as const), over: fc.constant([[REPLICA, 3] as const, ['other', 9] as const]) }),
)
const entity = fc.constantFrom('decision:a', 'decision:b', 'observation:o', 'fact:x y')
const unsealed: fc.Arbitrary<Unsealed> = fc
  .record({
    all: fc.array(fc.tuple(entity, fc.constantFrom('name', 'tags', 'provenance'), said), { maxLength: 8 }),
    author: fc.record({ user: text, session: text, intent: text }, { requiredKeys: [] }),
    seq: fc.integer({ min: 2, max: 50 }),
    ctr: fc.nat(),
    salted: fc.boolean(),
  })
  .map(({ all, author, seq, ctr, salted }) => ({
    ...{ replica: REPLICA, seq, from: seq - 1, prev: sha256('before'), at: AT, author, ctr },
    events: all.map(([id, field, e], i) => ({
      ...{ entity: id, field, over: [], stamp: { ms: AT, ctr: ctr + i, replica: REPLICA } },
      ...e,
    })) as Event[],
    purges: [{ replica: 'r', seq: 1, hash: 'h', entity: 'decision:a', writes: [1] }],
    salt: () => (salted ? 'salt' : undefined),
  }))
const plain = ({ events, ...line }: Line) => [
  line.seq,
  line.from,
  line.prev,
  line.hash,
  line.at,
  line.author,
  events,
  line.purges,
]

test('[K10] a line is read as it was written', () => {
  fc.assert(
    fc.property(unsealed, (given) => {
      const line = seal(given)
      const read = parseLine(printLine(line))
      expect(plain(read)).toEqual(plain(line))
      expect(read.events).toEqual(given.events)
      expect(printLine(read)).toBe(printLine(line))
      expect(line.partial).toBe(false)
    }),
  )
})

test('[K15] what is taken out of a line leaves its hash, and nothing but it; the rest is told as before', () => {
  fc.assert(
    fc.property(unsealed, fc.subarray(['decision:a', 'observation:o']), fc.nat(8), (given, hidden, at) => {
      const line = seal(given)
      const write = given.ctr + at
      const part = redacted(line, {
        hides: (id) => hidden.includes(id),
        erases: (id) => id === 'fact:x y',
        write: (ctr) => ctr === write,
      })
      const read = parseLine(printLine(part))
      expect(read.hash).toBe(line.hash)
      expect(read.events.map((e) => e.stamp.ctr)).toEqual(
        line.events.filter((e) => !hidden.includes(e.entity)).map((e) => e.stamp.ctr),
      )
      for (const e of read.events) {
        const before = line.events.find((b) => b.stamp.ctr === e.stamp.ctr)!
        if (before.entity === 'fact:x y') expect(e).toMatchObject({ entity: tombstoneOf('fact:x y'), purged: true })
        else if (e.erased === undefined) expect(e).toEqual(before)
        expect(e.over).toEqual(before.over)
      }
      // whoever has more of it gives it back
      expect(plain(merged(line, read))).toEqual(plain(line))
      expect(merged(read, line)).toBe(line)
    }),
  )
})

/** Every way to change one value in a JSON text. */
function* changed(value: unknown): Generator<unknown> {
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) for (const other of changed(item)) yield value.toSpliced(i, 1, other)
    for (let i = 0; i < value.length; i++) yield value.toSpliced(i, 1)
    yield [...value, 'more']
  } else if (typeof value === 'object' && value !== null) {
    for (const key of Object.keys(value)) {
      const { [key]: own, ...rest } = value as { [key: string]: unknown }
      yield rest
      for (const other of changed(own)) yield { ...rest, [key]: other }
    }
    yield { ...value, more: 1 }
  } else if (typeof value === 'string') {
    yield `${value}x`
    yield value.slice(1)
    yield 5
  } else if (typeof value === 'number') yield value + 1
}

test('[Y3] [T82] whoever changes anything in a line, and keeps its hash, is refused', () => {
  let refused = 0
  for (const given of fc.sample(unsealed, { numRuns: 25, seed: 7 })) {
    const line = seal(given)
    const { h, ...raw } = JSON.parse(printLine(line))
    for (const other of changed(raw)) {
      if (JSON.stringify(other) === JSON.stringify(raw)) continue
      const read = () => parseLine(JSON.stringify({ ...(other as object), h }))
      // what means the same has the same hash: nothing else is read
      try {
        expect(plain(read())).toEqual(plain(line))
      } catch (error) {
        if ((error as { code?: string }).code === undefined) throw error
        refused++
      }
    }
  }
  expect(refused).toBeGreaterThan(1_000)
})

test('[K10] an event that names a line’s author says it once', () => {
  const author = { session: 's', user: 'ana', branch: 'main' }
  const provenance = { entity: 'fact:a', field: 'provenance', op: 'add', value: author, over: [] } as const
  const created = { entity: 'fact:a', field: '$', op: 'set', value: { s: 'created', at: AT }, over: [] } as const
  const stamp = (ctr: number) => ({ ms: AT, ctr, replica: REPLICA })
  const events: Event[] = [
    { ...created, stamp: stamp(1) },
    { ...provenance, stamp: stamp(2) },
  ]
  const line = seal({
    replica: REPLICA,
    seq: 1,
    prev: '',
    at: AT,
    author: { ...author, actor: 'agent' },
    events,
    ctr: 1,
  })
  expect(JSON.parse(printLine(line)).e).toEqual([['fact:a', { f: '$' }, { f: '@' }]])
  expect(parseLine(printLine(line)).events).toEqual(events)
  // of an erased author nothing is told
  const erased = parseLine(printLine(redacted(line, { header: true })))
  expect(erased.author).toEqual({})
  expect(erased.events[1]).toMatchObject({ field: 'provenance', purged: true })
  expect(erased.events[1]!.value).toBeUndefined()
})

/** A line as 0.1.0 wrote it. */
function first(rest: object = {}): string {
  const e = [{ e: 'fact:a', f: 'fact', o: 'set', c: 1, v: 'new', w: 'old' }]
  const line = {
    v: 1,
    r: 'evil1',
    n: 1,
    p: '',
    at: AT,
    by: { user: 'ana' },
    sum: 's',
    u: { 'fact:a': 'AAA=' },
    e,
    ...rest,
  }
  return JSON.stringify({ ...line, h: sha256(canonical(line as unknown as Json)) })
}

test('[K10] a line of 0.1.0 is read by its events, whatever it says besides', () => {
  const line = parseLine(first())
  expect(line).toMatchObject({ v: 1, replica: 'evil1', author: { user: 'ana' }, partial: false })
  const stamp = { ms: AT, ctr: 1, replica: 'evil1' }
  expect(line.events).toEqual([{ entity: 'fact:a', field: 'fact', op: 'set', value: 'new', over: [], stamp }])
  expect(parseLine(printLine(line)).events).toEqual(line.events)
  const part = parseLine(printLine(redacted(line, { write: () => true })))
  expect([part.hash, part.partial]).toEqual([line.hash, true])
  expect(printLine(part)).not.toMatch(/new|old|AAA=/)
  const signed = parseLine(signedFirst(line, 'key', (t) => `sig of ${t.length}`))
  expect([signed.hash, signed.partial, signed.signature?.sig]).toEqual([
    line.hash,
    false,
    expect.stringMatching(/^sig/),
  ])
  expect(() => parseLine(first().replace('"new"', '"other"'))).toThrow(/hash/)
})

test('[K10] a line of a newer form says that this Tidemark is too old', () => {
  expect(() => parseLine('{"v":3,"r":"x","n":1}')).toThrowError(expect.objectContaining({ code: 'line-newer' }))
})
