import { expect, test } from 'vitest'
import { dump, exchange, type Replica, START, send, withReplicas } from './harness.ts'

const HOUR = 3_600_000
const words = [
  'alpha',
  'parser',
  'SQLite',
  'parseLine',
  'naïve',
  '中文',
  'C++',
  'retry',
  'clock',
  'fence',
  'über',
  'x_y_z',
]
const text = (i: number, n: number) =>
  Array.from({ length: n }, (_, j) => words[(i * 5 + j * 7) % words.length]).join(' ')

function fill(a: Replica, b: Replica): void {
  for (let i = 0; i < 40; i++) {
    const r = i % 3 ? a : b
    r.now = START + i * HOUR
    r.act([
      [
        'record-decision',
        { name: `d ${i % 15}`, anew: true, description: text(i, 9), tags: [words[i % 12]!], confidence: (i % 10) / 10 },
      ],
      ['record-learning', { title: text(i * 3, 5), body: text(i, 20), stack: [words[(i * 2) % 12]!] }],
      ['record-insight', { summary: text(i * 11, 6) }],
    ])
    if (i % 4 === 0) r.act([['record-file', { path: `src/${words[i % 12]}/f${i % 5}.ts`, summary: text(i, 6) }]])
    if (i % 9 === 8) exchange(a, b)
    if (i % 10 === 9 || i % 13 === 12) send(b, a)
    if (i % 10 === 9) a.act([['delete-decision', { name: `d ${i % 15}` }]])
    if (i % 13 === 12) a.act([['retire', { ref: `decision:d-${i % 15}`, reason: 'old' }]])
  }
  a.act([['define-kind', { name: 'endpoint', key: ['route'], fields: { route: 'text', verb: 'text', notes: 'list' } }]])
  a.act([
    ['record-endpoint', { route: '/alpha', verb: 'GET', notes: ['parser'] }],
    ['record-decision', { name: 'd 1', anew: true }],
    ['record-decision', { name: 'd 2', anew: true }],
    ['link-entities', { from: 'decision:d-1', to: 'decision:d-2', type: 'depends-on', description: 'parser first' }],
  ])
  send(b, a)
  b.act([['record-decision', { name: 'd 1', confidence: 0.77 }]])
  a.act([['record-decision', { name: 'd 1', confidence: 0.11 }]])
  exchange(a, b)
}

/** What every kind of question answers. */
function answers(r: Replica): unknown {
  const { memory } = r
  const asked = (reader: typeof memory.reader) => ({
    lists: memory
      .registry()
      .kinds()
      .map((k) => [
        k.name,
        reader.list(k.name).map((e) => e.id),
        reader.list(k.name, { all: true, limit: 3 }).map((e) => e.id),
        reader.list(k.name, { standing: 'proposed' }).map((e) => e.id),
      ]),
    found: [...words, 'parser clock', 'line', 'get alpha', 'fence OR "'].map((w) =>
      reader.search(w, 12).map((e) => [e.id, e.name]),
    ),
    links: ['from', 'to'].map((end) => reader.links(end as 'from', 'decision:d-1').map((l) => [l.id, l.entity.fields])),
    names: ['d 3', 'decision:d 3', '/alpha', 'src/alpha/f0.ts'].map((n) => reader.find(n, true).map((e) => e.id)),
    conflicts: reader.conflicts().map((e) => [e.id, e.conflicts]),
    counts: reader.counts(),
  })
  return {
    now: asked(memory.reader),
    asOf: asked(memory.asOf(START + 20 * HOUR)),
    history: memory.history('decision:d-1').map((e) => [e.id, e.event, e.author]),
    news: memory.newsSince(3, 5),
    rows: dump(memory),
    updates: memory.updatesSince().bytes.length,
  }
}

test('[C5] every index dropped and made again from the log answers alike', () => {
  withReplicas(['a', 'b'], (a, b) => {
    fill(a, b)
    for (const r of [a, b]) {
      const before = answers(r)
      expect(JSON.stringify(before)).toContain('parser first')
      r.memory.rebuild()
      expect(answers(r)).toEqual(before)
      // by hand, as whoever mends a store would
      const { db } = r.memory
      for (const t of ['events', 'entities', 'links']) db.exec(`DELETE FROM ${t}`)
      db.exec("INSERT INTO text_index (text_index) VALUES ('delete-all')")
      expect(r.memory.reader.list('decision')).toEqual([])
      r.memory.rebuild()
      expect(answers(r)).toEqual(before)
      r.crash()
      expect(answers(r)).toEqual(before)
    }
    expect((answers(a) as { rows: unknown }).rows).toEqual((answers(b) as { rows: unknown }).rows)
  })
})

test('[C5] two replicas find the same, in the same order', () => {
  withReplicas(['a', 'b', 'c'], (a, b, c) => {
    fill(a, b)
    exchange(b, c)
    exchange(a, b, c)
    const found = (r: Replica) => words.map((w) => r.memory.reader.search(w, 50).map((e) => e.id))
    expect(found(b)).toEqual(found(a))
    expect(found(c)).toEqual(found(a))
  })
})
