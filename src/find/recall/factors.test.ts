import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openTestMemory } from '../../../test/helpers.ts'
import type { Json } from '../../model/field.ts'
import { DEFAULTS } from './config.ts'
import { importanceOf } from './importance.ts'
import { HALF_LIFE_DAYS, halfLifeOf, recencyOf } from './recency.ts'
import { stateOf } from './validity.ts'

const importance = (fields: { [field: string]: Json }, strengths = DEFAULTS.importance) =>
  importanceOf(fields, strengths)

describe('recency', () => {
  test('[H2] the same text now and 180 days ago: the newer is strictly higher, the older above 0', () => {
    const m = openTestMemory()
    m.act([['record-action-note', { text: 'Wrote the middleware' }]])
    m.clock.days(180)
    m.act([['record-action-note', { text: 'Wrote the middleware' }]])
    const [newer, older] = m.memory.reader
      .list('action-note')
      .map((e) => recencyOf(e, m.clock.now, m.memory.registry(), DEFAULTS))
    expect(newer).toBe(1)
    expect(older!).toBeLessThan(newer!)
    expect(older!).toBeGreaterThan(DEFAULTS.recencyFloor)
    expect(older).toBeCloseTo(0.5 + 0.5 / 8, 10) // three half-lives of 60 days
  })

  test('[H2] the half-life is the kind’s own unless configured; every age stays between the floor and 1', () => {
    const m = openTestMemory()
    m.act([['define-kind', { name: 'endpoint', fields: { name: 'text' } }]])
    m.act([
      ['record-decision', { name: 'd' }],
      ['record-endpoint', { name: '/login' }],
    ])
    const registry = m.memory.registry()
    expect(halfLifeOf('decision', registry, DEFAULTS)).toBe(180)
    expect(halfLifeOf('endpoint', registry, DEFAULTS)).toBe(HALF_LIFE_DAYS)
    const config = { ...DEFAULTS, halfLifeDays: { decision: 10 }, recencyFloor: 0.2 }
    expect(halfLifeOf('decision', registry, config)).toBe(10)
    const e = m.get('d')!
    const aged = (days: number) => recencyOf(e, e.updated + days * 86_400_000, registry, config)
    expect(aged(10)).toBeCloseTo(0.6, 10)
    expect(aged(-3)).toBe(1)
    fc.assert(
      fc.property(fc.nat(40_000), fc.nat(40_000), (a, b) => {
        expect(aged(a)).toBeGreaterThanOrEqual(0.2)
        expect(aged(a)).toBeLessThanOrEqual(1)
        if (a < b) expect(aged(a)).toBeGreaterThanOrEqual(aged(b))
      }),
    )
  })

  test('what is said again is fresh again', () => {
    const m = openTestMemory()
    m.act([['record-decision', { name: 'd' }]])
    m.clock.days(300)
    const recency = () => recencyOf(m.get('d')!, m.clock.now, m.memory.registry(), DEFAULTS)
    expect(recency()).toBeLessThan(0.7)
    m.act([['add-evidence', { ref: 'd', evidence: 'it held' }]])
    expect(recency()).toBe(1)
  })
})

