import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Env } from '../src/base/env.ts'
import type { Memory } from '../src/engine/memory.ts'
import { createProject, type Project } from '../src/engine/store/project.ts'
import { openProject } from '../src/project/open.ts'

export const ROOT = join(import.meta.dirname, '..')

const directories: string[] = []
process.on('exit', () => {
  for (const dir of directories) rmSync(dir, { recursive: true, force: true, maxRetries: 3 })
})

/** A directory that goes with the process; on a real disk where there is one, not in memory. */
export function tempDir(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'tidemark-bench-')))
  directories.push(dir)
  return dir
}

/** A git work tree that is a project; one that is given stays. */
export function tempProject(dir = tempDir()): Project {
  spawnSync('git', ['init', '-q', dir])
  return createProject(dir, { name: 'bench' }).project
}

/**
 * The built package, copied: a build that runs meanwhile must not disturb. Always the same place, so that Node's
 * compile cache knows it, and under `node_modules`, so that its dependencies are found.
 */
export function builtPackage(): string {
  const copy = join(ROOT, 'node_modules', '.cache', 'tidemark-bench')
  rmSync(copy, { recursive: true, force: true })
  for (const part of ['assets', 'bin', 'dist', 'package.json'])
    cpSync(join(ROOT, part), join(copy, part), { recursive: true })
  return join(copy, 'bin', 'tidemark.js')
}

const AREAS = ['auth', 'storage', 'billing', 'search', 'deploy', 'parser', 'queue', 'cache', 'session', 'import']
const CHOICES = ['one file', 'a queue', 'two steps', 'a plain table', 'no lock', 'a retry', 'an index', 'a worker']

/** A decision of the size people write: about 600 bytes as JSON. */
export function decision(i: number): [verb: string, args: Record<string, unknown>] {
  const area = AREAS[i % AREAS.length]!
  const choice = CHOICES[(i * 7) % CHOICES.length]!
  return [
    'record-decision',
    {
      name: `${area}-choice-${i}`,
      description: `The ${area} layer of part ${i} uses ${choice} instead of what was there before`,
      rationale: `Measured in run ${(i * 31) % 9973}: ${choice} was simpler to operate and lost nothing when the process was killed; the other way needed a daemon and a port.`,
      optionsConsidered: [`keep ${CHOICES[i % CHOICES.length]}`, `${choice} with a lock`],
      impact: i % 11,
      confidence: ((i * 13) % 100) / 100,
      locations: [`src/${area}/part-${i % 500}.ts:${(i * 17) % 400}`],
      tags: [area, `team-${i % 40}`],
    },
  ]
}

/** Records decisions `from` to `to` in batches of 50; returns the seconds it took. */
export function fill(memory: Memory, to: number, from = 0): number {
  const since = performance.now()
  for (let i = from; i < to; i += 50)
    memory.act(Array.from({ length: Math.min(50, to - i) }, (_, j) => decision(i + j)))
  return (performance.now() - since) / 1000
}

/** A project with so many decisions; its memory is closed. */
export function filledProject(entities: number, env?: Env): Project {
  const project = tempProject()
  const memory = openProject(project, env ? { env } : {})
  fill(memory, entities)
  memory.close()
  return project
}

/** The yardstick for writes: one row of a decision's size, committed to a bare SQLite file as safely as ours. */
export function bareCommit(): () => void {
  const db = new DatabaseSync(join(tempDir(), 'bare.db'))
  db.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT)')
  const insert = db.prepare('INSERT INTO t (body) VALUES (?)')
  const body = JSON.stringify(decision(1)[1])
  return () => {
    db.exec('BEGIN IMMEDIATE')
    insert.run(body)
    db.exec('COMMIT')
  }
}
