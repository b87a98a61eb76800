import { char, count, index, items, notOf, range, str, vec } from '../argument-types.ts'
import { fromData } from '../convert.ts'
import { DataReader } from '../data-reader.ts'
import { alias, type Definition, def, def1, def2 } from '../define.ts'
import type { Shapes } from '../entity-layout.ts'
import { isEqual, isSame } from '../equality.ts'
import { brief as shown } from '../excerpt.ts'
import { access } from '../fields.ts'
import {
  Entity,
  isProcedure,
  isTrue,
  Keyword,
  list,
  Many,
  Rec,
  SchemeError,
  Sym,
  UNSPECIFIED,
  type Value,
  Vec,
} from '../values.ts'
import { made } from './strings.ts'

/** Vectors: they cannot be changed, so most of a program's data is better kept in lists. */
export const vectors = (): readonly Definition[] => [
  def1('(vector? x)', 'Is it a vector?', "(vector? '#(1 2))", (x) => x instanceof Vec),
  def('(vector x …)', 'A vector of these.', '(vector 1 2 3)', (args, ctx) => {
    ctx.alloc(args.length)
    return new Vec(args)
  }),
  def('(make-vector n [fill])', 'A vector of n times the same.', '(make-vector 3 0)', (args, ctx) => {
    const n = count('make-vector', args[0])
    ctx.alloc(n)
    return new Vec(new Array<Value>(n).fill(args[1] ?? null))
  }),
  def1('(vector-length v)', 'How many elements it has.', "(vector-length '#(1 2))", (v) =>
    BigInt(vec('vector-length', v).items.length),
  ),
  def2('(vector-ref v k)', 'The element at k, counted from 0.', "(vector-ref '#(a b c) 1)", (v, k) => {
    const all = vec('vector-ref', v).items
    return all[index('vector-ref', k, all.length - 1)]!
  }),
  def('(vector->list v [start] [end])', 'Its elements as a list.', "(vector->list '#(1 2 3) 1)", (args, ctx) =>
    list(part('vector->list', args, ctx)),
  ),
  def(
    '(subvector v start end)',
    'A part of a vector.',
    "(subvector '#(1 2 3) 0 2)",
    (args, ctx) => new Vec(part('subvector', args, ctx)),
  ),
  def(
    '(vector-copy v [start] [end])',
    'The vector, or a part of it.',
    "(vector-copy '#(1 2 3) 1)",
    (args, ctx) => new Vec(part('vector-copy', args, ctx)),
  ),
  def(
    '(vector->string v [start] [end])',
    'The string of a vector of characters.',
    "(vector->string '#(#\\a #\\b))",
    (args, ctx) => {
      const chars = part('vector->string', args, ctx).map((c) => char('vector->string', c).text)
      return made(chars.join(''), ctx)
    },
  ),
  def1('(list->vector xs)', 'The vector of a list.', "(list->vector '(1 2))", (xs, ctx) => {
    const all = items('list->vector', xs, ctx)
    ctx.alloc(all.length)
    return new Vec(all)
  }),
  def('(vector-append v …)', 'The vectors one after another.', "(vector-append '#(1) '#(2 3))", (args, ctx) => {
    const all = args.map((arg) => vec('vector-append', arg).items)
    ctx.alloc(all.reduce((sum, some) => sum + some.length, 0))
    return new Vec(all.flat())
  }),
]

function part(name: string, args: readonly Value[], ctx: { alloc(n: number): void; charge(n: number): void }): Value[] {
  const all = vec(name, args[0]).items
  const [start, end] = range(name, args, 1, all.length)
  ctx.alloc(end - start)
  ctx.charge(end - start)
  return all.slice(start, end)
}

/** A field's name: a keyword, a string or a symbol. */
function key(name: string, v: Value | undefined): string {
  if (typeof v === 'string') return v
  if (v instanceof Keyword || v instanceof Sym) return v.name
  throw notOf(name, 'a key such as :name', v ?? null)
}

const fieldsOf = (v: Value): ReadonlyMap<string, Value> | undefined =>
  v instanceof Rec ? v.entries : v instanceof Entity ? v.fields : undefined

