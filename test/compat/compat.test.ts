import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { SCHEMA_VERSION } from '../../src/engine/store/migrations.ts'
import { Recaller } from '../../src/find/recall/recall.ts'
import { dump, exchange, Replica, tempDir } from '../convergence/harness.ts'
import { answers } from './answers.ts'
import { frozen, STORES } from './frozen.ts'

test('[C5] a store of every release is here', () => {
  expect(STORES).toEqual([
    'store-0.1.0.db',
    'store-schema-15.db.gz',
    'store-schema-16.db.gz',
    'store-schema-17.db.gz',
    `store-schema-${SCHEMA_VERSION}.db.gz`,
  ])
})

describe.each(STORES)('[C5] %s', (file) => {
  const { bytes, expected } = frozen(file)
  const opened = <T>(body: (a: Replica, b: Replica) => T): T => {
    const dir = tempDir()
    writeFileSync(join(dir, 'a.db'), bytes)
    const a = new Replica(dir, 'a', 99)
    // in a directory of its own: the snapshots that a migration leaves beside a store are of that store
    const b = new Replica(join(dir, 'new'), 'b', 77)
    a.now = b.now = Date.UTC(2026, 6, 1)
    try {
      return body(a, b)
    } finally {
      a.memory.close()
      b.memory.close()
      rmSync(dir, { recursive: true, force: true })
    }
  }
  test('opens and answers as it did', () => {
    opened((a) => {
      expect(JSON.parse(JSON.stringify(answers(a.memory)))).toEqual(expected)
      expect(a.memory.db.get('PRAGMA user_version')).toEqual({ user_version: SCHEMA_VERSION })
    })
  })

  test('[H5] is recalled: its texts were taken apart by the migration', () => {
    opened((a) => {
      const recaller = new Recaller(a.memory, undefined)
      recaller.prepareNow()
      const { results } = recaller.askNow('why use-sqlite?')
      expect(results[0]!.id).toBe('decision:use-sqlite')
      expect(a.memory.db.get('SELECT count(*) AS n FROM vectors_due')).toEqual({ n: 0 })
    })
  })

  test('every index made again from its log answers alike', () => {
    opened((a) => {
      a.memory.rebuild()
      expect(JSON.parse(JSON.stringify(answers(a.memory)))).toEqual(expected)
    })
  })

  test('what the migration made of its tables is what its log says', () => {
    opened((a) => expect(a.memory.faults()).toEqual([]))
  })

  test('takes writes, and the writes of a new store, and gives it all of its own', () => {
    opened((a, b) => {
      a.act([['record-decision', { name: 'use-sqlite', confidence: 0.95 }]])
      a.act([['record-endpoint', { route: '/new', verb: 'POST' }]])
      expect(a.memory.reader.conflicts().map((e) => e.id)).not.toContain('decision:use-sqlite')
      b.act([['record-decision', { name: 'use-sqlite', tags: ['new'] }]])
      a.memory.signAnew() // as a sync does where the key of an identity is not here
      exchange(a, b)
      expect(dump(b.memory, false)).toEqual(dump(a.memory, false))
      expect(a.fields('decision:use-sqlite')).toMatchObject({ confidence: 0.95, tags: ['a', 'b', 'db', 'new'] })
      expect(b.memory.reader.list('endpoint').map((e) => e.name)).toEqual(['/new', '/sse'])
      expect(b.memory.reader.search('hunter2', 5)).toEqual([])
      a.act([['start-task', { description: 'go on' }]])
      expect(a.memory.reader.entity(a.memory.place('session-a').task!)?.name).toBe('go on')
      const rows = dump(a.memory)
      a.memory.rebuild()
      expect(dump(a.memory)).toEqual(rows)
    })
  })
})
