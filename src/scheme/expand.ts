import { UserError } from '../base/errors.ts'
import { declare } from './define.ts'
import { Bracketed, type Cell, EMPTY, elements, type Lambda, list, type Node, Pair, Rec, SchemeError, Sym, Syntax, UNSPECIFIED, unlist, type Value, Vec } from './values.ts' // biome-ignore format: one line of names

export interface Globals {
  cell(name: string): Cell
  /** A builtin whatever the program has redefined: `[a b]` must be a list even where `list` is a local name. */
  builtin(name: string): Value
  syntax(name: string): ((form: Value) => Value) | undefined
  refusal(name: string): string | undefined
  isDefined(name: string): boolean
}

type Rule = (form: Pair, scope: Scope) => Node

/** The names bound at one stage of nesting: the slots of one `Env`. */
export class Scope {
  readonly globals: Globals
  readonly names: readonly string[]
  readonly parent: Scope | undefined

  constructor(globals: Globals, names: readonly string[] = [], parent?: Scope) {
    this.globals = globals
    this.names = names
    this.parent = parent
  }

  inner(names: readonly string[]): Scope {
    return new Scope(this.globals, names, this)
  }

  find(name: string): Extract<Node, { op: 'local' }> | undefined {
    let depth = -1
    for (let scope: Scope | undefined = this; scope?.parent; scope = scope.parent) {
      depth++
      const index = scope.names.indexOf(name)
      if (index >= 0) return { op: 'local', depth, index, name }
    }
    return undefined
  }
}

function bad(form: Value, message?: string): never {
  const head = form instanceof Pair && (form.car instanceof Sym || form.car instanceof Syntax) ? form.car.name : 'form'
  const right = RULES.get(head)?.signature ?? '(procedure argument …)'
  throw new SchemeError(`${head}: ${message ?? `its form is ${right}`}`, `(help "${head}") shows an example`)
}

const parts = (form: Value | undefined, whole: Value): readonly Value[] =>
  form instanceof Bracketed && form.open === '[' ? form.items : (elements(form ?? null) ?? bad(whole))

function operands(form: Pair, min = 0, max = Number.POSITIVE_INFINITY): readonly Value[] {
  const args = elements(form.cdr) ?? bad(form)
  return args.length >= min && args.length <= max ? args : bad(form)
}

/** A special form, whatever a program calls by its name. */
const code = (name: string, ...rest: readonly Value[]): Pair => new Pair(SYNTAX.get(name)!, list(rest))

const constant = (value: Value): Node => ({ op: 'const', value })
const NOTHING = constant(UNSPECIFIED)

export function expand(form: Value, scope: Scope): Node {
  if (form instanceof Sym) return reference(form.name, scope)
  if (form instanceof Pair) return expandPair(form, scope)
  if (form instanceof Bracketed) {
    const args = form.open === '[' ? form.items : form.items.map((item, i) => (i % 2 === 0 ? quote(item) : item))
    return call(constant(scope.globals.builtin(form.open === '[' ? 'list' : 'record')), args, scope)
  }
  if (form === EMPTY) throw new SchemeError('() cannot be evaluated', "the empty list is '() or (list)")
  return constant(form instanceof Vec ? datum(form) : form)
}

function reference(name: string, scope: Scope): Node {
  const local = scope.find(name)
  if (local) return local
  if (RULES.has(name))
    throw new SchemeError(`${name} is syntax: it stands first in a form`, `(help "${name}") shows its form`)
  return { op: 'global', cell: scope.globals.cell(name) }
}

const isFlat = (node: Node): boolean => ['const', 'local', 'global', 'lambda'].includes(node.op)

function call(target: Node, operands: readonly Value[], scope: Scope): Node {
  const args = operands.map((arg) => expand(arg, scope))
  return { op: 'call', target, args, isFlat: isFlat(target) && args.every(isFlat) }
}