const fields = (name: string, v: Value): ReadonlyMap<string, Value> => {
  const found = fieldsOf(v)
  if (!found) throw notOf(name, 'a record or an entity', v)
  return found
}

const KEYS = def1('(@keys x)', 'The names of the fields a record or entity has.', '(@keys {:a 1 :b 2})', (x, ctx) => {
  const names = [...(fieldsOf(x)?.keys() ?? [])]
  ctx.alloc(names.length)
  return list(names.map((name) => new Keyword(name)))
})

/** Records and entities: `(:name x)` and `(@ x :name)` read a field, nothing writes one. */
export const records = (): readonly Definition[] => [
  def(
    '(@ x key [default])',
    'The field of a record or entity; nil (or the default) if it has none. (:key x) is the same.',
    '(@ {:name "a"} :name)',
    (args) => access(args[0]!, key('@', args[1]), args[2] ?? null),
  ),
  KEYS,
  alias('record-keys', KEYS),
  def('(record key value …)', 'A record; {:key value …} is short for it.', '(record :a 1 :b 2)', (args, ctx) => {
    if (args.length % 2 !== 0) throw new SchemeError('record: expects a value after each key')
    ctx.alloc(args.length)
    const entries = new Map<string, Value>()
    for (let i = 0; i < args.length; i += 2) entries.set(key('record', args[i]), args[i + 1]!)
    return new Rec(entries)
  }),
  def(
    '(record-with x key value …)',
    'A copy of a record with these fields set.',
    '(record-with {:a 1} :b 2)',
    (args, ctx) => {
      const old = fields('record-with', args[0]!)
      if (args.length % 2 === 0) throw new SchemeError('record-with: expects a value after each key')
      ctx.alloc(old.size + args.length)
      ctx.charge(old.size)
      const entries = new Map(old)
      for (let i = 1; i < args.length; i += 2) entries.set(key('record-with', args[i]), args[i + 1]!)
      return new Rec(entries)
    },
  ),
  def1('(record->list x)', 'The fields as a list of (key value).', '(record->list {:a 1})', (x, ctx) => {
    const all = [...fields('record->list', x)]
    ctx.alloc(4 * all.length)
    return list(all.map(([name, value]) => list([new Keyword(name), value])))
  }),
  def('(select x key …)', 'A record of only these fields.', '(select {:a 1 :b 2} :a)', (args, ctx) => {
    ctx.alloc(args.length)
    return new Rec(new Map(args.slice(1).map((k) => [key('select', k), access(args[0]!, key('select', k), null)])))
  }),
  def2(
    '(has-field? x key)',
    'Does it have a field of that name?',
    '(has-field? {:a nil} :a)',
    (x, k) => fieldsOf(x)?.has(key('has-field?', k)) ?? false,
  ),
  def1('(kind-of x)', 'The kind of an entity, else nil.', "(kind-of '(1))", (x) =>
    x instanceof Entity ? x.kind : null,
  ),
  def1('(record? x)', 'Is it a record?', '(record? {:a 1})', (x) => x instanceof Rec),
  def1('(entity? x)', 'Is it an entity?', '(entity? 1)', (x) => x instanceof Entity),
]

const SYMBOL = (name: string, about: string, example: string, is: (x: Value) => boolean): Definition =>
  def1(`(${name} x)`, about, example, is)

