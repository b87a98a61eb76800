import { checkArity, WrongArgument } from './argument-types.ts'
import { exceeded, type Meter } from './budget.ts'
import { type Args, access, Builtin, type CallContext, type Cell, Closure, Env, elements, isTrue, Keyword, type Lambda, type Local, list, type Node, SchemeError, Sym, UNSPECIFIED, type Value } from './values.ts' // biome-ignore format: one line of names
import { brief } from './write.ts'

/** Calls of the program from inside builtins of the host use the JS stack: more than so many are refused. */
const MAX_REENTRY = 100
/** Arguments that wait for others, over all frames: a bound on memory where frames are few but wide. */
const MAX_WAITING = 4_000_000

/** Handled by the machine itself, so that the call it makes is a tail call. */
export const APPLY = new Builtin('apply', 2, Number.POSITIVE_INFINITY, () => {
  throw new SchemeError('apply cannot be called from here')
})

const NO_ARGS: Value[] = []

interface Defined {
  readonly before: Value | undefined
  /** Whether the new value was made with the one before; unknown until it is there. */
  usesEarlier: boolean | undefined
}

/** Runs a program with a stack of its own: deep recursion does not use the JavaScript stack, and tail calls never wait. */
export class Machine implements CallContext {
  readonly #meter: Meter
  readonly #resolve: (cell: Cell) => Value
  /** Expressions that wait for the value of a part of them; `at` says of which, `args` holds those they have. */
  readonly #frames: { node: Node; env: Env | undefined; args: (Value | undefined)[]; at: number }[] = []
  #waiting = 0
  #reentry = 0
  /** Globals given a value by the current form; off while a kept definition is restored. */
  readonly defined = new Map<Cell, Defined>()
  isRecording = true

