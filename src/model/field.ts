/** A JSON value. What comes from outside goes through `normalizeJson` first. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** How each type merges: a `set` or `list` keeps additions, a `map` merges by path, of all others the latest stamp wins. */
export type FieldType = 'text' | 'number' | 'flag' | 'choice' | 'time' | 'set' | 'list' | 'map'

export interface Field {
  readonly type: FieldType
  /** One clause for help, docs and the MCP schema. */
  readonly about: string
  readonly choices?: readonly string[]
  readonly min?: number
  readonly max?: number
  readonly integer?: boolean
  /** Filled in when reading, never written: a written default would overwrite what somebody else stated. */
  readonly default?: Json
  /** Weight in the text index; 0 leaves the field out. */
  readonly weight?: number
  /** Values name other entities. */
  readonly refs?: boolean
  /** Values are paths in the project, perhaps with a line: `src/a.ts:12`. */
  readonly paths?: boolean
  /** What callers say for it, near enough to be taken, with a note. */
  readonly also?: readonly string[]
  /** Written by Tidemark itself; refused from callers. */
  readonly system?: boolean
  /** Bookkeeping: kept and found by name, not printed. */
  readonly inner?: boolean
  readonly required?: boolean
  /** An argument's text: trimmed, not empty, and no longer than this. */
  readonly longest?: number
}

type Options = Omit<Field, 'type' | 'about' | 'choices'>
type Plain = Record<never, never>

const of =
  <const T extends FieldType>(type: T) =>
  <const O extends Options = Plain>(about: string, o: O = {} as O) =>
    ({ type, about, ...(o as NoInfer<O>) }) as const
export const text = of('text')
export const number = of('number')
export const flag = of('flag')
export const time = of('time')
export const set = of('set')
export const list = of('list')
export const map = of('map')
export const choice = <const C extends readonly string[], const O extends Options = Plain>(
  choices: C,
  about: string,
  o: O = {} as O,
) => ({ type: 'choice', choices, about, ...(o as NoInfer<O>) }) as const

/** A belief, 0 to 1; never a score. */
export const confidence = () => number('how sure, 0 to 1', { min: 0, max: 1 })

/** What a caller may give for sets and lists: additions, or an explicit edit. */
export type Edit = readonly string[] | { add?: readonly string[]; remove?: readonly string[]; set?: readonly string[] }

/** The value a caller may give for a field; `null` clears it. */
export type Given<F extends Field> = F['type'] extends 'text'
  ? string | null
  : F['type'] extends 'number'
    ? number | null
    : F['type'] extends 'flag'
      ? boolean | null
      : F['type'] extends 'choice'
        ? (F['choices'] extends readonly (infer C)[] ? C : never) | null
        : F['type'] extends 'time'
          ? string | number | null
          : F['type'] extends 'set' | 'list'
            ? Edit | null
            : { [key: string]: Json } | null
