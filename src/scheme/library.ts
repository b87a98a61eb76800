import { CONTROL } from './builtins/control.ts'
import { BASICS, RECORDS, VECTORS } from './builtins/data.ts'
import { LISTS } from './builtins/lists.ts'
import { NUMBERS } from './builtins/numbers.ts'
import { CHARACTERS, STRINGS } from './builtins/strings.ts'
import { compile } from './compile.ts'
import type { Definition } from './define.ts'
import { expand, type Globals, Scope } from './expand.ts'
import { Reader } from './reader.ts'
import { RULES } from './syntax.ts'
import { SYNTAX_HELP } from './syntax-help.ts'
import type { Cell } from './tree.ts'
import { Closure, type Template, type Value } from './values.ts'

const DEFINITIONS = new Map<string, Definition>()
for (const definitions of [BASICS, NUMBERS, LISTS, STRINGS, CHARACTERS, VECTORS, RECORDS, CONTROL])
  for (const definition of definitions) DEFINITIONS.set(definition.name, definition)

const CELLS = new Map<string, Cell>()

/** The builtin of that name, whatever a program has defined. What is written in Scheme is compiled when first asked for. */
export function builtin(name: string): Value | undefined {
  const known = CELLS.get(name)
  if (known) return known.value
  const definition = DEFINITIONS.get(name)
  if (!definition) return undefined
  const cell: Cell = { name, value: undefined }
  CELLS.set(name, cell)
  cell.value = typeof definition.body === 'string' ? compileSource(name, definition.body) : definition.body
  return cell.value
}

/** Builtins see only builtins: a program that redefines `reverse` does not change what `map` does. */
const INSIDE: Globals = {
  cell(name) {
    if (builtin(name) === undefined) throw new Error(`no such builtin: ${name}`)
    return CELLS.get(name)!
  },
  builtin: (name) => builtin(name)!,
  syntax: () => undefined,
  refusal: () => undefined,
  isDefined: () => false,
}

function compileSource(name: string, source: string): Value {
  const { form } = new Reader(source).next()!
  const node = expand(form, new Scope(INSIDE, RULES, { parent: undefined }), false)
  const outer = compile(node.op === 'lambda' ? { ...node, name } : node)
  return new Closure(outer.consts[0] as Template, [])
}

/** The names a program may use, the helpers of other builtins left out. */
export const builtinNames = (): string[] => [...DEFINITIONS.keys()].filter((name) => !name.startsWith('%'))

export interface Help {
  signature: string
  about: string
  example: string
}

/** What `(help "name")` says of every builtin procedure and every piece of syntax; all examples run. */
export function builtinHelp(): Map<string, Help> {
  const help = new Map<string, Help>()
  for (const name of builtinNames()) {
    const { signature, about, example } = DEFINITIONS.get(name)!
    help.set(name, { signature, about, example })
  }
  for (const [name, entry] of SYNTAX_HELP) help.set(name, entry)
  return help
}
