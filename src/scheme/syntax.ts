import {
  bad,
  constant,
  definedName,
  definedValue,
  expand,
  expandBody,
  lambda,
  namedLambda,
  parts,
  quoted,
  type Rule,
  type Scope,
  sequence,
} from './expand.ts'
import { quasiquote } from './quasiquote.ts'
import type { Node, Variable } from './tree.ts'
import { EMPTY, elements, list, Pair, SchemeError, Sym, UNSPECIFIED, type Value } from './values.ts'

const NOTHING = constant(UNSPECIFIED)

/** The operands of a form, between `min` and `max` of them. */
function operands(form: Pair, min: number, max = Number.POSITIVE_INFINITY): readonly Value[] {
  const args = elements(form.cdr) ?? bad(form, 'it must be a proper list')
  if (args.length < min || args.length > max)
    bad(
      form,
      `${min === max ? min : max === Number.POSITIVE_INFINITY ? `at least ${min}` : `${min} to ${max}`} operand(s) expected, ${args.length} given`,
    )
  return args
}

const symbolName = (value: Value | undefined, form: Pair): string =>
  value instanceof Sym ? value.name : bad(form, 'a name was expected')

const isWord = (value: Value | undefined, name: string, scope: Scope): boolean =>
  value instanceof Sym && value.name === name && !scope.find(name)

/** `((name value) …)` as two lists; a bare name is refused, brackets are fine. */
function bindings(form: Value | undefined, whole: Pair): { names: string[]; values: Value[] } {
  const names: string[] = []
  const values: Value[] = []
  for (const binding of parts(form ?? EMPTY, whole, 'bindings are ((name value) …)')) {
    const pair = parts(binding, whole, 'a binding is (name value)')
    if (pair.length !== 2) bad(whole, 'a binding is (name value)')
    names.push(symbolName(pair[0], whole))
    values.push(pair[1]!)
  }
  return { names, values }
}

function distinct(names: readonly string[], whole: Pair): void {
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) bad(whole, `${twice} is bound twice`)
}

const letForm: Rule = (form, scope, tail) => {
  const [first, ...rest] = operands(form, 2)
  if (first instanceof Sym) return namedLet(first.name, rest, form, scope)
  const { names, values } = bindings(first, form)
  distinct(names, form)
  const nodes = values.map((value, i) => namedValue(names[i]!, value, scope))
  const inner = scope.inner()
  const variables = names.map((name) => inner.bind(name))
  return { op: 'let', variables, values: nodes, body: expandBody(rest, inner, tail, form) }
}

const namedValue = (name: string, value: Value, scope: Scope): Node =>
  value instanceof Pair && isWord(value.car, 'lambda', scope)
    ? namedLambda(name, value, scope)
    : expand(value, scope, false)

function namedLet(name: string, [first, ...body]: readonly Value[], form: Pair, scope: Scope): Node {
  const { names, values } = bindings(first, form)
  const args = values.map((value) => expand(value, scope, false))
  const inner = scope.inner()
  const self = inner.bind(name)
  const node = lambda(name, list(names.map((param) => new Sym(param))), body, inner, form, self)
  return { op: 'loop', name: self, lambda: node, args }
}

const letStar: Rule = (form, scope, tail) => {
  const [first, ...body] = operands(form, 2)
  const { names, values } = bindings(first, form)
  const variables: Variable[] = []
  const nodes: Node[] = []
  let inner = scope
  for (const [i, value] of values.entries()) {
    nodes.push(namedValue(names[i]!, value, inner))
    inner = inner.inner()
    variables.push(inner.bind(names[i]!))
  }
  return { op: 'let', variables, values: nodes, body: expandBody(body, inner.inner(), tail, form) }
}

const letrec: Rule = (form, scope, tail) => {
  const [first, ...body] = operands(form, 2)
  const { names, values } = bindings(first, form)
  distinct(names, form)
  const inner = scope.inner()
  const variables = names.map((name) => inner.bind(name))
  for (const variable of variables) variable.assigned = true
  const nodes = values.map(
    (value, i): Node => ({
      op: 'set-local',
      variable: variables[i]!,
      value: namedValue(names[i]!, value, inner),
    }),
  )
  nodes.push(expandBody(body, inner.inner(), tail, form))
  return { op: 'let', variables, values: names.map(() => undefined), body: { op: 'seq', nodes } }
}

