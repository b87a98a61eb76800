/**
 * scheme: the query language. Reader, expander, machine with budgets for steps, time and memory, builtins, printer. It
 * knows nothing of knowledge; `discover/` brings the functions that do.
 */

import { UserError } from '../base/errors.ts'
import { keptIn } from '../base/lookup.ts'
import { nearest } from '../model/names.ts'
import { str } from './argument-types.ts'
import { type Budget, BudgetError, DEFAULT_BUDGET, exceeded, giveBack, Meter } from './budget.ts'
import { fromData, parseData } from './data.ts'
import { type Definition, declare } from './define.ts'
import { expand, type Globals, Scope } from './expand.ts'
import { limited, printAll } from './layout.ts'
import { builtin, builtinHelp, valueFor } from './library.ts'
import { Machine } from './machine.ts'
import { Reader } from './reader.ts'
import { refusal } from './refusals.ts'
import { type Cell, Empty, Entity, Many, Pair, Rec, type Run, SchemeError, type Value, Vec } from './values.ts'
import { layoutValue, type Shapes } from './write.ts'

/** A definition kept as the text it was read from, for what cannot be kept as data: procedures. */
export class Source {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export interface InterpreterOptions {
  /** What the host offers, as `declare` reads it. What it returns is a value: nothing a program does changes it. */
  functions?: Readonly<Record<string, Run>>
  /** Macros of the host: the whole form in, the form to evaluate instead out. */
  syntax?: Readonly<Record<string, (form: Value) => Value>>
  /** Asked for a global that is not defined here, before the builtins. `alloc` pays for a value before it is made. */
  lookup?(name: string, alloc: (cells: number) => void): Value | Source | undefined
  /** Told of every definition after its form succeeded; a UserError takes it back. `usesEarlier`: its source alone cannot remake it. */
  onDefine?(name: string, value: Value, source: string, usesEarlier: boolean): void
  budget?: Partial<Budget>
  shapes?: Shapes
  now?: () => number
}

export type Result = { value: Value } | { error: string; hint?: string }

const MAX_SOURCE = 1_000_000
const MAX_ERROR = 2_000

export const createInterpreter = (options: InterpreterOptions = {}): Interpreter => new Interpreter(options)

class Interpreter implements Globals {
  readonly #options: InterpreterOptions
  readonly #budget: Budget
  #made = 0
  readonly #cells = new Map<string, Cell>()
  readonly #host: Map<string, Definition<Run>>
  /** Kept definitions that are being evaluated: in their source the name means what it meant without them. */
  readonly #restoring = new Set<string>()

