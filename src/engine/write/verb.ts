import { type Arg, type GivenArgs, type ReadArgs, readArg, type Value } from '../../model/args.ts'
import type { Json } from '../../model/field.ts'
import { didYouMean } from '../../model/names.ts'
import { type Report, shown } from '../../model/validate.ts'
import type { Args, Done, Planning } from './plan.ts'

/** An argument of a verb. `read` makes of its value what the verb works with, or reports what is wrong; a reference is read by it alone. */
export interface VerbArg extends Arg {
  read?(p: Planning, value: never, field: string, report: Report, given: unknown): unknown
}

export type VerbArgs = Readonly<Record<string, VerbArg>>

export interface Verb {
  readonly name: string
  readonly about: string
  /** Declared once: validation, the type that `act` takes, help and docs come from it. */
  readonly args: VerbArgs
  /** Arguments of one call, for help. */
  readonly example: Readonly<Record<string, Json>>
  /** Its texts may hold a secret: it is there to erase one. */
  readonly unscreened?: boolean
  /** Judges the arguments and adds the writes to the plan. A verb that reported a problem returns nothing. */
  plan(p: Planning, args: never, report: Report, run: RunAction): Done
}

export interface Declared<N extends string, A extends VerbArgs> extends Verb {
  readonly name: N
  readonly args: A
  plan(p: Planning, args: ReadArgs<NoInfer<A>>, report: Report, run: RunAction): Done
}

export const defineVerb = <const N extends string, const A extends VerbArgs>(
  verb: Declared<N, A> & { readonly example: GivenArgs<NoInfer<A>> },
): Declared<N, A> => verb

/** Declares how the value of an argument is read further. */
export const reading = <const A extends Arg, T>(
  arg: A,
  read: (
    p: Planning,
    value: A extends { type: 'ref' } ? unknown : Value<A>,
    field: string,
    report: Report,
    given: unknown,
  ) => T,
) => ({ ...arg, read })

/** Plans another action inside this one (confirming a proposed edit). */
export type RunAction = (verb: string, args: Args, report: Report) => Done

/** The arguments as the verb works with them; nothing where something is wrong with one, which is reported. */
function readArgs(p: Planning, args: VerbArgs, given: Args, report: Report) {
  let refused = false
  const complain: Report = (problem) => {
    refused = true
    report(problem)
  }
  const out: Record<string, unknown> = {}
  for (const [name, arg] of Object.entries(args)) {
    if (name === 'expectedVersion') continue // judged for every verb alike
    const raw = Object.hasOwn(given, name) ? given[name] : undefined
    const value = readArg(name, arg, raw, complain)
    if (value === undefined) continue
    out[name] = arg.read
      ? arg.read(p, value as never, name, complain, raw)
      : arg.type === 'ref'
        ? p.resolve(value, name, complain, arg)
        : arg.type === 'refs'
          ? resolveAll(p, value, name, arg, complain)
          : value
    refused ||= out[name] === undefined
  }
  return refused ? undefined : out
}

function resolveAll(p: Planning, given: unknown, name: string, arg: Arg, report: Report) {
  const all = Array.isArray(given) ? given : [given]
  const found = all.flatMap((one, i) => p.resolve(one, Array.isArray(given) ? `${name}.${i}` : name, report, arg) ?? [])
  return found.length === all.length ? found : undefined
}

export function planVerb(p: Planning, verb: Verb, args: Args, report: Report, run: RunAction): Done {
  const names = Object.keys(verb.args)
  for (const key of Object.keys(args)) {
    if (names.includes(key) || key === 'expectedVersion') continue
    report({
      field: key,
      message: `${verb.name} has no argument "${key.slice(0, 80)}"`,
      received: shown(args[key]),
      accepted: didYouMean(key, names, `the arguments ${names.join(', ')}`),
    })
  }
  // what an unscreened verb was given may be the very secret
  const unseen: Report = (problem) => report({ ...problem, received: null })
  const read = readArgs(p, verb.args, args, verb.unscreened ? unseen : report)
  return read && verb.plan(p, read as never, report, run)
}
