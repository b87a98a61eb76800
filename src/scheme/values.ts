/** What a program can hold. Exact integers are bigints, inexact numbers JS numbers, `nil` is null; nothing here is ever mutated. */
export type Value =
  | bigint
  | number
  | boolean
  | string
  | null
  | Char
  | Sym
  | Keyword
  | Empty
  | Pair
  | Vec
  | Rec
  | Entity
  | Unspecified
  | Many
  | Builtin
  | Closure
  | Bracketed
  | Braced

/** One Unicode code point. */
export class Char {
  declare private readonly brand: 'char'
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

/** A record `{:k v}`: an ordered map, so that no key can reach a JS prototype. */
export class Rec {
  declare private readonly brand: 'record'
  readonly entries: ReadonlyMap<string, Value>
  constructor(entries: ReadonlyMap<string, Value>) {
    this.entries = entries
  }
}

type Fields = ReadonlyMap<string, Value>
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

/** `[a b]` and `{:k v}` as read in code, before they are compiled or quoted. */
export class Bracketed {
  declare private readonly brand: 'brackets'
  readonly items: readonly Value[]
  constructor(items: readonly Value[]) {
    this.items = items
  }
}
export class Braced {
  declare private readonly brand: 'braces'
  readonly items: readonly Value[]
  constructor(items: readonly Value[]) {
    this.items = items
  }
}

/** What a builtin may ask of the machine that runs it. */
export interface CallContext {
  /** Pay for work done outside the machine: about one per element looked at. */
  charge(steps: number): void
  /** Pay for memory: about one per pair, slot, map entry or eight characters. */
  alloc(cells: number): void
  /** Call a procedure of the program; nesting of such calls is bounded. */
  call(procedure: Value, args: Value[]): Value
}

export type Run = (args: Value[], ctx: CallContext) => Value

/** A procedure written in TypeScript. `one` and `two` spare the argument array where that pays. */
export class Builtin {
  readonly name: string
  readonly min: number
  readonly max: number
  readonly run: Run
  readonly one: ((a: Value, ctx: CallContext) => Value) | undefined
  readonly two: ((a: Value, b: Value, ctx: CallContext) => Value) | undefined
  constructor(name: string, min: number, max: number, run: Run, one?: Builtin['one'], two?: Builtin['two']) {
    this.name = name
    this.min = min
    this.max = max
    this.run = run
    this.one = one
    this.two = two
  }
}

/** Compiled code of one lambda. */
export interface Template {
  readonly name: string
  readonly code: Int32Array
  readonly consts: readonly unknown[]
  readonly params: number
  readonly rest: boolean
  /** Where each free variable comes from at creation: a slot (≥ 0) or the creator's own free variable (~i). */
  readonly captures: readonly number[]
}

export class Closure {
  declare private readonly brand: 'closure'
  readonly template: Template
  readonly free: readonly unknown[]
  constructor(template: Template, free: readonly unknown[]) {
    this.template = template
    this.free = free
  }
}

/** An error of the program: printed as `(error "…")`, with a hint where there is something to do about it. */
export class SchemeError extends Error {
  override readonly name = 'SchemeError'
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

/** The elements of a proper list, or undefined if it is not one. */
export function elements(v: Value): Value[] | undefined {
  const out: Value[] = []
  let rest = v
  while (rest instanceof Pair) {
    out.push(rest.car)
    rest = rest.cdr
  }
  return rest === EMPTY ? out : undefined
}

/** The word an error uses for what it was given. */
export function typeName(v: Value): string {
  if (v === null) return 'nil'
  if (typeof v === 'bigint') return 'an exact integer'
  if (typeof v === 'number') return 'an inexact number'
  if (typeof v === 'string') return 'a string'
  if (typeof v === 'boolean') return 'a boolean'
  if (v instanceof Pair) return 'a list'
  if (v instanceof Empty) return 'the empty list'
  if (v instanceof Sym) return 'a symbol'
  if (v instanceof Keyword) return 'a keyword'
  if (v instanceof Char) return 'a character'
  if (v instanceof Vec) return 'a vector'
  if (v instanceof Rec) return 'a record'
  if (v instanceof Entity) return `an entity (${v.kind})`
  if (v instanceof Builtin || v instanceof Closure) return 'a procedure'
  if (v instanceof Many) return 'multiple values'
  return 'nothing'
}