function expandPair(form: Pair, scope: Scope): Node {
  const head = form.car
  if (head instanceof Syntax) return (head.expand as Rule)(form, scope)
  if (head instanceof Sym && !scope.find(head.name)) {
    const { name } = head
    const rule = RULES.get(name)
    if (rule) return rule.body(form, scope)
    const macro = scope.globals.syntax(name)
    if (macro) return expand(macro(form), scope)
    const refusal = scope.globals.refusal(name)
    if (refusal !== undefined && !scope.globals.isDefined(name))
      throw new SchemeError(`${name} is not offered: ${refusal}`)
  }
  return call(expand(head, scope), elements(form.cdr) ?? bad(form), scope)
}

function sequence(forms: readonly Value[], scope: Scope): Node {
  const nodes = forms.map((form) => expand(form, scope))
  return nodes.length === 1 ? nodes[0]! : nodes.length === 0 ? NOTHING : { op: 'seq', nodes }
}

function body(forms: readonly Value[], scope: Scope, whole: Value): Node {
  if (forms.length === 0) bad(whole)
  const flat = forms.flatMap((form) => splice(form, scope))
  const defined = flat.map((form) => definition(form, scope))
  const names = [...new Set(defined.flatMap((found) => found?.name ?? []))]
  if (names.length === 0) return sequence(flat, scope)
  const inner = scope.inner(names)
  const nodes = flat.map((form, i): Node => (defined[i] ? assign(defined[i], inner) : expand(form, inner)))
  if (defined.at(-1)) nodes.push(NOTHING)
  return { op: 'let', args: [], size: names.length, body: { op: 'seq', nodes } }
}

const assign = ({ name, value }: { name: string; value: Value }, scope: Scope): Node => ({
  op: 'set',
  to: scope.find(name)!,
  value: named(name, value, scope),
})

/** An expression whose value gets a name: a procedure is called so. */
function named(name: string, value: Value, scope: Scope): Node {
  const node = expand(value, scope)
  if (node.op === 'lambda') node.name ||= name
  return node
}

const isForm = (form: Value, name: string, scope: Scope): form is Pair =>
  form instanceof Pair && isWord(form.car, name, scope)

const isWord = (value: Value | undefined, name: string, scope: Scope): boolean =>
  value instanceof Sym && value.name === name && !scope.find(name)

const splice = (form: Value, scope: Scope): readonly Value[] =>
  isForm(form, 'begin', scope) ? operands(form).flatMap((inner) => splice(inner, scope)) : [form]

/** What a `define` form defines: `(define x …)`, `(define (f …) …)`, `(define ((f a) b) …)`. */
function definition(form: Value, scope: Scope): { name: string; value: Value } | undefined {
  if (!isForm(form, 'define', scope)) return undefined
  let [target, ...values] = operands(form, 1)
  for (; target instanceof Pair; target = target.car) values = [code('lambda', target.cdr, ...values)]
  return target instanceof Sym && values.length === 1 ? { name: target.name, value: values[0]! } : bad(form)
}

function lambda(form: Pair, scope: Scope): Lambda {
  const [params, ...forms] = operands(form, 1)
  const { items, tail } = unlist(params instanceof Bracketed ? list(params.items) : params!)
  const rest = tail !== EMPTY
  const names = [...items, ...(rest ? [tail] : [])].map((param) => (param instanceof Sym ? param.name : bad(form)))
  distinct(names, form)
  return { op: 'lambda', name: '', params: items.length, rest, body: body(forms, scope.inner(names), form) }
}

function distinct(names: readonly string[], form: Pair): void {
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) bad(form, `${twice} is named twice`)
}

function bindings(form: Value | undefined, whole: Pair): { names: string[]; values: Value[] } {
  const pairs = parts(form, whole).map((binding) => parts(binding, whole))
  if (pairs.some((pair) => pair.length !== 2)) bad(whole)
  return {
    names: pairs.map(([name]) => (name instanceof Sym ? name.name : bad(whole))),
    values: pairs.map(([, value]) => value!),
  }
}

/** Without a special meaning: what stands quoted in code. `'[a b]` is `(a b)`, `'{:k v}` a record. */
function datum(form: Value): Value {
  if (form instanceof Vec) return new Vec(form.items.map(datum))
  if (form instanceof Bracketed) {
    if (form.open === '[') return list(form.items.map(datum))
    const entries = new Map<string, Value>()
    for (let i = 0; i < form.items.length; i += 2)
      entries.set((form.items[i] as Sym).name, datum(form.items[i + 1] as Value))
    return new Rec(entries)
  }
  if (!(form instanceof Pair)) return form
  const { items, tail } = unlist(form)
  return list(items.map(datum), datum(tail))
}

