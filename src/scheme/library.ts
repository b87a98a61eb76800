import { control } from './builtins/control.ts'
import { basics, parseDataFor, records, vectors } from './builtins/data.ts'
import { lists } from './builtins/lists.ts'
import { numbers } from './builtins/numbers.ts'
import { characters, strings } from './builtins/strings.ts'
import { compile } from './compile.ts'
import type { Definition } from './define.ts'
import { expand, type Globals, Scope } from './expand.ts'
import { Reader } from './reader.ts'
import { RULES } from './syntax.ts'
import { syntaxHelp } from './syntax-help.ts'
import type { Cell } from './tree.ts'
import { Closure, type Template, type Value } from './values.ts'

/** Made group by group when a name is not in those made before: a hook that asks for a sum must not pay for the strings. */
const WAITING = [numbers, control, lists, basics, records, strings, characters, vectors]
const MADE = new Map<string, Definition>()

function find(name: string): Definition | undefined {
  while (!MADE.has(name) && WAITING.length > 0)
    for (const definition of WAITING.shift()!()) MADE.set(definition.name, definition)
  return MADE.get(name)
}

const CELLS = new Map<string, Cell>()

/** The builtin of that name, whatever a program has defined. What is written in Scheme is compiled when first asked for. */
export function builtin(name: string): Value | undefined {
  const known = CELLS.get(name)
  if (known) return known.value
  const definition = find(name)
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
export function builtinNames(): string[] {
  find('')
  return [...MADE.keys(), 'parse-data', 'help'].filter((name) => !name.startsWith('%'))
}

export interface Help {
  signature: string
  about: string
  example: string
}

const helpOf = ({ signature, about, example }: Definition): Help => ({ signature, about, example })

const HELP: Help = {
  signature: '(help name)',
  about: 'What a name means, and an example that runs.',
  example: '(help "filter")',
}

/** What `(help "name")` says of every builtin procedure and every piece of syntax; all examples run. */
export function builtinHelp(): Map<string, Help> {
  const help = new Map<string, Help>()
  for (const name of builtinNames()) {
    const definition = find(name)
    if (definition) help.set(name, helpOf(definition))
  }
  help.set('parse-data', helpOf(parseDataFor()))
  help.set('help', HELP)
  for (const [name, entry] of syntaxHelp()) help.set(name, entry)
  return help
}
