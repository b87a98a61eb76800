import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createServer, type News, openMemory, UserError } from '../../src/index.ts'

function directory(): string {
  const dir = mkdtempSync(join(tmpdir(), 'tidemark-library-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

function open(dir = directory()) {
  const memory = openMemory({ projectPath: dir, create: true, projectName: 'demo' })
  onTestFinished(() => memory.close())
  return memory
}

test('openMemory does not create a project unless asked', () => {
  expect(() => openMemory({ projectPath: directory() })).toThrow(UserError)
})

test('typed actions write, and read gives lists, maps by name, links and search by kind', () => {
  const memory = open()
  const done = memory.act([
    [
      'record-principle',
      { name: 'plan-then-apply', description: 'judge first', confidence: 0.9, tags: ['architecture'] },
    ],
    ['record-pattern', { name: 'one-file-per-kind', type: 'layout' }],
    ['record-decision', { name: 'use-sqlite', rationale: 'no daemon', impact: 8, status: 'active' }],
    ['record-file-understanding', { path: './src/a.ts', summary: 'does a' }],
    ['link-entities', { from: 'plan-then-apply', to: 'use-sqlite', type: 'supports', confidence: 0.5 }],
  ])
  expect(done.results.map((r) => r.verb)).toHaveLength(5)
  const { read } = memory
  expect(read.projectName).toBe('demo')
  expect(read.principleByName.get('plan-then-apply')?.confidence).toBe(0.9)
  expect(read.patternByName.get('one-file-per-kind')?.type).toBe('layout')
  expect(read.decisionByName.get('use-sqlite')?.impact).toBe(8)
  expect(read.fileByPath.get('src/a.ts')?.summary).toBe('does a')
  expect([read.principles, read.patterns, read.decisions, read.files].map((l) => l.length)).toEqual([1, 1, 1, 1])
  expect(read.relationships).toHaveLength(1)
  expect(read.relationshipsFrom('plan-then-apply')[0]).toMatchObject({
    to: 'decision:use-sqlite',
    type: 'supports',
    confidence: 0.5,
  })
  expect(read.relationshipsTo('use-sqlite')[0]).toMatchObject({ from: 'principle:plan-then-apply' })
  const found = read.search('sqlite judge')
  expect(found.decisions.map((d) => d.name)).toEqual(['use-sqlite'])
  expect(found.principles.map((d) => d.name)).toEqual(['plan-then-apply'])
  expect(found.files).toEqual([])
  expect(memory.discover('(:impact (get-decision "use-sqlite"))')).toEqual(['8'])
})

test('a wrong field of a core verb does not compile', () => {
  const memory = open()
  // @ts-expect-error impact is a number
  expect(() => memory.act([['record-decision', { name: 'x', impact: 'high' }]])).toThrow(UserError)
})

test('[D9] asOf reads what was known at a moment', () => {
  let now = Date.UTC(2026, 0, 1)
  const dir = directory()
  const memory = openMemory({
    projectPath: dir,
    create: true,
    env: { now: () => now, random: (n) => crypto.getRandomValues(new Uint8Array(n)), log: () => {} },
  })
  onTestFinished(() => memory.close())
  memory.act([['record-decision', { name: 'd', impact: 1 }]])
  now = Date.UTC(2026, 1, 1)
  memory.act([
    ['record-decision', { name: 'd', impact: 2 }],
    ['record-decision', { name: 'later' }],
  ])
  expect(memory.read.asOf('2026-01-15').decisions.map((d) => [d.name, d.impact])).toEqual([['d', 1]])
  expect(memory.read.asOf('2025-12-31').decisions).toEqual([])
  expect(memory.read.decisionByName.get('d')?.impact).toBe(2)
})

test('subscribe hears of every batch of every opener, once and in order, also of those since a cursor', async () => {
  const dir = directory()
  const a = open(dir)
  const b = openMemory({ projectPath: dir })
  onTestFinished(() => b.close())
  a.act([['record-decision', { name: 'before' }]])
  const heard: News[] = []
  const enough = new Promise<void>((resolve) => {
    b.subscribe(
      (news) => {
        heard.push(news)
        if (heard.length === 4) resolve()
      },
      { since: 0 },
    )
  })
  a.act([['record-decision', { name: 'one' }]])
  b.act([['record-decision', { name: 'own' }]])
  a.act([['record-decision', { name: 'two' }]], { session: 's' })
  await enough
  expect(heard.map((n) => n.summary)).toEqual([
    'recorded decision "before"',
    'recorded decision "one"',
    'recorded decision "own"',
    'recorded decision "two"',
  ])
  expect(heard.map((n) => n.seq)).toEqual([1, 2, 3, 4])
  expect(heard[3]!.author.session).toBe('s')
})

test('[C1] replicas meet through updatesSince and applyUpdates', () => {
  const a = open()
  const b = open()
  expect(() => b.applyUpdates(a.updatesSince().bytes)).toThrow('of project')
})

test('createServer makes a project, serves its tools, and its memory is the library’s', async () => {
  const server = createServer({ projectPath: directory(), projectName: 'embedded', token: false })
  onTestFinished(() => server.close())
  server.memory.act([['record-decision', { name: 'use-hono' }]])
  const answer = await server.app.request('http://localhost/api/tools/discover', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ expr: '(map :name (get-decisions))' }),
  })
  expect(answer.status).toBe(200)
  expect(await answer.json()).toMatchObject({ text: '("use-hono")' })
  expect(server.memory.read.projectName).toBe('embedded')
})

