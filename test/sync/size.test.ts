import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { compactSegments } from '../../src/travel/sync/publish.ts'
import { hasChanged } from '../../src/travel/sync/receive.ts'
import { writeSegment } from '../../src/travel/sync/segments.ts'
import { userError } from '../helpers.ts'
import { type Clone, git, knowledge, team } from './clones.ts'

const DOCS = join(import.meta.dirname, '../../docs')
const sentences = readdirSync(DOCS)
  .filter((f) => f.endsWith('.md'))
  .flatMap((f) => readFileSync(join(DOCS, f), 'utf8').split(/(?<=\.)\s+/))
  .map((s) => s.replace(/\s+/g, ' ').trim())
  .filter((s) => /^[A-Z][\w ,;:'()-]{40,220}\.$/.test(s))

const ENTITIES = 1_000

/** Entities as people record them: a name of some words, two sentences, a place in the code, two tags. */
function record(c: Clone, perBatch: number): void {
  const entity = (n: number) => {
    const words = sentences[(n * 7) % sentences.length]!.split(' ').slice(0, 5).join(' ')
    return [
      'record-decision',
      {
        name: `${words} ${n}`,
        rationale: `${sentences[n % sentences.length]} ${sentences[(n * 13 + 5) % sentences.length]}`,
        locations: [`src/${words.split(' ')[0]!.toLowerCase()}/${n % 40}.ts`],
        tags: [`area-${n % 12}`, `week-${n % 20}`],
      },
    ]
  }
  for (let n = 0; n < ENTITIES; n += perBatch)
    c.act(
      Array.from({ length: perBatch }, (_, i) => entity(n + i)),
      { session: `s-${n % 30}`, branch: 'main' },
    )
}

/** The size of a repository as git packs it. */
function packed(c: Clone): number {
  git(c.dir, 'gc', '-q', '--prune=now')
  const dir = join(c.dir, '.git/objects/pack')
  return readdirSync(dir).reduce((n, f) => n + (f.endsWith('.pack') ? statSync(join(dir, f)).size : 0), 0)
}

test.each([1, 10])('[K16] 1,000 entities take at most 600 kB in git (%i in a batch)', (perBatch) => {
  expect(sentences.length).toBeGreaterThan(300)
  const { clone } = team()
  const ana = clone('ana')
  const before = packed(ana)
  record(ana, perBatch)
  const begin = performance.now()
  ana.sync()
  const took = performance.now() - begin
  const raw = statSync(join(ana.dir, '.tidemark/log', ana.segments[0]!)).size
  ana.commit()
  const size = packed(ana) - before
  ana.git('push', '-q', 'origin', 'HEAD:main')
  const ben = clone('ben')
  const start = performance.now()
  expect(ben.receive()).toMatchObject({ applied: ENTITIES / perBatch, damaged: [] })
  const read = performance.now() - start
  ben.clock.now = Date.now() + 10_000
  ben.receive()
  const cheap = performance.now()
  for (let n = 0; n < 100; n++) expect(hasChanged(ben.memory, ben.dir)).toBe(false)
  const look = (performance.now() - cheap) / 100
  console.info(
    `1,000 entities, ${perBatch} a batch: ${(size / 1000).toFixed(0)} kB packed, ${(raw / 1000).toFixed(0)} kB in the tree; written in ${took.toFixed(0)} ms, read in ${read.toFixed(0)} ms; a look at what has not changed ${look.toFixed(3)} ms`,
  )
  expect(size).toBeLessThanOrEqual(600_000)
})

test('[K16] what is long leaves as several segments, each of which is read', { tags: ['long'] }, () => {
  const { clone } = team()
  const [ana, ben] = [clone('ana'), clone('ben')]
  const chunks = (from: number) =>
    Array.from({ length: 50 }, (_, i) => ['record-chunk', { content: `${from + i} ${'x'.repeat(15_000)}` }])
  for (let n = 0; n < 500; n += 50) ana.act(chunks(n))
  ana.share()
  expect(ana.segments.length).toBeGreaterThan(1)
  ben.pull()
  expect(ben.receive()).toMatchObject({ applied: 10, damaged: [] })
  expect(knowledge(ben)).toBe(knowledge(ana))
})

test('[K16] own segments that are long together become several, each of which is read', { tags: ['long'] }, () => {
  const { clone } = team()
  const [ana, ben] = [clone('ana'), clone('ben')]
  for (let n = 0; n < 7; n++) {
    ana.act(Array.from({ length: 45 }, (_, i) => ['record-chunk', { content: `${n}-${i} ${'x'.repeat(15_000)}` }]))
    ana.share()
  }
  expect(ana.segments).toHaveLength(7)
  compactSegments(ana.memory, ana.dir)
  const sizes = ana.segments.map((s) => statSync(join(ana.dir, '.tidemark/log', s)).size)
  expect(sizes).toHaveLength(2)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(4 * 1024 * 1024)
  expect(compactSegments(ana.memory, ana.dir)).toEqual({ written: [], removed: [] })
  ana.share()
  ben.pull()
  expect(ben.receive()).toMatchObject({ applied: 7, damaged: [] })
  expect(knowledge(ben)).toBe(knowledge(ana))
})

test('[K16] a state that is larger than what others read is refused before it is written', () => {
  const dir = mkdtempSync(join(tmpdir(), 'tidemark-'))
  const text = 'é'.repeat(32 * 1024 * 1024)
  expect(userError(() => writeSegment(dir, 'z1', 1, 9, [text])).code).toBe('too-large')
  expect(readdirSync(dir)).toEqual([])
  expect(writeSegment(dir, 'z1', 1, 9, [text.slice(1)]).last).toBe(9)
  rmSync(dir, { recursive: true })
})
