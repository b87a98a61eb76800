import { index, items, notOf, range, vec, WrongArgument } from '../argument-types.ts'
import { isEqual, isSame } from '../equality.ts'
import { access, Entity, type Fields, isProcedure, isTrue, Keyword, list, Many, Rec, type Run, SchemeError, Sym, UNSPECIFIED, type Value, Vec } from '../values.ts' // biome-ignore format: one line of names
import { brief } from '../write.ts'

function key(v: Value): string {
  if (typeof v === 'string') return v
  if (v instanceof Keyword || v instanceof Sym) return v.name
  throw notOf('a key such as :name', v)
}

const fieldsOf = (v: Value): Fields | undefined =>
  v instanceof Rec ? v.entries : v instanceof Entity ? v.fields : undefined

function fields(v: Value): Fields {
  const found = fieldsOf(v)
  if (!found) throw notOf('a record or an entity', v)
  return found
}

const recordOf = (old: Fields, rest: readonly Value[], ctx: Parameters<Run>[1]): Rec => {
  if (rest.length % 2 !== 0) throw new WrongArgument('expects a value after each key')
  ctx.alloc(old.size + rest.length)
  ctx.charge(old.size)
  const entries = new Map(old)
  for (let i = 0; i < rest.length; i += 2) entries.set(key(rest[i]!), rest[i + 1]!)
  return new Rec(entries)
}

const is =
  (holds: (x: Value) => boolean): Run =>
  (args) =>
    holds(args[0])

const allSame =
  (holds: (x: Value) => boolean, wanted: string): Run =>
  (args) => {
    for (const arg of args) if (!holds(arg)) throw notOf(wanted, arg)
    return args.every((arg) => isSame(arg, args[0]))
  }

