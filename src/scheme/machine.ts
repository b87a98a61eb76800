import { arityError, checkArity } from './arity.ts'
import { exceeded, type Meter } from './budget.ts'
import { Box } from './compile.ts'
import { brief } from './excerpt.ts'
import { access } from './fields.ts'
import type { Cell } from './tree.ts'
import {
  Builtin,
  type CallContext,
  Closure,
  EMPTY,
  elements,
  Keyword,
  list,
  SchemeError,
  Sym,
  type Template,
  UNSPECIFIED,
  type Value,
} from './values.ts'

/** Calls of the program from inside builtins of the host use the JS stack: more than so many are refused. */
const MAX_REENTRY = 100
/** Slots of the machine's stack: a bound on memory where frames are few but wide. */
const MAX_SLOTS = 4_000_000

/** Handled by the machine itself, so that the call it makes is a tail call. */
export const APPLY = new Builtin('apply', 1, Number.POSITIVE_INFINITY, () => {
  throw new SchemeError('apply cannot be called from here')
})

/** Runs compiled code on a stack of its own: however deep a program recurses, JavaScript does not. */
export class Machine implements CallContext {
  readonly #meter: Meter
  readonly #resolve: (cell: Cell) => Value
  readonly #stack: unknown[] = []
  readonly #closures: Closure[] = []
  readonly #returns: number[] = []
  readonly #bases: number[] = []
  #frames = 0
  #top = 0
  #reentry = 0
  /** Globals given a value by the current form, with the value they had; off while a kept definition is restored. */
  readonly defined = new Map<Cell, { before: Value | undefined; isDefine: boolean }>()
  isRecording = true

  constructor(meter: Meter, resolve: (cell: Cell) => Value) {
    this.#meter = meter
    this.#resolve = resolve
  }

  charge(steps: number): void {
    this.#meter.charge(steps)
  }

  alloc(cells: number): void {
    this.#meter.alloc(cells)
  }

  call(procedure: Value, args: Value[]): Value {
    this.#meter.step()
    if (procedure instanceof Builtin && procedure !== APPLY) {
      checkArity(procedure.name, args.length, procedure.min, procedure.max)
      return procedure.run(args, this)
    }
    if (this.#reentry >= MAX_REENTRY)
      throw exceeded(`${MAX_REENTRY} nested calls from builtins`, 'recurse in Scheme instead')
    const top = this.#top
    const frames = this.#frames
    this.#reentry++
    try {
      return this.#execute(new Closure(CALLERS[args.length] ?? callerOf(args.length), []), [...args, procedure])
    } finally {
      this.#reentry--
      this.#top = top
      this.#frames = frames
    }
  }

  run(template: Template): Value {
    return this.call(new Closure(template, []), [])
  }

  #assign(cell: Cell, value: Value, isDefine: boolean): void {
    const earlier = this.defined.get(cell)
    if (earlier) earlier.isDefine ||= isDefine
    else if (this.isRecording) this.defined.set(cell, { before: cell.value, isDefine })
    cell.value = value
  }

  /** Runs `start` with its arguments until it returns. */
  #execute(start: Closure, args: readonly Value[]): Value {
    const stack = this.#stack
    const meter = this.#meter
    const floor = this.#frames
    let closure = start
    let { code, consts } = start.template
    let pc = 0
    let fp = this.#top
    let sp = fp
    for (const arg of args) stack[sp++] = arg