/** `(do ((name first step) …) (test result …) body …)` is a named let whose name nobody can write. */
const doForm: Rule = (form, scope, tail) => {
  const [first, exit, ...body] = operands(form, 2)
  const specs = parts(first!, form).map((spec) => parts(spec, form, 'a variable is (name first step)'))
  if (specs.some((spec) => spec.length < 2 || spec.length > 3)) bad(form, 'a variable is (name first step)')
  const [test, ...results] = parts(exit!, form, 'the exit is (test result …)')
  if (test === undefined) bad(form, 'the exit is (test result …)')
  const again = new Sym(' do')
  const turn = list([again, ...specs.map((spec) => spec[2] ?? spec[0]!)])
  const begin = (forms: readonly Value[]): Value => new Pair(new Sym('begin'), list(forms))
  const choice = list([new Sym('if'), test!, results.length > 0 ? begin(results) : UNSPECIFIED, begin([...body, turn])])
  const inits = list(specs.map((spec) => list([spec[0]!, spec[1]!])))
  return withSyntax(scope, (clean) => expand(list([new Sym('let'), again, inits, choice]), clean, tail))
}

/** A rule that builds forms from `if`, `let` … must not see a program's own variables of those names. */
function withSyntax(scope: Scope, build: (scope: Scope) => Node): Node {
  const shadowed = ['if', 'let', 'begin', 'lambda'].find((name) => scope.find(name))
  if (shadowed)
    throw new SchemeError(`the name ${shadowed} is bound here and this form needs it`, 'choose another name')
  return build(scope)
}

const ifForm: Rule = (form, scope, tail) => {
  const [test, then, otherwise] = operands(form, 2, 3)
  return {
    op: 'if',
    test: expand(test!, scope, false),
    yes: expand(then!, scope, tail),
    no: otherwise === undefined ? NOTHING : expand(otherwise, scope, tail),
  }
}

/** Binds a fresh name to a value: what `=>` and `case` need. */
function held(value: Node, scope: Scope, body: (use: () => Node, inner: Scope) => Node): Node {
  const inner = scope.inner()
  const variable = inner.bind(' held')
  inner.names.delete(' held')
  const use = (): Node => ({ op: 'local', variable })
  return { op: 'let', variables: [variable], values: [value], body: body(use, inner) }
}

const condForm: Rule = (form, scope, tail) => {
  const clauses = operands(form, 1)
  return clauses.reduceRight<Node>((rest, clause, i) => {
    const [test, ...body] = parts(clause, form, 'a clause is (test expression …)')
    if (test === undefined) return bad(form, 'a clause is (test expression …)')
    if (isWord(test, 'else', scope)) {
      if (i !== clauses.length - 1) bad(form, 'else must be the last clause')
      return sequence(body.length > 0 ? body : [UNSPECIFIED], scope, tail)
    }
    if (body.length === 0) return { op: 'or', nodes: [expand(test, scope, false), rest] }
    if (isWord(body[0], '=>', scope)) {
      if (body.length !== 2) bad(form, 'a => clause is (test => procedure)')
      return held(expand(test, scope, false), scope, (use, inner) => ({
        op: 'if',
        test: use(),
        yes: { op: 'call', target: expand(body[1]!, inner, false), args: [use()] },
        no: rest,
      }))
    }
    return { op: 'if', test: expand(test, scope, false), yes: sequence(body, scope, tail), no: rest }
  }, NOTHING)
}

const caseForm: Rule = (form, scope, tail) => {
  const [key, ...clauses] = operands(form, 2)
  const memv = constant(scope.globals.builtin('memv'))
  return held(expand(key!, scope, false), scope, (use, inner) =>
    clauses.reduceRight<Node>((rest, clause) => {
      const [data, ...body] = parts(clause, form, 'a clause is ((datum …) expression …)')
      const yes: Node = isWord(body[0], '=>', scope)
        ? { op: 'call', target: expand(body[1] ?? UNSPECIFIED, inner, false), args: [use()] }
        : sequence(body.length > 0 ? body : [UNSPECIFIED], inner, tail)
      if (isWord(data, 'else', scope)) return yes
      const known = list(parts(data ?? EMPTY, form, 'a clause is ((datum …) expression …)').map(quoted))
      return { op: 'if', test: { op: 'call', target: memv, args: [use(), constant(known)] }, yes, no: rest }
    }, NOTHING),
  )
}