// biome-ignore format: a table, one entry a line where it can be
export const values: Record<string, Run | string> = {
  '(not x) | #t for #f and nil, else #f. | (not #f)': is((x) => !isTrue(x)),
  "(eq? a b) | Are they the same? | (eq? 'a 'a)": ([a, b]) => isSame(a, b),
  '(eqv? a b) | Are they the same? Numbers by exactness and value. | (eqv? 1.0 1.0)': ([a, b]) => isSame(a, b),
  "(equal? a b) | Are they alike, element by element? | (equal? '(1 (2)) (list 1 (list 2)))": ([a, b], ctx) => isEqual(a, b, ctx),
  '(boolean? x) | Is it #t or #f? | (boolean? #f)': is((x) => typeof x === 'boolean'),
  "(symbol? x) | Is it a symbol? | (symbol? 'a)": is((x) => x instanceof Sym),
  '(keyword? x) | Is it a keyword? | (keyword? :a)': is((x) => x instanceof Keyword),
  '(procedure? x) | Can it be called? | (procedure? car)': is(isProcedure),
  '(nil? x) | Is it nil, as a missing field is? | (nil? (:missing {:a 1}))': is((x) => x === null),
  '(boolean=? a b …) | Are all the same boolean? | (boolean=? #t #t)': allSame((x) => typeof x === 'boolean', 'booleans'),
  "(symbol=? a b …) | Are all the same symbol? | (symbol=? 'a 'a)": allSame((x) => x instanceof Sym, 'symbols'),
  '(identity x) | x itself. | (identity 1)': ([x]) => x,
  '(void x …) | Nothing. | (void)': () => UNSPECIFIED,
  '(values x …) | Several results at once, for receive, let-values and call-with-values. | (receive (a b) (values 1 2) (+ a b))': (args, ctx) => {
    ctx.alloc(args.length)
    return args.length === 1 ? args[0] : new Many(args)
  },
  '(call-with-values producer consumer) | Calls the consumer with the values that the producer returns. | (call-with-values (lambda () (values 1 2)) +)': '(lambda (producer consumer) (apply consumer (%values->list (producer))))',
  '(%values->list x) | The list of multiple values. | (%values->list (values 1 2))': ([x], ctx) => {
    const all = x instanceof Many ? x.items : [x]
    ctx.alloc(all.length)
    return list(all)
  },
  '(error message x …) | Ends the form with this error. | (if #f (error "no such task:" 7) "fine")': (args) => {
    const told = args.slice(0, 50).map((arg, i) => (i === 0 && typeof arg === 'string' ? arg : brief(arg)))
    throw new SchemeError(told.join(' '))
  },
  '(raise x) | Ends the form with x as the error. | (if #f (raise \'oops) "fine")': ([x]) => {
    throw new SchemeError(`raised: ${brief(x)}`)
  },
  '(assert x [message]) | Ends the form with an error if x is #f or nil. | (assert (= 1 1))': ([x, message]) => {
    if (!isTrue(x)) throw new SchemeError(typeof message === 'string' ? message : 'assertion failed')
    return true
  },
  '(@ x key [default]) | The field of a record or entity; nil (or the default) if it has none. (:key x) is the same. | (@ {:name "a"} :name)': ([x, name, missing]) => access(x, key(name), missing ?? null),
  '(@keys x) | The names of the fields a record or entity has. | (@keys {:a 1 :b 2})': ([x], ctx) => {
    const names = [...(fieldsOf(x)?.keys() ?? [])]
    ctx.alloc(names.length)
    return list(names.map((name) => new Keyword(name)))
  },
  '(record key value …) | A record; {:key value …} is short for it. | (record :a 1 :b 2)': (args, ctx) => recordOf(new Map(), args, ctx),
  '(record-with x key value …) | A copy of a record with these fields set. | (record-with {:a 1} :b 2)': ([x, ...rest], ctx) => recordOf(fields(x), rest, ctx),
  '(record->list x) | The fields as a list of (key value). | (record->list {:a 1})': ([x], ctx) => {
    const all = [...fields(x)]
    ctx.alloc(4 * all.length)
    return list(all.map(([name, value]) => list([new Keyword(name), value])))
  },
  '(select x key …) | A record of only these fields. | (select {:a 1 :b 2} :a)': ([x, ...keys], ctx) => {
    ctx.alloc(keys.length)
    return new Rec(new Map(keys.map((name) => [key(name), access(x, key(name), null)])))
  },
  '(has-field? x key) | Does it have a field of that name? | (has-field? {:a nil} :a)': ([x, name]) => fieldsOf(x)?.has(key(name)) ?? false,
  "(kind-of x) | The kind of an entity, else nil. | (kind-of '(1))": ([x]) => (x instanceof Entity ? x.kind : null),
  '(record? x) | Is it a record? | (record? {:a 1})': is((x) => x instanceof Rec),
  '(entity? x) | Is it an entity? | (entity? 1)': is((x) => x instanceof Entity),
  "(vector? x) | Is it a vector? | (vector? '#(1 2))": is((x) => x instanceof Vec),
  '(vector x …) | A vector of these; it cannot be changed. | (vector 1 2 3)': (args, ctx) => {
    ctx.alloc(args.length)
    return new Vec(args)
  },
  '(make-vector n [fill]) | A vector of n times the same. | (make-vector 3 0)': ([n, fill], ctx) => {
    ctx.alloc(index(n))
    return new Vec(new Array<Value>(index(n)).fill(fill ?? null))
  },
  "(vector-length v) | How many elements it has. | (vector-length '#(1 2))": ([v]) => BigInt(vec(v).items.length),
  "(vector-ref v k) | The element at k, counted from 0. | (vector-ref '#(a b c) 1)": ([v, k]) => vec(v).items[index(k, vec(v).items.length - 1)]!,
  "(vector->list v [start] [end]) | Its elements as a list. | (vector->list '#(1 2 3) 1)": ([v, start, end], ctx) => {
    const part = vec(v).items.slice(...range(start, end, vec(v).items.length))
    ctx.alloc(part.length)
    return list(part)
  },
  "(list->vector xs) | The vector of a list. | (list->vector '(1 2))": ([xs], ctx) => {
    const all = items(xs, ctx)
    ctx.alloc(all.length)
    return new Vec(all)
  },
  "(vector-map f v w …) | The vector of the results of f. | (vector-map square '#(1 2))": '(lambda (f . vs) (list->vector (apply map f (map vector->list vs))))',
  "(vector-for-each f v w …) | Calls f for each element. | (vector-for-each square '#(1 2))": '(lambda (f . vs) (apply for-each f (map vector->list vs)))',
}
