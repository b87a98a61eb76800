import type { Cell, Lambda, Lexical, Node, Variable } from './tree.ts'
import {
  Braced,
  Bracketed,
  EMPTY,
  elements,
  list,
  Pair,
  Rec,
  SchemeError,
  Sym,
  UNSPECIFIED,
  type Value,
  Vec,
} from './values.ts'

/** What the expander asks of its surroundings. */
export interface Globals {
  cell(name: string): Cell
  /** A builtin whatever the program has redefined: `[a b]` must be a list even where `list` is a local name. */
  builtin(name: string): Value
  /** A macro of the host. */
  syntax(name: string): ((form: Value) => Value) | undefined
  /** Why a name of Scheme is not offered. */
  refusal(name: string): string | undefined
  isDefined(name: string): boolean
}

export type Rule = (form: Pair, scope: Scope, tail: boolean) => Node

/** One stage of nesting: the names bound here, the lambda they live in. */
export class Scope {
  readonly globals: Globals
  readonly rules: ReadonlyMap<string, Rule>
  readonly lexical: Lexical
  readonly parent: Scope | undefined
  readonly names = new Map<string, Variable>()
  readonly top: boolean

  constructor(globals: Globals, rules: ReadonlyMap<string, Rule>, lexical: Lexical, parent?: Scope, top = false) {
    this.globals = globals
    this.rules = rules
    this.lexical = lexical
    this.parent = parent
    this.top = top
  }

  inner(lexical: Lexical = this.lexical): Scope {
    return new Scope(this.globals, this.rules, lexical, this)
  }

  bind(name: string): Variable {
    const variable = { name, home: this.lexical, assigned: false, captured: false, uses: 0, loops: 0 }
    this.names.set(name, variable)
    return variable
  }

  find(name: string): Variable | undefined {
    for (let scope: Scope | undefined = this; scope; scope = scope.parent) {
      const variable = scope.names.get(name)
      if (variable) return variable
    }
    return undefined
  }

  /** The variable of that name as seen from here: an inner lambda's use captures it. */
  use(name: string): Variable | undefined {
    const variable = this.find(name)
    if (variable) {
      variable.uses++
      if (variable.home !== this.lexical) variable.captured = true
    }
    return variable
  }
}

export const bad = (form: Value, message: string): never => {
  const head = form instanceof Pair && form.car instanceof Sym ? form.car.name : 'form'
  throw new SchemeError(`${head}: ${message}`, `(help "${head}") shows its form`)
}

/** The parts of a form, written with ( ) or, as many do for bindings and clauses, with [ ]. */
export function parts(form: Value, whole: Value, message = 'a list was expected here'): readonly Value[] {
  if (form instanceof Bracketed) return form.items
  return elements(form) ?? bad(whole, message)
}

export const constant = (value: Value): Node => ({ op: 'const', value })
const NOTHING = constant(UNSPECIFIED)

export function expand(form: Value, scope: Scope, tail: boolean): Node {
  if (form instanceof Sym) return reference(form.name, scope)
  if (form instanceof Pair) return expandPair(form, scope, tail)
  if (form instanceof Bracketed) return call(constant(scope.globals.builtin('list')), form.items, scope)
  if (form instanceof Braced) {
    const args = form.items.map((item, i) => (i % 2 === 0 ? constant(item) : expand(item, scope, false)))
    return { op: 'call', target: constant(scope.globals.builtin('record')), args }
  }
  if (form === EMPTY) throw new SchemeError('() cannot be evaluated', "the empty list is '() or (list)")
  return constant(form instanceof Vec ? quoted(form) : form)
}

const reference = (name: string, scope: Scope): Node => {
  const variable = scope.use(name)
  if (variable) return { op: 'local', variable }
  if (scope.rules.has(name) && !scope.globals.isDefined(name))
    throw new SchemeError(`${name} is syntax: it stands first in a form`, `(help "${name}") shows its form`)
  return { op: 'global', cell: scope.globals.cell(name) }
}

const call = (target: Node, args: readonly Value[], scope: Scope): Node => ({
  op: 'call',
  target,
  args: args.map((arg) => expand(arg, scope, false)),
})

function expandPair(form: Pair, scope: Scope, tail: boolean): Node {
  const head = form.car
  if (head instanceof Sym) {
    const { name } = head
    const variable = scope.find(name)
    if (!variable) {
      const rule = scope.rules.get(name)
      if (rule) return rule(form, scope, tail)
      const macro = scope.globals.syntax(name)
      if (macro) return expand(macro(form), scope, tail)
      const refusal = scope.globals.refusal(name)
      if (refusal !== undefined && !scope.globals.isDefined(name))
        throw new SchemeError(`${name} is not offered: ${refusal}`)
    } else if (
      tail &&
      variable.lambda?.home === scope.lexical &&
      !variable.lambda.rest &&
      turns(form, variable.lambda)
    ) {
      variable.loops++
    }
  }
  const args = elements(form.cdr) ?? bad(form, 'a call is a proper list')
  return call(expand(head, scope, false), args, scope)
}

/** A call of a named let's own name, straight from its body: one more turn of a loop, if the number of arguments is right. */
const turns = (form: Pair, loop: Lambda): boolean => elements(form.cdr)?.length === loop.params.length

