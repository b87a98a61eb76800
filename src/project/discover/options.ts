import { nearest, orNear } from '../../model/names.ts'
import { isNum, WrongArgument } from '../../scheme/argument-types.ts'
import { type CallContext, Entity, elements, isTrue, Keyword, list, Sym, type Value } from '../../scheme/values.ts'

/** A reference, name or other text: a string, a symbol, or an entity, which stands for its id. */
export function textOf(v: Value | undefined): string {
  if (typeof v === 'string') return v
  if (v instanceof Sym) return v.name
  if (v instanceof Entity) return textOf(v.hidden.get('id') ?? v.fields.get('name') ?? v.fields.get('path') ?? null)
  throw new WrongArgument('a text is expected', 'texts are written "in quotes"')
}

/** Splits off `:limit 5` and the like; what is left are the plain arguments. An option given as nil is not given. */
export function options(args: readonly Value[], known: readonly string[]) {
  const plain: Value[] = []
  const given = new Map<string, Value>()
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!
    if (!(arg instanceof Keyword)) plain.push(arg)
    else if (!known.includes(arg.name))
      throw new WrongArgument(
        `there is no option :${arg.name}`,
        `its options are ${known.map((k) => `:${k}`).join(' ')}`,
      )
    else if (i + 1 >= args.length) throw new WrongArgument(`a value is missing after :${arg.name}`)
    else given.set(arg.name, args[++i]!)
  }
  const of =
    <T>(read: (v: Value, name: string) => T) =>
    (name: string): T | undefined => {
      const v = given.get(name)
      return v === undefined || v === null ? undefined : read(v, name)
    }
  return { plain, text: of(textOf), texts: of(textsOf), flag: of(isTrue), whole: of(whole) }
}

const textsOf = (v: Value): string[] => (elements(v) ?? [v]).map(textOf)

function whole(v: Value, name: string): number {
  const n = Number(v)
  if (isNum(v) && Number.isInteger(n) && n >= 0) return n
  throw new WrongArgument(`:${name} is a whole number`)
}
export const takesNone = (plain: readonly Value[], example: string): void => {
  if (plain.length > 0) throw new WrongArgument('takes options only', example)
}

/** One of the words that there are. */
export function choiceOf(what: string, said: string, choices: readonly string[]): string {
  if (choices.includes(said)) return said
  const hint = orNear(nearest(said, choices, 1), `one of ${choices.join(', ')}`)
  throw new WrongArgument(`there is no ${what} "${said.slice(0, 80)}"`, hint)
}

/** Cells that an entity costs when it is made for a program. */
export const CELLS_PER_ENTITY = 16

/** A list made for a program, paid for before it is made. */
export function made<T>(items: readonly T[], cells: number, ctx: CallContext, make: (item: T) => Value): Value {
  ctx.charge(items.length)
  ctx.alloc(items.length * cells)
  return list(items.map(make))
}