describe('importance', () => {
  test('[H3] 1 when nothing is said, more for impact, sureness and severity, always within [0.5, 2]', () => {
    expect(importance({})).toBe(1)
    expect(importance({ description: 'x', impact: 'high', severity: 3 })).toBe(1)
    expect(importance({ impact: 5 })).toBe(1)
    expect(importance({ impact: 10 })).toBeCloseTo(Math.SQRT2, 10)
    expect(importance({ impact: 0 })).toBeCloseTo(Math.SQRT1_2, 10)
    expect(importance({ confidence: 0.8 })).toBeCloseTo(1, 10)
    expect(importance({ severity: 'critical' })).toBe(1.6)
    expect(importance({ severity: 'low' })).toBe(0.8)
    expect(importance({ priority: 'P0' })).toBe(1.6)
    expect(importance({ impact: 10, confidence: 1, severity: 'critical', priority: 'urgent' })).toBe(2)
    expect(importance({ impact: 0, confidence: 0, severity: 'low' })).toBe(0.5)
    expect(importance({ severity: 'constructor' })).toBe(1)
  })

  test('[H3] it never falls with more impact or sureness, and a strength of 0 takes a statement out', () => {
    const fields = fc.record({
      impact: fc.double({ min: 0, max: 10, noNaN: true }),
      confidence: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    fc.assert(
      fc.property(
        fields,
        fc.double({ min: 0, max: 10, noNaN: true }),
        fc.constantFrom('low', 'medium', 'high', 'critical'),
        (f, more, severity) => {
          const all = { ...f, severity }
          const v = importance(all)
          expect(v).toBeGreaterThanOrEqual(0.5)
          expect(v).toBeLessThanOrEqual(2)
          expect(importance({ ...all, impact: Math.max(f.impact, more) })).toBeGreaterThanOrEqual(v)
          expect(importance(all, { impact: 0, confidence: 0, severity: 0, priority: 0 })).toBe(1)
        },
      ),
    )
  })
})

describe('what holds', () => {
  test('[H5] superseded, retired and out-of-validity entities have a state, and others none', () => {
    const m = openTestMemory()
    m.act([
      ['record-decision', { name: 'old' }],
      ['record-decision', { name: 'new' }],
      ['supersede', { old: 'old', new: 'new' }],
      ['record-learning', { title: 'old lesson' }],
      ['record-learning', { title: 'new lesson' }],
      ['supersede', { old: 'old lesson', new: 'new lesson' }],
      ['record-fact', { fact: 'gone' }],
      ['retire', { ref: 'gone', reason: 'no longer so' }],
      ['record-fact', { fact: 'from', validFrom: '2026-12-01' }],
      ['record-fact', { fact: 'to', validTo: '2026-11-20' }],
      ['record-fact', { fact: 'to today', validTo: '2026-11-21' }],
      ['record-fact', { fact: 'to an hour ago', validTo: '2026-11-21T08:00:00Z' }],
      ['propose', { action: ['record-fact', { fact: 'perhaps' }] }],
    ])
    const state = (ref: string, at = m.clock.now, reader = m.memory.reader) => stateOf(m.get(ref)!, reader, at)
    const states = [
      'old',
      'new',
      'old lesson',
      'new lesson',
      'gone',
      'from',
      'to',
      'to today',
      'to an hour ago',
      'perhaps',
    ]
    expect(states.map((ref) => state(ref))).toEqual([
      'superseded', undefined, 'superseded', undefined, 'retired', 'not yet valid', 'no longer valid', undefined, 'no longer valid', 'proposed',
    ]) // biome-ignore format: as the names stand
    expect(state('from', Date.parse('2026-12-01'))).toBe(undefined)
    expect(state('to', Date.parse('2026-11-20T23:00:00Z'))).toBe(undefined)
    m.act([['delete-fact', { ref: 'to' }]])
    expect(state('to')).toBe('deleted')
  })

  test('[H5] a supersession that is proposed, rejected or unlinked replaces nothing; deleting what is newer brings nothing back, restore does', () => {
    const m = openTestMemory()
    m.act(['a', 'b', 'c', 'd', 'newer', 'other'].map((title) => ['record-learning', { title }]))
    const link = (to: string, more = {}) => ['link-entities', { from: 'newer', to, type: 'supersedes', ...more }]
    m.act([
      link('a', { standing: 'proposed' }),
      link('b'),
      link('c', { standing: 'proposed' }),
      ['supersede', { old: 'd', new: 'other' }],
    ])
    const state = (ref: string) => stateOf(m.get(ref)!, m.memory.reader, m.clock.now)
    expect(['a', 'b', 'c', 'd'].map(state)).toEqual([undefined, 'superseded', undefined, 'superseded'])
    m.act([
      ['unlink-entities', { from: 'newer', to: 'b', type: 'supersedes' }],
      ['delete-learning', { ref: 'other' }],
    ])
    m.act([['reject', { ref: m.memory.reader.links('to', m.get('c')!.id)[0]!.id }]])
    expect(['a', 'b', 'c', 'd'].map(state)).toEqual([undefined, undefined, undefined, 'superseded'])
    m.act([['restore', { ref: 'd' }]])
    expect(state('d')).toBeUndefined()
  })

  test('[H5] as of a moment before, it was not superseded yet', () => {
    const m = openTestMemory()
    m.act([['record-decision', { name: 'old' }]])
    const before = m.clock.now
    m.clock.days(1)
    m.act([
      ['record-decision', { name: 'new' }],
      ['supersede', { old: 'old', new: 'new' }],
    ])
    const then = m.memory.asOf(before)
    expect(stateOf(then.entity('decision:old')!, then, before)).toBe(undefined)
    expect(stateOf(m.get('old')!, m.memory.reader, m.clock.now)).toBe('superseded')
  })
})
