import {
  Char,
  EMPTY,
  Entity,
  elements,
  Keyword,
  list,
  Rec,
  Sym,
  UNSPECIFIED,
  Unspecified,
  type Value,
  Vec,
} from '../scheme/values.ts'

type Packed = null | boolean | number | string | { [tag: string]: unknown }

/** A value as JSON, without loss; undefined where a procedure is in it, which is kept as its source instead. */
export function pack(v: Value): Packed | undefined {
  if (v === null || typeof v === 'boolean' || typeof v === 'string') return v
  if (typeof v === 'bigint') return { i: v.toString() }
  if (typeof v === 'number') return { n: String(v) }
  if (v instanceof Sym) return { s: v.name }
  if (v instanceof Char) return { c: v.code }
  if (v instanceof Keyword) return { k: v.name }
  if (v instanceof Unspecified) return { u: 1 }
  if (v instanceof Vec) return all(v.items, 'v')
  if (v instanceof Rec) return map(v.entries, 'r')
  if (v instanceof Entity) {
    const fields = map(v.fields, 'f')
    const hidden = map(v.hidden, 'h')
    return fields && hidden && { e: v.kind, ...fields, ...hidden }
  }
  const items = elements(v)
  return items && all(items, 'l')
}

function all(items: readonly Value[], tag: string): Packed | undefined {
  const packed = items.map(pack)
  return packed.some((p) => p === undefined) ? undefined : { [tag]: packed }
}

function map(entries: ReadonlyMap<string, Value>, tag: string): { [tag: string]: unknown } | undefined {
  const packed = [...entries].map(([k, v]) => [k, pack(v)] as const)
  return packed.some(([, p]) => p === undefined) ? undefined : { [tag]: packed }
}

const unmap = (entries: unknown) => new Map((entries as [string, Packed][]).map(([k, p]) => [k, unpack(p)]))

/** The value that `pack` gave. */
export function unpack(p: Packed): Value {
  if (p === null || typeof p !== 'object') return p as Value
  if (typeof p.e === 'string') return new Entity(p.e, unmap(p.f), unmap(p.h))
  const [[tag, content]] = Object.entries(p) as [[string, unknown]]
  switch (tag) {
    case 'i':
      return BigInt(content as string)
    case 'n':
      return Number(content)
    case 's':
      return new Sym(content as string)
    case 'c':
      return new Char(content as number)
    case 'k':
      return new Keyword(content as string)
    case 'v':
      return new Vec((content as Packed[]).map(unpack))
    case 'r':
      return new Rec(unmap(content))
    case 'l':
      return (content as Packed[]).length === 0 ? EMPTY : list((content as Packed[]).map(unpack))
    default:
      return UNSPECIFIED
  }
}
