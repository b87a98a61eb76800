import { expect, test } from 'vitest'
import { createInterpreter } from './interpreter.ts'

const rows = `
(+) => 0
(+ 1 2 3) => 6
(- 5) => -5
(- 10 1 2) => 7
(*) => 1
(* 2 3.5) => 7.0
(/ 10 2) => 5
(/ 1 2) => 0.5
(/ 4) => 0.25
(/ 1 0.0) => +inf.0
(quotient -7 2) => -3
(remainder -7 2) => -1
(modulo -7 2) => 1
(modulo 7 -2) => -1
(modulo -13 4) => 3
(remainder -13 4) => -1
(modulo -13 -4) => -1
(remainder -13 4.0) => -1.0
(abs -7) => 7
(abs -7.5) => 7.5
(min 3 4) => 3
(max 3 3.9) => 3.9
(max 3 1.0) => 3.0
(floor -4.3) => -5.0
(ceiling -4.3) => -4.0
(truncate -4.3) => -4.0
(round -4.3) => -4.0
(round 3.5) => 4.0
(round 2.5) => 2.0
(round -2.5) => -2.0
(round 7) => 7
(exact 2.0) => 2
(inexact 3) => 3.0
(exact (floor 2.7)) => 2
(expt 2 10) => 1024
(expt 0 0) => 1
(expt 2 -1) => 0.5
(expt 2.0 3) => 8.0
(expt 2 100) => 1267650600228229401496703205376
(sqrt 16) => 4
(sqrt 2) => 1.4142135623730951
(sqrt 16.0) => 4.0
(number->string 3.0) => "3.0"
(string->number "100") => 100
(string->number "1e2") => 100.0
(string->number "abc") => #f
(= 1 1.0 1) => #t
(= 1 2) => #f
(< 1 2 3) => #t
(< 1 3 2) => #f
(>= 3 3 2) => #t
(zero? 0.0) => #t
(zero? -0.0) => #t
(positive? -1) => #f
(negative? -1) => #t
(odd? 3) => #t
(even? 0) => #t
(integer? 3.0) => #t
(integer? 3.5) => #f
(exact? 3.0) => #f
(inexact? 3.) => #t
(exact-integer? 32) => #t
(nan? +nan.0) => #t
(number? 'a) => #f
-0.0 => -0.0
+inf.0 => +inf.0
1e21 => 1e21
1e3 => 1000.0
#xff => 255
#b101 => 5
#e1.0 => 1
#i1 => 1.0
(square 5) => 25
123456789012345678901234567890 => 123456789012345678901234567890
(* 99999999999 99999999999) => 9999999999800000000001
(not 3) => #f
(not '()) => #f
(not #f) => #t
(boolean? #f) => #t
(boolean? '()) => #f
(boolean=? #t #t) => #t
(eqv? 'a 'a) => #t
(eqv? '() '()) => #t
(eqv? 100000000000000000000 100000000000000000000) => #t
(eqv? 2 2.0) => #f
(eqv? 0.0 -0.0) => #f
(eqv? 0.0 +nan.0) => #f
(eqv? (cons 1 2) (cons 1 2)) => #f
(eqv? (lambda () 1) (lambda () 2)) => #f
(let ((p (lambda (x) x))) (eqv? p p)) => #t
(eq? 'a 'a) => #t
(eq? (list 'a) (list 'a)) => #f
(eq? car car) => #t
(equal? '(a (b) c) '(a (b) c)) => #t
(equal? "abc" "abc") => #t
(equal? 2 2) => #t
(equal? (make-vector 5 'a) (make-vector 5 'a)) => #t
(equal? '#(1 2 (3)) '#(1 2 (3))) => #t
(equal? 1 1.0) => #f
'a => a
'#(a b c) => #(a b c)
'() => ()
'(+ 1 2) => (+ 1 2)
'(quote a) => (quote a)
''a => (quote a)
'"abc" => "abc"
'#\\a => #\\a
#\\space => #\\space
#\\x41 => #\\A
#\\( => #\\(
'|foo bar| => |foo bar|
(quote #t) => #t
((lambda (x) (+ x x)) 4) => 8
((let ((x 4)) (lambda (y) (+ x y))) 6) => 10
((lambda x x) 3 4 5 6) => (3 4 5 6)
((lambda (x y . z) z) 3 4 5 6) => (5 6)
(if (> 3 2) 'yes 'no) => yes
(if #f #f) => nil
(if '() 1 2) => 1
(if nil 1 2) => 2
(cond ((> 3 2) 'greater) ((< 3 2) 'less)) => greater
(cond ((> 3 3) 'greater) ((< 3 3) 'less) (else 'equal)) => equal
(cond ((assv 'b '((a 1) (b 2))) => cadr) (else #f)) => 2
(cond (5)) => 5
(cond (#f 1) (nil 2) (7)) => 7
(case (* 2 3) ((2 3 5 7) 'prime) ((1 4 6 8 9) 'composite)) => composite
(case (car '(c d)) ((a e i o u) 'vowel) ((w y) 'semivowel) (else => (lambda (x) x))) => c
(case 2 ((1 2) => (lambda (x) (* x 10))) (else 0)) => 20
(case "a" (("a") 1) (else 2)) => 1
(and (= 2 2) (> 2 1)) => #t
(and 1 2 'c '(f g)) => (f g)
(and) => #t
(and 1 #f 2) => #f
(or (= 2 2) (< 2 1)) => #t
(or #f #f #f) => #f
(or (memq 'b '(a b c)) (/ 3 0)) => (b c)
(or) => #f
(when (> 2 1) 1 2) => 2
(unless (> 2 1) 1) => nil
(let ((x 2) (y 3)) (* x y)) => 6
(let ((x 2) (y 3)) (let ((x 7) (z (+ x y))) (* z x))) => 35
(let ((x 2) (y 3)) (let* ((x 7) (z (+ x y))) (* z x))) => 70
(let* ((x 1) (x (+ x 1))) x) => 2
(let ([x 1] [y 2]) (+ x y)) => 3
(letrec ((even? (lambda (n) (if (zero? n) #t (odd? (- n 1))))) (odd? (lambda (n) (if (zero? n) #f (even? (- n 1)))))) (even? 88)) => #t
(letrec* ((p (lambda (x) (+ 1 (q (- x 1))))) (q (lambda (y) (if (zero? y) 0 (+ 1 (p (- y 1)))))) (x (p 5)) (y x)) y) => 5
(let-values (((a . rest) (values 1 2 3)) (all (values 4 5))) (list a rest all)) => (1 (2 3) (4 5))
(let ((a 'a) (b 'b) (x 'x) (y 'y)) (let*-values (((a b) (values x y)) ((x y) (values a b))) (list a b x y))) => (x y x y)
(receive (a . rest) (values 1 2 3) (list a rest)) => (1 (2 3))
(call-with-values (lambda () (values 4 5)) (lambda (a b) b)) => 5
(call-with-values * -) => -1
(define (f x) (define (even? n) (if (= n 0) #t (odd? (- n 1)))) (define (odd? n) (if (= n 0) #f (even? (- n 1)))) (even? x)) (f 101) => f #f
(let ((x 5)) (define foo (lambda (y) (bar x y))) (define bar (lambda (a b) (+ (* a b) a))) (foo (+ x 3))) => 45
(let () (define x 1) (set! x (+ x 1)) x) => 2
(define add3 (lambda (x) (+ x 3))) (add3 3) => add3 6
(define first car) (first '(1 2)) => first 1
(define x 28) x => x 28
(define ((curried a) b) (+ a b)) ((curried 1) 2) => curried 3
(begin (define y 1) (+ y 1)) => 2
(let loop ((numbers '(3 -2 1 6 -5)) (nonneg '()) (neg '())) (cond ((null? numbers) (list nonneg neg)) ((>= (car numbers) 0) (loop (cdr numbers) (cons (car numbers) nonneg) neg)) ((< (car numbers) 0) (loop (cdr numbers) nonneg (cons (car numbers) neg))))) => ((6 1 3) (-5 -2))
(do ((vec '() (cons i vec)) (i 0 (+ i 1))) ((= i 5) vec)) => (4 3 2 1 0)
(let ((x '(1 3 5 7 9))) (do ((x x (cdr x)) (sum 0 (+ sum (car x)))) ((null? x) sum))) => 25
(do ((i 0 (+ i 1)) (fs '() (cons (lambda () i) fs))) ((= i 3) (map (lambda (f) (f)) fs))) => (2 1 0)
(let loop ((i 0) (fs '())) (if (< i 3) (loop (+ i 1) (cons (lambda () (set! i (+ i 10)) i) fs)) (map (lambda (f) (f) (f)) fs))) => (22 21 20)
(define counter (let ((n 0)) (lambda () (set! n (+ n 1)) n))) (counter) (counter) => counter 1 2
(+ 1 (let loop ((i 0)) (if (< i 10) (loop (+ i 1)) i)) 1) => 12
(let loop ((i 0)) (let ((j (* i 2))) (if (> j 10) (list i j) (loop (+ i 1))))) => (6 12)
(let f ((n 5)) (if (= n 0) 1 (* n (f (- n 1))))) => 120
\`(list ,(+ 1 2) 4) => (list 3 4)
(let ((name 'a)) \`(list ,name ',name)) => (list a (quote a))
\`(a ,(+ 1 2) ,@(map abs '(4 -5 6)) b) => (a 3 4 5 6 b)
\`((foo ,(- 10 3)) ,@(cdr '(c)) . ,(car '(cons))) => ((foo 7) . cons)
\`#(10 5 ,(sqrt 4) ,@(map sqrt '(16 9)) 8) => #(10 5 2 4 3 8)
\`(a \`(b ,(c ,(+ 1 2)))) => (a (quasiquote (b (unquote (c 3)))))
\`(a \`(b ,(foo ,(+ 1 3) d) e) f) => (a (quasiquote (b (unquote (foo 4 d)) e)) f)
\`(1 . ,(+ 1 1)) => (1 . 2)
\`,@(list 1 2) => ERROR
'[a b] => (a b)
'{:k v} => {:k v}
[1 2 (+ 1 2)] => (1 2 3)
{:a (+ 1 1) :b "x"} => {:a 2 :b "x"}
(pair? '(a . b)) => #t
(pair? '()) => #f
(cons 'a '(b)) => (a b)
(cons '(a) '(b c d)) => ((a) b c d)
(cons 'a 3) => (a . 3)
(cons '(a b) 'c) => ((a b) . c)
(car '((a) b c d)) => (a)
(car '()) => ERROR
(cdr '(1 . 2)) => 2
(cadr '(1 2 3)) => 2
(cddr '(1 2 3)) => (3)
(caddr '(1 2 3)) => 3
(null? '()) => #t
(null? nil) => #f
(list? '(a b . c)) => #f
(list? '()) => #t
(make-list 2 3) => (3 3)
(list 'a (+ 3 4) 'c) => (a 7 c)
(length '(a (b) (c d e))) => 3
(length '(1 . 2)) => ERROR
(append '(x) '(y)) => (x y)
(append '(a (b)) '((c))) => (a (b) (c))
(append '(a b) '(c . d)) => (a b c . d)
(append '() 'a) => a
(append) => ()
(reverse '(a (b c) d (e (f)))) => ((e (f)) d (b c) a)
(list-tail '(a b c d) 2) => (c d)
(list-ref '(a b c d) (exact (round 1.8))) => c
(list-ref '(a) 1) => ERROR
(list-copy '(1 2 3)) => (1 2 3)
(memq 'c '(a b c d e)) => (c d e)
(memq (list 'a) '(b (a) c)) => #f
(member (list 'a) '(b (a) c)) => ((a) c)
(member "B" '("a" "b" "c") string-ci=?) => ("b" "c")
(memv 101 '(100 101 102)) => (101 102)
(assq 'c '((a 1) (b 2))) => #f
(assoc (list 'a) '(((a)) ((b)) ((c)))) => ((a))
(assoc 2.0 '((1 1) (2 4) (3 9)) =) => (2 4)
(assv 5 '((2 3) (5 7) (11 13))) => (5 7)
(last '(1 2 3)) => 3
(iota 5) => (0 1 2 3 4)
(iota 3 1 2) => (1 3 5)
(first '(1 2 3)) => 1
(third '(1 2 3)) => 3
(take '(1 2 3) 2) => (1 2)
(drop '(1 2 3) 2) => (3)
(list-index even? '(3 1 4)) => 2
(delete-duplicates '(1 2 1 3 2)) => (1 2 3)
(delete 2 '(1 2 3)) => (1 3)
(flatten '(1 (2 (3)))) => (1 2 3)
(symbol? 'foo) => #t
(symbol? (car '(a b))) => #t
(symbol? "bar") => #f
(symbol=? 'a 'a 'b) => #f
(symbol->string 'flying-fish) => "flying-fish"
(string->symbol "a b") => |a b|
(string->symbol "") => ||
(char->integer #\\A) => 65
(integer->char 955) => #\\λ
(char-upcase #\\i) => #\\I
(char-alphabetic? #\\λ) => #t
(char<? #\\a #\\b #\\c) => #t
(char-whitespace? #\\space) => #t
(string? "a") => #t
(string-length "abc") => 3
(string-length "λ😀") => 2
(string-ref "a😀b" 1) => #\\😀
(string-ref "abc" 3) => ERROR
(substring "hello" 1 3) => "el"
(substring "hello" 3 1) => ERROR
(string-append "foo" "bar") => "foobar"
(string-append) => ""
(string #\\a #\\b) => "ab"
(make-string 3 #\\x) => "xxx"
(string->list "abc") => (#\\a #\\b #\\c)
(list->string '(#\\a #\\b)) => "ab"
(string-upcase "abc") => "ABC"
(string=? "a" "a" "b") => #f
(string<? "a" "b" "c") => #t
(string-ci=? "aB" "Ab") => #t
(string-copy "hello" 1 3) => "el"
(string-map char-upcase "abc") => "ABC"
(string-map (lambda (a b) (if (char<? a b) a b)) "adc" "bbb") => "abb"
(string-index "hello" #\\l) => 2
(string-contains "hello" "llo") => 2
(string-contains "hello" "z") => #f
(string-split "a,b,c" ",") => ("a" "b" "c")
(string-join '("a" "b") "-") => "a-b"
(string-prefix? "ab" "abc") => #t
(string-suffix? "bc" "abc") => #t
(string-trim "  a ") => "a"
"a\\nb\\t\\"q\\" \\\\ \\x41;" => "a\\nb\\t\\"q\\" \\\\ A"
(vector 'a 'b 'c) => #(a b c)
(vector-ref '#(1 1 2 3 5 8 13 21) 5) => 8
(vector-length '#(1 2)) => 2
(vector->list '#(dah dah didah) 1 2) => (dah)
(list->vector '(dididit dah)) => #(dididit dah)
(vector-map cadr '#((a b) (d e) (g h))) => #(b e h)
#(1 2) => #(1 2)
(procedure? car) => #t
(procedure? 'car) => #f
(procedure? (lambda (x) x)) => #t
(apply + (list 3 4)) => 7
(apply + 1 2 '(3)) => 6
(define compose (lambda (f g) (lambda args (f (apply g args))))) ((compose sqrt *) 12 75) => compose 30
(map cadr '((a b) (d e) (g h))) => (b e h)
(map + '(1 2 3) '(4 5 6)) => (5 7 9)
(map + '(1 2 3) '(10)) => (11)
(map (lambda (n) (expt n n)) '(1 2 3)) => (1 4 27)
(let ((count 0)) (for-each (lambda (x) (set! count (+ count x))) '(1 2 3)) count) => 6
(filter odd? '(1 2 3)) => (1 3)
(remove odd? '(1 2 3)) => (2)
(reduce max 0 '(1 5 3)) => 5
(reduce + 0 '()) => 0
(fold cons* '() '(a b c) '(1 2 3)) => (c 3 b 2 a 1)
(fold-left list '() '(1 2 3)) => (((() 1) 2) 3)
(fold-right list '() '(1 2 3)) => (1 (2 (3 ())))
(fold-left + 0 '(1 2) '(10 20)) => 33
(any odd? '(2 4 5)) => #t
(every odd? '(1 3)) => #t
(every odd? '()) => #t
(any + '(1) '(2)) => 3
(count even? '(1 2 4)) => 2
(append-map (lambda (x) (list x x)) '(1 2)) => (1 1 2 2)
(filter-map (lambda (x) (and (even? x) (* x x))) '(1 2 4)) => (4 16)
(receive (a b) (partition even? '(1 2 3 4)) (list a b)) => ((2 4) (1 3))
(sort '(3 1 2) <) => (1 2 3)
(sort > '(3 1 2)) => (3 2 1)
(sort '("b" "a") string<?) => ("a" "b")
(sort '((1 . a) (0 . b) (1 . c) (0 . d)) (lambda (x y) (< (car x) (car y)))) => ((0 . b) (0 . d) (1 . a) (1 . c))
(sort '() <) => ()
(sort '(1 "a") <) => ERROR
(sort-by abs '(-3 2 -1)) => (-1 2 -3)
(group-by even? '(1 2 3 4)) => ((#f 1 3) (#t 2 4))
(find even? '(1 2 3)) => 2
(assert (= 1 1)) => #t
(assert (= 1 2)) => ERROR
(error "bad:" 'x "y" 3) => (error "bad: x \\"y\\" 3")
(values 1) => 1
#| a #| nested |# comment |# 1 => 1
(+ 1 #;(ignored) 2) ; tail => 3
#true => #t
:key => :key
:|a b| => :|a b|
car => #<procedure car>
(lambda (x) x) => #<procedure>
(define (named) 1) named => named #<procedure named>
(let ((if list)) (if 1 2 3)) => (1 2 3)
(define (list . xs) 'mine) [1 2] => list (1 2)
1/2 => ERROR
(vector-set! (vector 1) 0 1) => ERROR
(set-car! (list 1) 2) => ERROR
(call/cc (lambda (k) 1)) => ERROR
(undefined-thing) => ERROR
(let ((x 1) (x 2)) x) => ERROR
(lambda (x x) x) => ERROR
(letrec ((a b) (b 1)) a) => ERROR
((lambda (x) x)) => ERROR
(if) => ERROR
`
  .trim()
  .split('\n')
  .map((row) => row.split(/ => (?=[^=]*$|.*$)/))
  .map((parts) => [parts.slice(0, -1).join(' => '), parts.at(-1)!] as const)

