/** Names of Scheme that are not offered, and what to do instead. */
const NO_CHANGE = 'data cannot be changed: build a new value'
const NO_CONTINUATIONS = 'use a named let, find, or any'
const NO_HANDLERS = 'an error ends its form and is printed; the other forms stand'
const NO_MACROS = 'use a procedure instead of a macro'
const NO_HOST = 'a program sees only knowledge, nothing of the host'
const NO_PORTS = 'the value of each form is printed; (display->string x) gives text'

const GROUPS: [string, string][] = [
  [
    'set-car! set-cdr! list-set! vector-set! vector-fill! vector-copy! string-set! string-fill! string-copy! append! reverse! sort! hash-table-set! record-set!',
    NO_CHANGE,
  ],
  ['call/cc call-with-current-continuation call-with-escape-continuation let/cc dynamic-wind', NO_CONTINUATIONS],
  ['guard with-exception-handler raise-continuable error-object? error-object-message try catch', NO_HANDLERS],
  ['define-syntax let-syntax letrec-syntax syntax-rules define-macro', NO_MACROS],
  [
    'eval load require import include exit emergency-exit command-line get-environment-variable system environment interaction-environment',
    NO_HOST,
  ],
  ['define-library library', 'everything there is can be called'],
  ['current-time current-jiffy current-second sleep', NO_HOST],
  [
    'display write newline print printf format read read-line read-char read-string write-string write-char open-input-string open-output-string open-input-file open-output-file call-with-output-string with-output-to-string with-input-from-file call-with-output-file',
    NO_PORTS,
  ],
  ['define-record-type', 'use records, {:name "a" :size 1} and (:name x)'],
  ['define-values', 'use receive or let-values'],
  ['delay force make-promise delay-force cons-stream', 'use (lambda () …)'],
  ['parameterize make-parameter', 'pass an argument'],
  ['case-lambda', 'use (lambda (x . rest) …)'],
  ['make-hash-table hash-table hash-table-ref make-equal-hashtable', 'use records, or group-by'],
  [
    'numerator denominator rationalize make-rectangular make-polar',
    'there are no exact fractions and no complex numbers',
  ],
  ['bytevector make-bytevector bytevector-u8-ref', 'there are no byte vectors: use lists or strings'],
  ['random', 'there is no chance in here: the same question gives the same answer'],
]

let reasons: ReadonlyMap<string, string> | undefined

export function refusal(name: string): string | undefined {
  reasons ??= new Map(GROUPS.flatMap(([names, reason]) => names.split(' ').map((one) => [one, reason] as const)))
  return reasons.get(name)
}
