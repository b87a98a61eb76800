import type { Lambda, Node, Variable } from './tree.ts'
import { type Template, UNSPECIFIED } from './values.ts'

/**
 * The machine's instructions. The numbers are repeated as literals in machine.ts: V8 makes a jump table of a switch
 * only then, and it is worth a third of the running time.
 */
export const OP = {
  CONST: 0,
  LOCAL: 1,
  LOCAL_CHECKED: 2,
  LOCAL_BOX: 3,
  FREE: 4,
  FREE_BOX: 5,
  GLOBAL: 6,
  SET_LOCAL: 7,
  SET_LOCAL_BOX: 8,
  SET_FREE_BOX: 9,
  SET_GLOBAL: 10,
  DEFINE: 11,
  POP: 12,
  SLIDE: 13,
  JUMP: 14,
  JUMP_FALSE: 15,
  JUMP_FALSE_KEEP: 16,
  JUMP_TRUE_KEEP: 17,
  CLOSURE: 18,
  CALL: 19,
  TAIL_CALL: 20,
  CALL_GLOBAL: 21,
  TAIL_CALL_GLOBAL: 22,
  RETURN: 23,
  BOX: 24,
  LOOP: 25,
  UNASSIGNED: 26,
} as const

/** Where an assigned and captured variable lives, so that all closures see one place. */
export class Box {
  value: unknown
  readonly name: string
  constructor(value: unknown, name: string) {
    this.value = value
    this.name = name
  }
}

const isBoxed = (variable: Variable): boolean => variable.assigned && variable.captured

/** The code of one lambda while it is being made. */
class Draft {
  readonly parent: Draft | undefined
  readonly code: number[] = []
  readonly consts: unknown[] = []
  readonly slots = new Map<Variable, number>()
  readonly free: Variable[] = []
  readonly captures: number[] = []
  /** Loops that run in place: where their variables are and where a turn begins. */
  readonly loops: Map<Variable, { base: number; head: number }> = new Map()
  depth = 0

  constructor(parent?: Draft) {
    this.parent = parent
  }

  emit(op: number, ...operands: number[]): void {
    this.code.push(op, ...operands)
  }

  /** Emits a jump whose target is filled in by `land`. */
  jump(op: number): number {
    this.code.push(op, -1)
    return this.code.length - 1
  }

  land(jump: number): void {
    this.code[jump] = this.code.length
  }

  constant(value: unknown): number {
    return this.consts.push(value) - 1
  }

  freeIndex(variable: Variable): number {
    const known = this.free.indexOf(variable)
    if (known >= 0) return known
    const slot = this.parent!.slots.get(variable)
    this.captures.push(slot ?? ~this.parent!.freeIndex(variable))
    return this.free.push(variable) - 1
  }

  finish(name: string, params: number, rest: boolean): Template {
    const { consts, captures } = this
    return { name, code: Int32Array.from(this.code), consts, params, rest, captures }
  }
}

/** Compiles one top-level form to a procedure without parameters. */
export function compile(node: Node): Template {
  const draft = new Draft()
  generate(node, draft, true)
  return draft.finish('', 0, false)
}

/** Emits code that leaves the node's value on the stack, or, in tail position, returns it. */
function generate(node: Node, d: Draft, tail: boolean): void {
  switch (node.op) {
    case 'const':
      d.emit(OP.CONST, d.constant(node.value))
      break
    case 'local':
      load(node.variable, d)
      break
    case 'global':
      d.emit(OP.GLOBAL, d.constant(node.cell))
      break
    case 'set-local':
      generate(node.value, d, false)
      store(node.variable, d)
      pushed(d, tail, 0)
      return
    case 'set-global':
    case 'define':
      generate(node.value, d, false)
      d.emit(node.op === 'define' ? OP.DEFINE : OP.SET_GLOBAL, d.constant(node.cell))
      pushed(d, tail, 0)
      return
    case 'lambda':
      closure(node, d)
      break
    case 'if':
      branch(node, d, tail)
      return
    case 'and':
    case 'or':
      connective(node.op, node.nodes, d, tail)
      return
    case 'seq':
      sequence(node.nodes, d, tail)
      return
    case 'let':
      bindAll(node, d, tail)
      return
    case 'call':
      call(node, d, tail)
      return
    case 'loop':
      if (node.name.uses === node.name.loops && !node.name.assigned) inPlace(node, d, tail)
      else byProcedure(node, d, tail)
      return
  }
  pushed(d, tail, 1)
}

/** After a value has been left on the stack: counts it, and returns it in tail position. */
function pushed(d: Draft, tail: boolean, growth: number): void {
  d.depth += growth
  if (tail) d.emit(OP.RETURN)
}

function load(variable: Variable, d: Draft): void {
  const slot = d.slots.get(variable)
  if (slot === undefined) d.emit(isBoxed(variable) ? OP.FREE_BOX : OP.FREE, d.freeIndex(variable))
  else if (isBoxed(variable)) d.emit(OP.LOCAL_BOX, slot)
  else if (variable.assigned) d.emit(OP.LOCAL_CHECKED, slot, d.constant(variable.name))
  else d.emit(OP.LOCAL, slot)
}

