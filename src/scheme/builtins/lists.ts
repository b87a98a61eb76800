import { count, index, items, notOf, num, pair } from '../argument-types.ts'
import { arith, compareNum, guard } from '../arithmetic.ts'
import { type Definition, def, def1, def2 } from '../define.ts'
import { identity, isEqual, isSame } from '../equality.ts'
import { type CallContext, EMPTY, elements, list, Pair, SchemeError, type Value } from '../values.ts'

const first = (name: string, v: Value): Value => {
  if (v instanceof Pair) return v.car
  throw notOf(name, 'a pair', v)
}
const rest = (name: string, v: Value): Value => {
  if (v instanceof Pair) return v.cdr
  throw notOf(name, 'a pair', v)
}

/** `cadr`, `cddr` … `cddddr`: each letter from the right is one step. */
const paths = (): readonly Definition[] =>
  ['aa', 'ad', 'da', 'dd']
    .flatMap((two) => [two, `a${two}`, `d${two}`, `aa${two}`, `ad${two}`, `da${two}`, `dd${two}`])
    .map((path) => {
      const name = `c${path}r`
      const steps = [...path].reverse()
      const about = `The ${[...path].map((step) => `c${step}r`).join(' of the ')}.`
      const data = [...path].reduce((inner, step) => (step === 'a' ? `(${inner})` : `(0 . ${inner})`), 'x')
      return def1(`(${name} xs)`, about, `(${name} '${data})`, (v) =>
        steps.reduce<Value>((value, step) => (step === 'a' ? first(name, value) : rest(name, value)), v),
      )
    })

const ORDINALS = ['first', 'second', 'third', 'fourth', 'fifth']
const ordinals = (): readonly Definition[] =>
  ORDINALS.map((name, at) =>
    def1(`(${name} xs)`, `The ${name} element of a list.`, `(${name} '(1 2 3 4 5))`, (xs) => {
      let here: Value = xs
      for (let i = 0; i < at && here instanceof Pair; i++) here = here.cdr
      if (here instanceof Pair) return here.car
      throw new SchemeError(`${name}: the list has fewer than ${at + 1} element(s)`, '(length xs) tells how many')
    }),
  )

const APPEND = def('(append xs …)', 'The lists one after another.', "(append '(1 2) '(3) '(4 5))", (args, ctx) => {
  let tail: Value = args.at(-1) ?? EMPTY
  for (let i = args.length - 2; i >= 0; i--) {
    const front = items('append', args[i], ctx)
    ctx.alloc(front.length)
    tail = list(front, tail)
  }
  return tail
})

const member = (name: string, about: string, same: (a: Value, b: Value, ctx: CallContext) => boolean): Definition =>
  def2(`(${name} x xs)`, about, `(${name} 'b '(a b c))`, (x, xs, ctx) => {
    for (let here: Value = xs; ; here = here.cdr) {
      if (!(here instanceof Pair)) return here === EMPTY ? false : notAList(name, xs)
      ctx.charge(1)
      if (same(x, here.car, ctx)) return here
    }
  })

const assoc = (name: string, about: string, same: (a: Value, b: Value, ctx: CallContext) => boolean): Definition =>
  def2(`(${name} key pairs)`, about, `(${name} 'b '((a 1) (b 2)))`, (key, pairs, ctx) => {
    for (let here: Value = pairs; ; here = here.cdr) {
      if (!(here instanceof Pair)) return here === EMPTY ? false : notAList(name, pairs)
      ctx.charge(1)
      if (same(key, pair(name, here.car).car, ctx)) return here.car
    }
  })

const notAList = (name: string, v: Value): never => {
  throw notOf(name, 'a list', v)
}

