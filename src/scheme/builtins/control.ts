import { type Definition, def1, scheme } from '../define.ts'
import { APPLY } from '../machine.ts'
import { EMPTY, elements, list, Pair, type Value } from '../values.ts'

/** The cars (or cdrs) of several lists, or #f as soon as one has ended. */
const across = (name: string, of: (pair: Pair) => Value): Definition =>
  def1(`(${name} lists)`, 'For procedures over several lists.', `(${name} '((1 2) (3 4)))`, (lists, ctx) => {
    const all = elements(lists) ?? []
    ctx.charge(all.length)
    ctx.alloc(all.length)
    if (!all.every((one) => one instanceof Pair)) return false
    return all.length === 0 ? EMPTY : list((all as Pair[]).map(of))
  })

/** Procedures that call procedures, in Scheme: what they call runs on the machine, in its budget, at any depth. */
export const control = (): readonly Definition[] => [
  {
    name: 'apply',
    signature: '(apply f x … xs)',
    about: 'Calls f with these arguments and then the elements of the list.',
    example: "(apply + 1 '(2 3))",
    body: APPLY,
  },
  across('%cars', (pair) => pair.car),
  across('%cdrs', (pair) => pair.cdr),
  scheme(
    '(call-with-values producer consumer)',
    'Calls the consumer with the values that the producer returns.',
    '(call-with-values (lambda () (values 1 2)) +)',
    '(lambda (producer consumer) (apply consumer (%values->list (producer))))',
  ),
  scheme(
    '(map f xs ys …)',
    'The results of f for each element; f may be a keyword: (map :name xs).',
    "(map + '(1 2) '(10 20))",
    `(lambda (f xs . more)
       (if (null? more)
           (let loop ((xs xs) (out '()))
             (if (pair? xs) (loop (cdr xs) (cons (f (car xs)) out)) (begin (%end "map" xs) (reverse out))))
           (let loop ((lists (cons xs more)) (out '()))
             (let ((cars (%cars lists)))
               (if cars (loop (%cdrs lists) (cons (apply f cars) out)) (reverse out))))))`,
  ),
  scheme(
    '(for-each f xs ys …)',
    'Calls f for each element.',
    "(for-each car '((1) (2)))",
    `(lambda (f xs . more)
       (if (null? more)
           (let loop ((xs xs)) (if (pair? xs) (begin (f (car xs)) (loop (cdr xs))) (begin (%end "for-each" xs) (void))))
           (let loop ((lists (cons xs more)))
             (let ((cars (%cars lists))) (if cars (begin (apply f cars) (loop (%cdrs lists))) (void))))))`,
  ),
  scheme(
    '(filter keep? xs)',
    'The elements for which keep? is true; keep? may be a keyword.',
    "(filter odd? '(1 2 3))",
    `(lambda (keep? xs)
       (let loop ((xs xs) (out '()))
         (if (pair? xs)
             (loop (cdr xs) (if (keep? (car xs)) (cons (car xs) out) out))
             (begin (%end "filter" xs) (reverse out)))))`,
  ),
  scheme(
    '(remove drop? xs)',
    'The elements for which drop? is not true.',
    "(remove odd? '(1 2 3))",
    '(lambda (drop? xs) (filter (lambda (x) (not (drop? x))) xs))',
  ),
  scheme(
    '(partition keep? xs)',
    'Two lists, as two values: those for which keep? is true, and the others.',
    "(receive (odd even) (partition odd? '(1 2 3)) (list odd even))",
    `(lambda (keep? xs)
       (let loop ((xs xs) (in '()) (out '()))
         (cond ((null? xs) (values (reverse in) (reverse out)))
               ((keep? (car xs)) (loop (cdr xs) (cons (car xs) in) out))
               (else (loop (cdr xs) in (cons (car xs) out))))))`,
  ),
  scheme(
    '(fold f start xs ys …)',
    'Calls (f element result) from left to right, beginning with start.',
    "(fold cons '() '(1 2 3))",
    `(lambda (f start xs . more)
       (if (null? more)
           (let loop ((xs xs) (result start))
             (if (pair? xs) (loop (cdr xs) (f (car xs) result)) (begin (%end "fold" xs) result)))
           (let loop ((lists (cons xs more)) (result start))
             (let ((cars (%cars lists)))
               (if cars (loop (%cdrs lists) (apply f (append cars (list result)))) result)))))`,
  ),
  scheme(
    '(fold-left f start xs ys …)',
    'Calls (f result element) from left to right, beginning with start.',
    "(fold-left - 10 '(1 2 3))",
    `(lambda (f start xs . more)
       (if (null? more)
           (let loop ((xs xs) (result start))
             (if (pair? xs) (loop (cdr xs) (f result (car xs))) (begin (%end "fold-left" xs) result)))
           (let loop ((lists (cons xs more)) (result start))
             (let ((cars (%cars lists)))
               (if cars (loop (%cdrs lists) (apply f result cars)) result)))))`,
  ),
  scheme(
    '(fold-right f start xs ys …)',
    'Calls (f element result) from right to left, beginning with start.',
    "(fold-right cons '() '(1 2 3))",
    `(lambda (f start xs . more)
       (if (null? more)
           (let loop ((xs (reverse xs)) (result start))
             (if (pair? xs) (loop (cdr xs) (f (car xs) result)) result))
           (let loop ((rows (reverse (apply map list xs more))) (result start))
             (if (pair? rows) (loop (cdr rows) (apply f (append (car rows) (list result)))) result))))`,
  ),
  scheme(
    '(reduce f default xs)',
    'Calls (f element result) from left to right, beginning with the first element; default for an empty list.',
    "(reduce + 0 '(1 2 3))",
    '(lambda (f default xs) (if (null? xs) default (fold f (car xs) (cdr xs))))',
  ),
  scheme(
    '(append-map f xs ys …)',
    'The lists that f returns, one after another.',
    "(append-map (lambda (x) (list x x)) '(1 2))",
    '(lambda (f . lists) (apply append (apply map f lists)))',
  ),
  scheme(
    '(filter-map f xs ys …)',
    'The results of f that are true.',
    "(filter-map (lambda (x) (if (odd? x) (* x x) #f)) '(1 2 3))",
    '(lambda (f . lists) (filter identity (apply map f lists)))',
  ),
  scheme(
    '(find wanted? xs)',
    'The first element for which wanted? is true, or #f.',
    "(find even? '(1 2 3))",
    `(lambda (wanted? xs)
       (let loop ((xs xs))
         (cond ((pair? xs) (if (wanted? (car xs)) (car xs) (loop (cdr xs)))) (else (%end "find" xs) #f))))`,
  ),
  scheme(
    '(find-tail wanted? xs)',
    'The list from the first element for which wanted? is true, or #f.',
    "(find-tail even? '(1 2 3))",
    `(lambda (wanted? xs)
       (let loop ((xs xs))
         (cond ((pair? xs) (if (wanted? (car xs)) xs (loop (cdr xs)))) (else (%end "find-tail" xs) #f))))`,
  ),
  scheme(
    '(any wanted? xs ys …)',
    'The first true result of wanted?, or #f.',
    "(any even? '(1 2 3))",
    `(lambda (wanted? xs . more)
       (if (null? more)
           (let loop ((xs xs)) (if (pair? xs) (or (wanted? (car xs)) (loop (cdr xs))) (begin (%end "any" xs) #f)))
           (let loop ((lists (cons xs more)))
             (let ((cars (%cars lists))) (if cars (or (apply wanted? cars) (loop (%cdrs lists))) #f)))))`,
  ),
  scheme(
    '(every wanted? xs ys …)',
    'The last result of wanted? if all are true, else #f.',
    "(every odd? '(1 3))",
    `(lambda (wanted? xs . more)
       (if (null? more)
           (let loop ((xs xs) (result #t))
             (if (pair? xs)
                 (let ((now (wanted? (car xs)))) (if now (loop (cdr xs) now) now))
                 (begin (%end "every" xs) result)))
           (let loop ((lists (cons xs more)) (result #t))
             (let ((cars (%cars lists)))
               (if cars (let ((now (apply wanted? cars))) (if now (loop (%cdrs lists) now) now)) result)))))`,
  ),
  scheme(
    '(count wanted? xs)',
    'For how many elements wanted? is true.',
    "(count odd? '(1 2 3))",
    '(lambda (wanted? xs) (fold (lambda (x n) (if (wanted? x) (+ n 1) n)) 0 xs))',
  ),
  scheme(
    '(list-index wanted? xs)',
    'Where the first element is for which wanted? is true, or #f.',
    "(list-index even? '(1 2 3))",
    `(lambda (wanted? xs)
       (let loop ((xs xs) (i 0))
         (cond ((pair? xs) (if (wanted? (car xs)) i (loop (cdr xs) (+ i 1)))) (else (%end "list-index" xs) #f))))`,
  ),
  scheme(
    '(take-while keep? xs)',
    'The elements before the first for which keep? is not true.',
    "(take-while odd? '(1 3 4 5))",
    `(lambda (keep? xs)
       (let loop ((xs xs) (out '()))
         (if (and (pair? xs) (keep? (car xs))) (loop (cdr xs) (cons (car xs) out)) (reverse out))))`,
  ),
  scheme(
    '(drop-while drop? xs)',
    'The elements from the first for which drop? is not true.',
    "(drop-while odd? '(1 3 4 5))",
    '(lambda (drop? xs) (let loop ((xs xs)) (if (and (pair? xs) (drop? (car xs))) (loop (cdr xs)) xs)))',
  ),
  scheme(
    '(member x xs [same?])',
    'The list from the first element that is equal? to x, or #f.',
    "(member '(1) '(0 (1) 2))",
    `(lambda (x xs . same?)
       (if (null? same?)
           (%member x xs)
           (find-tail (lambda (y) ((car same?) x y)) xs)))`,
  ),
  scheme(
    '(assoc key pairs [same?])',
    'The first pair whose car is equal? to the key, or #f.',
    '(assoc "b" \'(("a" 1) ("b" 2)))',
    `(lambda (key pairs . same?)
       (if (null? same?)
           (%assoc key pairs)
           (find (lambda (pair) ((car same?) key (car pair))) pairs)))`,
  ),
  scheme(
    '(delete x xs)',
    'The elements that are not equal? to x.',
    "(delete 2 '(1 2 3))",
    '(lambda (x xs) (filter (lambda (y) (not (equal? x y))) xs))',
  ),
  scheme(
    '(delete-duplicates xs [same?])',
    'The first of each of the elements that are equal?.',
    "(delete-duplicates '(1 2 1))",
    `(lambda (xs . same?)
       (if (null? same?)
           (%delete-duplicates xs)
           (let loop ((xs xs) (out '()))
             (if (pair? xs)
                 (loop (cdr xs) (if (any (lambda (y) ((car same?) y (car xs))) out) out (cons (car xs) out)))
                 (reverse out)))))`,
  ),
  scheme(
    '(sort xs less?)',
    'Sorted, equal elements in their old order; (sort less? xs) is taken too. See sort-by.',
    "(sort '(3 1 2) <)",
    `(lambda (a b)
       (let* ((first? (procedure? a)) (less? (if first? a b)) (xs (if first? b a)) (order (%builtin-order less?)))
         (define (merge a b)
           (let loop ((a a) (b b) (out '()))
             (cond ((null? a) (%onto out b))
                   ((null? b) (%onto out a))
                   ((less? (car b) (car a)) (loop a (cdr b) (cons (car b) out)))
                   (else (loop (cdr a) b (cons (car a) out))))))
         (define (run xs n)
           (if (= n 1)
               (list (car xs))
               (let ((half (quotient n 2)))
                 (merge (run xs half) (run (list-tail xs half) (- n half))))))
         (cond ((and (boolean? order) (%alike? xs)) (%sort-plain xs order))
               ((null? xs) xs)
               (else (run xs (length xs))))))`,
  ),
  scheme(
    '(sort-by key xs [less?])',
    'Sorted by what key returns for each element; with > the greatest first. Missing (nil) comes last.',
    '(sort-by :n (list {:n 2} {:n 1}) >)',
    `(lambda (a b . less?)
       (let* ((first? (procedure? a)) (key (if first? a b)) (xs (if first? b a))
              (order (if (null? less?) #f (%builtin-order (car less?))))
              (pairs (map (lambda (x) (cons (key x) x)) xs)))
         (if (boolean? order)
             (%sort-keys pairs order)
             (map cdr (sort pairs (lambda (p q) ((car less?) (car p) (car q))))))))`,
  ),
  scheme(
    '(group-by key xs)',
    'A list of (key element …), one for each different result of key.',
    "(group-by odd? '(1 2 3))",
    '(lambda (key xs) (%group (map (lambda (x) (cons (key x) x)) xs)))',
  ),
  scheme(
    '(count-by key xs)',
    'A list of (key n): how many elements there are for each different result of key.',
    "(count-by odd? '(1 2 3))",
    '(lambda (key xs) (map (lambda (g) (list (car g) (length (cdr g)))) (group-by key xs)))',
  ),
  scheme(
    '(zip xs ys …)',
    'Lists of the first elements, the second, and so on.',
    "(zip '(1 2) '(a b))",
    '(lambda lists (apply map list lists))',
  ),
  scheme(
    '(list-tabulate n f)',
    'The results of f for 0 to n-1.',
    '(list-tabulate 3 square)',
    '(lambda (n f) (map f (iota n)))',
  ),
  scheme(
    '(vector-map f v w …)',
    'The vector of the results of f.',
    "(vector-map square '#(1 2))",
    '(lambda (f . vs) (list->vector (apply map f (map vector->list vs))))',
  ),
  scheme(
    '(vector-for-each f v w …)',
    'Calls f for each element.',
    "(vector-for-each square '#(1 2))",
    '(lambda (f . vs) (apply for-each f (map vector->list vs)))',
  ),
  scheme(
    '(string-map f text …)',
    'The string of the characters that f returns.',
    '(string-map char-upcase "abc")',
    '(lambda (f . texts) (list->string (apply map f (map string->list texts))))',
  ),
  scheme(
    '(string-for-each f text …)',
    'Calls f for each character.',
    '(string-for-each char-upcase "abc")',
    '(lambda (f . texts) (apply for-each f (map string->list texts)))',
  ),
  scheme(
    '(string-count text wanted?)',
    'For how many characters wanted? is true.',
    '(string-count "banana" (lambda (c) (char=? c #\\a)))',
    '(lambda (text wanted?) (count wanted? (string->list text)))',
  ),
]
