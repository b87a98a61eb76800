/** What a program can hold. Exact integers are bigints, inexact numbers JS numbers, `nil` is null; nothing here is ever mutated. */
export type Value =
  | bigint | number | boolean | string | null | Char | Sym | Keyword | Empty | Pair | Vec | Rec | Entity | Unspecified
  | Many | Builtin | Closure | Bracketed | Syntax // biome-ignore format: a list to read at a glance

export class Char {
  readonly code: number
  constructor(code: number) {
    this.code = code
  }
  get text(): string {
    return String.fromCodePoint(this.code)
  }
}

/** A symbol; two symbols of one name are `eq?`, so no table of all names is kept. */
export class Sym {
  declare private readonly brand: 'symbol'
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/** `:name`, which evaluates to itself and, called, reads that field. */
export class Keyword {
  declare private readonly brand: 'keyword'
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

export class Empty {
  declare private readonly brand: 'empty'
}
export class Unspecified {
  declare private readonly brand: 'unspecified'
}
/** The empty list: not `nil`, and true. */
export const EMPTY = new Empty()
export const UNSPECIFIED = new Unspecified()

export class Pair {
  readonly car: Value
  readonly cdr: Value
  constructor(car: Value, cdr: Value) {
    this.car = car
    this.cdr = cdr
  }
}

export class Vec {
  declare private readonly brand: 'vector'
  readonly items: readonly Value[]
  constructor(items: readonly Value[]) {
    this.items = items
  }
}

export type Fields = ReadonlyMap<string, Value>

/** A record `{:k v}`: an ordered map, so that no key can reach a JS prototype. */
export class Rec {
  readonly entries: Fields
  constructor(entries: Fields) {
    this.entries = entries
  }
}

const NO_FIELDS: Fields = new Map()

export class Entity {
  readonly kind: string
  readonly #fields: Fields | (() => Fields)
  readonly #hidden: Fields | (() => Fields)
  /** Both may be ways to read them: of many in a list most are never looked into. */
  constructor(kind: string, fields: Fields | (() => Fields), hidden: Fields | (() => Fields) = NO_FIELDS) {
    this.kind = kind
    this.#fields = fields
    this.#hidden = hidden
  }
  get fields(): Fields {
    return typeof this.#fields === 'function' ? this.#fields() : this.#fields
  }
  /** Fields that answer when asked but are not printed: ids, times, defaults. */
  get hidden(): Fields {
    return typeof this.#hidden === 'function' ? this.#hidden() : this.#hidden
  }
}

/** What `(values a b)` returns when it is not exactly one value. */
export class Many {
  declare private readonly brand: 'values'
  readonly items: readonly Value[]
  constructor(items: readonly Value[]) {
    this.items = items
  }
}

/** `[a b]` and `{:k v}` as read in code, before they are evaluated or quoted. */
export class Bracketed {
  readonly open: '[' | '{'
  readonly items: readonly Value[]
  constructor(open: '[' | '{', items: readonly Value[]) {
    this.open = open
    this.items = items
  }
}

/** A special form in code that another form expands into: no name of the program can hide it. */
export class Syntax {
  readonly name: string
  readonly expand: unknown
  constructor(name: string, expand: unknown) {
    this.name = name
    this.expand = expand
  }
}

/** What a builtin may ask of the machine that runs it. */
export interface CallContext {
  /** Pay for work done outside the machine: about one per element looked at. */
  charge(steps: number): void
  /** Pay for memory: about one per pair, slot, map entry or eight characters. */
  alloc(cells: number): void
  call(procedure: Value, args: Value[]): Value
}

/** As many arguments as the signature allows; those that were left out are undefined. */
export type Args = [Value, Value, Value, ...Value[]]
export type Run = (args: Args, ctx: CallContext) => Value

export class Builtin {
  readonly name: string
  readonly min: number
  readonly max: number
  readonly run: Run
  constructor(name: string, min: number, max: number, run: Run) {
    this.name = name
    this.min = min
    this.max = max
    this.run = run
  }
}

/** A global variable: `value` is undefined until it is defined or looked up. */
export type Cell = { readonly name: string; value: Value | undefined }

/** Where a local variable is: so many scopes outward, in that slot. */
export type Local = { readonly op: 'local'; readonly depth: number; readonly index: number; readonly name: string }
type Global = { readonly op: 'global'; readonly cell: Cell }
export type Lambda = { readonly op: 'lambda'; name: string; params: number; rest: boolean; readonly body: Node }

/** The core language, into which every form is expanded and which the machine runs. */
export type Node =
  | { readonly op: 'const'; readonly value: Value }
  | Local
  | Global
  | Lambda
  | { readonly op: 'set'; readonly to: Local | Global; readonly value: Node }
  | { readonly op: 'define'; readonly cell: Cell; readonly value: Node }
  | { readonly op: 'if'; readonly test: Node; readonly yes: Node; readonly no: Node }
  /** One after another; with `stop`, until one is true (`or`) or false (`and`). */
  | { readonly op: 'seq'; readonly nodes: readonly Node[]; readonly stop?: boolean }
  /** The body in a scope of `size` variables, of which the first have these values. */
  | { readonly op: 'let'; readonly args: readonly Node[]; readonly size: number; readonly body: Node }
  /** `isFlat`: procedure and arguments need no calls themselves. */
  | { readonly op: 'call'; readonly target: Node; readonly args: readonly Node[]; readonly isFlat: boolean }

/** The variables of one scope while it runs. `isPaid` once a closure has paid for keeping it. */
export class Env {
  readonly vars: (Value | undefined)[]
  readonly up: Env | undefined
  isPaid = false
  constructor(vars: (Value | undefined)[], up: Env | undefined) {
    this.vars = vars
    this.up = up
  }
}

export class Closure {
  readonly lambda: Lambda
  readonly env: Env | undefined
  constructor(lambda: Lambda, env: Env | undefined) {
    this.lambda = lambda
    this.env = env
  }
}

/** An error of the program: printed as `(error "…")`, with a hint where there is something to do about it. */
export class SchemeError extends Error {
  override readonly name: string = 'SchemeError'
  readonly hint: string
  constructor(message: string, hint = '') {
    super(message)
    this.hint = hint
  }
}

export const isProcedure = (v: Value): v is Builtin | Closure | Keyword =>
  v instanceof Closure || v instanceof Builtin || v instanceof Keyword

export const isTrue = (v: Value): boolean => v !== false && v !== null

export function list(items: readonly Value[], tail: Value = EMPTY): Value {
  let out = tail
  for (let i = items.length - 1; i >= 0; i--) out = new Pair(items[i] as Value, out)
  return out
}

/** The elements of a list, and what it ends in: `()` if it is a proper one. */
export function unlist(v: Value): { items: Value[]; tail: Value } {
  const items: Value[] = []
  let tail = v
  for (; tail instanceof Pair; tail = tail.cdr) items.push(tail.car)
  return { items, tail }
}

export function elements(v: Value): Value[] | undefined {
  const { items, tail } = unlist(v)
  return tail === EMPTY ? items : undefined
}

/** `(:k x)` and `(@ x :k)`: a missing field is the default, normally nil. A list of things with fields is an error. */
export function access(x: Value, key: string, missing: Value): Value {
  if (x instanceof Entity) {
    const { fields } = x
    if (fields.has(key)) return fields.get(key) ?? null
    return x.hidden.get(key) ?? (key === 'kind' ? x.kind : missing)
  }
  if (x instanceof Rec) return x.entries.get(key) ?? (x.entries.has(key) ? null : missing)
  if (x instanceof Pair && (x.car instanceof Entity || x.car instanceof Rec))
    throw new SchemeError(`:${key} of a list: one entity or record is expected`, `(map :${key} xs) reads it from each`)
  return missing
}
