import { isAbsolute, resolve, sep } from 'node:path'
import type { Env } from '../../base/env.ts'
import { UserError } from '../../base/errors.ts'
import { realPath } from '../../base/files.ts'
import type { Memory } from '../../engine/memory.ts'
import { findProject, type Project } from '../../engine/store/project.ts'
import { hubOf } from '../../engine/store/user-state.ts'
import { receiveChanges } from '../../travel/sync/receive.ts'
import type { ToolContext } from '../tools/tool.ts'

const REST_MS = 5000
/** The first answer does not wait for the code to be looked at. */
const WATCH_AFTER_MS = 300

export type Opened = Pick<ToolContext, 'project' | 'memory'>

export interface ProjectsOptions {
  /** Directories of the projects that are served; the first is the main one. */
  roots: readonly string[]
  /** Where the store of the main project lies, instead of the git common directory. */
  persistencePath?: string | undefined
  /** The roots of the projects themselves: a directory that is none any more stands for no project above it. */
  exact?: boolean
  /** A call may also name, by its path, a project that is not listed. */
  anyPath?: boolean
  /** The hub that the main project exchanges with, instead of the one it has joined. */
  hub?: { url: string; token: string } | undefined
  env?: Env | undefined
}

/** Projects that one process serves, each opened when it is first named and kept open until `close`. */
export class Projects {
  readonly #options: ProjectsOptions
  readonly #opened = new Map<string, Opened>()
  readonly #watches: (() => void)[] = []
  #closed = false
  #rest: NodeJS.Timeout | undefined

  constructor(options: ProjectsOptions) {
    this.#options = options
  }

  /** The listed projects, read anew: `tidemark init` may just have run. One that is gone leaves the others there. */
  list(): Project[] {
    const { roots, persistencePath, exact } = this.#options
    const found: Project[] = []
    let problem: unknown
    for (const [i, root] of roots.entries()) {
      try {
        const project = findProject(root, i === 0 ? persistencePath : undefined)
        if (exact && project.root !== root)
          throw new UserError('no-project', `${root} is no project any more`, 'run `tidemark init` in it')
        found.push(project)
      } catch (error) {
        if (!(error instanceof UserError)) throw error
        problem ??= error
      }
    }
    if (found.length === 0) throw problem
    return found
  }

  /**
   * The project that a call means: by id, by a path in it, by its name if that is unique; the only one if none is named.
   * @throws UserError saying which there are.
   */
  find(named?: string): Project {
    const listed = this.list()
    if (named === undefined) {
      if (new Set(listed.map((p) => p.id)).size === 1) return listed[0]!
      throw refused('ambiguous-project', 'several projects are served here: name one as `project`', listed)
    }
    const byId = [...listed, ...[...this.#opened.values()].map((o) => o.project)].find((p) => p.id === named)
    if (byId) return byId
    const byName = listed.filter((p) => p.name === named)
    if (byName.length === 1) return byName[0]!
    if (isAbsolute(named) || named.includes(sep) || named === '.') {
      const path = resolve(listed[0]?.root ?? '.', named)
      const inside = listed
        .filter((p) => `${realPath(path)}${sep}`.startsWith(`${realPath(p.root)}${sep}`))
        .sort((a, b) => b.root.length - a.root.length)[0]
      if (inside) return inside
      if (this.#options.anyPath) return findProject(path)
    }
    throw refused('unknown-project', `project "${named}" is not served here`, listed)
  }

  /** The project that a call means, with its memory. */
  async open(named?: string): Promise<Opened> {
    const project = this.find(named)
    const there = this.#opened.get(project.root)
    if (there) return this.#tend(there)
    const { openProject } = await import('../../project/open.ts') // heavy: the first answer of a server does not wait for it
    return this.#tend(this.#opened.get(project.root) ?? this.adopt(project, openProject(project, this.#options)))
  }

  /** A project that has joined a hub is followed from the start: sessions that hooks began are there before any call. */
  greet(): void {
    setTimeout(() => {
      try {
        const { id, storePath } = this.find()
        if (hubOf(id, storePath)) this.open().catch(() => {}) // the first call will say why
      } catch {} // no project yet
    }, WATCH_AFTER_MS).unref()
  }

  /** The daily snapshot is looked after when the calls have come to rest. */
  #tend(opened: Opened): Opened {
    clearTimeout(this.#rest)
    this.#rest = setTimeout(() => {
      for (const { memory } of this.#opened.values())
        for (const note of memory.maintain()) process.stderr.write(`tidemark: ${note}\n`)
    }, REST_MS).unref()
    receiveChanges(opened.memory, opened.project.root)
    return opened
  }

  /** Files that change make what is known of them stale, also while nobody calls; a hub is followed. */
  async #watch({ memory, project }: Opened): Promise<void> {
    const { watchCode } = await import('../../find/code/watch.ts')
    if (this.#closed) return
    this.#watches.push(watchCode(memory, project))
    const { followHub } = await import('../../travel/sync/hub-follow.ts')
    if (!this.#closed)
      this.#watches.push(
        followHub(memory, project, project.root === this.#options.roots[0] ? this.#options.hub : undefined),
      )
  }

  /** Takes over a memory that is open already. */
  adopt(project: Project, memory: Memory): Opened {
    if (this.#closed) {
      memory.close()
      throw new UserError('closed', 'this server is closing', 'start it again')
    }
    const opened = { project, memory }
    this.#opened.set(project.root, opened) // by root: each worktree has a branch of its own
    if (!memory.db.readOnly) setTimeout(() => void this.#watch(opened), WATCH_AFTER_MS).unref()
    return opened
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#rest)
    for (const stop of this.#watches) stop()
    for (const { memory } of this.#opened.values()) memory.close()
    this.#opened.clear()
  }
}

/** Says which projects there are. */
function refused(code: string, message: string, listed: readonly Project[]): UserError {
  const projects = listed.map(({ id, name, root }) => ({ id, name, root }))
  const choices = projects.map((p) => `${p.id} (${p.name}, ${p.root})`).join('; ')
  return new UserError(code, message, `one of: ${choices}`, { projects })
}
