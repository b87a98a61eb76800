import { attempt } from '../../base/errors.ts'
import type { Memory } from '../../engine/memory.ts'
import { actAs, type CallOrigin } from './caller.ts'
import { processAlias } from './client-process.ts'
import type { Said } from './session-info.ts'
import { sessionsOf } from './sessions.ts'

/** One MCP connection. It acts in its client's session, or in one of its own that ends with it. */
export class Connection {
  readonly #own = new Map<Memory, string>()
  /** Sessions that others began, and in which it acted. */
  readonly #others = new Map<Memory, Set<string>>()

  /** The session that calls. `own`: the process by which its own one lives; `begins`: whether it may begin now. */
  acting(
    memory: Memory,
    origin: CallOrigin,
    said: Said,
    { own, begins }: { own?: Said; begins: boolean },
  ): string | undefined {
    const found = actAs(memory, origin, said)
    if (found !== undefined) {
      this.#others.set(memory, (this.#others.get(memory) ?? new Set()).add(found))
      return found
    }
    const sessions = sessionsOf(memory)
    const about = { ...said, process: undefined, ...own }
    const there = this.#own.get(memory)
    if (there !== undefined) sessions.heartbeat(there, about)
    if (there !== undefined || !begins) return there
    const { id } = sessions.start(about)
    if (said.process) sessions.patch(id, { under: processAlias(said.process) }) // for the shell of its agent
    this.#own.set(memory, id)
    return id
  }

  end(): void {
    // where the store is gone or held, a session ends with its process, or its silence, all the same
    for (const [memory, id] of this.#own)
      attempt(() => memory.isOpen && sessionsOf(memory).end(id, 'the client closed its MCP connection'))
    this.#own.clear()
    for (const [memory, ids] of this.#others)
      attempt(() => {
        if (memory.isOpen) for (const id of ids) sessionsOf(memory).left(id)
      })
    this.#others.clear()
  }
}