/** A body: internal defines become variables of one `letrec*`. */
export function expandBody(forms: readonly Value[], scope: Scope, tail: boolean, whole: Value): Node {
  if (forms.length === 0) bad(whole, 'the body is empty')
  const flat = forms.flatMap((form) => spliceBegin(form, scope))
  const names = flat.map((form) => definedName(form, scope))
  if (names.every((name) => name === undefined)) return sequence(flat, scope, tail)
  const inner = scope.inner()
  const variables = [...new Set(names.filter((name) => name !== undefined))].map((name) => inner.bind(name))
  for (const variable of variables) variable.assigned = true
  const nodes = flat.map((form, i): Node => {
    const name = names[i]
    if (name === undefined) return expand(form, inner, tail && i === flat.length - 1)
    return { op: 'set-local', variable: inner.find(name)!, value: definedValue(form as Pair, inner) }
  })
  if (names.at(-1) !== undefined) nodes.push(NOTHING)
  return { op: 'let', variables, values: variables.map(() => undefined), body: { op: 'seq', nodes } }
}

const isForm = (form: Value, name: string, scope: Scope): form is Pair =>
  form instanceof Pair && form.car instanceof Sym && form.car.name === name && !scope.find(name)

const spliceBegin = (form: Value, scope: Scope): readonly Value[] =>
  isForm(form, 'begin', scope) ? parts(form.cdr, form).flatMap((inner) => spliceBegin(inner, scope)) : [form]

/** The name a `define` form defines: `(define x …)`, `(define (f …) …)`, `(define ((f a) b) …)`. */
export function definedName(form: Value, scope: Scope): string | undefined {
  if (!isForm(form, 'define', scope)) return undefined
  let target = form.cdr instanceof Pair ? form.cdr.car : bad(form, 'the name is missing')
  while (target instanceof Pair) target = target.car
  return target instanceof Sym ? target.name : bad(form, 'the name must be a symbol')
}

export function definedValue(form: Pair, scope: Scope): Node {
  const [target, ...body] = elements(form.cdr) ?? bad(form, 'it must be a proper list')
  if (target instanceof Pair) {
    if (target.car instanceof Pair) {
      const inner = new Pair(new Sym('lambda'), new Pair(target.cdr, list(body)))
      return definedValue(new Pair(form.car, list([target.car, inner])), scope)
    }
    return lambda((target.car as Sym).name, target.cdr, body, scope, form)
  }
  if (body.length !== 1) bad(form, 'one value is expected: (define name value)')
  const { name } = target as Sym
  const value = body[0]!
  return isForm(value, 'lambda', scope) ? namedLambda(name, value, scope) : expand(value, scope, false)
}

export function namedLambda(name: string, form: Pair, scope: Scope): Lambda {
  const [params, ...body] = elements(form.cdr) ?? bad(form, 'it must be a proper list')
  return lambda(name, params ?? bad(form, 'the parameters are missing'), body, scope, form)
}

/** `self` is the variable a named let binds to this very lambda. */
export function lambda(
  name: string,
  params: Value,
  body: readonly Value[],
  scope: Scope,
  whole: Value,
  self?: Variable,
): Lambda {
  const lexical: Lexical = { parent: scope.lexical }
  const inner = scope.inner(lexical)
  const variables: Variable[] = []
  const bind = (param: Value): void => {
    if (!(param instanceof Sym)) bad(whole, 'parameters are symbols')
    const { name } = param as Sym
    if (inner.names.has(name)) bad(whole, `the parameter ${name} is named twice`)
    variables.push(inner.bind(name))
  }
  let rest = params instanceof Bracketed ? list(params.items) : params
  for (; rest instanceof Pair; rest = rest.cdr) bind(rest.car)
  if (rest !== EMPTY) bind(rest)
  const node: Lambda = { op: 'lambda', name, params: variables, rest: rest !== EMPTY, home: lexical, body: NOTHING }
  if (self) self.lambda = node
  node.body = expandBody(body, inner, true, whole)
  return node
}

export function sequence(forms: readonly Value[], scope: Scope, tail: boolean): Node {
  if (forms.length === 1) return expand(forms[0]!, scope, tail)
  return { op: 'seq', nodes: forms.map((form, i) => expand(form, scope, tail && i === forms.length - 1)) }
}

/** Source brackets inside quoted data are data: `'[a b]` is `(a b)`, `'{:k v}` a record. */
export function quoted(form: Value): Value {
  if (form instanceof Bracketed) return list(form.items.map(quoted))
  if (form instanceof Braced) {
    const entries = new Map<string, Value>()
    for (let i = 0; i < form.items.length; i += 2)
      entries.set((form.items[i] as { name: string }).name, quoted(form.items[i + 1]!))
    return new Rec(entries)
  }
  if (form instanceof Vec) return new Vec(form.items.map(quoted))
  if (!(form instanceof Pair)) return form
  const items: Value[] = []
  let rest: Value = form
  for (; rest instanceof Pair; rest = rest.cdr) items.push(quoted(rest.car))
  return list(items, quoted(rest))
}
