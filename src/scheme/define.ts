import { Builtin, type CallContext, type Run, type Value } from './values.ts'

/** One offered name, with what `(help "name")` says about it. Either TypeScript or, where it calls procedures, Scheme. */
export interface Definition {
  readonly name: string
  /** `(name a [b] c …)`: brackets are optional, `…` is any number; the arity is read from it. */
  readonly signature: string
  readonly about: string
  readonly example: string
  readonly body: Builtin | string
}

/** A procedure written in TypeScript. */
export function def(signature: string, about: string, example: string, run: Run): Definition {
  const { name, min, max } = arity(signature)
  return { name, signature, about, example, body: new Builtin(name, min, max, run) }
}

/** One of exactly one argument, called without an argument array. */
export function def1(
  signature: string,
  about: string,
  example: string,
  one: (a: Value, ctx: CallContext) => Value,
): Definition {
  const { name, min, max } = arity(signature)
  return { name, signature, about, example, body: new Builtin(name, min, max, (args, ctx) => one(args[0]!, ctx), one) }
}

/** One of exactly two. */
export function def2(
  signature: string,
  about: string,
  example: string,
  two: (a: Value, b: Value, ctx: CallContext) => Value,
): Definition {
  const { name, min, max } = arity(signature)
  const run: Run = (args, ctx) => two(args[0]!, args[1]!, ctx)
  return { name, signature, about, example, body: new Builtin(name, min, max, run, undefined, two) }
}

/** One of any number of arguments that mostly gets two. */
export function defMany(
  signature: string,
  about: string,
  example: string,
  run: Run,
  two: (a: Value, b: Value, ctx: CallContext) => Value,
): Definition {
  const { name, min, max } = arity(signature)
  return { name, signature, about, example, body: new Builtin(name, min, max, run, undefined, two) }
}

/** One written in Scheme: it runs on the machine, so what it calls is bounded like any other call. Compiled when first used. */
export const scheme = (signature: string, about: string, example: string, source: string): Definition => ({
  name: arity(signature).name,
  signature,
  about,
  example,
  body: source,
})

/** Another name for the same thing. */
export function alias(name: string, of: Definition): Definition {
  const about = `The same as ${of.name}. ${of.about}`
  return { name, signature: of.signature.replace(of.name, () => name), about, example: of.example, body: of.body }
}

function arity(signature: string): { name: string; min: number; max: number } {
  const [name = '', ...words] = signature.slice(1, -1).split(' ')
  const optional = words.filter((word) => word.startsWith('[')).length
  const many = words.includes('…')
  // The word before `…` may be left out altogether.
  const min = words.length - optional - (many ? 2 : 0)
  return { name, min, max: many ? Number.POSITIVE_INFINITY : words.length }
}
