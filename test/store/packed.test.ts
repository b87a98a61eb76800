import { readFileSync, writeFileSync } from 'node:fs'
import { deflateRawSync } from 'node:zlib'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { restoreStore } from '../../src/engine/replication/restore.ts'
import { lineText, packLine } from '../../src/engine/store/packed.ts'
import { dump, open, type Replica, split, withReplicas } from '../convergence/harness.ts'

const WRITTEN = 400
const facts = (r: Replica) => {
  for (let i = 0; i < WRITTEN; i++) r.act([['record-fact', { fact: `the pump ${i} is blue`, category: 'tool' }]])
}
const restored = (r: Replica) => {
  r.memory.close()
  const done = restoreStore(r.path, r.env, (path) => open(path, r.env, false))
  r.memory = open(r.path, r.env, false)
  return done
}

test('[C5] what was compressed comes back letter by letter, also from the form of 0.1.0', () => {
  const same = (written: string): void => void expect(lineText(packLine(written))).toBe(written)
  fc.assert(fc.property(fc.json(), same))
  expect(lineText(Buffer.from(packLine(JSON.stringify({ e: [] }))).subarray(0, 6))).toBe('')
  // 0.1.0 kept the updates of documents as bytes, behind the rest
  const update = Buffer.from('an update')
  const all = deflateRawSync(Buffer.concat([Buffer.from(`{"v":1,"u":{"fact:a":${update.length}}}\n`), update]))
  const first = Buffer.concat([Buffer.from([0xff, 0x74, 0x6c, 1]), all])
  expect(lineText(first)).toBe(`{"v":1,"u":{"fact:a":"${update.toString('base64')}"}}`)
})

test('[C5] [C7] old lines are compressed as others are written; nothing that is asked changes', () => {
  withReplicas(['a', 'b'], (a, b) => {
    facts(a)
    const { db } = a.memory
    const stored = db.all<{ form: string; n: number; mean: number }>(
      'SELECT typeof(line) AS form, count(*) AS n, avg(length(line)) AS mean FROM log GROUP BY form ORDER BY form',
    )
    expect(stored.map((s) => [s.form, s.n])).toEqual([['blob', 128], ['text', WRITTEN - 128]]) // biome-ignore format: a table
    a.act([['record-fact', { fact: 'x'.repeat(12_000), category: 'tool' }]])
    expect(db.get('SELECT typeof(line) AS form FROM log WHERE n=?', WRITTEN + 1)).toEqual({ form: 'blob' })
    expect(stored[0]!.mean).toBeLessThan(stored[1]!.mean * 0.65)
    expect(a.memory.faults()).toEqual([])
    b.memory.applyUpdates(a.memory.updatesSince().bytes)
    expect(dump(b.memory)).toEqual(dump(a.memory))
    expect(split(a.memory.updatesSince().bytes).lines).toHaveLength(WRITTEN + 1)
    const rows = dump(a.memory)
    a.memory.rebuild()
    expect(dump(a.memory)).toEqual(rows)
    expect(a.memory.history('fact:the-pump-3-is-blue')).not.toEqual([])
  })
})

test('[C5] what comes in bulk stays text at first; the upkeep compresses it bit by bit', () => {
  withReplicas(['a', 'b'], (a, b) => {
    for (let i = 0; i < 1_400; i++) a.act([['record-fact', { fact: `pump ${i}`, category: 'tool' }]])
    b.memory.applyUpdates(a.memory.updatesSince().bytes)
    const compressed = () =>
      b.memory.db.get<{ n: number }>(`SELECT count(*) AS n FROM log WHERE typeof(line)='blob'`)!.n
    expect(compressed()).toBe(0)
    expect(b.memory.maintain()).toEqual([])
    expect(compressed()).toBe(512)
    b.act([['record-fact', { fact: 'one more', category: 'tool' }]])
    expect(compressed()).toBe(768)
    while (compressed() < 1_140) b.memory.maintain()
    expect(b.memory.faults()).toEqual([])
    expect(split(b.memory.updatesSince().bytes).lines).toHaveLength(1_401)
  })
})

test('[C7] a compressed line that is damaged is found, and made again', () => {
  withReplicas(['a'], (a) => {
    facts(a)
    a.memory.db.exec(`UPDATE log SET line=CAST(substr(line, 1, 40) || x'00ff' || substr(line, 43) AS BLOB) WHERE seq=9`)
    expect(a.memory.faults().map((f) => f.in)).toEqual(['log'])
    const { tag } = a
    expect(restored(a).remade).toEqual([`${tag}:9`])
    expect(a.memory.faults()).toEqual([])
    expect(a.fields('fact:the-pump-8-is-blue').fact).toBe('the pump 8 is blue')
  })
})

test('[C7] compressed lines are read off the pages where SQLite cannot read them', () => {
  withReplicas(['a'], (a) => {
    facts(a)
    a.act([['record-decision', { name: 'long', rationale: crypto.getRandomValues(new Uint8Array(4400)).join() }]])
    a.pack(0) // one on pages of its own, too
    a.memory.close()
    const bytes = readFileSync(a.path)
    writeFileSync(a.path, bytes.fill(0xa5, 0, 4096))
    expect(restored(a)).toMatchObject({ from: null, salvaged: WRITTEN + 1, missing: [] })
    expect(a.memory.faults()).toEqual([])
    expect(a.memory.reader.list('fact')).toHaveLength(WRITTEN)
  })
})
