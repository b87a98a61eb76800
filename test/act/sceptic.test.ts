import { expect, test } from 'vitest'
import { findSecrets } from '../../src/base/secrets/find.ts'
import { shortBatch } from '../../src/engine/store/keys.ts'
import { textParts } from '../../src/engine/store/terms.ts'
import { discover } from '../../src/project/discover/discover.ts'
import { json } from '../../src/travel/formats/export/json.ts'
import { openTestMemory } from '../helpers.ts'

test('[D5] a search with a word of a million letters ends within the budget', () => {
  const t = openTestMemory()
  t.act([['record-decision', { name: 'x', description: 'aaaa' }]])
  const start = performance.now()
  expect(discover(t.memory, '(search-knowledge (make-string 1000000 #\\a))')).toHaveLength(1)
  textParts('a'.repeat(16_384), 1)
  expect(performance.now() - start).toBeLessThan(5_000)
})

test('[A7] what a discover session defines goes through the same gate, and is told', () => {
  const t = openTestMemory()
  for (const program of [
    '(define k "AKIAQ7XK2MN4PL9RST3V")',
    '(define (f) "password=hunter2zzz")',
    '(define p "<private>PRIVZZ</private>")',
  ]) {
    const [printed] = discover(t.memory, program, { session: 's' })
    expect(printed).toMatch(/^\(error .*not kept/)
  }
  for (const secret of ['AKIAQ7XK2MN4PL9RST3V', 'hunter2zzz', 'PRIVZZ'])
    expect(t.memory.occurrences(secret).every((o) => o.count === 0)).toBe(true)
})

test('[A7] connection strings without a user and account keys are secrets, prose about passwords is not', () => {
  for (const secret of [
    'redis://:s3cretpw@localhost:6379',
    `AccountKey=${'aB3/'.repeat(19)}==`,
    'password=hunter2',
    'password = "hunter22"',
    'DB_PASSWORD=correcthorse',
  ])
    expect(findSecrets(secret), secret).not.toEqual([])
  for (const prose of [
    'never log password= values',
    'rotate api keys quarterly',
    '10.0.0.1',
    'password: required',
    'the secret = nobody knows',
  ])
    expect(findSecrets(prose), prose).toEqual([])
})

test('[A7] an item that is private as a whole is left out without refusing the batch', () => {
  const t = openTestMemory()
  const done = t.act([
    [
      'record-decision',
      { name: 'pv', description: 'a <private>X</private> b', tags: ['<private>X</private>', 'kept'] },
    ],
  ])
  expect(done.notes.join()).toContain('private')
  expect(t.memory.reader.find('pv')[0]!.fields.tags).toEqual(['kept'])
})

test('[A10] a kind that is in use is not undone from under its entities, and an export never leaves one out', () => {
  const t = openTestMemory()
  const defined = t.act([['define-kind', { name: 'widget', fields: { name: 'text' } }]])
  const used = t.act([['record-widget', { name: 'w1' }]])
  expect(() => t.act([['undo', { batch: defined.batch }]])).toThrow(shortBatch(String(used.batch)))
  t.act([['undo', { batch: defined.batch, force: true }]])
  expect(JSON.stringify(json.write(t.memory, {}))).toContain('widget:w1')
})

test('another spelling of a name is the same entity, and a note says so', () => {
  const t = openTestMemory()
  t.act([['record-decision', { name: 'Use JWT' }]])
  expect(t.act([['record-decision', { name: 'use-jwt', impact: 3 }]]).notes.join()).toContain(
    'the one called "Use JWT"',
  )
})

test('[D10] help knows as-of, and describe sends verbs to help', () => {
  const t = openTestMemory()
  expect(discover(t.memory, '(help "as-of")')[0]).toContain('as-of')
  expect(discover(t.memory, '(describe "link-entities")')[0]).toContain('(help \\"link-entities\\")')
})

test('[A7] a text that only a session has defined can be erased as well', () => {
  const t = openTestMemory()
  discover(t.memory, '(define note "the ordinary word xyzzyplugh")', { session: 's' })
  expect(t.memory.occurrences('xyzzyplugh').some((o) => o.count > 0)).toBe(true)
  t.act([['purge', { secret: 'xyzzyplugh', reason: 'a name' }]])
  expect(t.memory.occurrences('xyzzyplugh').every((o) => o.count === 0)).toBe(true)
})

test('[A7] a purge says that it searched the files, and what it did not reach', () => {
  const t = openTestMemory()
  t.act([['record-decision', { name: 'acme-leak', description: 'holds zanzibar-secret' }]])
  t.act([['record-concept', { name: 'x', definition: 'mentions acme-leak' }]])
  const bySecret = t.act([['purge', { secret: 'zanzibar-secret', reason: 'a name' }]]).notes.join()
  expect(bySecret).toContain('stands in none of them')
  expect(bySecret).not.toContain('zanzibar')
  expect(t.act([['purge', { ref: 'decision:acme-leak', reason: 'a name' }]]).notes.join()).toContain(
    'something else says it too',
  )
})
