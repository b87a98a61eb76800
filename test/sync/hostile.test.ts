import { createHash } from 'node:crypto'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ownIdentities } from '../../src/engine/store/own-lines.ts'
import { findProject } from '../../src/engine/store/project.ts'
import { canonical } from '../../src/model/canonical.ts'
import type { Json } from '../../src/model/field.ts'
import { brief } from '../../src/session/briefing/brief.ts'
import { readSegment, segmentsIn, textsOf } from '../../src/travel/sync/segments.ts'
import { dump } from '../convergence/harness.ts'
import { type Clone, decision, knowledge, team } from './clones.ts'

const sha = (text: string) => createHash('sha256').update(text).digest('hex')

/** A line with a right hash, whatever is in it. */
function sealed(rest: object): string {
  const line = { v: 1, r: 'evil1', n: 1, p: '', at: Date.UTC(2026, 10, 21), by: {}, sum: 's', u: {}, e: [], ...rest }
  return JSON.stringify({ ...line, h: sha(canonical(line as unknown as Json)) })
}

function plant(c: Clone, replica: string, texts: readonly string[]): void {
  const text = `${texts.join('\n')}\n`
  const dir = join(c.dir, '.tidemark/log', replica)
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, `1-${texts.length}-${sha(text).slice(0, 16)}.jsonl`), text)
}

const event = { e: 'decision:x', f: 'name', o: 'set', c: 1, v: 'x' }
const GARBAGE = Buffer.from('no update of Yjs at all, but long enough to be taken for one').toString('base64')

test.each<readonly [string, object]>([
  ['an update that is none', { u: { 'decision:x': GARBAGE }, e: [event] }],
  ['an update cut off', { u: { 'decision:x': 'AQHv' }, e: [event] }],
  ['an author that is none', { by: null }],
  ['an author of another type', { by: { user: { toString: 'x' }, undoes: 'x' } }],
  ['a summary that is none', { sum: { a: 1 } }],
  ['a moment beyond all dates', { at: 1e300 }],
  ['events of nothing', { e: [null, 1, 'x', []] }],
  ['an event of no entity', { e: [{ ...event, e: 'x' }] }],
  ['an event of another operation', { e: [{ ...event, o: 'toString' }] }],
  ['an event that overwrites nonsense', { e: [{ ...event, x: [1, null, ['a']] }] }],
  ['purges of nonsense', { x: [{ r: 1, n: 'x', h: null, e: {} }] }],
  ['forks of nonsense', { k: [null, ['x']] }],
  [
    'entities named as prototypes',
    { u: { '__proto__:x': 'AAA=', 'constructor:x': 'AAA=' }, e: [{ ...event, e: '__proto__:x' }] },
  ],
  ['a document of a kind that nobody knows', { u: { 'nothing:x': 'AAA=' }, e: [{ ...event, e: 'nothing:x' }] }],
  ['a place far behind', { n: Number.MAX_SAFE_INTEGER }],
  ['a place that is none', { n: 5, f: 9 }],
  ['endless nesting', { e: [{ ...event, v: JSON.parse(`${'['.repeat(1_500)}${']'.repeat(1_500)}`) as unknown }] }],
])('[K17] [T81] %s in a segment stops nobody', (_, rest) => {
  const { clone } = team()
  const [ana, ben] = [clone('ana'), clone('ben')]
  ana.act([decision('sound')])
  ana.share()
  ben.pull()
  plant(ben, 'evil1', [sealed(rest)])
  expect(ben.receive().applied).toBeGreaterThan(0)
  ben.act([decision('of-ben')])
  const names = ben.memory.reader.list('decision').map((e) => e.name)
  expect(names).toEqual(expect.arrayContaining(['of-ben', 'sound']))
  expect(brief(ben.memory, findProject(ben.dir), { session: 's', budget: 2_000, chars: 9_000 }).text).toContain('sound')
  expect(ben.memory.faults()).toEqual([])
})

test('[K17] [T81] a snapshot that is none, a file of another replica, and links are left out', () => {
  const { clone, top } = team()
  const ben = clone('ben')
  plant(ben, 'evil1', ['{"snapshot":{"covered":1}}'])
  plant(ben, 'evil2', [sealed({ r: 'evil1' })])
  plant(ben, 'evil3', ['{"snapshot":'])
  writeFileSync(join(top, 'outside'), 'x')
  symlinkSync(join(top, 'outside'), join(ben.dir, '.tidemark/log/evil1/9-9-0123456789abcdef.jsonl'))
  symlinkSync(top, join(ben.dir, '.tidemark/log/evil4'))
  expect(ben.receive()).toMatchObject({ applied: 0 })
  expect(ben.receive().damaged.map((d) => d.path.split('/')[2])).toEqual(['evil1', 'evil1', 'evil2', 'evil3'])
  ben.act([decision('of-ben')])
  expect(ben.memory.faults()).toEqual([])
})