  constructor(options: InterpreterOptions) {
    this.#options = options
    this.#budget = { ...DEFAULT_BUDGET, ...options.budget }
    this.#host = declare<Run>({
      '(parse-data text) | The value that printed data says. | (parse-data "{:a [b \\"c d\\"]}")': ([text], ctx) => {
        ctx.charge(str(text).length)
        ctx.alloc(str(text).length)
        return fromData(parseData(str(text), options.shapes))
      },
      ...options.functions,
    })
  }

  /** One printed value per top-level form. Never throws for what a program does: an error prints as `(error "…")`. */
  run(source: string): string[] {
    const values = this.evaluate(source).map((one) => ('value' in one ? one.value : errorEntity(one.error, one.hint)))
    const { outputChars, listChars } = this.#budget
    const layouts = values.map((value) => {
      const layout = layoutValue(value, this.#options.shapes, outputChars)
      return listChars < outputChars && isSeveral(value) ? limited(layout, listChars) : layout
    })
    const printed = printAll(layouts, outputChars)
    values.length = 0
    giveBack(this.#made)
    return printed
  }

  evaluate(source: string): Result[] {
    if (source.length > MAX_SOURCE) return [{ error: `a program has at most ${MAX_SOURCE} characters` }]
    const meter = new Meter(this.#budget, this.#options.now ?? (() => performance.now()))
    const machine: Machine = new Machine(meter, (cell) => this.#resolve(cell, machine))
    try {
      return this.#evaluateForms(new Reader(source), machine)
    } finally {
      this.#made = meter.stop()
    }
  }

  #evaluateForms(reader: Reader, machine: Machine): Result[] {
    const results: Result[] = []
    const fail = ({ message, hint }: SchemeError | UserError): void => void results.push({ error: message, hint })
    let isUsedUp = false
    for (;;) {
      const read = attempt(() => reader.next())
      if ('error' in read) fail(read.error)
      if ('error' in read || !read.value) return results
      const { form, text } = read.value
      if (results.length >= this.#budget.forms) {
        fail(new SchemeError(`more than ${this.#budget.forms} forms in one call`, 'send the rest in another call'))
        return results
      }
      if (isUsedUp) {
        fail(new SchemeError('not evaluated: an earlier form used up the execution budget'))
        continue
      }
      const done = attempt(() => this.#evaluateForm(form, text, machine))
      if ('value' in done) results.push(done)
      else {
        fail(done.error)
        isUsedUp = done.error instanceof BudgetError && done.error.final
      }
    }
  }

  #evaluateForm(form: Value, text: string, machine: Machine): Value {
    machine.defined.clear()
    try {
      const value = machine.run(expand(form, new Scope(this)))
      for (const [cell, { usesEarlier }] of machine.defined)
        this.#options.onDefine?.(cell.name, cell.value!, text, usesEarlier === true)
      return value
    } catch (error) {
      for (const [cell, { before }] of machine.defined) cell.value = before
      throw error
    }
  }

  #resolve(cell: Cell, machine: Machine): Value {
    const kept = this.#restoring.has(cell.name)
      ? undefined
      : this.#options.lookup?.(cell.name, (cells) => machine.alloc(cells))
    if (kept instanceof Source) this.#restore(cell.name, kept, machine)
    else if (kept !== undefined) cell.value = kept
    if (cell.value !== undefined) return cell.value
    const host = this.#host.get(cell.name)
    cell.value = host ? valueFor(host) : builtin(cell.name)
    if (cell.value === undefined) throw this.#unbound(cell.name)
    return cell.value
  }

  /** Evaluates a kept definition; it is not told to `onDefine` again. */
  #restore(name: string, source: Source, machine: Machine): void {
    const reader = new Reader(source.text)
    const { isRecording } = machine
    machine.isRecording = false
    this.#restoring.add(name)
    try {
      for (let read = reader.next(); read; read = reader.next()) machine.run(expand(read.form, new Scope(this)))
    } finally {
      machine.isRecording = isRecording
      this.#restoring.delete(name)
    }
  }

  #unbound(name: string): SchemeError {
    if (this.#restoring.has(name))
      return new SchemeError(`${name} was made from an earlier ${name}, which is not kept`, 'define it anew')
    const reason = refusal(name)
    if (reason !== undefined) return new SchemeError(`${name} is not offered: ${reason}`)
    const own = [...this.#cells.values()].filter((cell) => cell.value !== undefined).map((cell) => cell.name)
    const names = [...builtinHelp().keys(), ...this.#host.keys(), ...Object.keys(this.#options.syntax ?? {}), ...own]
    const near = nearest(name, new Set(names))
    const hint =
      near.length > 0
        ? `did you mean ${near.join(', ')}?`
        : 'a text is written "in quotes"; (define name value) gives a name a value'
    return new SchemeError(`unbound symbol: ${name}`, hint)
  }

  // What the expander asks.

  cell(name: string): Cell {
    return keptIn(this.#cells, name, () => ({ name, value: undefined }))
  }

  builtin(name: string): Value {
    return builtin(name)!
  }

  syntax(name: string): ((form: Value) => Value) | undefined {
    const macros = this.#options.syntax
    return macros && Object.hasOwn(macros, name) ? macros[name] : undefined
  }

  refusal(name: string): string | undefined {
    return refusal(name)
  }

  isDefined(name: string): boolean {
    return this.#cells.get(name)?.value !== undefined || this.#host.has(name)
  }
}

/** What is made of several parts, and is not one entity, alone or in a list. */
function isSeveral(value: Value): boolean {
  let only = value
  while (only instanceof Pair && only.cdr instanceof Empty) only = only.car
  return only instanceof Pair || only instanceof Rec || only instanceof Vec || only instanceof Many
}

/** What a program or its author can do wrong is a result; anything else is a bug and goes on up. */
function attempt<T>(work: () => T): { value: T } | { error: SchemeError | UserError } {
  try {
    return { value: work() }
  } catch (error) {
    if (error instanceof SchemeError || error instanceof UserError) return { error }
    // the engine's own limits (string length, stack): for code nested by expansion, and behind our own limits
    if (error instanceof RangeError) return { error: exceeded('too large or too deep', 'ask for less at once') }
    throw error
  }
}

function errorEntity(message: string, hint = ''): Entity {
  const told = Object.entries({ message, hint }).filter(([, text]) => text !== '')
  const short = (text: string): string => (text.length > MAX_ERROR ? text.slice(0, MAX_ERROR) + '…' : text)
  return new Entity('error', new Map(told.map(([name, text]) => [name, short(text)])))
}
