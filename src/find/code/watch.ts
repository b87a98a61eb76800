import { type FSWatcher, watch } from 'node:fs'
import { join } from 'node:path'
import { isRunning, type ProcessRef, processRef } from '../../base/env.ts'
import { attempt, messageOf } from '../../base/errors.ts'
import type { Memory } from '../../engine/memory.ts'
import { filesSeen } from '../../engine/store/code-anchors.ts'
import { dropMeta, getMeta, setMeta } from '../../engine/store/meta.ts'
import type { Project } from '../../engine/store/project.ts'
import { breathing, CodeTree } from './code-files.ts'
import { scan } from './scan.ts'

/** An editor writes a file in several steps. */
const SETTLE_MS = 40
/** So often others look whether the one who watches still does. */
const LOOK_MS = 4_000
/** A process of another machine says so often that it is there, and is gone after three times as long. */
const HEARTBEAT_MS = 10_000

type Lease = Readonly<{ process: ProcessRef; at: number }>

/** Watches a work tree until stopped, and judges each change at once. One process watches for all of them. */
export function watchCode(memory: Memory, project: Project): () => void {
  const { db, env } = memory
  const key = `code_watcher ${project.root}`
  const own = processRef(process.pid)
  let files: FileWatcher | undefined
  let stopped = false

  const holder = (): Lease | undefined => {
    const lease = JSON.parse(getMeta(db, key) ?? 'null') as Lease | null
    if (!lease || (lease.process.pid === own.pid && lease.process.born === own.born)) return undefined
    const lives = (env.isRunning ?? isRunning)(lease.process) ?? env.now() - lease.at < 3 * HEARTBEAT_MS
    return lives ? lease : undefined
  }
  const take = (): boolean =>
    db.tryWrite(() => {
      if (holder()) return false
      setMeta(db, key, JSON.stringify({ process: own, at: env.now() }))
      return true
    }) === true
  const look = () => {
    if (stopped || !memory.isOpen) return
    try {
      if (holder()) {
        files?.close()
        files = undefined
      } else if ((!files || files.isDue) && take()) {
        files ??= new FileWatcher(memory, project)
        files.beat()
      }
    } catch (error) {
      env.log(`tidemark: the code is not watched: ${messageOf(error)}`)
    }
    timer = setTimeout(look, LOOK_MS).unref()
  }
  let timer = setTimeout(look).unref()
  return () => {
    stopped = true
    clearTimeout(timer)
    files?.close()
    attempt(() => files && memory.isOpen && db.tryWrite(() => dropMeta(db, key))) // the store has gone: so has the lease
  }
}

/** One watch for each directory: their number is limited by the system, and files have many more. */
class FileWatcher {
  readonly #memory: Memory
  readonly #project: Project
  readonly #watches = new Map<string, FSWatcher>()
  readonly #pending = new Set<string>()
  readonly #breathe = breathing()
  #tree: CodeTree
  #timer: NodeJS.Timeout | undefined
  #beaten = 0
  #blind = false
  #closed = false
  #work: Promise<void>

  constructor(memory: Memory, project: Project) {
    this.#memory = memory
    this.#project = project
    this.#tree = new CodeTree(project.root)
    this.#work = this.#watch('').then(() => this.#scan())
  }

  get isDue(): boolean {
    return this.#memory.env.now() - this.#beaten >= HEARTBEAT_MS
  }

  /** Where the system has no watches left, a scan now and then finds what changed. */
  beat(): void {
    this.#beaten = this.#memory.env.now()
    if (this.#blind) this.#work = this.#work.then(() => this.#scan())
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#stop()
  }

  async #scan(only?: readonly string[]): Promise<void> {
    const isOver = () => this.#closed || !this.#memory.isOpen
    if (isOver()) return
    try {
      await scan(this.#memory, this.#project, { isOver, ...(only ? { only } : {}) })
    } catch (error) {
      if (!isOver()) this.#memory.env.log(`tidemark: a scan of the code failed: ${messageOf(error)}`)
    }
  }

  /** Watches a directory and those below it. */
  async #watch(dir: string): Promise<void> {
    if (this.#blind || this.#closed || this.#watches.has(dir)) return
    try {
      const watcher = watch(join(this.#project.root, dir), { persistent: false }, (_, name) => {
        this.#pending.add(name === null ? dir : dir === '' ? name : `${dir}/${name}`)
        this.#timer ??= setTimeout(() => this.#settle(), SETTLE_MS).unref()
      })
      watcher.on('error', () => this.#unwatch(dir))
      this.#watches.set(dir, watcher)
    } catch (error) {
      if (['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return
      this.#blind = true // the system has no more watches
      this.#stop()
      return
    }
    await this.#breathe()
    for (const entry of this.#tree.entries(dir)) if (entry.isDirectory) await this.#watch(entry.path)
  }

  #stop(): void {
    for (const watcher of this.#watches.values()) watcher.close()
    this.#watches.clear()
  }

  #unwatch(dir: string): void {
    for (const [path, watcher] of this.#watches)
      if (path === dir || path.startsWith(`${dir}/`)) {
        watcher.close()
        this.#watches.delete(path)
      }
  }

  /** Judges what changed; a directory stands for all in it, also after it has gone. */
  #settle(): void {
    this.#timer = undefined
    const paths = [...this.#pending]
    this.#pending.clear()
    if (this.#closed || !this.#memory.isOpen) return
    if (paths.some((path) => /(?:^|\/)\.gitignore$/.test(path))) {
      this.#tree = new CodeTree(this.#project.root)
      this.#stop()
      this.#work = this.#work.then(() => this.#watch('')).then(() => this.#scan())
      return
    }
    const only = new Set<string>()
    for (const path of paths) {
      if (this.#tree.ignored.path(path)) continue
      if (this.#tree.isDirectory(path)) {
        this.#work = this.#work.then(() => this.#watch(path))
        for (const file of this.#tree.files(path)) only.add(file.path)
      } else {
        if (this.#watches.has(path)) {
          this.#unwatch(path)
          for (const file of filesSeen(this.#memory.db, this.#project.root))
            if (file.path.startsWith(`${path}/`)) only.add(file.path)
        }
        only.add(path)
      }
    }
    if (only.size > 0) this.#work = this.#work.then(() => this.#scan([...only]))
  }
}