/** Booleans, symbols, keywords, equality, and what else belongs to no other list. */
export const basics = (): readonly Definition[] => [
  def1('(not x)', '#t for #f and nil, else #f.', '(not #f)', (x) => !isTrue(x)),
  def2('(eq? a b)', 'Are they the same?', "(eq? 'a 'a)", isSame),
  def2('(eqv? a b)', 'Are they the same? Numbers by exactness and value.', '(eqv? 1.0 1.0)', isSame),
  def2('(equal? a b)', 'Are they alike, element by element?', "(equal? '(1 (2)) (list 1 (list 2)))", isEqual),
  SYMBOL('boolean?', 'Is it #t or #f?', '(boolean? #f)', (x) => typeof x === 'boolean'),
  SYMBOL('symbol?', 'Is it a symbol?', "(symbol? 'a)", (x) => x instanceof Sym),
  SYMBOL('keyword?', 'Is it a keyword?', '(keyword? :a)', (x) => x instanceof Keyword),
  SYMBOL('procedure?', 'Can it be called?', '(procedure? car)', isProcedure),
  SYMBOL('nil?', 'Is it nil, as a missing field is?', '(nil? (:missing {:a 1}))', (x) => x === null),
  SYMBOL('default-object?', 'Is it nothing?', '(default-object? 1)', (x) => x === UNSPECIFIED),
  allSame('boolean=?', 'Are all the same boolean?', '(boolean=? #t #t)', (x) => typeof x === 'boolean', 'booleans'),
  allSame('symbol=?', 'Are all the same symbol?', "(symbol=? 'a 'a)", (x) => x instanceof Sym, 'symbols'),
  def1('(keyword->string key)', 'The name of a keyword.', '(keyword->string :a)', (k) => key('keyword->string', k)),
  def1('(string->keyword text)', 'The keyword of that name.', '(string->keyword "a")', (text, ctx) => {
    ctx.alloc(1)
    return new Keyword(str('string->keyword', text))
  }),
  def('(symbol-append name …)', 'A symbol of several names.', "(symbol-append 'a 'b)", (args, ctx) => {
    const names = args.map((arg) => key('symbol-append', arg))
    ctx.alloc(1 + (names.reduce((sum, name) => sum + name.length, 0) >> 3))
    return new Sym(names.join(''))
  }),
  def(
    '(values x …)',
    'Several results at once, for receive, let-values and call-with-values.',
    '(receive (a b) (values 1 2) (+ a b))',
    (args, ctx) => {
      ctx.alloc(args.length)
      return args.length === 1 ? args[0]! : new Many(args)
    },
  ),
  def1('(%values->list x)', 'The list of multiple values.', '(%values->list (values 1 2))', (x, ctx) => {
    const all = x instanceof Many ? x.items : [x]
    ctx.alloc(all.length)
    return list(all)
  }),
  def1(
    '(%builtin-order f)',
    'How a builtin comparison sorts: #f ascending, #t descending, nil if it is none.',
    '(%builtin-order <)',
    (f) => {
      const name = isProcedure(f) && 'run' in f ? f.name : ''
      return ['<', '<=', 'string<?', 'string<=?'].includes(name)
        ? false
        : ['>', '>=', 'string>?', 'string>=?'].includes(name)
          ? true
          : null
    },
  ),
  def('(error message x …)', 'Ends the form with this error.', '(if #f (error "no such task:" 7) "fine")', (args) => {
    const told = args.slice(0, 50).map((arg, i) => (i === 0 && typeof arg === 'string' ? arg : shown(arg)))
    throw new SchemeError(told.join(' '))
  }),
  def1('(raise x)', 'Ends the form with x as the error.', '(if #f (raise \'oops) "fine")', (x) => {
    throw new SchemeError(`raised: ${shown(x)}`)
  }),
  def('(assert x [message])', 'Ends the form with an error if x is #f or nil.', '(assert (= 1 1))', (args) => {
    if (!isTrue(args[0]!)) throw new SchemeError(typeof args[1] === 'string' ? args[1] : 'assertion failed')
    return true
  }),
  def('(void x …)', 'Nothing.', '(void)', () => UNSPECIFIED),
  def1('(identity x)', 'x itself.', '(identity 1)', (x) => x),
]

function allSame(name: string, about: string, example: string, is: (x: Value) => boolean, wanted: string): Definition {
  return def(`(${name} a b …)`, about, example, (args) => {
    for (const arg of args) if (!is(arg)) throw notOf(name, wanted, arg)
    return args.every((arg) => isSame(arg, args[0]!))
  })
}

/** `parse-data` needs the interpreter's kinds, so it is made for each. */
export const parseDataFor = (shapes?: Shapes): Definition =>
  def1('(parse-data text)', 'The value that printed data says.', '(parse-data "{:a [b \\"c d\\"]}")', (text, ctx) => {
    const source = str('parse-data', text)
    ctx.charge(source.length)
    ctx.alloc(source.length)
    return fromData(new DataReader(source, shapes).read())
  })
