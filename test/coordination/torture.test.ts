// @module-tag long
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import type { Memory } from '../../src/engine/memory.ts'
import { createProject } from '../../src/engine/store/project.ts'
import { openProject } from '../../src/project/open.ts'
import { claimsOf } from '../../src/work/coordination/claims.ts'
import { sessionsOf } from '../../src/work/coordination/sessions.ts'
import { tempDir } from '../convergence/harness.ts'
import { SEED } from '../runs.ts'
import { type TalkingChild, talking } from './talking-child.ts'
import type { Said } from './torture-child.ts'
import { type Acknowledged, judge, type Life, type Told } from './torture-judge.ts'
import { TASKS } from './torture-universe.ts'

const CHILD = fileURLToPath(new URL('./torture-child.ts', import.meta.url))
const KILLS = Number(process.env.TIDEMARK_RUNS ?? 12)
const AT_ONCE = 16
const MINUTE = 60_000
/** Clocks of the sessions: some are wrong by minutes, some know no process of theirs. */
const SKEWS = [0, 0, 0, 0, 8 * MINUTE, -8 * MINUTE, 3 * MINUTE, -11 * MINUTE]

function start(dir: string, id: string, others: readonly string[], options: object, seed: number): TalkingChild<Said> {
  const args = [CHILD, dir, id, others.join(','), String(seed), JSON.stringify(options)]
  const child = spawn(process.execPath, args, {
    env: { ...process.env, TIDEMARK_STORE: '', TIDEMARK_SESSION: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return talking<Said>(child)
}

function inProject(): { dir: string; memory: Memory } {
  const dir = tempDir()
  const memory = openProject(createProject(dir).project)
  onTestFinished(() => {
    memory.close()
    rmSync(dir, { recursive: true, force: true })
  })
  return { dir, memory }
}

const presence = (memory: Memory): Told[] => memory.newsSince(0).flatMap((n) => n.presence ?? [])

test(`[X6] [X4] 16 processes contend for overlapping claims, ${KILLS} and more are killed, clocks are wrong: never two holders, fences grow`, {
  timeout: 60_000 + KILLS * 2_000,
}, async () => {
  const { dir, memory } = inProject()
  memory.act(TASKS.map((description) => ['add-task', { description }]))
  const followed: Told[] = []
  const stop = memory.subscribe(({ presence }) => presence && followed.push(presence), { since: 0 })
  const ids = Array.from({ length: AT_ONCE }, (_, i) => `s${i}`)
  const lives: Life[] = []
  const acknowledged: Acknowledged[] = []
  const seed = SEED
  let kills = 0
  // each place is taken by one process after another: some under the same id, some under a new one
  await Promise.all(
    ids.map(async (place, i) => {
      for (let generation = 0; kills < KILLS; generation++) {
        const id = generation % 3 === 2 ? place : generation === 0 ? place : `${place}.${generation}`
        const nameless = i % 8 === 7
        const options = { skew: SKEWS[(i + generation) % SKEWS.length], nameless, count: 60 }
        const life: Life = { id, nameless, born: memory.cursor }
        lives.push(life)
        const child = start(dir, id, ids, options, seed + i * 1000 + generation)
        await child.until(2 + Math.floor(Math.random() * 40))
        if (child.process.exitCode === null) {
          kills++
          life.dying = memory.cursor
          child.process.kill('SIGKILL')
        }
        await child.ended
        expect(child.errors().replace(/.*ExperimentalWarning.*\n|.*--trace-warnings.*\n/g, '')).toBe('')
        life.dead = memory.cursor
        for (const said of child.said) acknowledged.push({ session: id, life, said })
      }
    }),
  )
  stop()
  const log = presence(memory)
  expect(followed.map((e) => e.seq)).toEqual(log.slice(0, followed.length).map((e) => e.seq)) // X4: none lost, none twice
  const found = judge(log, acknowledged, lives)
  process.stderr.write(`[X6] seed ${seed}: ${kills} kills, ${JSON.stringify(found.counts)}\n`)
  expect(found.wrong).toEqual([])
  expect(found.counts.granted).toBeGreaterThan(KILLS)
  expect(found.counts.refused).toBeGreaterThan(KILLS)
  expect(found.counts.lapsed).toBeGreaterThan(0)

  // all are dead, and what stood under a lease has run out: everything is free
  const later = openProject(createProject(dir).project, {
    env: {
      now: () => Date.now() + 60 * MINUTE,
      random: (n) => crypto.getRandomValues(new Uint8Array(n)),
      log: () => {},
    },
  })
  expect(claimsOf(later).held()).toEqual([])
  later.act([['claim', { paths: ['.'] }], ...TASKS.map((task) => ['claim', { task }])], { session: 'last' })
  expect(claimsOf(later).held().length).toBe(1 + TASKS.length)
  expect(later.db.get<{ integrity_check: string }>('PRAGMA integrity_check')!.integrity_check).toBe('ok')
  later.close()
})

test('[M3] [X5] 50 sessions start and are killed with kill -9: each next one gets their claim at once, no lock stays', {
  timeout: 180_000,
}, async () => {
  const { dir, memory } = inProject()
  for (let round = 0; round < 50; round += 5) {
    const children = Array.from({ length: 5 }, (_, i) =>
      start(
        dir,
        `k${round + i}`,
        [`k${round + i}`, 'nobody'],
        { skew: 0, nameless: false, count: 0, hold: `part/${i}` },
        round,
      ),
    )
    await Promise.all(
      children.map(async (child) => {
        await child.until(2)
        expect(child.said, child.errors()).toMatchObject([{ what: 'ready' }, { what: 'claimed' }])
        child.process.kill('SIGKILL')
        await child.ended
      }),
    )
    // nobody waits for a time to run out: the next round claims the same
    expect(claimsOf(memory).held()).toEqual([])
    expect(sessionsOf(memory).list()).toEqual([])
  }
  const sessions = sessionsOf(memory).list({ all: true })
  expect(sessions.map((s) => s.state)).toEqual(Array(50).fill('crashed'))
  memory.act([['claim', { paths: ['part'] }]], { session: 'next' })
  expect(
    claimsOf(memory)
      .held()
      .map((c) => c.session),
  ).toEqual(['next'])
  expect(memory.db.tryWrite(() => true)).toBe(true)
})
