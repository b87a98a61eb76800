import { lists } from './builtins/lists.ts'
import { numbers } from './builtins/numbers.ts'
import { strings } from './builtins/strings.ts'
import { values } from './builtins/values.ts'
import { arityOf, type Definition, declare, type Help } from './define.ts'
import { expand, type Globals, RULES, Scope } from './expand.ts'
import { Reader } from './reader.ts'
import { Builtin, type Cell, Closure, type Lambda, type Run, type Value } from './values.ts'

let declared: Map<string, Definition<Run | string | Builtin>> | undefined
const all = () => (declared ??= declare({ ...numbers, ...lists, ...strings, ...values }))

const CELLS = new Map<string, Cell>()

/** The builtin of that name, whatever a program has defined. What is written in Scheme is expanded when first asked for. */
export function builtin(name: string): Value | undefined {
  const known = CELLS.get(name)
  if (known) return known.value
  const definition = all().get(name)
  if (!definition) return undefined
  const cell: Cell = { name, value: undefined }
  CELLS.set(name, cell)
  cell.value = valueFor(definition)
  return cell.value
}

export function valueFor({ name, signature, body }: Definition<Run | string | Builtin>): Value {
  if (body instanceof Builtin) return body
  const { min, max } = arityOf(signature)
  if (typeof body !== 'string') return new Builtin(name, min, max, body)
  const lambda = expand(new Reader(body).next()!.form, new Scope(INSIDE)) as Lambda
  return new Closure({ ...lambda, name }, undefined)
}

/** Builtins see only builtins: a program that redefines `reverse` does not change what `map` does. */
const INSIDE: Globals = {
  cell(name) {
    builtin(name)
    return CELLS.get(name)!
  },
  builtin: (name) => builtin(name)!,
  syntax: () => undefined,
  refusal: () => undefined,
  isDefined: () => false,
}

/** What `(help "name")` says of every builtin and special form, helpers of builtins left out; all examples run. */
export const builtinHelp = (): Map<string, Help> =>
  new Map(([...all(), ...RULES] as [string, Help][]).filter(([name]) => !name.startsWith('%')))