test('[K14] [K17] [T81] a snapshot speaks for its own replica alone, and never for this store', () => {
  const { clone } = team()
  const [ana, ben] = [clone('ana'), clone('ben')]
  ana.act([decision('of-ana')])
  ana.share()
  ben.act([decision('of-ben')])
  ben.share()
  const tags = ben.segments.map((s) => s.split('/')[0]!)
  const covering = (replica: string, more: object = {}) =>
    JSON.stringify({
      snapshot: {
        covered: [{ replica, seq: 1_000, hash: 'x', ctr: 1_000 }],
        ...{ horizon: 1, entities: [], events: [], purged: [], forked: [] },
        ...more,
      },
    })
  const before = knowledge(ben)
  const body = { replica: 'evil1', seq: 1, i: 0, entity: 'decision:x', ms: 1, ctr: 1, body: 'garbage' }
  plant(ben, 'evil1', [...tags.map((tag) => covering(tag)), covering('evil1', { events: [body] })])
  const own = ownIdentities(ben.memory.db)[0]!.replica
  plant(ben, own, [covering(own)])
  expect(ben.receive().damaged).toHaveLength(1)
  expect(knowledge(ben)).toBe(before)
  ben.act([decision('later')])
  expect(ben.memory.faults()).toEqual([])
})

test('[C6] [K14] what was folded away before it was shared travels as a state, and later lines follow it', () => {
  const { clone } = team()
  const [ana, ben] = [clone('ana'), clone('ben')]
  ben.act([decision('both', { tags: ['ben'] })])
  ben.share()
  ana.pull()
  ana.receive()
  ana.act([decision('both', { tags: ['ana'] }), decision('old')])
  ana.act([['delete-decision', { ref: 'old' }]])
  ana.memory.compact(ana.clock.now + 1)
  ana.act([decision('new')])
  ana.share()
  ben.pull()
  expect(ben.receive()).toMatchObject({ damaged: [], gaps: 0 })
  const cid = clone('cid')
  expect(cid.receive()).toMatchObject({ damaged: [], gaps: 0 })
  for (const c of [ben, cid]) {
    expect(dump(c.memory)).toEqual(dump(ana.memory))
    expect(c.memory.faults()).toEqual([])
  }
  ana.act([decision('both', { tags: { remove: ['ben'] } })])
  ana.share()
  for (const c of [ben, cid]) {
    c.pull()
    c.receive()
    expect(dump(c.memory)).toEqual(dump(ana.memory))
  }
})

test.each<readonly [string, (i: number) => string]>([
  ['lines of something else', () => '{"a":1}'],
  ['lines that are damaged', (i) => `{"v":2,"r":"evil123","n":${i},"e":[]}`],
  ['lines that nobody signed', (i) => sealedBy('evil123aaaabbbb1', i)],
])('[Y5] garbage is not read to its end: %s; what others wrote comes in', (_name, of) => {
  const { clone } = team()
  const [ana, ben] = [clone('ana'), clone('ben')]
  ana.act([decision('of ana')])
  ana.share()
  ben.pull()
  plant(
    ben,
    'evil123',
    Array.from({ length: 3_000 }, (_, i) => of(i + 1)),
  )
  const [segment] = segmentsIn(ben.dir).filter((s) => s.replica === 'evil123')
  const { lines, damage } = readSegment(textsOf(ben.dir, segment!))
  expect(damage).toMatch(/something else|rest of it is left/)
  expect(lines.length).toBeLessThan(100)
  const { applied, damaged } = ben.receive()
  expect(applied).toBe(1)
  expect(damaged).toHaveLength(1)
  expect(ben.memory.reader.byName('of ana')).toHaveLength(1)
})

/** A line in the form of today under a name that a key belongs to, without a signature that holds. */
const sealedBy = (r: string, n: number): string =>
  JSON.stringify({
    ...{ v: 2, r, n, c: n, at: Date.UTC(2026, 10, 21), by: {}, e: [['decision:x', { f: '$' }]] },
    ...{ s: 'A'.repeat(86), key: 'A'.repeat(43) },
  })