  constructor(meter: Meter, resolve: (cell: Cell) => Value) {
    this.#meter = meter
    this.#resolve = (cell) => {
      const before = this.defined.get(cell)?.before
      return before === undefined ? resolve(cell) : (cell.value = before)
    }
  }

  charge(steps: number): void {
    this.#meter.charge(steps)
  }

  alloc(cells: number): void {
    this.#meter.alloc(cells)
  }

  call(procedure: Value, args: Value[]): Value {
    if (this.#reentry >= MAX_REENTRY)
      throw exceeded(`${MAX_REENTRY} nested calls from builtins`, 'recurse in Scheme instead')
    const constants = args.map((value): Node => ({ op: 'const', value }))
    return this.run({ op: 'call', target: { op: 'const', value: procedure }, args: constants, isFlat: true })
  }

  run(node: Node): Value {
    const floor = this.#frames.length
    const waiting = this.#waiting
    this.#reentry++
    try {
      return this.#evaluate(node, floor)
    } finally {
      this.#reentry--
      this.#frames.length = floor
      this.#waiting = waiting
    }
  }

  #evaluate(start: Node, floor: number): Value {
    const frames = this.#frames
    let node = start
    let env: Env | undefined
    /** What `node` gave, once it has: the frame on top goes on with it. */
    let value: Value | undefined
    for (;;) {
      let args: (Value | undefined)[] = NO_ARGS
      let at = 0
      if (value === undefined) value = this.#atOnce(node, env)
      if (value === undefined) {
        if (node.op === 'call') args = new Array(node.args.length)
        else if (node.op === 'let') args = new Array(node.size)
      } else if (frames.length > floor) {
        ;({ node, env, args, at } = frames.pop()!)
        this.#waiting -= args.length
      } else return value

      switch (node.op) {
        case 'if': {
          if (value === undefined) value = this.#atOnce(node.test, env)
          if (value === undefined) {
            this.#wait(node, env, args, at)
            node = node.test
          } else {
            node = isTrue(value) ? node.yes : node.no
            value = undefined
          }
          continue
        }
        case 'seq': {
          const { nodes, stop } = node
          for (; at < nodes.length - 1; at++) {
            if (value === undefined) value = this.#atOnce(nodes[at]!, env)
            if (value === undefined || (stop !== undefined && isTrue(value) === stop)) break
            value = undefined
          }
          if (value !== undefined) continue
          if (at < nodes.length - 1) this.#wait(node, env, args, at)
          node = nodes[at]!
          continue
        }
        case 'set':
        case 'define': {
          if (value !== undefined) value = this.#assign(node, env, value)
          else {
            if (node.op === 'define') this.#hide(node.cell)
            this.#wait(node, env, args, at)
            node = node.value
          }
          continue
        }
        case 'let':
        case 'call': {
          const parts: readonly Node[] = node.args
          if (at < parts.length) {
            if (value !== undefined) args[at++] = value
            for (; at < parts.length; at++) {
              value = this.#atOnce(parts[at]!, env)
              if (value === undefined) break
              args[at] = value
            }
            value = undefined
          }
          if (at < parts.length) {
            this.#wait(node, env, args, at)
            node = parts[at]!
            continue
          }
          if (node.op === 'let') {
            env = new Env(args, env)
            node = node.body
            continue
          }
          if (value === undefined) value = this.#atOnce(node.target, env)
          if (value === undefined) {
            this.#wait(node, env, args, at)
            node = node.target
            continue
          }
          let target: Value = value
          let given = args as Value[]
          this.#meter.step()
          while (target === APPLY) [target, given] = this.#spread(given)
          if (!(target instanceof Closure)) value = this.#callBuiltin(target, given)
          else {
            env = new Env(this.#bind(target.lambda, given), target.env)
            node = target.lambda.body
            value = undefined
          }
          continue
        }
        default:
          throw new Error(`${node.op} does not wait`)
      }
    }
  }

  /** The value of what needs no call of a closure, else undefined. */
  #atOnce(node: Node, env: Env | undefined): Value | undefined {
    switch (node.op) {
      case 'const':
        return node.value
      case 'local':
        return this.#local(node, env)
      case 'global':
        return node.cell.value === undefined ? this.#resolve(node.cell) : node.cell.value
      case 'lambda':
        return this.#close(node, env)
      case 'call': {
        if (!node.isFlat) return undefined
        const target = this.#atOnce(node.target, env) as Value
        if (target instanceof Closure || target === APPLY) return undefined
        const { length } = node.args
        const args: Value[] = new Array(length)
        for (let i = 0; i < length; i++) args[i] = this.#atOnce(node.args[i]!, env) as Value
        this.#meter.step()
        return this.#callBuiltin(target, args)
      }
    }
  }

  #local({ depth, index, name }: Local, env: Env | undefined): Value {
    let scope = env!
    for (let n = depth; n > 0; n--) scope = scope.up!
    const value = scope.vars[index]
    if (value === undefined)
      throw new SchemeError(`${name} is used before it has a value`, 'define it above its first use')
    return value
  }

  #close(lambda: Lambda, env: Env | undefined): Closure {
    let cells = 2
    for (let scope = env; scope !== undefined && !scope.isPaid; scope = scope.up) {
      scope.isPaid = true
      cells += 1 + scope.vars.length
    }
    this.#meter.alloc(cells)
    return new Closure(lambda, env)
  }

  #wait(node: Node, env: Env | undefined, args: (Value | undefined)[], at: number): void {
    this.#waiting += args.length
    if (this.#frames.length >= this.#meter.budget.depth || this.#waiting > MAX_WAITING) {
      const hint = 'make the recursive call the last thing done, or use fold'
      throw exceeded(`${this.#meter.budget.depth} calls deep`, hint)
    }
    this.#frames.push({ node, env, args, at })
  }

  /** Hides the earlier value of a name while a definition of it is evaluated, so that a look at it is noticed. */
  #hide(cell: Cell): void {
    if (!this.isRecording || this.defined.has(cell)) return
    this.defined.set(cell, { before: cell.value, usesEarlier: undefined })
    cell.value = undefined
  }

  #assign(node: Node & { op: 'set' | 'define' }, env: Env | undefined, value: Value): Value {
    if (node.op === 'set' && node.to.op === 'local') {
      let scope = env!
      for (let n = node.to.depth; n > 0; n--) scope = scope.up!
      scope.vars[node.to.index] = value
      return UNSPECIFIED
    }
    const isDefine = node.op === 'define'
    const cell = isDefine ? node.cell : (node.to as { cell: Cell }).cell
    if (!isDefine && cell.value === undefined) this.#resolve(cell)
    if (this.isRecording) {
      const defined = this.defined.get(cell)
      if (defined) defined.usesEarlier ??= cell.value !== undefined
      else this.defined.set(cell, { before: cell.value, usesEarlier: true })
    }
    cell.value = value
    return isDefine ? new Sym(cell.name) : UNSPECIFIED
  }

  #spread(args: Value[]): [Value, Value[]] {
    checkArity(APPLY.name, args.length, APPLY.min, APPLY.max)
    const last = args.at(-1) as Value
    const items = elements(last)
    if (!items) throw new SchemeError(`apply: the last argument must be a list, got ${brief(last)}`)
    this.#meter.charge(items.length)
    return [args[0]!, args.slice(1, -1).concat(items)]
  }

  #bind({ name, params, rest }: Lambda, args: Value[]): Value[] {
    const { length } = args
    if (length === params && !rest) return args
    checkArity(name || 'lambda', length, params, rest ? Number.POSITIVE_INFINITY : params)
    this.#meter.alloc(length - params)
    return [...args.slice(0, params), list(args.slice(params))]
  }

  #callBuiltin(target: Value, args: Value[]): Value {
    if (target instanceof Builtin) {
      const { name, min, max, run } = target
      if (args.length < min || args.length > max) checkArity(name, args.length, min, max)
      try {
        return run(args as Args, this)
      } catch (error) {
        throw error instanceof WrongArgument ? error.of(name) : error
      }
    }
    if (target instanceof Keyword) {
      checkArity(`:${target.name}`, args.length, 1, 2)
      return access(args[0]!, target.name, args[1] ?? null)
    }
    const hint = 'the first thing in ( ) is called; a list of data is (list …) or [ … ]'
    throw new SchemeError(`not a procedure: ${brief(target)}`, hint)
  }
}
