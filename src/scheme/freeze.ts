import {
  Char,
  EMPTY,
  Empty,
  Entity,
  Keyword,
  list,
  Many,
  Pair,
  Rec,
  Sym,
  UNSPECIFIED,
  Unspecified,
  type Value,
  Vec,
} from './values.ts'

/** JSON with a tag before everything that JSON would confuse: exact and inexact, symbol and string, list and vector. */
type Frozen = null | boolean | string | [string, ...unknown[]]

const MAX_DEPTH = 300

/** A value as text that `thaw` makes the very same value of; undefined if a procedure is in it, or it is nested too deep. */
export function freeze(value: Value): string | undefined {
  const frozen = solid(value, 0)
  return frozen === undefined ? undefined : JSON.stringify(frozen)
}

/** What `freeze` wrote. */
export const thaw = (text: string): Value => liquid(JSON.parse(text) as Frozen)

function solid(v: Value, depth: number): Frozen | undefined {
  if (v === null || typeof v === 'boolean' || typeof v === 'string') return v
  if (typeof v === 'bigint') return ['i', v.toString()]
  if (typeof v === 'number') return ['n', Object.is(v, -0) ? '-0' : String(v)]
  if (v instanceof Sym) return ['y', v.name]
  if (v instanceof Keyword) return ['k', v.name]
  if (v instanceof Char) return ['c', v.code]
  if (v instanceof Empty) return ['l']
  if (v instanceof Unspecified) return ['u']
  if (depth > MAX_DEPTH) return undefined
  if (v instanceof Pair) {
    const items: Value[] = []
    let rest: Value = v
    for (; rest instanceof Pair; rest = rest.cdr) items.push(rest.car)
    return rest instanceof Empty ? tagged('l', items, depth) : tagged('p', [rest, ...items], depth)
  }
  if (v instanceof Vec) return tagged('v', v.items, depth)
  if (v instanceof Many) return tagged('m', v.items, depth)
  if (v instanceof Rec) return tagged('r', [...v.entries].flat(), depth)
  if (v instanceof Entity) return tagged('e', [v.kind, new Rec(v.hidden), ...[...v.fields].flat()], depth)
  return undefined
}

function tagged(tag: string, items: readonly Value[], depth: number): Frozen | undefined {
  const out: [string, ...unknown[]] = [tag]
  for (const item of items) {
    const frozen = solid(item, depth + 1)
    if (frozen === undefined) return undefined
    out.push(frozen)
  }
  return out
}

function liquid(frozen: Frozen): Value {
  if (!Array.isArray(frozen)) return frozen
  const [tag, ...rest] = frozen
  if (tag === 'i') return BigInt(rest[0] as string)
  if (tag === 'n') return Number(rest[0])
  if (tag === 'y') return new Sym(rest[0] as string)
  if (tag === 'k') return new Keyword(rest[0] as string)
  if (tag === 'c') return new Char(rest[0] as number)
  if (tag === 'u') return UNSPECIFIED
  const items = rest.map((item) => liquid(item as Frozen))
  if (tag === 'l') return list(items)
  if (tag === 'p') return list(items.slice(1), items[0] ?? EMPTY)
  if (tag === 'v') return new Vec(items)
  if (tag === 'm') return new Many(items)
  if (tag === 'r') return new Rec(fieldsOf(items))
  return new Entity(items[0] as string, fieldsOf(items.slice(2)), (items[1] as Rec).entries)
}

function fieldsOf(items: readonly Value[]): Map<string, Value> {
  const fields = new Map<string, Value>()
  for (let i = 0; i < items.length; i += 2) fields.set(items[i] as string, items[i + 1] as Value)
  return fields
}
