import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { deflateSync } from 'node:zlib'
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

/** Everything that one store knows comes to another. */
export function give(from: Clone, to: Clone): void {
  const { bytes } = elsewhere(from, () => from.memory.updatesSince())
  elsewhere(to, () => to.memory.applyUpdates(bytes))
}

/** What the person at a clone does. */
export const act = (c: Clone, ...actions: unknown[]): ActResult => elsewhere(c, () => c.act(actions, { by: 'person' }))

/** A person's clone of the repository, with a store of its own. */
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
    try {
      this.git('commit', '-qm', `of ${this.name}`)
    } catch (error) {
      if (!/nothing to commit/.test((error as { stdout: string }).stdout)) throw error
    }
  }

  /** Writes, commits, takes what others pushed, and pushes. */
  share(how: 'merge' | 'rebase' = 'merge'): void {
    this.sync()
    this.commit()
    this.pull(how)
    this.push()
    this.receive()
  }

  pull(how: 'merge' | 'rebase' = 'merge'): void {
    const hub = this.#hub()
    if (!hub)
      return void this.git('pull', '-q', how === 'merge' ? '--no-rebase' : '--rebase', '--no-edit', 'origin', 'main')
    copyObjects(hub, join(this.dir, '.git'))
    writeRef(join(this.dir, '.git'), 'remotes/origin/main', tip(hub))
    this.git(...(how === 'merge' ? ['merge', '-q', '--no-edit'] : ['rebase', '-q']), 'origin/main')
  }

  /** Right after a pull, what it pushes follows what the hub has. */
  push(): void {
    const hub = this.#hub()
    if (!hub) return void this.git('push', '-q', 'origin', 'HEAD:main')
    const own = join(this.dir, '.git')
    copyObjects(own, hub)
    const head = this.git('rev-parse', 'HEAD').trim()
    for (const [to, name] of [
      [hub, 'heads/main'],
      [own, 'remotes/origin/main'],
    ] as const)
      writeRef(to, name, head)
  }

  /**
   * The bare repository that it was cloned from, where what it fetches and pushes can be copied: git starts a dozen processes
   * for either. Nothing for a clone that has not all of it, or pulls from elsewhere by now.
   */
  #hub(): string | undefined {
    const own = join(this.dir, '.git')
    const hub = join(dirname(this.dir), 'hub.git')
    const isPlain =
      existsSync(join(own, 'config')) &&
      !existsSync(join(own, 'shallow')) &&
      existsSync(join(hub, 'refs/heads/main')) &&
      readFileSync(join(own, 'config'), 'utf8').includes(`url = file://${hub}\n`)
    return isPlain ? hub : undefined
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
  execFileSync('git', [...SETTINGS, '-C', dir, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

/** Whose commits they are; and no process that tidies up after each command. */
const SETTINGS = ['user.name=t', 'user.email=t@t', 'core.editor=true', 'maintenance.auto=false', 'gc.auto=0'].flatMap(
  (setting) => ['-c', setting],
)

/** The objects of one repository that another lacks. */
const copyObjects = (from: string, to: string): void =>
  cpSync(join(from, 'objects'), join(to, 'objects'), { recursive: true, force: false })

const tip = (repository: string): string => readFileSync(join(repository, 'refs/heads/main'), 'utf8').trim()

function writeRef(repository: string, name: string, commit: string): void {
  const path = join(repository, 'refs', name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${commit}\n`)
}

/** Writes an object as git keeps one by itself. Returns its name. */
function writeObject(repository: string, type: 'blob' | 'tree' | 'commit', content: Buffer): string {
  const bytes = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])
  const name = createHash('sha1').update(bytes).digest('hex')
  const path = join(repository, 'objects', name.slice(0, 2), name.slice(2))
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, deflateSync(bytes))
  return name
}

/** Writes the files below a directory as a tree. Returns its name. */
function writeTree(repository: string, dir: string): string {
  const entries = readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name)
    if (entry.isDirectory() && readdirSync(path).length === 0) return [] // git keeps no empty one
    const [mode, name, key] = entry.isDirectory()
      ? ['40000', writeTree(repository, path), `${entry.name}/`]
      : ['100644', writeObject(repository, 'blob', readFileSync(path)), entry.name]
    return [{ key, bytes: Buffer.concat([Buffer.from(`${mode} ${entry.name}\0`), Buffer.from(name, 'hex')]) }]
  })
  entries.sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)))
  return writeObject(repository, 'tree', Buffer.concat(entries.map((e) => e.bytes)))
}

/** An empty bare repository, made by git once and then copied. */
function bareRepository(path: string): void {
  if (!made) {
    made = mkdtempSync(join(tmpdir(), 'tidemark-bare-'))
    process.on('exit', () => rmSync(made!, { recursive: true, force: true }))
    git(made, 'init', '-q', '--bare', '-b', 'main', '--template=', '.')
  }
  cpSync(made, path, { recursive: true })
}
let made: string | undefined

/** What `git clone` makes. */
function cloneOf(hub: string, dir: string): void {
  const own = join(dir, '.git')
  cpSync(hub, own, { recursive: true })
  const url = `file://${hub}`
  const config = readFileSync(join(own, 'config'), 'utf8').replace(
    'bare = true',
    'bare = false\n\tlogallrefupdates = true',
  )
  writeFileSync(
    join(own, 'config'),
    `${config}[remote "origin"]\n\turl = ${url}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n`,
  )
  for (const branch of readdirSync(join(hub, 'refs/heads'))) {
    cpSync(join(hub, 'refs/heads', branch), join(own, 'refs/remotes/origin', branch), { recursive: true })
    if (branch !== 'main') rmSync(join(own, 'refs/heads', branch), { recursive: true })
  }
  const entry = `${'0'.repeat(40)} ${tip(hub)} t <t@t> ${Math.floor(Date.now() / 1000)} +0000\tclone: from ${url}\n`
  for (const log of ['logs/HEAD', 'logs/refs/heads/main']) {
    mkdirSync(dirname(join(own, log)), { recursive: true })
    appendFileSync(join(own, log), entry)
  }
  git(dir, 'read-tree', '-mu', 'HEAD')
}

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
  bareRepository(hub)
  cpSync(hub, join(first, '.git'), { recursive: true })
  createProject(first)
  const person = `t <t@t> ${Math.floor(Date.now() / 1000)} +0000`
  const files = join(first, '.tidemark')
  const tree = Buffer.concat([Buffer.from('40000 .tidemark\0'), Buffer.from(writeTree(hub, files), 'hex')])
  const commit = `tree ${writeObject(hub, 'tree', tree)}\nauthor ${person}\ncommitter ${person}\n\na project\n`
  writeRef(hub, 'heads/main', writeObject(hub, 'commit', Buffer.from(commit)))
  let seed = 10
  const clone = (name: string, ...args: string[]) => {
    const dir = join(top, name)
    if (args.length > 0 || !existsSync(join(hub, 'refs/heads/main')))
      git(top, 'clone', '-q', ...args, `file://${hub}`, dir)
    else cloneOf(hub, dir)
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
