import type { Value } from './values.ts'

/** A lexical variable; the flags are complete once the lambda that binds it has been expanded. */
export interface Variable {
  readonly name: string
  /** The lambda it was bound in. */
  readonly home: Lexical
  assigned: boolean
  /** Used by an inner lambda. */
  captured: boolean
  /** Uses, and how many of them are calls in tail position of its own loop: if all are, the loop needs no procedure. */
  uses: number
  loops: number
  /** Set for the name of a named let: its lambda. */
  lambda?: Lambda
}

/** Identity of a lambda during expansion. */
export interface Lexical {
  readonly parent: Lexical | undefined
}

/** A global variable: `value` is undefined until it is defined or looked up. */
export interface Cell {
  readonly name: string
  value: Value | undefined
}

export interface Lambda {
  readonly op: 'lambda'
  readonly name: string
  readonly params: Variable[]
  readonly rest: boolean
  readonly home: Lexical
  body: Node
}

/** The core language every form is expanded into. */
export type Node =
  | { op: 'const'; value: Value }
  | { op: 'local'; variable: Variable }
  | { op: 'global'; cell: Cell }
  | { op: 'set-local'; variable: Variable; value: Node }
  | { op: 'set-global'; cell: Cell; value: Node }
  | { op: 'define'; cell: Cell; value: Node }
  | { op: 'if'; test: Node; yes: Node; no: Node }
  | { op: 'and' | 'or' | 'seq'; nodes: Node[] }
  /** Binds in order; an initial value of undefined is "not yet assigned". */
  | { op: 'let'; variables: Variable[]; values: (Node | undefined)[]; body: Node }
  | { op: 'call'; target: Node; args: Node[] }
  /** A named let: bind `name` to `lambda`, call it with `args`. */
  | { op: 'loop'; name: Variable; lambda: Lambda; args: Node[] }
  | Lambda