const TAIL = def2(
  '(list-tail xs k)',
  'What is left after the first k elements.',
  "(list-tail '(1 2 3) 1)",
  (xs, k, ctx) => {
    let here: Value = xs
    for (let n = count('list-tail', k); n > 0; n--) {
      if (!(here instanceof Pair)) throw new SchemeError('list-tail: the list is shorter than that')
      ctx.charge(1)
      here = here.cdr
    }
    return here
  },
)

function lastPair(name: string, xs: Value, ctx: CallContext): Pair {
  let here = pair(name, xs)
  while (here.cdr instanceof Pair) {
    ctx.charge(1)
    here = here.cdr
  }
  return here
}

/** `(take xs n)` of a shorter list gives all of it: "the ten best" must not fail where there are nine. */
const TAKE = def2(
  '(take xs n)',
  'The first n elements, or all if there are fewer.',
  "(take '(1 2 3) 2)",
  (xs, n, ctx) => {
    const [many, one] = xs === EMPTY || xs instanceof Pair ? [xs, n] : [n, xs]
    const all = items('take', many, ctx)
    const kept = all.slice(0, count('take', one))
    ctx.alloc(kept.length)
    return list(kept)
  },
)

const DROP = def2('(drop xs n)', 'What is left without the first n elements.', "(drop '(1 2 3) 2)", (xs, n, ctx) => {
  let here: Value = xs === EMPTY || xs instanceof Pair ? xs : n
  for (let left = count('drop', here === xs ? n : xs); left > 0 && here instanceof Pair; left--) {
    ctx.charge(1)
    here = here.cdr
  }
  return here
})

/** Any two values in a fixed order: nil, numbers, strings, the rest as they come. */
function order(a: Value, b: Value): number {
  const [x, y] = [rank(a), rank(b)]
  if (x !== y) return x - y
  if (x === 1) return compareNum(num('sort', a), num('sort', b)) || 0
  if (x === 2) return (a as string) < (b as string) ? -1 : (a as string) > (b as string) ? 1 : 0
  return 0
}
const rank = (v: Value): number =>
  v === null ? 0 : typeof v === 'bigint' || typeof v === 'number' ? 1 : typeof v === 'string' ? 2 : 3

