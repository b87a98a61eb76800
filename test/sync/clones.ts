import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Env } from '../../src/base/env.ts'
import type { ActOptions, ActResult, Memory } from '../../src/engine/memory.ts'
import { travelsFrom } from '../../src/engine/read/travels.ts'
import { createProject, findProject } from '../../src/engine/store/project.ts'
import { openProject } from '../../src/project/open.ts'
import { type Published, publish } from '../../src/travel/sync/publish.ts'
import { type Received, receive } from '../../src/travel/sync/receive.ts'
import { dump } from '../convergence/harness.ts'
import { rowsOf, seededBytes } from '../helpers.ts'

export const decision = (name: string, rest: object = {}) => [
  'record-decision',
  { name, rationale: 'because', ...rest },
]

/** Does something on a machine of its own, with the keys that are there. */
export function elsewhere<T>(c: Clone, body: () => T): T {
  const before = process.env.TIDEMARK_STATE!
  process.env.TIDEMARK_STATE = `${c.dir}-state`
  try {
    return body()
  } finally {
    process.env.TIDEMARK_STATE = before
  }
}

/** A person's clone of the repository, with a store of its own. */
/** Everything that one store knows comes to another. */
export function give(from: Clone, to: Clone): void {
  const { bytes } = elsewhere(from, () => from.memory.updatesSince())
  elsewhere(to, () => to.memory.applyUpdates(bytes))
}

/** What the person at a clone does. */
export const act = (c: Clone, ...actions: unknown[]): ActResult => elsewhere(c, () => c.act(actions, { by: 'person' }))

export class Clone {
  readonly dir: string
  readonly name: string
  readonly env: Env
  readonly clock: { now: number }
  memory: Memory

  constructor(dir: string, name: string, seed: number) {
    this.dir = dir
    this.name = name
    this.clock = { now: Date.UTC(2026, 10, 21, 9) }
    this.env = { now: () => this.clock.now, random: seededBytes(seed), log: () => {} }
    this.memory = this.#open()
    onTestFinished(() => this.memory.close())
  }

  #open(): Memory {
    return openProject(findProject(this.dir), { env: this.env, author: { user: this.name }, unlisted: true })
  }

  reopen(): void {
    this.memory = this.#open()
  }

  act(batch: unknown, options: ActOptions = {}): ActResult {
    this.clock.now += 1_000
    return this.memory.act(batch, options)
  }

  git(...args: string[]): string {
    return git(this.dir, ...args)
  }

  receive(): Received {
    return receive(this.memory, this.dir)
  }

  publish(): Published {
    return publish(this.memory, this.dir)
  }

  /** What `tidemark sync` does. */
  sync(): Published {
    this.receive()
    return this.publish()
  }

  commit(): void {
    this.git('add', '-A')
    if (this.git('status', '--porcelain') !== '') this.git('commit', '-qm', `of ${this.name}`)
  }

  /** Writes, commits, takes what others pushed, and pushes. */
  share(how: 'merge' | 'rebase' = 'merge'): void {
    this.sync()
    this.commit()
    this.pull(how)
    this.git('push', '-q', 'origin', 'HEAD:main')
    this.receive()
  }

  pull(how: 'merge' | 'rebase' = 'merge'): void {
    if (this.git('ls-remote', 'origin', 'main') === '') return
    this.git('pull', '-q', how === 'merge' ? '--no-rebase' : '--rebase', '--no-edit', 'origin', 'main')
  }

  /** Its segments, by their paths below `.tidemark/log/`. */
  get segments(): string[] {
    const log = join(this.dir, '.tidemark', 'log')
    return readdirSync(log, { recursive: true, encoding: 'utf8' })
      .filter((f) => f.endsWith('.jsonl'))
      .sort()
  }

  text(segment: string): string {
    return readFileSync(join(this.dir, '.tidemark', 'log', segment), 'utf8')
  }
}

export const git = (dir: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'core.editor=true', '-C', dir, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })

export interface Team {
  readonly top: string
  readonly hub: string
  /** Clones the repository; further arguments are for `git clone`. */
  clone(name: string, ...args: string[]): Clone
}

/** A bare repository with one project in it, as its first person pushed it; gone after the test. */
export function team(): Team {
  const top = mkdtempSync(join(tmpdir(), 'tidemark-sync-'))
  onTestFinished(() => rmSync(top, { recursive: true, force: true }))
  const hub = join(top, 'hub.git')
  const first = join(top, 'first')
  mkdirSync(first)
  git(top, 'init', '-q', '--bare', '-b', 'main', hub)
  git(first, 'init', '-q', '-b', 'main')
  createProject(first)
  git(first, 'add', '-A')
  git(first, 'commit', '-qm', 'a project')
  git(first, 'push', '-q', hub, 'main')
  let seed = 10
  const clone = (name: string, ...args: string[]) => {
    const dir = join(top, name)
    git(top, 'clone', '-q', ...args, `file://${hub}`, dir)
    return new Clone(dir, name, seed++)
  }
  return { top, hub, clone }
}

/** Everything that replicas must agree on, byte for byte; what stays on a machine apart. */
export function knowledge({ memory }: { readonly memory: Memory }): string {
  return JSON.stringify([dump(memory), rowsOf(memory, ['events', 'links', 'purged', 'forked', 'parked'])])
}

/** What a clone knows of what travels: without the machine's own. */
export function travelling(c: Clone): string {
  const travels = travelsFrom(c.memory.db, c.memory.registry())
  const { entities, links, cells } = dump(c.memory)
  return JSON.stringify([
    entities.filter((e) => travels((e as { id: string }).id)),
    links.filter((l) => travels((l as { id: string }).id)),
    Object.fromEntries(Object.entries(cells).filter(([id]) => travels(id))),
  ])
}
