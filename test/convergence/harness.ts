import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Env } from '../../src/base/env.ts'
import { foldOf } from '../../src/engine/log/context-value.ts'
import { cellsOf } from '../../src/engine/log/events.ts'
import { rowOf } from '../../src/engine/materialize/apply.ts'
import { type ActOptions, type ActResult, Memory } from '../../src/engine/memory.ts'
import { entityOf } from '../../src/engine/read/reader.ts'
import { eventsOf, eventsUpTo } from '../../src/engine/store/log.ts'
import { setMeta } from '../../src/engine/store/meta.ts'
import { packOlder } from '../../src/engine/store/packed.ts'
import { allFolded, allRows } from '../../src/engine/store/rows.ts'
import type { Entity } from '../../src/model/entity.ts'
import { KINDS } from '../../src/model/kinds/index.ts'
import { RELATIONS } from '../../src/model/relations.ts'
import { VERBS } from '../../src/project/verbs/index.ts'

/** Stores of tests lie in memory where the system has such a place: the real files, without waiting for a disk. */
const ROOT = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

export const PROJECT = 'project-of-tests'
export const START = Date.UTC(2026, 0, 15, 12)

export const tempDir = (): string => mkdtempSync(join(ROOT, 'tidemark-test-'))

/** Small and good enough for tests (mulberry32): the same seed gives the same ids. */
export function seeded(seed: number): (n: number) => Uint8Array {
  let a = seed >>> 0
  const next = () => {
    a = (a + 0x6d2b79f5) >>> 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % 256
  }
  return (n) => Uint8Array.from({ length: n }, next)
}

export const open = (path: string, env: Env, create = true): Memory =>
  new Memory({ path, projectId: PROJECT, kinds: KINDS, relations: RELATIONS, verbs: VERBS, env, create })

/** A replica with a clock of its own that the test moves. */
export class Replica {
  readonly path: string
  readonly env: Env
  memory: Memory
  now = START
  readonly name: string

  constructor(dir: string, name: string, seed = 1, template?: string) {
    this.name = name
    this.path = join(dir, `${name}.db`)
    this.env = { now: () => this.now, random: seeded(seed), log: () => {} }
    if (template) copyFileSync(template, this.path)
    this.memory = open(this.path, this.env)
  }

  act(actions: unknown, options: ActOptions = {}): ActResult {
    return this.memory.act(actions, { session: `session-${this.name}`, ...options })
  }

  get tag(): string {
    return this.memory.db.get<{ value: string }>("SELECT value FROM meta WHERE key='replica'")!.value
  }

  /** The process dies: nothing is said good-bye to. */
  crash(): void {
    this.memory.db.raw.close()
    this.memory.db.close() // and with it goes what the process held
    this.memory = open(this.path, this.env)
  }

  /** Compresses the lines of the log, a few of the newest apart, as writing on does with many more. */
  pack(asText = 2): void {
    const { db } = this.memory
    db.write(() => {
      while (packOlder(db.raw, asText, 1));
    })
  }

  fields(id: string): { readonly [field: string]: unknown } {
    return this.memory.reader.entity(id)?.fields ?? {}
  }
}

/** A directory with replicas that is gone after the body. */
export function withReplicas<T>(names: readonly string[], body: (...replicas: Replica[]) => T, seeds?: number[]): T {
  const dir = tempDir()
  const replicas = names.map((n, i) => new Replica(dir, n, seeds?.[i] ?? 1000 + i * 77))
  try {
    return body(...replicas)
  } finally {
    for (const r of replicas) r.memory.close()
    rmSync(dir, { recursive: true, force: true })
  }
}

export interface Split {
  header: string
  lines: string[]
}

export function split(bytes: Uint8Array): Split {
  const [header = '', ...lines] = new TextDecoder().decode(bytes).split('\n')
  return { header, lines: lines.filter((l) => l !== '') }
}

export const join1 = (header: string, lines: readonly string[]): Uint8Array =>
  new TextEncoder().encode(`${[header, ...lines].join('\n')}\n`)

