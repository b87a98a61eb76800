import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hashOf, type StreamEvent } from '../../src/engine/feed/feed.ts'
import { archiveFiles } from '../../src/engine/store/archive.ts'
import { addPresence } from '../../src/engine/store/presence.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import {
  eventsSince,
  followEvents,
  rollbackShared,
  sharedContext,
  sharedHistory,
} from '../../src/work/coordination/shared-context.ts'
import { exchange, Replica, send, tempDir } from '../convergence/harness.ts'
import { openTestMemory, type TestMemory, userError } from '../helpers.ts'
import { replayed } from './replayed.ts'

const all = (t: TestMemory, since = 0) => eventsSince(t.memory, { since })
const archived = (t: TestMemory) =>
  archiveFiles(t.memory.path)
    .map((f) => readFileSync(f, 'utf8'))
    .join('')
const presenceRows = (t: TestMemory) => t.memory.db.all('SELECT n FROM presence_events').length

describe('[X4] rotation keeps the archive, and loses nothing', () => {
  test('what sessions did more than 30 days ago moves beside the store, and is told as before', () => {
    const t = openTestMemory()
    const sessions = sessionsOf(t.memory)
    for (const id of ['s1', 's2']) sessions.start({ id })
    t.library.share.set('k', 1, { session: 's1' })
    t.act([['claim', { paths: ['a.ts'] }]], { session: 's2' })
    const before = all(t)
    t.clock.days(20)
    sessions.start({ id: 's3' })
    t.memory.maintain()
    expect(archiveFiles(t.memory.path)).toEqual([])
    t.clock.days(12)
    sessions.start({ id: 's4' })
    const known = all(t)
    t.memory.maintain()
    expect(archived(t)).toContain('claimed')
    expect(presenceRows(t)).toBeLessThan(known.filter((e) => e.event_id.startsWith('presence:')).length)
    expect(all(t)).toEqual(known)
    expect(all(t).slice(0, before.length)).toEqual(before)
    for (const e of known) expect(all(t, e.seq)).toEqual(known.filter((x) => x.seq > e.seq))
    expect(eventsSince(t.memory, { since: 0, limit: 2 })).toEqual(known.slice(0, 2))
    const heard: StreamEvent[] = []
    const stop = followEvents(t.memory, (several) => heard.push(...several), { since: 0 })
    t.library.share.set('k', 2)
    stop()
    expect(heard).toEqual(all(t))
  })

  test('beyond the newest 10,000 the oldest move', () => {
    const t = openTestMemory()
    t.memory.db.write(() => {
      for (let i = 0; i < 11_500; i++) addPresence(t.memory.db, t.clock.now, 's', 'edited', { path: `f${i}.ts` })
    })
    t.memory.maintain()
    expect(presenceRows(t)).toBe(10_000)
    expect(all(t).map((e) => e.key)).toEqual(Array.from({ length: 11_500 }, (_, i) => `f${i}.ts`))
  })

  test('killed between putting away and taking out, or in the middle of a line: each event is told once', () => {
    const t = openTestMemory()
    for (const id of ['s1', 's2', 's3']) sessionsOf(t.memory).start({ id })
    const known = all(t)
    t.clock.days(40)
    t.memory.maintain()
    const [file] = archiveFiles(t.memory.path)
    const lines = readFileSync(file!, 'utf8').trim().split('\n')
    appendFileSync(file!, `${lines[0]}\n${lines[1]!.slice(0, 30)}`)
    expect(all(t)).toEqual(known)
    sessionsOf(t.memory).start({ id: 's4' })
    t.clock.days(40)
    t.memory.maintain()
    const started = all(t).filter((e) => e.event_type === 'session-started')
    expect(started.map((e) => e.key)).toEqual(['s1', 's2', 's3', 's4'])
    expect(new Set(all(t).map((e) => e.event_id)).size).toBe(all(t).length)
  })

  test('a compaction puts away what it folds: replay, history and rollback reach before it', () => {
    const t = openTestMemory()
    for (let i = 1; i <= 10; i++) t.library.share.set('k', { n: i }, { session: 's1' })
    t.library.share.append('l', ['a', 'b'])
    t.library.share.delete('k')
    t.act([['record-decision', { name: 'use-x', description: 'd' }]])
    const known = all(t)
    t.clock.days(1)
    t.library.share.append('l', 'c')
    const later = all(t)
    t.memory.compact(t.clock.now - 1000)
    expect(t.memory.db.all('SELECT n FROM log')).toHaveLength(1)
    expect(all(t)).toEqual(later)
    expect(all(t).slice(0, known.length)).toEqual(known)
    expect(replayed(all(t))).toEqual(t.library.share.context().data)
    t.memory.compact(t.clock.now - 1000)
    t.library.share.append('l', 'd')
    expect(all(t).at(-1)).toMatchObject({ value: ['d'], previous_value: null })
    expect(replayed(all(t))).toEqual(t.library.share.context().data)
    const third = known.find((e) => (e.value as { n?: number }).n === 3)!
    expect(t.library.share.rollback('k', third.seq).value).toEqual({ n: 3 })
    expect(t.library.share.history('k').map((e) => (e.value as { n?: number } | null)?.n ?? null)).toEqual([
      ...[3, null, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1],
    ])
    expect(userError(() => t.library.share.rollback('l', 1)).code).toBe('before-horizon')
  })

  test('a list that grew is put away as its additions, and what stays stands upon it', () => {
    const dir = tempDir()
    const [a, b] = ['a', 'b'].map((name, i) => {
      mkdirSync(join(dir, name))
      return new Replica(join(dir, name), name, 1000 + i * 77)
    }) as [Replica, Replica]
    try {
      for (const item of ['a1', 'a2', 'a3']) a.act([['share-append', { key: 'l', value: item }]])
      exchange(a, b)
      a.act([['share-append', { key: 'l', value: 'a4' }]])
      b.now += 100_000
      b.act([['share-append', { key: 'l', value: 'b1' }]])
      send(b, a) // folded is what stands before and after it
      a.act([['share-append', { key: 'l', value: 'a5' }]])
      const fifth = eventsSince(a.memory, { since: 0, types: ['share'] }).at(-1)!
      a.memory.compact(a.now + 50_000)
      const told = () => eventsSince(a.memory, { since: 0, types: ['share'] })
      expect(
        told()
          .map((e) => e.value)
          .slice(0, 3),
      ).toEqual([['a1'], ['a2'], ['a3']])
      expect(replayed(told())).toEqual(sharedContext(a.memory).data)
      const after = sharedContext(a.memory).data.l
      a.act([['share-append', { key: 'l', value: 'a6' }]])
      expect(replayed(told())).toEqual(sharedContext(a.memory).data)
      a.memory.compact(a.now + 200_000)
      expect(replayed(told())).toEqual(sharedContext(a.memory).data)
      expect(rollbackShared(a.memory, 'l', fifth.seq).value).toEqual(after)
    } finally {
      for (const r of [a, b]) r.memory.close()
    }
  })

  test('[X8] [K14] a snapshot puts away what it folds here, and what came with it is an event: replay gives the state', () => {
    const dir = tempDir()
    // each with an archive of its own
    const [a, b] = ['a', 'b'].map((name, i) => {
      mkdirSync(join(dir, name))
      return new Replica(join(dir, name), name, 1000 + i * 77)
    }) as [Replica, Replica]
    const context = (r: Replica) => sharedContext(r.memory).data
    const events = (r: Replica, since = 0) => eventsSince(r.memory, { since })
    try {
      for (let i = 1; i <= 3; i++) a.act([['share-set', { key: 'k', value: i }]])
      a.act([['share-set', { key: 'gone', value: 'x' }]])
      exchange(a, b)
      b.act([['share-append', { key: 'list', value: ['of b', 'too'] }]])
      b.act([['record-decision', { name: 'of-b' }]])
      exchange(a, b)
      const known = events(b)
      const third = known.find((e) => e.key === 'k' && e.value === 3)!
      // b is away: a goes on, and folds everything, also what b wrote
      a.now += 60_000
      a.act([['share-set', { key: 'k', value: 4 }]])
      a.act([
        ['share-set', { key: 'fresh', value: { n: 1 } }],
        ['share-delete', { key: 'gone' }],
      ])
      a.now += 60_000
      a.memory.compact(a.now)
      const { cursor } = b.memory
      send(a, b)
      expect(b.memory.db.all('SELECT n FROM log')).toEqual([])

      expect(replayed(events(a))).toEqual(context(a))
      expect(context(b)).toEqual(context(a))
      expect(events(b).slice(0, known.length)).toEqual(known)
      expect(replayed(events(b))).toEqual(context(b))
      const came = events(b, cursor)
      expect(came.map((e) => [e.event_type, e.key, e.value, e.previous_value, e.session_id]).sort()).toEqual([
        ['delete', 'gone', null, 'x', null],
        ['update', 'fresh', { n: 1 }, null, null],
        ['update', 'k', 4, 3, null],
      ])
      expect(new Set(came.map((e) => e.event_id)).size).toBe(3)
      for (const e of came) expect(e.context_hash).toBe(hashOf(e.value))
      expect(sharedHistory(b.memory, 'k').map((e) => e.value)).toEqual([4, 3, 2, 1])
      expect(rollbackShared(b.memory, 'k', third.seq).value).toBe(3)
      expect(sharedHistory(b.memory, 'list').map((e) => e.value)).toEqual([['of b', 'too']])
      // again, it covers nothing new
      const all = events(b)
      send(a, b)
      expect(events(b)).toEqual(all)
    } finally {
      for (const r of [a, b]) r.memory.close()
      rmSync(dir, { recursive: true, force: true })
    }
  })

  test('[A7] a snapshot puts nothing away that was erased, and purge takes out what it told', () => {
    const dir = tempDir()
    const [a, b] = ['a', 'b'].map((name, i) => {
      mkdirSync(join(dir, name))
      return new Replica(join(dir, name), name, 1000 + i * 77)
    }) as [Replica, Replica]
    const kept = (r: Replica) =>
      archiveFiles(r.memory.path)
        .map((f) => readFileSync(f, 'utf8'))
        .join('')
    try {
      a.act([['share-set', { key: 'k', value: 'told-before' }]])
      exchange(a, b)
      a.act([['share-set', { key: 'late', value: 'told-after' }]])
      a.act([['purge', { ref: 'context:k', reason: 'x' }]])
      a.now += 60_000
      a.memory.compact(a.now)
      send(a, b)
      expect(kept(b)).toContain('told-after')
      expect(kept(b)).not.toContain('told-before')
      b.act([['purge', { ref: 'context:late', reason: 'x' }]])
      expect(kept(b)).not.toContain('told-after')
    } finally {
      for (const r of [a, b]) r.memory.close()
      rmSync(dir, { recursive: true, force: true })
    }
  })

  test('[A7] what is erased leaves the archive as well', () => {
    const t = openTestMemory()
    t.library.share.set('k', ['the tulip plan'])
    t.library.share.set('other', 'stays')
    t.act([['record-decision', { name: 'secret-name', description: 'of roses' }]])
    t.act([['record-decision', { name: 'noted', description: 'tulip again' }]])
    t.clock.days(1)
    t.memory.compact(t.clock.now)
    expect(archived(t)).toContain('tulip')
    t.act([['purge', { secret: 'tulip', reason: 'private' }]])
    t.act([['purge', { ref: 'secret-name', reason: 'private' }]])
    expect(archived(t)).not.toMatch(/tulip|secret-name|roses/)
    expect(archived(t)).toContain('stays')
    const dir = dirname(t.memory.path)
    const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((f) => /\.(db|jsonl|partial)/.test(f))
    for (const f of files) expect(readFileSync(join(dir, f)).includes('tulip'), f).toBe(false)
    expect(existsSync(join(dir, 'archive'))).toBe(true)
  })
})
