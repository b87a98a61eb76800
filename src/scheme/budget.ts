import { SchemeError } from './values.ts'

/** What one run may use, unless the host says otherwise. Every limit ends in an error form, never in a crash. */
export const DEFAULT_BUDGET = {
  /** Procedure calls, loop turns and elements looked at inside builtins. */
  steps: 20_000_000,
  ms: 5_000,
  /** Pairs, slots, map entries and eighths of characters allocated: 80 bytes each at most, and as much again until they are collected. */
  cells: 1_000_000,
  /** Expressions that wait for the value of a part. */
  depth: 100_000,
  /** Characters printed, over all forms. */
  outputChars: 40_000,
  /** Characters printed of one value that is not one entity. */
  listChars: 40_000,
  forms: 512,
}
export type Budget = Readonly<typeof DEFAULT_BUDGET>

/** Exact integers stop here (about 39,000 digits): one multiplication of two such costs well under a millisecond. */
export const MAX_BITS = 131_072

/** Looking at the clock costs as much as a few steps, so it happens once per so many. */
const STEPS_PER_LOOK = 2_048

/** An error that ends the run, not just the form: what is left of the budget is nothing. */
export class BudgetError extends SchemeError {
  readonly final: boolean
  constructor(message: string, hint: string, final: boolean) {
    super(message, hint)
    this.final = final
  }
}

export const exceeded = (what: string, hint: string, final = false): BudgetError =>
  new BudgetError(`execution budget exceeded (${what})`, hint, final)

export class Meter {
  readonly budget: Budget
  readonly #now: () => number
  readonly #deadline: number
  #stepsLeft: number
  #cellsLeft: number
  /** Steps granted at the last look at the clock, and how many of them are left. */
  #granted: number
  #slack: number

  constructor(budget: Budget, now: () => number) {
    this.budget = budget
    this.#now = now
    this.#deadline = now() + budget.ms
    this.#stepsLeft = budget.steps
    this.#cellsLeft = budget.cells
    this.#granted = this.#slack = Math.min(STEPS_PER_LOOK, budget.steps)
  }

  step(): void {
    if (--this.#slack < 0) this.#look()
  }

  charge(steps: number): void {
    if ((this.#slack -= steps) < 0) this.#look()
  }

  alloc(cells: number): void {
    // A request that cannot be met takes nothing: the next form may still fit.
    const hint = 'build less: filter before map, take fewer, or do not keep what grows'
    if (cells > this.#cellsLeft) throw exceeded(`${this.budget.cells} cells`, hint)
    this.#cellsLeft -= cells
  }

  /** What is done from now on is not counted: printing has limits of its own. Returns how many cells were made. */
  stop(): number {
    const made = this.budget.cells - this.#cellsLeft
    this.#cellsLeft = this.#slack = Number.POSITIVE_INFINITY
    return made
  }

  #look(): void {
    this.#stepsLeft -= this.#granted - this.#slack
    this.#granted = this.#slack = Math.max(0, Math.min(STEPS_PER_LOOK, this.#stepsLeft))
    if (this.#stepsLeft < 0) throw exceeded(`${this.budget.steps} steps`, ASK_LESS, true)
    if (this.#now() >= this.#deadline) throw exceeded(`${this.budget.ms}ms`, ASK_LESS, true)
  }
}

/** Programs that make less leave little behind. */
const MANY_CELLS = 50_000

let collectNow: (() => void) | undefined

/** Collects garbage after a large program, which V8 would put off; takes 10 to 40 ms. */
export function giveBack(cells: number): void {
  if (cells < MANY_CELLS) return
  if (!collectNow) {
    process.getBuiltinModule('node:v8').setFlagsFromString('--expose-gc')
    collectNow = process.getBuiltinModule('node:vm').runInNewContext('gc') as () => void
  }
  collectNow()
}

const ASK_LESS = 'is there a loop that does not end? ask for less at once'
