import type { ActOptions, Memory } from '../../memory.ts'
import type { Problem } from '../../model/validate.ts'
import { type Action, MAX_ACTIONS, problemsOf } from '../../write/batch.ts'
import type { Item } from './types.ts'

/** Actions that belong together, and what to note once they are written. */
export interface Unit {
  readonly item: Item
  readonly actions: Action[]
  /** What it counts as in the report; nothing for what only follows from something else. */
  readonly kind: string
  readonly created: boolean
  /** The id the first action writes to, where it is known. */
  readonly id?: string
}

export interface QueueEvents {
  written(unit: Unit, id: string): void
  refused(unit: Unit, problem: Problem): void
}

/** Collects units into batches. What is refused is taken out and told, and the rest is written without it. */
export class Queue {
  /** Batches written. */
  readonly batches: string[] = []
  readonly #memory: Memory
  readonly #options: ActOptions
  readonly #events: QueueEvents
  #units: Unit[] = []
  #actions = 0
  readonly #ids = new Set<string>()
  /** Kinds or relations wait to be written: what uses them has to wait for it. */
  #defines = false

  constructor(memory: Memory, options: ActOptions, events: QueueEvents) {
    this.#memory = memory
    this.#options = options
    this.#events = events
  }

  get isEmpty(): boolean {
    return this.#units.length === 0
  }

  /** Whether something by this id or name waits to be written. */
  holds(id: string): boolean {
    return this.#ids.has(id)
  }

  add(unit: Unit): void {
    if (this.#actions + unit.actions.length > MAX_ACTIONS) this.flush()
    this.#units.push(unit)
    this.#actions += unit.actions.length
    for (const id of [unit.id, unit.item.as]) if (id !== undefined) this.#ids.add(id)
    if (unit.item.verb.startsWith('define-')) this.#defines = true
  }

  /** Writes what the next action may build on as a kind or relation. */
  settleDefinitions(): void {
    if (this.#defines) this.flush()
  }

  flush(): void {
    let units = this.#units
    this.#units = []
    this.#actions = 0
    this.#ids.clear()
    this.#defines = false
    while (units.length > 0) {
      try {
        const done = this.#memory.act(
          units.flatMap((u) => u.actions),
          this.#options,
        )
        if (done.batch !== null) this.batches.push(done.batch)
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
