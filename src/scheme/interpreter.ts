/**
 * scheme: the query language. Reader, compiler, machine with budgets for steps, time and memory, builtins, printer. It
 * knows nothing of knowledge; `discover/` brings the functions that do.
 */

import { UserError } from '../errors.ts'
import { type Budget, BudgetError, DEFAULT_BUDGET, exceeded, Meter } from './budget.ts'
import { parseDataFor } from './builtins/data.ts'
import { compile } from './compile.ts'
import type { Shapes } from './entity-layout.ts'
import { expand, type Globals, Scope } from './expand.ts'
import { group, type Layout, printAll } from './layout.ts'
import { quote } from './lexical.ts'
import { builtin, builtinHelp, builtinNames } from './library.ts'
import { Machine } from './machine.ts'
import { Reader } from './reader.ts'
import { refusal } from './refusals.ts'
import { nearest } from './suggest.ts'
import { RULES } from './syntax.ts'
import type { Cell } from './tree.ts'
import { Builtin, type CallContext, isProcedure, Rec, SchemeError, Sym, type Value } from './values.ts'
import { layoutValue } from './write.ts'

/** A procedure the host offers. What it returns is a value: nothing a program does changes it. */
export interface HostFunction {
  name: string
  min: number
  /** Infinity for any number of arguments. */
  max: number
  about: string
  example: string
  run(args: Value[], ctx: CallContext): Value
}

/** A definition kept as the text it was read from, for what cannot be kept as data: procedures. */
export class Source {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export interface InterpreterOptions {
  functions?: readonly HostFunction[]
  /** Macros of the host: the whole form in, the form to evaluate instead out. */
  syntax?: Readonly<Record<string, (form: Value) => Value>>
  /** Asked for a global name this interpreter has not defined, before the builtins: what an earlier one defined. */
  lookup?(name: string): Value | Source | undefined
  /** Told of every global definition after its form has succeeded; a UserError thrown here takes the definition back. */
  onDefine?(name: string, value: Value, source: string): void
  budget?: Partial<Budget>
  shapes?: Shapes
  now?: () => number
}

export type Result = { value: Value } | { error: string; hint?: string }

export interface Interpreter {
  /** One printed value per top-level form. Never throws for what a program does: an error prints as `(error "…")`. */
  run(source: string): string[]
  evaluate(source: string): Result[]
  /** Every name a program can use, the host's included. */
  names(): string[]
}

/** Longer programs are refused before they are read. */
const MAX_SOURCE = 1_000_000
const MAX_ERROR = 2_000

export function createInterpreter(options: InterpreterOptions = {}): Interpreter {
  return new Session(options)
}

class Session implements Interpreter, Globals {
  readonly #options: InterpreterOptions
  readonly #budget: Budget
  readonly #now: () => number
  readonly #cells = new Map<string, Cell>()
  readonly #host = new Map<string, Value>()
  readonly #syntax: ReadonlyMap<string, (form: Value) => Value>

  constructor(options: InterpreterOptions) {
    this.#options = options
    this.#budget = { ...DEFAULT_BUDGET, ...options.budget }
    this.#now = options.now ?? (() => performance.now())
    this.#syntax = new Map(Object.entries(options.syntax ?? {}))
    this.#host.set('parse-data', parseDataFor(options.shapes).body as Value)
    this.#host.set('help', new Builtin('help', 1, 1, ([name]) => this.#help(name!)))
    for (const { name, min, max, run } of options.functions ?? [])
      this.#host.set(name, new Builtin(name, min, max, (args, ctx) => run(args, ctx) ?? null))
  }

