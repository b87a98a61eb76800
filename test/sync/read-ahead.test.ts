import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseLine } from '../../src/store/line.ts'
import { exchangeOnce } from '../../src/sync/hub-exchange.ts'
import { ReadAhead } from '../../src/sync/read-ahead.ts'
import { rowsOf } from '../helpers.ts'
import { hubOn, sqliteStore } from '../hub/harness.ts'
import { type Clone, decision, team } from './clones.ts'

/** Enough for a worker. */
const MANY = 2_200

/** Writes batches of every sort: what is new, changed, linked, deleted and restored, in a kind of the project, in any script. */
function write(c: Clone): void {
  c.memory.db.exec('PRAGMA synchronous=OFF')
  const link = (i: number) => ({ from: `choice-${i - (i % 20)}`, to: 'choice-0', type: 'relates-to' })
  const batches: Record<number, (i: number) => unknown> = {
    1: (i) => decision(`choice-${i - 1}`, { rationale: `Zurückgenommen in ${i} … 🚀` }),
    2: (i) => ['record-fact', { fact: `Fact ${i}: 設定ファイル and src/auth/token-${i}.ts` }],
    3: (i) => (i > 20 ? ['link-entities', link(i)] : decision('early')),
    4: (i) => (i > 20 && i % 40 === 4 ? ['unlink-entities', link(i)] : decision(`later-${i}`)),
    5: (i) => ['delete-fact', { ref: `Fact ${i - 3}: 設定ファイル and src/auth/token-${i - 3}.ts` }],
    6: (i) => (i > 300 ? ['record-recipe', { title: `Soup ${i}`, steps: ['boil', 'wait'] }] : decision(`soon-${i}`)),
    7: (i) => ['share-set', { key: `plan-${i % 100}`, value: { step: i } }],
  }
  for (let i = 0; i < MANY; i++) {
    if (i === 300) c.act([['define-kind', { name: 'recipe', fields: { title: 'text', steps: 'list' } }]])
    else c.act([batches[i % 20]?.(i) ?? decision(`choice-${i}`, { tags: [`team-${i % 7}`] })])
  }
}

/** All that is made of lines, and the lines. */
const everything = ({ memory }: Clone): string =>
  rowsOf(memory, ['log', 'docs', 'entities', 'links', 'events', 'texts', 'vectors_due', 'parked', 'forked', 'purged']) +
  JSON.stringify(memory.db.all('SELECT * FROM text_words ORDER BY term'))

test('[K10] [K11] a worker that reads lines ahead changes no byte of the store, through git and through a hub', async () => {
  const { clone } = team()
  const ana = clone('ana')
  write(ana)
  ana.share()
  const ben = clone('ben')
  const texts = ben.segments.flatMap((s) => ben.text(s).split('\n').filter(Boolean))
  const lines = texts.map(parseLine)
  ben.memory.applyLines({ lines, snapshots: [] })

  const git = clone('git')
  expect(git.receive()).toMatchObject({ applied: lines.length, damaged: [], left: 0 })
  expect(everything(git)).toBe(everything(ben))
  expect(git.memory.faults()).toEqual([])

  const damaged = clone('damaged')
  const path = join(damaged.dir, '.tidemark/log', damaged.segments[0]!)
  const half = readFileSync(path, 'utf8').length >> 1
  writeFileSync(
    path,
    readFileSync(path, 'utf8').replace(/\n/g, (end, at) => (at > half && at < half + 3_000 ? '\n<<<<<<< HEAD\n' : end)),
  )
  expect(damaged.receive()).toMatchObject({ applied: lines.length, damaged: [{}] })
  expect(everything(damaged)).toBe(everything(ben))

  const { url, token } = await hubOn(await sqliteStore())
  const member = async (name: string) => ({
    url,
    token: await token(name, 'writer', [ana.memory.projectId]),
    member: name,
  })
  await exchangeOnce(ana.memory, await member('ana'))
  const hub = clone('hub')
  expect(await exchangeOnce(hub.memory, await member('hub'))).toMatchObject({ applied: lines.length, odd: [] })
  expect(everything(hub)).toBe(everything(ben))

  const ahead = new ReadAhead()
  ahead.give(['', '<<<<<<< HEAD', texts[0]!, texts[0]!.replace('choice', 'chance')])
  ahead.give(texts)
  expect(ahead.take().map((l) => l?.seq)).toEqual([undefined, undefined, 1, undefined])
  const read = ahead.take()
  ahead.close()
  const left = lines.filter((_, i) => read[i] === undefined)
  // what only this thread can read: definitions of kinds, and updates of what is there
  expect(left.some((l) => l.summary.includes('define-kind'))).toBe(true)
  expect(left.length).toBeLessThan(MANY / 3)
  for (const [i, line] of read.entries()) if (line) expect({ ...line }).toEqual({ ...lines[i]! })
})
