import { constant, expand, quoted, type Scope } from './expand.ts'
import type { Node } from './tree.ts'
import { Braced, Bracketed, EMPTY, list, Pair, SchemeError, Sym, type Value, Vec } from './values.ts'

/** The operand of `(name operand)`, if that is what the form is. */
const wrapped = (form: Value, name: string): Value | undefined =>
  form instanceof Pair &&
  form.car instanceof Sym &&
  form.car.name === name &&
  form.cdr instanceof Pair &&
  form.cdr.cdr === EMPTY
    ? form.cdr.car
    : undefined

const call = (scope: Scope, name: string, args: Node[]): Node => ({
  op: 'call',
  target: constant(scope.globals.builtin(name)),
  args,
})

/** Builds the code that builds the data; what holds no unquote stays one constant. */
export function quasiquote(form: Value, scope: Scope, level: number): Node {
  const unquoted = wrapped(form, 'unquote')
  if (unquoted !== undefined)
    return level === 1 ? expand(unquoted, scope, false) : rewrap('unquote', unquoted, scope, level - 1)
  const nested = wrapped(form, 'quasiquote')
  if (nested !== undefined) return rewrap('quasiquote', nested, scope, level + 1)
  if (level === 1 && wrapped(form, 'unquote-splicing') !== undefined)
    throw new SchemeError('unquote-splicing: ,@ stands inside a list')
  if (form instanceof Pair) return quasilist(form, scope, level)
  if (form instanceof Bracketed) return quasilist(list(form.items), scope, level)
  if (form instanceof Vec) return call(scope, 'list->vector', [quasilist(list(form.items), scope, level)])
  if (form instanceof Braced)
    return call(
      scope,
      'record',
      form.items.map((item, i) => (i % 2 === 0 ? constant(item) : quasiquote(item, scope, level))),
    )
  return constant(quoted(form))
}

const rewrap = (name: string, inner: Value, scope: Scope, level: number): Node =>
  call(scope, 'list', [constant(new Sym(name)), quasiquote(inner, scope, level)])

/** A run of elements becomes one `cons*`; a splice starts an `append`. */
function quasilist(form: Value, scope: Scope, level: number): Node {
  const items: Node[] = []
  let rest = form
  for (; rest instanceof Pair; rest = rest.cdr) {
    if (items.length > 0 && (wrapped(rest, 'unquote') !== undefined || wrapped(rest, 'quasiquote') !== undefined)) break
    const spliced = wrapped(rest.car, 'unquote-splicing')
    if (spliced !== undefined && level === 1) {
      const tail = quasiquote(rest.cdr, scope, level)
      const joined =
        rest.cdr === EMPTY
          ? expand(spliced, scope, false)
          : call(scope, 'append', [expand(spliced, scope, false), tail])
      return items.length > 0 ? call(scope, 'cons*', [...items, joined]) : joined
    }
    items.push(
      spliced !== undefined
        ? rewrap('unquote-splicing', spliced, scope, level - 1)
        : quasiquote(rest.car, scope, level),
    )
  }
  const tail = rest === EMPTY ? constant(EMPTY) : quasiquote(rest, scope, level)
  if (tail.op === 'const' && items.every((item) => item.op === 'const'))
    return constant(
      list(
        items.map((item) => (item as { value: Value }).value),
        tail.value,
      ),
    )
  if (items.length > 5_000) throw new SchemeError('quasiquote: more than 5000 elements')
  return items.length > 0 ? call(scope, 'cons*', [...items, tail]) : tail
}
