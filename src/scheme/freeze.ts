import { Char, EMPTY, Empty, Entity, Keyword, list, Many, Pair, Rec, Sym, UNSPECIFIED, Unspecified, unlist, type Value, Vec } from './values.ts' // biome-ignore format: one line of names

/** JSON with a tag before everything that JSON would confuse: exact and inexact, symbol and string, list and vector. */
type Frozen = null | boolean | string | [string, ...unknown[]]

const MAX_DEPTH = 300

/** A value as text that `thaw` makes the very same value of; undefined if a procedure is in it, or it is nested too deep. */
export function freeze(value: Value): string | undefined {
  const frozen = solid(value, 0)
  return frozen === undefined ? undefined : JSON.stringify(frozen)
}

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
  const parts = partsOf(v)
  if (!parts || depth > MAX_DEPTH) return undefined
  const frozen = parts[1].map((part) => solid(part, depth + 1))
  return frozen.includes(undefined) ? undefined : [parts[0], ...frozen]
}

/** The tag of a value that has parts, and these. */
function partsOf(v: Value): [string, readonly Value[]] | undefined {
  if (v instanceof Pair) {
    const { items, tail } = unlist(v)
    return tail instanceof Empty ? ['l', items] : ['p', [tail, ...items]]
  }
  if (v instanceof Vec) return ['v', v.items]
  if (v instanceof Many) return ['m', v.items]
  if (v instanceof Rec) return ['r', [...v.entries].flat()]
  return v instanceof Entity ? ['e', [v.kind, new Rec(v.hidden), ...[...v.fields].flat()]] : undefined
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

const fieldsOf = (items: readonly Value[]): Map<string, Value> =>
  new Map(items.flatMap((name, i): [string, Value][] => (i % 2 === 0 ? [[name as string, items[i + 1]!]] : [])))