export const linesOf = (r: Replica): Split => split(r.memory.updatesSince().bytes)

/** Everything that `from` has goes to `to`. */
export const send = (from: Replica, to: Replica) => to.memory.applyUpdates(from.memory.updatesSince().bytes)

/** Everybody tells everybody until nothing is new. */
export function exchange(...replicas: Replica[]): void {
  const cursors = new Map<string, string>()
  for (let round = 0; round < 20; round++) {
    let applied = 0
    for (const from of replicas) {
      for (const to of replicas) {
        if (from === to) continue
        const key = `${from.name}>${to.name}`
        const { bytes, cursor } = from.memory.updatesSince(cursors.get(key))
        const told = to.memory.applyUpdates(bytes)
        applied += told.applied + (told.forked ? 1 : 0)
        cursors.set(key, cursor)
      }
    }
    if (applied === 0) return
  }
  throw new Error('the exchange does not come to rest')
}

export interface Dump {
  entities: unknown[]
  links: unknown[]
  cells: Record<string, unknown>
}

/** Everything that replicas must agree on, as text. */
export function dump(m: Memory, version = true): Dump {
  const rows = allRows(m.db)
  const cells: Record<string, unknown> = {}
  for (const row of rows)
    cells[row.id] = [...cellsOf(eventsOf(m.db, row.id).map((e) => e.event))].sort((a, b) => (a[0] < b[0] ? -1 : 1))
  return {
    entities: rows.map((r) => (version ? r : { ...r, version: 0 })),
    links: m.db.all('SELECT * FROM links ORDER BY id'),
    cells,
  }
}

/** Every entity as the events alone, up to a moment, say it is. */
export function foldAll(m: Memory, at: number): Map<string, Entity> {
  const then = new Set([...eventsUpTo(m.db, at)].map((e) => e.id))
  const all = Map.groupBy([...eventsUpTo(m.db, Number.MAX_SAFE_INTEGER)], (e) => e.event.entity)
  const bases = new Map(allFolded(m.db).map((b) => [b.entity, b.updated]))
  return new Map(
    [...all].flatMap(([id, own]) => {
      const events = own.flatMap((e) => (then.has(e.id) ? [e.event] : []))
      if (events.length === 0) return []
      const later = own.flatMap((e) => (then.has(e.id) ? [] : [e.event]))
      const updated = events.reduce((max, e) => Math.max(max, e.stamp.ms), bases.get(id) ?? 0)
      return [[id, entityOf(rowOf(id, foldOf(id, cellsOf(events, later)), { updated, version: 0 }, m.registry()))]]
    }),
  )
}

/** What the events alone say of every entity, in the form of `dump`'s rows. */
export function folded(m: Memory): unknown[] {
  const all = foldAll(m, 8.64e15)
  return allRows(m.db).map((r) => {
    const e = all.get(r.id)
    return e && comparable(e)
  })
}

/** Every entity of which anything is left to have happened. */
/** What the rows say: those are alike on all replicas, where readers see as of when something came. */
export const read = (m: Memory): unknown[] =>
  allRows(m.db).map((r) => (eventsOf(m.db, r.id).length === 0 ? undefined : comparable(entityOf(r))))

export const comparable = (e: NonNullable<ReturnType<Memory['reader']['entity']>>) => {
  const { version: _version, ...rest } = e
  return rest
}

/** Copies a store; `unnoticed` gives the copy the inode it was minted for, as a cloned machine would have it. */
export function copy(from: Replica, dir: string, name: string, unnoticed = false): Replica {
  from.memory.db.raw.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  const path = join(dir, `${name}.db`)
  copyFileSync(from.path, path)
  const r = new Replica(dir, name, 9000 + name.length * 7 + name.charCodeAt(0))
  r.now = from.now
  if (unnoticed) r.memory.db.write(() => setMeta(r.memory.db, 'inode', String(statSync(path).ino)))
  return r
}

export function inDir<T>(body: (dir: string) => T): T {
  const dir = tempDir()
  try {
    return body(dir)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
