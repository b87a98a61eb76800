/** What to do instead, and the names of Scheme that are not offered for that reason. */
const REFUSED: Readonly<Record<string, string>> = {
  'data cannot be changed: build a new value':
    'set-car! set-cdr! list-set! vector-set! vector-fill! vector-copy! string-set! string-fill! string-copy! append! reverse! sort! hash-table-set! record-set!',
  'use a named let, find, or any':
    'call/cc call-with-current-continuation call-with-escape-continuation let/cc dynamic-wind',
  'an error ends its form and is printed; the other forms stand':
    'guard with-exception-handler raise-continuable error-object? error-object-message try catch',
  'use a procedure instead of a macro': 'define-syntax let-syntax letrec-syntax syntax-rules define-macro',
  'a program sees only knowledge, nothing of the host':
    'eval load require import include exit emergency-exit command-line get-environment-variable system environment interaction-environment define-library current-time current-jiffy current-second sleep',
  'the value of each form is printed; (display->string x) gives text':
    'display write newline print printf format read read-line read-char read-string write-string write-char open-input-string open-output-string open-input-file open-output-file call-with-output-string with-output-to-string with-input-from-file call-with-output-file',
  'use records, {:name "a" :size 1} and (:name x), or group-by':
    'define-record-type make-hash-table hash-table hash-table-ref make-equal-hashtable',
  'use receive or let-values': 'define-values',
  'use (lambda () …)': 'delay force make-promise delay-force cons-stream',
  'pass an argument': 'parameterize make-parameter',
  'use (lambda (x . rest) …)': 'case-lambda',
  'there are only integers and decimals':
    'numerator denominator rationalize make-rectangular make-polar sin cos tan asin acos atan',
  'use lists or strings': 'bytevector make-bytevector bytevector-u8-ref',
  'there is no chance in here: the same question gives the same answer': 'random',
}

let reasons: ReadonlyMap<string, string> | undefined

export function refusal(name: string): string | undefined {
  reasons ??= new Map(
    Object.entries(REFUSED).flatMap(([why, names]) => names.split(' ').map((one) => [one, why] as const)),
  )
  return reasons.get(name)
}
