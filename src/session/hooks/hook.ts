import { attempt, messageOf, UserError } from '../../base/errors.ts'
import { gitRoot } from '../../base/git.ts'
import type { Memory } from '../../engine/memory.ts'
import { waitForLock } from '../../engine/store/db.ts'
import type { Project } from '../../engine/store/project.ts'
import { factsOf } from '../../work/coordination/clients.ts'
import { type Sessions, sessionsOf } from '../../work/coordination/sessions.ts'
import type { HookCall, HookReply } from './call.ts'
import { type HooksConfig, hooksConfig } from './config.ts'
import { errorCode, type HookErrors, noteError } from './log.ts'
import { pausedSince } from './pause.ts'

/** What one hook call works with. A part that fails is noted in `errors` and takes nothing from the others. */
export class Hook implements HookErrors {
  readonly memory: Memory
  readonly project: Project
  readonly call: HookCall
  readonly config: HooksConfig
  readonly sessions: Sessions
  /** The session that the call belongs to; empty where the client names none and none is found. */
  session: string
  readonly root: string
  readonly errors: string[] = []
  /** Something was observed: the files that show it follow when all else is done. */
  observed = false
  code?: string
  readonly #left: () => number
  /** Milliseconds on the clock, in which others may be waited for; `left` is of its own work too. */
  readonly clock: () => number

  constructor(memory: Memory, project: Project, call: HookCall, left: () => number, clock = left) {
    this.memory = memory
    this.project = project
    this.call = call
    this.#left = left
    this.clock = clock
    const { config, problems } = hooksConfig(project.hooks)
    this.config = config
    noteError(this, 'config', ...problems)
    this.sessions = sessionsOf(memory)
    this.session = call.session === '' ? (this.sessions.ofProcess() ?? '') : this.sessions.resolve(call.session)
    this.root = (call.cwd !== undefined && gitRoot(call.cwd)) || project.root
  }

  get paused(): number | undefined {
    return pausedSince(this.memory.db)
  }

  get left(): number {
    return this.#left()
  }

  get captures(): boolean {
    return this.config.capture && this.paused === undefined
  }

  get author() {
    return { agent: factsOf(this.call.client)?.mcpName ?? this.call.client, session: this.session || undefined }
  }

  /** Does one part of the answer and notes its error. Nothing begins when the time is up; a lock is waited for once. */
  attempt<T>(what: string, part: () => T): T | undefined {
    return this.#inTime(what) ? attempt(part, (error) => this.#noted(what, error)) : undefined
  }

  /** As `attempt`, for a part that is loaded when it is needed; `late` is one that is done also when the time is up. */
  async attemptLater<T>(what: string, part: () => Promise<T>, late = false): Promise<T | undefined> {
    if (!late && !this.#inTime(what)) return undefined
    try {
      return await part()
    } catch (error) {
      return this.#noted(what, error)
    }
  }

  #inTime(what: string): boolean {
    if (this.#left() > 0) return true
    noteError(this, 'late', `${what}: no time left`)
    return false
  }

  #noted(what: string, error: unknown): undefined {
    if (error instanceof UserError) {
      if (error.code === 'refused' || error.code === 'secret') return
      if (error.code === 'store-busy') waitForLock(0, this.memory.db)
    }
    noteError(this, errorCode(error), `${what}: ${messageOf(error)}`)
  }

  get role(): string | undefined {
    return this.call.parent === undefined ? undefined : this.call.agent?.slice(0, 80)
  }

  kept(key: string): unknown {
    return this.session === '' ? undefined : this.sessions.get(this.session)?.data[key]
  }
}

export type Handler = (hook: Hook) => HookReply | Promise<HookReply>

export const joined = (...parts: readonly (string | undefined)[]): string | undefined => {
  const said = parts.filter((p): p is string => p !== undefined && p !== '')
  return said.length > 0 ? said.join('\n\n') : undefined
}
