import { index, isNum, items, notOf, num, pair, WrongArgument } from '../argument-types.ts'
import { identity, isEqual, isSame } from '../equality.ts'
import { APPLY } from '../machine.ts'
import { Builtin, type CallContext, EMPTY, list, Pair, type Run, type Value } from '../values.ts'
import { add, compareNum, guard } from './numbers.ts'

/** `cadr`, `cddr` …: each letter from the right is one step. */
const path =
  (steps: string): Run =>
  ([xs]) =>
    [...steps].reduceRight((here, step) => (step === 'a' ? pair(here).car : pair(here).cdr), xs)

/** What is left after so many elements, or where the list ended before. */
function tail(xs: Value, count: number, ctx: CallContext): Value {
  let here = xs
  for (let n = count; n > 0 && here instanceof Pair; n--) {
    ctx.charge(1)
    here = here.cdr
  }
  return here
}

function element(xs: Value, at: number, ctx: CallContext): Value {
  const here = tail(xs, at, ctx)
  if (here instanceof Pair) return here.car
  throw new WrongArgument(`the list has fewer than ${at + 1} element(s)`, '(length xs) tells how many')
}

/** The list from the first element that is the same, or, of pairs, the pair whose car is; else #f. */
const search =
  (same: (a: Value, b: Value, ctx: CallContext) => boolean, isAssoc: boolean): Run =>
  ([x, xs], ctx) => {
    let here = xs
    for (; here instanceof Pair; here = here.cdr) {
      ctx.charge(1)
      if (same(x, isAssoc ? pair(here.car).car : here.car, ctx)) return isAssoc ? here.car : here
    }
    if (here !== EMPTY) throw notOf('a list', xs)
    return false
  }

/** `(take 2 xs)` is taken for `(take xs 2)`. */
const listFirst = (a: Value, b: Value): [Value, number] =>
  a === EMPTY || a instanceof Pair ? [a, index(b)] : [b, index(a)]

function paid(xs: readonly Value[], ctx: CallContext): Value {
  ctx.alloc(xs.length)
  return list(xs)
}

/** Of values of builtin sorts, nil first; of all others the order is as it was. */
const rank = (v: Value): number => (v === null ? 0 : isNum(v) ? 1 : typeof v === 'string' ? 2 : 3)
function order(a: Value, b: Value): number {
  if (rank(a) !== rank(b)) return rank(a) - rank(b)
  if (isNum(a) && isNum(b)) return compareNum(a, b) || 0
  return typeof a !== 'string' || a === b ? 0 : a < (b as string) ? -1 : 1
}

/** The builtin comparisons by which lists are sorted without calling them: upward or downward. */
const DIRECTIONS: Record<string, number> = { '<': 1, '<=': 1, 'string<?': 1, 'string<=?': 1, '>': -1, '>=': -1, 'string>?': -1, 'string>=?': -1 } // biome-ignore format: a table

/** For each key that occurs, in order, what stands beside it. */
function grouped(pairs: readonly Pair[], ctx: CallContext): { key: Value; values: Value[] }[] {
  const groups: { key: Value; values: Value[] }[] = []
  const known = new Map<unknown, { key: Value; values: Value[] }>()
  for (const { car: key, cdr: value } of pairs) {
    ctx.alloc(3 + (typeof key === 'string' ? key.length >> 3 : 0))
    const id = identity(key)
    let found = id === undefined ? groups.find((group) => isEqual(group.key, key, ctx)) : known.get(id)
    if (!found) {
      found = { key, values: [] }
      groups.push(found)
      if (id !== undefined) known.set(id, found)
    }
    found.values.push(value)
  }
  return groups
}

/** Sorts by a builtin comparison: numbers or strings, or, by the cars of pairs, anything, missing values last. Else #f. */
const sort: Run = ([xs, less, isKeyed], ctx) => {
  const direction = less instanceof Builtin ? DIRECTIONS[less.name] : undefined
  const all = items(xs, ctx)
  const key = (x: Value): Value => (isKeyed === true ? pair(x).car : x)
  const ranks = new Set(all.map((x) => rank(key(x))))
  if (direction === undefined || (isKeyed !== true && (ranks.size > 1 || ranks.has(0) || ranks.has(3)))) return false
  ctx.alloc(all.length)
  ctx.charge(all.length * Math.ceil(Math.log2(all.length + 1)))
  const compare = (a: Value, b: Value): number =>
    a === null || b === null ? Number(a === null) - Number(b === null) : direction * order(a, b)
  all.sort((a, b) => compare(key(a), key(b)))
  return list(isKeyed === true ? all.map((x) => pair(x).cdr) : all)
}

