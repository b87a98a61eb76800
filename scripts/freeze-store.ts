/**
 * Writes the store that tests of every later version must be able to open: `node scripts/freeze-store.ts` once per
 * schema, before the next one. Refuses to replace one that is there: a released store is never changed.
 */
import { copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { setMeta } from '../src/engine/store/meta.ts'
import { SCHEMA_VERSION } from '../src/engine/store/migrations.ts'
import { answers } from '../test/compat/answers.ts'
import { exchange, Replica, send, tempDir } from '../test/convergence/harness.ts'

const target = join(import.meta.dirname, '..', 'test', 'compat', `store-schema-${SCHEMA_VERSION}.db.gz`)
if (existsSync(target) && !process.argv.includes('--unreleased')) {
  console.error(`${target} is there already. Was it released? Then leave it; else give --unreleased.`)
  process.exit(1)
}

const day = (n: number) => Date.UTC(2026, 0, n)
const dir = tempDir()
const a = new Replica(dir, 'a', 11)
const b = new Replica(dir, 'b', 22)
const c = new Replica(dir, 'c', 33)
const at = (n: number) => {
  for (const r of [a, b, c]) r.now = Math.max(r.now + 1, day(n))
}
for (const r of [a, b, c]) r.now = day(1)

// before the horizon: churn that a compaction folds away
a.act([['record-decision', { name: 'use-sqlite', description: 'one file', confidence: 0.5, tags: ['db', 'old'] }]])
a.act([['record-decision', { name: 'use-sqlite', description: 'one SQLite file', tags: { remove: ['old'] } }]])
a.act([['record-decision', { name: 'use-json-files', description: 'until the second session' }]])
exchange(a, b)
at(2)
a.memory.compact(day(2))

// every form of field, every state of an entity
at(2)
a.act([
  [
    'record-decision',
    {
      name: 'use-sqlite',
      rationale: 'no daemon',
      impact: 8,
      status: 'active',
      validFrom: '2026-01-01',
      evidence: ['it survived kill -9', 'parser of the log is ours'],
      attrs: { measured: { p50: 0.4, unit: 'ms' }, who: ['a', 'b'] },
      topics: ['storage'],
    },
  ],
  ['supersede', { old: 'decision:use-json-files', new: 'decision:use-sqlite', reason: 'lost writes' }],
  ['record-file', { path: 'src/store/db.ts', summary: 'opens the file', importantSymbols: ['openDb'] }],
  ['record-question', { question: 'why not Redis?' }],
  ['record-concept', { name: 'naïve 中文', definition: 'a name of many scripts' }],
  ['record-insight', { summary: 'three equal observations count three' }],
  ['link-entities', { from: 'decision:use-sqlite', to: 'file:src/store/db.ts', type: 'implements', confidence: 0.9 }],
])
a.act([['define-kind', { name: 'endpoint', key: ['route'], fields: { route: 'text', verb: 'text', notes: 'list' } }]])
a.act([['record-endpoint', { route: '/sse', verb: 'GET', notes: ['streams'] }]])
a.act([['define-relation', { name: 'served-by', inverse: 'serves' }]])
exchange(a, b)
at(4)
// said at once by two
a.act([['record-decision', { name: 'use-sqlite', confidence: 0.8, tags: ['a'] }]])
b.act([['record-decision', { name: 'use-sqlite', confidence: 0.9, tags: ['b'], evidence: ['from b'] }]])
a.act([['record-concept', { name: 'gone', definition: 'deleted while b edits it' }]])
send(a, b)
a.act([['delete-concept', { name: 'gone' }]])
b.act([['record-concept', { name: 'gone', definition: 'edited' }]])
exchange(a, b)
at(5)
a.act([['answer-question', { ref: 'why not Redis?', answer: 'LISTEN/NOTIFY' }]])
a.act([['retire', { ref: 'file:src/store/db.ts', reason: 'split up' }]])
a.act([['rename', { ref: 'decision:use-json-files', name: 'json-files' }]])
const { batch } = a.act([['record-fact', { fact: 'undone at once' }]])
a.act([['undo', { batch }]])
a.act([['record-learning', { title: 'held a secret', body: 'hunter2-hunter2' }]])
a.act([['purge', { secret: 'hunter2-hunter2', reason: 'a password' }]])
a.act([['record-learning', { title: 'held a customer' }]])
a.act([['purge', { ref: 'held a customer', reason: 'a customer' }]])
// every verb that changes something in another way
a.act([
  ['record-pattern', { name: 'short', description: 'one step after the other' }],
  ['record-concept', { name: 'short-lived', definition: 'taken out, and brought back' }],
  ['share-set', { key: 'phase', value: { name: 'review', by: { ana: 1 } } }],
  ['share-set', { key: 'open', value: ['auth', 'docs'] }],
])
a.act([
  ['delete-concept', { name: 'short-lived' }],
  ['unlink-entities', { from: 'decision:use-sqlite', to: 'file:src/store/db.ts', type: 'implements' }],
  ['share-append', { key: 'open', value: 'tests' }],
])
exchange(a, b)
a.act([['restore', { ref: 'concept:short-lived' }]])
a.act([['share-delete', { key: 'phase', path: 'by' }]])
b.act([['share-append', { key: 'open', value: 'from b' }]])
b.act([['share-merge', { key: 'phase', value: { by: { b: 2 } } }]])
b.act([['record-decision', { name: 'use-sqlite', attrs: { who: ['b'] }, evidence: { remove: ['from b'] } }]])
exchange(a, b)
a.act([['record-fact', { fact: 'Always guess' }]], { by: 'agent' })
a.act([['start-goal', { originalAsk: 'make it fast' }]])
a.act([['start-task', { description: 'measure' }]])
a.act([['complete', { ref: 'measure', result: 'done' }]])
a.act([['record-pattern', { name: 'short' }]], { intent: 'to say why', user: 'ana', branch: 'main' })
// one that is copied with its identity, and forks
a.memory.db.raw.exec('PRAGMA wal_checkpoint(TRUNCATE)')
copyFileSync(b.path, join(dir, 'twin.db'))
const twin = new Replica(dir, 'twin', 44)
twin.now = b.now
twin.memory.db.write(() => setMeta(twin.memory.db, 'inode', String(statSync(twin.path).ino)))
twin.act([['record-fact', { fact: 'said by the twin' }]])
b.act([['record-fact', { fact: 'said by b meanwhile' }]])
exchange(a, b, twin)
exchange(a, b, twin)
at(6)
// a line that waits for the one before it
c.act([['record-fact', { fact: 'first of c' }]])
c.act([['record-fact', { fact: 'second of c' }]])
const [header = '', , second = ''] = new TextDecoder().decode(c.memory.updatesSince().bytes).split('\n')
a.memory.applyUpdates(new TextEncoder().encode(`${header}\n${second}\n`))

a.memory.db.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)')
writeFileSync(target.replace(/\.db\.gz$/, '.json'), `${JSON.stringify(answers(a.memory), null, 1)}\n`)
for (const r of [a, b, c, twin]) r.memory.close()
writeFileSync(target, gzipSync(readFileSync(a.path), { level: 9 }))
console.log(`wrote ${target}`)