const connective =
  (op: 'and' | 'or'): Rule =>
  (form, scope, tail) => {
    const args = operands(form, 0)
    if (args.length === 0) return constant(op === 'and')
    if (args.length === 1) return expand(args[0]!, scope, tail)
    return { op, nodes: args.map((arg, i) => expand(arg, scope, tail && i === args.length - 1)) }
  }

const conditional =
  (when: boolean): Rule =>
  (form, scope, tail) => {
    const [test, ...body] = operands(form, 2)
    const node = sequence(body, scope, tail)
    return { op: 'if', test: expand(test!, scope, false), yes: when ? node : NOTHING, no: when ? NOTHING : node }
  }

const setForm: Rule = (form, scope) => {
  const [target, source] = operands(form, 2, 2)
  const name = symbolName(target, form)
  const variable = scope.use(name)
  const value = expand(source!, scope, false)
  if (!variable) return { op: 'set-global', cell: scope.globals.cell(name), value }
  variable.assigned = true
  return { op: 'seq', nodes: [{ op: 'set-local', variable, value }, NOTHING] }
}

const defineForm: Rule = (form, scope) => {
  if (!scope.top) bad(form, 'it stands at top level or directly in a body')
  const name = definedName(form, scope)!
  return { op: 'define', cell: scope.globals.cell(name), value: definedValue(form, scope) }
}

const beginForm: Rule = (form, scope, tail) => {
  const body = operands(form, 0)
  return body.length === 0 ? NOTHING : sequence(body, scope, tail)
}

/** `(let-values (((a b) producer) …) body …)`, each set of names through one call-with-values. */
const letValues: Rule = (form, scope, tail) => {
  const [first, ...body] = operands(form, 2)
  const sets = parts(first!, form).map((set) => parts(set, form, 'a binding is ((name …) producer)'))
  if (sets.some((set) => set.length !== 2)) bad(form, 'a binding is ((name …) producer)')
  return withSyntax(scope, (clean) => {
    const inner = sets.reduceRight<Value>(
      (rest, [names, producer]) => spread(names!, producer!, [rest], clean),
      new Pair(new Sym('let'), new Pair(EMPTY, list(body))),
    )
    return expand(inner, clean, tail)
  })
}

const spread = (names: Value, producer: Value, body: readonly Value[], scope: Scope): Value => {
  const consumer = new Pair(new Sym('lambda'), new Pair(names, list(body)))
  const thunk = list([new Sym('lambda'), EMPTY, producer])
  return list([scope.globals.builtin('call-with-values'), thunk, consumer])
}

const receive: Rule = (form, scope, tail) => {
  const [names, producer, ...body] = operands(form, 3)
  return withSyntax(scope, (clean) => expand(spread(names!, producer!, body, clean), clean, tail))
}

const onlyInside =
  (where: string): Rule =>
  (form) =>
    bad(form, `it stands only inside ${where}`)

/** Every special form. A name in here is syntax unless a program has bound it as a local variable. */
export const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['quote', (form) => constant(quoted(operands(form, 1, 1)[0]!))],
  ['quasiquote', (form, scope) => quasiquote(operands(form, 1, 1)[0]!, scope, 1)],
  ['unquote', onlyInside('quasiquote')],
  ['unquote-splicing', onlyInside('quasiquote')],
  ['else', onlyInside('cond and case')],
  ['=>', onlyInside('cond and case')],
  ['if', ifForm],
  ['define', defineForm],
  ['lambda', (form, scope) => namedLambda('', form, scope)],
  ['let', letForm],
  ['let*', letStar],
  ['letrec', letrec],
  ['letrec*', letrec],
  ['do', doForm],
  ['begin', beginForm],
  ['cond', condForm],
  ['case', caseForm],
  ['and', connective('and')],
  ['or', connective('or')],
  ['when', conditional(true)],
  ['unless', conditional(false)],
  ['set!', setForm],
  ['let-values', letValues],
  ['let*-values', letValues],
  ['receive', receive],
])
