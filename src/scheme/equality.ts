import { type CallContext, Char, Entity, type Fields, Keyword, Pair, Rec, Sym, type Value, Vec } from './values.ts'

/** A JS value that is the same for values that are `eqv?` and have no parts: what a Set or Map may go by. */
export function identity(v: Value): string | number | bigint | boolean | null | undefined {
  if (typeof v === 'string') return `"${v}`
  if (v === null || typeof v === 'bigint' || typeof v === 'boolean') return v
  if (typeof v === 'number') return Object.is(v, -0) ? '-0' : v
  if (v instanceof Sym) return `'${v.name}`
  if (v instanceof Keyword) return `:${v.name}`
  return v instanceof Char ? `#${v.code}` : undefined
}

/** `eqv?`: the same thing; numbers by exactness and value, symbols, keywords and characters by what they say. */
export function isSame(a: Value, b: Value): boolean {
  if (typeof a === 'number' || typeof b === 'number') return Object.is(a, b)
  if (a === b) return true
  return (a instanceof Sym || a instanceof Keyword || a instanceof Char) && identity(a) === identity(b)
}

/** `equal?`: the same shape and leaves. Walks with a stack of its own, for lists nested a million deep. */
export function isEqual(a: Value, b: Value, ctx: CallContext): boolean {
  if (!(a instanceof Object)) return isSame(a, b)
  const todo: Value[] = [a, b]
  while (todo.length > 0) {
    const right = todo.pop() as Value
    const left = todo.pop() as Value
    ctx.charge(1)
    if (isSame(left, right)) continue
    if (left instanceof Pair && right instanceof Pair) todo.push(left.cdr, right.cdr, left.car, right.car)
    else if (left instanceof Vec && right instanceof Vec) {
      if (left.items.length !== right.items.length) return false
      for (const [i, item] of left.items.entries()) todo.push(item, right.items[i]!)
    } else if (left instanceof Rec && right instanceof Rec) {
      if (!pushFields(left.entries, right.entries, todo)) return false
    } else if (left instanceof Entity && right instanceof Entity) {
      if (left.kind !== right.kind || !pushFields(left.fields, right.fields, todo)) return false
    } else return false
  }
  return true
}

function pushFields(a: Fields, b: Fields, todo: Value[]): boolean {
  if (a.size !== b.size) return false
  for (const [key, value] of a) {
    if (!b.has(key)) return false
    todo.push(value, b.get(key) as Value)
  }
  return true
}
