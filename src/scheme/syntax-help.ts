const entry = (
  signature: string,
  about: string,
  example: string,
): [string, { signature: string; about: string; example: string }] => [
  signature.slice(1).split(/[ )]/)[0]!,
  { signature, about, example },
]

/** What `(help "let")` says. A test compares the names with the rules. */
export const syntaxHelp = (): ReadonlyMap<string, { signature: string; about: string; example: string }> =>
  new Map([
    entry('(quote datum)', "The datum itself; 'datum is short for it.", "'(a b c)"),
    entry('(quasiquote datum)', 'Data with parts computed: `(a ,x ,@xs).', '`(1 ,(+ 1 1) ,@(list 3 4))'),
    entry('(unquote expression)', 'Inside quasiquote: the value. ,expression is short for it.', '`(1 ,(+ 1 1))'),
    entry(
      '(unquote-splicing expression)',
      'Inside quasiquote: the elements of a list. ,@expression is short for it.',
      '`(1 ,@(list 2 3))',
    ),
    entry('(if test then [else])', 'One of two; #f and nil are false, all else is true.', '(if (> 2 1) "yes" "no")'),
    entry('(define name value)', 'Names a value; (define (f x …) body …) a procedure.', '(define (twice x) (* 2 x))'),
    entry('(lambda (x …) body …)', 'A procedure; (lambda (x . rest) …) takes any number.', '((lambda (x) (* x x)) 3)'),
    entry(
      '(let ((name value) …) body …)',
      'Local names; (let loop ((name value) …) body …) is a loop that calls itself.',
      '(let ((x 1) (y 2)) (+ x y))',
    ),
    entry(
      '(let* ((name value) …) body …)',
      'Local names, each seeing those before it.',
      '(let* ((x 1) (y (+ x 1))) y)',
    ),
    entry(
      '(letrec ((name value) …) body …)',
      'Local procedures that may call each other.',
      '(letrec ((f (lambda (n) (if (= n 0) "done" (f (- n 1)))))) (f 3))',
    ),
    entry('(letrec* ((name value) …) body …)', 'As letrec, in order.', '(letrec* ((x 1) (y (+ x 1))) y)'),
    entry(
      '(do ((name first step) …) (test result …) body …)',
      'A loop with variables.',
      '(do ((i 0 (+ i 1)) (s 0 (+ s i))) ((= i 4) s))',
    ),
    entry('(begin expression …)', 'One after another; the value of the last.', '(begin 1 2)'),
    entry(
      '(cond (test expression …) … (else expression …))',
      'The first clause whose test is true; (test => f) passes its value on.',
      '(cond ((assv 2 \'((1 "a") (2 "b"))) => cadr) (else "none"))',
    ),
    entry(
      '(case key ((datum …) expression …) … (else expression …))',
      'The clause that lists the key.',
      "(case 3 ((1 2) 'low) ((3 4) 'high) (else 'none))",
    ),
    entry('(else expression …)', 'The last clause of cond and case.', '(cond (#f 1) (else 2))'),
    entry(
      '(=> procedure)',
      'In cond and case: call the procedure with what was found.',
      "(cond ((memv 2 '(1 2 3)) => length) (else 0))",
    ),
    entry('(and expression …)', 'The last value if all are true, else the first that is not.', '(and 1 2)'),
    entry('(or expression …)', 'The first value that is true.', '(or #f nil 3)'),
    entry('(when test expression …)', 'The expressions if the test is true.', '(when (> 2 1) "yes")'),
    entry('(unless test expression …)', 'The expressions if the test is not true.', '(unless (> 1 2) "yes")'),
    entry(
      '(set! name value)',
      'Gives a variable of the program another value; data cannot be changed.',
      '(let ((x 1)) (set! x 2) x)',
    ),
    entry(
      '(let-values (((a b) expression) …) body …)',
      'Names for multiple values.',
      '(let-values (((q r) (floor/ 7 2))) (list q r))',
    ),
    entry(
      '(let*-values (((a b) expression) …) body …)',
      'As let-values, in order.',
      '(let*-values (((q r) (floor/ 7 2)) ((s) (values (+ q r)))) s)',
    ),
    entry(
      '(receive (a b . rest) expression body …)',
      'Names for multiple values.',
      '(receive (q r) (floor/ 7 2) (list q r))',
    ),
  ])