test.each(rows)('[D8] %s → %s', (source, wanted) => {
  const printed = createInterpreter().run(source)
  if (wanted === 'ERROR') expect(printed.at(-1)).toMatch(/^\(error "/)
  else expect(printed.join(' ')).toBe(wanted)
})

test('[D8] the table is large enough to mean something', () => {
  expect(rows.length).toBeGreaterThan(150)
})

test('[D8] tail calls in every tail position run a million turns at one depth', () => {
  const bodies = [
    '(if (= n 0) "done" (f (- n 1)))',
    '(cond ((= n 0) "done") (else (f (- n 1))))',
    '(case n ((0) "done") (else (f (- n 1))))',
    '(and #t (if (= n 0) "done" (f (- n 1))))',
    '(or #f (if (= n 0) "done" (f (- n 1))))',
    '(when #t (if (= n 0) "done" (f (- n 1))))',
    '(begin 1 (if (= n 0) "done" (f (- n 1))))',
    '(let* ((m n)) (if (= m 0) "done" (f (- m 1))))',
    '(let () (define m n) (if (= m 0) "done" (f (- m 1))))',
    '(if (= n 0) "done" (apply f (list (- n 1))))',
    '(if (= n 0) "done" (g (- n 1)))',
  ]
  for (const body of bodies) {
    const source = `(define (g n) (f n)) (define (f n) ${body}) (f 200000)`
    expect(
      createInterpreter({ budget: { depth: 10, ms: 60_000 } })
        .run(source)
        .at(-1),
      body,
    ).toBe('"done"')
  }
})
