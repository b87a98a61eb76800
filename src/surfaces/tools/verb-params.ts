import type { Reader } from '../../engine/read/reader.ts'
import type { VerbArgs } from '../../engine/write/verb.ts'
import type { Arg } from '../../model/args.ts'
import type { Json } from '../../model/field.ts'
import { isWork } from '../../model/work-kinds.ts'
import { findWork, partsOf } from './format.ts'
import type { Param } from './tool.ts'

type ParamOf<A extends Arg> = {
  readonly type: A['type'] extends 'number' | 'flag' ? A['type'] : 'text'
  readonly about: string
} & Pick<A, Extract<'choices', keyof A>>

/** A tool's parameter that is passed on to an argument of a verb. */
export const paramOf = <const A extends Arg, const O extends Partial<Param> = Record<never, never>>(
  { type, about, choices }: A,
  own: O = {} as O,
) =>
  ({
    type: type === 'number' || type === 'flag' ? type : 'text',
    about: type === 'texts' || type === 'refs' ? `${about}, with commas between them` : about,
    choices,
    ref: type === 'ref' || undefined,
    ...own,
  }) as unknown as ParamOf<A> & O

/** The flag of an argument: `dependsOn` is `--depends-on`. */
export const flagOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** Parameters for these arguments of a verb. */
export const paramsOf = (args: VerbArgs, names: readonly string[]): Record<string, Param> =>
  Object.fromEntries(names.map((name) => [flagOf(name), paramOf(args[name]!)]))

function read(reader: Reader, { type, kind }: Arg, text: string): Json {
  const idOf = (ref: string) => (kind !== undefined && isWork(kind) ? findWork(reader, kind, ref).id : ref)
  if (type === 'ref') return idOf(text)
  if (type === 'texts') return partsOf(text)
  if (type !== 'refs') return text
  // a name may hold a comma
  return (reader.find(text).length > 0 ? [text] : partsOf(text)).map(idOf)
}

/** What the flags of a tool say for the arguments of a verb. Blank flags say nothing. */
export function argsFor(args: VerbArgs, reader: Reader, flags: Readonly<Record<string, unknown>>) {
  const said: { [name: string]: Json } = {}
  for (const [name, arg] of Object.entries(args)) {
    const given = flags[flagOf(name)]
    if (typeof given !== 'string') {
      if (given !== undefined) said[name] = given as Json
    } else if (given.trim() !== '') said[name] = read(reader, arg, given.trim())
  }
  return said
}