  run(source: string): string[] {
    const layouts = this.evaluate(source).map((result) =>
      'value' in result ? layoutValue(result.value, this.#options.shapes) : errorLayout(result.error, result.hint),
    )
    return printAll(layouts, this.#budget.outputChars)
  }

  evaluate(source: string): Result[] {
    if (source.length > MAX_SOURCE) return [{ error: `a program has at most ${MAX_SOURCE} characters` }]
    const meter = new Meter(this.#budget, this.#now)
    const machine: Machine = new Machine(meter, (cell) => this.#resolve(cell, machine))
    try {
      return this.#evaluateForms(source, machine)
    } finally {
      meter.stop()
    }
  }

  #evaluateForms(source: string, machine: Machine): Result[] {
    const results: Result[] = []
    const reader = new Reader(source)
    let used = false
    for (;;) {
      const read = attempt(() => reader.next())
      if ('error' in read) return [...results, { error: read.error.message, hint: read.error.hint }]
      if (!read.value) return results
      if (results.length >= this.#budget.forms)
        return [
          ...results,
          { error: `more than ${this.#budget.forms} forms in one call`, hint: 'send the rest in another call' },
        ]
      if (used) {
        results.push({ error: 'not evaluated: an earlier form used up the execution budget' })
        continue
      }
      const { form, text } = read.value
      const done = attempt(() => this.#evaluateForm(form, text, machine))
      if ('error' in done) {
        used = done.error instanceof BudgetError && done.error.final
        results.push({ error: done.error.message, hint: done.error.hint })
      } else results.push(done)
    }
  }

  names(): string[] {
    return [
      ...new Set([
        ...RULES.keys(),
        ...this.#syntax.keys(),
        ...builtinNames(),
        ...this.#host.keys(),
        ...this.#cells.keys(),
      ]),
    ].sort()
  }

  /** What there is to say about a name, as a record; a host that knows more offers a `help` of its own. */
  #help(name: Value): Value {
    const wanted = typeof name === 'string' ? name : name instanceof Sym ? name.name : ''
    const host = this.#options.functions?.find((one) => one.name === wanted)
    const entry = host
      ? { signature: `(${wanted}${' x'.repeat(host.min)}${host.max > host.min ? ' …' : ''})`, ...host }
      : builtinHelp().get(wanted)
    if (!entry) {
      const reason = refusal(wanted)
      if (reason !== undefined) throw new SchemeError(`${wanted} is not offered: ${reason}`)
      throw new SchemeError(
        `help: nothing is called ${quote(wanted)}`,
        `near: ${nearest(wanted, this.names()).join(', ') || 'nothing'}`,
      )
    }
    const { signature, about, example } = entry
    return new Rec(new Map(Object.entries({ form: signature, about, example })))
  }

  #evaluateForm(form: Value, text: string, machine: Machine): Value {
    machine.defined.clear()
    const value = this.#perform(form, machine)
    const { onDefine } = this.#options
    if (!onDefine) return value
    try {
      for (const [cell, { isDefine }] of machine.defined)
        if (isDefine || !isProcedure(cell.value!)) onDefine(cell.name, cell.value!, text)
    } catch (error) {
      for (const [cell, { before }] of machine.defined) cell.value = before
      throw error
    }
    return value
  }

  #perform(form: Value, machine: Machine): Value {
    const scope = new Scope(this, RULES, { parent: undefined }, undefined, true)
    return machine.run(compile(expand(form, scope, true)))
  }

  /** The value of a global name that has none yet. */
  #resolve(cell: Cell, machine: Machine): Value {
    const kept = this.#options.lookup?.(cell.name)
    if (kept instanceof Source) this.#restore(kept, machine)
    else if (kept !== undefined) cell.value = kept
    cell.value ??= this.#host.get(cell.name) ?? builtin(cell.name)
    if (cell.value === undefined) throw this.#unbound(cell.name)
    return cell.value
  }

  /** Evaluates a kept definition; it is not told to `onDefine` again. */
  #restore(source: Source, machine: Machine): void {
    const reader = new Reader(source.text)
    const { isRecording } = machine
    machine.isRecording = false
    try {
      for (let read = reader.next(); read; read = reader.next()) this.#perform(read.form, machine)
    } finally {
      machine.isRecording = isRecording
    }
  }

  #unbound(name: string): SchemeError {
    const reason = refusal(name)
    if (reason !== undefined) return new SchemeError(`${name} is not offered: ${reason}`)
    const near = nearest(
      name,
      this.names().filter((other) => other !== name),
    )
    return new SchemeError(
      `unbound symbol: ${name}`,
      near.length > 0
        ? `did you mean ${near.join(', ')}?`
        : 'a text is written "in quotes"; (define name value) gives a name a value',
    )
  }

  // What the expander asks.

  cell(name: string): Cell {
    let cell = this.#cells.get(name)
    if (!cell) {
      cell = { name, value: undefined }
      this.#cells.set(name, cell)
    }
    return cell
  }

  builtin(name: string): Value {
    return builtin(name)!
  }

  syntax(name: string): ((form: Value) => Value) | undefined {
    return this.#syntax.get(name)
  }

  refusal(name: string): string | undefined {
    return refusal(name)
  }

  isDefined(name: string): boolean {
    return this.#cells.get(name)?.value !== undefined || this.#host.has(name)
  }
}

/** What a program or its author can do wrong is a result; anything else is a bug and goes on up. */
function attempt<T>(work: () => T): { value: T } | { error: SchemeError | UserError } {
  try {
    return { value: work() }
  } catch (error) {
    if (error instanceof SchemeError || error instanceof UserError) return { error }
    // The engine's own limits (string length, stack) behind ours: no program should get here, none may crash the host.
    if (error instanceof RangeError) return { error: exceeded('too large or too deep', 'ask for less at once') }
    throw error
  }
}

function errorLayout(message: string, hint = ''): Layout {
  const text = (all: string): Layout => ({
    type: 'text',
    text: all.length > MAX_ERROR ? all.slice(0, MAX_ERROR) + '…' : all,
  })
  const items = [() => text(message)]
  if (hint !== '') items.push(() => ({ type: 'pair', key: ':hint', value: text(hint) }))
  return group('(error', ')', items)
}