const quote = (value: Value): Value => code('quote', value)

const letForm: Rule = (form, scope) => {
  const [first, ...rest] = operands(form, 2)
  const { names, values } = bindings(first instanceof Sym ? rest[0] : first, form)
  if (first instanceof Sym) {
    const loop = code('lambda', list(names.map((name) => new Sym(name))), ...rest.slice(1))
    return expand(list([code('letrec', list([list([first, loop])]), first), ...values]), scope)
  }
  distinct(names, form)
  const args = values.map((value, i) => named(names[i]!, value, scope))
  return { op: 'let', args, size: names.length, body: body(rest, scope.inner(names), form) }
}

const letrec: Rule = (form, scope) => {
  const [first, ...forms] = operands(form, 2)
  const { names, values } = bindings(first, form)
  distinct(names, form)
  const inner = scope.inner(names)
  const nodes = values.map((value, i) => assign({ name: names[i]!, value }, inner))
  return { op: 'let', args: [], size: names.length, body: { op: 'seq', nodes: [...nodes, body(forms, inner, form)] } }
}

/** A variable that no program sees: nobody writes such a name. */
const HIDDEN = new Sym('\0')
const hold = (value: Value, ...forms: readonly Value[]): Value => code('let', list([list([HIDDEN, value])]), ...forms)

const doForm: Rule = (form, scope) => {
  const [first, exit, ...forms] = operands(form, 2)
  const specs = parts(first, form).map((spec) => parts(spec, form))
  const [test, ...results] = parts(exit, form)
  if (test === undefined || specs.some((spec) => spec.length > 3)) bad(form)
  const again = list([HIDDEN, ...specs.map((spec) => spec[2] ?? spec[0]!)])
  const turn = code('if', test!, code('begin', ...results), code('begin', ...forms, again))
  return expand(code('let', HIDDEN, list(specs.map((spec) => list(spec.slice(0, 2)))), turn), scope)
}

const condForm: Rule = (form, scope) => {
  if (!(form.cdr instanceof Pair)) return NOTHING
  const rest = new Pair(SYNTAX.get('cond')!, form.cdr.cdr)
  const [test, ...forms] = parts(form.cdr.car, form)
  if (test === undefined) return bad(form)
  if (isWord(test, 'else', scope)) return rest.cdr === EMPTY ? sequence(forms, scope) : bad(form)
  if (forms.length === 0) return expand(code('or', test, rest), scope)
  if (!isWord(forms[0], '=>', scope)) return choice(expand(test, scope), sequence(forms, scope), expand(rest, scope))
  return expand(hold(test, code('if', HIDDEN, list([forms[1] ?? bad(form), HIDDEN]), rest)), scope)
}

const choice = (test: Node, yes: Node, no: Node): Node => ({ op: 'if', test, yes, no })

const caseForm: Rule = (form, scope) => {
  const [key, ...clauses] = operands(form, 2)
  const tests = clauses.map((clause) => {
    const [data, ...forms] = parts(clause, form)
    const known = (): Value => list([scope.globals.builtin('memv'), HIDDEN, quote(list(parts(data, form)))])
    const test = isWord(data, 'else', scope) ? data! : known()
    return list([test, isWord(forms[0], '=>', scope) ? list([forms[1] ?? bad(form), HIDDEN]) : code('begin', ...forms)])
  })
  return expand(hold(key!, code('cond', ...tests)), scope)
}

const connective =
  (stop: boolean): Rule =>
  (form, scope) => {
    const nodes = operands(form).map((arg) => expand(arg, scope))
    return nodes.length === 0 ? constant(!stop) : nodes.length === 1 ? nodes[0]! : { op: 'seq', nodes, stop }
  }

const when =
  (wanted: boolean): Rule =>
  (form, scope) => {
    const [test, ...forms] = operands(form, 2)
    const done = sequence(forms, scope)
    return choice(expand(test!, scope), wanted ? done : NOTHING, wanted ? NOTHING : done)
  }