/** Lists, as R7RS and SRFI 1 know them. */
export const lists = (): readonly Definition[] => [
  def2('(cons x xs)', 'A pair: a list with x before xs.', "(cons 1 '(2 3))", (x, xs, ctx) => {
    ctx.alloc(1)
    return new Pair(x, xs)
  }),
  def1('(car xs)', 'The first of a pair.', "(car '(1 2))", (xs) => first('car', xs)),
  def1('(cdr xs)', 'The rest of a pair.', "(cdr '(1 2))", (xs) => rest('cdr', xs)),
  ...paths(),
  ...ordinals(),
  def('(list x …)', 'A list of these; [x …] is short for it.', '(list 1 2 3)', (args, ctx) => {
    ctx.alloc(args.length)
    return list(args)
  }),
  def('(cons* x y …)', 'The elements before the last, which is a list.', "(cons* 1 2 '(3 4))", (args, ctx) => {
    ctx.alloc(args.length)
    return list(args.slice(0, -1), args.at(-1) as Value)
  }),
  def('(make-list n [fill])', 'A list of n times the same.', '(make-list 3 0)', (args, ctx) => {
    const n = count('make-list', args[0])
    ctx.alloc(n)
    return list(new Array<Value>(n).fill(args[1] ?? null))
  }),
  def('(iota n [start] [step])', 'n numbers from start (0) by step (1).', '(iota 5 1)', (args, ctx) => {
    const n = count('iota', args[0])
    ctx.alloc(n)
    ctx.charge(n)
    const [start, step] = [num('iota', args[1] ?? 0n), num('iota', args[2] ?? 1n)]
    const exact = typeof start === 'bigint' && typeof step === 'bigint'
    return list(
      Array.from({ length: n }, (_, i) =>
        exact ? guard(start + BigInt(i) * step, ctx) : Number(start) + i * Number(step),
      ),
    )
  }),
  def1('(length xs)', 'How many elements a list has.', "(length '(a b c))", (xs, ctx) => {
    let n = 0
    let here: Value = xs
    for (; here instanceof Pair; here = here.cdr) n++
    ctx.charge(n)
    return here === EMPTY ? BigInt(n) : notAList('length', xs)
  }),
  APPEND,
  def1('(reverse xs)', 'The list back to front.', "(reverse '(1 2 3))", (xs, ctx) => {
    const all = items('reverse', xs, ctx)
    ctx.alloc(all.length)
    return list(all.reverse())
  }),
  def1('(list-copy xs)', 'The same list.', "(list-copy '(1 2))", (xs, ctx) => {
    for (let here: Value = xs; here instanceof Pair; here = here.cdr) ctx.charge(1)
    return xs
  }),
  TAIL,
  def2('(list-ref xs k)', 'The element at k, counted from 0.', "(list-ref '(a b c) 1)", (xs, k, ctx) => {
    let here: Value = xs
    for (let n = count('list-ref', k); n > 0 && here instanceof Pair; n--) {
      ctx.charge(1)
      here = here.cdr
    }
    if (here instanceof Pair) return here.car
    throw new SchemeError('list-ref: the list is shorter than that', '(length xs) tells how many')
  }),
  TAKE,
  DROP,
  def1('(last-pair xs)', 'The last pair of a list.', "(last-pair '(1 2 3))", (xs, ctx) =>
    lastPair('last-pair', xs, ctx),
  ),
  def1('(last xs)', 'The last element.', "(last '(1 2 3))", (xs, ctx) => lastPair('last', xs, ctx).car),
  member('memq', 'The list from the first element that is eq? to x, or #f.', isSame),
  member('memv', 'The list from the first element that is eqv? to x, or #f.', isSame),
  assoc('assq', 'The first pair whose car is eq? to the key, or #f.', isSame),
  assoc('assv', 'The first pair whose car is eqv? to the key, or #f.', isSame),
  member('%member', 'member without a predicate.', isEqual),
  assoc('%assoc', 'assoc without a predicate.', isEqual),
  def1('(null? x)', 'Is it the empty list? (nil is not: see nil?.)', "(null? '())", (x) => x === EMPTY),
  def1('(pair? x)', 'Is it a pair?', "(pair? '(1))", (x) => x instanceof Pair),
  def1('(list? x)', 'Is it a proper list?', "(list? '(1 2))", (x, ctx) => {
    let here = x
    for (; here instanceof Pair; here = here.cdr) ctx.charge(1)
    return here === EMPTY
  }),
  def1('(empty? x)', 'Is it the empty list, "" or nil?', "(empty? '())", (x) => x === EMPTY || x === '' || x === null),
  def1('(flatten x)', 'All leaves of nested lists in one list.', "(flatten '(1 (2 (3)) 4))", (x, ctx) => {
    const out: Value[] = []
    const todo: Value[] = [x]
    while (todo.length > 0) {
      const here = todo.pop() as Value
      ctx.charge(1)
      if (here instanceof Pair) todo.push(here.cdr, here.car)
      else if (here !== EMPTY) {
        ctx.alloc(1)
        out.push(here)
      }
    }
    return list(out)
  }),
  def1('(sum xs)', 'The sum of a list of numbers; nil among them is left out.', '(sum (list 1 2 3))', (xs, ctx) =>
    items('sum', xs, ctx).reduce<bigint | number>(
      (total, x) => (x === null ? total : arith.add(total, num('sum', x), ctx)),
      0n,
    ),
  ),
  def('(%delete-duplicates xs)', 'delete-duplicates by equal?.', "(%delete-duplicates '(1 2 1))", ([xs], ctx) => {
    const seen = new Set<unknown>()
    const others: Value[] = []
    const kept = items('delete-duplicates', xs, ctx).filter((x) => {
      ctx.alloc(2 + (typeof x === 'string' ? x.length >> 3 : 0))
      const id = identity(x)
      if (id !== undefined) return !seen.has(id) && seen.add(id)
      if (others.some((other) => isEqual(other, x, ctx))) return false
      others.push(x)
      return true
    })
    return list(kept)
  }),
  def2(
    '(%sort-plain xs descending)',
    'Sorts by the order of builtins.',
    "(%sort-plain '(2 1) #f)",
    (xs, descending, ctx) => {
      const all = items('sort', xs, ctx)
      ctx.alloc(all.length)
      ctx.charge(all.length * Math.ceil(Math.log2(all.length + 1)))
      const sign = descending === true ? -1 : 1
      return list(all.sort((a, b) => sign * order(a, b)))
    },
  ),
  def2(
    '(%sort-keys pairs descending)',
    'Sorts (key . value) by key, gives the values.',
    "(%sort-keys '((2 . b) (1 . a)) #f)",
    (pairs, descending, ctx) => {
      const all = items('sort-by', pairs, ctx).map((p) => pair('sort-by', p))
      ctx.alloc(all.length)
      ctx.charge(all.length * Math.ceil(Math.log2(all.length + 1)))
      const sign = descending === true ? -1 : 1
      // Missing values come last in either direction.
      const by = (a: Pair, b: Pair): number =>
        a.car === null || b.car === null ? Number(a.car === null) - Number(b.car === null) : sign * order(a.car, b.car)
      return list(all.sort(by).map((p) => p.cdr))
    },
  ),
  def1(
    '(%group pairs)',
    'Groups (key . value) by equal keys, in order of first appearance.',
    "(%group '((a . 1) (b . 2) (a . 3)))",
    (pairs, ctx) => {
      const groups: { key: Value; values: Value[] }[] = []
      const known = new Map<unknown, { key: Value; values: Value[] }>()
      for (const item of items('group-by', pairs, ctx)) {
        const { car: key, cdr: value } = pair('group-by', item)
        ctx.alloc(3 + (typeof key === 'string' ? key.length >> 3 : 0))
        const id = identity(key)
        let found = id !== undefined ? known.get(id) : groups.find((g) => isEqual(g.key, key, ctx))
        if (!found) {
          found = { key, values: [] }
          groups.push(found)
          if (id !== undefined) known.set(id, found)
        }
        found.values.push(value)
      }
      return list(groups.map((g) => new Pair(g.key, list(g.values))))
    },
  ),
  def2(
    '(%onto reversed xs)',
    'The first list back to front, then the second.',
    "(%onto '(2 1) '(3))",
    (reversed, xs, ctx) => {
      let out = xs
      for (let here = reversed; here instanceof Pair; here = here.cdr) {
        ctx.charge(1)
        ctx.alloc(1)
        out = new Pair(here.car, out)
      }
      return out
    },
  ),
  def1('(%alike? xs)', 'Are all numbers, or all strings?', "(%alike? '(1 2))", (xs, ctx) => {
    const ranks = new Set(items('sort', xs, ctx).map(rank))
    return ranks.size <= 1 && !ranks.has(3) && !ranks.has(0)
  }),
  def2(
    '(%end name rest)',
    'The empty list, if that is what is left at the end of a list.',
    '(%end "map" \'())',
    (name, left) => {
      if (left !== EMPTY) throw notOf(name as string, 'a list', left)
      return EMPTY
    },
  ),
  def(
    '(sublist xs start end)',
    'The elements from start up to, not including, end.',
    "(sublist '(a b c d) 1 3)",
    (args, ctx) => {
      const all = elements(args[0]!) ?? notAList('sublist', args[0]!)
      ctx.charge(all.length)
      const end = index('sublist', args[2], all.length)
      const part = all.slice(index('sublist', args[1], end), end)
      ctx.alloc(part.length)
      return list(part)
    },
  ),
]
