import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../src/engine/feed/feed.ts'
import { canonical } from '../../src/model/canonical.ts'
import type { Json } from '../../src/model/field.ts'
import { events } from '../../src/surfaces/tools/events.ts'
import { share } from '../../src/surfaces/tools/share.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { eventsSince, followEvents, sharedContext } from '../../src/work/coordination/shared-context.ts'
import { exchange, send, withReplicas } from '../convergence/harness.ts'
import { openTestMemory, type TestMemory, userError } from '../helpers.ts'
import { runs } from '../runs.ts'
import { replayed } from './replayed.ts'

const shareEvents = (t: TestMemory, since = 0) => eventsSince(t.memory, { since, types: ['share'] })
const data = (t: TestMemory) => sharedContext(t.memory).data
const sorted = (v: Json): string =>
  Array.isArray(v)
    ? `[${v.map(sorted)}]`
    : v !== null && typeof v === 'object'
      ? `{${Object.keys(v)
          .sort()
          .map((k) => `${JSON.stringify(k)}:${sorted(v[k]!)}`)}}`
      : JSON.stringify(v)

describe('[X4] the event stream', () => {
  test('[X8] an event has all its parts, and the hash is that of the canonical value', () => {
    const t = openTestMemory()
    t.act([['share-set', { key: 'phase', value: { b: 1, a: ['é', null] } }]], { session: 's1' })
    t.clock.now += 1000
    t.act([['share-merge', { key: 'phase', value: { b: 2 } }]], { session: 's2' })
    t.act([['share-append', { key: 'files', value: 'a.ts' }]], { session: 's2' })
    t.act([['share-delete', { key: 'files', item: 'a.ts' }]])
    t.act([['share-delete', { key: 'phase' }]])
    const found = shareEvents(t)
    expect(found.map((e) => [e.event_type, e.key, e.value, e.previous_value])).toEqual([
      ['update', 'phase', { a: ['é', null], b: 1 }, null],
      ['merge', 'phase', { a: ['é', null], b: 2 }, { a: ['é', null], b: 1 }],
      ['update', 'files', ['a.ts'], null],
      ['update', 'files', [], ['a.ts']],
      ['delete', 'phase', null, { a: ['é', null], b: 2 }],
    ])
    for (const e of found) {
      expect(Object.keys(e)).toEqual([
        ...['event_id', 'seq', 'session_id', 'timestamp', 'event_type', 'key', 'value', 'previous_value'],
        'context_hash',
      ])
      expect(e.context_hash).toBe(createHash('sha256').update(sorted(e.value)).digest('hex'))
    }
    expect(found.map((e) => e.session_id)).toEqual(['s1', 's2', 's2', 'test', 'test'])
    expect(found[1]!.timestamp).toBe('2026-11-21T09:00:01.000Z')
    expect(new Set(found.map((e) => e.event_id)).size).toBe(found.length)
  })

  test('what only adds to a list is told as what it adds, so that a long list costs no more than a short one', () => {
    const t = openTestMemory()
    t.act([['share-set', { key: 'm', value: { open: ['a', 'a'], n: 1 } }]])
    t.act([['share-merge', { key: 'm', value: { open: ['b', 'a'] } }]])
    t.act([['share-append', { key: 'l', value: ['a', 'b'] }]])
    t.act([
      ['share-append', { key: 'l', value: [['c'], { d: 1 }] }],
      ['share-append', { key: 'l', value: 'e' }],
    ])
    t.act([['share-merge', { key: 'm', value: { n: 2 } }]])
    expect(shareEvents(t).map((e) => [e.event_type, e.key, e.value, e.previous_value])).toEqual([
      ['update', 'm', { open: ['a', 'a'], n: 1 }, null],
      ['merge', 'm', { open: ['b'] }, null],
      ['update', 'l', ['a', 'b'], null],
      ['merge', 'l', [['c'], { d: 1 }, 'e'], null],
      ['merge', 'm', { open: ['a', 'a', 'b'], n: 2 }, { open: ['a', 'a', 'b'], n: 1 }],
    ])
    for (let i = 0; i < 300; i++) t.act([['share-append', { key: 'l', value: `item ${i}` }]])
    const all = shareEvents(t)
    expect(JSON.stringify(all).length / all.length).toBeLessThan(400)
    expect(replayed(all)).toEqual(data(t))
    const back = all.find((e) => canonical(e.value) === '["item 20"]')!
    const { value } = t.library.share.rollback('l', back.seq)
    expect(value).toEqual(replayed(all.filter((e) => e.seq <= back.seq)).l)
    expect(shareEvents(t).at(-1)).toMatchObject({ event_type: 'update', value })
  })

  test('items that come late from another replica are told with all of the list, whose order they change', () => {
    withReplicas(['a', 'b'], (a, b) => {
      a.act([['share-set', { key: 'l', value: ['x'] }]])
      send(a, b)
      a.act([['share-append', { key: 'l', value: 'of a' }]])
      b.act([['share-append', { key: 'l', value: ['of b', 'too'] }]])
      b.act([['share-append', { key: 'l', value: 'of a' }]])
      exchange(a, b)
      a.act([['share-append', { key: 'l', value: 'last' }]])
      exchange(a, b)
      for (const r of [a, b]) {
        const told = eventsSince(r.memory, { since: 0, types: ['share'] })
        expect(replayed(told)).toEqual(sharedContext(r.memory).data)
        expect(told.at(-1)!.value).toEqual(['last'])
      }
    })
  })

  test('replaying it from empty gives the current state, whatever was done', { tags: ['property'] }, () => {
    const value = fc.constantFrom<Json>(null, 1, 'x', [], {}, [1, 1], { a: 1 }, { a: { b: [1] } })
    const action = fc.oneof(
      fc
        .tuple(fc.constantFrom('share-set', 'share-append', 'share-merge'), fc.constantFrom('k', 'l'), value)
        .map(([verb, key, v]) => [verb, { key, value: v }]),
      fc.constantFrom('k', 'l').map((key) => ['share-delete', { key }]),
      fc.constant(['record-context', { key: 'k', value: { p: 1 } }]),
      fc.constantFrom(['undo', { force: true }], ['rename', { ref: 'context:k', name: 'm' }]),
      fc.constant(['record-fact', { fact: 'something else' }]),
    )
    fc.assert(
      fc.property(fc.array(fc.array(action, { minLength: 1, maxLength: 2 }), { maxLength: 12 }), (batches) => {
        const t = openTestMemory()
        for (const batch of batches) {
          try {
            t.act(batch)
          } catch (error) {
            if (!(error as { code?: string }).code) throw error
          }
        }
        const all = shareEvents(t)
        expect(replayed(all)).toEqual(data(t))
        const half = all[Math.floor(all.length / 2)]
        if (half) {
          expect(shareEvents(t, half.seq)).toEqual(all.filter((e) => e.seq > half.seq))
          expect(replayed([...all.filter((e) => e.seq <= half.seq), ...shareEvents(t, half.seq)])).toEqual(data(t))
        }
        t.close()
      }),
      { numRuns: runs(10, 40) },
    )
  })

  test('[X2] the loser of a scalar conflict is told, on the side where it came late', () => {
    withReplicas(['a', 'b'], (a, b) => {
      a.act([['share-set', { key: 'task', value: 'start' }]])
      send(a, b)
      a.now += 1000
      b.now += 2000
      a.act([['share-set', { key: 'task', value: 'auth' }]])
      b.act([['share-set', { key: 'task', value: 'database' }]])
      exchange(a, b)
      const onB = eventsSince(b.memory, { since: 0, types: ['share'] })
      expect(onB.map((e) => [e.value, e.previous_value, e.said])).toEqual([
        ['start', null, undefined],
        ['database', 'start', undefined],
        ['database', 'database', 'auth'],
      ])
      const onA = eventsSince(a.memory, { since: 0, types: ['share'] })
      expect(onA.map((e) => e.value)).toEqual(['start', 'auth', 'database'])
      for (const r of [a, b])
        expect(replayed(eventsSince(r.memory, { since: 0, types: ['share'] }))).toEqual({ task: 'database' })
      expect(new Set(onA.map((e) => e.event_id))).toEqual(new Set(onB.map((e) => e.event_id)))
    })
  })

  test('[X4] a type that no event has is refused with the list, on every surface, also to follow', async () => {
    const t = openTestMemory()
    t.act([['share-set', { key: 'k', value: 1 }]])
    const context = { memory: t.memory, project: t.project }
    const refusals = [
      userError(() => t.library.events({ types: ['updte'] })),
      userError(() => followEvents(t.memory, () => {}, { types: ['share', 'updte'] })),
      userError(() => events.run(context, { type: 'share, updte' })),
      userError(() => events.follow!(context, { type: 'updte', follow: true }, () => {})),
    ]
    for (const e of refusals) {
      expect(e).toMatchObject({
        code: 'bad-argument',
        message: 'no event is of type "updte"',
        details: { nearest: ['update'] },
      })
      expect(e.hint).toContain('did you mean update?')
      for (const type of ['share', 'update', 'merge', 'presence', 'session-crashed', 'knowledge', 'unlinked', 'erased'])
        expect(e.hint, type).toMatch(new RegExp(`\\b${type}\\b`))
    }
    expect(userError(() => t.library.events({ types: [''] })).message).toContain('""')
    expect(t.discover('(events :type "updte")')[0]).toMatch(/^\(error .*no event is of type.*did you mean update/)
    expect(t.discover('(length (events :type "share, presence"))')).toEqual(['1'])
    expect((await events.run(context, { type: ' update , claimed' })).json).toMatchObject({ events: [{ key: 'k' }] })
  })

  test('[X4] every type that an event is given can be asked for', () => {
    const t = openTestMemory()
    t.act(
      [
        ['record-decision', { name: 'a' }],
        ['record-decision', { name: 'b' }],
      ],
      { session: 's1' },
    )
    t.act([['record-decision', { name: 'c' }]])
    t.act([['link-entities', { from: 'decision:a', to: 'decision:b', type: 'relates-to' }]])
    t.act([['unlink-entities', { from: 'decision:a', to: 'decision:b', type: 'relates-to' }]])
    t.act([['record-decision', { name: 'a', description: 'x' }]])
    t.act([['delete-decision', { ref: 'decision:a' }]])
    t.act([['restore', { ref: 'decision:a' }]])
    t.act([['purge', { ref: 'decision:c', reason: 'x' }]])
    const said = new Set(eventsSince(t.memory, { since: 0 }).map((e) => e.event_type))
    expect([...said].sort()).toEqual(
      expect.arrayContaining(['changed', 'deleted', 'linked', 'erased', 'recorded', 'restored', 'unlinked']),
    )
    for (const type of said) expect(eventsSince(t.memory, { since: 0, types: [type] }).length, type).toBeGreaterThan(0)
  })

  test('a late subscriber gets everything since its cursor, and nobody hears of what he did himself', () => {
    const t = openTestMemory()
    t.library.share.set('k', 0, { session: 'a' })
    const cursor = t.memory.cursor
    for (let i = 1; i <= 5; i++) t.library.share.set('k', i, { session: i % 2 ? 'a' : 'b' }) // all in one millisecond
    const heard: (string | undefined)[] = []
    const stop = t.library.subscribe((news) => heard.push(news.author.session), { since: cursor, session: 'a' })
    t.library.share.set('k', 6, { session: 'a' })
    t.library.share.set('k', 7, { session: 'b' })
    stop()
    t.library.share.set('k', 8, { session: 'b' })
    expect(heard).toEqual(['b', 'b', 'b'])
    const all: Json[] = []
    followEvents(t.memory, (several) => all.push(...several.map((e) => e.value)), { since: cursor })()
    expect(all).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  test('what sessions do stands in the same row, and an older id of a session is its own', () => {
    const t = openTestMemory()
    const sessions = sessionsOf(t.memory)
    sessions.start({ id: 's1', client: 'claude' })
    t.act([['claim', { paths: ['src/auth.ts'] }]], { session: 's1' })
    t.act([['record-decision', { name: 'use-x', description: 'because', tags: ['a', 'b'] }]], { session: 's1' })
    t.act([['record-decision', { name: 'use-x', description: 'since' }]], { session: 's1' })
    t.act([['delete-decision', { ref: 'use-x', reason: 'no more' }]])
    const found = eventsSince(t.memory, { since: 0 })
    expect(found.map((e) => e.seq)).toEqual([...found.map((e) => e.seq)].sort((a, b) => a - b))
    expect(found.map((e) => [e.event_type, e.key])).toEqual([
      ['session-started', 's1'],
      ['claimed', 'src/auth.ts'],
      ['recorded', 'decision:use-x'],
      ['changed', 'decision:use-x'],
      ['deleted', 'decision:use-x'],
    ])
    expect(found[2]!.value).toMatchObject({ name: 'use-x', description: 'because', tags: ['a', 'b'] })
    expect([found[3]!.value, found[3]!.previous_value]).toEqual([{ description: 'since' }, { description: 'because' }])
    expect(eventsSince(t.memory, { since: 0, types: ['presence'] })).toHaveLength(2)
    expect(eventsSince(t.memory, { since: 0, key: 'src/auth.ts' })).toHaveLength(1)
    expect(eventsSince(t.memory, { limit: 2 }).map((e) => e.event_type)).toEqual(['changed', 'deleted'])
  })

  test('a cursor never falls between two events of one batch', () => {
    const t = openTestMemory()
    t.act([
      ['share-set', { key: 'a', value: 1 }],
      ['share-set', { key: 'b', value: 2 }],
    ])
    t.act([['share-set', { key: 'c', value: 3 }]])
    const first = eventsSince(t.memory, { since: 0, limit: 1 })
    expect(first.map((e) => e.key)).toEqual(['a', 'b'])
    expect(eventsSince(t.memory, { since: first.at(-1)!.seq, limit: 1 }).map((e) => e.key)).toEqual(['c'])
    expect(eventsSince(t.memory, { limit: 2 }).map((e) => e.key)).toEqual(['a', 'b', 'c'])
  })

  test('[A7] what was erased is told no more', () => {
    const t = openTestMemory()
    t.act([['share-set', { key: 'k', value: ['the tulip plan', 'other'] }]])
    const told: StreamEvent[] = []
    const stop = followEvents(t.memory, (several) => told.push(...several), { since: 0 })
    t.act([['purge', { secret: 'tulip', reason: 'private' }]])
    t.act([['share-append', { key: 'k', value: 'more' }]])
    stop()
    expect(JSON.stringify(told.slice(1))).not.toContain('tulip')
    expect(JSON.stringify(eventsSince(t.memory, { since: 0 }))).not.toContain('tulip')
    expect(told.at(-1)!.value).toEqual(['other', 'more'])
    t.act([['share-append', { key: 'k', value: 'last' }]])
    expect(eventsSince(t.memory, { limit: 1 })[0]!.value).toEqual(['other', 'more', 'last'])
  })
})

describe('[X8] the shared context', () => {
  test('show gives all of it, with the sessions that live', () => {
    const t = openTestMemory()
    sessionsOf(t.memory).start({ id: 's1' })
    t.library.share.set('b', [1], { session: 's1' })
    t.clock.now += 5000
    t.library.share.set('a', { x: null }, { session: 's1' })
    const before = t.library.share.context()
    expect(before).toEqual({
      contextId: t.project.id,
      createdAt: '2026-11-21T09:00:00.000Z',
      lastUpdated: '2026-11-21T09:00:05.000Z',
      sessions: ['s1'],
      data: { a: { x: null }, b: [1] },
      version: 2,
    })
    t.library.share.delete('a')
    expect(t.library.share.context().version).toBeGreaterThan(before.version)
    expect(t.library.share.context().data).toEqual({ b: [1] })
  })

  test('70 updates, then back to the 60th: exactly that state; the history is newest first', () => {
    const t = openTestMemory()
    for (let i = 1; i <= 70; i++) t.library.share.set('k', { n: i, list: Array.from({ length: i % 5 }, () => i) })
    const history = t.library.share.history('k')
    expect(history).toHaveLength(70)
    expect((history[0]!.value as { n: number }).n).toBe(70)
    const sixtieth = history.find((e) => (e.value as { n: number }).n === 60)!
    expect(t.library.share.rollback('k', sixtieth.seq).value).toEqual(sixtieth.value)
    t.library.share.delete('k')
    const back = history.find((e) => (e.value as { n: number }).n === 13)!
    expect(t.library.share.rollback('k', back.seq).value).toEqual({ n: 13, list: [13, 13, 13] })
    expect(t.library.share.history('k', 3).map((e) => e.event_type)).toEqual(['update', 'delete', 'update'])
    expect(userError(() => t.library.share.rollback('k', 9999)).message).toContain('9999')
    t.library.share.set('late', 1)
    expect(userError(() => t.library.share.rollback('late', 3)).message).toContain('was not there')
    expect(userError(() => t.library.share.rollback('lat', 3)).hint).toContain('"late"')
  })

  test('the tool says what went wrong, and takes a value that somebody else wrote first as a fact', async () => {
    const t = openTestMemory()
    const run = async (args: { [name: string]: unknown }) =>
      (await share.run({ memory: t.memory, project: t.project, session: 's1' }, args)).json
    expect(await run({ do: 'set', key: 'k', value: 'review' })).toMatchObject({ key: 'k', value: 'review', version: 1 })
    await run({ do: 'set', key: 'k', value: null })
    expect(await run({ do: 'get', key: 'k' })).toEqual({ key: 'k', value: null, version: 2 })
    const stale = await run({ do: 'set', key: 'k', value: 1, 'expected-version': 1 }).catch((e) => e)
    expect(stale).toMatchObject({ code: 'stale', details: { key: 'k', value: null, version: 2 } })
    await run({ do: 'set', key: 'map', value: { 'a.b': 1, c: { d: [1, 2] } } })
    expect(await run({ do: 'delete', key: 'map', value: 'a.b' })).toMatchObject({ value: { c: { d: [1, 2] } } })
    expect(await run({ do: 'delete', key: 'map', path: 'c.d', value: 1 })).toMatchObject({ value: { c: { d: [2] } } })
    expect(await run({ do: 'delete', key: 'map', value: ['c', 'd'] })).toMatchObject({ value: { c: {} } })
    expect(await run({ do: 'delete', key: 'map' })).toMatchObject({ value: null, deleted: true })
    expect(await run({ do: 'list' })).toEqual([{ key: 'k', value: null, version: 2 }])
    for (const bad of [{ do: 'get' }, { do: 'set', key: 'x' }, { do: 'fly', key: 'x' }, { do: 'get', key: 'nope' }])
      expect(await run(bad).catch((e: { code?: string }) => e.code)).toMatch(/bad-argument|not-found/)
  })

  test('[D10] discover reads it, also as of a moment', () => {
    const t = openTestMemory()
    t.library.share.set('phase', { name: 'review', n: [1, 1] })
    t.clock.days(1)
    t.library.share.set('phase', 'done', { session: 's1' })
    expect(t.discover('(shared "phase") (shared "nope") (shared)')).toEqual(['"done"', 'nil', '{:phase "done"}'])
    expect(t.discover('(as-of "2026-11-21" (shared "phase"))')).toEqual(['{:n (1 1) :name "review"}'])
    expect(t.discover('(map :value (events :since 0 :type "share"))')[0]).toContain('done')
    expect(t.discover('(length (events :since 1))')).toEqual(['1'])
    expect(t.discover('(get-context "phase")')[0]).toContain('done')
  })
})