    for (;;) {
      let target: unknown
      let count: number
      let isTail: boolean
      switch (code[pc++]) {
        case 0: // CONST
          stack[sp++] = consts[code[pc++]!]
          continue
        case 1: // LOCAL
          stack[sp++] = stack[fp + code[pc++]!]
          continue
        case 2: {
          // LOCAL_CHECKED
          const value = stack[fp + code[pc++]!]
          if (value === undefined) throw unassigned(consts[code[pc]!] as string)
          pc++
          stack[sp++] = value
          continue
        }
        case 3: {
          // LOCAL_BOX
          const box = stack[fp + code[pc++]!] as Box
          if (box.value === undefined) throw unassigned(box.name)
          stack[sp++] = box.value
          continue
        }
        case 4: // FREE
          stack[sp++] = closure.free[code[pc++]!]
          continue
        case 5: {
          // FREE_BOX
          const box = closure.free[code[pc++]!] as Box
          if (box.value === undefined) throw unassigned(box.name)
          stack[sp++] = box.value
          continue
        }
        case 6: {
          // GLOBAL
          const cell = consts[code[pc++]!] as Cell
          if (cell.value === undefined) this.#top = sp
          stack[sp++] = cell.value === undefined ? this.#resolve(cell) : cell.value
          continue
        }
        case 7: // SET_LOCAL
          stack[fp + code[pc++]!] = stack[sp - 1]
          stack[sp - 1] = UNSPECIFIED
          continue
        case 8: // SET_LOCAL_BOX
          ;(stack[fp + code[pc++]!] as Box).value = stack[sp - 1]
          stack[sp - 1] = UNSPECIFIED
          continue
        case 9: // SET_FREE_BOX
          ;(closure.free[code[pc++]!] as Box).value = stack[sp - 1]
          stack[sp - 1] = UNSPECIFIED
          continue
        case 10: {
          // SET_GLOBAL
          const cell = consts[code[pc++]!] as Cell
          if (cell.value === undefined) {
            this.#top = sp
            this.#resolve(cell)
          }
          this.#assign(cell, stack[sp - 1] as Value, false)
          stack[sp - 1] = UNSPECIFIED
          continue
        }
        case 11: {
          // DEFINE
          const cell = consts[code[pc++]!] as Cell
          this.#assign(cell, stack[sp - 1] as Value, true)
          stack[sp - 1] = new Sym(cell.name)
          continue
        }
        case 12: // POP
          sp--
          continue
        case 13: {
          // SLIDE
          const value = stack[sp - 1]
          sp -= code[pc++]!
          stack[sp - 1] = value
          continue
        }
        case 14: // JUMP
          pc = code[pc]!
          continue
        case 15: {
          // JUMP_FALSE
          const value = stack[--sp]
          pc = value === false || value === null ? code[pc]! : pc + 1
          continue
        }
        case 16: {
          // JUMP_FALSE_KEEP
          const value = stack[sp - 1]
          if (value === false || value === null) pc = code[pc]!
          else {
            sp--
            pc++
          }
          continue
        }
        case 17: {
          // JUMP_TRUE_KEEP
          const value = stack[sp - 1]
          if (value === false || value === null) {
            sp--
            pc++
          } else pc = code[pc]!
          continue
        }
        case 18: {
          // CLOSURE
          const template = consts[code[pc++]!] as Template
          const { captures } = template
          const free: unknown[] = new Array(captures.length)
          for (let i = 0; i < captures.length; i++) {
            const from = captures[i]!
            free[i] = from >= 0 ? stack[fp + from] : closure.free[~from]
          }
          meter.alloc(2 + captures.length)
          stack[sp++] = new Closure(template, free)
          continue
        }
        case 19: // CALL
          count = code[pc++]!
          target = stack[--sp]
          isTail = false
          break
        case 20: // TAIL_CALL
          count = code[pc++]!
          target = stack[--sp]
          isTail = true
          break
        case 21: // CALL_GLOBAL
        case 22: {
          // TAIL_CALL_GLOBAL
          isTail = code[pc - 1] === 22
          const cell = consts[code[pc++]!] as Cell
          count = code[pc++]!
          target = cell.value
          if (target === undefined) {
            this.#top = sp
            target = this.#resolve(cell)
          }
          break
        }
        case 23: {
          // RETURN
          const value = stack[sp - 1]
          if (this.#frames === floor) return value as Value
          const frame = --this.#frames
          sp = fp
          stack[sp++] = value
          closure = this.#closures[frame]!
          pc = this.#returns[frame]!
          fp = this.#bases[frame]!
          code = closure.template.code
          consts = closure.template.consts
          continue
        }
        case 24: {
          // BOX
          const slot = fp + code[pc++]!
          meter.alloc(1)
          stack[slot] = new Box(stack[slot], consts[code[pc++]!] as string)
          continue
        }
        case 25: {
          // LOOP
          const base = fp + code[pc++]!
          const width = code[pc++]!
          const from = sp - width
          for (let i = 0; i < width; i++) stack[base + i] = stack[from + i]
          sp = base + width
          pc = code[pc]!
          meter.step()
          continue
        }
        case 26: // UNASSIGNED
          stack[sp++] = undefined
          continue
        default:
          throw new Error('no such instruction')
      }

      // A call: `count` arguments on top of the stack, `target` to be called with them.
      meter.step()
      while (target === APPLY) {
        if (count < 2) throw new SchemeError('apply: expects a procedure and a list', '(apply + (list 1 2 3))')
        const items = elements(stack[--sp] as Value)
        if (!items) throw new SchemeError(`apply: the last argument must be a list, got ${brief(stack[sp] as Value)}`)
        meter.charge(items.length)
        const first = sp - count + 1
        target = stack[first]
        for (let i = first; i < sp - 1; i++) stack[i] = stack[i + 1]
        sp--
        if (sp + items.length > MAX_SLOTS) throw exceeded(`${MAX_SLOTS} arguments`, 'use fold instead of apply')
        for (const item of items) stack[sp++] = item
        count = count - 2 + items.length
      }
      if (target instanceof Closure) {
        const { template } = target
        if (count !== template.params) {
          if (!template.rest || count < template.params) {
            throw arityError(
              template.name || 'lambda',
              count,
              template.params,
              template.rest ? Number.POSITIVE_INFINITY : template.params,
            )
          }
        }
        if (template.rest) {
          const extra = count - template.params
          meter.alloc(extra)
          const rest = extra === 0 ? EMPTY : list(stack.slice(sp - extra, sp) as Value[])
          sp -= extra
          stack[sp++] = rest
          count = template.params + 1
        }
        if (isTail) {
          const from = sp - count
          for (let i = 0; i < count; i++) stack[fp + i] = stack[from + i]
          sp = fp + count
        } else {
          const frame = this.#frames++
          if (frame >= meter.budget.depth || sp > MAX_SLOTS) {
            throw exceeded(
              `${meter.budget.depth} calls deep`,
              'make the recursive call the last thing done, or use fold',
            )
          }
          this.#closures[frame] = closure
          this.#returns[frame] = pc
          this.#bases[frame] = fp
          fp = sp - count
        }
        closure = target
        code = template.code
        consts = template.consts
        pc = 0
        continue
      }
      let result: Value
      if (target instanceof Builtin) {
        this.#top = sp
        if (count === 2 && target.two !== undefined) {
          result = target.two(stack[sp - 2] as Value, stack[sp - 1] as Value, this)
        } else if (count === 1 && target.one !== undefined) {
          result = target.one(stack[sp - 1] as Value, this)
        } else {
          if (count < target.min || count > target.max) throw arityError(target.name, count, target.min, target.max)
          result = target.run(stack.slice(sp - count, sp) as Value[], this)
        }
      } else if (target instanceof Keyword) {
        checkArity(`:${target.name}`, count, 1, 2)
        result = access(stack[sp - count] as Value, target.name, count === 2 ? (stack[sp - 1] as Value) : null)
      } else {
        throw new SchemeError(
          `not a procedure: ${brief(target as Value)}`,
          'the first thing in ( ) is called; a list of data is (list …) or [ … ]',
        )
      }
      sp -= count
      stack[sp++] = result
      if (!isTail) continue
      if (this.#frames === floor) return result
      const frame = --this.#frames
      sp = fp
      stack[sp++] = result
      closure = this.#closures[frame]!
      pc = this.#returns[frame]!
      fp = this.#bases[frame]!
      code = closure.template.code
      consts = closure.template.consts
    }
  }
}

/** Code that calls its last argument with the others: how a call from outside enters the machine. */
const CALLERS: Template[] = []
function callerOf(count: number): Template {
  const code: number[] = []
  for (let i = 0; i <= count; i++) code.push(1, i)
  const template = {
    name: '',
    code: Int32Array.from([...code, 20, count]),
    consts: [],
    params: count + 1,
    rest: false,
    captures: [],
  }
  if (count < 8) CALLERS[count] = template
  return template
}

const unassigned = (name: string): SchemeError =>
  new SchemeError(`${name} is used before it has a value`, 'define it above its first use')
