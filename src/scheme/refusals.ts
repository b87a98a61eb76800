/** Names of Scheme that are not offered, and what to do instead. */
const REFUSED = `
set-car! set-cdr! list-set! vector-set! vector-fill! vector-copy! string-set! string-fill! string-copy! append! reverse! sort! hash-table-set! record-set!: data cannot be changed: build a new value
call/cc call-with-current-continuation call-with-escape-continuation let/cc dynamic-wind: use a named let, find, or any
guard with-exception-handler raise-continuable error-object? error-object-message try catch: an error ends its form and is printed; the other forms stand
define-syntax let-syntax letrec-syntax syntax-rules define-macro: use a procedure instead of a macro
eval load require import include exit emergency-exit command-line get-environment-variable system environment interaction-environment define-library: a program sees only knowledge, nothing of the host
current-time current-jiffy current-second sleep: a program sees only knowledge, nothing of the host
display write newline print printf format read read-line read-char read-string write-string write-char open-input-string open-output-string open-input-file open-output-file call-with-output-string: the value of each form is printed; (display->string x) gives text
define-record-type make-hash-table hash-table hash-table-ref: use records, {:name "a" :size 1} and (:name x), or group-by
define-values: use receive or let-values
delay force make-promise delay-force cons-stream: use (lambda () …)
parameterize make-parameter: pass an argument
case-lambda: use (lambda (x . rest) …)
numerator denominator rationalize make-rectangular make-polar sin cos tan asin acos atan: there are only integers and decimals
bytevector make-bytevector bytevector-u8-ref: use lists or strings
random: there is no chance in here: the same question gives the same answer`

let reasons: ReadonlyMap<string, string> | undefined

export function refusal(name: string): string | undefined {
  reasons ??= new Map(
    REFUSED.trim()
      .split('\n')
      .flatMap((line) => {
        const end = line.indexOf(': ')
        return line
          .slice(0, Math.max(0, end))
          .split(' ')
          .map((one) => [one, line.slice(end + 2)] as const)
      }),
  )
  return reasons.get(name)
}
