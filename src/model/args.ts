/** Arguments of verbs and tools, declared once: validation, the TypeScript type, help and docs come from that. */

import type { Entity } from './entity.ts'
import type { Edit, Field, FieldType, Json } from './field.ts'
import { accepts, type Report, readJson, scalar, shown } from './validate.ts'

/** `texts`: a list of text, or one text. `ref` and `refs`: entities by reference. `any`: any JSON value. */
type ArgType = FieldType | 'texts' | 'ref' | 'refs' | 'any'

export interface Arg extends Omit<Field, 'type'> {
  readonly type: ArgType
  /** The kind that a reference must mean. */
  readonly kind?: string
  /** A reference may mean what is deleted. */
  readonly deleted?: boolean
  /** An item of a list may be empty. */
  readonly blank?: boolean
  /** `null` is a value; elsewhere it says nothing. */
  readonly null?: boolean
}

export type Args = Readonly<Record<string, Arg>>

const of =
  <const T extends ArgType>(type: T) =>
  <const O extends Omit<Arg, 'type' | 'about'> = Record<never, never>>(about: string, o: O = {} as O) =>
    ({ type, about, ...(o as NoInfer<O>) }) as const
export const texts = of('texts')
export const any = of('any')
export const refs = of('refs')
export const ref = of('ref')

/** The value of an argument as a caller gives it, by type. */
type Given<A extends Arg> = A['type'] extends 'text' | 'ref'
  ? string
  : A['type'] extends 'number'
    ? number
    : A['type'] extends 'flag'
      ? boolean
      : A['type'] extends 'choice'
        ? A['choices'] extends readonly (infer C)[]
          ? C
          : string
        : A['type'] extends 'time'
          ? string | number
          : A['type'] extends 'texts' | 'refs'
            ? string | readonly string[]
            : A['type'] extends 'set' | 'list'
              ? Edit
              : A['type'] extends 'map'
                ? { [key: string]: Json }
                : Json

/** The same once it is read. */
export type Value<A extends Arg> = A extends { readonly read: (...args: never[]) => infer T }
  ? Exclude<T, undefined>
  : A['type'] extends 'texts'
    ? string[]
    : A['type'] extends 'ref'
      ? Entity
      : A['type'] extends 'refs'
        ? Entity[]
        : Given<A>

type Required<A extends Args> = { [K in keyof A]: A[K] extends { readonly required: true } ? K : never }[keyof A]

/** What callers give, derived from the declaration. */
export type GivenArgs<A extends Args> = { [K in Required<A>]: Given<A[K]> } & {
  [K in Exclude<keyof A, Required<A>>]?: Given<A[K]>
}

/** What a verb or tool gets, derived from the declaration. */
export type ReadArgs<A extends Args> = { readonly [K in Required<A>]: Value<A[K]> } & {
  readonly [K in Exclude<keyof A, Required<A>>]?: Value<A[K]>
}

const TAKES: { readonly [T in ArgType]?: string } = {
  texts: 'text, or a list of text',
  ref: 'an id, kind:name, a path, or a name',
  refs: 'a reference, or a list of them',
  any: 'any JSON value',
}

/** What an argument takes, in words. */
export function takes({ type, ...arg }: Arg): string {
  if (type === 'text' && arg.longest !== undefined) return `text of 1 to ${arg.longest} characters`
  return TAKES[type] ?? accepts({ ...arg, type: type as FieldType })
}

/** The same for help and docs, where a reference is explained already. */
export const takesBriefly = (arg: Arg): string => (arg.type === 'ref' ? 'reference' : takes(arg))

export function readArg(name: string, arg: Arg, given: unknown, report: Report): unknown {
  if (given === undefined || (given === null && !arg.null)) {
    if (arg.required) report({ field: name, message: 'missing', received: null, accepted: takes(arg) })
    return undefined
  }
  if (arg.type === 'ref' || arg.type === 'refs') return given
  const refuse = (message: string): undefined =>
    report({ field: name, message, received: shown(given), accepted: takes(arg) })
  if (arg.type === 'number' && !Number.isFinite(given)) return refuse('not a number')
  const value = readJson(name, given, report)
  if (value === undefined) return undefined
  switch (arg.type) {
    case 'any':
    case 'set':
    case 'list':
      return value // an edit of a field is judged with the field
    case 'map':
      return typeof value === 'object' && !Array.isArray(value) ? value : refuse('not an object')
    case 'texts': {
      const items = Array.isArray(value) ? value : [value]
      if (arg.required && items.length === 0) return refuse('empty')
      return items.every((item) => typeof item === 'string' && (arg.blank || item.trim() !== ''))
        ? items
        : refuse('not a list of text')
    }
    default: {
      const { wrong, value: read } = scalar({ ...arg, type: arg.type }, value)
      if (wrong !== undefined) return refuse(wrong)
      if (arg.type !== 'text') return read
      const said = String(read)
      if (arg.required && said.trim() === '') return refuse('empty')
      if (arg.longest === undefined) return said
      return said.trim() !== '' && said.length <= arg.longest ? said.trim() : refuse(`not ${takes(arg)}`)
    }
  }
}
