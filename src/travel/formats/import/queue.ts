import type { ActOptions, Memory } from '../../../engine/memory.ts'
import { type Action, MAX_ACTIONS, problemsOf } from '../../../engine/write/batch.ts'
import type { Problem } from '../../../model/validate.ts'
import type { Item } from './types.ts'

/** Actions that belong together, and what to note once they are written. */
export interface Unit {
  readonly item: Item
  readonly actions: readonly Action[]
  /** What it counts as in the report; nothing for what only follows from something else. */
  readonly kind: string
  readonly created: boolean
  /** The id the first action writes to, where it is known. */
  readonly id?: string | undefined
}

export interface QueueEvents {
  wrote(batch: string): void
  written(unit: Unit, id: string): void
  refused(unit: Unit, problem: Problem): void
}

/** Collects units into batches. A refused unit is taken out and told; the rest is written without it. */
export class Queue {
  readonly #memory: Pick<Memory, 'act'>
  readonly #options: ActOptions
  readonly #events: QueueEvents
  #units: Unit[] = []

  constructor(memory: Pick<Memory, 'act'>, options: ActOptions, events: QueueEvents) {
    this.#memory = memory
    this.#options = options
    this.#events = events
  }

  get isEmpty(): boolean {
    return this.#units.length === 0
  }

  holds(id: string): boolean {
    return this.#units.some((u) => u.id === id || u.item.as === id)
  }

  /** Whether a kind or relation waits to be written: what uses it has to wait for it. */
  get definesSomething(): boolean {
    return this.#units.some((u) => u.item.verb.startsWith('define-'))
  }

  add(unit: Unit): void {
    const actions = this.#units.reduce((n, u) => n + u.actions.length, unit.actions.length)
    if (actions > MAX_ACTIONS) this.flush()
    this.#units.push(unit)
  }

  flush(): void {
    let units = this.#units
    this.#units = []
    while (units.length > 0) {
      try {
        const actions = units.flatMap((u) => u.actions)
        const done = this.#memory.act(actions, this.#options)
        if (done.batch !== null) this.#events.wrote(done.batch)
        let at = 0
        for (const unit of units) {
          this.#events.written(unit, done.results[at]!.id)
          at += unit.actions.length
        }
        return
      } catch (error) {
        const refused = new Map<Unit, Problem>()
        for (const problem of problemsOf(error)) {
          let index = problem.index
          const unit = units.find((u) => (index -= u.actions.length) < 0)
          if (unit && !refused.has(unit)) refused.set(unit, problem)
        }
        if (refused.size === 0) throw error
        for (const [unit, problem] of refused) this.#events.refused(unit, problem)
        units = units.filter((u) => !refused.has(u))
      }
    }
  }
}
