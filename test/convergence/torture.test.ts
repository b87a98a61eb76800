// @module-tag long
import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { Memory } from '../../src/engine/memory.ts'
import { createProject, findProject } from '../../src/engine/store/project.ts'
import { openProject } from '../../src/project/open.ts'
import { dump, folded, read, tempDir } from './harness.ts'

const CHILD = fileURLToPath(new URL('./torture-child.ts', import.meta.url))
const KILLS = Number(process.env.TIDEMARK_KILLS ?? (process.env.CI ? 40 : 200))

interface Child {
  process: ChildProcess
  /** What it has said so far, whole lines. */
  said(): string[]
  errors(): string
  ended: Promise<{ code: number | null; signal: string | null }>
}

function start(mode: string, dir: string, name: string, count: number, env: Record<string, string> = {}): Child {
  const child = spawn(process.execPath, [CHILD, mode, dir, name, String(count)], {
    env: { ...process.env, ...env, TIDEMARK_STORE: '', TIDEMARK_SESSION: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  let err = ''
  child.stdout.on('data', (d) => (out += d))
  child.stderr.on('data', (d) => (err += d))
  return {
    process: child,
    said: () => out.split('\n').slice(0, -1),
    errors: () => err.replace(/.*ExperimentalWarning.*\n|.*--trace-warnings.*\n/g, ''),
    ended: new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal }))),
  }
}