/** Those that call procedures are in Scheme: what they call runs on the machine, in its budget, at any depth. */
// biome-ignore format: a table, one entry a line where it can be
export const lists: Record<string, Run | string | Builtin> = {
  "(cons x xs) | A pair: a list with x before xs. | (cons 1 '(2 3))": (args, ctx) => {
    ctx.alloc(1)
    return new Pair(args[0], args[1])
  },
  "(car xs) | The first of a pair. | (car '(1 2))": (args) => pair(args[0]).car,
  "(cdr xs) | The rest of a pair. | (cdr '(1 2))": (args) => pair(args[0]).cdr,
  "(caar xs) | The car of the car. | (caar '((1)))": path('aa'),
  "(cadr xs) | The car of the cdr. | (cadr '(1 2))": path('ad'),
  "(cdar xs) | The cdr of the car. | (cdar '((1 2)))": path('da'),
  "(cddr xs) | The cdr of the cdr. | (cddr '(1 2))": path('dd'),
  "(caddr xs) | The car of the cdr of the cdr. | (caddr '(1 2 3))": path('add'),
  "(cdddr xs) | The cdr of the cdr of the cdr. | (cdddr '(1 2 3))": path('ddd'),
  "(cadddr xs) | The car of the cdr of the cdr of the cdr. | (cadddr '(1 2 3 4))": path('addd'),
  "(first xs) | The first element of a list. | (first '(1 2 3 4 5))": ([xs], ctx) => element(xs, 0, ctx),
  "(second xs) | The second element of a list. | (second '(1 2 3 4 5))": ([xs], ctx) => element(xs, 1, ctx),
  "(third xs) | The third element of a list. | (third '(1 2 3 4 5))": ([xs], ctx) => element(xs, 2, ctx),
  "(fourth xs) | The fourth element of a list. | (fourth '(1 2 3 4 5))": ([xs], ctx) => element(xs, 3, ctx),
  "(fifth xs) | The fifth element of a list. | (fifth '(1 2 3 4 5))": ([xs], ctx) => element(xs, 4, ctx),
  '(list x …) | A list of these; [x …] is short for it. | (list 1 2 3)': paid,
  "(cons* x y …) | The elements before the last, which is a list. | (cons* 1 2 '(3 4))": (args, ctx) => {
    ctx.alloc(args.length)
    return list(args.slice(0, -1), args.at(-1))
  },
  '(make-list n [fill]) | A list of n times the same. | (make-list 3 0)': ([n, fill], ctx) => {
    ctx.alloc(index(n))
    return list(new Array<Value>(index(n)).fill(fill ?? null))
  },
  '(iota n [start] [step]) | n numbers from start (0) by step (1). | (iota 5 1)': ([n, start = 0n, step = 1n], ctx) => {
    ctx.alloc(index(n))
    ctx.charge(index(n))
    const [from, by] = [num(start), num(step)]
    const at = (i: number): Value =>
      typeof from === 'bigint' && typeof by === 'bigint'
        ? guard(from + BigInt(i) * by, ctx)
        : Number(from) + i * Number(by)
    return list(Array.from({ length: index(n) }, (_, i) => at(i)))
  },
  "(length xs) | How many elements a list has. | (length '(a b c))": ([xs], ctx) => {
    let n = 0
    let here = xs
    for (; here instanceof Pair; here = here.cdr) n++
    ctx.charge(n)
    if (here !== EMPTY) throw notOf('a list', xs)
    return BigInt(n)
  },
  "(append xs …) | The lists one after another. | (append '(1 2) '(3) '(4 5))": (args, ctx) => {
    let joined: Value = args.at(-1) ?? EMPTY
    for (let i = args.length - 2; i >= 0; i--) {
      const front = items(args[i]!, ctx)
      ctx.alloc(front.length)
      joined = list(front, joined)
    }
    return joined
  },
  "(reverse xs) | The list back to front. | (reverse '(1 2 3))": ([xs], ctx) => paid(items(xs, ctx).reverse(), ctx),
  "(list-copy xs) | The same list: lists cannot be changed. | (list-copy '(1 2))": ([xs]) => xs,
  "(list-tail xs k) | What is left after the first k elements. | (list-tail '(1 2 3) 1)": ([xs, k], ctx) => {
    if (index(k) > 0) element(xs, index(k) - 1, ctx)
    return tail(xs, index(k), ctx)
  },
  "(list-ref xs k) | The element at k, counted from 0. | (list-ref '(a b c) 1)": ([xs, k], ctx) => element(xs, index(k), ctx),
  // of a shorter list all of it: "the ten best" must not fail where there are nine
  "(take xs n) | The first n elements, or all if there are fewer. | (take '(1 2 3) 2)": ([a, b], ctx) => {
    const [xs, n] = listFirst(a, b)
    return paid(items(xs, ctx).slice(0, n), ctx)
  },
  "(drop xs n) | What is left without the first n elements. | (drop '(1 2 3) 2)": ([a, b], ctx) => tail(...listFirst(a, b), ctx),
  "(last xs) | The last element. | (last '(1 2 3))": ([xs], ctx) => {
    let here = pair(xs)
    for (; here.cdr instanceof Pair; here = here.cdr) ctx.charge(1)
    return here.car
  },
  "(memq x xs) | The list from the first element that is eq? to x, or #f. | (memq 'b '(a b c))": search(isSame, false),
  "(memv x xs) | The list from the first element that is eqv? to x, or #f. | (memv 'b '(a b c))": search(isSame, false),
  "(member x xs [same?]) | The list from the first element that is equal? to x, or #f. | (member '(1) '(0 (1) 2))": '(lambda (x xs . same?) (if (null? same?) (%member x xs) (find-tail (lambda (y) ((car same?) x y)) xs)))',
  "(%member x xs) | member by equal?. | (%member 'b '(a b c))": search(isEqual, false),
  "(assq key pairs) | The first pair whose car is eq? to the key, or #f. | (assq 'b '((a 1) (b 2)))": search(isSame, true),
  "(assv key pairs) | The first pair whose car is eqv? to the key, or #f. | (assv 'b '((a 1) (b 2)))": search(isSame, true),
  '(assoc key pairs [same?]) | The first pair whose car is equal? to the key, or #f. | (assoc "b" \'(("a" 1) ("b" 2)))': '(lambda (key xs . same?) (if (null? same?) (%assoc key xs) (find (lambda (p) ((car same?) key (car p))) xs)))',
  "(%assoc key pairs) | assoc by equal?. | (%assoc 'b '((a 1) (b 2)))": search(isEqual, true),
  "(null? x) | Is it the empty list? (nil is not: see nil?.) | (null? '())": (args) => args[0] === EMPTY,
  "(pair? x) | Is it a pair? | (pair? '(1))": (args) => args[0] instanceof Pair,
  "(list? x) | Is it a proper list? | (list? '(1 2))": ([xs], ctx) => tail(xs, Number.POSITIVE_INFINITY, ctx) === EMPTY,
  '(empty? x) | Is it the empty list, "" or nil? | (empty? \'())': ([x]) => x === EMPTY || x === '' || x === null,
  "(flatten x) | All leaves of nested lists in one list. | (flatten '(1 (2 (3)) 4))": ([x], ctx) => {
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
  },
  '(sum xs) | The sum of a list of numbers; nil among them is left out. | (sum (list 1 2 3))': ([xs], ctx) => items(xs, ctx).reduce<Value>((total, x) => (x === null ? total : add(total, x, ctx)), 0n),
  "(zip xs ys …) | Lists of the first elements, the second, and so on. | (zip '(1 2) '(a b))": (args, ctx) => {
    const columns = args.map((arg) => items(arg, ctx))
    const rows = Math.min(...columns.map((column) => column.length))
    ctx.alloc(rows * (1 + columns.length))
    return list(Array.from({ length: rows }, (_, i) => list(columns.map((column) => column[i]!))))
  },
  '(%end name rest) | (), if that is what is left at the end of a list. | (%end "map" \'())': ([name, rest]) => {
    if (rest !== EMPTY) throw notOf('a list', rest).of(name as string)
    return rest
  },
  "(apply f x … xs) | Calls f with these arguments and then the elements of the list. | (apply + 1 '(2 3))": APPLY,
  "(map f xs ys …) | The results of f for each element; f may be a keyword: (map :name xs). | (map + '(1 2) '(10 20))": `
    (lambda (f xs . more)
      (if (pair? more) (map (lambda (row) (apply f row)) (apply zip xs more))
        (let loop ((xs xs) (out '()))
          (if (pair? xs) (loop (cdr xs) (cons (f (car xs)) out)) (begin (%end "map" xs) (reverse out))))))`,
  "(for-each f xs ys …) | Calls f for each element. | (for-each car '((1) (2)))": `(lambda (f . lists) (apply map f lists) (void))`,
  "(filter keep? xs) | The elements for which keep? is true; keep? may be a keyword. | (filter odd? '(1 2 3))": `
    (lambda (keep? xs)
      (let loop ((xs xs) (out '()))
        (cond ((pair? xs) (loop (cdr xs) (if (keep? (car xs)) (cons (car xs) out) out))) (else (%end "filter" xs) (reverse out)))))`,
  "(remove drop? xs) | The elements for which drop? is not true. | (remove odd? '(1 2 3))": '(lambda (drop? xs) (filter (lambda (x) (not (drop? x))) xs))',
  "(partition keep? xs) | Two lists, as two values: those for which keep? is true, and the others. | (receive (odd even) (partition odd? '(1 2 3)) (list odd even))": `
    (lambda (keep? xs)
      (let ((marked (map (lambda (x) (cons (if (keep? x) #t #f) x)) xs)))
        (values (map cdr (filter car marked)) (map cdr (remove car marked)))))`,
  "(fold f start xs ys …) | Calls (f element result) from left to right, beginning with start. | (fold cons '() '(1 2 3))": `
    (lambda (f start xs . more)
      (if (pair? more) (fold (lambda (row result) (apply f (append row (list result)))) start (apply zip xs more))
        (let loop ((xs xs) (result start))
          (if (pair? xs) (loop (cdr xs) (f (car xs) result)) (begin (%end "fold" xs) result)))))`,
  "(fold-left f start xs ys …) | Calls (f result element) from left to right, beginning with start. | (fold-left - 10 '(1 2 3))": `(lambda (f start . lists) (fold (lambda (row r) (apply f r row)) start (apply zip lists)))`,
  "(fold-right f start xs ys …) | Calls (f element result) from right to left, beginning with start. | (fold-right cons '() '(1 2 3))": `
    (lambda (f start . lists) (fold (lambda (row r) (apply f (append row (list r)))) start (reverse (apply zip lists))))`,
  "(reduce f default xs) | Calls (f element result) from left to right, beginning with the first element; default for an empty list. | (reduce + 0 '(1 2 3))": '(lambda (f default xs) (if (null? xs) default (fold f (car xs) (cdr xs))))',
  "(append-map f xs ys …) | The lists that f returns, one after another. | (append-map (lambda (x) (list x x)) '(1 2))": '(lambda (f . lists) (apply append (apply map f lists)))',
  "(filter-map f xs ys …) | The results of f that are true. | (filter-map (lambda (x) (if (odd? x) (* x x) #f)) '(1 2 3))": '(lambda (f . lists) (filter identity (apply map f lists)))',
  "(find wanted? xs) | The first element for which wanted? is true, or #f. | (find even? '(1 2 3))": '(lambda (wanted? xs) (let ((found (find-tail wanted? xs))) (if found (car found) #f)))',
  "(find-tail wanted? xs) | The list from the first element for which wanted? is true, or #f. | (find-tail even? '(1 2 3))": `
    (lambda (wanted? xs)
      (let loop ((xs xs)) (if (pair? xs) (if (wanted? (car xs)) xs (loop (cdr xs))) (begin (%end "find" xs) #f))))`,
  "(any wanted? xs ys …) | The first true result of wanted?, or #f. | (any even? '(1 2 3))": `
    (lambda (wanted? . lists)
      (let loop ((rows (apply zip lists))) (if (pair? rows) (or (apply wanted? (car rows)) (loop (cdr rows))) #f)))`,
  "(every wanted? xs ys …) | The last result of wanted? if all are true, else #f. | (every odd? '(1 3))": `
    (lambda (wanted? . lists)
      (let loop ((rows (apply zip lists)) (last #t))
        (if (pair? rows) (let ((now (apply wanted? (car rows)))) (if now (loop (cdr rows) now) now)) last)))`,
  "(count wanted? xs) | For how many elements wanted? is true. | (count odd? '(1 2 3))": '(lambda (wanted? xs) (fold (lambda (x n) (if (wanted? x) (+ n 1) n)) 0 xs))',
  "(list-index wanted? xs) | Where the first element is for which wanted? is true, or #f. | (list-index even? '(1 2 3))": `
    (lambda (wanted? xs) (let ((found (find-tail wanted? xs))) (if found (- (length xs) (length found)) #f)))`,
  "(take-while keep? xs) | The elements before the first for which keep? is not true. | (take-while odd? '(1 3 4 5))": `(lambda (keep? xs) (take xs (or (list-index (lambda (x) (not (keep? x))) xs) (length xs))))`,
  "(drop-while drop? xs) | The elements from the first for which drop? is not true. | (drop-while odd? '(1 3 4 5))": "(lambda (drop? xs) (or (find-tail (lambda (x) (not (drop? x))) xs) '()))",
  "(delete x xs) | The elements that are not equal? to x. | (delete 2 '(1 2 3))": '(lambda (x xs) (remove (lambda (y) (equal? x y)) xs))',
  "(delete-duplicates xs [same?]) | The first of each of the elements that are equal?. | (delete-duplicates '(1 2 1))": `
    (lambda (xs . same?)
      (if (null? same?) (map car (group-by identity xs))
        (reverse (fold (lambda (x out) (if (any (lambda (y) ((car same?) y x)) out) out (cons x out))) '() xs))))`,
  "(sort xs less?) | Sorted, equal elements in their old order; (sort less? xs) is taken too. See sort-by. | (sort '(3 1 2) <)": `
    (lambda (a b)
      (let* ((first? (procedure? a)) (less? (if first? a b)) (xs (if first? b a)))
        (define (merge a b out)
          (cond ((null? a) (append (reverse out) b))
                ((null? b) (append (reverse out) a))
                ((less? (car b) (car a)) (merge a (cdr b) (cons (car b) out)))
                (else (merge (cdr a) b (cons (car a) out)))))
        (define (run xs n)
          (let ((half (quotient n 2)))
            (if (< n 2) (if (= n 0) '() (list (car xs))) (merge (run xs half) (run (drop xs half) (- n half)) '()))))
        (or (%sort xs less? #f) (run xs (length xs)))))`,
  "(%sort xs less? keyed?) | Sorted, if less? is a builtin comparison, else #f. | (%sort '(2 1) < #f)": sort,
  '(sort-by key xs [less?]) | Sorted by what key returns for each element; with > the greatest first. Missing (nil) comes last. | (sort-by :n (list {:n 2} {:n 1}) >)': `
    (lambda (a b . more)
      (let* ((first? (procedure? a)) (key (if first? a b)) (less? (if (null? more) < (car more)))
             (pairs (map (lambda (x) (cons (key x) x)) (if first? b a))))
        (or (%sort pairs less? #t) (map cdr (sort pairs (lambda (p q) (less? (car p) (car q))))))))`,
  "(group-by key xs) | A list of (key element …), one for each different result of key. | (group-by odd? '(1 2 3))": '(lambda (key xs) (%group (map (lambda (x) (cons (key x) x)) xs)))',
  "(%group pairs) | Groups (key . value) by equal keys, in order of first appearance. | (%group '((a . 1) (b . 2) (a . 3)))": ([pairs], ctx) => list(grouped(items(pairs, ctx).map(pair), ctx).map((g) => new Pair(g.key, list(g.values)))),
  "(count-by key xs) | A list of (key n): how many elements there are for each different result of key. | (count-by odd? '(1 2 3))": '(lambda (key xs) (map (lambda (g) (list (car g) (length (cdr g)))) (group-by key xs)))',
  '(list-tabulate n f) | The results of f for 0 to n-1. | (list-tabulate 3 square)': '(lambda (n f) (map f (iota n)))',
}
