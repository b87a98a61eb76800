import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Env } from '../src/base/env.ts'
import { UserError } from '../src/base/errors.ts'
import type { ActOptions, ActResult, Memory } from '../src/engine/memory.ts'
import { createProject, type Project } from '../src/engine/store/project.ts'
import type { Entity } from '../src/model/entity.ts'
import type { Problem } from '../src/model/validate.ts'
import { type DiscoverOptions, discover } from '../src/project/discover/discover.ts'
import { openProject } from '../src/project/open.ts'
import { asProjectMemory, type ProjectMemory } from '../src/surfaces/library.ts'

/** Stores of tests lie in memory where the system has such a place: the real files, without waiting for a disk. */
const ROOT = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** A clock that the test moves. */
export interface TestClock {
  now: number
  /** Moves it on by so many days. */
  days(n: number): void
}

export interface TestMemory {
  readonly dir: string
  readonly project: Project
  readonly memory: Memory
  readonly library: ProjectMemory
  readonly clock: TestClock
  act(batch: unknown, options?: ActOptions): ActResult
  /** One printed value per form. */
  discover(program: string, options?: DiscoverOptions): string[]
  /** The entity a reference means; deleted ones too. */
  get(ref: string): Entity | undefined
  /** The problems for which a batch is refused; fails if it is not, or if anything in the store changed. */
  refused(batch: unknown, options?: ActOptions): Problem[]
  /** Every row of every table that knowledge lies in, as text. */
  rows(): string
  close(): void
}

/** Small and good enough for tests (mulberry32): the same seed gives the same ids. */
export function seededBytes(seed: number): (n: number) => Uint8Array {
  let a = seed >>> 0
  const next = () => {
    a = (a + 0x6d2b79f5) >>> 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % 256
  }
  return (n) => Uint8Array.from({ length: n }, next)
}

/** Everything the log, the rows and every index say; or some tables. */
export function rowsOf(memory: Memory, only?: readonly string[]): string {
  const { db } = memory
  const tables = db.all<{ name: string; row: string }>(
    `SELECT m.name, group_concat('quote("' || c.name || '")', ' || ''|'' || ') AS row
     FROM sqlite_master m, pragma_table_info(m.name) c
     WHERE m.type = 'table' AND m.name NOT GLOB 'sqlite_*' GROUP BY m.name ORDER BY m.name`,
  )
  return tables
    .filter(({ name }) => only?.includes(name) ?? true)
    .map(({ name, row }) =>
      [
        name,
        ...db
          .all<{ row: string }>(`SELECT ${row} AS row FROM "${name}"`)
          .map((r) => r.row)
          .sort(),
      ].join('\n'),
    )
    .join('\n')
}

/** A memory of its own in a temporary directory, with a clock that only the test moves; gone after the test. */
export function openTestMemory(options: { now?: number; name?: string; seed?: number } = {}): TestMemory {
  const dir = mkdtempSync(join(ROOT, 'tidemark-test-'))
  const root = join(dir, options.name ?? 'example')
  const clock: TestClock = {
    now: options.now ?? Date.UTC(2026, 10, 21, 9),
    days(n) {
      clock.now += n * 86_400_000
    },
  }
  const env: Env = { now: () => clock.now, random: seededBytes(options.seed ?? 1), log: () => {} }
  const { project } = createProject(root)
  const memory = openProject(project, { env, author: { session: 'test', user: 'tester' } })
  const close = () => {
    memory.close()
    rmSync(dir, { recursive: true, force: true })
  }
  onTestFinished(close)
  const test: TestMemory = {
    dir: root,
    project,
    memory,
    library: asProjectMemory(memory, project),
    clock,
    act: (batch, o) => memory.act(batch, o),
    discover: (program, o) => discover(memory, program, o),
    get(ref) {
      const found = memory.reader.find(ref, true)
      if (found.length > 1) throw new Error(`${ref} means ${found.map((e) => e.id).join(' and ')}`)
      return found[0]
    },
    refused(batch, o) {
      const before = rowsOf(memory)
      const cursor = memory.cursor
      try {
        memory.act(batch, o)
      } catch (error) {
        if (!(error instanceof UserError)) throw error
        if (rowsOf(memory) !== before || memory.cursor !== cursor) throw new Error('a refused batch left a trace')
        return (error.details.problems ?? [{ index: -1, verb: '', field: '', message: error.message }]) as Problem[]
      }
      throw new Error('the batch was not refused')
    },
    rows: () => rowsOf(memory),
    close,
  }
  return test
}

/** The user error a body throws. */
export function userError(body: () => unknown): UserError {
  try {
    body()
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

/** Runs something as on another machine, with a key of its own: `state` is where that keeps its state. */
export function onMachine<T>(state: string, body: () => T): T {
  const here = process.env.TIDEMARK_STATE
  process.env.TIDEMARK_STATE = state
  try {
    return body()
  } finally {
    if (here === undefined) delete process.env.TIDEMARK_STATE
    else process.env.TIDEMARK_STATE = here
  }
}