const defineForm: Rule = (form, scope) => {
  if (scope.parent) bad(form, 'it stands at top level or directly in a body')
  const { name, value } = definition(form, scope)!
  if (RULES.has(name) || scope.globals.syntax(name))
    throw new UserError('special-form', `${name} is a special form and cannot be defined`, 'choose another name')
  return { op: 'define', cell: scope.globals.cell(name), value: named(name, value, scope) }
}

/** Each set of names through one call-with-values, one in the other. */
const letValues: Rule = (form, scope) => {
  const [first, ...forms] = operands(form, 2)
  const sets = parts(first, form).map((binding) => parts(binding, form))
  const inner = sets.reduceRight<Value>((rest, set) => code('receive', ...set, rest), code('let', EMPTY, ...forms))
  return expand(inner, scope)
}

/** The operand of `(name operand)`, if that is what the form is. */
function wrapped(form: Value, name: string): Value | undefined {
  const [head, operand, ...more] = (form instanceof Pair && elements(form)) || []
  return head instanceof Sym && head.name === name && more.length === 0 ? operand : undefined
}

/** The code that makes the data; what holds no unquote stays one quotation. */
function quasi(form: Value, builtin: Globals['builtin'], level: number): Value {
  const listed = (...items: Value[]): Value => list([builtin('list'), ...items])
  const unquoted = wrapped(form, 'unquote')
  if (unquoted !== undefined && level === 1) return unquoted
  if (unquoted !== undefined) return listed(quote(new Sym('unquote')), quasi(unquoted, builtin, level - 1))
  const nested = wrapped(form, 'quasiquote')
  if (nested !== undefined) return listed(quote(new Sym('quasiquote')), quasi(nested, builtin, level + 1))
  if (level === 1 && wrapped(form, 'unquote-splicing') !== undefined)
    throw new SchemeError('unquote-splicing: ,@ stands inside a list')
  if (form instanceof Bracketed && form.open === '{')
    return list([builtin('record'), ...form.items.map((item) => quasi(item, builtin, level))])
  if (form instanceof Vec) return list([builtin('list->vector'), quasi(list(form.items), builtin, level)])
  const { items, tail } = unlist(form instanceof Bracketed ? list(form.items) : form)
  if (items.length === 0) return quote(datum(form))
  // `(a . ,b)` is read as `(a unquote b)`
  const isDotted = items.length > 2 && tail === EMPTY && wrapped(list(items.slice(-2)), 'unquote') !== undefined
  const end = quasi(isDotted ? list(items.splice(-2)) : tail, builtin, level)
  const pieces = items.map((item) => {
    const spliced = wrapped(item, 'unquote-splicing')
    if (spliced === undefined) return listed(quasi(item, builtin, level))
    if (level === 1) return spliced
    return listed(listed(quote(new Sym('unquote-splicing')), quasi(spliced, builtin, level - 1)))
  })
  const isConstant =
    isQuote(end) &&
    pieces.every(
      (piece, i) => piece !== wrapped(items[i]!, 'unquote-splicing') && isQuote(((piece as Pair).cdr as Pair).car),
    )
  return isConstant ? quote(datum(form)) : list([builtin('append'), ...pieces, end])
}

const isQuote = (form: Value): boolean => form instanceof Pair && form.car === SYNTAX.get('quote')

const onlyIn =
  (where: string): Rule =>
  (form) =>
    bad(form, `it stands only inside ${where}`)