/** Moves the value on top of the stack into the variable; what is left on top is nothing. */
function store(variable: Variable, d: Draft): void {
  const slot = d.slots.get(variable)
  if (slot === undefined) d.emit(OP.SET_FREE_BOX, d.freeIndex(variable))
  else d.emit(isBoxed(variable) ? OP.SET_LOCAL_BOX : OP.SET_LOCAL, slot)
}

function closure(node: Lambda, d: Draft): void {
  const inner = new Draft(d)
  for (const variable of node.params) inner.slots.set(variable, inner.depth++)
  boxParams(node.params, inner)
  generate(node.body, inner, true)
  const template = inner.finish(node.name, node.params.length - (node.rest ? 1 : 0), node.rest)
  d.emit(OP.CLOSURE, d.constant(template))
}

function boxParams(params: readonly Variable[], d: Draft): void {
  for (const variable of params)
    if (isBoxed(variable)) d.emit(OP.BOX, d.slots.get(variable)!, d.constant(variable.name))
}

/** A chain of `else if` is walked, not recursed into: a cond may have thousands of clauses. */
function branch(node: Node & { op: 'if' }, d: Draft, tail: boolean): void {
  const ends: number[] = []
  const { depth } = d
  let rest: Node = node
  while (rest.op === 'if') {
    generate(rest.test, d, false)
    const otherwise = d.jump(OP.JUMP_FALSE)
    d.depth = depth
    generate(rest.yes, d, tail)
    if (!tail) ends.push(d.jump(OP.JUMP))
    d.land(otherwise)
    d.depth = depth
    rest = rest.no
  }
  generate(rest, d, tail)
  for (const end of ends) d.land(end)
  d.depth = depth + 1
}

function connective(op: 'and' | 'or', nodes: readonly Node[], d: Draft, tail: boolean): void {
  const ends: number[] = []
  for (const [i, node] of nodes.entries()) {
    const last = i === nodes.length - 1
    generate(node, d, tail && last)
    if (last) break
    ends.push(d.jump(op === 'and' ? OP.JUMP_FALSE_KEEP : OP.JUMP_TRUE_KEEP))
    d.depth--
  }
  for (const end of ends) d.land(end)
  if (tail) d.emit(OP.RETURN)
}

function sequence(nodes: readonly Node[], d: Draft, tail: boolean): void {
  for (const [i, node] of nodes.entries()) {
    const last = i === nodes.length - 1
    if (!last && node.op === 'const') continue
    generate(node, d, tail && last)
    if (last) return
    d.emit(OP.POP)
    d.depth--
  }
  d.emit(OP.CONST, d.constant(UNSPECIFIED))
  pushed(d, tail, 1)
}

function bindAll(node: Node & { op: 'let' }, d: Draft, tail: boolean): void {
  for (const [i, variable] of node.variables.entries()) {
    const value = node.values[i]
    if (value) generate(value, d, false)
    else {
      d.emit(OP.UNASSIGNED)
      d.depth++
    }
    d.slots.set(variable, d.depth - 1)
    if (isBoxed(variable)) d.emit(OP.BOX, d.depth - 1, d.constant(variable.name))
  }
  generate(node.body, d, tail)
  drop(node.variables.length, d, tail)
}

/** Takes what was bound from under the result; in tail position the return does it. */
function drop(count: number, d: Draft, tail: boolean): void {
  if (!tail && count > 0) d.emit(OP.SLIDE, count)
  d.depth -= count
}

function call(node: Node & { op: 'call' }, d: Draft, tail: boolean): void {
  const { target, args } = node
  const { depth } = d
  const loop = target.op === 'local' ? d.loops.get(target.variable) : undefined
  for (const arg of args) generate(arg, d, false)
  if (loop) d.emit(OP.LOOP, loop.base, args.length, loop.head)
  else if (target.op === 'global')
    d.emit(tail ? OP.TAIL_CALL_GLOBAL : OP.CALL_GLOBAL, d.constant(target.cell), args.length)
  else {
    generate(target, d, false)
    d.emit(tail ? OP.TAIL_CALL : OP.CALL, args.length)
  }
  d.depth = depth + 1
}

/** Every use of the name is a call in tail position: the loop is a jump, its variables are slots. */
function inPlace(node: Node & { op: 'loop' }, d: Draft, tail: boolean): void {
  const { params } = node.lambda
  const base = d.depth
  for (const arg of node.args) generate(arg, d, false)
  for (const [i, variable] of params.entries()) d.slots.set(variable, base + i)
  d.loops.set(node.name, { base, head: d.code.length })
  boxParams(params, d)
  generate(node.lambda.body, d, tail)
  drop(params.length, d, tail)
}

function byProcedure(node: Node & { op: 'loop' }, d: Draft, tail: boolean): void {
  const { name, lambda, args } = node
  name.assigned = true
  d.emit(OP.UNASSIGNED)
  d.slots.set(name, d.depth++)
  if (isBoxed(name)) d.emit(OP.BOX, d.depth - 1, d.constant(name.name))
  closure(lambda, d)
  store(name, d)
  d.emit(OP.POP)
  const { depth } = d
  for (const arg of args) generate(arg, d, false)
  load(name, d)
  d.emit(tail ? OP.TAIL_CALL : OP.CALL, args.length)
  d.depth = depth + 1
  drop(1, d, tail)
}