test('a closed memory says so', () => {
  const memory = openMemory({ projectPath: directory(), create: true })
  memory.close()
  memory.close()
  expect(() => memory.act([['record-decision', { name: 'x' }]])).toThrow('closed')
  expect(() => memory.read.decisions).toThrow('closed')
})

test('[A2] [T13] a subscriber that throws stops neither the write nor other subscribers, and is told of', () => {
  const dir = directory()
  const logged: string[] = []
  const env = {
    now: Date.now,
    random: (n: number) => new Uint8Array(n).fill(7),
    log: (line: string) => void logged.push(line),
  }
  const memory = openMemory({ projectPath: dir, create: true, env })
  onTestFinished(() => memory.close())
  const heard: string[] = []
  const errors: unknown[] = []
  const fail = () => {
    throw new Error('not my day')
  }
  memory.subscribe(fail)
  memory.subscribe(fail, { onError: (error) => void errors.push(error) })
  memory.subscribe(fail, { onError: fail })
  memory.subscribe((news) => void heard.push(news.summary))
  expect(memory.act([['record-decision', { name: 'one' }]]).results).toHaveLength(1)
  expect(memory.act([['record-decision', { name: 'two' }]]).results).toHaveLength(1)
  expect(heard).toEqual(['recorded decision "one"', 'recorded decision "two"'])
  expect(errors.map(String)).toEqual(['Error: not my day', 'Error: not my day'])
  expect(logged).toHaveLength(4)
  expect(logged.every((line) => line.includes('not my day') && line.includes('library.test.ts'))).toBe(true)
})

test('[C7] a program that writes through openMemory has its daily snapshot, and a write stands where that fails', () => {
  const dir = directory()
  let now = Date.now()
  const logged: string[] = []
  const env = {
    now: () => now,
    random: (n: number) => crypto.getRandomValues(new Uint8Array(n)),
    log: (line: string) => void logged.push(line),
  }
  const memory = openMemory({ projectPath: dir, create: true, env })
  onTestFinished(() => memory.close())
  const backups = join(dir, '.tidemark/store/backups')
  memory.act([['record-decision', { name: 'one' }]])
  expect(readdirSync(backups)).toHaveLength(1)
  memory.act([['record-decision', { name: 'two' }]])
  expect(readdirSync(backups)).toHaveLength(1)
  now += 25 * 3_600_000
  memory.act([['record-decision', { name: 'three' }]])
  expect(readdirSync(backups)).toHaveLength(2)
  rmSync(backups, { recursive: true })
  writeFileSync(backups, 'in the way')
  now += 25 * 3_600_000
  expect(memory.act([['record-decision', { name: 'four' }]]).results).toHaveLength(1)
  expect(memory.read.decisionByName.get('four')).toBeDefined()
  expect(logged.join('\n')).toMatch(/the daily snapshot failed/)
})

test('[A6] what is refused for good is not tried again, whatever its text says', () => {
  const memory = open()
  const task = memory.goal('g').activity('a').task('t')
  expect(() => task.recordDecision(`stale: ${'x'.repeat(20_000)}`)).toThrow(UserError)
  expect(task.recordDecision('stale: it is called so').id).toBe('decision:stale-it-is-called-so')
})