/** Every special form. A name in here is syntax unless a program has bound it as a local variable. */
// biome-ignore format: a table, one entry a line where it can be
export const RULES = declare<Rule>({
  "(quote datum) | The datum itself; 'datum is short for it. | '(a b c)": (form) => constant(datum(operands(form, 1, 1)[0]!)),
  '(quasiquote datum) | Data with parts computed: `(a ,x ,@xs). | `(1 ,(+ 1 1) ,@(list 3 4))': (form, scope) => expand(quasi(operands(form, 1, 1)[0]!, scope.globals.builtin, 1), scope),
  '(unquote expression) | Inside quasiquote: the value. ,expression is short for it. | `(1 ,(+ 1 1))': onlyIn('quasiquote'),
  '(unquote-splicing expression) | Inside quasiquote: the elements of a list. ,@expression is short for it. | `(1 ,@(list 2 3))': onlyIn('quasiquote'),
  '(if test then [else]) | One of two; #f and nil are false, all else is true. | (if (> 2 1) "yes" "no")': (form, scope) => {
    const [test, yes, no] = operands(form, 2, 3).map((part) => expand(part, scope))
    return choice(test!, yes!, no ?? NOTHING)
  },
  '(define name value) | Names a value; (define (f x …) body …) a procedure. | (define (twice x) (* 2 x))': defineForm,
  '(lambda (x …) body …) | A procedure; (lambda (x . rest) …) takes any number. | ((lambda (x) (* x x)) 3)': lambda,
  '(let ((name value) …) body …) | Local names; (let loop ((name value) …) body …) is a loop that calls itself. | (let ((x 1) (y 2)) (+ x y))': letForm,
  '(let* ((name value) …) body …) | Local names, each seeing those before it. | (let* ((x 1) (y (+ x 1))) y)': (form, scope) => {
    const [first, ...forms] = operands(form, 2)
    const inner = code('let', EMPTY, ...forms)
    const nested = parts(first, form).reduceRight<Value>((rest, one) => code('let', list([one]), rest), inner)
    return expand(nested, scope)
  },
  '(letrec ((name value) …) body …) | Local procedures that may call each other. | (letrec ((f (lambda (n) (if (= n 0) "done" (f (- n 1)))))) (f 3))': letrec,
  '(letrec* ((name value) …) body …) | As letrec, in order. | (letrec* ((x 1) (y (+ x 1))) y)': letrec,
  '(do ((name first step) …) (test result …) body …) | A loop with variables. | (do ((i 0 (+ i 1)) (s 0 (+ s i))) ((= i 4) s))': doForm,
  '(begin expression …) | One after another; the value of the last. | (begin 1 2)': (form, scope) => sequence(operands(form), scope),
  '(cond (test expression …) … (else expression …)) | The first clause whose test is true; (test => f) passes its value on. | (cond ((assv 2 \'((1 "a") (2 "b"))) => cadr) (else "none"))': condForm,
  "(case key ((datum …) expression …) … (else expression …)) | The clause that lists the key. | (case 3 ((1 2) 'low) ((3 4) 'high) (else 'none))": caseForm,
  '(else expression …) | The last clause of cond and case. | (cond (#f 1) (else 2))': onlyIn('cond and case'),
  "(=> procedure) | In cond and case: call the procedure with what was found. | (cond ((memv 2 '(1 2 3)) => length) (else 0))": onlyIn('cond and case'),
  '(and expression …) | The last value if all are true, else the first that is not. | (and 1 2)': connective(false),
  '(or expression …) | The first value that is true. | (or #f nil 3)': connective(true),
  '(when test expression …) | The expressions if the test is true. | (when (> 2 1) "yes")': when(true),
  '(unless test expression …) | The expressions if the test is not true. | (unless (> 1 2) "yes")': when(false),
  '(set! name value) | Gives a variable of the program another value; data cannot be changed. | (let ((x 1)) (set! x 2) x)': (form, scope) => {
    const [target, source] = operands(form, 2, 2)
    if (!(target instanceof Sym)) return bad(form)
    const to = scope.find(target.name) ?? { op: 'global', cell: scope.globals.cell(target.name) }
    return { op: 'set', to, value: expand(source!, scope) }
  },
  '(let-values (((a b) expression) …) body …) | Names for multiple values. | (let-values (((q r) (values 3 1))) (list q r))': letValues,
  '(let*-values (((a b) expression) …) body …) | As let-values, in order. | (let*-values (((q r) (values 3 1)) ((s) (values (+ q r)))) s)': letValues,
  '(receive (a b . rest) expression body …) | Names for multiple values. | (receive (q r) (values 3 1) (list q r))': (form, scope) => {
    const [names, producer, ...forms] = operands(form, 3)
    const consumer = code('lambda', names!, ...forms)
    return expand(list([scope.globals.builtin('call-with-values'), code('lambda', EMPTY, producer!), consumer]), scope)
  },
})

const SYNTAX = new Map([...RULES].map(([name, { body }]) => [name, new Syntax(name, body)]))
