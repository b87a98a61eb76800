import { atom, type Group, group, type Layout, lazyGroup, measure } from './layout.ts'
import { inBars, isBare, isPlainSymbol, keyText } from './lexical.ts'

/** How entities of one kind are printed; it comes from the kind's declaration. */
export interface Shape {
  kind: string
  plural: string
  /** Fields printed first, without their names. */
  positional: string[]
  /** All fields in declared order, the common ones included. */
  fields: string[]
}

export interface Shapes {
  byKind(kind: string): Shape | undefined
  byPlural(plural: string): Shape | undefined
}

const ERROR: Shape = { kind: 'error', plural: 'errors', positional: ['message'], fields: ['message', 'hint'] }

/** `(error "…")` is an entity that needs no declaration. */
export const shapeOf = (kind: string, shapes?: Shapes): Shape | undefined =>
  kind === 'error' ? ERROR : shapes?.byKind(kind)

interface EntityLike<T> {
  readonly kind: string
  readonly fields: ReadonlyMap<string, T>
}

/** How one value is laid out inside an entity or table; `name` says that it must be quoted if it is a string. */
type Cell<T> = (value: T, name: boolean) => Layout

/** A string inside an entity or table: bare where it can only be read as that string. */
export const word = (text: string, name: boolean): Layout =>
  !name && isBare(text) ? atom(text) : { type: 'text', text }

/** A head begins with a letter, so that no plain list is taken for an entity. */
const headText = (kind: string): string =>
  isPlainSymbol(kind) && /^\p{L}/u.test(kind) && kind !== 'nil' ? kind : inBars(kind)

/** `(kind "positional" … :field value …)`; after a positional field that is absent the next ones are named. */
export function layoutEntity<T>(entity: EntityLike<T>, shapes: Shapes | undefined, cell: Cell<T>): Layout {
  const shape = shapeOf(entity.kind, shapes)
  const items: (() => Layout)[] = []
  let position = 0
  for (const field of shape?.positional ?? []) {
    if (!entity.fields.has(field)) break
    const value = entity.fields.get(field) as T
    items.push(() => cell(value, true))
    position++
  }
  const done = new Set(shape?.positional.slice(0, position))
  for (const field of ordered([entity], shape))
    if (!done.has(field) && entity.fields.has(field))
      items.push(() => named(field, entity.fields.get(field) as T, cell))
  return group(`(${headText(entity.kind)}`, ')', items)
}

const named = <T>(field: string, value: T, cell: Cell<T>): Layout => ({
  type: 'pair',
  key: keyText(field),
  value: cell(value, false),
})

/** The fields that occur, in declared order, then those nobody declared. */
function ordered<T>(entities: readonly EntityLike<T>[], shape: Shape | undefined): string[] {
  const present = new Set<string>()
  for (const entity of entities) for (const field of entity.fields.keys()) present.add(field)
  const declared = [...new Set([...(shape?.positional ?? []), ...(shape?.fields ?? [])])].filter((f) => present.has(f))
  const known = new Set(declared)
  return [...declared, ...[...present].filter((field) => !known.has(field))]
}

/** Fewer entities than this are not worth a header. */
const MIN_ROWS = 3
/** Above this many the choice is made by the first ones: measuring all would cost more than it saves. */
const SAMPLE = 500

/**
 * Entities one after another between the brackets of a list, or as a table where that is not longer.
 * What is inside them is laid out once for both: nested lists would otherwise take exponential time.
 */
export function layoutEntities<T>(
  entities: readonly EntityLike<T>[],
  shapes: Shapes | undefined,
  cell: Cell<T>,
  open: string,
  close: string,
): Layout {
  const inside = new Map<T, Layout>()
  const once: Cell<T> = (value, name) => {
    if (typeof value !== 'object' || value === null) return cell(value, name)
    const known = inside.get(value) ?? cell(value, name)
    inside.set(value, known)
    return known
  }
  const entity = (i: number): Layout => layoutEntity(entities[i]!, shapes, once)
  const sequence = lazyGroup(open, close, entities.length, entity, true)
  const kind = entities[0]?.kind
  const shape = kind === undefined || entities.length < MIN_ROWS ? undefined : shapes?.byKind(kind)
  if (!shape || entities.some((other) => other.kind !== kind)) return sequence
  const table = layoutTable(entities, shape, once)
  return sampled(table) <= sampled(sequence) ? table : sequence
}

/** More rows than this are longer than anything that is printed: what stands in later ones is not read. */
const MOST_ROWS = 20_000

function layoutTable<T>(entities: readonly EntityLike<T>[], shape: Shape, cell: Cell<T>): Group {
  const columns = ordered(entities.slice(0, MOST_ROWS), shape)
  const header = `(${headText(shape.plural)} [${columns.map(keyText).join(' ')}]`
  const row = (i: number): Layout => {
    const { fields } = entities[i]!
    const at = (column: number): Layout => {
      const field = columns[column]!
      return fields.has(field) ? cell(fields.get(field) as T, field === shape.positional[0]) : atom('_')
    }
    return lazyGroup('[', ']', columns.length, at)
  }
  return lazyGroup(header, ')', entities.length, row, true)
}

/** The width, by the first items where there are many. */
function sampled({ open, close, total, item }: Group): number {
  let width = open.length + close.length
  for (let i = 0; i < Math.min(total, SAMPLE); i++) width += Math.min(ROW_CAP, measure(item(i), ROW_CAP)) + 1
  return width
}

/** An item wider than this counts as this wide. */
const ROW_CAP = 100_000