async function inDir<T>(body: (dir: string) => Promise<T> | T): Promise<T> {
  const dir = tempDir()
  try {
    return await body(dir)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

const acks = (c: Child): { batch: string; text: string }[] =>
  c.said().flatMap((l) => {
    const [what, batch = '', text = ''] = l.split(' ')
    return what === 'ack' ? [{ batch, text }] : []
  })

const soundFile = (m: Memory) => m.db.get<{ integrity_check: string }>('PRAGMA integrity_check')!.integrity_check

function sound(m: Memory): void {
  expect(soundFile(m)).toBe('ok')
  const before = dump(m)
  expect(folded(m)).toEqual(read(m))
  m.rebuild()
  expect(dump(m)).toEqual(before)
}

describe('[A8] many processes', () => {
  test('four at the same moment on an empty directory make one store and lose nothing', async () => {
    for (let round = 0; round < 3; round++)
      await inDir(async (dir) => {
        const at = String(Date.now() + 700)
        const children = ['a', 'b', 'c', 'd'].map((n) => start('first', dir, n, 5, { TORTURE_AT: at }))
        for (const c of children) {
          expect(await c.ended, c.errors()).toEqual({ code: 0, signal: null })
          expect(c.errors()).toBe('')
        }
        const ids = new Set(children.map((c) => c.said()[0]))
        expect(ids.size).toBe(1)
        const memory = openProject(findProject(dir))
        expect(`project ${memory.projectId}`).toBe([...ids][0])
        const told = children.flatMap(acks)
        expect(told.length).toBe(20)
        expect(new Set(told.map((a) => a.batch.split(':')[0])).size).toBe(1)
        expect(new Set(memory.reader.entity('principle:shared')!.fields.evidence as string[])).toEqual(
          new Set(told.map((a) => a.text)),
        )
        expect(memory.reader.list('fact').length).toBe(20)
        sound(memory)
        memory.close()
      })
  })

  test.each([2, 8, 32])('%i writing at once lose nothing, and none is told of a failure', async (n) => {
    await inDir(async (dir) => {
      createProject(dir)
      const each = n === 32 ? 8 : 25
      const children = Array.from({ length: n }, (_, i) => start('write', dir, `w${i}`, each))
      for (const c of children) {
        expect(await c.ended, c.errors()).toEqual({ code: 0, signal: null })
        expect(c.errors()).toBe('')
      }
      const told = children.flatMap(acks)
      expect(told.length).toBe(n * each)
      const memory = openProject(findProject(dir))
      expect([...(memory.reader.entity('principle:shared')!.fields.evidence as string[])].sort()).toEqual(
        told.map((a) => a.text).sort(),
      )
      expect(memory.reader.list('fact').length).toBe(n * each)
      sound(memory)
      memory.close()
    })
  })

  test.each([
    ['minutes', [0, 0, 120_000, -120_000]],
    ['days', [0, 0, 86_400_000, -3 * 86_400_000]],
  ])('[C4] K13: four writers, two with clocks wrong by %s, are in order under the lock', async (unit, skews) => {
    await inDir(async (dir) => {
      createProject(dir)
      const children = skews.map((s, i) => start('write', dir, `w${i}`, 60, { TORTURE_SKEW: String(s) }))
      for (const c of children) expect(await c.ended, c.errors()).toEqual({ code: 0, signal: null })
      const memory = openProject(findProject(dir))
      const news = memory.newsSince(0)
      expect(news.length).toBe(240)
      const ctrs = news.flatMap((n) => n.events.map((e) => e.event.stamp.ctr))
      expect(ctrs).toEqual(ctrs.map((_, i) => i + 1))
      // beyond five minutes no clock follows a stored stamp; what was written later stands all the same
      if (unit === 'minutes') for (let i = 1; i < news.length; i++) expect(news[i]!.at).toBeGreaterThan(news[i - 1]!.at)
      const shared = memory.reader.entity('principle:shared')!
      const last = news.flatMap((n) => n.events).findLast((e) => e.event.field === 'confidence')
      expect(shared.fields.confidence).toBe(last?.event.value)
      expect(shared.conflicts).toEqual([])
      memory.close()
    })
  })
})

test(`[A8] kill -9 at any point loses no acknowledged batch (${KILLS} kills)`, {
  timeout: 60_000 + KILLS * 4_000,
}, async () => {
  await inDir(async (dir) => {
    const told: { batch: string; text: string }[] = []
    let landed = 0
    for (let kills = 0; kills < KILLS; ) {
      const modes = ['write', 'write', 'big', 'maintain']
      const children = [0, 1].map((i) => start(modes[(kills + i * 2) % 4]!, dir, `k${kills + i}`, 100_000))
      await Promise.all(
        children.map(async (c, i) => {
          // some before the store is open, most while they write
          const early = (kills + i) % 7 === 0
          if (!early) while (c.said().length === 0 && c.process.exitCode === null) await pause(5)
          await pause(early ? 20 + Math.random() * 120 : Math.random() * 150)
          c.process.kill('SIGKILL')
          const end = await c.ended
          expect(end.signal, c.errors()).toBe('SIGKILL')
          told.push(...acks(c))
          if (acks(c).length > 0) landed++
        }),
      )
      kills += children.length
      const memory = openProject(createProject(dir).project)
      const known = new Set(memory.newsSince(0).map((n) => n.batch))
      const covered = new Map(
        memory.db.all<{ replica: string; seq: number }>('SELECT * FROM covered').map((c) => [c.replica, c.seq]),
      )
      const lost = told.filter(({ batch }) => {
        const [replica = '', seq] = batch.split(':')
        return !known.has(batch) && (covered.get(replica) ?? 0) < Number(seq)
      })
      expect(lost).toEqual([])
      if (kills % 20 === 0) expect(soundFile(memory)).toBe('ok')
      memory.close()
    }
    const memory = openProject(createProject(dir).project)
    const evidence = new Set(memory.reader.entity('principle:shared')!.fields.evidence as string[])
    const insights = new Set(memory.reader.list('insight').map((e) => e.name.split(' ').slice(0, 2).join('-')))
    expect(told.filter((a) => !evidence.has(a.text) && !insights.has(a.text))).toEqual([])
    sound(memory)
    expect(landed).toBeGreaterThan(KILLS / 2)
    process.stderr.write(`[A8] ${KILLS} kills, ${landed} of them while writing, ${told.length} acknowledged batches\n`)
    memory.close()
  })
})

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
